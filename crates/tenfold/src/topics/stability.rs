//! How surely topics come back from other documents.

use super::moments::{Projected, Shard, second_of_part, whitened_part};
use super::spectral::Estimate;
use crate::error::Result;
use tenfold_engine::decompose::Polar;
use tenfold_engine::linalg::{Mat, assign, eigen_symmetric, orthonormalise, polar, random};
use tenfold_engine::progress::Progress;

/// Times the documents are halved: enough to tell a topic that always comes back from one that often does not.
const SPLITS: u64 = 3;
/// Random frames that tell what chance gives.
const FRAMES: u64 = 16;

/// What halves of the documents say of each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Stability {
    /// For every topic, 0 to 1; empty where triples were not formed, or where documents are too few to be divided.
    pub topics: Vec<f64>,
    /// Directions of the basis that keep more than half of their size in the other half.
    pub directions: usize,
}

/// For every topic how surely it comes back from documents that had no part in finding it, 0 to 1: 1 every time, 0 no better than
/// chance. Also how many directions hold, which tells why they do not: fewer than k when there is noise among
/// them, more than k when any k of them are an arbitrary choice.
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
) -> Result<Stability> {
    let k = estimate.topics.rows();
    let filled: Vec<usize> = (0..moments.shards.len()).filter(|&s| moments.shards[s].weight > 0.0).collect();
    if moments.third.is_none() || filled.len() < 2 {
        return Ok(Stability::default());
    }
    progress.stage("halving", 2 * SPLITS);
    let mut sums = vec![0.0; k];
    let mut hold = Vec::new();
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
        hold.push(directions(&moments.shards, &halves, estimate.white.alpha0)?);
    }
    let chance = chance(k, seed);
    let stability = |sum: &f64| {
        let r = ((sum / SPLITS as f64 - chance) / (1.0 - chance)).clamp(0.0, 1.0);
        2.0 * r / (1.0 + r)
    };
    hold.sort_unstable();
    Ok(Stability { topics: sums.iter().map(stability).collect(), directions: hold[hold.len() / 2] })
}

/// Eigenvectors u of M2 of one half whose eigenvalue comes back as more than half of itself in the other, uᵀ M2 u; as for the
/// choice of k, but inside the basis.
fn directions(shards: &[Shard], halves: &[Vec<bool>; 2], alpha0: f64) -> Result<usize> {
    let seconds = halves.each_ref().map(|half| second_of_part(shards, half, alpha0));
    let (mut own, mut again) = (vec![0.0; seconds[0].rows()], vec![0.0; seconds[0].rows()]);
    for (mine, other) in [(0, 1), (1, 0)] {
        let eigen = eigen_symmetric(&seconds[mine])?;
        let measured = seconds[other].matmul(&eigen.vectors).col_dots(&eigen.vectors);
        own.iter_mut().zip(&eigen.values).for_each(|(x, v)| *x += v);
        again.iter_mut().zip(&measured).for_each(|(x, v)| *x += v);
    }
    Ok(own.iter().zip(&again).filter(|(own, again)| **own > 0.0 && **again > 0.5 * **own).count())
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
    let Some((tensor, way)) = whitened_part(&moments.shards, chosen, &estimate.white)? else { return Ok(None) };
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
    let mean = |i: u64| {
        frame(2 * i).col_dots(&frame(2 * i + 1)).iter().map(|c| c.abs()).sum::<f64>() / k as f64
    };
    (0..FRAMES).map(mean).sum::<f64>() / FRAMES as f64
}
