//! What motifs look like.

use crate::motifs::extent::Extent;
use crate::motifs::filters::Filters;
use rand::RngExt;
use std::f64::consts::TAU;
use tenfold_engine::linalg::random::{self, Rng};

/// What motifs look like; all have unit norm over their channels together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Independent Gaussian taps.
    Gaussian,
    /// A smooth wave under a bell (Gabor): its middle, width, frequency and phase are drawn, in every channel another phase
    /// and height.
    Smooth,
}

impl Shape {
    pub(super) fn draw(self, motifs: usize, channels: usize, length: Extent, rng: &mut Rng) -> Filters {
        let mut values = Vec::with_capacity(motifs * channels * length.len());
        for _ in 0..motifs {
            let begin = values.len();
            match self {
                Self::Gaussian => {
                    values.extend((0..channels * length.len()).map(|_| random::normal(rng)));
                }
                Self::Smooth => smooth(channels, length, rng, &mut values),
            }
            let norm = values[begin..].iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            values[begin..].iter_mut().for_each(|x| *x /= norm);
        }
        Filters::new(values, channels, length)
    }
}

/// The middle, the width and the frequency along one side.
fn along(length: usize, rng: &mut Rng) -> [f64; 3] {
    let m = length as f64;
    let middle = rng.random_range(0.35..0.65) * m;
    [middle, rng.random_range(0.12..0.25) * m, rng.random_range(0.5..4.5) / m]
}

fn smooth(channels: usize, length: Extent, rng: &mut Rng, values: &mut Vec<f64>) {
    let [middle, width, frequency] = along(length.columns, rng);
    let [row, height, slant] = if length.is_plane() { along(length.rows, rng) } else { [0.0, 1.0, 0.0] };
    for _ in 0..channels {
        let phase = rng.random_range(0.0..TAU);
        // A channel alone has its height by the norm.
        let scale = if channels > 1 { random::normal(rng) } else { 1.0 };
        for r in 0..length.rows {
            for t in 0..length.columns {
                let (y, x) = (r as f64 - row, t as f64 - middle);
                let bell = (-(x / width).powi(2) / 2.0 - (y / height).powi(2) / 2.0).exp();
                values.push(scale * bell * (TAU * (frequency * x + slant * y) + phase).cos());
            }
        }
    }
}
