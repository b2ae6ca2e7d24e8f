//! The thesis's estimator: least squares under simplex constraints.

use crate::admixture::Fitted;
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::{Csr, Mat, eigen_symmetric, project_to_simplex};
use tenfold_engine::progress::Progress;

/// Accelerated steps on one factor before it is the other's turn.
const INNER: usize = 5;

/// Rounds between two looks at the error.
const LOOK: usize = 10;

/// Relative fall of the error in [`LOOK`] rounds below which it rests.
const REST: f64 = 1e-5;

/// Minimises Σ (x_mn − L_m Σ_t h_mt β_tn)² over profiles and memberships on simplices, by alternating accelerated projected
/// gradients, from a start.
///
/// # References
/// The thesis's problem for β and h, "Estimating the cell-type dependent gene expression profile"; Beck and Teboulle 2009 for the
/// accelerated steps.
pub(super) fn nmf(
    counts: &Csr,
    profiles: &Mat,
    memberships: &Mat,
    rounds: usize,
    progress: &dyn Progress,
) -> Result<Fitted> {
    let by_gene = counts.transpose();
    let lengths: Vec<f64> = (0..counts.rows()).map(|row| counts.row(row).1.iter().sum()).collect();
    let inverse: Vec<f64> = lengths.iter().map(|l| if *l > 0.0 { 1.0 / l } else { 0.0 }).collect();
    let squares: f64 = (0..counts.rows()).flat_map(|row| counts.row(row).1).map(|x| x * x).sum();
    let (mut b, mut h) = (profiles.clone(), memberships.clone());
    let (mut steps, mut converged, mut last) = (0, false, f64::INFINITY);
    while steps < rounds && !converged {
        progress.check()?;
        // Rows of h are alone with their own length, which cancels: ½‖x/L − h β‖².
        let mut linear = counts.matmul(&b.transpose());
        linear.scale_rows(&inverse);
        h = descend(h, &b.matmul_tr(&b), &linear)?;
        let mut scaled = h.clone();
        scaled.scale_rows(&lengths);
        let linear = by_gene.matmul(&scaled).transpose();
        let gram = scaled.tr_matmul(&scaled);
        // Descends over rows of β: the quadratic form stands on the other side.
        b = descend_profiles(b, &gram, &linear)?;
        steps += 1;
        progress.advance(1);
        if steps % LOOK == 0 {
            let fitted = gram.matmul(&b);
            let inner =
                |a: &Mat, b: &Mat| a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| x * y).sum::<f64>();
            let error = squares - 2.0 * inner(&linear, &b) + inner(&fitted, &b);
            converged = last - error < REST * error.abs();
            last = error;
        }
    }
    let log_likelihood = nats(counts, &b, &h);
    Ok(Fitted { topics: b, mixtures: h, log_likelihood, steps, converged })
}

/// Accelerated projected gradient on ½ tr(h G hᵀ) − tr(h Cᵀ), rows of h on the simplex.
fn descend(start: Mat, gram: &Mat, linear: &Mat) -> Result<Mat> {
    let step = 1.0 / largest(gram)?;
    accelerate(start, step, |y| {
        let mut gradient = y.matmul(gram);
        gradient.add_scaled(-1.0, linear);
        gradient
    })
}

/// The same with G on the left: ½ tr(βᵀ G β) − tr(Cᵀ β), rows of β on the simplex.
fn descend_profiles(start: Mat, gram: &Mat, linear: &Mat) -> Result<Mat> {
    let step = 1.0 / largest(gram)?;
    accelerate(start, step, |y| {
        let mut gradient = gram.matmul(y);
        gradient.add_scaled(-1.0, linear);
        gradient
    })
}

fn largest(gram: &Mat) -> Result<f64> {
    Ok(eigen_symmetric(gram)?.values.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE))
}

fn accelerate(start: Mat, step: f64, gradient: impl Fn(&Mat) -> Mat) -> Result<Mat> {
    let (mut x, mut y, mut t) = (start.clone(), start, 1.0f64);
    for _ in 0..INNER {
        let mut next = y.clone();
        next.add_scaled(-step, &gradient(&y));
        let width = next.cols().max(1);
        next.as_mut_slice().par_chunks_mut(width).for_each(|row| project_to_simplex(row, 1.0));
        let after = (1.0 + (1.0 + 4.0 * t * t).sqrt()) / 2.0;
        let push = (t - 1.0) / after;
        y = Mat::from_fn(x.rows(), x.cols(), |i, j| next[(i, j)] + push * (next[(i, j)] - x[(i, j)]));
        (x, t) = (next, after);
    }
    Ok(x)
}

