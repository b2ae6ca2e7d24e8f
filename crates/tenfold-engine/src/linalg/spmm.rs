//! The inner loops of sparse × skinny products: the one hot kernel that is ours.
//!
//! A row of the result is a weighted sum of rows of X. With the number of columns known to the compiler the
//! running sums stay in registers, and the loop is compiled for the processor's vector width
//! ([`vectorised`](super::vectorised)); that is several times as fast as a plain loop.

use super::csr::ColumnIndex;
use super::{Mat, vectorised};

/// Columns handled together by the scattering product: one cache line.
pub(super) const TILE: usize = 8;

/// out[i, :] = Σ over entries of row i of value · X[column, :], for the rows that `starts` describes.
pub(super) fn gather<I: ColumnIndex>(
    starts: &[usize],
    indices: &[I],
    values: &[f64],
    x: &[f64],
    width: usize,
    out: &mut [f64],
) {
    vectorised(|| gather_tiles(&Rows { starts, indices, values, x, width }, out));
}

struct Rows<'a, I> {
    starts: &'a [usize],
    indices: &'a [I],
    values: &'a [f64],
    x: &'a [f64],
    width: usize,
}

/// Splits the columns into tiles of a width the compiler knows.
#[inline(always)]
fn gather_tiles<I: ColumnIndex>(rows: &Rows<I>, out: &mut [f64]) {
    let mut first = 0;
    while first < rows.width {
        first += match rows.width - first {
            40.. => gather_tile::<I, 40>(rows, first, out),
            32.. => gather_tile::<I, 32>(rows, first, out),
            24.. => gather_tile::<I, 24>(rows, first, out),
            16.. => gather_tile::<I, 16>(rows, first, out),
            8.. => gather_tile::<I, 8>(rows, first, out),
            4.. => gather_tile::<I, 4>(rows, first, out),
            2.. => gather_tile::<I, 2>(rows, first, out),
            _ => gather_tile::<I, 1>(rows, first, out),
        }
    }
}

#[inline(always)]
fn gather_tile<I: ColumnIndex, const W: usize>(rows: &Rows<I>, first: usize, out: &mut [f64]) -> usize {
    for (i, bounds) in rows.starts.windows(2).enumerate() {
        let mut sum = [0.0f64; W];
        let entries = bounds[0]..bounds[1];
        for (index, value) in rows.indices[entries.clone()].iter().zip(&rows.values[entries]) {
            let at = index.position() * rows.width + first;
            let row: &[f64; W] = rows.x[at..at + W].try_into().expect("W columns");
            for l in 0..W {
                sum[l] += value * row[l];
            }
        }
        out[i * rows.width + first..][..W].copy_from_slice(&sum);
    }
    W
}

/// Columns `first..first + TILE` of Aᵀ X, row-major, by adding every row of X where its entries point.
pub(super) fn scatter<I: ColumnIndex>(
    starts: &[usize],
    indices: &[I],
    values: &[f64],
    x: &Mat,
    first: usize,
    out_rows: usize,
) -> Vec<f64> {
    let width = TILE.min(x.cols() - first);
    let mut out = vec![0.0; out_rows * width];
    vectorised(|| match width {
        TILE => scatter_tile::<I, TILE>(starts, indices, values, x, first, &mut out),
        _ => {
            for column in 0..width {
                scatter_column(starts, indices, values, x, first + column, &mut out[column..], width);
            }
        }
    });
    out
}

#[inline(always)]
fn scatter_tile<I: ColumnIndex, const W: usize>(
    starts: &[usize],
    indices: &[I],
    values: &[f64],
    x: &Mat,
    first: usize,
    out: &mut [f64],
) {
    for (i, bounds) in starts.windows(2).enumerate() {
        let row: &[f64; W] = x.row(i)[first..first + W].try_into().expect("W columns");
        let entries = bounds[0]..bounds[1];
        for (index, value) in indices[entries.clone()].iter().zip(&values[entries]) {
            let at = index.position() * W;
            let target: &mut [f64; W] = (&mut out[at..at + W]).try_into().expect("W columns");
            for l in 0..W {
                target[l] += value * row[l];
            }
        }
    }
}

#[inline(always)]
fn scatter_column<I: ColumnIndex>(
    starts: &[usize],
    indices: &[I],
    values: &[f64],
    x: &Mat,
    column: usize,
    out: &mut [f64],
    stride: usize,
) {
    for (i, bounds) in starts.windows(2).enumerate() {
        let factor = x[(i, column)];
        let entries = bounds[0]..bounds[1];
        for (index, value) in indices[entries.clone()].iter().zip(&values[entries]) {
            out[index.position() * stride] += value * factor;
        }
    }
}
