//! The dense matrix: row-major f64, because samples are rows and sparse products gather rows.

use super::parallel::{BLOCK, fill_rows, sum_arrays};
use faer::linalg::matmul::matmul as faer_matmul;
use faer::{Accum, MatMut, MatRef, Par};
use std::ops::{Index, IndexMut};

/// A dense matrix, row-major.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::Mat;
/// let a = Mat::from_fn(2, 3, |i, j| (i * 3 + j) as f64);
/// assert_eq!(a.row(1), &[3.0, 4.0, 5.0]);
/// assert_eq!(a.matmul(&a.transpose())[(0, 1)], 14.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mat {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Mat {
    /// All zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// Ones on the diagonal.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// Entry (i, j) is `f(i, j)`, called row by row.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            for j in 0..cols {
                data.push(f(i, j));
            }
        }
        Self { rows, cols, data }
    }

    /// Takes `rows * cols` numbers in row-major order.
    ///
    /// # Panics
    /// When the length is not `rows * cols`.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), rows * cols, "a {rows} × {cols} matrix needs {} numbers", rows * cols);
        Self { rows, cols, data }
    }

    /// A square matrix with `values` on its diagonal.
    pub fn diagonal(values: &[f64]) -> Self {
        Self::from_fn(values.len(), values.len(), |i, j| if i == j { values[i] } else { 0.0 })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All entries, row by row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row by row, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The entries, row by row, without the matrix around them.
    pub fn into_vec(self) -> Vec<f64> {
        self.data
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row i, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// A copy of column j.
    pub fn col(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    /// A copy of the columns `chosen`, in that order.
    pub fn select_cols(&self, chosen: &[usize]) -> Self {
        Self::from_fn(self.rows, chosen.len(), |i, j| self[(i, chosen[j])])
    }

    /// A copy of the first `count` columns.
    pub fn first_cols(&self, count: usize) -> Self {
        Self::from_fn(self.rows, count, |i, j| self[(i, j)])
    }

    /// The transpose, copied.
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// Applies `f` to every entry.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { rows: self.rows, cols: self.cols, data: self.data.iter().map(|&x| f(x)).collect() }
    }

    /// `self += scale · other`.
    pub fn add_scaled(&mut self, scale: f64, other: &Self) {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        for (a, b) in self.data.iter_mut().zip(&other.data) {
            *a += scale * b;
        }
    }

    /// Multiplies column j by `scales[j]`.
    pub fn scale_cols(&mut self, scales: &[f64]) {
        assert_eq!(self.cols, scales.len());
        for row in self.data.chunks_exact_mut(self.cols.max(1)) {
            for (x, s) in row.iter_mut().zip(scales) {
                *x *= s;
            }
        }
    }

    /// Multiplies row i by `scales[i]`.
    pub fn scale_rows(&mut self, scales: &[f64]) {
        assert_eq!(self.rows, scales.len());
        for (row, s) in self.data.chunks_exact_mut(self.cols.max(1)).zip(scales) {
            row.iter_mut().for_each(|x| *x *= s);
        }
    }

    /// Frobenius norm.
    pub fn norm(&self) -> f64 {
        self.data.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// Largest absolute entry.
    pub fn max_abs(&self) -> f64 {
        self.data.iter().fold(0.0, |m, x| m.max(x.abs()))
    }

    /// Euclidean norm of every column.
    pub fn col_norms(&self) -> Vec<f64> {
        self.col_dots(self).into_iter().map(f64::sqrt).collect()
    }

    /// Inner product of column j with column j of `other`, for every j.
    pub fn col_dots(&self, other: &Self) -> Vec<f64> {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        let mut dots = vec![0.0; self.cols];
        for i in 0..self.rows {
            for ((d, a), b) in dots.iter_mut().zip(self.row(i)).zip(other.row(i)) {
                *d += a * b;
            }
        }
        dots
    }

    /// `self · other`; blocks of rows in parallel.
    ///
    /// # Complexity
    /// 2·rows·cols·other.cols floating-point operations at the machine's matrix-multiply speed.
    pub fn matmul(&self, other: &Self) -> Self {
        assert_eq!(self.cols, other.rows, "inner dimensions");
        let mut out = Self::zeros(self.rows, other.cols);
        fill_rows(&mut out.data, other.cols, |range, chunk| {
            let block = &self.data[range.start * self.cols..range.end * self.cols];
            let rows = range.len();
            gemm(view_mut(chunk, rows, other.cols), view(block, rows, self.cols), other.view());
        });
        out
    }

    /// `selfᵀ · other`, a sum over rows in fixed blocks.
    pub fn tr_matmul(&self, other: &Self) -> Self {
        assert_eq!(self.rows, other.rows, "both matrices need the same rows");
        let data = sum_arrays(self.rows, self.cols * other.cols, |sum, range| {
            let (a, b) = (
                self.view().subrows(range.start, range.len()),
                other.view().subrows(range.start, range.len()),
            );
            gemm_add(view_mut(sum, self.cols, other.cols), a.transpose(), b);
        });
        Self::from_vec(self.cols, other.cols, data)
    }

    /// `self · otherᵀ` for small matrices, on one thread.
    pub fn matmul_tr(&self, other: &Self) -> Self {
        assert_eq!(self.cols, other.cols, "inner dimensions");
        let mut out = Self::zeros(self.rows, other.rows);
        gemm(out.view_mut(), self.view(), other.view().transpose());
        out
    }

    /// `self · v`.
    pub fn matvec(&self, v: &[f64]) -> Vec<f64> {
        assert_eq!(self.cols, v.len());
        (0..self.rows).map(|i| dot(self.row(i), v)).collect()
    }

    /// `selfᵀ · v`.
    pub fn tr_matvec(&self, v: &[f64]) -> Vec<f64> {
        self.tr_matmul(&Self::from_vec(v.len(), 1, v.to_vec())).into_vec()
    }

    pub(crate) fn view(&self) -> MatRef<'_, f64> {
        view(&self.data, self.rows, self.cols)
    }

    pub(crate) fn view_mut(&mut self) -> MatMut<'_, f64> {
        view_mut(&mut self.data, self.rows, self.cols)
    }

    pub(crate) fn from_view(view: MatRef<'_, f64>) -> Self {
        Self::from_fn(view.nrows(), view.ncols(), |i, j| view[(i, j)])
    }
}

