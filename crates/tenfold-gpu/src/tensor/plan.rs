//! The work of one kind of contraction, laid out once and queued as often as it is asked for.

use super::{Block, Samples};
use crate::context::{Array, Context};
use crate::kernels::{Entry, Gather, Kernel, Params, Work, word};
use tenfold_engine::Result;
use tenfold_engine::linalg::Mat;

/// Rows whose sum one workgroup makes.
const SLAB: usize = 512;
/// Most slabs of a chunk, the rows that go through both products together: their inner products stay in memory that is used again.
const SLABS: usize = 64;

/// Kernels that are queued together: some systems take a card for hung when one submission runs for seconds.
const GROUP: usize = 48;

/// What is contracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Contraction { order: usize, width: usize, equal: bool },
    Slice { order: usize, width: usize },
}

/// Bytes of the arrays that a contraction with `dim` columns needs at least beside the samples: those for chunks of one slab.
pub(crate) fn scratch_bytes(dim: usize) -> u64 {
    4 * (dim * (3 * SLAB + (1 + 4) * dim)) as u64
}

/// Slabs of a chunk: as many as keep its inner products and the sums of its slabs, an array each, within what arrays may take.
fn slabs(context: &Context, dim: usize, columns: usize, width: usize) -> usize {
    // Sums and up to three arrays of inner products share what is left, with as much again for arguments and the total.
    let room = context.block.min(context.free() / 8);
    let slab = 4 * (SLAB * columns).max(dim * width).max(1) as u64;
    (room / slab).clamp(1, SLABS as u64) as usize
}

pub(crate) struct Plan {
    pub kind: Kind,
    dim: usize,
    width: usize,
    /// Rows of a chunk.
    chunk: usize,
    arguments: Vec<Array>,
    /// Inner products of a chunk; the last one holds factors of rows.
    scratch: Vec<Array>,
    parts: Array,
    total: Array,
    work: Vec<Work>,
}

impl Plan {
    pub fn new(context: &Context, terms: &[Samples], dim: usize, kind: Kind) -> Result<Self> {
        let (count, columns, width, scratch) = match kind {
            Kind::Contraction { width, equal: true, .. } => (1, width, width, 2),
            Kind::Contraction { order, width, .. } => (order - 1, width, width, 3),
            Kind::Slice { width, .. } => (1, width, dim, 2),
        };
        let longest = terms.iter().flat_map(|t| &t.blocks).map(|b| b.rows).max().unwrap_or(0);
        let slabs = slabs(context, dim, columns, width).min(longest.div_ceil(SLAB).max(1));
        let rows = longest.min(slabs * SLAB);
        let array = |len: usize| context.array(len);
        let mut plan = Self {
            kind,
            dim,
            width,
            chunk: slabs * SLAB,
            arguments: (0..count).map(|_| array(dim * columns)).collect::<Result<_>>()?,
            scratch: (0..scratch).map(|_| array(rows * columns)).collect::<Result<_>>()?,
            parts: array(slabs * dim * width)?,
            total: array(dim * width)?,
            work: Vec::new(),
        };
        if dim * columns > 0 {
            for term in terms {
                for block in &term.blocks {
                    for first in (0..block.rows).step_by(plan.chunk) {
                        plan.add_chunk(context, block, first, term.scale);
                    }
                }
            }
        }
        Ok(plan)
    }

    fn add_chunk(&mut self, context: &Context, block: &Block, first: usize, scale: f64) {
        let rows = self.chunk.min(block.rows - first);
        let mut chunk = Chunk { context, plan: self, block, first, rows, made: Vec::new() };
        match (chunk.plan.kind, &block.once) {
            (Kind::Slice { order, .. }, _) => chunk.slice(order, scale),
            (Kind::Contraction { equal, .. }, Some(once)) => chunk.mixed(once, equal, scale),
            (Kind::Contraction { order, equal, .. }, None) => chunk.powers(order, equal, scale),
        }
        let made = chunk.made;
        self.work.extend(made);
    }

    /// The sum for these arguments: they go up, dim × width numbers come down.
    pub fn run(&self, context: &Context, arguments: &[&Mat]) -> Result<Mat> {
        context.count_call();
        let len = self.dim * self.width;
        if self.work.is_empty() {
            context.check()?;
            return Ok(Mat::zeros(self.dim, self.width));
        }
        for (array, argument) in self.arguments.iter().zip(arguments) {
            context.write(array, 0, &super::single(argument.as_slice()));
        }
        let last = (self.work.len() - 1) / GROUP * GROUP;
        for group in self.work[..last].chunks(GROUP) {
            context.submit(group);
        }
        let sum = context.run(&self.work[last..], &self.total, len)?;
        Ok(Mat::from_vec(self.dim, self.width, sum.into_iter().map(f64::from).collect()))
    }
}

