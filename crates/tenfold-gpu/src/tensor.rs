//! Sums over samples that lie on the card: T(I, V, …, V) by two matrix products a chunk.
//!
//! With samples Y in rows, T(I, A, B) = Yᵀ (w ∘ YA ∘ YB): one product with the arguments, one back. Terms without samples
//! (Dirichlet shifts, the pairs of a cumulant) cost k × k work: the host adds them, in double precision and from matrices that
//! it holds anyway.

mod plan;

use crate::context::{Array, Context};
use plan::Plan;
use std::sync::{Arc, Mutex};
use tenfold_engine::linalg::{Mat, Rows};
use tenfold_engine::tensor::{Contract, Implicit, Term};
use tenfold_engine::{Error, Result};

/// What solvers may rely on: tests hold contractions of random arguments to 5e-6 (order 3) and 2e-5 (order 4), and those of unit
/// columns settle below this.
const ROUNDING: f64 = 1e-5;

/// Rows that are read and sent at a time.
const PIECE: usize = 4096;

/// A tensor with its samples on the card.
pub(crate) struct Held<'a> {
    context: Arc<Context>,
    terms: Vec<Samples>,
    /// What the host adds.
    rest: Implicit<'a>,
    /// The work of the last kind of contraction: a solver asks for one kind again and again.
    plan: Mutex<Option<Plan>>,
}

/// The samples of one term.
pub(crate) struct Samples {
    pub blocks: Vec<Block>,
    pub scale: f64,
}

/// Neighbouring samples in one array.
pub(crate) struct Block {
    pub rows: usize,
    /// The samples y, or z that stand twice.
    pub values: Array,
    /// The samples x that stand once.
    pub once: Option<Array>,
    pub weights: Option<Array>,
}

impl<'a> Held<'a> {
    pub fn new(context: &Arc<Context>, tensor: &Implicit<'a>) -> Result<Self> {
        let (order, dim) = (tensor.order(), tensor.dim());
        let needed: u64 = tensor.terms().iter().map(bytes).sum::<u64>() + plan::scratch_bytes(dim);
        if needed > context.free() {
            return Err(Error::DeviceMemory { needed, available: context.free() });
        }
        let (mut terms, mut rest) = (Vec::new(), Vec::new());
        for term in tensor.terms() {
            match term {
                Term::Powers { samples, weights, scale } => {
                    let blocks = send(context, *samples, None, *weights)?;
                    terms.push(Samples { blocks, scale: *scale });
                }
                Term::Mixed { twice, once, weights, scale } => {
                    let blocks = send(context, *twice, Some(*once), *weights)?;
                    terms.push(Samples { blocks, scale: *scale });
                }
                other => rest.push(other.clone()),
            }
        }
        let rest = Implicit::new(order, dim, rest);
        Ok(Self { context: context.clone(), terms, rest, plan: Mutex::new(None) })
    }

    /// What the card sums for these arguments.
    fn sum(&self, kind: plan::Kind, arguments: &[&Mat]) -> Result<Mat> {
        let mut kept = self.plan.lock().unwrap_or_else(|held| held.into_inner());
        let old = kept.take();
        let plan = match old {
            Some(plan) if plan.kind == kind => plan,
            other => {
                // Its memory is needed for the next.
                drop(other);
                Plan::new(&self.context, &self.terms, self.dim(), kind)?
            }
        };
        let sum = plan.run(&self.context, arguments);
        *kept = Some(plan);
        sum
    }

    fn is_mixed(&self) -> bool {
        self.terms.iter().any(|term| term.blocks.iter().any(|block| block.once.is_some()))
    }
}

/// Bytes that a term takes on the card.
fn bytes(term: &Term<'_>) -> u64 {
    let size = |rows: &dyn Rows| rows.rows() as u64 * rows.cols() as u64 * 4;
    match term {
        Term::Powers { samples, weights, .. } => size(*samples) + weights.map_or(0, |w| w.len() as u64 * 4),
        Term::Mixed { twice, once, weights, .. } => {
            size(*twice) + size(*once) + weights.map_or(0, |w| w.len() as u64 * 4)
        }
        _ => 0,
    }
}

/// Sends samples in blocks.
fn send(
    context: &Context,
    samples: &dyn Rows,
    once: Option<&dyn Rows>,
    weights: Option<&[f64]>,
) -> Result<Vec<Block>> {
    let (n, dim) = (samples.rows(), samples.cols());
    let most = (context.block as usize / (4 * dim.max(1))).max(1);
    let mut blocks = Vec::new();
    for first in (0..n).step_by(most) {
        let rows = most.min(n - first);
        let values = send_rows(context, samples, first, rows)?;
        let once = once.map(|once| send_rows(context, once, first, rows)).transpose()?;
        let weights = weights.map(|w| context.upload(&single(&w[first..first + rows]))).transpose()?;
        blocks.push(Block { rows, values, once, weights });
    }
    context.check()?;
    Ok(blocks)
}

pub(crate) fn send_rows(context: &Context, source: &dyn Rows, first: usize, rows: usize) -> Result<Array> {
    let dim = source.cols();
    let array = context.array(rows * dim)?;
    let mut buffer = Vec::new();
    for at in (0..rows).step_by(PIECE) {
        buffer.resize(PIECE.min(rows - at) * dim, 0.0);
        source.read_rows(first + at, &mut buffer)?;
        context.write(&array, at * dim, &single(&buffer));
    }
    Ok(array)
}

pub(crate) fn single(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|x| *x as f32).collect()
}

impl Contract for Held<'_> {
    fn dim(&self) -> usize {
        self.rest.dim()
    }

    fn order(&self) -> usize {
        self.rest.order()
    }

    fn rounding(&self) -> f64 {
        ROUNDING
    }

    fn contract(&self, arguments: &[&Mat]) -> Result<Mat> {
        assert_eq!(arguments.len(), self.order() - 1, "a contraction leaves one side open");
        let equal = arguments.iter().all(|a| std::ptr::eq(*a, arguments[0]));
        let width = arguments[0].cols();
        let kind = plan::Kind::Contraction { order: self.order(), width, equal };
        let mut out = self.sum(kind, if equal { &arguments[..1] } else { arguments })?;
        out.add_scaled(1.0, &self.rest.contract(arguments)?);
        Ok(out)
    }

    fn slice(&self, u: &Mat) -> Result<Mat> {
        let mut out = self.rest.slice(u)?;
        if !self.is_mixed() {
            let kind = plan::Kind::Slice { order: self.order(), width: u.cols() };
            out.add_scaled(1.0, &self.sum(kind, &[u])?);
            return Ok(out);
        }
        // Σ_c T(I, I, u_c) by contractions with all unit vectors; a mixed term has order 3.
        let identity = Mat::identity(self.dim());
        for c in 0..u.cols() {
            let spread = Mat::from_fn(self.dim(), self.dim(), |i, _| u[(i, c)]);
            let kind = plan::Kind::Contraction { order: 3, width: self.dim(), equal: false };
            out.add_scaled(1.0, &self.sum(kind, &[&identity, &spread])?);
        }
        Ok(out)
    }
}
