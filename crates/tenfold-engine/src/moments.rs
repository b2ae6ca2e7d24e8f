//! Moments: sums over samples, gathered in blocks and merged.

use crate::error::{Error, Result};
use crate::linalg::parallel::{BLOCK, add_assign, block_rows, sum_blocks};
use crate::linalg::{
    Mat, Rows, SymmetricOperator, centre, check_finite, gemm, gemm_add, view, view_mut, with_rows,
};
use crate::progress::Progress;

/// Count, mean and scatter Σ (x − mean)(x − mean)ᵀ of samples; parts merge exactly.
///
/// Each block is centred on its own mean and merged by the pairwise formula of Chan, Golub and LeVeque (1983),
/// so that a large common offset does not cancel the digits.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::Mat;
/// use tenfold_engine::moments::Spread;
/// let mut a = Spread::of_block(&[1.0, 2.0], 1);
/// a.merge(&Spread::of_block(&[6.0], 1));
/// assert_eq!((a.count, a.mean[0], a.scatter[(0, 0)]), (3, 3.0, 14.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// Number of samples.
    pub count: usize,
    /// Their mean.
    pub mean: Vec<f64>,
    /// Σ (x − mean)(x − mean)ᵀ.
    pub scatter: Mat,
}

impl Spread {
    /// No samples yet.
    pub fn empty(dim: usize) -> Self {
        Self { count: 0, mean: vec![0.0; dim], scatter: Mat::zeros(dim, dim) }
    }

    /// The samples of one block, `dim` numbers each.
    pub fn of_block(block: &[f64], dim: usize) -> Self {
        let count = block.len() / dim;
        let mean = block_mean(block, dim);
        let centred = centre(block, &mean);
        let mut scatter = Mat::zeros(dim, dim);
        let x = view(&centred, count, dim);
        gemm(scatter.view_mut(), x.transpose(), x);
        Self { count, mean, scatter }
    }

    /// One pass over all samples; refuses values that are not finite.
    ///
    /// # Errors
    /// [`Error::NotFinite`] naming the place, [`Error::Interrupted`], what the data source says.
    pub fn of(samples: &dyn Rows, progress: &dyn Progress) -> Result<Self> {
        let dim = samples.cols();
        sum_blocks(
            samples.rows(),
            BLOCK,
            || Self::empty(dim),
            |sum, range| {
                progress.check()?;
                let (start, rows) = (range.start, range.len());
                let part = with_rows(samples, range, &mut Vec::new(), |block| {
                    check_finite("the value", block, dim, start).map(|()| Self::of_block(block, dim))
                })??;
                sum.merge(&part);
                progress.advance(rows as u64);
                Ok(())
            },
            |total, lane| total.merge(&lane),
        )
    }

    /// Adds the samples of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let (n, m) = (self.count as f64, other.count as f64);
        let total = n + m;
        let shift: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(b, a)| b - a).collect();
        self.scatter.add_scaled(1.0, &other.scatter);
        let factor = n * m / total;
        for i in 0..shift.len() {
            let scaled = factor * shift[i];
            self.scatter.row_mut(i).iter_mut().zip(&shift).for_each(|(s, d)| *s += scaled * d);
        }
        self.mean.iter_mut().zip(&shift).for_each(|(mean, d)| *mean += d * m / total);
        self.count += other.count;
    }

    /// Scatter / count.
    pub fn covariance(&self) -> Mat {
        self.scatter.map(|x| x / self.count.max(1) as f64)
    }

    /// Standard deviation of every column.
    pub fn deviations(&self) -> Vec<f64> {
        (0..self.mean.len()).map(|i| (self.scatter[(i, i)] / self.count.max(1) as f64).sqrt()).collect()
    }
}

/// The covariance of samples too wide for a square matrix, known through its products.
///
/// # Complexity
/// One pass over the samples and 4·n·d·m floating-point operations for a product of width m.
pub struct CovarianceOperator<'a> {
    samples: &'a dyn Rows,
    progress: &'a dyn Progress,
    mean: Vec<f64>,
    deviations: Vec<f64>,
}

impl<'a> CovarianceOperator<'a> {
    /// Two passes, for means and deviations; refuses values that are not finite.
    ///
    /// # Errors
    /// As [`Spread::of`].
    pub fn new(samples: &'a dyn Rows, progress: &'a dyn Progress) -> Result<Self> {
        let dim = samples.cols();
        let count = samples.rows().max(1) as f64;
        let mut operator = Self { samples, progress, mean: vec![0.0; dim], deviations: Vec::new() };
        let mut mean =
            operator.pass(dim, |sum, block| block.chunks_exact(dim).for_each(|row| add_assign(sum, row)))?;
        mean.iter_mut().for_each(|m| *m /= count);
        operator.mean = mean;
        let squares = operator.pass(dim, |sum, block| {
            for row in centre(block, &operator.mean).chunks_exact(dim) {
                sum.iter_mut().zip(row).for_each(|(s, x)| *s += x * x);
            }
        })?;
        operator.deviations = squares.iter().map(|s| (s / count).sqrt()).collect();
        Ok(operator)
    }

