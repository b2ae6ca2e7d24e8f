//! Power iteration with deflation: one component after the other.

use super::{Decomposition, Trace, finish_oblique, largest_turn};
use crate::error::Result;
use crate::linalg::{Mat, random};
use crate::progress::Progress;
use crate::tensor::{Contract, Cp, Deflated};

/// v ← T(I, v, …, v) / ‖·‖ from many starts at once; the best is kept, its component removed, and so on.
///
/// # Complexity
/// One contraction of `restarts` columns an iteration, about ten iterations a component.
///
/// # References
/// Anandkumar, Ge, Hsu, Kakade and Telgarsky, "Tensor decompositions for learning latent variable models",
/// JMLR 15 (2014), Algorithm 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Power {
    /// Iterations after which a component is given up.
    pub max_iterations: usize,
    /// Largest move of the best column that counts as standing still.
    pub tolerance: f64,
    /// Random starts for every component.
    pub restarts: usize,
}

impl Default for Power {
    fn default() -> Self {
        Self { max_iterations: 200, tolerance: 1e-12, restarts: 20 }
    }
}

/// Starts that are tried together: wide enough for the matrix product, and a bound on memory.
const GROUP: usize = 64;

impl Power {
    pub(super) fn decompose(
        &self,
        tensor: &dyn Contract,
        k: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Decomposition> {
        let mut found = Cp::empty(tensor.order(), tensor.dim());
        let mut trace = Trace { converged: true, ..Trace::default() };
        for component in 0..k {
            let deflated = Deflated { tensor, removed: &found };
            let chosen =
                self.best_start(&deflated, &mut random::rng(seed, 100 + component as u64), progress)?;
            let (vector, (iterations, converged)) =
                self.iterate(&deflated, chosen, self.max_iterations, progress)?;
            trace.iterations += iterations;
            trace.converged &= converged;
            let weight = deflated.values(&vector)?[0];
            found.push(weight, &vector.col(0));
            progress.advance(1);
        }
        finish_oblique(tensor, found.factors, trace)
    }

    /// The best of the random starts after a few steps; only it is followed to the end.
    fn best_start(
        &self,
        tensor: &dyn Contract,
        rng: &mut random::Rng,
        progress: &dyn Progress,
    ) -> Result<Mat> {
        let mut best = (f64::NEG_INFINITY, Mat::zeros(tensor.dim(), 1));
        let starts = self.restarts.max(1);
        for group in (0..starts).step_by(GROUP) {
            let start = random::gaussian(tensor.dim(), GROUP.min(starts - group), rng);
            let (candidates, _) = self.iterate(tensor, start, self.max_iterations.min(10), progress)?;
            for (c, weight) in tensor.values(&candidates)?.into_iter().enumerate() {
                if weight.abs() > best.0 {
                    best = (weight.abs(), candidates.select_cols(&[c]));
                }
            }
        }
        Ok(best.1)
    }

    /// Steps until the slowest column stands still; says how many and whether it did.
    fn iterate(
        &self,
        tensor: &dyn Contract,
        mut v: Mat,
        most: usize,
        progress: &dyn Progress,
    ) -> Result<(Mat, (usize, bool))> {
        normalise(&mut v);
        for iteration in 0..most {
            progress.check()?;
            let mut next = tensor.power(&v)?;
            normalise(&mut next);
            let moved = largest_turn(&next, &v);
            v = next;
            if moved < self.tolerance {
                return Ok((v, (iteration + 1, true)));
            }
        }
        Ok((v, (most, false)))
    }
}

/// Columns of unit length; a column of zeros stays.
pub(super) fn normalise(v: &mut Mat) {
    let scales: Vec<f64> = v.col_norms().into_iter().map(|n| if n > 0.0 { 1.0 / n } else { 0.0 }).collect();
    v.scale_cols(&scales);
}
