//! Signals whose samples know nothing of each other, and have tails or rare spikes.

use rand::RngExt;
use tenfold::engine::linalg::random::{Rng, normal, rng};
use tenfold::motifs::{Extent, Signals, Stretch};

/// What every sample is drawn from.
#[derive(Debug, Clone, Copy)]
pub enum Law {
    Laplace,
    Exponential,
    /// Counts with this mean, about 1 or less.
    Poisson(f64),
    /// 1 with this probability, else 0.
    Spikes(f64),
    /// The square of a normal number.
    Square,
    /// Normal, one in twenty five times as wide.
    Mixture,
}

impl Law {
    fn draw(self, rng: &mut Rng) -> f64 {
        let even: f64 = rng.random::<f64>().max(1e-300);
        match self {
            Self::Laplace if rng.random::<f64>() < 0.5 => even.ln(),
            Self::Laplace | Self::Exponential => -even.ln(),
            Self::Poisson(mean) => {
                let (mut count, mut product, end) = (0.0, even, (-mean).exp());
                while product > end {
                    count += 1.0;
                    product *= rng.random::<f64>();
                }
                count
            }
            Self::Spikes(share) => f64::from(even < share),
            Self::Square => normal(rng).powi(2),
            Self::Mixture => normal(rng) * if even < 0.05 { 5.0 } else { 1.0 },
        }
    }
}

pub fn signals(law: Law, windows: usize, window: Extent, channels: usize, seed: u64) -> Signals {
    let mut rng = rng(seed, 916);
    let stretches = (0..windows).map(|trial| {
        let values = (0..channels * window.len()).map(|_| law.draw(&mut rng)).collect();
        Stretch { values, extent: window, trial, offset: 0 }
    });
    Signals::new(stretches.collect(), (0..channels).map(|c| c.to_string()).collect(), None, false)
}
