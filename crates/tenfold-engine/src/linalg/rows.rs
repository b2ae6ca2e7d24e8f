//! Tall data seen by blocks of rows, so that it may live in memory, on disk or anywhere else.

use super::Mat;
use crate::error::{Error, Result};

/// Samples in rows, read a range at a time. Every pass over the data goes through this.
pub trait Rows: Sync {
    /// Number of samples.
    fn rows(&self) -> usize;
    /// Numbers in a sample.
    fn cols(&self) -> usize;
    /// Copies the rows from `start` on into `out`, which holds a whole number of rows.
    ///
    /// # Errors
    /// What the source says, as [`Error::Source`].
    fn read_rows(&self, start: usize, out: &mut [f64]) -> Result<()>;
    /// The rows `start..end` without copying, when they lie in memory.
    fn borrow_rows(&self, _start: usize, _end: usize) -> Option<&[f64]> {
        None
    }
}

impl Rows for Mat {
    fn rows(&self) -> usize {
        Mat::rows(self)
    }
    fn cols(&self) -> usize {
        Mat::cols(self)
    }
    fn read_rows(&self, start: usize, out: &mut [f64]) -> Result<()> {
        let from = start * Mat::cols(self);
        out.copy_from_slice(&self.as_slice()[from..from + out.len()]);
        Ok(())
    }
    fn borrow_rows(&self, start: usize, end: usize) -> Option<&[f64]> {
        let cols = Mat::cols(self);
        Some(&self.as_slice()[start * cols..end * cols])
    }
}

/// Calls `use_block` with the rows `range` of `source`, borrowed if possible and read into `buffer` if not.
pub(crate) fn with_rows<T>(
    source: &dyn Rows,
    range: std::ops::Range<usize>,
    buffer: &mut Vec<f64>,
    use_block: impl FnOnce(&[f64]) -> T,
) -> Result<T> {
    if let Some(block) = source.borrow_rows(range.start, range.end) {
        return Ok(use_block(block));
    }
    buffer.resize(range.len() * source.cols(), 0.0);
    source.read_rows(range.start, buffer)?;
    Ok(use_block(buffer))
}

/// The rows of `block` less `mean`.
pub(crate) fn centre(block: &[f64], mean: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; block.len()];
    for (to, from) in out.chunks_exact_mut(mean.len()).zip(block.chunks_exact(mean.len())) {
        for ((t, x), m) in to.iter_mut().zip(from).zip(mean) {
            *t = x - m;
        }
    }
    out
}

/// The first entry of `block` that is not finite, as an error that names its place in the data.
pub fn check_finite(what: &'static str, block: &[f64], cols: usize, first_row: usize) -> Result<()> {
    match block.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Error::NotFinite {
            what,
            row: first_row + at / cols + 1,
            column: at % cols + 1,
            value: block[at],
        }),
    }
}
