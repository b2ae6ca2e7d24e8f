//! What a model keeps of its signals for the page: an excerpt, what it was rebuilt as, and where motifs fired.

use super::data::{Signals, Stretch};
use super::decode::{Decoding, decode_each};
use super::events::Event;
use super::extent::Extent;
use super::filters::Filters;
use crate::error::{Error, Result};
use crate::model_file::{ModelFile, count, index, whole};
use serde_json::{Value, json};
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::Progress;

/// An excerpt of the signals with the firings in it, and firings over a longer part.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picture {
    /// The excerpt, channel after channel.
    pub signal: Vec<f64>,
    /// What the firings in it add up to.
    pub rebuilt: Vec<f64>,
    /// How far the excerpt reaches.
    pub extent: Option<Extent>,
    /// Where it begins in its trial, in samples.
    pub begin: usize,
    /// Firings of the part that was decoded, in time; starts are counted from the beginning of the part.
    pub events: Vec<Event>,
    /// Samples of the part that was decoded.
    pub samples: usize,
    /// Share of the part's variance that the firings explain.
    pub explained: f64,
    /// Standard deviation of the noise.
    pub noise: f64,
    /// The penalty and the least amplitude that were used.
    pub lambda: f64,
    /// See `lambda`.
    pub threshold: f64,
}

/// Samples of the part that is decoded at the end of a fit: enough for thousands of firings, a second or two of work.
const PART: usize = 40_000;

/// Samples of the excerpt, along each side.
const EXCERPT: Extent = Extent { rows: 128, columns: 2_000 };

/// Firings that are kept.
const EVENTS: usize = 20_000;

impl Picture {
    /// Decodes the beginning of the signals and keeps the excerpt with most variance; also the mean of what the firings leave of
    /// every channel.
    pub(super) fn of(
        signals: &Signals,
        centres: &[f64],
        filters: &Filters,
        decoding: &Decoding,
        progress: &dyn Progress,
    ) -> Result<(Self, Vec<f64>)> {
        let part = beginning(signals).less(centres);
        let mut left = vec![0.0; centres.len()];
        let mut picture = Self { samples: part.samples(), ..Self::default() };
        let (mut before, mut most) = (0, -1.0);
        let decoded = decode_each(filters, &part, decoding, progress, &mut |stretch, found| {
            let n = stretch.extent.len().max(1);
            let channels = stretch.values.chunks_exact(n).zip(found.reconstruction.chunks_exact(n));
            for (sum, (values, drawn)) in left.iter_mut().zip(channels) {
                *sum += values.iter().zip(drawn).map(|(x, y)| x - y).sum::<f64>();
            }
            for event in found.events {
                if picture.events.len() < EVENTS {
                    let start = event.start - stretch.offset as i64 + before as i64;
                    picture.events.push(Event { start, ..event });
                }
            }
            let (signal, rebuilt, extent, begin) = excerpt(stretch, &found.reconstruction);
            let variance = signal.iter().map(|x| x * x).sum::<f64>() / signal.len().max(1) as f64;
            // The first stretch unless it is shorter than an excerpt and a later one is livelier.
            if most < 0.0 || stretch.extent.columns < EXCERPT.columns && variance > most {
                most = variance;
                (picture.signal, picture.rebuilt) = (signal, rebuilt);
                (picture.extent, picture.begin) = (Some(extent), before + begin);
            }
            before += stretch.extent.columns;
            Ok(())
        })?;
        picture.explained = decoded.explained;
        picture.noise = decoded.noise;
        (picture.lambda, picture.threshold) = (decoded.lambda, decoded.threshold);
        left.iter_mut().for_each(|sum| *sum /= picture.samples.max(1) as f64);
        Ok((picture, left))
    }

    /// Firings of every motif per sample of the part that was decoded.
    pub fn firings(&self, motifs: usize) -> Vec<Option<f64>> {
        if self.samples == 0 {
            return vec![None; motifs];
        }
        let mut counts = vec![0.0; motifs];
        self.events.iter().for_each(|event| counts[event.motif] += 1.0);
        counts.into_iter().map(|count| Some(count / self.samples as f64)).collect()
    }

