//! Where known motifs fire: x = Σ f_l ⋆ w_l + noise, solved for w.
//!
//! The thesis takes w = F⁺x, a fixed bank of linear filters in the Fourier domain ([`least_squares`]). It reconstructs
//! almost anything and blurs the firings. The usual way here is convolutional basis pursuit, min ½‖x − Σ f_l ⋆ w_l‖² +
//! λ‖w‖₁ with w ≥ 0 unless it is signed, followed by a decision what is one firing, and by least-squares amplitudes.
//!
//! Stretches that are not circles end where they end: samples beyond the edges count as not observed, so a motif may be
//! cut. Long ones are decoded in pieces that overlap, cut at fixed places; the pieces are shared by the threads.
//!
//! # References
//! Wohlberg, "Efficient convolutional sparse coding", ICASSP 2014; Wohlberg, "Boundary handling for convolutional sparse
//! representations", ICIP 2016 (additive mask); Boyd et al., "Distributed optimization and statistical learning via the
//! alternating direction method of multipliers", 2011.

pub(in crate::motifs) mod bank;
mod canvas;
mod found;
mod noise;
mod pieces;
mod piecewise;
pub(in crate::motifs) mod pursuit;

use super::{Event, Extent, Filters, Signals, Stretch};
use crate::error::{Error, Result};
use canvas::{Canvas, Spot};
use found::{Rule, found};
pub(in crate::motifs) use noise::{Scale, deviation};
use piecewise::{Activated, Banks};
use pursuit::Pursuit;
use rayon::prelude::*;
use tenfold_engine::linalg::Fourier;
use tenfold_engine::progress::Progress;

/// The least amplitude of a firing in units of noise.
const THRESHOLD: f64 = 4.5;
/// The least amplitude as a share of the largest product of a motif with the data, for data without noise.
const SHARE: f64 = 0.02;
/// Samples of stretches that are decoded before their results are handed on.
const BATCH: usize = 1 << 20;

/// How activations are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Convolutional basis pursuit.
    Sparse,
    /// The pseudo-inverse (the thesis).
    LeastSquares,
}

/// How to decode.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoding {
    /// How activations are found.
    pub method: Method,
    /// Whether motifs also fire upside down.
    pub signed: bool,
    /// The penalty λ, in the signal's units; else three times the noise, and at least 1 % of the largest product of a
    /// motif with the data.
    pub lambda: Option<f64>,
    /// The least amplitude of a firing; else 4.5 times the noise, and at least 2 % of the largest product. Least squares
    /// amplify noise, so there the deviation of the activations counts.
    pub threshold: Option<f64>,
    /// Two firings of one motif are at least this many samples apart.
    pub refractory: usize,
    /// Whether smaller noise is looked for than a first look takes: right where signals are nothing but firings and noise, however
    /// dense; elsewhere whatever else is in the signals would be told by firings.
    pub dense: bool,
    /// Iterations of the pursuit.
    pub max_iterations: usize,
    /// Relative primal and dual residual at which the pursuit ends.
    pub tolerance: f64,
}

impl Default for Decoding {
    fn default() -> Self {
        Self {
            method: Method::Sparse,
            signed: false,
            lambda: None,
            threshold: None,
            refractory: 0,
            dense: false,
            max_iterations: 500,
            tolerance: 1e-3,
        }
    }
}

/// What was found in one stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The firings, by start.
    pub events: Vec<Event>,
    /// Activations before they were made firings; none of least squares, whose activations are everywhere.
    pub activations: Vec<Event>,
    /// What the firings add up to; of least squares what all activations add up to.
    pub reconstruction: Vec<f64>,
    /// Whether the pursuit came to rest.
    pub converged: bool,
}

/// What was found in all signals.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The firings, by stretch and start.
    pub events: Vec<Event>,
    /// The share of variance that the reconstruction explains; 0 where the signals do not vary, of which nothing can be explained.
    pub explained: f64,
    /// Standard deviation of the residual.
    pub residual_sd: f64,
    /// Standard deviation of the noise, estimated from the deviation of residuals.
    pub noise: f64,
    /// The penalty that was used.
    pub lambda: f64,
    /// The least amplitude that was used.
    pub threshold: f64,
    /// Whether every piece came to rest.
    pub converged: bool,
}

