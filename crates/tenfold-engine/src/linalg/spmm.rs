//! The inner loop of sparse × skinny products: the one hot kernel that is ours.
//!
//! A row of the result is a weighted sum of rows of X. With the number of columns known to the compiler the
//! running sums stay in registers, and the loop is compiled for the processor's vector width
//! ([`vectorised`]). What remains is waiting for memory, so rows of later entries are asked for ahead: a third of the time
//! on a matrix far larger than the caches. That instruction is the only `unsafe` of the crate.

use super::csr::ColumnIndex;
use super::{Kernel, Mat, vectorised};

/// How many entries ahead rows are asked for: enough to cover the latency of memory.
const AHEAD: usize = 6;

/// out[i, :] = Σ over entries of row i of value · X[column, :], for the rows that `starts` describes.
pub(super) fn gather<I: ColumnIndex>(
    starts: &[usize],
    indices: &[I],
    values: &[f64],
    x: &Mat,
    out: &mut [f64],
) {
    vectorised(Gather { starts, indices, values, x, out });
}

struct Gather<'a, I> {
    starts: &'a [usize],
    indices: &'a [I],
    values: &'a [f64],
    x: &'a Mat,
    out: &'a mut [f64],
}

impl<I: ColumnIndex> Kernel for Gather<'_, I> {
    type Output = ();

    /// Splits the columns into tiles of a width the compiler knows.
    #[inline(always)]
    fn run(mut self) {
        let width = self.x.cols();
        let mut first = 0;
        while first < width {
            first += match width - first {
                40.. => self.tile::<40>(first),
                32.. => self.tile::<32>(first),
                24.. => self.tile::<24>(first),
                16.. => self.tile::<16>(first),
                8.. => self.tile::<8>(first),
                // A last tile that reaches back over columns already done costs less than three narrow ones.
                rest if width >= 8 => {
                    self.tile::<8>(width - 8);
                    rest
                }
                4.. => self.tile::<4>(first),
                2.. => self.tile::<2>(first),
                _ => self.tile::<1>(first),
            }
        }
    }
}

impl<I: ColumnIndex> Gather<'_, I> {
    /// Columns `first..first + W`; returns W.
    #[inline(always)]
    fn tile<const W: usize>(&mut self, first: usize) -> usize {
        let (x, width) = (self.x.as_slice(), self.x.cols());
        for (i, bounds) in self.starts.windows(2).enumerate() {
            let mut sum = [0.0f64; W];
            for e in bounds[0]..bounds[1] {
                if let Some(later) = self.indices.get(e + AHEAD) {
                    prefetch::<W, f64>(x, later.position() * width + first);
                }
                let at = self.indices[e].position() * width + first;
                let row: &[f64; W] = x[at..at + W].try_into().expect("W columns");
                let value = self.values[e];
                for l in 0..W {
                    sum[l] += value * row[l];
                }
            }
            self.out[i * width + first..][..W].copy_from_slice(&sum);
        }
        W
    }
}

/// Asks for `W` numbers from `at` on to be brought near, a cache line at a time, and the line of the last one: a row seldom begins
/// where a line does.
#[inline(always)]
#[allow(unsafe_code)]
pub(super) fn prefetch<const W: usize, T>(data: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(row) = data.get(at..at + W) {
        let lines = row.chunks(64 / size_of::<T>()).map(<[T]>::as_ptr);
        for line in lines.chain(row.last().map(|last| last as *const T)) {
            // SAFETY: a prefetch reads nothing; the address lies inside `data`, and SSE is part of x86-64.
            unsafe {
                std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast());
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, at);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Run by Miri as well (`cargo xtask trust unsafe`), which knows where an address may point.
    #[test]
    fn a_prefetch_stays_inside_its_numbers() {
        let doubles: Vec<f64> = (0..37).map(f64::from).collect();
        let singles: Vec<f32> = doubles.iter().map(|&x| x as f32).collect();
        // Also across the end and beyond it, where nothing is left to ask for.
        for at in 0..=40 {
            prefetch::<1, f64>(&doubles, at);
            prefetch::<8, f64>(&doubles, at);
            prefetch::<16, f32>(&singles, at);
            prefetch::<1, f32>(&[], at);
        }
    }

    /// Tiles of every width, with rows asked for ahead up to the last one.
    #[test]
    fn gathered_rows_are_the_sums_of_their_definition() {
        let starts = [0, 3, 3, 30, 34];
        let indices: Vec<u32> = (0..34).map(|i| (i * 7) % 11).collect();
        let values: Vec<f64> = (0..34).map(|i| f64::from(i % 5) - 2.0).collect();
        for width in [1, 2, 4, 7, 8, 13, 17, 24, 41] {
            let x = Mat::from_fn(11, width, |i, j| (i * width + j) as f64);
            let mut out = vec![f64::NAN; 4 * width];
            gather(&starts, &indices, &values, &x, &mut out);
            for (i, bounds) in starts.windows(2).enumerate() {
                for j in 0..width {
                    let terms = (bounds[0]..bounds[1]).map(|e| values[e] * x.row(indices[e] as usize)[j]);
                    // Whole numbers, so that every order of the sum gives the same.
                    assert_eq!(out[i * width + j], terms.sum::<f64>(), "width {width}, row {i}, column {j}");
                }
            }
        }
    }
}
