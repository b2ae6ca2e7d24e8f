//! Sparse matrices of a graph: neighbours by rows, with weights only where there are any.

mod explain;
mod product;
mod sort;

use crate::error::{Error, Result};
use explain::{Explain, LANES, explain_rows};
use product::multiply_rows;
use rayon::prelude::*;
use sort::{Edges, Flipped, deal, gather};

/// A sparse matrix with small indices and weights of single precision, or none: an entry then counts 1.
///
/// Rows are sorted by column and hold a column once. Four bytes an entry without weights, eight with them, are half of
/// what [`Csr`](super::Csr) takes, and the products are bound by memory.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::Adjacency;
/// let a = Adjacency::from_edges(2, 3, vec![vec![(0, 2), (1, 0), (0, 2)]], None)?;
/// assert_eq!((a.rows(), a.cols(), a.entries()), (2, 3, 2));
/// let mut out = [0.0; 2];
/// a.multiply(&[1.0, 2.0, 3.0], 1, &mut out);
/// assert_eq!(out, [3.0, 1.0]);
/// # Ok::<(), tenfold_engine::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Adjacency {
    cols: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    weights: Option<Vec<f32>>,
}

impl Adjacency {
    /// Takes the arrays of compressed rows: row i holds entries `starts[i]..starts[i + 1]`.
    ///
    /// # Errors
    /// [`Error::BadParameter`] when the arrays do not describe a matrix with sorted rows and finite weights.
    pub fn new(
        cols: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        weights: Option<Vec<f32>>,
    ) -> Result<Self> {
        if starts.first() != Some(&0) || starts.windows(2).any(|w| w[0] > w[1]) {
            return wrong("row starts", "row starts begin at 0 and never fall");
        }
        let count = weights.as_ref().map_or(indices.len(), Vec::len);
        if starts.last() != Some(&indices.len()) || indices.len() != count {
            let value = format!("{} starts, {} indices, {count} weights", starts.len(), indices.len());
            return wrong(value, "the last row start, the indices and the weights have one length");
        }
        let is_row = |w: &[usize]| {
            let row = &indices[w[0]..w[1]];
            row.is_sorted_by(|a, b| a < b) && row.last().is_none_or(|last| (*last as usize) < cols)
        };
        if !starts.par_windows(2).all(is_row) {
            return wrong("column indices", "every row ascends and stays below the number of columns");
        }
        check_weights(weights.iter().map(Vec::as_slice))?;
        Ok(Self { cols, starts, indices, weights })
    }

    /// From edges in any order, in chunks of any length, each with its chunk of weights if there are weights. Of equal
    /// places the weights add up; without weights a place counts once.
    ///
    /// # Complexity
    /// O(entries + rows) and the sorting of every row, in parallel. The edges are held twice while it runs, beside the
    /// result.
    ///
    /// # Errors
    /// [`Error::BadParameter`] when an edge lies outside the matrix, or a weight is missing or not finite.
    pub fn from_edges(
        rows: usize,
        cols: usize,
        edges: Vec<Vec<(u32, u32)>>,
        weights: Option<Vec<Vec<f32>>>,
    ) -> Result<Self> {
        Self::sorted((rows, cols), edges, weights, false)
    }

    /// The symmetric matrix of undirected edges: every edge is entered in both directions.
    ///
    /// # Complexity
    /// As [`Adjacency::from_edges`], with two entries an edge.
    ///
    /// # Errors
    /// As [`Adjacency::from_edges`].
    ///
    /// # Example
    /// ```
    /// use tenfold_engine::linalg::Adjacency;
    /// let a = Adjacency::undirected(3, vec![vec![(0, 1), (2, 1)]], None)?;
    /// assert_eq!(a.row(1), (&[0, 2][..], None));
    /// # Ok::<(), tenfold_engine::Error>(())
    /// ```
    pub fn undirected(
        nodes: usize,
        edges: Vec<Vec<(u32, u32)>>,
        weights: Option<Vec<Vec<f32>>>,
    ) -> Result<Self> {
        Self::sorted((nodes, nodes), edges, weights, true)
    }

    fn sorted(
        (rows, cols): (usize, usize),
        edges: Vec<Vec<(u32, u32)>>,
        weights: Option<Vec<Vec<f32>>>,
        mirrored: bool,
    ) -> Result<Self> {
        if let Some(weights) = &weights {
            let lengths = |(e, w): (&Vec<(u32, u32)>, &Vec<f32>)| e.len() == w.len();
            if edges.len() != weights.len() || !edges.iter().zip(weights).all(lengths) {
                return wrong("weights", "every edge has a weight");
            }
            check_weights(weights.iter().map(Vec::as_slice))?;
        }
        let outside = |e: &&(u32, u32)| e.0 as usize >= rows || e.1 as usize >= cols;
        if let Some(bad) = edges.par_iter().find_map_first(|chunk| chunk.iter().find(outside)) {
            return wrong(format!("edge {bad:?} of {rows} × {cols}"), "every edge lies inside the matrix");
        }
        let weighted = weights.is_some();
        let dealt = deal(rows, weighted, &Edges::new(&edges, weights.as_deref(), mirrored));
        drop((edges, weights));
        Ok(gather((rows, cols), weighted, dealt))
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
        self.indices.len()
    }

