//! How large the noise is, and the penalty that follows.

use super::Decoding;
use super::canvas::{Canvas, refit};
use super::found::{Rule, clusters, found};
use super::piecewise::Banks;
use super::pursuit::Pursuit;
use crate::motifs::{Extent, Signals, Stretch};
use rayon::prelude::*;
use tenfold_engine::Result;
use tenfold_engine::progress::Progress;

/// Samples from which noise is estimated, about, in stretches spread evenly.
const SAMPLES: usize = 16_384;
/// Rounds of decoding and estimating again.
const ROUNDS: usize = 6;
/// λ in units of noise: a unit motif times white noise exceeds three of them in one place of 740.
const LAMBDA: f64 = 3.0;
/// The least λ as a share of the largest correlation of a motif with the data, for data without noise.
const FLOOR: f64 = 0.01;

/// Smaller penalties that are tried in a row without a shorter description of the data.
const PATIENCE: usize = 2;

/// What decoding needs to know of the data before it begins.
#[derive(Debug, Clone, Copy)]
pub(in crate::motifs) struct Scale {
    /// Standard deviation of the noise.
    pub(in crate::motifs) noise: f64,
    pub(in crate::motifs) lambda: f64,
    /// The largest product of a motif with the data.
    pub(in crate::motifs) peak: f64,
    /// The least λ that is chosen.
    pub(in crate::motifs) least: f64,
}

/// Noise by the median absolute deviation of what is left after decoding with λ = 3 σ and fitting the amplitudes again,
/// repeated from the deviation of the data themselves on. The residual of a too large λ overstates the noise, that of a
/// too small one does not fall as quickly as λ, so the repetition settles.
///
/// Where firings lie dense it settles too high: the deviation of the data exceeds what a single firing adds, so that nothing is
/// found and all is taken for noise. So smaller penalties are tried from there on, and the one stays whose firings and
/// residual take the shortest description.
pub(in crate::motifs) fn scale(
    banks: &mut Banks<'_>,
    signals: &Signals,
    decoding: &Decoding,
    progress: &dyn Progress,
) -> Result<Scale> {
    let sample = sample(signals);
    let mut values: Vec<f64> = sample.stretches().iter().flat_map(|s| s.values.iter().copied()).collect();
    let mut noise = deviation(&mut values);
    let peak = banks.peak(&sample);
    let least = (FLOOR * peak).max(f64::MIN_POSITIVE);
    let lambda = |noise: f64| decoding.lambda.unwrap_or((LAMBDA * noise).max(least));
    for _ in 0..ROUNDS {
        let pursuit =
            Pursuit { lambda: lambda(noise), signed: decoding.signed, max_iterations: 200, tolerance: 5e-3 };
        let mut rest = Vec::with_capacity(values.len());
        for part in banks.activations(sample.stretches(), sample.is_cyclic(), Some(&pursuit), progress)? {
            let Stretch { values, extent, .. } = &sample.stretches()[part.stretch];
            let (filters, cyclic) = (banks.filters, sample.is_cyclic());
            let mut canvas = Canvas { values: values.clone(), filters, extent: *extent, cyclic };
            let mut spots = clusters(&mut canvas, &part.spots);
            refit(&mut canvas, &mut spots);
            rest.append(&mut canvas.values);
        }
        let before = std::mem::replace(&mut noise, deviation(&mut rest));
        if (noise - before).abs() <= 0.03 * before {
            break;
        }
    }
    if decoding.lambda.is_none() && decoding.dense {
        noise = described(banks, &sample, (noise, peak, least), decoding.signed, progress)?;
    }
    Ok(Scale { noise, lambda: lambda(noise), peak, least })
}

