//! Alternating least squares, for tensors whose components need not be orthogonal.

use super::power::normalise;
use super::{Decomposition, Trace, check_k, check_restarts, finish_oblique, largest_turn, start};
use crate::error::Result;
use crate::linalg::{Mat, pinv, random};
use crate::progress::Progress;
use crate::tensor::{Contract, Dense};

/// A ← T_(1) (C ⊙ B) [(BᵀB) ∘ (CᵀC)]⁺, then B, then C, and again.
///
/// # Complexity
/// One contraction and one k × k pseudo-inverse a side and iteration.
///
/// # References
/// Kolda and Bader, "Tensor decompositions and applications", SIAM Review 51 (2009), section 3.4.
#[derive(Debug, Clone, PartialEq)]
pub struct Als {
    /// Rounds over all sides after which a start is given up.
    pub max_iterations: usize,
    /// Largest move of a column between rounds that counts as standing still.
    pub tolerance: f64,
    /// Starts; the best is kept.
    pub restarts: usize,
}

impl Default for Als {
    fn default() -> Self {
        Self { max_iterations: 500, tolerance: 1e-12, restarts: 3 }
    }
}

/// T ≈ Σ λ_r a_r⊗b_r⊗c_r without symmetry.
#[derive(Debug, Clone, PartialEq)]
pub struct Kruskal {
    /// λ_r, heaviest first.
    pub weights: Vec<f64>,
    /// Unit columns for each side.
    pub factors: [Mat; 3],
    /// ‖T − T̂‖ / ‖T‖.
    pub residual: f64,
    /// How the run went.
    pub trace: Trace,
}

impl Als {
    pub(super) fn decompose(
        &self,
        tensor: &dyn Contract,
        k: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Decomposition> {
        let sides = tensor.order();
        let mut best: Option<Decomposition> = None;
        let mut fits = Vec::new();
        for restart in 0..self.restarts.max(1) {
            let factors = vec![start(tensor, k, seed, restart)?; sides];
            let update = |side: usize, factors: &[Mat]| {
                let others: Vec<&Mat> = (0..sides).filter(|&s| s != side).map(|s| &factors[s]).collect();
                tensor.contract(&others)
            };
            let (factors, _, trace) = self.alternate(factors, update, progress)?;
            let found = finish_oblique(tensor, factors.into_iter().next().expect("the first side"), trace)?;
            fits.push(found.cp.weights.iter().map(|w| w * w).sum());
            // Without orthogonality Σλ² does not rank answers; the fit does where it is known.
            let score = |d: &Decomposition| d.fit.unwrap_or(-d.trace.residual());
            if best.as_ref().is_none_or(|b| score(&found) > score(b)) {
                best = Some(found);
            }
        }
        let mut best = best.expect("there is at least one start");
        best.trace.restarts = fits;
        Ok(best)
    }

    /// Decomposes a dense tensor of three different sides.
    ///
    /// # Errors
    /// [`crate::Error::TooManyComponents`] when k exceeds the largest possible rank, the product of the two smaller sides;
    /// [`crate::Error::BadParameter`] for k = 0.
    ///
    /// # Example
    /// ```
    /// use tenfold_engine::decompose::Als;
    /// use tenfold_engine::linalg::Mat;
    /// use tenfold_engine::progress::Silent;
    /// use tenfold_engine::tensor::Dense;
    /// let m = |s: usize| Mat::from_fn(s, 2, |i, j| ((i * 3 + j * 5 + 1) % 7) as f64 - 2.0);
    /// let tensor = Dense::from_factors([&m(3), &m(4), &m(5)]);
    /// let found = Als::default().decompose_dense(&tensor, 2, 1, &Silent).unwrap();
    /// assert!(found.residual < 1e-6);
    /// ```
    pub fn decompose_dense(
        &self,
        tensor: &Dense,
        k: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Kruskal> {
        let mut sides = tensor.shape;
        sides.sort_unstable();
        check_k(k, sides[0].saturating_mul(sides[1]))?;
        check_restarts(self.restarts)?;
        let mut best: Option<Kruskal> = None;
        for restart in 0..self.restarts.max(1) {
            let mut rng = random::rng(seed, 200 + restart as u64);
            let factors: Vec<Mat> = tensor.shape.iter().map(|&s| random::gaussian(s, k, &mut rng)).collect();
            let update = |side: usize, f: &[Mat]| Ok(tensor.contract_all_but(side, [&f[0], &f[1], &f[2]]));
            let (factors, weights, trace) = self.alternate(factors, update, progress)?;
            let factors: [Mat; 3] = factors.try_into().expect("three sides");
            let found = Kruskal::new(tensor, weights, factors, trace);
            if best.as_ref().is_none_or(|b| found.residual < b.residual) {
                best = Some(found);
            }
        }
        Ok(best.expect("there is at least one start"))
    }

    /// The rounds; `update(side, factors)` contracts the tensor with the factors of all other sides.
    fn alternate(
        &self,
        mut factors: Vec<Mat>,
        update: impl Fn(usize, &[Mat]) -> Result<Mat>,
        progress: &dyn Progress,
    ) -> Result<(Vec<Mat>, Vec<f64>, Trace)> {
        let mut trace = Trace::default();
        let k = factors[0].cols();
        let mut weights = vec![0.0; k];
        for _ in 0..self.max_iterations {
            progress.check()?;
            let before = factors[0].clone();
            for side in 0..factors.len() {
                let mut gram = Mat::from_fn(k, k, |_, _| 1.0);
                for (other, factor) in factors.iter().enumerate() {
                    if other != side {
                        let own = factor.tr_matmul(factor);
                        gram.as_mut_slice().iter_mut().zip(own.as_slice()).for_each(|(g, o)| *g *= o);
                    }
                }
                let mut next = update(side, &factors)?.matmul(&pinv(&gram, 1e-13)?);
                weights = next.col_norms();
                normalise(&mut next);
                factors[side] = next;
            }
            let moved = largest_turn(&factors[0], &before);
            trace.iterations += 1;
            trace.residuals.push(moved);
            progress.advance(1);
            if moved < self.tolerance {
                trace.converged = true;
                break;
            }
        }
        Ok((factors, weights, trace))
    }
}

impl Kruskal {
    fn new(tensor: &Dense, weights: Vec<f64>, factors: [Mat; 3], trace: Trace) -> Self {
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        let weights: Vec<f64> = order.iter().map(|&i| weights[i]).collect();
        let factors = factors.map(|f| f.select_cols(&order));
        let mut first = factors[0].clone();
        first.scale_cols(&weights);
        let rebuilt = Dense::from_factors([&first, &factors[1], &factors[2]]);
        let rest: f64 = rebuilt.data.iter().zip(&tensor.data).map(|(a, b)| (a - b) * (a - b)).sum();
        let residual = rest.sqrt() / tensor.norm().max(f64::MIN_POSITIVE);
        Self { weights, factors, residual, trace }
    }
}
