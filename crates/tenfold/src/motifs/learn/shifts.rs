//! Motifs are known up to a shift: comparing them at the best one, and moving them into their support.

use super::super::extent::Extent;
use super::super::moments::Lattice;
use super::subspace::unit;
use tenfold_engine::linalg::{Complex64, Fourier};

/// |correlation| of two waveforms at the cyclic shift where it is largest, one shift for all channels.
pub(in crate::motifs) fn likeness(a: &[f64], b: &[f64], channels: usize, extent: Extent) -> f64 {
    let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let plan = Fourier::new(extent.rows, 2 * extent.columns);
    // Along the columns with room for shifts over the ends; across the rows around.
    let padded = |x: &[f64]| {
        let mut field = vec![0.0; plan.len()];
        for (row, values) in x.chunks_exact(extent.columns).enumerate() {
            field[row * 2 * extent.columns..][..extent.columns].copy_from_slice(values);
        }
        plan.forward(&field)
    };
    let mut sum = vec![Complex64::default(); extent.rows * plan.half()];
    for channel in 0..channels {
        let own = |x: &[f64]| padded(&x[channel * extent.len()..(channel + 1) * extent.len()]);
        for ((sum, a), b) in sum.iter_mut().zip(own(a)).zip(own(b)) {
            *sum += a * b.conj();
        }
    }
    let correlation = plan.inverse(&sum);
    // A whitened motif is a circle: what leaves at the end comes in at the beginning.
    let around = |at: usize| {
        let (row, column) = (at / (2 * extent.columns), at % (2 * extent.columns));
        let other = row * 2 * extent.columns + (column + extent.columns) % (2 * extent.columns);
        correlation[at].abs().max((correlation[at] + correlation[other]).abs())
    };
    let best = (0..correlation.len()).map(around).fold(0.0, f64::max);
    best / (norm(a) * norm(b)).max(1e-300)
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
