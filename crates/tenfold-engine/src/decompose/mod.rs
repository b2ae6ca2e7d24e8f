//! Solvers: from a symmetric tensor to its components.
//!
//! T = Σ λ_i v_i⊗…⊗v_i with orthonormal v_i, order 3 or 4, weights of either sign. [`Polar`] is the default: all
//! columns move together and stay orthonormal, so none can collapse onto another. The others are for
//! comparison, for tensors that are not orthogonal ([`Als`]) and for data that stream ([`Online`]).

mod als;
mod objective;
mod offload;
mod online;
mod polar;
mod power;
mod simultaneous;

pub use als::{Als, Kruskal};
pub use objective::Objective;
pub use online::{Exact, Minibatches, Online, Oracle, Rate, Update};
pub use polar::Polar;
pub use power::Power;
pub use simultaneous::Simultaneous;

use crate::error::{Error, Result};
use crate::linalg::{Mat, eigen_symmetric, pinv, random};
use crate::progress::Progress;
use crate::tensor::{Contract, Cp};

/// How a run went; non-convergence is never silent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// Iterations of the run that was kept.
    pub iterations: usize,
    /// What the solver watches, after each iteration: polar and online the largest ‖T(I, v, …, v) − λ v‖ / max|λ| over the
    /// components (online its running mean), ALS the largest move of a column, joint diagonalisation the largest
    /// sine. The last entry is ‖T(I, v, …, v) − λ v‖ / max|λ| wherever the tensor itself is at hand.
    pub residuals: Vec<f64>,
    /// Whether the run that was kept met its criterion: columns that stand still or, for polar, a fit that does.
    pub converged: bool,
    /// Σλ² that each restart reached, in order; equal numbers mean that the starts agree.
    pub restarts: Vec<f64>,
}

impl Trace {
    /// The last residual, infinite before the first.
    pub fn residual(&self) -> f64 {
        self.residuals.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Share of restarts that reached the best Σλ² to one part in 10⁴; nothing when there was only one start.
    pub fn agreement(&self) -> Option<f64> {
        let best = self.restarts.iter().fold(0.0f64, |m, x| m.max(*x));
        let near = self.restarts.iter().filter(|x| **x >= best * (1.0 - 1e-4)).count();
        (self.restarts.len() > 1).then(|| near as f64 / self.restarts.len() as f64)
    }
}

/// Components with the story of how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition {
    /// The components in canonical order and sign.
    pub cp: Cp,
    /// How the run went.
    pub trace: Trace,
    /// 1 − ‖T − T̂‖² / ‖T‖² where ‖T‖ is known: the share of the tensor that the components explain.
    pub fit: Option<f64>,
}

/// The solvers; each carries only its own options.
///
/// # Example
/// ```
/// use tenfold_engine::decompose::Solver;
/// use tenfold_engine::linalg::Mat;
/// use tenfold_engine::progress::Silent;
/// use tenfold_engine::tensor::{Cp, Tensor3};
/// let truth = Cp::new(3, vec![3.0, 2.0, 1.0], Mat::identity(3));
/// let tensor: Tensor3 = truth.reconstruct();
/// let found = Solver::default().decompose(&tensor, 3, 7, &Silent).unwrap();
/// assert!(found.cp.match_to(&truth).worst() < 1e-10 && found.trace.converged);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Solver {
    /// Orthogonalised power iteration on all components together.
    Polar(Polar),
    /// Power iteration, one component after the other.
    Power(Power),
    /// Alternating least squares.
    Als(Als),
    /// Joint diagonalisation of slices by rotations.
    Simultaneous(Simultaneous),
    /// Stochastic gradient.
    Online(Online),
}

impl Default for Solver {
    fn default() -> Self {
        Self::Polar(Polar::default())
    }
}

impl Solver {
    /// Finds `k` components; the same `seed` gives the same bytes on any number of threads.
    ///
    /// # Errors
    /// [`Error::TooManyComponents`] when k exceeds the dimension; [`Error::BadParameter`];
    /// [`Error::Interrupted`]; what a data source behind the tensor says. A run that does not converge is not
    /// an error: see [`Trace::converged`].
    pub fn decompose(
        &self,
        tensor: &dyn Contract,
        k: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Decomposition> {
        check_k(k, tensor.dim())?;
        if let Self::Polar(Polar { restarts, .. })
        | Self::Power(Power { restarts, .. })
        | Self::Als(Als { restarts, .. }) = self
        {
            check_restarts(*restarts)?;
        }
        match &self.within(tensor.rounding()) {
            Self::Polar(solver) => solver.decompose(tensor, k, seed, progress),
            Self::Power(solver) => solver.decompose(tensor, k, seed, progress),
            Self::Als(solver) => solver.decompose(tensor, k, seed, progress),
            Self::Simultaneous(solver) => solver.decompose(tensor, k, seed, progress),
            Self::Online(solver) => {
                let mut oracle = Exact { tensor, steps: solver.max_steps };
                let found = solver.run(&mut oracle, tensor.dim(), k, seed, progress)?;
                // The tensor is at hand, so the weights need not be running means.
                match solver.update {
                    Update::Retraction => finish(tensor, found.cp.factors, found.trace),
                    _ => finish_oblique(tensor, found.cp.factors, found.trace),
                }
            }
        }
    }

    /// This solver with no tolerance below the rounding of contractions, at which columns never stand still. Σλ² is a mean over many
    /// roundings and holds a digit more.
    fn within(&self, rounding: f64) -> Self {
        let mut solver = self.clone();
        match &mut solver {
            Self::Polar(polar) => {
                polar.tolerance = polar.tolerance.max(rounding);
                polar.fit_tolerance = polar.fit_tolerance.max(0.1 * rounding);
            }
            Self::Power(power) => power.tolerance = power.tolerance.max(rounding),
            Self::Als(als) => als.tolerance = als.tolerance.max(rounding),
            // Slices are taken once and turned in double precision; steps are as many as were asked for.
            Self::Simultaneous(_) | Self::Online(_) => {}
        }
        solver
    }

    /// The solver's name, as on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Polar(_) => "polar",
            Self::Power(_) => "power",
            Self::Als(_) => "als",
            Self::Simultaneous(_) => "simultaneous",
            Self::Online(_) => "online",
        }
    }
}