impl Index<(usize, usize)> for Mat {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(j < self.cols);
        &self.data[i * self.cols + j]
    }
}

impl IndexMut<(usize, usize)> for Mat {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(j < self.cols);
        &mut self.data[i * self.cols + j]
    }
}

/// Inner product of two slices, four running sums so that it vectorises.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let tail: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a4.zip(b4) {
        for l in 0..4 {
            sums[l] += x[l] * y[l];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

/// A row-major slice as the linear-algebra library sees it.
pub(crate) fn view(data: &[f64], rows: usize, cols: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(data, rows, cols)
}

/// A row-major slice, to be changed, as the linear-algebra library sees it.
pub(crate) fn view_mut(data: &mut [f64], rows: usize, cols: usize) -> MatMut<'_, f64> {
    MatMut::from_row_major_slice_mut(data, rows, cols)
}

/// A borrowed dense matrix of any strides, as the linear-algebra library sees it.
pub(crate) type View<'a> = MatRef<'a, f64>;

/// `out = a·b`, on this thread.
pub(crate) fn gemm(out: MatMut<'_, f64>, a: View<'_>, b: View<'_>) {
    faer_matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
}

/// `out += a·b`, on this thread.
pub(crate) fn gemm_add(out: MatMut<'_, f64>, a: View<'_>, b: View<'_>) {
    faer_matmul(out, Accum::Add, a, b, 1.0, Par::Seq);
}

/// `sum += z zᵀ` for `rows` rows of `z`, on this thread: the sum of squares and products of columns of samples.
pub fn add_gram(sum: &mut [f64], z: &[f64], rows: usize) {
    let z = view(z, rows, z.len() / rows.max(1));
    gemm_add(view_mut(sum, rows, rows), z, z.transpose());
}

/// `sum += aᵀ z` on this thread, where the rows of `z` are samples of `cols` numbers and `a` is its first `lead` columns: the
/// first `lead` rows of a sum of squares and products.
pub fn add_leading_gram(sum: &mut [f64], z: &[f64], cols: usize, lead: usize) {
    let z = view(z, z.len() / cols.max(1), cols);
    gemm_add(view_mut(sum, lead, cols), z.subcols(0, lead).transpose(), z);
}

/// A row-major factor of a product in single precision: its entries, its columns, and whether it is taken transposed.
pub(super) struct Single<'a> {
    pub data: &'a [f32],
    pub cols: usize,
    pub transposed: bool,
}

impl<'a> Single<'a> {
    fn view(&self) -> MatRef<'a, f32> {
        let rows = self.data.len() / self.cols.max(1);
        let view = MatRef::from_row_major_slice(self.data, rows, self.cols);
        if self.transposed { view.transpose() } else { view }
    }
}

/// `out = scale·a·b`, or `out += scale·a·b`, in single precision and on this thread.
pub(super) fn gemm_single(out: &mut [f32], a: &Single<'_>, b: &Single<'_>, add: bool, scale: f32) {
    let (a, b) = (a.view(), b.view());
    let out = MatMut::from_row_major_slice_mut(out, a.nrows(), b.ncols());
    faer_matmul(out, if add { Accum::Add } else { Accum::Replace }, a, b, scale, Par::Seq);
}

/// The machine's matrix-multiply rate on the current threads, in floating-point operations a second,
/// taken on square blocks of [`BLOCK`]: the yardstick of the benches.
pub fn gemm_rate(seconds: f64) -> f64 {
    let a = Mat::from_fn(8 * BLOCK, BLOCK, |i, j| ((i * 7 + j * 3) % 11) as f64 - 5.0);
    let b = Mat::from_fn(BLOCK, BLOCK, |i, j| ((i * 5 + j) % 13) as f64 - 6.0);
    let start = std::time::Instant::now();
    let (mut best, mut spent) = (0.0f64, 0.0);
    while spent < seconds {
        let before = start.elapsed().as_secs_f64();
        std::hint::black_box(a.matmul(&b));
        spent = start.elapsed().as_secs_f64();
        best = best.max(2.0 * (8 * BLOCK * BLOCK * BLOCK) as f64 / (spent - before));
    }
    best
}
