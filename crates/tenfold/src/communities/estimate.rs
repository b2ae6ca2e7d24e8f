//! What the moments say of a graph, before anything is made of it.

use super::moments::{Seen, White};
use tenfold_engine::decompose::Decomposition;
use tenfold_engine::linalg::Mat;

/// What the moments say.
pub(super) struct Estimate {
    pub seen: Seen,
    /// k × directions: where a node of one community alone lies.
    pub corners: Mat,
    /// α_i/α0 of every community.
    pub shares: Vec<f64>,
    pub found: Decomposition,
    pub spectrum: Vec<f64>,
}

impl Estimate {
    /// Corners that were found otherwise.
    pub fn with_corners(seen: Seen, corners: Mat, spectrum: Vec<f64>, found: Decomposition) -> Self {
        let shares = found.cp.weights.iter().map(|l| 1.0 / (l * l).max(1e-12)).collect();
        Self { seen, corners, shares, found, spectrum }
    }

    /// f_i = W⁺ᵀ λ_i v_i and α̂_i = λ_i^(−2).
    pub fn new(seen: Seen, white: &White, found: Decomposition) -> Self {
        let mut scaled = found.cp.factors.clone();
        scaled.scale_cols(&found.cp.weights);
        let corners = white.inverse.matmul(&scaled).transpose();
        Self::with_corners(seen, corners, white.spectrum.clone(), found)
    }
}
