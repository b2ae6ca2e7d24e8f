//! Motifs as arrays.

use super::extent::Extent;

/// L motifs, each `channels × extent` numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Filters {
    /// Motif after motif; within a motif channel after channel; within a channel row after row.
    pub values: Vec<f64>,
    /// Channels of a motif.
    pub channels: usize,
    /// How far a motif reaches.
    pub extent: Extent,
}

crate::checkpoint::keep! { Filters { values, channels, extent } }

impl Filters {
    /// Motifs from their numbers.
    ///
    /// # Panics
    /// When `values` is not a whole number of motifs.
    pub fn new(values: Vec<f64>, channels: usize, extent: Extent) -> Self {
        assert_eq!(values.len() % (channels * extent.len()), 0, "whole motifs");
        Self { values, channels, extent }
    }

    /// How many motifs.
    pub fn count(&self) -> usize {
        self.values.len() / self.size()
    }

    /// Numbers in one motif, over all channels.
    pub fn size(&self) -> usize {
        self.channels * self.extent.len()
    }

    /// Motif l, over all channels.
    pub fn motif(&self, l: usize) -> &[f64] {
        &self.values[l * self.size()..(l + 1) * self.size()]
    }

    /// Motif l in one channel.
    pub fn channel(&self, l: usize, channel: usize) -> &[f64] {
        let one = self.extent.len();
        &self.motif(l)[channel * one..(channel + 1) * one]
    }
}
