//! How far topics move when the documents are drawn again.

use super::moments::{Projected, resample};
use super::spectral::Estimate;
use crate::error::Result;
use rand::RngExt;
use tenfold_engine::decompose::Polar;
use tenfold_engine::linalg::{polar, random};
use tenfold_engine::progress::Progress;

/// Resamples of the shards: enough to tell a topic that always comes back from one that often does not.
const RESAMPLES: u64 = 4;

/// For every topic the mean cosine with the nearest component of resampled moments, in the white space where topics
/// are orthogonal: 1 comes back every time, below about 0.5 it is not found again. Empty where triples were not formed.
///
/// The documents lie in eight shards, and a resample adds eight of them drawn with replacement: nothing is read
/// again, so the whole costs some decompositions of a small tensor from a good start.
pub(super) fn resampled(
    moments: &Projected,
    estimate: &Estimate,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    let k = estimate.topics.rows();
    if moments.third.is_none() || moments.shards.iter().filter(|s| s.weight > 0.0).count() < 2 {
        return Ok(Vec::new());
    }
    progress.stage("resampling", RESAMPLES);
    let filled: Vec<usize> = (0..moments.shards.len()).filter(|&s| moments.shards[s].weight > 0.0).collect();
    // From a good start a topic that is there is found in a few steps; one that needs more does not come back.
    let solver = Polar { max_iterations: 5, tolerance: 1e-3, fit_tolerance: 1e-4, restarts: 1 };
    let mut sums = vec![0.0; k];
    for draw in 0..RESAMPLES {
        let mut rng = random::rng(seed, 800 + draw);
        let mut counts = vec![0usize; moments.shards.len()];
        for _ in 0..filled.len() {
            counts[filled[rng.random_range(0..filled.len())]] += 1;
        }
        progress.advance(1);
        let Some((tensor, way)) = resample(&moments.shards, &counts, &estimate.white)? else { continue };
        // Start where the topics lie in the resample's own white space.
        let start = polar(&way.tr_matmul(&estimate.found.cp.factors))?;
        let found = solver.from_start(&tensor, start, progress)?;
        let back = way.matmul(&found.cp.factors);
        let mut cosines = estimate.found.cp.factors.tr_matmul(&back);
        let lengths: Vec<f64> = back.col_norms().iter().map(|n| 1.0 / n.max(1e-300)).collect();
        cosines.scale_cols(&lengths);
        for (t, sum) in sums.iter_mut().enumerate() {
            *sum += cosines.row(t).iter().fold(0.0f64, |best, c| best.max(c.abs()));
        }
    }
    Ok(sums.iter().map(|s| s / RESAMPLES as f64).collect())
}
