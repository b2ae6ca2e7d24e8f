//! Signals and images: what motifs are sought in.

use super::extent::Extent;
use crate::checkpoint::Digest;
use crate::error::Result;

/// One stretch without gaps: a recording, a trial, a window, an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// Channel after channel; within a channel row after row. channels × extent.len() numbers, all finite.
    pub values: Vec<f64>,
    /// How far each channel reaches.
    pub extent: Extent,
    /// Which trial of the file it belongs to, from 0.
    pub trial: usize,
    /// Where in that trial it begins, in samples; not 0 only behind a gap.
    pub offset: usize,
}

impl Stretch {
    /// The parts without gaps: a signal is cut at every sample that one of its channels lacks; an image, or a window that is
    /// closed to a circle, cannot be cut and is left out.
    pub(super) fn without_gaps(self, channels: usize, cyclic: bool, kept: &mut Vec<Self>) {
        if self.values.iter().all(|x| x.is_finite()) {
            if !self.extent.is_empty() {
                kept.push(self);
            }
        } else if !cyclic && !self.extent.is_plane() {
            self.split(channels, kept);
        }
    }

    /// The runs of samples that all channels have.
    fn split(&self, channels: usize, kept: &mut Vec<Self>) {
        let samples = self.extent.columns;
        let has = |t: usize| (0..channels).all(|c| self.values[c * samples + t].is_finite());
        let mut t = 0;
        while t < samples {
            if !has(t) {
                t += 1;
                continue;
            }
            let begin = t;
            while t < samples && has(t) {
                t += 1;
            }
            let run = |c: usize| &self.values[c * samples + begin..c * samples + t];
            kept.push(Self {
                values: (0..channels).flat_map(run).copied().collect(),
                extent: Extent::line(t - begin),
                trial: self.trial,
                offset: self.offset + begin,
            });
        }
    }
}

/// Signals or images with the same channels; stretches may differ in length.
#[derive(Debug, Clone, PartialEq)]
pub struct Signals {
    stretches: Vec<Stretch>,
    channels: Vec<String>,
    /// Samples a second, where it is known.
    rate: Option<f64>,
    /// Whether a motif that leaves a stretch at its end comes in again at its beginning (the thesis's model).
    cyclic: bool,
}

impl Signals {
    /// What tells these signals from others.
    pub(super) fn identify(&self, digest: &mut Digest) -> Result<()> {
        digest.texts(&self.channels);
        digest.bytes(format!("{:?} {}", self.rate, self.cyclic).as_bytes());
        for stretch in &self.stretches {
            let Stretch { values, extent, trial, offset } = stretch;
            [extent.rows, extent.columns, *trial, *offset].iter().for_each(|x| digest.number(*x as u64));
            digest.doubles(values);
        }
        Ok(())
    }

    /// Stretches with the channels of these names.
    ///
    /// # Panics
    /// When a stretch does not hold channels × extent numbers.
    pub fn new(stretches: Vec<Stretch>, channels: Vec<String>, rate: Option<f64>, cyclic: bool) -> Self {
        for stretch in &stretches {
            assert_eq!(
                stretch.values.len(),
                channels.len() * stretch.extent.len(),
                "channels × extent numbers"
            );
        }
        Self { stretches, channels, rate, cyclic }
    }

    /// Windows of one channel, row after row of `values`; each is one stretch.
    pub fn windows(values: &[f64], samples: usize, cyclic: bool) -> Self {
        assert_eq!(values.len() % samples, 0, "whole windows");
        let stretches = values
            .chunks_exact(samples)
            .enumerate()
            .map(|(trial, row)| Stretch {
                values: row.to_vec(),
                extent: Extent::line(samples),
                trial,
                offset: 0,
            })
            .collect();
        Self::new(stretches, vec!["0".into()], None, cyclic)
    }

    /// The signals cut at every sample that a channel lacks (that is NaN or infinite); images and circles with such a sample are
    /// left out.
    ///
    /// # Example
    /// ```
    /// use tenfold::motifs::Signals;
    /// let signals = Signals::windows(&[1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0], 6, false).without_gaps();
    /// let parts: Vec<_> = signals.stretches().iter().map(|part| (part.offset, part.values.len())).collect();
    /// assert_eq!(parts, [(0, 2), (3, 3)]);
    /// ```
    pub fn without_gaps(self) -> Self {
        let mut kept = Vec::with_capacity(self.stretches.len());
        let (channels, cyclic) = (self.channels.len(), self.cyclic);
        self.stretches.into_iter().for_each(|stretch| stretch.without_gaps(channels, cyclic, &mut kept));
        Self { stretches: kept, ..self }
    }

    /// The stretches, in the order of the file.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Names of the channels.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// Samples a second, where it is known.
    pub fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// Whether stretches are closed to circles.
    pub fn is_cyclic(&self) -> bool {
        self.cyclic
    }

    /// The signals with every channel lowered by a number.
    pub(super) fn less(&self, centres: &[f64]) -> Self {
        let mut lowered = self.clone();
        for stretch in &mut lowered.stretches {
            for (channel, centre) in stretch.values.chunks_exact_mut(stretch.extent.len()).zip(centres) {
                channel.iter_mut().for_each(|value| *value -= centre);
            }
        }
        lowered
    }

    /// Samples of all stretches in one channel.
    pub fn samples(&self) -> usize {
        self.stretches.iter().map(|stretch| stretch.extent.len()).sum()
    }
}