/// Some rows of a block, and the work for them.
struct Chunk<'a> {
    context: &'a Context,
    plan: &'a Plan,
    block: &'a Block,
    first: usize,
    rows: usize,
    made: Vec<Work>,
}

impl Chunk<'_> {
    /// scratch[to] = Y·argument, entry by entry as `entry` says with scratch[other].
    fn inner(&mut self, y: &Array, argument: usize, entry: Entry, other: usize, to: usize) {
        let plan = self.plan;
        let columns = match plan.kind {
            Kind::Contraction { width, .. } | Kind::Slice { width, .. } => width,
        };
        let argument = &plan.arguments[argument];
        let other = if other == to { argument } else { &plan.scratch[other] };
        let shape = [self.rows, plan.dim, columns];
        let work = self.context.product((y, self.first), argument, shape, entry, [other, &plan.scratch[to]]);
        self.made.push(work);
    }

    /// total += scale · Yᵀ (w ∘ right).
    fn sum(&mut self, y: &Array, right: (&Array, usize), weights: Option<(&Array, usize)>, scale: f64) {
        let plan = self.plan;
        let shape = [self.rows, plan.dim, plan.width];
        let gather = Gather { left: (y, self.first), right, weights, shape, slab: SLAB, scale };
        self.made.push(self.context.gather(&gather, &plan.parts));
        // The very first sum of all replaces what an earlier contraction left.
        let fresh = plan.work.is_empty() && !self.made.iter().any(|w| w.kernel == Kernel::Fold);
        let (len, slabs) = (plan.dim * plan.width, self.rows.div_ceil(SLAB));
        self.made.push(self.context.fold(&plan.parts, &plan.total, len, slabs, fresh));
    }

    fn weights(&self) -> Option<(&'_ Array, usize)> {
        self.block.weights.as_ref().map(|w| (w, self.first))
    }

    /// Yᵀ (w ∘ YA ∘ YB ∘ …).
    fn powers(&mut self, order: usize, equal: bool, scale: f64) {
        let (block, plan) = (self.block, self.plan);
        let mut at = 0;
        if equal {
            self.inner(&block.values, 0, if order == 3 { Entry::Square } else { Entry::Cube }, 0, 0);
        } else {
            self.inner(&block.values, 0, Entry::Keep, 0, 0);
            for argument in 1..order - 1 {
                self.inner(&block.values, argument, Entry::Times, at, 1 - at);
                at = 1 - at;
            }
        }
        let weights = block.weights.as_ref().map(|w| (w, self.first));
        self.sum(&block.values, (&plan.scratch[at], 0), weights, scale);
    }

    /// The three placements of z⊗z⊗x: x (z·a)(z·b) + z [(x·a)(z·b) + (z·a)(x·b)].
    fn mixed(&mut self, once: &Array, equal: bool, scale: f64) {
        let (block, plan) = (self.block, self.plan);
        let z = &block.values;
        let weights = block.weights.as_ref().map(|w| (w, self.first));
        self.inner(z, 0, Entry::Keep, 0, 0);
        if equal {
            self.inner(z, 0, Entry::Square, 1, 1);
            self.sum(once, (&plan.scratch[1], 0), weights, scale);
            self.inner(once, 0, Entry::Times, 0, 1);
            self.sum(z, (&plan.scratch[1], 0), weights, 2.0 * scale);
            return;
        }
        self.inner(z, 1, Entry::Keep, 1, 1);
        self.inner(z, 1, Entry::Times, 0, 2);
        self.sum(once, (&plan.scratch[2], 0), weights, scale);
        self.inner(once, 0, Entry::Times, 1, 2);
        self.inner(once, 1, Entry::AddTimes, 0, 2);
        self.sum(z, (&plan.scratch[2], 0), weights, scale);
    }

    /// Yᵀ (w f ∘ Y) with f_t = Σ_c ⟨y_t, u_c⟩^(order − 2).
    fn slice(&mut self, order: usize, scale: f64) {
        let (block, plan) = (self.block, self.plan);
        let Kind::Slice { width, .. } = plan.kind else { return };
        self.inner(&block.values, 0, if order == 3 { Entry::Keep } else { Entry::Square }, 0, 0);
        let weights = self.weights();
        let params = Params {
            rows: word(self.rows),
            width: word(width),
            first: word(self.first),
            mode: u32::from(weights.is_some()),
            ..Params::default()
        };
        let arrays = [&plan.scratch[0], weights.map_or(&block.values, |w| w.0), &plan.scratch[1]];
        let grid = [word(self.rows.div_ceil(64)), 1, 1];
        self.made.push(self.context.work(Kernel::RowSum, &params, &arrays, grid));
        self.sum(&block.values, (&block.values, self.first), Some((&plan.scratch[1], 0)), scale);
    }
}