/// Finds where motifs fire.
///
/// # Errors
/// Channels that differ from the motifs', choices out of range, or a caller that stops the run.
///
/// # Example
/// ```
/// use tenfold::motifs::decode::{Decoding, decode};
/// use tenfold::motifs::{Extent, Filters, Signals};
/// use tenfold::engine::progress::Silent;
/// let filters = Filters::new(vec![0.6, 0.0, 0.8], 1, Extent::line(3));
/// let mut x = vec![0.0; 40];
/// (x[10], x[12]) = (1.2, 1.6);
/// let decoded = decode(&filters, &Signals::windows(&x, 40, false), &Decoding::default(), &Silent)?;
/// assert_eq!((decoded.events.len(), decoded.events[0].start), (1, 10));
/// assert!((decoded.events[0].amplitude - 2.0).abs() < 1e-6);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn decode(
    filters: &Filters,
    signals: &Signals,
    decoding: &Decoding,
    progress: &dyn Progress,
) -> Result<Decoded> {
    let mut events = Vec::new();
    let mut decoded = decode_each(filters, signals, decoding, progress, &mut |_, part| {
        events.extend(part.events);
        Ok(())
    })?;
    decoded.events = events;
    Ok(decoded)
}

/// [`decode`] that hands over the parts, stretch after stretch, and holds none; the events of the result are empty.
///
/// # Errors
/// Those of [`decode`] and of `each`.
pub fn decode_each(
    filters: &Filters,
    signals: &Signals,
    decoding: &Decoding,
    progress: &dyn Progress,
    each: &mut dyn FnMut(&Stretch, Part) -> Result<()>,
) -> Result<Decoded> {
    run(filters, signals, decoding, None, progress, each)
}

fn run(
    filters: &Filters,
    signals: &Signals,
    decoding: &Decoding,
    longest: Option<usize>,
    progress: &dyn Progress,
    each: &mut dyn FnMut(&Stretch, Part) -> Result<()>,
) -> Result<Decoded> {
    check(filters, signals, decoding)?;
    let mut banks = Banks::new(filters);
    banks.longest = longest;
    progress.stage("noise", 0);
    let scale = noise::scale(&mut banks, signals, decoding, progress)?;
    let threshold = decoding.threshold.unwrap_or((THRESHOLD * scale.noise).max(SHARE * scale.peak));
    let pursuit = Pursuit {
        lambda: scale.lambda,
        signed: decoding.signed,
        max_iterations: decoding.max_iterations,
        tolerance: decoding.tolerance,
    };
    let pursuit = (decoding.method == Method::Sparse).then_some(pursuit);
    let rule = Rule { threshold, refractory: decoding.refractory, signed: decoding.signed };
    let noises = decoding.threshold.is_none().then_some(THRESHOLD);
    let cyclic = signals.is_cyclic();
    let all = signals.stretches();
    progress.stage("decoding", banks.count(all, cyclic) as u64);
    let (mut begin, mut converged) = (0, true);
    let (mut before, mut after) = (Spread::default(), Spread::default());
    while begin < all.len() {
        let mut end = begin;
        let mut samples = 0;
        while end < all.len() && samples < BATCH {
            samples += all[end].values.len();
            end += 1;
        }
        let batch = &all[begin..end];
        let parts: Vec<Part> = banks
            .activations(batch, cyclic, pursuit.as_ref(), progress)?
            .into_par_iter()
            .map(|one| part(filters, &batch[one.stretch], cyclic, one, (&rule, noises)))
            .collect();
        for (stretch, part) in batch.iter().zip(parts) {
            converged &= part.converged;
            before.add(stretch.values.iter().copied());
            after.add(stretch.values.iter().zip(&part.reconstruction).map(|(x, y)| x - y));
            each(stretch, part)?;
        }
        begin = end;
    }
    let explained = if before.variance() > 0.0 { 1.0 - after.variance() / before.variance() } else { 0.0 };
    let (residual_sd, Scale { noise, lambda, .. }) = (after.variance().sqrt(), scale);
    Ok(Decoded { events: Vec::new(), explained, residual_sd, noise, lambda, threshold, converged })
}

/// Firings of one stretch from its activations.
fn part(
    filters: &Filters,
    stretch: &Stretch,
    cyclic: bool,
    activated: Activated,
    (rule, noises): (&Rule, Option<f64>),
) -> Part {
    let mut canvas = Canvas { values: stretch.values.clone(), filters, extent: stretch.extent, cyclic };
    let event = |spot: &Spot| {
        let start = if cyclic { spot.column.rem_euclid(stretch.extent.columns as i64) } else { spot.column };
        let row = if cyclic { spot.row.rem_euclid(stretch.extent.rows as i64) } else { spot.row };
        let start = start + stretch.offset as i64;
        Event { trial: stretch.trial, row, start, motif: spot.motif, amplitude: spot.amplitude }
    };
    let by_start = |spots: &[Spot]| {
        let mut events: Vec<Event> = spots.iter().map(event).collect();
        events.sort_by_key(|event| (event.start, event.row, event.motif));
        events
    };
    match activated.drawn {
        None => {
            let spots = found(&mut canvas, &activated.spots, rule);
            let reconstruction = stretch.values.iter().zip(&canvas.values).map(|(x, r)| x - r).collect();
            let (events, activations) = (by_start(&spots), by_start(&activated.spots));
            Part { events, activations, reconstruction, converged: activated.converged }
        }
        Some(reconstruction) => {
            let spots = found::peaks(&activated.spots, rule, noises);
            Part { events: by_start(&spots), activations: Vec::new(), reconstruction, converged: true }
        }
    }
}

