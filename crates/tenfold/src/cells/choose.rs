//! How many types there are: binomial thinning.
//!
//! Every count is split by tossing a coin for each cell. If counts are Poisson, the two halves are independent given the rates, so
//! types found in one half are judged by how well they and their memberships predict the other. Too few types miss what differs,
//! too many learn the noise of their half. Both halves are judged by the other and the scores are averaged.

use super::choices::Params;
use super::counts::GeneCounts;
use super::estimate::{estimate, memberships, shares};
use crate::checkpoint::stage;
use crate::error::Result;
use rand_distr::{Binomial, Distribution};
use tenfold_engine::linalg::{Csr, random};
use tenfold_engine::progress::Progress;

/// Numbers of types beyond the best one that are looked at before the search ends.
const PATIENCE: usize = 3;

/// Steps of a fit whose likelihood is only compared.
const STEPS: usize = 130;

/// Random starts of such a fit.
const RESTARTS: usize = 2;

/// How well some number of types predicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The number of types.
    pub k: usize,
    /// Nats a cell of the other half; larger is better.
    pub log_likelihood: f64,
}

crate::checkpoint::keep! { CurvePoint { k, log_likelihood } }

/// The best number of types up to `most`, and the whole curve.
pub(super) fn choose(
    params: &Params,
    counts: &GeneCounts,
    most: usize,
    progress: &dyn Progress,
) -> Result<(usize, Vec<CurvePoint>)> {
    let halves = match counts.is_whole() {
        true => thin(counts, params.seed),
        false => thin(&rounded(counts), params.seed),
    };
    let rough = Params {
        restarts: params.restarts.min(RESTARTS),
        max_iterations: params.max_iterations.min(STEPS),
        ..params.clone()
    };
    let (mut curve, mut best): (Vec<CurvePoint>, usize) = (Vec::new(), 0);
    progress.stage("choosing the number of types", most as u64);
    for k in 1..=most {
        let score = stage(progress, &format!("{k} types"), |progress| {
            let mut score = 0.0;
            for (learn, judge) in [(&halves[0], &halves[1]), (&halves[1], &halves[0])] {
                let half = |progress: &dyn Progress| predicted(&rough, learn, judge, k, progress);
                score += stage(progress, "half", half)? / 2.0;
            }
            Ok(score)
        })?;
        curve.push(CurvePoint { k, log_likelihood: score });
        if score > curve[best].log_likelihood {
            best = k - 1;
        }
        if k - 1 - best >= PATIENCE {
            break;
        }
    }
    Ok((curve[best].k, curve))
}

/// Whether half as many types would predict better than the `k` that were given: their number, and by how many nats a cell `k` types
/// predict the other half better. One half judges the other once; None for one type and for counts that have no halves.
pub(super) fn against_half(
    params: &Params,
    counts: &GeneCounts,
    k: usize,
    progress: &dyn Progress,
) -> Result<Option<(usize, f64)>> {
    let [learn, judge] = match counts.is_whole() {
        true if k > 1 => thin(counts, params.seed),
        _ => return Ok(None),
    };
    let filled = learn.row_totals().iter().filter(|x| **x > 0.0).count();
    let expressed = learn.gene_totals().iter().filter(|x| **x > 0.0).count();
    if k > filled.min(expressed) {
        return Ok(None);
    }
    let rough = Params { restarts: 1, max_iterations: params.max_iterations.min(STEPS), ..params.clone() };
    let half = k.div_ceil(2);
    let [few, many] = [half, k].map(|k| predicted(&rough, &learn, &judge, k, progress));
    Ok(Some((half, many? - few?)))
}

/// Whole counts in place of fractions, which have no halves: rounded where a row has this much in the mean, enlarged to it where it has less.
const ROW: f64 = 50.0;

/// Counts that are not whole, such as average intensities, as whole ones. What they say of k is a guess, rather too large, and the
/// verdict tells so.
fn rounded(counts: &GeneCounts) -> GeneCounts {
    let mean = counts.total() / counts.rows().max(1) as f64;
    let scale = if mean > 0.0 { (ROW / mean).max(1.0) } else { 1.0 };
    let matrix = counts.matrix();
    let entries: Vec<(usize, usize, f64)> = (0..counts.rows())
        .flat_map(|row| {
            let (columns, values) = matrix.row(row);
            columns.iter().zip(values).map(move |(g, x)| (row, *g as usize, (x * scale).round()))
        })
        .filter(|(_, _, x)| *x > 0.0)
        .collect();
    let matrix = Csr::from_triplets(counts.rows(), counts.genes().len(), &entries);
    GeneCounts::new(counts.genes().to_vec(), matrix).expect("rounded counts are counts")
}

