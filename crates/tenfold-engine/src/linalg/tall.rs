//! Tall matrices in single precision: a row for every node of a graph, a column for every direction.
//!
//! Half the memory and twice the speed of [`Mat`](super::Mat) where rows go into the millions. Products over rows are summed in
//! double precision, block by block in a fixed order, so that results do not depend on the number of threads.

use super::mat::{Single, gemm_single};
use super::{Mat, eigen_symmetric, random};
use crate::error::Result;
use rayon::prelude::*;

/// Rows of a block: a block of 48 columns stays in the second-level cache, and a sum over so few rows keeps six digits.
const BLOCK: usize = 2048;

/// Running sums over blocks; fixed, so that threads do not matter.
const LANES: usize = 8;

/// A row-major matrix of f32 with many rows and few columns.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::Tall;
/// let mut x = Tall::gaussian(1000, 5, 7);
/// x.orthonormalise().unwrap();
/// let gram = x.gram(&x);
/// assert!((gram[(2, 2)] - 1.0).abs() < 1e-5 && gram[(2, 3)].abs() < 1e-5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tall {
    rows: usize,
    width: usize,
    data: Vec<f32>,
}

impl Tall {
    /// All zeros.
    pub fn zeros(rows: usize, width: usize) -> Self {
        Self { rows, width, data: vec![0.0; rows * width] }
    }

    /// Independent standard normal entries; every block of rows has a stream of random numbers of its own.
    pub fn gaussian(rows: usize, width: usize, seed: u64) -> Self {
        let mut x = Self::zeros(rows, width);
        x.data.par_chunks_mut((BLOCK * width).max(1)).enumerate().for_each(|(b, block)| {
            let mut rng = random::rng(seed, 40_000 + b as u64);
            block.iter_mut().for_each(|v| *v = random::normal(&mut rng) as f32);
        });
        x
    }

    /// Takes the entries, row by row; `None` when their number is wrong.
    pub fn from_vec(rows: usize, width: usize, data: Vec<f32>) -> Option<Self> {
        (rows.checked_mul(width) == Some(data.len())).then_some(Self { rows, width, data })
    }

    /// The same numbers in single precision.
    pub fn from_mat(x: &Mat) -> Self {
        Self { rows: x.rows(), width: x.cols(), data: x.as_slice().iter().map(|v| *v as f32).collect() }
    }

    /// The same numbers in double precision.
    pub fn to_mat(&self) -> Mat {
        Mat::from_vec(self.rows, self.width, self.data.iter().map(|v| f64::from(*v)).collect())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The entries, row by row.
    pub fn as_slice(&self) -> &[f32] {
        &self.data
    }

    /// The entries, row by row, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.data[i * self.width..][..self.width]
    }

    /// `selfᵀ · other`.
    ///
    /// # Complexity
    /// 2·rows·width·other.width operations at the machine's single-precision matrix-multiply speed.
    pub fn gram(&self, other: &Self) -> Mat {
        assert_eq!(self.rows, other.rows, "both matrices need the same rows");
        let blocks = self.rows.div_ceil(BLOCK);
        let (a, b) = (self.width, other.width);
        let lanes: Vec<Vec<f64>> = (0..LANES.min(blocks.max(1)))
            .into_par_iter()
            .with_max_len(1)
            .map(|lane| {
                let mut sum = vec![0.0f64; a * b];
                let mut part = vec![0.0f32; a * b];
                for block in (lane..blocks).step_by(LANES) {
                    let (first, rows) = (block * BLOCK, BLOCK.min(self.rows - block * BLOCK));
                    let left =
                        Single { data: &self.data[first * a..][..rows * a], cols: a, transposed: true };
                    let right =
                        Single { data: &other.data[first * b..][..rows * b], cols: b, transposed: false };
                    gemm_single(&mut part, &left, &right, false, 1.0);
                    sum.iter_mut().zip(&part).for_each(|(s, p)| *s += f64::from(*p));
                }
                sum
            })
            .collect();
        let mut total = vec![0.0; a * b];
        lanes.iter().for_each(|lane| super::parallel::add_assign(&mut total, lane));
        Mat::from_vec(a, b, total)
    }

    /// `self · c`.
    pub fn times(&self, c: &Mat) -> Self {
        let mut out = Self::zeros(self.rows, c.cols());
        out.accumulate(self, c, false, 1.0);
        out
    }

    /// `self += scale · x · c`.
    pub fn add_times(&mut self, scale: f32, x: &Self, c: &Mat) {
        self.accumulate(x, c, true, scale);
    }

