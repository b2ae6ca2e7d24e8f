//! Windows of equal size out of signals, a few of many.

use super::Refinement;
use crate::motifs::{Extent, Filters, Signals};
use rand::RngExt;
use tenfold_engine::linalg::random;

/// A window of a long stretch is this many motifs long, so that few motifs are cut.
const MOTIFS: usize = 8;

/// Windows on one grid; samples beyond their edges are not observed unless they are circles.
pub(super) struct Windows {
    pub(super) grid: Extent,
    /// Window after window, channel after channel.
    pub(super) values: Vec<f64>,
    /// Which samples of the grid were observed, if not all.
    pub(super) observed: Option<Vec<bool>>,
}

impl Windows {
    /// Root of the mean square of what was observed.
    pub(super) fn scale(&self) -> f64 {
        let seen = self
            .observed
            .as_ref()
            .map_or(1.0, |seen| seen.iter().filter(|seen| **seen).count() as f64 / seen.len() as f64);
        (self.values.iter().map(|x| x * x).sum::<f64>() / (seen * self.values.len() as f64)).sqrt()
    }
}

/// At most as many windows as asked for: whole stretches where they are short circles of one size, otherwise places drawn
/// by the seed, each sample as probable as any other.
pub(super) fn choose(start: &Filters, signals: &Signals, refinement: &Refinement) -> Windows {
    let (m, all) = (start.extent, signals.stretches());
    let most =
        Extent::plane(if m.rows > 1 { MOTIFS * m.rows } else { 1 }, (MOTIFS * m.columns).next_power_of_two());
    let first = all.iter().map(|s| s.extent).find(|extent| !extent.is_empty()).unwrap_or(m);
    let alike = all.iter().all(|s| s.extent == first);
    let whole = alike && most.holds(first);
    let circles = signals.is_cyclic() && whole;
    let longest = |side: fn(&Extent) -> usize| all.iter().map(|s| side(&s.extent)).max().unwrap_or(1);
    let read = match whole {
        true => first,
        false => Extent::plane(longest(|e| e.rows).min(most.rows), longest(|e| e.columns).min(most.columns)),
    };
    let (grid, pad) = match circles {
        true => (read, Extent::plane(0, 0)),
        false => (
            Extent::plane(read.rows + m.rows - 1, read.columns + m.columns - 1),
            Extent::plane(m.rows - 1, m.columns - 1),
        ),
    };
    let places = places(signals, read, refinement);
    let channels = signals.channels().len();
    let mut values = vec![0.0; places.len() * channels * grid.len()];
    for ((at, top, left), window) in places.iter().zip(values.chunks_exact_mut(channels * grid.len())) {
        let stretch = &all[*at];
        let n = stretch.extent;
        for (c, target) in window.chunks_exact_mut(grid.len()).enumerate() {
            for row in 0..read.rows {
                let from = c * n.len() + (top + row) * n.columns + left;
                let to = (row + pad.rows) * grid.columns + pad.columns;
                target[to..to + read.columns].copy_from_slice(&stretch.values[from..from + read.columns]);
            }
        }
    }
    let observed = (!circles).then(|| {
        let inside = |at: usize, pad: usize, n: usize| (pad..pad + n).contains(&at);
        let of = |at: usize| {
            inside(at / grid.columns, pad.rows, read.rows)
                && inside(at % grid.columns, pad.columns, read.columns)
        };
        (0..grid.len()).map(of).collect()
    });
    Windows { grid, values, observed }
}

/// Stretch, row and column of every window.
fn places(signals: &Signals, read: Extent, refinement: &Refinement) -> Vec<(usize, usize, usize)> {
    let mut rng = random::rng(refinement.seed, 0x5_0a25e);
    let large: Vec<usize> =
        (0..signals.stretches().len()).filter(|at| signals.stretches()[*at].extent.holds(read)).collect();
    let extent = |at: usize| signals.stretches()[at].extent;
    if large.iter().all(|at| extent(*at) == read) {
        let order = random::permutation(large.len(), &mut rng);
        let mut chosen: Vec<usize> =
            order.into_iter().take(refinement.windows.max(1)).map(|i| large[i]).collect();
        chosen.sort_unstable();
        return chosen.into_iter().map(|at| (at, 0, 0)).collect();
    }
    let total: usize = large.iter().map(|at| extent(*at).len()).sum();
    let count = refinement.windows.max(1).min((2 * total).div_ceil(read.len()));
    let mut ends = Vec::with_capacity(large.len());
    large.iter().fold(0, |sum, at| {
        ends.push(sum + extent(*at).len());
        sum + extent(*at).len()
    });
    let mut chosen: Vec<(usize, usize, usize)> = (0..count)
        .map(|_| {
            let drawn = rng.random_range(0..total);
            let at = large[ends.partition_point(|end| *end <= drawn)];
            let top = rng.random_range(0..=extent(at).rows - read.rows);
            (at, top, rng.random_range(0..=extent(at).columns - read.columns))
        })
        .collect();
    chosen.sort_unstable();
    chosen
}
