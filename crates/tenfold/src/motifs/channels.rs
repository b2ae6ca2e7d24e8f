//! Many channels seen through few: the directions in which channels vary most together.

use super::data::{Signals, Stretch};
use super::filters::Filters;
use super::moments::centres;
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::parallel::add_assign;
use tenfold_engine::linalg::{Mat, eigen_symmetric};

/// Channels that the cumulants are taken of: their size grows with the fourth power.
pub(super) const MOST: usize = 3;

/// Signals in fewer channels, and the way back.
pub(super) struct Reduced {
    pub signals: Signals,
    /// Channels × directions, orthonormal columns.
    basis: Mat,
    /// Share of the variance that is kept.
    pub kept: f64,
}

impl Reduced {
    /// The leading [`MOST`] principal directions of the channels; nothing when there are no more channels than that.
    pub fn of(signals: &Signals) -> Result<Option<Self>> {
        let channels = signals.channels().len();
        if channels <= MOST {
            return Ok(None);
        }
        let centre = centres(signals);
        let sums: Vec<Vec<f64>> =
            signals.stretches().par_iter().map(|stretch| products(stretch, &centre)).collect();
        let mut covariance = vec![0.0; channels * channels];
        sums.iter().for_each(|sum| add_assign(&mut covariance, sum));
        let eigen = eigen_symmetric(&Mat::from_vec(channels, channels, covariance))?;
        let total: f64 = eigen.values.iter().sum();
        let kept = eigen.values[..MOST].iter().sum::<f64>() / total.max(f64::MIN_POSITIVE);
        let basis = eigen.vectors.first_cols(MOST);
        let stretches = signals.stretches().par_iter().map(|stretch| through(stretch, &basis)).collect();
        let names = (1..=MOST).map(|i| format!("direction {i}")).collect();
        let signals = Signals::new(stretches, names, signals.rate(), signals.is_cyclic());
        Ok(Some(Self { signals, basis, kept }))
    }

    /// Motifs of the directions as motifs of the channels.
    pub fn back(&self, filters: &Filters) -> Filters {
        let one = filters.extent.len();
        let mut values = Vec::with_capacity(filters.count() * self.basis.rows() * one);
        for l in 0..filters.count() {
            for channel in 0..self.basis.rows() {
                values.extend((0..one).map(|t| {
                    (0..MOST).map(|d| self.basis[(channel, d)] * filters.channel(l, d)[t]).sum::<f64>()
                }));
            }
        }
        Filters::new(values, self.basis.rows(), filters.extent)
    }
}

fn products(stretch: &Stretch, centre: &[f64]) -> Vec<f64> {
    let (channels, n) = (centre.len(), stretch.extent.len());
    let mut sum = vec![0.0; channels * channels];
    for c in 0..channels {
        for d in 0..channels {
            let (x, y) = (&stretch.values[c * n..(c + 1) * n], &stretch.values[d * n..(d + 1) * n]);
            sum[c * channels + d] = x.iter().zip(y).map(|(x, y)| (x - centre[c]) * (y - centre[d])).sum();
        }
    }
    sum
}

fn through(stretch: &Stretch, basis: &Mat) -> Stretch {
    let n = stretch.extent.len();
    let mut values = vec![0.0; basis.cols() * n];
    for (direction, target) in values.chunks_exact_mut(n).enumerate() {
        for channel in 0..basis.rows() {
            let weight = basis[(channel, direction)];
            let source = &stretch.values[channel * n..(channel + 1) * n];
            target.iter_mut().zip(source).for_each(|(t, s)| *t += weight * s);
        }
    }
    Stretch { values, ..*stretch }
}
