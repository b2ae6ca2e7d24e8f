//! Draws signals and images with known motifs: x = Σ f_l ⋆ w_l + noise.

mod activation;
mod shapes;

pub use activation::Activation;
pub use shapes::Shape;

use super::data::{Signals, Stretch};
use super::events::Event;
use super::extent::Extent;
use super::filters::Filters;
use crate::error::{Error, Result};
use rayon::prelude::*;
use tenfold_engine::linalg::parallel::{block_range, sum_blocks};
use tenfold_engine::linalg::random::{self, Rng};
use tenfold_engine::progress::{Progress, Silent};

/// Windows in a block, which has a random stream of its own.
const WINDOWS: usize = 256;

/// Random streams: of the filters, and of the activations and the noise of the first block.
const FILTERS: u64 = 600;
const ACTIVATIONS: u64 = 1 << 32;
const NOISE: u64 = 1 << 40;

/// What to draw: windows of x = Σ_l f_l ⋆ w_l + noise.
///
/// # Example
/// ```
/// use tenfold::motifs::{Extent, Synth};
/// let drawn = Synth { windows: 100, motifs: 3, noise: 0.1, ..Synth::default() }.draw()?;
/// assert_eq!((drawn.signals.samples(), drawn.filters.count()), (6400, 3));
/// let photos = Synth { window: Extent::plane(32, 32), length: Extent::plane(6, 6), windows: 4, ..Synth::default() };
/// assert!(photos.draw()?.signals.stretches()[0].extent.is_plane());
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Synth {
    /// How many windows, recordings or images.
    pub windows: usize,
    /// How far each of them reaches.
    pub window: Extent,
    /// L.
    pub motifs: usize,
    /// How far a motif reaches, at most as far as a window.
    pub length: Extent,
    /// Channels of each window and motif.
    pub channels: usize,
    /// What motifs look like.
    pub shape: Shape,
    /// How motifs fire.
    pub activation: Activation,
    /// Standard deviation of the Gaussian noise, in that of the signal without it.
    pub noise: f64,
    /// Whether a motif that leaves a window at its end comes in again at its beginning. Otherwise motifs also fire before the
    /// beginning, as in a recording that was cut out of a longer one.
    pub cyclic: bool,
    /// Whether the events are kept; there are windows × samples × motifs of them when activations are dense.
    pub keep_events: bool,
    /// Seed.
    pub seed: u64,
}

impl Default for Synth {
    fn default() -> Self {
        Self {
            windows: 10_000,
            window: Extent::line(64),
            motifs: 4,
            length: Extent::line(16),
            channels: 1,
            shape: Shape::Gaussian,
            activation: Activation::Poisson(0.1),
            noise: 0.0,
            cyclic: true,
            keep_events: true,
            seed: 0,
        }
    }
}

/// Signals with the truth behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The signals.
    pub signals: Signals,
    /// The motifs, of unit norm over all channels.
    pub filters: Filters,
    /// The activations: where motifs fire and how strongly, by trial, motif and place; empty unless they were to be kept.
    pub events: Vec<Event>,
}

impl Synth {
    /// Draws motifs, activations and noise. The same seed gives the same bytes on any number of threads.
    ///
    /// # Complexity
    /// O(number of events × numbers in a motif).
    ///
    /// # Errors
    /// Numbers that are 0 or out of range, and motifs longer than their windows.
    pub fn draw(&self) -> Result<Drawn> {
        self.draw_with(&Silent)
    }

    /// [`Synth::draw`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Synth::draw`], and when the listener stops it.
    pub fn draw_with(&self, progress: &dyn Progress) -> Result<Drawn> {
        self.check()?;
        let filters =
            self.shape.draw(self.motifs, self.channels, self.length, &mut random::rng(self.seed, FILTERS));
        progress.stage("drawing", self.windows as u64);
        let blocks = self.windows.div_ceil(WINDOWS);
        let drawn = (0..blocks).into_par_iter().with_max_len(1).map(|b| self.block(b, &filters, progress));
        let drawn: Vec<(Vec<Stretch>, Vec<Event>)> = drawn.collect::<Result<_>>()?;
        let (mut stretches, mut events) = (Vec::with_capacity(self.windows), Vec::new());
        for (mut windows, mut fired) in drawn {
            stretches.append(&mut windows);
            events.append(&mut fired);
        }
        if self.noise > 0.0 {
            self.add_noise(&mut stretches, progress)?;
        }
        let channels = (0..self.channels).map(|c| c.to_string()).collect();
        Ok(Drawn { signals: Signals::new(stretches, channels, None, self.cyclic), filters, events })
    }

