//! Orthogonalised power iteration on all components together.

use super::{Decomposition, Trace, eigen_residual, finish, start};
use crate::error::Result;
use crate::linalg::{Mat, polar};
use crate::progress::Progress;
use crate::tensor::Contract;

/// V ← polar(T(I, V, …, V)): one power step for every column, then the nearest orthonormal matrix.
///
/// Converges quadratically (order 3) or cubically (order 4) near an orthogonal decomposition; signs of the
/// weights do not matter, because the polar factor absorbs them. With more columns than components the
/// extra ones never settle, so a run also ends when the fit Σλ² no longer moves.
///
/// # Complexity
/// One contraction and one d × k singular value decomposition an iteration, about ten iterations a start.
///
/// # References
/// Thesis chapter "Online stochastic gradient", constrained problems (Algorithm 2 with exact gradients); the
/// joint update is the symmetric orthogonalisation of FastICA (Hyvärinen, 1999).
#[derive(Debug, Clone, PartialEq)]
pub struct Polar {
    /// Iterations after which a start is given up.
    pub max_iterations: usize,
    /// Largest move of a column, ‖v′ ∓ v‖, that counts as standing still.
    pub tolerance: f64,
    /// Relative change of Σλ² below which the fit stands still; five such iterations in a row end a start. Tensors of
    /// sampled moments carry noise far above the default: there a larger value saves iterations that only follow it.
    pub fit_tolerance: f64,
    /// Starts; the one with the largest Σλ² is kept. The first is a slice of the tensor, the others random.
    pub restarts: usize,
}

impl Default for Polar {
    fn default() -> Self {
        Self { max_iterations: 100, tolerance: 1e-10, fit_tolerance: SAME_FIT, restarts: 3 }
    }
}

/// Relative difference of Σλ² that is rounding.
const SAME_FIT: f64 = 1e-9;
/// Iterations in a row that the fit must stand still.
const FIT_PATIENCE: usize = 5;

impl Polar {
    pub(super) fn decompose(
        &self,
        tensor: &dyn Contract,
        k: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Decomposition> {
        let mut best: Option<(f64, Mat, Trace)> = None;
        let mut fits = Vec::new();
        for restart in 0..self.restarts.max(1) {
            let (fit, v, trace) = self.run(tensor, start(tensor, k, seed, restart)?, progress)?;
            fits.push(fit);
            // A later start must be better by more than rounding, so that equal answers keep equal bytes.
            if best.as_ref().is_none_or(|(so_far, ..)| fit > so_far * (1.0 + SAME_FIT)) {
                best = Some((fit, v, trace));
            }
        }
        let (_, v, mut trace) = best.expect("there is at least one start");
        trace.restarts = fits;
        finish(tensor, v, trace)
    }

    /// One run from given orthonormal columns.
    ///
    /// # Errors
    /// As [`Solver::decompose`](super::Solver::decompose).
    pub fn from_start(
        &self,
        tensor: &dyn Contract,
        start: Mat,
        progress: &dyn Progress,
    ) -> Result<Decomposition> {
        let (_, v, trace) = self.run(tensor, start, progress)?;
        finish(tensor, v, trace)
    }

    /// Iterates from `v`; returns Σλ², the columns and the trace.
    fn run(&self, tensor: &dyn Contract, mut v: Mat, progress: &dyn Progress) -> Result<(f64, Mat, Trace)> {
        let mut trace = Trace::default();
        let (mut fit, mut still) = (0.0, 0);
        for _ in 0..self.max_iterations {
            progress.check()?;
            let mut g = tensor.power(&v)?;
            let weights = g.col_dots(&v);
            let new_fit: f64 = weights.iter().map(|w| w * w).sum();
            trace.residuals.push(eigen_residual(&v, &g, &weights));
            // Turn every column to its own side, so that a negative weight does not flip it back and forth.
            g.scale_cols(&weights.iter().map(|w| if *w < 0.0 { -1.0 } else { 1.0 }).collect::<Vec<_>>());
            let next = polar(&g)?;
            let mut move_ = next.clone();
            move_.add_scaled(-1.0, &v);
            let largest = move_.col_norms().into_iter().fold(0.0, f64::max);
            v = next;
            trace.iterations += 1;
            progress.advance(1);
            still = if (new_fit - fit).abs() <= self.fit_tolerance * new_fit { still + 1 } else { 0 };
            fit = new_fit;
            if largest < self.tolerance || still >= FIT_PATIENCE {
                trace.converged = true;
                break;
            }
        }
        Ok((fit, v, trace))
    }
}
