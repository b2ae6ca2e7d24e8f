//! Sparse matrices by rows, and their products with skinny dense ones.

use super::parallel::BLOCK;
use super::spmm;
use super::{LinearOperator, Mat};
use crate::error::{Error, Result};
use rayon::prelude::*;

/// Rows of a transpose filled at a time: their places to write next take 1 MB.
const PART_ROWS: usize = 1 << 17;

/// The width of a column index: `u32` up to four thousand million columns, `u64` beyond.
pub trait ColumnIndex: Copy + Send + Sync + Ord + 'static {
    /// As an array position.
    fn position(self) -> usize;
    /// From an array position.
    fn from_position(position: usize) -> Self;
}

impl ColumnIndex for u32 {
    fn position(self) -> usize {
        self as usize
    }
    fn from_position(position: usize) -> Self {
        u32::try_from(position).expect("the matrix is too wide for u32 indices")
    }
}

impl ColumnIndex for u64 {
    fn position(self) -> usize {
        usize::try_from(self).expect("the column index fits this machine")
    }
    fn from_position(position: usize) -> Self {
        position as u64
    }
}

/// A sparse matrix in compressed rows.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::{Csr, Mat};
/// let a: Csr = Csr::from_triplets(2, 3, &[(0, 2, 1.5), (1, 0, 2.0), (1, 0, 1.0)]);
/// let x = Mat::from_fn(3, 1, |i, _| i as f64 + 1.0);
/// assert_eq!(a.matmul(&x).as_slice(), &[4.5, 3.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<I = u32> {
    cols: usize,
    starts: Vec<usize>,
    indices: Vec<I>,
    values: Vec<f64>,
}

impl<I: ColumnIndex> Csr<I> {
    /// Takes the usual three arrays: row i holds entries `starts[i]..starts[i + 1]`.
    ///
    /// # Errors
    /// [`Error::BadParameter`] when the arrays do not describe a matrix.
    pub fn new(cols: usize, starts: Vec<usize>, indices: Vec<I>, values: Vec<f64>) -> Result<Self> {
        let wrong =
            |value: String, expected| Err(Error::BadParameter { name: "CSR arrays", value, expected });
        if starts.first() != Some(&0) || starts.windows(2).any(|w| w[0] > w[1]) {
            return wrong("row starts".into(), "row starts begin at 0 and never fall");
        }
        if starts.last() != Some(&indices.len()) || indices.len() != values.len() {
            let value =
                format!("{} starts, {} indices, {} values", starts.len(), indices.len(), values.len());
            return wrong(value, "the last row start, the indices and the values have one length");
        }
        if let Some(bad) = indices.iter().find(|i| i.position() >= cols) {
            return wrong(
                format!("column {} of {cols}", bad.position()),
                "every column index is below the number of columns",
            );
        }
        Ok(Self { cols, starts, indices, values })
    }

    /// From (row, column, value) triplets in any order; equal places add up.
    pub fn from_triplets(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> Self {
        let mut sorted = triplets.to_vec();
        sorted.sort_by_key(|&(i, j, _)| (i, j));
        let mut merged: Vec<(usize, usize, f64)> = Vec::with_capacity(sorted.len());
        for (i, j, v) in sorted {
            assert!(i < rows && j < cols, "entry ({i}, {j}) lies outside {rows} × {cols}");
            match merged.last_mut() {
                Some(last) if (last.0, last.1) == (i, j) => last.2 += v,
                _ => merged.push((i, j, v)),
            }
        }
        let mut starts = vec![0; rows + 1];
        merged.iter().for_each(|t| starts[t.0 + 1] += 1);
        for i in 0..rows {
            starts[i + 1] += starts[i];
        }
        let indices = merged.iter().map(|t| I::from_position(t.1)).collect();
        Self { cols, starts, indices, values: merged.iter().map(|t| t.2).collect() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Column indices and values of row i.
    pub fn row(&self, i: usize) -> (&[I], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// `A · X`, rows in parallel.
    ///
    /// # Complexity
    /// entries × X.cols multiply-adds, bound by the gathering of rows of X.
    pub fn matmul(&self, x: &Mat) -> Mat {
        assert_eq!(self.cols, x.rows(), "inner dimensions");
        let width = x.cols();
        let mut out = Mat::zeros(self.rows(), width);
        if width > 0 {
            out.as_mut_slice().par_chunks_mut(BLOCK * width).enumerate().for_each(|(b, chunk)| {
                let first = b * BLOCK;
                let starts = &self.starts[first..=first + chunk.len() / width];
                spmm::gather(starts, &self.indices, &self.values, x, chunk);
            });
        }
        out
    }

    /// `Aᵀ · X`, through the transpose: for more than one such product use [`WithTranspose`].
    ///
    /// # Complexity
    /// One sorting of the entries, then as [`Csr::matmul`]; scattering rows of X instead was measured at twice the time.
    pub fn tr_matmul(&self, x: &Mat) -> Mat {
        assert_eq!(self.rows(), x.rows(), "both matrices need the same rows");
        self.transpose().matmul(x)
    }

    /// The transpose, by counting; ranges of its rows are filled in parallel.
    pub fn transpose(&self) -> Self {
        let mut starts = vec![0; self.cols + 1];
        self.indices.iter().for_each(|j| starts[j.position() + 1] += 1);
        for j in 0..self.cols {
            starts[j + 1] += starts[j];
        }
        let mut indices = vec![I::from_position(0); self.entries()];
        let mut values = vec![0.0; self.entries()];
        // A part for every thread at least; more where the places to write next would not fit in the cache.
        let parts = rayon::current_num_threads().max(self.cols / PART_ROWS);
        let rows = self.cols.div_ceil(parts).max(1);
        let mut parts = Vec::new();
        let (mut free_indices, mut free_values) = (indices.as_mut_slice(), values.as_mut_slice());
        for first in (0..self.cols).step_by(rows) {
            let end = (first + rows).min(self.cols);
            let length = starts[end] - starts[first];
            let (own_indices, rest) = free_indices.split_at_mut(length);
            let (own_values, others) = free_values.split_at_mut(length);
            (free_indices, free_values) = (rest, others);
            parts.push((first, end, own_indices, own_values));
        }
        parts.into_par_iter().for_each(|(first, end, indices, values)| {
            let mut next: Vec<usize> = starts[first..end].iter().map(|s| s - starts[first]).collect();
            for i in 0..self.rows() {
                let (columns, entries) = self.row(i);
                for (j, v) in columns.iter().map(|j| j.position()).zip(entries) {
                    if (first..end).contains(&j) {
                        let place = &mut next[j - first];
                        indices[*place] = I::from_position(i);
                        values[*place] = *v;
                        *place += 1;
                    }
                }
            }
        });
        Self { cols: self.rows(), starts, indices, values }
    }

    /// A dense copy, for tests and small matrices.
    pub fn to_dense(&self) -> Mat {
        let mut dense = Mat::zeros(self.rows(), self.cols);
        for i in 0..self.rows() {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).for_each(|(j, v)| dense[(i, j.position())] += v);
        }
        dense
    }
}

/// A sparse matrix beside its transpose, for algorithms that multiply with both again and again.
#[derive(Debug, Clone)]
pub struct WithTranspose<'a, I> {
    matrix: &'a Csr<I>,
    transpose: Csr<I>,
}

impl<'a, I: ColumnIndex> WithTranspose<'a, I> {
    /// Makes the transpose once.
    pub fn new(matrix: &'a Csr<I>) -> Self {
        Self { matrix, transpose: matrix.transpose() }
    }
}

impl<I: ColumnIndex> LinearOperator for WithTranspose<'_, I> {
    fn shape(&self) -> (usize, usize) {
        (self.matrix.rows(), self.matrix.cols())
    }
    fn apply(&self, x: &Mat) -> Result<Mat> {
        Ok(self.matrix.matmul(x))
    }
    fn apply_transpose(&self, x: &Mat) -> Result<Mat> {
        Ok(self.transpose.matmul(x))
    }
}

impl<I: ColumnIndex> LinearOperator for Csr<I> {
    fn shape(&self) -> (usize, usize) {
        (self.rows(), self.cols)
    }
    fn apply(&self, x: &Mat) -> Result<Mat> {
        Ok(self.matmul(x))
    }
    fn apply_transpose(&self, x: &Mat) -> Result<Mat> {
        Ok(self.tr_matmul(x))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parallel, random};
    use super::*;
    use rand::RngExt;

