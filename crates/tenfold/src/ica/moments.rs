//! The moments of mixed sources: covariance before whitening, cumulants after it.

use super::Contrast;
use crate::verdict::Verdict;
use tenfold_engine::Result;
use tenfold_engine::linalg::{Eigen, Mat, RangeFinder, Rows, SymmetricOperator, eigen_symmetric};
use tenfold_engine::moments::{CovarianceOperator, Spread};
use tenfold_engine::progress::Progress;
use tenfold_engine::tensor::{Implicit, Term};

/// Columns up to which the covariance is formed (8 MB, and as much for each of eight running sums); beyond, only its products with skinny matrices are used.
pub(super) const WIDEST_COVARIANCE: usize = 1024;
/// Eigenpairs computed of a wide covariance when the number of sources is to be chosen.
pub(super) const WIDE_PAIRS: usize = 256;
/// Ratio of standard deviations beyond which columns hardly share a unit.
const UNIT_RATIO: f64 = 1e5;

/// Mean, scales and the eigenpairs of the covariance.
pub(super) struct SecondMoment {
    pub(super) mean: Vec<f64>,
    deviations: Vec<f64>,
    /// What every column is multiplied with before the covariance is taken: one, 1/deviation, or 0 when constant.
    pub(super) scales: Vec<f64>,
    pub(super) eigen: Eigen,
}

crate::checkpoint::keep! { SecondMoment { mean, deviations, scales, eigen } }

impl SecondMoment {
    /// One pass over the samples when they are narrow; a few more when they are wide. `wanted` eigenpairs at
    /// least, all of them when narrow.
    pub(super) fn gather(
        samples: &dyn Rows,
        wanted: Option<usize>,
        standardise: bool,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Self> {
        if samples.cols() <= WIDEST_COVARIANCE {
            let spread = Spread::of(samples, progress)?;
            let deviations = spread.deviations();
            let scales = scales(&deviations, &spread.mean, standardise);
            let mut covariance = spread.covariance();
            covariance.scale_rows(&scales);
            covariance.scale_cols(&scales);
            return Ok(Self { mean: spread.mean, deviations, scales, eigen: eigen_symmetric(&covariance)? });
        }
        let covariance = CovarianceOperator::new(samples, progress)?;
        let deviations = covariance.deviations().to_vec();
        let scales = scales(&deviations, covariance.mean(), standardise);
        let scaled = Scaled { scales, covariance: &covariance };
        let most = samples.cols().min(samples.rows());
        let finder = RangeFinder { seed, ..RangeFinder::default() };
        let eigen = finder.eigen(&scaled, wanted.unwrap_or(WIDE_PAIRS).min(most))?;
        Ok(Self { mean: covariance.mean().to_vec(), deviations, scales: scaled.scales, eigen })
    }

    /// Eigenvalues, largest first.
    pub(super) fn spectrum(&self) -> &[f64] {
        &self.eigen.values
    }

    /// Says what the columns themselves show.
    pub(super) fn report(&self, verdict: &mut Verdict) {
        let constant: Vec<usize> =
            (0..self.mean.len()).filter(|&j| is_constant(self.deviations[j], self.mean[j])).collect();
        if !constant.is_empty() {
            let shown: Vec<String> = constant.iter().take(8).map(|j| (j + 1).to_string()).collect();
            let more = if constant.len() > 8 { ", …" } else { "" };
            let (s, says) = if constant.len() == 1 {
                ("", "is constant and carries")
            } else {
                ("s", "are constant and carry")
            };
            verdict.note(format!("column{s} {}{more} {says} no source", shown.join(", ")));
        }
        let varying = (0..self.mean.len()).filter(|j| !constant.contains(j)).map(|j| self.deviations[j]);
        let (low, high) = varying.fold((f64::INFINITY, 0.0f64), |(l, h), s| (l.min(s), h.max(s)));
        if high > UNIT_RATIO * low && self.scales.iter().all(|s| *s == 1.0 || *s == 0.0) {
            verdict.warn(format!(
                "standard deviations of the columns run from {low:.1e} to {high:.1e}: if they are in different units, \
                 standardise them"
            ));
        }
    }
}

/// A column that varies by no more than the rounding of its mean.
fn is_constant(deviation: f64, mean: f64) -> bool {
    deviation <= 1e-12 * mean.abs() || deviation == 0.0
}

/// One or 1/deviation; 0 for a constant column, whose rounding must not become a source.
fn scales(deviations: &[f64], mean: &[f64], standardise: bool) -> Vec<f64> {
    let scale = |(s, m): (&f64, &f64)| match (is_constant(*s, *m), standardise) {
        (true, _) => 0.0,
        (false, true) => 1.0 / s,
        (false, false) => 1.0,
    };
    deviations.iter().zip(mean).map(scale).collect()
}

/// diag(scales) · covariance · diag(scales).
struct Scaled<'a> {
    scales: Vec<f64>,
    covariance: &'a CovarianceOperator<'a>,
}

