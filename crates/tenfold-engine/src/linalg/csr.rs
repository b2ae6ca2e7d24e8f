//! Sparse matrices by rows, and their products with skinny dense ones.

use super::parallel::BLOCK;
use super::spmm;
use super::{LinearOperator, Mat};
use crate::error::{Error, Result};
use rayon::prelude::*;

/// Columns that a transpose puts in order together: their places to write next take 256 kB.
const BUCKET_COLS: usize = 1 << 15;
/// Rows that one task of a transpose deals to the buckets.
const CHUNK_ROWS: usize = 1 << 16;

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
    /// One sorting of the entries, then as [`Csr::matmul`]; scattering rows of X instead was measured at more than twice the time.
    pub fn tr_matmul(&self, x: &Mat) -> Mat {
        assert_eq!(self.rows(), x.rows(), "both matrices need the same rows");
        self.transpose().matmul(x)
    }

    /// The transpose, by two passes of counting: entries are first dealt to buckets of neighbouring columns, then every
    /// bucket is put in order by itself, where its places to write fit in the cache. Both passes run in parallel.
    ///
    /// # Complexity
    /// O(entries + rows + columns); a second copy of the entries while it runs.
    pub fn transpose(&self) -> Self {
        let chunks: Vec<Vec<Vec<(I, u32, f64)>>> =
            (0..self.rows().div_ceil(CHUNK_ROWS)).into_par_iter().map(|chunk| self.deal(chunk)).collect();
        let mut starts = vec![0; self.cols + 1];
        let mut indices = vec![I::from_position(0); self.entries()];
        let mut values = vec![0.0; self.entries()];
        let mut buckets = Vec::new();
        let (mut free_indices, mut free_values, mut before) =
            (indices.as_mut_slice(), values.as_mut_slice(), 0);
        for (b, ends) in starts[1..].chunks_mut(BUCKET_COLS).enumerate() {
            let length = chunks.iter().map(|chunk| chunk[b].len()).sum();
            let (own_indices, rest) = free_indices.split_at_mut(length);
            let (own_values, others) = free_values.split_at_mut(length);
            (free_indices, free_values) = (rest, others);
            buckets.push((b, before, ends, own_indices, own_values));
            before += length;
        }
        buckets.into_par_iter().for_each(|(b, before, ends, indices, values)| {
            let entries = || chunks.iter().flat_map(|chunk| &chunk[b]);
            entries().for_each(|(_, column, _)| ends[*column as usize] += 1);
            let mut next = Vec::with_capacity(ends.len());
            let mut end = 0;
            for count in ends.iter_mut() {
                next.push(end);
                end += *count;
                *count = before + end;
            }
            for (row, column, value) in entries() {
                let place = &mut next[*column as usize];
                (indices[*place], values[*place]) = (*row, *value);
                *place += 1;
            }
        });
        Self { cols: self.rows(), starts, indices, values }
    }

    /// The entries of a chunk of rows as (row, column within its bucket, value), bucket by bucket.
    fn deal(&self, chunk: usize) -> Vec<Vec<(I, u32, f64)>> {
        let rows = chunk * CHUNK_ROWS..((chunk + 1) * CHUNK_ROWS).min(self.rows());
        let buckets = self.cols.div_ceil(BUCKET_COLS);
        let even_share = (self.starts[rows.end] - self.starts[rows.start]) / buckets.max(1);
        let mut dealt: Vec<Vec<_>> =
            (0..buckets).map(|_| Vec::with_capacity(even_share + even_share / 8)).collect();
        for i in rows {
            let (columns, entries) = self.row(i);
            for (j, v) in columns.iter().map(|j| j.position()).zip(entries) {
                dealt[j / BUCKET_COLS].push((I::from_position(i), (j % BUCKET_COLS) as u32, *v));
            }
        }
        dealt
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
    fn a_transpose_over_several_buckets_and_chunks() {
        let a = sample::<u32>(2 * CHUNK_ROWS + 17, 3 * BUCKET_COLS + 5, 300_000);
        let t = a.transpose();
        assert_eq!((t.rows(), t.cols(), t.entries()), (a.cols(), a.rows(), a.entries()));
        assert_eq!(t.transpose(), a);
        for i in (0..a.rows()).step_by(9973) {
            let (columns, values) = a.row(i);
            for (j, v) in columns.iter().zip(values) {
                let (rows, found) = t.row(*j as usize);
                let at = rows.iter().position(|r| *r as usize == i).expect("the entry is there");
                assert_eq!(found[at], *v);
            }
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
