//! Profiles and memberships for a given number of types: several starts, the best of which goes on.

use super::choices::{Params, Solver};
use super::counts::GeneCounts;
use super::model::StartOutcome;
use super::nmf::nmf;
use super::starts::starts;
use crate::admixture::{Fitted, Inference, Joint};
use crate::checkpoint::stage;
use crate::error::Result;
use crate::evaluate::Match;
use tenfold_engine::linalg::{Counts, Mat, random};
use tenfold_engine::progress::Progress;

/// Steps by which starts are compared: on drawn tissue the order of the best ones did not change after.
const SHORT: usize = 30;

/// Steps of memberships alone before a start moves.
const SETTLE: usize = 20;

/// Entries by which starts are compared: of larger counts as many rows are drawn. Every n-th row would not do: bins have an order, and n may be the
/// length of an axis.
const ENTRIES: usize = 500_000;

/// The random stream by which those rows are drawn.
const ROWS: u64 = 1 << 32;

/// The fixed point of memberships ends here: they are told to three digits, and single precision cannot go much further.
const REFINE: Inference = Inference { steps: 200, tolerance: 1e-5 };

/// The best fit of some starts.
pub(super) struct Estimated {
    pub fitted: Fitted,
    pub starts: Vec<StartOutcome>,
}

crate::checkpoint::keep! { Estimated { fitted, starts } }

/// Fits k types to the counts; every row has cells.
pub(super) fn estimate(
    params: &Params,
    counts: &GeneCounts,
    k: usize,
    progress: &dyn Progress,
) -> Result<Estimated> {
    let matrix = counts.matrix();
    let stride = matrix.entries().div_ceil(ENTRIES).max(1);
    let mut some = random::permutation(counts.rows(), &mut random::rng(params.seed, ROWS));
    some.truncate(counts.rows().div_ceil(stride));
    some.sort_unstable();
    let part = (stride > 1 && some.len() > k).then(|| counts.take_rows(&some));
    let looked = part.as_ref().unwrap_or(counts);
    let short =
        Joint { smoothing: params.smoothing, steps: SHORT.min(params.max_iterations), tolerance: 0.0 };
    let (mut best, mut tried): (Option<Fitted>, Vec<(String, Fitted)>) = (None, Vec::new());
    let all =
        stage(progress, "starts", |progress| starts(matrix, k, params.restarts, params.seed, progress))?;
    for start in all {
        let found = stage(progress, &start.name, |progress| {
            let mixtures = settled(looked, &start.profiles, progress)?;
            short.run(looked.matrix(), &start.profiles, &mixtures, progress)
        })?;
        if best.as_ref().is_none_or(|best| found.log_likelihood > best.log_likelihood) {
            best = Some(found.clone());
        }
        tried.push((start.name, found));
    }
    let mut best = best.expect("there is a start");
    let outcome = |(name, found): (String, Fitted)| StartOutcome {
        name,
        log_likelihood: found.log_likelihood,
        distance: Match::new(&best.topics, &found.topics).mean(),
    };
    let starts = tried.into_iter().map(outcome).collect();
    if part.is_some() {
        best.mixtures = settled(counts, &best.topics, progress)?;
    }
    let left = params.max_iterations - best.steps;
    let fitted = match params.solver {
        Solver::Em => {
            let long = Joint { smoothing: params.smoothing, steps: left, ..Joint::default() };
            let more = long.run(matrix, &best.topics, &best.mixtures, progress)?;
            Fitted { steps: more.steps + best.steps, ..more }
        }
        Solver::Nmf => nmf(matrix, &best.topics, &best.mixtures, params.max_iterations, progress)?,
    };
    Ok(Estimated { fitted, starts })
}

/// Memberships to start with under given profiles; none is nothing, or it could never come back.
fn settled(counts: &GeneCounts, profiles: &Mat, progress: &dyn Progress) -> Result<Mat> {
    let k = profiles.rows();
    let settle = Inference { steps: SETTLE, tolerance: 0.0 };
    let found = settle.mixtures(&counts.documents(), profiles, &vec![0.1 / k as f64; k], progress)?;
    Ok(found.map(|x| (x + 1e-4) / (1.0 + 1e-4 * k as f64)))
}

/// Memberships of the rows under given profiles, with the prior inside the fixed point's bracket:
///
///   h_i ← (Σ_n x_n h_i β_in / Σ_l h_l β_ln + α_i) / (L + Σα).
///
/// A row without cells gets `otherwise`.
pub(super) fn memberships(
    counts: &GeneCounts,
    profiles: &Mat,
    alpha: f64,
    otherwise: &[f64],
    progress: &dyn Progress,
) -> Result<Mat> {
    let documents: &dyn Counts = &counts.documents();
    let k = profiles.rows();
    let mut found = REFINE.mixtures(documents, profiles, &vec![alpha / k as f64; k], progress)?;
    for (row, total) in counts.row_totals().into_iter().enumerate() {
        let h = found.row_mut(row);
        if total == 0.0 {
            h.copy_from_slice(otherwise);
            continue;
        }
        // They come in single precision.
        let sum: f64 = h.iter().sum();
        h.iter_mut().for_each(|x| *x /= sum.max(f64::MIN_POSITIVE));
    }
    Ok(found)
}

/// The share of every type among the cells of rows with these totals.
pub(super) fn shares(memberships: &Mat, totals: &[f64]) -> Vec<f64> {
    let sums = memberships.tr_matvec(totals);
    let all = sums.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    sums.iter().map(|x| x / all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::Csr;
    use tenfold_engine::progress::Silent;

    #[test]
    fn memberships_are_the_fixed_point_with_the_prior_inside() {
        let counts = Csr::from_triplets(3, 3, &[(0, 0, 4.0), (0, 1, 2.0), (0, 2, 1.0), (2, 1, 3.0)]);
        let counts = GeneCounts::new(vec!["a".into(), "b".into(), "c".into()], counts).unwrap();
        let b = Mat::from_vec(2, 3, vec![0.6, 0.3, 0.1, 0.1, 0.2, 0.7]);
        let found = memberships(&counts, &b, 0.4, &[0.9, 0.1], &Silent).unwrap();
        let mut h = [0.5, 0.5];
        for _ in 0..5000 {
            let part = |i: usize| -> f64 {
                let share = |n: usize| h[i] * b[(i, n)] / (h[0] * b[(0, n)] + h[1] * b[(1, n)]);
                [4.0, 2.0, 1.0].iter().enumerate().map(|(n, x)| x * share(n)).sum()
            };
            h = [(part(0) + 0.2) / 7.4, (part(1) + 0.2) / 7.4];
        }
        assert!((found[(0, 0)] - h[0]).abs() < 1e-4 && (h[0] + h[1] - 1.0).abs() < 1e-12, "{found:?} {h:?}");
        assert_eq!(found.row(1), [0.9, 0.1]);
        assert_eq!(
            shares(&Mat::from_vec(2, 2, vec![1.0, 0.0, 0.5, 0.5]), &[1.0, 2.0]),
            [2.0 / 3.0, 1.0 / 3.0]
        );
    }
}