    /// Whether entries carry weights.
    pub fn weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Columns of row i in ascending order, and their weights if there are any.
    pub fn row(&self, i: usize) -> (&[u32], Option<&[f32]>) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.indices[range.clone()], self.weights.as_ref().map(|w| &w[range]))
    }

    /// Number of entries of row i.
    pub fn degree(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    /// The sum of every row.
    pub fn strengths(&self) -> Vec<f64> {
        let sum = |w: &[usize]| match &self.weights {
            None => (w[1] - w[0]) as f64,
            Some(weights) => weights[w[0]..w[1]].iter().map(|x| f64::from(*x)).sum(),
        };
        self.starts.par_windows(2).with_min_len(1 << 12).map(sum).collect()
    }

    /// Sum of each column's entries: what [`Adjacency::strengths`] says of the transpose, which is not made for it.
    pub fn column_strengths(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.cols];
        for u in 0..self.rows() {
            let (at, weights) = self.row(u);
            at.iter()
                .enumerate()
                .for_each(|(e, &v)| sums[v as usize] += weights.map_or(1.0, |w| f64::from(w[e])));
        }
        sums
    }

    /// The same entries with other weights, by row, column and weight, in the place of the old ones where there are any.
    pub fn reweighed(mut self, weight: impl Fn(usize, u32, f32) -> f32) -> Self {
        let mut weights = self.weights.take().unwrap_or_else(|| vec![1.0; self.indices.len()]);
        for (u, ends) in self.starts.windows(2).enumerate() {
            let own = ends[0]..ends[1];
            self.indices[own.clone()].iter().zip(&mut weights[own]).for_each(|(&v, w)| *w = weight(u, v, *w));
        }
        self.weights = Some(weights);
        self
    }

    /// The transpose.
    ///
    /// # Complexity
    /// O(entries + rows + columns), in parallel; a second copy of the entries while it runs.
    pub fn transpose(&self) -> Self {
        let weighted = self.weighted();
        let dealt = deal(self.cols, weighted, &Flipped { matrix: self, both: false });
        gather((self.cols, self.rows()), weighted, dealt)
    }

    /// A + Aᵀ of a square matrix; without weights an entry counts once wherever it stands.
    ///
    /// # Complexity
    /// As [`Adjacency::transpose`], with two entries for each.
    pub fn symmetrised(&self) -> Self {
        assert_eq!(self.rows(), self.cols, "only a square matrix can be made symmetric");
        let weighted = self.weighted();
        let dealt = deal(self.cols, weighted, &Flipped { matrix: self, both: true });
        gather((self.cols, self.cols), weighted, dealt)
    }

    /// out = A · X for a row-major X with `width` columns, rows in parallel; the same bytes on any number of threads.
    ///
    /// Sums run in single precision, over at most 128 entries before they go to the row's sum: long rows lose little.
    ///
    /// # Complexity
    /// entries × width additions, bound by the gathering of rows of X.
    pub fn multiply(&self, x: &[f32], width: usize, out: &mut [f32]) {
        assert_eq!(x.len(), self.cols * width, "X has a row for every column of the matrix");
        assert_eq!(out.len(), self.rows() * width, "the result has a row for every row of the matrix");
        if width == 0 {
            return;
        }
        // Small enough to balance a few rows with very many entries, large enough not to matter.
        let block = (self.rows() / 256).clamp(1, 256);
        out.par_chunks_mut(block * width).enumerate().for_each(|(b, out)| {
            let first = b * block;
            let starts = &self.starts[first..=first + out.len() / width];
            multiply_rows(starts, &self.indices, self.weights.as_deref(), (x, width), out);
        });
    }
}

impl Adjacency {
    /// out_u = x_u ∘ Σ_v A_uv y_v / (x_u · y_v): how many of node u's edges each column explains when edges follow a Poisson law
    /// with rates x_u · y_v. Row-major matrices whose `width` is a multiple of eight, padded with zeros; rows in parallel, the same
    /// bytes on any number of threads.
    ///
    /// # Complexity
    /// 4 × entries × width operations, bound by the gathering of rows of y.
    ///
    /// # Panics
    /// When a matrix does not have a row for every row (x, out) or column (y), or `width` is no multiple of eight.
    ///
    /// # Example
    /// ```
    /// use tenfold_engine::linalg::Adjacency;
    /// let a = Adjacency::undirected(2, vec![vec![(0, 1)]], None)?;
    /// let x = [3.0, 1.0, 0., 0., 0., 0., 0., 0., 1.0, 1.0, 0., 0., 0., 0., 0., 0.];
    /// let mut out = [0.0; 16];
    /// a.explain(&x, &x, 8, &mut out);
    /// assert_eq!(out[..2], [0.75, 0.25]);
    /// # Ok::<(), tenfold_engine::Error>(())
    /// ```
    pub fn explain(&self, x: &[f32], y: &[f32], width: usize, out: &mut [f32]) {
        assert!(width > 0 && width.is_multiple_of(LANES), "rows are padded to a multiple of {LANES}");
        assert_eq!((x.len(), out.len()), (self.rows() * width, self.rows() * width), "a row for every row");
        assert_eq!(y.len(), self.cols * width, "a row for every column");
        let block = (self.rows() / 256).clamp(1, 256);
        let blocks = out.par_chunks_mut(block * width).zip(x.par_chunks(block * width)).enumerate();
        blocks.for_each(|(b, (out, x))| {
            let first = b * block;
            let starts = &self.starts[first..=first + out.len() / width];
            let (indices, weights) = (&self.indices[..], self.weights.as_deref());
            explain_rows(Explain { starts, indices, weights, x, y, width, out });
        });
    }
}

fn wrong<T>(value: impl Into<String>, expected: &'static str) -> Result<T> {
    Err(Error::BadParameter { name: "adjacency", value: value.into(), expected })
}

fn check_weights<'a>(chunks: impl Iterator<Item = &'a [f32]>) -> Result<()> {
    for chunk in chunks {
        if let Some(bad) = chunk.par_iter().find_first(|w| !w.is_finite()) {
            return wrong(format!("weight {bad}"), "every weight is a finite number");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
