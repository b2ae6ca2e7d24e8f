//! Signals and images: what motifs are sought in.

use super::extent::Extent;

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
