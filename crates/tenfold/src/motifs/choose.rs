//! What the data say about choices that were left to them: length, number of motifs, orders.

use super::data::Signals;
use super::extent::Extent;
use super::moments::{Cumulants, centres};
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::Fourier;

/// A length and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    pub extent: Extent,
    /// Whether the autocovariance ends there; otherwise it never ended, and the length is a guess.
    pub ends: bool,
}

/// Longest motifs that are looked for when nobody says how long they are.
const LONGEST: Extent = Extent { rows: 8, columns: 64 };

/// Standard errors beyond which an autocovariance is not noise: with up to a hundred lags tested, four are passed by chance
/// once in two hundred times.
const SIGNIFICANT: f64 = 4.5;

/// The lag from which on the autocovariance of the signals is noise.
///
/// Activations that are white give x the autocovariance r(τ) = Σ σ_l² Σ_t f_l(t) f_l(t + τ), which is zero from the
/// motifs' length on. Its noise is told by two halves of the signals.
pub(super) fn reach(signals: &Signals) -> Reach {
    let size = signals
        .stretches()
        .iter()
        .map(|s| s.extent)
        .fold(Extent::line(1), |a, b| Extent { rows: a.rows.max(b.rows), columns: a.columns.max(b.columns) });
    // A circle knows lags up to its half only: beyond, motifs are as long as it.
    let most = |size: usize, longest: usize| if size == 1 { 1 } else { (size / 2).min(2 * longest).max(2) };
    let most = Extent { rows: most(size.rows, LONGEST.rows), columns: most(size.columns, LONGEST.columns) };
    let halves = autocovariances(signals, most);
    let (mean, half): (Vec<f64>, Vec<f64>) =
        halves[0].iter().zip(&halves[1]).map(|(a, b)| ((a + b) / 2.0, (a - b) / 2.0)).unzip();
    let noise = (half.iter().map(|d| d * d).sum::<f64>() / half.len() as f64).sqrt();
    let beyond = |row: usize, column: usize| mean[row * most.columns + column].abs() > SIGNIFICANT * noise;
    let last_row = (0..most.rows).rev().find(|&r| (0..most.columns).any(|c| beyond(r, c))).unwrap_or(0);
    let last_column = (0..most.columns).rev().find(|&c| (0..most.rows).any(|r| beyond(r, c))).unwrap_or(0);
    let channels = signals.channels().len().clamp(1, super::channels::MOST);
    let along = |last: usize, most: usize, size: usize, longest: usize| match (size, last + 1 >= most) {
        (1, _) => (1, true),
        (_, false) => ((last + 1).clamp(2, longest.max(2)), last < longest),
        // To the end of what can be told: whole circles are motifs of full length, a recording is only guessed at.
        (_, true) if signals.is_cyclic() && size <= 2 * longest => (size, true),
        // Half of the longest, shared by the channels: a guess should not cost minutes, and the work goes with the cube.
        (_, true) => ((longest / (2 * channels)).min(size.div_ceil(2)).max(2), false),
    };
    let (rows, row_ends) = along(last_row, most.rows, size.rows, LONGEST.rows);
    let (columns, column_ends) = along(last_column, most.columns, size.columns, LONGEST.columns);
    Reach { extent: Extent { rows, columns }, ends: row_ends && column_ends }
}

