//! Motifs are known up to a shift: comparing them at the best one, and moving them into their support.

use super::super::extent::Extent;
use super::super::moments::Lattice;
use super::subspace::unit;
use crate::evaluate::{FilterBank, filter_errors};
use tenfold_engine::linalg::Fourier;

/// |correlation| of two waveforms at the best shift, one for all channels: around the ends where they are `closed` to circles.
pub(in crate::motifs) fn likeness(
    a: &[f64],
    b: &[f64],
    channels: usize,
    extent: Extent,
    closed: bool,
) -> f64 {
    let Extent { rows, columns } = extent;
    let bank = |values| FilterBank { values, channels, rows, columns };
    let error = filter_errors(bank(a), bank(b), closed.then_some((rows, columns))).errors[0];
    1.0 - error * error / 2.0
}

/// Undoes the whitening of a filter over one period and takes the window of the support's size with most energy.
pub(super) fn into_support(filter: &[f64], scale: &[f64], lattice: Lattice, support: Extent) -> Vec<f64> {
    let period = lattice.period;
    let plan = Fourier::new(period.rows, period.columns);
    let mut fields = Vec::with_capacity(lattice.variables());
    for (channel, scale) in filter.chunks_exact(plan.len()).zip(scale.chunks_exact(plan.len())) {
        let mut spectrum = plan.whole(channel);
        spectrum.iter_mut().zip(scale).for_each(|(value, scale)| *value /= scale);
        plan.complex_inverse(&mut spectrum);
        fields.push(spectrum.iter().map(|value| value.re).collect::<Vec<f64>>());
    }
    let at = |row: usize, column: usize| (row % period.rows) * period.columns + column % period.columns;
    let energy = |row: usize, column: usize| {
        let mut sum = 0.0;
        for field in &fields {
            for r in 0..support.rows {
                sum += (0..support.columns).map(|c| field[at(row + r, column + c)].powi(2)).sum::<f64>();
            }
        }
        sum
    };
    let (mut best, mut most) = ((0, 0), -1.0);
    for row in 0..period.rows {
        for column in 0..period.columns {
            let here = energy(row, column);
            // Equal up to rounding: the earlier window.
            if here > most * (1.0 + 1e-12) {
                (best, most) = ((row, column), here);
            }
        }
    }
    let mut out = Vec::with_capacity(lattice.channels * support.len());
    for field in &fields {
        for r in 0..support.rows {
            out.extend((0..support.columns).map(|c| field[at(best.0 + r, best.1 + c)]));
        }
    }
    unit(out)
}
