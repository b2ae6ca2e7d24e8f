//! The product of some rows with a skinny matrix: gathering, with the running sums in registers.
//!
//! Columns are cut into tiles of a width the compiler knows, all of one width; the last reaches back over columns that are
//! done where it must. A row goes through all tiles before the next, a run of entries at a time, so that every row of X is
//! brought from memory once, and what later entries need is asked for ahead.

use crate::linalg::spmm::prefetch;
use crate::linalg::{Kernel, vectorised};

/// The widest tile: ten registers of running sums leave six for what is loaded.
const WIDEST: usize = 80;

/// Entries that go through all tiles together: at 160 columns their rows of X take 80 kB.
const RUN: usize = 128;

/// Bytes of rows of X that are asked for ahead: enough to cover the latency of memory.
const AHEAD_BYTES: usize = 2048;

/// out = A · X for the rows that `starts` describes.
pub(super) fn multiply_rows(
    starts: &[usize],
    indices: &[u32],
    weights: Option<&[f32]>,
    (x, width): (&[f32], usize),
    out: &mut [f32],
) {
    let ahead = (AHEAD_BYTES / (4 * width)).clamp(4, 16);
    match weights {
        None => vectorised(Gather::<false> { starts, indices, weights: &[], x, width, ahead, out }),
        Some(weights) => vectorised(Gather::<true> { starts, indices, weights, x, width, ahead, out }),
    }
}

struct Gather<'a, const WEIGHTED: bool> {
    starts: &'a [usize],
    indices: &'a [u32],
    weights: &'a [f32],
    x: &'a [f32],
    width: usize,
    /// How many entries ahead rows of X are asked for.
    ahead: usize,
    out: &'a mut [f32],
}

impl<const WEIGHTED: bool> Kernel for Gather<'_, WEIGHTED> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (tiles, tile) = tiles(self.width);
        match tile {
            80 => self.rows::<80>(tiles),
            72 => self.rows::<72>(tiles),
            64 => self.rows::<64>(tiles),
            56 => self.rows::<56>(tiles),
            32 => self.rows::<32>(tiles),
            24 => self.rows::<24>(tiles),
            16 => self.rows::<16>(tiles),
            8 => self.rows::<8>(tiles),
            7 => self.rows::<7>(tiles),
            6 => self.rows::<6>(tiles),
            5 => self.rows::<5>(tiles),
            4 => self.rows::<4>(tiles),
            3 => self.rows::<3>(tiles),
            2 => self.rows::<2>(tiles),
            _ => self.rows::<1>(tiles),
        }
    }
}

/// How many tiles of which width cover the columns; a tile is no wider than all of them. Tiles of 40 and 48 are avoided: the compiler
/// keeps their sums in memory, and they took twice as long as 56.
fn tiles(width: usize) -> (usize, usize) {
    if width < 8 {
        return (1, width);
    }
    let mut tiles = width.div_ceil(WIDEST);
    loop {
        let tile = width.div_ceil(tiles).next_multiple_of(8);
        if tile <= width && !(33..56).contains(&tile) {
            return (tiles, tile);
        }
        tiles += 1;
    }
}

impl<const WEIGHTED: bool> Gather<'_, WEIGHTED> {
    #[inline(always)]
    fn rows<const W: usize>(self, tiles: usize) {
        let Self { starts, indices, weights, x, width, ahead, out } = self;
        for (bounds, out) in starts.windows(2).zip(out.chunks_exact_mut(width)) {
            out.fill(0.0);
            let mut begin = bounds[0];
            while begin < bounds[1] {
                let end = (begin + RUN).min(bounds[1]);
                for t in 0..tiles {
                    let first = (t * W).min(width - W);
                    let mut sum = [0.0f32; W];
                    for e in begin..end {
                        if t == 0
                            && let Some(later) = indices.get(e + ahead)
                        {
                            for t in 0..tiles {
                                prefetch::<W, f32>(x, *later as usize * width + (t * W).min(width - W));
                            }
                        }
                        let at = indices[e] as usize * width + first;
                        let row: &[f32; W] = x[at..at + W].try_into().expect("W columns");
                        for l in 0..W {
                            sum[l] += if WEIGHTED { weights[e] * row[l] } else { row[l] };
                        }
                    }
                    // Columns that the tile before has done are left alone.
                    let done = t * W - first;
                    let (out, sum) = (&mut out[t * W..first + W], &sum[done..]);
                    out.iter_mut().zip(sum).for_each(|(out, s)| *out += s);
                }
                begin = end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_width() {
        for width in 1..500 {
            let (tiles, tile) = tiles(width);
            assert!(tile <= width && tiles * tile >= width && (tiles - 1) * tile < width, "{width}");
            assert!(tile <= WIDEST && (tile % 8 == 0 || tile < 8) && tile != 40 && tile != 48, "{width}");
        }
        assert_eq!((tiles(7), tiles(20), tiles(100), tiles(160)), ((1, 7), (2, 16), (2, 56), (2, 80)));
    }
}
