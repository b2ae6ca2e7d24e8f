//! How surely topics come back from other documents.

use super::moments::{Projected, whitened_part};
use super::spectral::Estimate;
use crate::error::Result;
use tenfold_engine::decompose::Polar;
use tenfold_engine::linalg::{Mat, assign, orthonormalise, polar, random};
use tenfold_engine::progress::Progress;

/// Times the documents are halved: enough to tell a topic that always comes back from one that often does not.
const SPLITS: u64 = 2;
/// Directions of random frames that tell what chance gives: their mean is then known to about a hundredth.
const DIRECTIONS: usize = 256;

/// For every topic how surely it comes back from documents that had no part in finding it, 0 to 1: 1 every time, 0 no better than
/// chance. Empty where triples were not formed, or where documents are too few to be divided.
///
/// The documents lie in eight shards. Topics are sought in a random half of them and in the other half, each from
/// where they lie in all, and matched one to one with those; c is the cosine of the two halves' answers in the white space where
/// topics are orthogonal. Noise cannot agree with noise that it shares no document with, while resamples with
/// replacement share most of it. With c₀, what random directions reach after such a matching,
///
///   r = (c − c₀)/(1 − c₀),   stability = 2r/(1 + r),
///
/// the second being the agreement of samples as large as the corpus when halves agree by r (Spearman and Brown). Nothing is
/// read again, so the whole costs some decompositions of a small tensor from a good start.
pub(super) fn by_halves(
    moments: &Projected,
    estimate: &Estimate,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    let k = estimate.topics.rows();
    let filled: Vec<usize> = (0..moments.shards.len()).filter(|&s| moments.shards[s].weight > 0.0).collect();
    if moments.third.is_none() || filled.len() < 2 {
        return Ok(Vec::new());
    }
    progress.stage("halving", 2 * SPLITS);
    let mut sums = vec![0.0; k];
    for split in 0..SPLITS {
        let order = random::permutation(filled.len(), &mut random::rng(seed, 800 + split));
        let halves = [0, 1].map(|half| {
            let mut chosen = vec![false; moments.shards.len()];
            (half..order.len()).step_by(2).for_each(|i| chosen[filled[order[i]]] = true);
            chosen
        });
        let mut found = Vec::new();
        for half in &halves {
            progress.advance(1);
            found.extend(found_again(moments, estimate, half, progress)?);
        }
        // Where a half has fewer directions than there are topics, not all can come back.
        if let [a, b] = &found[..] {
            sums.iter_mut().zip(a.col_dots(b)).for_each(|(sum, c)| *sum += c.abs());
        }
    }
    let chance = chance(k, seed);
    let stability = |sum: &f64| {
        let r = ((sum / SPLITS as f64 - chance) / (1.0 - chance)).clamp(0.0, 1.0);
        2.0 * r / (1.0 + r)
    };
    Ok(sums.iter().map(stability).collect())
}

/// The topics as some shards give them, in the white space of all and in their order; a column is shorter than 1
/// by what lies outside that space.
fn found_again(
    moments: &Projected,
    estimate: &Estimate,
    chosen: &[bool],
    progress: &dyn Progress,
) -> Result<Option<Mat>> {
    // From a good start a topic that is there is found in a few steps; one that needs more does not come back.
    let solver = Polar { max_iterations: 5, tolerance: 1e-3, fit_tolerance: 1e-4, restarts: 1 };
    let Some((tensor, way)) = whitened_part(&moments.shards, chosen, &estimate.white)? else {
        return Ok(None);
    };
    let all = &estimate.found.cp.factors;
    let found = solver.from_start(&tensor, polar(&way.tr_matmul(all))?, progress)?;
    let mut back = way.matmul(&found.cp.factors);
    back.scale_cols(&back.col_norms().iter().map(|n| 1.0 / n.max(1.0)).collect::<Vec<_>>());
    Ok(Some(matched(all, &back)))
}

/// The columns of `b` in the order of those of `a` that an optimal matching gives them.
fn matched(a: &Mat, b: &Mat) -> Mat {
    let partners = assign(&a.tr_matmul(b).map(f64::abs));
    Mat::from_fn(b.rows(), b.cols(), |i, t| b[(i, partners[t])])
}

/// The mean cosine of two random frames of k directions, each matched with a third. A single direction has none to be
/// confused with.
fn chance(k: usize, seed: u64) -> f64 {
    if k < 2 {
        return 0.0;
    }
    let axes = Mat::identity(k);
    let frame = |i: u64| {
        let drawn = random::gaussian(k, k, &mut random::rng(seed, 850 + i));
        matched(&axes, &orthonormalise(&drawn))
    };
    let mean =
        |i: u64| frame(2 * i).col_dots(&frame(2 * i + 1)).iter().map(|c| c.abs()).sum::<f64>() / k as f64;
    let frames = DIRECTIONS.div_ceil(k) as u64;
    (0..frames).map(mean).sum::<f64>() / frames as f64
}