impl SymmetricOperator for Scaled<'_> {
    fn dim(&self) -> usize {
        self.scales.len()
    }
    fn apply(&self, x: &Mat) -> Result<Mat> {
        let mut inner = x.clone();
        inner.scale_rows(&self.scales);
        let mut out = self.covariance.apply(&inner)?;
        out.scale_rows(&self.scales);
        Ok(out)
    }
}

/// cum₃ or cum₄ of white, centred samples in rows.
pub(super) fn cumulant(samples: &dyn Rows, contrast: Contrast) -> Implicit<'_> {
    let (k, scale) = (samples.cols(), 1.0 / samples.rows() as f64);
    let mut terms = vec![Term::Powers { samples, weights: None, scale }];
    terms.extend(contrast.shifts(k));
    Implicit::new(contrast.order(), k, terms)
}

impl Contrast {
    /// Order of the cumulant.
    pub(super) fn order(self) -> usize {
        match self {
            Self::Kurtosis => 4,
            Self::Skewness => 3,
        }
    }

    /// What turns the moment of white samples into their cumulant.
    pub(super) fn shifts(self, k: usize) -> Vec<Term<'static>> {
        match self {
            Self::Kurtosis => vec![Term::MatrixPair { matrix: Mat::identity(k), scale: -1.0 }],
            Self::Skewness => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::{eigen_symmetric, random};
    use tenfold_engine::moments::Spread;
    use tenfold_engine::progress::Silent;
    use tenfold_engine::tensor::Contract;
    use tenfold_engine::whiten::Whitener;

    /// The cumulant of the formula book, entry by entry: E[abcd] − E[ab]E[cd] − E[ac]E[bd] − E[ad]E[bc].
    #[test]
    fn equals_the_cumulant_by_explicit_sums() {
        let mut rng = random::rng(1, 0);
        let x = random::gaussian(400, 3, &mut rng).map(|v| v * v * v + v);
        let spread = Spread::of(&x, &Silent).unwrap();
        let whitener = Whitener::new(eigen_symmetric(&spread.covariance()).unwrap(), 3).unwrap();
        let y = whitener.apply(&x, &spread.mean).unwrap();
        let mean = |f: &dyn Fn(&[f64]) -> f64| (0..400).map(|t| f(y.row(t))).sum::<f64>() / 400.0;
        let v = random::gaussian(3, 1, &mut rng);
        let (got4, got3) = (
            cumulant(&y, Contrast::Kurtosis).power(&v).unwrap(),
            cumulant(&y, Contrast::Skewness).power(&v).unwrap(),
        );
        for a in 0..3 {
            let (mut want4, mut want3) = (0.0, 0.0);
            for b in 0..3 {
                for c in 0..3 {
                    want3 += mean(&|y| y[a] * y[b] * y[c]) * v[(b, 0)] * v[(c, 0)];
                    for d in 0..3 {
                        let pair = |p: usize, q: usize| mean(&|y| y[p] * y[q]);
                        let cumulant = mean(&|y| y[a] * y[b] * y[c] * y[d])
                            - pair(a, b) * pair(c, d)
                            - pair(a, c) * pair(b, d)
                            - pair(a, d) * pair(b, c);
                        want4 += cumulant * v[(b, 0)] * v[(c, 0)] * v[(d, 0)];
                    }
                }
            }
            assert!((got4[(a, 0)] - want4).abs() < 1e-9 * (1.0 + want4.abs()), "{} {want4}", got4[(a, 0)]);
            assert!((got3[(a, 0)] - want3).abs() < 1e-9 * (1.0 + want3.abs()));
        }
    }
}
