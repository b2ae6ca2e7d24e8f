//! Which samples are compared, and which change places.

use crate::motifs::data::Signals;
use crate::motifs::extent::Extent;

/// Samples of a long stretch that change places with each other: what changes slowly stays, and memory is bounded.
const PIECE: usize = 4096;

/// Pieces reach at least so many times as far as a motif, so that the lags that a cut loses are few.
const AMPLE: usize = 8;

/// A channel is compared with itself and so many that follow it: all pairs of a hundred channels would take minutes.
const NEIGHBOURS: usize = 7;

/// Two channels at one lag, in rows and columns.
pub(super) struct Lag {
    pub channels: (usize, usize),
    pub by: (i64, i64),
}

/// A stretch or a part of it; one that is a part is no circle.
pub(super) struct Piece {
    pub stretch: usize,
    /// Where it begins in every channel.
    pub begin: usize,
    pub extent: Extent,
    pub cyclic: bool,
}

/// All lags below the support: of a channel with itself those of one half of the plane, as the other half says the same.
pub(super) fn lags(channels: usize, support: Extent) -> Vec<Lag> {
    let (rows, columns) = (support.rows as i64, support.columns as i64);
    let mut lags = Vec::new();
    for a in 0..channels {
        for b in a..channels.min(a + 1 + NEIGHBOURS) {
            for row in 1 - rows..rows {
                for column in 1 - columns..columns {
                    if a != b || (row, column) > (0, 0) {
                        lags.push(Lag { channels: (a, b), by: (row, column) });
                    }
                }
            }
        }
    }
    lags
}

/// Stretches, those that are long cut along their columns, or images along their rows.
pub(super) fn pieces(signals: &Signals, support: Extent) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (number, stretch) in signals.stretches().iter().enumerate() {
        let whole = stretch.extent;
        let (size, most) = match whole.is_plane() {
            true => (whole.rows, (PIECE / whole.columns.max(1)).max(AMPLE * support.rows)),
            false => (whole.columns, PIECE.max(AMPLE * support.columns)),
        };
        for first in (0..size).step_by(most) {
            let length = most.min(size - first);
            let (begin, extent) = match whole.is_plane() {
                true => (first * whole.columns, Extent::plane(length, whole.columns)),
                false => (first, Extent::line(length)),
            };
            let cyclic = signals.is_cyclic() && length == size;
            pieces.push(Piece { stretch: number, begin, extent, cyclic });
        }
    }
    pieces
}

/// The runs of places that have a place so many rows and columns further: where they begin, where those begin, how long they are.
pub(super) fn overlaps(
    extent: Extent,
    cyclic: bool,
    by: (i64, i64),
    mut show: impl FnMut(usize, usize, usize),
) {
    let (rows, columns) = (extent.rows as i64, extent.columns as i64);
    for row in 0..rows {
        let other = if cyclic { (row + by.0).rem_euclid(rows) } else { row + by.0 };
        if !(0..rows).contains(&other) {
            continue;
        }
        let mut run = |from: i64, to: i64, length: i64| {
            if length > 0 {
                show((row * columns + from) as usize, (other * columns + to) as usize, length as usize);
            }
        };
        match cyclic {
            true => {
                let shift = by.1.rem_euclid(columns);
                run(0, shift, columns - shift);
                run(columns - shift, 0, shift);
            }
            false => run((-by.1).max(0), by.1.max(0), columns - by.1.abs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_all_pairs_of_places_at_a_lag() {
        for extent in [Extent::line(7), Extent::plane(4, 5), Extent::line(1)] {
            let (rows, columns) = (extent.rows as i64, extent.columns as i64);
            for (cyclic, row, column) in [false, true]
                .into_iter()
                .flat_map(|c| (-5..6).flat_map(move |r| (-8..9).map(move |s| (c, r, s))))
            {
                let mut found = Vec::new();
                overlaps(extent, cyclic, (row, column), |from, to, length| {
                    (0..length).for_each(|i| found.push((from + i, to + i)));
                });
                let mut told = Vec::new();
                for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
                    let (s, d) = match cyclic {
                        true => ((r + row).rem_euclid(rows), (c + column).rem_euclid(columns)),
                        false => (r + row, c + column),
                    };
                    if (0..rows).contains(&s) && (0..columns).contains(&d) {
                        told.push(((r * columns + c) as usize, (s * columns + d) as usize));
                    }
                }
                found.sort_unstable();
                assert_eq!(found, told, "{extent}, {cyclic}, {row}, {column}");
            }
        }
    }

    #[test]
    fn pieces_are_all_of_a_stretch() {
        for (extent, support) in [
            (Extent::line(10_000), Extent::line(8)),
            (Extent::line(3), Extent::line(3)),
            (Extent::plane(300, 90), Extent::plane(4, 4)),
        ] {
            let values = vec![0.0; extent.len()];
            let stretch = crate::motifs::Stretch { values, extent, trial: 0, offset: 0 };
            let signals = Signals::new(vec![stretch], vec!["0".into()], None, false);
            let mut end = 0;
            for piece in pieces(&signals, support) {
                assert_eq!(piece.begin, end);
                end += piece.extent.len();
            }
            assert_eq!(end, extent.len());
        }
    }
}