/// The noise by the penalty, at most that of `noise`, whose decoding describes the sample in the fewest nats.
fn described(
    banks: &mut Banks<'_>,
    sample: &Signals,
    (noise, peak, least): (f64, f64, f64),
    signed: bool,
    progress: &dyn Progress,
) -> Result<f64> {
    let (filters, cyclic) = (banks.filters, sample.is_cyclic());
    let values = (sample.samples() * filters.channels).max(1) as f64;
    let places = (sample.samples() * filters.count()).max(1) as f64;
    let (mut best, mut chosen, mut idle) = (f64::INFINITY, noise, 0);
    let mut lambda = (LAMBDA * noise).max(least);
    let first = lambda;
    loop {
        let pursuit = Pursuit { lambda, signed, max_iterations: 200, tolerance: 5e-3 };
        let threshold = (super::THRESHOLD / LAMBDA * lambda).max(super::SHARE * peak);
        let rule = Rule { threshold, refractory: 0, signed };
        let parts = banks.activations(sample.stretches(), cyclic, Some(&pursuit), progress)?;
        let decoded: Vec<(usize, Vec<f64>)> = parts
            .into_par_iter()
            .map(|part| {
                let Stretch { values, extent, .. } = &sample.stretches()[part.stretch];
                let mut canvas = Canvas { values: values.clone(), filters, extent: *extent, cyclic };
                (found(&mut canvas, &part.spots, &rule).len(), canvas.values)
            })
            .collect();
        let firings = decoded.iter().map(|(count, _)| *count).sum::<usize>() as f64;
        let mut rest: Vec<f64> = decoded.into_iter().flat_map(|(_, rest)| rest).collect();
        let error = rest.iter().map(|r| r * r).sum::<f64>() / values;
        // A residual below what the least penalty can tell is as good as none.
        let floor = (least / LAMBDA).powi(2);
        let nats = 0.5 * values * error.max(floor).ln()
            + places * entropy(firings / places)
            + 0.5 * firings * values.ln();
        if nats < best {
            (best, idle) = (nats, 0);
            if lambda < first {
                // Every fitted amplitude takes a part of the noise with it.
                chosen = deviation(&mut rest) / (1.0 - (firings / values).min(0.5)).sqrt();
            }
        } else {
            idle += 1;
        }
        if idle == PATIENCE || lambda <= least {
            return Ok(chosen);
        }
        lambda = (0.5 * lambda).max(least);
    }
}

/// Nats that tell whether a place of firing rate p is one.
fn entropy(p: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    part(p) + part(1.0 - p)
}

/// About [`SAMPLES`] samples: stretches that lie evenly among all, of a long one its middle.
fn sample(signals: &Signals) -> Signals {
    let total = signals.samples();
    let channels = signals.channels().len();
    let (mut taken, mut seen, mut whole, mut chosen) = (0u128, 0u128, true, Vec::new());
    for stretch in signals.stretches() {
        let n = stretch.extent.len();
        seen += n as u128;
        // A stretch is taken when its share is due.
        if n == 0 || taken * total as u128 > SAMPLES as u128 * seen {
            continue;
        }
        let part = middle(stretch, channels);
        whole &= part.extent == stretch.extent;
        taken += part.extent.len() as u128;
        chosen.push(part);
    }
    Signals::new(chosen, signals.channels().to_vec(), signals.rate(), signals.is_cyclic() && whole)
}

/// The middle of a stretch, at most [`SAMPLES`] long; of an image at most its square root a side.
fn middle(stretch: &Stretch, channels: usize) -> Stretch {
    let from = stretch.extent;
    let side = if from.is_plane() { SAMPLES.isqrt() } else { SAMPLES };
    let extent = Extent::plane(from.rows.min(side), from.columns.min(side));
    let (top, left) = ((from.rows - extent.rows) / 2, (from.columns - extent.columns) / 2);
    let mut values = Vec::with_capacity(channels * extent.len());
    for channel in stretch.values.chunks_exact(from.len()) {
        for row in top..top + extent.rows {
            values.extend_from_slice(&channel[row * from.columns + left..][..extent.columns]);
        }
    }
    Stretch { values, extent, ..*stretch }
}

/// 1.4826 × the median absolute deviation: the standard deviation, were the values normal.
pub(in crate::motifs) fn deviation(values: &mut [f64]) -> f64 {
    let centre = median(values);
    values.iter_mut().for_each(|v| *v = (*v - centre).abs());
    1.4826 * median(values)
}

fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