/// Σ x ln p / Σ x; a cell that the fit thinks impossible counts as probability 1e-30.
fn nats(counts: &Csr, profiles: &Mat, memberships: &Mat) -> f64 {
    let genes = profiles.transpose();
    let (mut sum, mut cells) = (0.0, 0.0);
    for row in 0..counts.rows() {
        let (columns, values) = counts.row(row);
        for (g, x) in columns.iter().zip(values) {
            let p: f64 = memberships.row(row).iter().zip(genes.row(*g as usize)).map(|(h, b)| h * b).sum();
            sum += x * (p + 1e-30).ln();
            cells += x;
        }
    }
    sum / f64::max(cells, f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use tenfold_engine::linalg::random;
    use tenfold_engine::progress::Silent;

    fn simplex(rows: usize, cols: usize, rng: &mut random::Rng) -> Mat {
        let raw = Mat::from_fn(rows, cols, |_, _| rng.random::<f64>().powi(4));
        Mat::from_fn(rows, cols, |i, j| raw[(i, j)] / raw.row(i).iter().sum::<f64>())
    }

    fn error(counts: &Csr, b: &Mat, h: &Mat) -> f64 {
        let (x, p) = (counts.to_dense(), h.matmul(b));
        let entry = |m: usize, n: usize| x[(m, n)] - x.row(m).iter().sum::<f64>() * p[(m, n)];
        (0..x.rows()).flat_map(|m| (0..x.cols()).map(move |n| (m, n))).map(|(m, n)| entry(m, n).powi(2)).sum()
    }

    #[test]
    fn exact_data_are_fitted_exactly() {
        let mut rng = random::rng(2, 0);
        let (b, h) = (simplex(3, 12, &mut rng), simplex(40, 3, &mut rng));
        let x = h.matmul(&b);
        let entries: Vec<_> = (0..40)
            .flat_map(|m| (0..12).map(move |g| (m, g)))
            .map(|(m, g)| (m, g, 50.0 * x[(m, g)]))
            .collect();
        let counts = Csr::from_triplets(40, 12, &entries);
        let (b0, h0) = (simplex(3, 12, &mut rng), simplex(40, 3, &mut rng));
        let found = nmf(&counts, &b0, &h0, 3000, &Silent).unwrap();
        let (before, after) = (error(&counts, &b0, &h0), error(&counts, &found.topics, &found.mixtures));
        // The error stops falling where ten rounds gain less than 1e-5 of it.
        assert!(after < 1e-3 * before, "{before} {after}");
        let rows = (0..3).map(|t| found.topics.row(t)).chain((0..40).map(|m| found.mixtures.row(m)));
        for row in rows {
            assert!(row.iter().all(|x| *x >= 0.0) && (row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn neither_factor_can_be_bettered_alone() {
        let mut rng = random::rng(7, 0);
        let entries: Vec<_> =
            (0..20 * 8).map(|i| (i / 8, i % 8, f64::from(rng.random_range(0..9u32)))).collect();
        let counts = Csr::from_triplets(20, 8, &entries);
        let (b0, h0) = (simplex(2, 8, &mut rng), simplex(20, 2, &mut rng));
        let found = nmf(&counts, &b0, &h0, 5000, &Silent).unwrap();
        let least = error(&counts, &found.topics, &found.mixtures);
        for _ in 0..50 {
            // Towards any other point of the simplex the error rises, up to what rest means.
            let (b, h) = (simplex(2, 8, &mut rng), simplex(20, 2, &mut rng));
            let toward = |x: &Mat, y: &Mat| {
                Mat::from_fn(x.rows(), x.cols(), |i, j| 0.99 * x[(i, j)] + 0.01 * y[(i, j)])
            };
            assert!(error(&counts, &toward(&found.topics, &b), &found.mixtures) > least * (1.0 - 1e-4));
            assert!(error(&counts, &found.topics, &toward(&found.mixtures, &h)) > least * (1.0 - 1e-4));
        }
    }
}