    fn check(&self) -> Result<()> {
        let refuse = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        let told = |extent: Extent| format!("{} × {}", extent.rows, extent.columns);
        if self.windows == 0 || self.motifs == 0 || self.channels == 0 || self.window.is_empty() {
            return refuse(
                "windows, motifs, channels and samples",
                "0".into(),
                "at least 1 of each is needed",
            );
        }
        if self.length.is_empty() || !self.window.holds(self.length) {
            return refuse(
                "length",
                told(self.length),
                &format!("from 1 to that of a window, {}", told(self.window)),
            );
        }
        if !(self.noise.is_finite() && self.noise >= 0.0) {
            return refuse("noise", self.noise.to_string(), "a number of 0 or more");
        }
        self.activation.check()
    }

    /// Where motifs may fire: everywhere in a window and, unless it is closed, so far before it that they reach into it.
    fn places(&self) -> Extent {
        let before = |length: usize| if self.cyclic { 0 } else { length - 1 };
        Extent::plane(
            self.window.rows + before(self.length.rows),
            self.window.columns + before(self.length.columns),
        )
    }

    fn block(
        &self,
        b: usize,
        filters: &Filters,
        progress: &dyn Progress,
    ) -> Result<(Vec<Stretch>, Vec<Event>)> {
        progress.check()?;
        let mut rng = random::rng(self.seed, ACTIVATIONS + b as u64);
        let windows = block_range(b, self.windows, WINDOWS);
        let (size, places) = (self.channels * self.window.len(), self.places());
        let (ahead_rows, ahead) = (places.rows - self.window.rows, places.columns - self.window.columns);
        let (mut stretches, mut events) = (Vec::with_capacity(windows.len()), Vec::new());
        for trial in windows.clone() {
            let mut values = vec![0.0; size];
            for motif in 0..self.motifs {
                self.activation.draw(places.len(), &mut rng, |place, amplitude| {
                    let row = (place / places.columns) as i64 - ahead_rows as i64;
                    let start = (place % places.columns) as i64 - ahead as i64;
                    self.fire(&mut values, filters, motif, (row, start), amplitude);
                    // An event has no row before the first: images that are cut out begin theirs at the edge.
                    if self.keep_events && row >= 0 {
                        events.push(Event { trial, row, start, motif, amplitude });
                    }
                });
            }
            stretches.push(Stretch { values, extent: self.window, trial, offset: 0 });
        }
        progress.advance(windows.len() as u64);
        Ok((stretches, events))
    }

    /// Adds `amplitude` times a motif that begins at this row and column.
    fn fire(
        &self,
        values: &mut [f64],
        filters: &Filters,
        motif: usize,
        (row, start): (i64, i64),
        amplitude: f64,
    ) {
        let (window, length) = (self.window, self.length);
        for c in 0..self.channels {
            let target = &mut values[c * window.len()..(c + 1) * window.len()];
            for (i, taps) in filters.channel(motif, c).chunks_exact(length.columns).enumerate() {
                let r = row + i as i64;
                let r = if self.cyclic { r.rem_euclid(window.rows as i64) } else { r };
                if r < 0 || r >= window.rows as i64 {
                    continue;
                }
                let line = &mut target[r as usize * window.columns..][..window.columns];
                // Taps before the beginning are lost; those behind the end are lost or come in again.
                let skipped = (-start).max(0) as usize;
                let begin = start.max(0) as usize;
                let inside = (taps.len() - skipped).min(window.columns - begin);
                add(&mut line[begin..begin + inside], &taps[skipped..skipped + inside], amplitude);
                if self.cyclic {
                    add(line, &taps[skipped + inside..], amplitude);
                }
            }
        }
    }

    fn add_noise(&self, stretches: &mut [Stretch], progress: &dyn Progress) -> Result<()> {
        let held: &[Stretch] = stretches;
        let sums = sum_blocks(
            held.len(),
            WINDOWS,
            || [0.0; 2],
            |sums, range| {
                for x in held[range].iter().flat_map(|stretch| &stretch.values) {
                    sums[0] += x;
                    sums[1] += x * x;
                }
                Ok(())
            },
            |total, lane| (0..2).for_each(|i| total[i] += lane[i]),
        )?;
        let count = (held.len() * self.channels * self.window.len()) as f64;
        let deviation = self.noise * (sums[1] / count - (sums[0] / count).powi(2)).max(0.0).sqrt();
        progress.check()?;
        stretches.par_chunks_mut(WINDOWS).enumerate().for_each(|(b, windows)| {
            let mut rng: Rng = random::rng(self.seed, NOISE + b as u64);
            let values = windows.iter_mut().flat_map(|stretch| &mut stretch.values);
            values.for_each(|x| *x += deviation * random::normal(&mut rng));
        });
        Ok(())
    }
}

fn add(target: &mut [f64], taps: &[f64], amplitude: f64) {
    target.iter_mut().zip(taps).for_each(|(x, tap)| *x += amplitude * tap);
}

#[cfg(test)]
mod tests;