/// Most starts of a solver: far more than change an answer, and what is held of each is one number.
pub const MOST_RESTARTS: usize = 1_000_000;

fn check_restarts(restarts: usize) -> Result<()> {
    if restarts <= MOST_RESTARTS {
        return Ok(());
    }
    Err(Error::BadParameter {
        name: "restarts",
        value: restarts.to_string(),
        expected: "at most 1000000 starts",
    })
}

fn check_k(k: usize, dim: usize) -> Result<()> {
    if k == 0 {
        return Err(Error::BadParameter { name: "k", value: "0".into(), expected: "at least one component" });
    }
    if k > dim {
        return Err(Error::TooManyComponents { asked: k, most: dim, why: "the side of the tensor" });
    }
    Ok(())
}

/// max_c ‖g_c − λ_c v_c‖ / max|λ| for g = T(I, v, …, v) and λ = ⟨v, g⟩.
fn eigen_residual(v: &Mat, g: &Mat, weights: &[f64]) -> f64 {
    let scale = weights.iter().fold(0.0f64, |m, w| m.max(w.abs())).max(f64::MIN_POSITIVE);
    let mut rest = v.clone();
    rest.scale_cols(weights);
    rest.add_scaled(-1.0, g);
    rest.col_norms().into_iter().fold(0.0, f64::max) / scale
}

/// max_c ‖a_c ∓ b_c‖ over unit columns, with the nearer sign: an even order with a negative weight turns a column round
/// at every step.
fn largest_turn(a: &Mat, b: &Mat) -> f64 {
    let signs: Vec<f64> = a.col_dots(b).into_iter().map(|c| if c < 0.0 { -1.0 } else { 1.0 }).collect();
    let mut turned = b.clone();
    turned.scale_cols(&signs);
    turned.add_scaled(-1.0, a);
    turned.col_norms().into_iter().fold(0.0, f64::max)
}

/// Eigenvectors of one random slice T(I, I, w) (order 4: T(I, I, w, w)) by size of eigenvalue: exact for an
/// orthogonal tensor whose slice has distinct eigenvalues, and a good start for any other.
fn slice_start(tensor: &dyn Contract, k: usize, seed: u64) -> Result<Mat> {
    let w = random::gaussian(tensor.dim(), 1, &mut random::rng(seed, 10));
    let slice = tensor.slice(&w)?;
    let eigen = eigen_symmetric(&slice)?;
    let mut order: Vec<usize> = (0..eigen.values.len()).collect();
    order.sort_by(|&a, &b| eigen.values[b].abs().total_cmp(&eigen.values[a].abs()));
    Ok(eigen.vectors.select_cols(&order[..k]))
}

/// Start number `restart`: the slice first, random orthonormal columns after it.
fn start(tensor: &dyn Contract, k: usize, seed: u64, restart: usize) -> Result<Mat> {
    match restart {
        0 => slice_start(tensor, k, seed),
        r => random::orthogonal(tensor.dim(), k, &mut random::rng(seed, 10 + r as u64)),
    }
}

/// Canonical components and fit from final orthonormal columns, whose weights are T(v, …, v).
fn finish(tensor: &dyn Contract, v: Mat, trace: Trace) -> Result<Decomposition> {
    let g = tensor.power(&v)?;
    let weights = g.col_dots(&v);
    let residual = eigen_residual(&v, &g, &weights);
    finish_with(tensor, Cp::new(tensor.order(), weights, v), trace, residual)
}

/// As [`finish`] for unit columns that need not be orthogonal: the weights are those of least squares,
/// (VᵀV)^∘p λ = T(v, …, v) with the entrywise power p.
fn finish_oblique(tensor: &dyn Contract, v: Mat, trace: Trace) -> Result<Decomposition> {
    let g = tensor.power(&v)?;
    let values = g.col_dots(&v);
    let residual = eigen_residual(&v, &g, &values);
    let gram = v.tr_matmul(&v).map(|x| x.powi(tensor.order() as i32));
    let weights = pinv(&gram, 1e-13)?.matvec(&values);
    finish_with(tensor, Cp::new(tensor.order(), weights, v), trace, residual)
}

fn finish_with(tensor: &dyn Contract, cp: Cp, mut trace: Trace, residual: f64) -> Result<Decomposition> {
    trace.residuals.push(residual);
    let fit = cp.residual(tensor)?.map(|r| 1.0 - r * r);
    Ok(Decomposition { cp: cp.canonical(), trace, fit })
}
