//! The few directions of each variable through which all that it shares with others goes.
//!
//! Given the hidden node above it a variable i is independent of all others, so that every whitened covariance K_ij has its
//! columns in one space of r dimensions, r + 1 being the states of the node. Every pair knows that space badly; all together
//! know it well.

use super::Spectra;
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::{Mat, eigen_symmetric};

/// Rounds after the first, in which the other variables are seen through their own directions.
const ROUNDS: usize = 3;

/// Whitened covariances that are kept, in numbers: 1.2 GB. Beyond, variables are seen in all their directions.
const MOST: usize = 150_000_000;

/// Whether the whitened covariances of variables of these widths can be kept, and any is wide.
pub(super) fn fits(widths: &[usize]) -> bool {
    let (sum, squares) =
        widths.iter().fold((0usize, 0usize), |(s, q), &w| (s.saturating_add(w), q.saturating_add(w * w)));
    widths.iter().any(|&w| w > 1) && (sum.saturating_mul(sum) - squares) / 2 <= MOST
}

/// For every variable with more than r directions the r of them, as rows of its whitened coordinates, that
/// Σ_j w_ij K_ij P_j K_ijᵀ has most of, where P_j projects on those of j (everything, at first). w_ij = (1 − e/‖K_ij P_j‖²)₊ with
/// the expectation e = d_i d_j/N of pure noise: pairs that share nothing have no say.
pub(super) fn directions(spectra: &Spectra, cross: &[Vec<f64>], r: usize) -> Result<Vec<Option<Mat>>> {
    let widths = spectra.widths();
    let all = Cross { widths, places: places(widths), lines: cross };
    let mut found: Vec<Option<Mat>> = vec![None; widths.len()];
    for _ in 0..=ROUNDS {
        let next = |i: usize| -> Result<Option<Mat>> {
            if widths[i] <= r {
                return Ok(None);
            }
            let mut sum = Mat::zeros(widths[i], widths[i]);
            for j in (0..widths.len()).filter(|&j| j != i && widths[j] > 0) {
                let mut seen = all.of(i, j);
                if let Some(directions) = &found[j] {
                    seen = seen.matmul_tr(directions);
                }
                let square: f64 = seen.as_slice().iter().map(|x| x * x).sum();
                let noise = (seen.rows() * seen.cols()) as f64 / spectra.samples(i, j).max(1.0);
                if square > noise {
                    sum.add_scaled(1.0 - noise / square, &seen.matmul_tr(&seen));
                }
            }
            Ok(Some(eigen_symmetric(&sum)?.vectors.first_cols(r).transpose()))
        };
        found = (0..widths.len()).into_par_iter().with_max_len(1).map(next).collect::<Result<_>>()?;
    }
    Ok(found)
}

/// Whitened covariances of all pairs, by lines.
struct Cross<'a> {
    widths: &'a [usize],
    /// Where the pair (i, j) begins in line i.
    places: Vec<Vec<usize>>,
    lines: &'a [Vec<f64>],
}

fn places(widths: &[usize]) -> Vec<Vec<usize>> {
    let line = |i: usize| {
        let mut at = 0;
        let mut place = |j: usize| {
            at += widths[i] * widths[j];
            at - widths[i] * widths[j]
        };
        (i + 1..widths.len()).map(&mut place).collect()
    };
    (0..widths.len()).map(line).collect()
}

impl Cross<'_> {
    /// K_ij.
    fn of(&self, i: usize, j: usize) -> Mat {
        let (low, high) = (i.min(j), i.max(j));
        let (rows, cols) = (self.widths[low].min(self.widths[high]), self.widths[low].max(self.widths[high]));
        let at = self.places[low][high - low - 1];
        let stored = &self.lines[low][at..at + rows * cols];
        // The narrower variable is in rows, the first of the two where they are equally wide.
        let first_in_rows = self.widths[low] <= self.widths[high];
        let rows_are_i = first_in_rows == (i == low);
        match rows_are_i {
            true => Mat::from_vec(rows, cols, stored.to_vec()),
            false => Mat::from_fn(cols, rows, |a, b| stored[b * cols + a]),
        }
    }
}