    fn sample<I: ColumnIndex>(rows: usize, cols: usize, entries: usize) -> Csr<I> {
        let mut rng = random::rng(5, 0);
        let triplets: Vec<_> = (0..entries)
            .map(|_| (rng.random_range(0..rows), rng.random_range(0..cols), random::normal(&mut rng)))
            .collect();
        Csr::from_triplets(rows, cols, &triplets)
    }

    #[test]
    fn products_equal_dense_ones_for_every_width() {
        let a = sample::<u32>(700, 90, 4000);
        let wide = sample::<u64>(700, 90, 4000);
        for width in [1, 2, 7, 8, 9, 16, 31, 40, 64, 65, 100] {
            let x = random::gaussian(90, width, &mut random::rng(1, 0));
            let y = random::gaussian(700, width, &mut random::rng(2, 0));
            let mut forward = a.matmul(&x);
            forward.add_scaled(-1.0, &a.to_dense().matmul(&x));
            let mut backward = a.tr_matmul(&y);
            backward.add_scaled(-1.0, &a.to_dense().tr_matmul(&y));
            assert!(forward.max_abs() < 1e-12 && backward.max_abs() < 1e-11, "width {width}");
            assert_eq!(wide.matmul(&x), a.matmul(&x));
            assert_eq!(wide.tr_matmul(&y), a.tr_matmul(&y));
        }
    }

    #[test]
    fn products_do_not_depend_on_threads() {
        let a = sample::<u32>(3000, 500, 20_000);
        let x = random::gaussian(500, 20, &mut random::rng(1, 0));
        let y = random::gaussian(3000, 20, &mut random::rng(2, 0));
        let run = |threads| parallel::with_threads(threads, || (a.matmul(&x), a.tr_matmul(&y)));
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), one);
        }
    }

    #[test]
    fn empty_shapes_work_and_lying_arrays_do_not() {
        let empty: Csr = Csr::from_triplets(0, 3, &[]);
        assert_eq!(empty.matmul(&Mat::zeros(3, 2)).rows(), 0);
        assert_eq!(empty.tr_matmul(&Mat::zeros(0, 2)), Mat::zeros(3, 2));
        let no_columns: Csr = Csr::from_triplets(4, 0, &[]);
        assert_eq!(no_columns.matmul(&Mat::zeros(0, 2)), Mat::zeros(4, 2));
        assert_eq!(no_columns.tr_matmul(&Mat::zeros(4, 2)).rows(), 0);
        assert_eq!(sample::<u32>(5, 5, 9).transpose().transpose(), sample::<u32>(5, 5, 9));
        assert!(Csr::<u32>::new(3, vec![0, 1], vec![3], vec![1.0]).is_err());
        assert!(Csr::<u32>::new(3, vec![0, 2], vec![1], vec![1.0]).is_err());
        assert!(Csr::<u32>::new(3, vec![0, 2, 1], vec![1], vec![1.0]).is_err());
        assert!(Csr::<u32>::new(3, vec![], vec![], vec![]).is_err());
    }
}