/// Least-squares activations w = F⁺x of one stretch, motif after motif: at every frequency w = Fᴴ(FFᴴ + εI)⁻¹x over the
/// channels, with ε a millionth of the largest power, for spectral zeros. Where the stretch is no circle, zeros stand
/// around it, and the first activations are those of motifs that begin before it: each map is as large as the stretch
/// and a motif less one.
///
/// # Example
/// ```
/// use tenfold::motifs::{Extent, Filters, Stretch, decode::least_squares};
/// let filters = Filters::new(vec![0.8, 0.6], 1, Extent::line(2));
/// let x = Stretch { values: vec![0.0, 1.6, 1.2, 0.0, 0.0], extent: Extent::line(5), trial: 0, offset: 0 };
/// let w = least_squares(&filters, &x, true);
/// assert!((w[1] - 2.0).abs() < 1e-4 && w[3].abs() < 1e-4);
/// ```
pub fn least_squares(filters: &Filters, stretch: &Stretch, cyclic: bool) -> Vec<f64> {
    Inverse::new(stretch.extent, filters.extent, cyclic).of(filters, &stretch.values)
}

/// [`least_squares`] of many motifs of one length on many stretches of one length: they share their grid.
pub(crate) struct Inverse {
    stretch: Extent,
    beyond: Extent,
    grid: Extent,
    plan: Fourier,
}

impl Inverse {
    pub(crate) fn new(stretch: Extent, motif: Extent, cyclic: bool) -> Self {
        let beyond =
            if cyclic { Extent::plane(0, 0) } else { Extent::plane(motif.rows - 1, motif.columns - 1) };
        let grid = Extent::plane(stretch.rows + beyond.rows, stretch.columns + beyond.columns);
        let plan = Fourier::new(grid.rows, grid.columns);
        Self { stretch, beyond, grid, plan }
    }

    /// The activations of one stretch's values, motif after motif.
    pub(crate) fn of(&self, filters: &Filters, values: &[f64]) -> Vec<f64> {
        let &Self { stretch: n, beyond, grid, ref plan } = self;
        let mut x = vec![0.0; filters.channels * grid.len()];
        for (source, target) in values.chunks_exact(n.len()).zip(x.chunks_exact_mut(grid.len())) {
            for row in 0..n.rows {
                let at = (row + beyond.rows) * grid.columns + beyond.columns;
                target[at..at + n.columns].copy_from_slice(&source[row * n.columns..(row + 1) * n.columns]);
            }
        }
        piecewise::pseudo_inverse(&bank::Bank::with(plan.clone(), filters, grid), &x).0
    }
}

/// What decoding would find out of the data before it begins.
pub(in crate::motifs) fn scale(
    filters: &Filters,
    signals: &Signals,
    decoding: &Decoding,
    progress: &dyn Progress,
) -> Result<Scale> {
    check(filters, signals, decoding)?;
    progress.stage("noise", 0);
    Ok(noise::scale(&mut Banks::new(filters), signals, decoding, progress)?)
}

fn check(filters: &Filters, signals: &Signals, decoding: &Decoding) -> Result<()> {
    if signals.channels().len() != filters.channels {
        let (found, expected) = (signals.channels().len(), filters.channels);
        return Err(Error::WrongShape { what: "channels", found, expected });
    }
    let positive = [
        ("lambda", decoding.lambda),
        ("threshold", decoding.threshold),
        ("tolerance", Some(decoding.tolerance)),
    ];
    for (name, value) in positive {
        if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
            let expected = "a positive number".into();
            return Err(Error::BadParameter { name: name.into(), value: value.to_string(), expected });
        }
    }
    Ok(())
}

/// A variance that grows part by part. What lies far from 0 keeps its digits, and values that are all one have the variance 0, where the
/// difference of E\[x²\] and E\[x\]² leaves rounding.
#[derive(Default)]
struct Spread {
    count: f64,
    mean: f64,
    /// Σ (x − mean)².
    squares: f64,
}

impl Spread {
    fn add(&mut self, values: impl Iterator<Item = f64> + Clone) {
        let Some(first) = values.clone().next() else { return };
        let (count, sum) = values.clone().fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + (x - first)));
        let mean = first + sum / count;
        let squares = values.map(|x| (x - mean).powi(2)).sum::<f64>();
        if self.count == 0.0 {
            *self = Self { count, mean, squares };
            return;
        }
        // Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983.
        let (all, apart) = (self.count + count, mean - self.mean);
        self.squares += squares + apart * apart * self.count * count / all;
        self.mean += apart * count / all;
        self.count = all;
    }

    fn variance(&self) -> f64 {
        self.squares / self.count.max(1.0)
    }
}

#[cfg(test)]
mod tests;