    pub(super) fn store(&self, file: &mut ModelFile) {
        file.metadata["picture"] = json!({
            "rows": self.extent.map(|extent| extent.rows),
            "columns": self.extent.map(|extent| extent.columns),
            "begin": self.begin,
            "samples": self.samples,
            "explained": self.explained,
            "noise": self.noise,
            "lambda": self.lambda,
            "threshold": self.threshold,
        });
        file.insert_vector("excerpt", &self.signal);
        file.insert_vector("excerpt_rebuilt", &self.rebuilt);
        let events = self
            .events
            .iter()
            .flat_map(|e| [e.trial as f64, e.row as f64, e.start as f64, e.motif as f64, e.amplitude]);
        file.insert_matrix("events", &Mat::from_vec(self.events.len(), 5, events.collect()));
    }

    pub(super) fn restore(file: &ModelFile, channels: usize, motifs: usize) -> Result<Self> {
        let facts: &Value = &file.metadata["picture"];
        let damaged = || Error::Model {
            path: file.path().into(),
            problem: "its excerpt of the signals does not fit".into(),
            remedy: "fit the model again".into(),
        };
        let fact = |name: &str| count(&facts[name]).map(|value| value as usize);
        let extent = fact("rows").zip(fact("columns")).map(|(rows, columns)| Extent { rows, columns });
        let (signal, rebuilt) = (file.vector("excerpt")?, file.vector("excerpt_rebuilt")?);
        let size = extent.map_or(Some(0), |e| e.rows.checked_mul(e.columns)?.checked_mul(channels));
        let events = file.matrix("events")?;
        if size != Some(signal.len())
            || rebuilt.len() != signal.len()
            || (events.rows() > 0 && events.cols() != 5)
        {
            return Err(damaged());
        }
        let event = |i: usize| {
            let &[trial, row, start, motif, amplitude] = events.row(i) else { return None };
            Some(Event {
                trial: index(trial, usize::MAX)?,
                row: whole(row)?,
                start: whole(start)?,
                motif: index(motif, motifs)?,
                amplitude,
            })
        };
        Ok(Self {
            signal,
            rebuilt,
            extent,
            begin: fact("begin").unwrap_or(0),
            events: (0..events.rows()).map(event).collect::<Option<_>>().ok_or_else(damaged)?,
            samples: fact("samples").unwrap_or(0),
            explained: facts["explained"].as_f64().unwrap_or(0.0),
            noise: facts["noise"].as_f64().unwrap_or(0.0),
            lambda: facts["lambda"].as_f64().unwrap_or(0.0),
            threshold: facts["threshold"].as_f64().unwrap_or(0.0),
        })
    }
}

/// The first stretches, or the beginning of the first.
fn beginning(signals: &Signals) -> Signals {
    let mut stretches = Vec::new();
    let mut samples = 0;
    for stretch in signals.stretches() {
        if samples >= PART {
            break;
        }
        let columns = stretch.extent.columns.min((PART - samples).div_ceil(stretch.extent.rows).max(1));
        let whole = signals.is_cyclic() || columns == stretch.extent.columns;
        stretches.push(if whole { stretch.clone() } else { cut(stretch, 0, columns) });
        samples += stretch.extent.rows * columns;
    }
    Signals::new(stretches, signals.channels().to_vec(), signals.rate(), signals.is_cyclic())
}

/// Columns of a stretch.
fn cut(stretch: &Stretch, begin: usize, columns: usize) -> Stretch {
    let extent = Extent { rows: stretch.extent.rows, columns };
    let values = stretch.values.chunks_exact(stretch.extent.columns);
    let values = values.flat_map(|row| row[begin..begin + columns].iter().copied()).collect();
    Stretch { values, extent, trial: stretch.trial, offset: stretch.offset + begin }
}

/// The part of a stretch that fits the page, in the middle of it: beginnings of recordings are often unlike the rest.
fn excerpt(stretch: &Stretch, rebuilt: &[f64]) -> (Vec<f64>, Vec<f64>, Extent, usize) {
    let extent = Extent {
        rows: stretch.extent.rows.min(EXCERPT.rows),
        columns: stretch.extent.columns.min(if stretch.extent.is_plane() {
            EXCERPT.rows
        } else {
            EXCERPT.columns
        }),
    };
    let begin = (stretch.extent.columns - extent.columns) / 2;
    let window = |values: &[f64]| -> Vec<f64> {
        let channels = values.chunks_exact(stretch.extent.len());
        let rows =
            channels.flat_map(|channel| channel.chunks_exact(stretch.extent.columns).take(extent.rows));
        rows.flat_map(|row| row[begin..begin + extent.columns].iter().copied()).collect()
    };
    (window(&stretch.values), window(rebuilt), extent, begin)
}