    fn accumulate(&mut self, x: &Self, c: &Mat, add: bool, scale: f32) {
        assert_eq!((x.rows, x.width, self.width), (self.rows, c.rows(), c.cols()), "shapes of a product");
        let small: Vec<f32> = c.as_slice().iter().map(|v| *v as f32).collect();
        let width = self.width;
        if width == 0 || self.rows == 0 {
            return;
        }
        self.data.par_chunks_mut(BLOCK * width).enumerate().for_each(|(b, out)| {
            let rows = out.len() / width;
            let data = &x.data[b * BLOCK * x.width..][..rows * x.width];
            let left = Single { data, cols: x.width, transposed: false };
            gemm_single(out, &left, &Single { data: &small, cols: width, transposed: false }, add, scale);
        });
    }

    /// Makes the columns orthonormal, in place: X ← X R⁻¹ with XᵀX = RᵀR, three times, because one Cholesky factor
    /// loses as many digits as the columns' condition number has. Returns R with X_before = X_after · R. Columns that depend on
    /// others keep noise instead of a direction of their own.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn orthonormalise(&mut self) -> Result<Mat> {
        let mut r = Mat::identity(self.width);
        for _ in 0..3 {
            let gram = self.gram(self);
            let (root, inverse) = square_root(&gram)?;
            *self = self.times(&inverse);
            r = root.matmul(&r);
            if gram_is_identity(&gram) {
                break;
            }
        }
        Ok(r)
    }
}

/// G^(1/2) and G^(−1/2) of a positive semidefinite G; directions lost in rounding are left where they are.
fn square_root(gram: &Mat) -> Result<(Mat, Mat)> {
    let symmetric = Mat::from_fn(gram.rows(), gram.cols(), |i, j| 0.5 * (gram[(i, j)] + gram[(j, i)]));
    let eigen = eigen_symmetric(&symmetric)?;
    let floor = eigen.values.first().copied().unwrap_or(0.0).max(0.0) * 1e-12;
    let roots: Vec<f64> = eigen.values.iter().map(|v| v.max(floor).max(f64::MIN_POSITIVE).sqrt()).collect();
    let power = |scales: Vec<f64>| {
        let mut scaled = eigen.vectors.clone();
        scaled.scale_cols(&scales);
        scaled.matmul_tr(&eigen.vectors)
    };
    // A block of nothing stays nothing.
    let inverse = |r: &f64| if *r > f64::MIN_POSITIVE.sqrt() { 1.0 / r } else { 0.0 };
    Ok((power(roots.clone()), power(roots.iter().map(inverse).collect())))
}

/// Whether one more round would change nothing that single precision can hold.
fn gram_is_identity(gram: &Mat) -> bool {
    let off = |i: usize, j: usize| (gram[(i, j)] - if i == j { 1.0 } else { 0.0 }).abs();
    (0..gram.rows()).all(|i| (0..gram.cols()).all(|j| off(i, j) < 1e-4))
}

#[cfg(test)]
mod tests {
    use super::super::parallel;
    use super::*;

    #[test]
    fn products_equal_those_in_double_precision() {
        for (rows, a, b) in [(1, 1, 1), (7, 3, 2), (5000, 20, 33)] {
            let (x, y) = (Tall::gaussian(rows, a, 1), Tall::gaussian(rows, b, 2));
            let (exact, found) = (x.to_mat().tr_matmul(&y.to_mat()), x.gram(&y));
            // Sums of 2,048 products of unit size keep six digits of their root mean square.
            let allowed = 1e-5 * (rows as f64).sqrt().max(1.0);
            let mut difference = found;
            difference.add_scaled(-1.0, &exact);
            assert!(difference.max_abs() < allowed, "{rows} × {a} × {b}: {}", difference.max_abs());
            let mut sum = y.clone();
            sum.add_times(-2.0, &x, &exact);
            let mut expected = x.to_mat().matmul(&exact).map(|v| -2.0 * v);
            expected.add_scaled(1.0, &y.to_mat());
            let mut difference = sum.to_mat();
            difference.add_scaled(-1.0, &expected);
            assert!(difference.max_abs() < 1e-5 * expected.max_abs().max(1.0));
        }
    }

    #[test]
    fn columns_become_orthonormal_even_when_nearly_dependent() {
        let mut x = Tall::gaussian(3000, 6, 3);
        // The last column is the first but for a thousandth.
        for row in x.as_mut_slice().chunks_mut(6) {
            row[5] = row[0] + 1e-3 * row[5];
        }
        let before = x.to_mat();
        let r = x.orthonormalise().unwrap();
        let gram = x.gram(&x);
        assert!(gram_is_identity(&gram), "{gram:?}");
        let mut difference = x.to_mat().matmul(&r);
        difference.add_scaled(-1.0, &before);
        // Seven digits less the three that a condition of some thousand takes.
        assert!(difference.max_abs() < 1e-3 * before.max_abs(), "{}", difference.max_abs());
    }

    #[test]
    fn same_bytes_on_any_number_of_threads() {
        let run = |threads| {
            parallel::with_threads(threads, || {
                let mut x = Tall::gaussian(20_000, 12, 4);
                x.orthonormalise().unwrap();
                x
            })
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), one);
        }
    }
}
