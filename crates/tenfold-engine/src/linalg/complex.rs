//! Small complex matrices: products, and eigenvectors of Hermitian ones.

use super::Complex64;
use crate::error::{Error, Result};
use faer::linalg::matmul::matmul as faer_matmul;
use faer::{Accum, MatMut, MatRef, Par, Side};
use std::ops::{Index, IndexMut};

/// A dense complex matrix, row by row.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::{CMat, Complex64};
/// let a = CMat::from_fn(2, 2, |i, j| Complex64::new(1.0, i as f64 - j as f64));
/// let e = a.eigen_hermitian().unwrap(); // [[1, 1−i], [1+i, 1]] has eigenvalues 1 ± √2
/// assert!((e.values[0] - (1.0 + 2f64.sqrt())).abs() < 1e-14);
/// let v = &e.vectors;
/// let error = (0..2).map(|i| (a.matmul(v)[(i, 0)] - v[(i, 0)] * e.values[0]).norm()).fold(0.0, f64::max);
/// assert!(error < 1e-14);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CMat {
    rows: usize,
    cols: usize,
    data: Vec<Complex64>,
}

/// Eigenvalues of a Hermitian matrix by descending size, whatever their sign, and eigenvectors in the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct HermitianEigen {
    /// |λ₁| ≥ |λ₂| ≥ …
    pub values: Vec<f64>,
    /// Orthonormal columns, in the order of `values`.
    pub vectors: CMat,
}

impl CMat {
    /// All entries zero.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![Complex64::default(); rows * cols] }
    }

    /// Entry by entry.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> Complex64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            data.extend((0..cols).map(|j| f(i, j)));
        }
        Self { rows, cols, data }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All entries, row by row.
    pub fn as_slice(&self) -> &[Complex64] {
        &self.data
    }

    /// All entries, row by row, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [Complex64] {
        &mut self.data
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[Complex64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// One row, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [Complex64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Sum of the squared sizes of all entries.
    pub fn squared_norm(&self) -> f64 {
        self.data.iter().map(|z| z.norm_sqr()).sum()
    }

    /// `self · other`, on one thread.
    pub fn matmul(&self, other: &Self) -> Self {
        assert_eq!(self.cols, other.rows, "inner dimensions");
        let mut out = Self::zeros(self.rows, other.cols);
        multiply(out.view_mut(), self.view(), other.view());
        out
    }

    /// `selfᴴ · other`, on one thread.
    pub fn adjoint_matmul(&self, other: &Self) -> Self {
        assert_eq!(self.rows, other.rows, "inner dimensions");
        let mut out = Self::zeros(self.cols, other.cols);
        let conjugated = Self { data: self.data.iter().map(Complex64::conj).collect(), ..*self };
        multiply(out.view_mut(), conjugated.view().transpose(), other.view());
        out
    }

    /// Eigendecomposition of a Hermitian matrix, A = V diag(λ) Vᴴ; only the lower triangle is read.
    ///
    /// # Errors
    /// [`Error::NoConvergence`] when the matrix holds NaN or infinities.
    pub fn eigen_hermitian(&self) -> Result<HermitianEigen> {
        assert_eq!(self.rows, self.cols, "an eigendecomposition needs a square matrix");
        let failed = || Error::NoConvergence("the eigendecomposition");
        if self.data.iter().any(|z| !z.is_finite()) {
            return Err(failed());
        }
        let decomposition = self.view().to_owned().self_adjoint_eigen(Side::Lower).map_err(|_| failed())?;
        let (s, u) = (decomposition.S().column_vector(), decomposition.U());
        let mut order: Vec<usize> = (0..self.rows).collect();
        order.sort_by(|&i, &j| s[j].re.abs().total_cmp(&s[i].re.abs()));
        Ok(HermitianEigen {
            values: order.iter().map(|&i| s[i].re).collect(),
            vectors: Self::from_fn(self.rows, self.rows, |i, j| u[(i, order[j])]),
        })
    }

    fn view(&self) -> MatRef<'_, Complex64> {
        MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }

    fn view_mut(&mut self) -> MatMut<'_, Complex64> {
        MatMut::from_row_major_slice_mut(&mut self.data, self.rows, self.cols)
    }
}

fn multiply(out: MatMut<'_, Complex64>, a: MatRef<'_, Complex64>, b: MatRef<'_, Complex64>) {
    faer_matmul(out, Accum::Replace, a, b, Complex64::new(1.0, 0.0), Par::Seq);
}

impl Index<(usize, usize)> for CMat {
    type Output = Complex64;
    fn index(&self, (i, j): (usize, usize)) -> &Complex64 {
        debug_assert!(j < self.cols);
        &self.data[i * self.cols + j]
    }
}

impl IndexMut<(usize, usize)> for CMat {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut Complex64 {
        debug_assert!(j < self.cols);
        &mut self.data[i * self.cols + j]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, cols: usize) -> CMat {
        CMat::from_fn(rows, cols, |i, j| {
            Complex64::new(((i * 5 + j * 3) % 7) as f64 - 3.0, ((i + 2 * j) % 5) as f64 - 2.0)
        })
    }

    #[test]
    fn products_are_the_sums_they_say() {
        let (a, b) = (sample(4, 3), sample(3, 5));
        let c = sample(4, 2);
        let (product, adjoint) = (a.matmul(&b), a.adjoint_matmul(&c));
        for i in 0..4 {
            for j in 0..5 {
                let sum: Complex64 = (0..3).map(|l| a[(i, l)] * b[(l, j)]).sum();
                assert!((product[(i, j)] - sum).norm() < 1e-12);
            }
        }
        for i in 0..3 {
            for j in 0..2 {
                let sum: Complex64 = (0..4).map(|l| a[(l, i)].conj() * c[(l, j)]).sum();
                assert!((adjoint[(i, j)] - sum).norm() < 1e-12);
            }
        }
    }

    #[test]
    fn eigenvectors_rebuild_the_matrix_in_order_of_size() {
        let half = sample(6, 6);
        let a = CMat::from_fn(6, 6, |i, j| half[(i, j)] + half[(j, i)].conj());
        let e = a.eigen_hermitian().unwrap();
        assert!(e.values.windows(2).all(|pair| pair[0].abs() >= pair[1].abs()));
        for i in 0..6 {
            for j in 0..6 {
                let sum: Complex64 =
                    (0..6).map(|l| e.vectors[(i, l)] * e.values[l] * e.vectors[(j, l)].conj()).sum();
                assert!((a[(i, j)] - sum).norm() < 1e-11);
            }
        }
    }
}
