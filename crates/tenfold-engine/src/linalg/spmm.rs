//! The inner loops of sparse × skinny products: the one hot kernel that is ours.
//!
//! A row of the result is a weighted sum of rows of X. With the number of columns known to the compiler the
//! running sums stay in registers; compiled a second time for AVX2 and FMA and chosen when the processor has
//! them, that is four times as fast as a plain loop. The only `unsafe` is the call of that second version.

use super::Mat;
use super::csr::ColumnIndex;

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
    let rows = Rows { starts, indices, values, x, width };
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has the features the function is compiled for.
        return unsafe { gather_fused(&rows, out) };
    }
    gather_tiles::<I, false>(&rows, out);
}

struct Rows<'a, I> {
    starts: &'a [usize],
    indices: &'a [I],
    values: &'a [f64],
    x: &'a [f64],
    width: usize,
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn gather_fused<I: ColumnIndex>(rows: &Rows<I>, out: &mut [f64]) {
    gather_tiles::<I, true>(rows, out);
}

/// Splits the columns into tiles of a width the compiler knows.
#[inline(always)]
fn gather_tiles<I: ColumnIndex, const FUSED: bool>(rows: &Rows<I>, out: &mut [f64]) {
    let mut first = 0;
    while first < rows.width {
        first += match rows.width - first {
            40.. => gather_tile::<I, 40, FUSED>(rows, first, out),
            32.. => gather_tile::<I, 32, FUSED>(rows, first, out),
            24.. => gather_tile::<I, 24, FUSED>(rows, first, out),
            16.. => gather_tile::<I, 16, FUSED>(rows, first, out),
            8.. => gather_tile::<I, 8, FUSED>(rows, first, out),
            4.. => gather_tile::<I, 4, FUSED>(rows, first, out),
            2.. => gather_tile::<I, 2, FUSED>(rows, first, out),
            _ => gather_tile::<I, 1, FUSED>(rows, first, out),
        }
    }
}

#[inline(always)]
fn gather_tile<I: ColumnIndex, const W: usize, const FUSED: bool>(
    rows: &Rows<I>,
    first: usize,
    out: &mut [f64],
) -> usize {
    for (i, bounds) in rows.starts.windows(2).enumerate() {
        let mut sum = [0.0f64; W];
        let entries = bounds[0]..bounds[1];
        for (index, value) in rows.indices[entries.clone()].iter().zip(&rows.values[entries]) {
            let at = index.position() * rows.width + first;
            let row: &[f64; W] = rows.x[at..at + W].try_into().expect("W columns");
            for l in 0..W {
                sum[l] = if FUSED { value.mul_add(row[l], sum[l]) } else { sum[l] + value * row[l] };
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
    for (i, bounds) in starts.windows(2).enumerate() {
        let row = &x.row(i)[first..first + width];
        let entries = bounds[0]..bounds[1];
        for (index, value) in indices[entries.clone()].iter().zip(&values[entries]) {
            let at = index.position() * width;
            let target = &mut out[at..at + width];
            if let (Ok(target), Ok(row)) =
                (<&mut [f64; TILE]>::try_from(&mut *target), <&[f64; TILE]>::try_from(row))
            {
                for l in 0..TILE {
                    target[l] += value * row[l];
                }
            } else {
                target.iter_mut().zip(row).for_each(|(t, r)| *t += value * r);
            }
        }
    }
    out
}
