//! Long stretches in pieces that overlap, cut at fixed places.
//!
//! A piece reads its own samples and some on either side, and keeps only the activations of its own. Around it stand
//! samples that nobody observed, so that motifs may overlap its edges.

use crate::motifs::{Extent, Stretch};
use std::ops::Range;

/// The longest grid along a line: its spectra of eight motifs stay within a few megabytes.
const LINE: usize = 16_384;
/// The longest side of a grid on a plane.
const SIDE: usize = 512;
/// Samples on either side that a piece reads and does not keep, in lengths of a motif. Activations influence each other
/// through overlapping motifs, and the influence fades with every motif in between.
const MARGIN: usize = 8;

/// One piece of one stretch.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::motifs) struct Piece {
    /// Rows and columns of samples that are read; outside of the stretch only where it is a circle.
    pub(in crate::motifs) rows: Range<i64>,
    pub(in crate::motifs) columns: Range<i64>,
    /// Where activations that are kept lie.
    pub(in crate::motifs) keep_rows: Range<i64>,
    pub(in crate::motifs) keep_columns: Range<i64>,
    /// The circle on which the piece is decoded.
    pub(in crate::motifs) grid: Extent,
    /// Samples of the grid before the first that is read.
    pub(in crate::motifs) pad: Extent,
}

/// The pieces of a stretch, for motifs of the extent `motif`.
pub(in crate::motifs) fn cut(
    extent: Extent,
    motif: Extent,
    cyclic: bool,
    longest: Option<usize>,
) -> Vec<Piece> {
    let longest = longest.unwrap_or(if extent.is_plane() { SIDE } else { LINE });
    let fits = extent.rows.max(extent.columns) <= longest;
    if cyclic && fits {
        let (rows, columns) = (0..extent.rows as i64, 0..extent.columns as i64);
        let pad = Extent::plane(0, 0);
        return vec![Piece {
            keep_rows: rows.clone(),
            keep_columns: columns.clone(),
            rows,
            columns,
            grid: extent,
            pad,
        }];
    }
    let down = axis(extent.rows, motif.rows, cyclic, longest);
    let along = axis(extent.columns, motif.columns, cyclic, longest);
    let pad = Extent::plane(motif.rows - 1, motif.columns - 1);
    let mut pieces = Vec::with_capacity(down.len() * along.len());
    for (rows, keep_rows) in &down {
        for (columns, keep_columns) in &along {
            let grid = Extent::plane(room(rows, motif.rows), room(columns, motif.columns));
            pieces.push(Piece {
                rows: rows.clone(),
                columns: columns.clone(),
                keep_rows: keep_rows.clone(),
                keep_columns: keep_columns.clone(),
                grid,
                pad,
            });
        }
    }
    pieces
}

/// What is read and what is kept along one axis.
fn axis(n: usize, m: usize, cyclic: bool, longest: usize) -> Vec<(Range<i64>, Range<i64>)> {
    let margin = (MARGIN * m) as i64;
    // At least twice as much is kept as is read in vain, however long the motifs are.
    let own = (longest as i64 - 2 * margin - m as i64 + 1).max(4 * margin);
    let (n, first) = (n as i64, if cyclic { 0 } else { 1 - m as i64 });
    let count = (n + own - 1) / own;
    (0..count)
        .map(|p| {
            let (begin, end) = (p * own, ((p + 1) * own).min(n));
            let read = match cyclic {
                true => begin - margin..end + margin,
                false => (begin - margin).max(0)..(end + margin).min(n),
            };
            (read, if p == 0 { first..end } else { begin..end })
        })
        .collect()
}

/// A grid that holds what is read and a motif's length that is not, of a length that transforms quickly and that few
/// pieces differ in.
fn room(read: &Range<i64>, m: usize) -> usize {
    let least = (read.end - read.start) as usize + m - 1;
    let power = least.next_power_of_two();
    [power / 8 * 5, power / 4 * 3, power / 8 * 7].into_iter().find(|size| *size >= least).unwrap_or(power)
}

impl Piece {
    /// Whether the grid is the stretch itself, without samples that nobody observed.
    pub(in crate::motifs) fn is_circle(&self) -> bool {
        self.grid.rows as i64 == self.rows.end - self.rows.start
            && self.grid.columns as i64 == self.columns.end - self.columns.start
    }

    /// The samples on the grid, channel after channel, 0 where there are none.
    pub(in crate::motifs) fn gather(&self, stretch: &Stretch) -> Vec<f64> {
        let one = stretch.extent.len();
        let mut array = vec![0.0; stretch.values.len() / one * self.grid.len()];
        for (source, target) in stretch.values.chunks_exact(one).zip(array.chunks_exact_mut(self.grid.len()))
        {
            self.each_sample(stretch.extent, |from, to| target[to] = source[from]);
        }
        array
    }

    /// For every place of the grid whether its sample was read.
    pub(in crate::motifs) fn observed(&self, extent: Extent) -> Vec<bool> {
        let mut observed = vec![false; self.grid.len()];
        self.each_sample(extent, |_, to| observed[to] = true);
        observed
    }

    /// Calls with the place in the stretch and on the grid of every sample that is read.
    pub(in crate::motifs) fn each_sample(&self, extent: Extent, mut call: impl FnMut(usize, usize)) {
        for (i, row) in self.rows.clone().enumerate() {
            let from = row.rem_euclid(extent.rows as i64) as usize * extent.columns;
            let to = (i + self.pad.rows) * self.grid.columns + self.pad.columns;
            for (j, column) in self.columns.clone().enumerate() {
                call(from + column.rem_euclid(extent.columns as i64) as usize, to + j);
            }
        }
    }

    /// Calls with the row and column in the stretch and the place on the grid of every activation that is kept.
    pub(in crate::motifs) fn each_kept(&self, mut call: impl FnMut(i64, i64, usize)) {
        let top = self.rows.start - self.pad.rows as i64;
        let left = self.columns.start - self.pad.columns as i64;
        for row in self.keep_rows.clone() {
            for column in self.keep_columns.clone() {
                let to = (row - top) as usize * self.grid.columns + (column - left) as usize;
                call(row, column, to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_kept_once_and_lies_on_the_grid() {
        for (extent, motif) in [
            (Extent::line(5000), Extent::line(20)),
            (Extent::line(7), Extent::line(12)),
            (Extent::plane(90, 150), Extent::plane(3, 2)),
        ] {
            for cyclic in [false, true] {
                let mut seen = std::collections::BTreeMap::new();
                for piece in cut(extent, motif, cyclic, Some(64)) {
                    assert!(
                        piece.is_circle()
                            || piece.grid.columns + 1 >= motif.columns + piece.columns.clone().count()
                    );
                    piece.each_kept(|row, column, to| {
                        assert!(to < piece.grid.len());
                        *seen.entry((row, column)).or_insert(0) += 1;
                    });
                }
                let beyond = |m: usize| if cyclic { 0 } else { m - 1 };
                let all = (extent.rows + beyond(motif.rows)) * (extent.columns + beyond(motif.columns));
                assert_eq!(
                    (seen.len(), seen.values().all(|times| *times == 1)),
                    (all, true),
                    "{extent:?} {cyclic}"
                );
            }
        }
    }
}