    /// Mean of every column.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Standard deviation of every column.
    pub fn deviations(&self) -> &[f64] {
        &self.deviations
    }

    /// Sums `add(sum, block)` over all blocks of samples.
    fn pass(&self, length: usize, add: impl Fn(&mut [f64], &[f64]) + Sync) -> Result<Vec<f64>> {
        let dim = self.samples.cols();
        sum_blocks(
            self.samples.rows(),
            block_rows(dim),
            || vec![0.0; length],
            |sum: &mut Vec<f64>, range| {
                self.progress.check()?;
                let start = range.start;
                with_rows(self.samples, range, &mut Vec::new(), |block| {
                    check_finite("the value", block, dim, start)?;
                    add(sum, block);
                    Ok::<(), Error>(())
                })?
            },
            |total, lane| add_assign(total, &lane),
        )
    }
}

impl SymmetricOperator for CovarianceOperator<'_> {
    fn dim(&self) -> usize {
        self.samples.cols()
    }
    fn apply(&self, x: &Mat) -> Result<Mat> {
        let (dim, width) = (self.dim(), x.cols());
        let sum = self.pass(dim * width, |sum, block| {
            let rows = block.len() / dim;
            let centred = centre(block, &self.mean);
            let y = view(&centred, rows, dim);
            let mut along = Mat::zeros(rows, width);
            gemm(along.view_mut(), y, x.view());
            gemm_add(view_mut(sum, dim, width), y.transpose(), along.view());
        })?;
        let count = self.samples.rows().max(1) as f64;
        Ok(Mat::from_vec(dim, width, sum).map(|v| v / count))
    }
}

fn block_mean(block: &[f64], dim: usize) -> Vec<f64> {
    let mut mean = vec![0.0; dim];
    block.chunks_exact(dim).for_each(|row| add_assign(&mut mean, row));
    let count = (block.len() / dim).max(1) as f64;
    mean.iter_mut().for_each(|m| *m /= count);
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{parallel, random};
    use crate::progress::Silent;

    #[test]
    fn spread_equals_explicit_sums_and_survives_a_large_offset() {
        let x = random::gaussian(1700, 3, &mut random::rng(1, 0)).map(|v| v + 1e7);
        let spread = Spread::of(&x, &Silent).unwrap();
        for i in 0..3 {
            let mean = x.col(i).iter().sum::<f64>() / 1700.0;
            assert!((spread.mean[i] - mean).abs() < 1e-7);
            for j in 0..3 {
                let other = x.col(j).iter().sum::<f64>() / 1700.0;
                let brute: f64 = (0..1700).map(|t| (x[(t, i)] - mean) * (x[(t, j)] - other)).sum();
                assert!((spread.scatter[(i, j)] - brute).abs() < 1e-4, "{} {brute}", spread.scatter[(i, j)]);
            }
        }
        let one = parallel::with_threads(1, || Spread::of(&x, &Silent).unwrap());
        for threads in [2, 3, 8] {
            assert_eq!(parallel::with_threads(threads, || Spread::of(&x, &Silent).unwrap()), one);
        }
    }

    #[test]
    fn merging_is_associative_and_commutative_to_rounding() {
        let x = random::gaussian(90, 4, &mut random::rng(2, 0));
        let part = |a: usize, b: usize| Spread::of_block(&x.as_slice()[a * 4..b * 4], 4);
        let mut left = part(0, 10);
        left.merge(&part(10, 50));
        left.merge(&part(50, 90));
        let mut right = part(50, 90);
        let mut tail = part(10, 50);
        tail.merge(&part(0, 10));
        right.merge(&tail);
        let mut difference = left.scatter.clone();
        difference.add_scaled(-1.0, &right.scatter);
        assert!(difference.max_abs() < 1e-12 && left.count == right.count);
        right.merge(&Spread::empty(4));
        assert_eq!(right.count, 90);
    }

    #[test]
    fn operator_equals_the_dense_covariance() {
        let x = random::gaussian(1200, 6, &mut random::rng(3, 0)).map(|v| v + 5.0);
        let operator = CovarianceOperator::new(&x, &Silent).unwrap();
        let y = random::gaussian(6, 2, &mut random::rng(4, 0));
        let spread = Spread::of(&x, &Silent).unwrap();
        let mut difference = operator.apply(&y).unwrap();
        difference.add_scaled(-1.0, &spread.covariance().matmul(&y));
        assert!(difference.max_abs() < 1e-12);
        assert!((operator.deviations()[2] - spread.deviations()[2]).abs() < 1e-12);
    }

    #[test]
    fn not_a_number_is_named_by_its_place() {
        // Block 8 goes to the first lane and block 1 to the second: the earlier one is named all the same.
        let mut x = random::gaussian(5000, 3, &mut random::rng(5, 0));
        x[(4100, 2)] = f64::INFINITY;
        x[(700, 1)] = f64::NAN;
        let error = Spread::of(&x, &Silent).unwrap_err().to_string();
        assert!(error.contains("row 701") && error.contains("column 2"), "{error}");
        assert!(CovarianceOperator::new(&x, &Silent).is_err());
    }
}
