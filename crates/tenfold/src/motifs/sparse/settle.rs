//! The last step: motifs and amplitudes by plain least squares where the activations stand, so that no penalty bends them.

use super::learn::normalise;
use super::windows::Windows;
use crate::motifs::{Extent, Filters};
use rayon::prelude::*;
use tenfold_engine::linalg::{Mat, parallel, solve};

/// Rounds of amplitudes and motifs in turn; errors fall by about half in each.
const ROUNDS: usize = 12;
/// Windows that one thread takes at a time; sums over them are added in order.
const BLOCK: usize = 16;
/// A window takes part when it has at most this many firings a sample: amplitudes must be surer than what they explain.
const DENSEST: f64 = 0.5;
/// With fewer of the windows than this, those that are left would not stand for all.
const SHARE: f64 = 0.25;

/// Firings of a window: motif, place on the grid, amplitude.
type Firings = Vec<(usize, usize, f64)>;

/// Least squares on the support of the activations `y` (window after window, motif after motif): the motifs, or none where
/// firings are too dense for it.
pub(super) fn settle(filters: &Filters, given: &Windows, y: &[Vec<f64>], signed: bool) -> Option<Filters> {
    let (grid, count) = (given.grid, filters.count());
    let seen = given.observed.as_ref().map_or(grid.len(), |seen| seen.iter().filter(|seen| **seen).count());
    let most = DENSEST * seen as f64;
    let mut windows: Vec<(&[f64], Firings)> = given
        .values
        .chunks_exact(filters.channels * grid.len())
        .zip(y)
        .map(|(x, y)| {
            let fires = y[..count * grid.len()].iter().enumerate().filter(|(_, a)| **a != 0.0);
            (x, fires.map(|(at, a)| (at / grid.len(), at % grid.len(), *a)).collect::<Firings>())
        })
        .filter(|(_, fires)| !fires.is_empty() && fires.len() as f64 <= most)
        .collect();
    if (windows.len() as f64) < SHARE * y.len() as f64 {
        return None;
    }
    let place = Place { grid, extent: filters.extent, observed: given.observed.as_deref() };
    let mut filters = filters.clone();
    for _ in 0..ROUNDS {
        windows.par_iter_mut().for_each(|(x, fires)| amplitudes(&filters, &place, x, fires, signed));
        filters = motifs(&filters, &place, &windows)?;
    }
    Some(filters)
}

/// Where the taps of a firing fall.
struct Place<'a> {
    grid: Extent,
    extent: Extent,
    observed: Option<&'a [bool]>,
}

impl Place<'_> {
    /// The sample that tap `tap` of a firing at `at` falls on, where it was observed.
    fn of(&self, at: usize, tap: usize) -> Option<usize> {
        let row = (at / self.grid.columns + tap / self.extent.columns) % self.grid.rows;
        let column = (at % self.grid.columns + tap % self.extent.columns) % self.grid.columns;
        let sample = row * self.grid.columns + column;
        self.observed.is_none_or(|seen| seen[sample]).then_some(sample)
    }
}

/// Amplitudes of one window by least squares; firings whose amplitude has the wrong sign are dropped.
fn amplitudes(filters: &Filters, place: &Place, x: &[f64], fires: &mut Firings, signed: bool) {
    let (n, taps) = (place.grid.len(), place.extent.len());
    let mut design = Mat::zeros(fires.len(), x.len());
    for (row, &(l, at, _)) in fires.iter().enumerate() {
        for c in 0..filters.channels {
            for tap in 0..taps {
                if let Some(sample) = place.of(at, tap) {
                    design.row_mut(row)[c * n + sample] += filters.channel(l, c)[tap];
                }
            }
        }
    }
    let mut gram = design.matmul_tr(&design);
    // Firings that only unobserved samples tell apart stay small instead of failing.
    (0..fires.len()).for_each(|i| gram[(i, i)] += 1e-9);
    let right = Mat::from_vec(fires.len(), 1, design.matvec(x));
    let solution = solve(&gram, &right).into_vec();
    fires.iter_mut().zip(solution).for_each(|(fire, a)| fire.2 = a);
    fires.retain(|fire| fire.2.is_finite() && (signed || fire.2 > 0.0));
}

/// Motifs by least squares for given firings: normal equations over taps, the same for every channel.
fn motifs(filters: &Filters, place: &Place, windows: &[(&[f64], Firings)]) -> Option<Filters> {
    let (count, taps, channels, n) =
        (filters.count(), place.extent.len(), filters.channels, place.grid.len());
    let size = count * taps;
    let length = size * (size + channels);
    let parts: Vec<Vec<f64>> = windows
        .par_chunks(BLOCK)
        .map(|block| {
            let mut sums = vec![0.0; length];
            let mut over: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
            for (x, fires) in block {
                over.iter_mut().for_each(Vec::clear);
                for &(l, at, a) in fires {
                    for tap in 0..taps {
                        if let Some(sample) = place.of(at, tap) {
                            over[sample].push((l * taps + tap, a));
                        }
                    }
                }
                add(&mut sums, &over, x, (size, channels));
            }
            sums
        })
        .collect();
    let mut sums = vec![0.0; length];
    parts.iter().for_each(|part| parallel::add_assign(&mut sums, part));
    let mut left = Mat::from_vec(size, size, sums[..size * size].to_vec());
    let trace: f64 = (0..size).map(|i| left[(i, i)]).sum();
    (0..size).for_each(|i| left[(i, i)] += 1e-9 * trace / size as f64 + 1e-300);
    let found = solve(&left, &Mat::from_vec(channels, size, sums[size * size..].to_vec()).transpose());
    let mut moved = filters.clone();
    for l in 0..count {
        for c in 0..channels {
            for tap in 0..taps {
                moved.values[(l * channels + c) * taps + tap] = found[(l * taps + tap, c)];
            }
        }
    }
    normalise(&mut moved);
    moved.values.iter().all(|value| value.is_finite()).then_some(moved)
}

/// Adds a window's normal equations: products of the taps that meet at a sample, and of taps with the signal.
fn add(sums: &mut [f64], over: &[Vec<(usize, f64)>], x: &[f64], (size, channels): (usize, usize)) {
    let (left, right) = sums.split_at_mut(size * size);
    for (sample, taps) in over.iter().enumerate() {
        for &(i, a) in taps {
            for &(j, b) in taps {
                left[i * size + j] += a * b;
            }
            for c in 0..channels {
                right[c * size + i] += a * x[c * over.len() + sample];
            }
        }
    }
}