/// Nats a cell of `judge` under types learned from `learn`.
fn predicted(
    params: &Params,
    learn: &GeneCounts,
    judge: &GeneCounts,
    k: usize,
    progress: &dyn Progress,
) -> Result<f64> {
    let totals = learn.row_totals();
    let full: Vec<usize> = (0..learn.rows()).filter(|&row| totals[row] > 0.0).collect();
    let found = estimate(params, &learn.take_rows(&full), k, progress)?.fitted;
    let weights = shares(&found.mixtures, &full.iter().map(|&row| totals[row]).collect::<Vec<_>>());
    let h = memberships(learn, &found.topics, params.alpha, &weights, progress)?;
    let genes = found.topics.transpose();
    let (mut sum, mut cells) = (0.0, 0.0);
    for row in 0..judge.rows() {
        let (columns, values) = judge.matrix().row(row);
        for (g, x) in columns.iter().zip(values) {
            let p: f64 = h.row(row).iter().zip(genes.row(*g as usize)).map(|(h, b)| h * b).sum();
            sum += x * (p + 1e-30).ln();
            cells += x;
        }
    }
    Ok(sum / f64::max(cells, 1.0))
}

/// Two halves whose counts add up to the given ones, each cell in either with the same chance.
pub(super) fn thin(counts: &GeneCounts, seed: u64) -> [GeneCounts; 2] {
    let mut rng = random::rng(seed, u64::MAX);
    let mut parts: [Vec<(usize, usize, f64)>; 2] = Default::default();
    for row in 0..counts.rows() {
        let (columns, values) = counts.matrix().row(row);
        for (g, x) in columns.iter().zip(values) {
            let coins = Binomial::new(*x as u64, 0.5).expect("a half is a probability");
            let heads = coins.sample(&mut rng) as f64;
            for (part, x) in parts.iter_mut().zip([heads, x - heads]) {
                if x > 0.0 {
                    part.push((row, *g as usize, x));
                }
            }
        }
    }
    parts.map(|part| {
        let matrix = Csr::from_triplets(counts.rows(), counts.genes().len(), &part);
        GeneCounts::new(counts.genes().to_vec(), matrix).expect("parts of counts are counts")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Features, Synth};
    use tenfold_engine::progress::Silent;

    fn counts(entries: &[(usize, usize, f64)]) -> GeneCounts {
        let names = (0..4).map(|g| format!("g{g}")).collect();
        GeneCounts::new(names, Csr::from_triplets(3, 4, entries)).unwrap()
    }

    #[test]
    fn halves_add_up_and_are_halves() {
        let whole = counts(&[(0, 0, 1000.0), (0, 3, 1.0), (1, 1, 400.0), (2, 2, 7.0)]);
        let mut ones = 0.0;
        for seed in 0..100 {
            let [a, b] = thin(&whole, seed);
            let mut sum = a.matrix().to_dense();
            sum.add_scaled(1.0, &b.matrix().to_dense());
            assert_eq!(sum, whole.matrix().to_dense());
            let heads = a.matrix().to_dense()[(0, 0)];
            // Five standard deviations of 1000 coins.
            assert!((heads - 500.0).abs() < 5.0 * 250f64.sqrt(), "{heads}");
            ones += a.matrix().to_dense()[(0, 3)];
        }
        assert!((ones - 50.0).abs() < 25.0, "{ones}");
    }

    #[test]
    fn fractions_are_rounded_first() {
        let drawn = Synth { types: 2, genes: 20, cells: 4000, ..Synth::default() }.draw().unwrap();
        let bins = Features::default().bins(&drawn.tissue).unwrap();
        let whole = bins.histogram(&drawn.tissue).counts;
        let matrix = whole.matrix().to_dense().map(|x| 0.3 * x);
        let entries: Vec<(usize, usize, f64)> = (0..matrix.rows())
            .flat_map(|i| matrix.row(i).iter().enumerate().map(move |(j, x)| (i, j, *x)).collect::<Vec<_>>())
            .filter(|e| e.2 > 0.0)
            .collect();
        let thirds = Csr::from_triplets(matrix.rows(), matrix.cols(), &entries);
        let thirds = GeneCounts::new(whole.genes().to_vec(), thirds).unwrap();
        let parts = rounded(&thirds);
        assert!(!thirds.is_whole() && parts.is_whole() && parts.total() > thirds.total());
        let (k, curve) = choose(&Params::new(2), &thirds, 4, &Silent).unwrap();
        // Enlarged counts share their noise between the halves, so the guess may be too large, but never below the two that are there.
        assert!((2..=4).contains(&k) && curve.len() >= k, "{k}");
    }
}