/// Autocovariances summed over channels, by lag, of two halves of the stretches (or of one stretch).
fn autocovariances(signals: &Signals, most: Extent) -> [Vec<f64>; 2] {
    let centre = centres(signals);
    // Parts of a stretch are dealt in turn, so that one recording has two halves too.
    let piece = 64 * most.columns;
    let mut parts = Vec::new();
    for (number, stretch) in signals.stretches().iter().enumerate() {
        parts.extend((0..stretch.extent.columns).step_by(piece).map(|begin| (number, begin)));
    }
    let sums: Vec<Vec<f64>> = parts
        .par_iter()
        .map(|&(number, begin)| {
            let stretch = &signals.stretches()[number];
            let (rows, columns) = (stretch.extent.rows, piece.min(stretch.extent.columns - begin));
            let plan = Fourier::new(
                if rows == 1 { 1 } else { rows + most.rows },
                if signals.is_cyclic() { columns } else { columns + most.columns },
            );
            let width = plan.len() / if rows == 1 { 1 } else { rows + most.rows };
            let mut sum = vec![0.0; most.len()];
            for (channel, &centre) in centre.iter().enumerate() {
                let mut field = vec![0.0; plan.len()];
                for row in 0..rows {
                    let from = channel * stretch.extent.len() + row * stretch.extent.columns + begin;
                    for (to, value) in
                        field[row * width..].iter_mut().zip(&stretch.values[from..from + columns])
                    {
                        *to = value - centre;
                    }
                }
                let mut spectrum = plan.forward(&field);
                spectrum.iter_mut().for_each(|value| *value = value.norm_sqr().into());
                let covariance = plan.inverse(&spectrum);
                for row in 0..most.rows.min(rows) {
                    for column in 0..most.columns.min(width) {
                        sum[row * most.columns + column] += covariance[row * width + column];
                    }
                }
            }
            sum
        })
        .collect();
    let mut halves = [vec![0.0; most.len()], vec![0.0; most.len()]];
    let mut counts = [0.0; 2];
    for (number, sum) in sums.iter().enumerate() {
        counts[number % 2] += signals.stretches()[parts[number].0].extent.rows as f64;
        halves[number % 2].iter_mut().zip(sum).for_each(|(total, value)| *total += value);
    }
    if counts[1] == 0.0 {
        halves[1] = halves[0].clone();
        counts[1] = counts[0];
    }
    for (half, count) in halves.iter_mut().zip(counts) {
        half.iter_mut().for_each(|value| *value /= count);
    }
    halves
}

/// How much the i-th direction of every M_ω repeats from one half of the signals to the other, in standard errors.
///
/// v_i are the eigenvectors of M_ω of one half, in order of size; Σ_ω sign(λ_i) v_iᴴ M'_ω v_i with M' of the other half has
/// mean zero for directions that are noise, and the last third of the directions, which is noise, tells its spread.
pub(super) fn repeats(cumulants: &Cumulants) -> Result<Vec<f64>> {
    let targets = cumulants.halves_by_noise();
    let mut scores: Vec<Vec<f64>> = Vec::new();
    for (own, other) in [(0, 1), (1, 0)] {
        let parts = targets[own]
            .par_iter()
            .zip(&targets[other])
            .map(|(a, b)| {
                let eigen = a.eigen_hermitian()?;
                let moved = b.matmul(&eigen.vectors);
                let scores = (0..a.rows()).map(|i| {
                    let inner: f64 =
                        (0..a.rows()).map(|r| (eigen.vectors[(r, i)].conj() * moved[(r, i)]).re).sum();
                    inner * eigen.values[i].signum()
                });
                Ok(scores.collect())
            })
            .collect::<Result<Vec<Vec<f64>>>>()?;
        scores.extend(parts);
    }
    let directions = scores.iter().map(Vec::len).min().unwrap_or(0);
    let tail = directions - directions / 3;
    let spread: f64 = scores
        .iter()
        .map(|one| {
            one[tail..directions].iter().map(|s| s * s).sum::<f64>() / (directions - tail).max(1) as f64
        })
        .sum();
    // Both halves look at each other, so every pair of blocks counts twice.
    let error = (2.0 * spread).sqrt().max(1e-300);
    Ok((0..directions).map(|i| scores.iter().map(|one| one[i]).sum::<f64>() / error).collect())
}

/// The number of leading directions that repeat.
pub(super) fn count(repeats: &[f64]) -> usize {
    repeats.iter().take_while(|&&z| z > SIGNIFICANT).count()
}
