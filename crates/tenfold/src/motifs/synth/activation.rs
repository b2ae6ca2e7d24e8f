//! How motifs fire.

use crate::error::{Error, Result};
use rand::RngExt;
use rand_distr::{Distribution, Poisson};
use tenfold_engine::linalg::random::{self, Rng};

/// The distribution of an activation, independent at every place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// A Poisson number of firings of amplitude 1, with this mean.
    Poisson(f64),
    /// Everywhere, with an exponential amplitude of mean 1.
    Exponential,
    /// With this probability, with an exponential amplitude of mean 1.
    BernoulliExponential(f64),
    /// With this probability, with a Gaussian amplitude of mean 0 and deviation 1.
    BernoulliGaussian(f64),
}

impl Activation {
    /// The cumulant of order 1 to 4 of one activation.
    ///
    /// # Panics
    /// For another order.
    ///
    /// # Example
    /// ```
    /// use tenfold::motifs::Activation;
    /// assert_eq!(Activation::Exponential.cumulant(3), 2.0);
    /// assert_eq!(Activation::BernoulliGaussian(0.1).cumulant(3), 0.0);
    /// ```
    pub fn cumulant(self, order: usize) -> f64 {
        // Moments of orders 1 to 4; those of a Poisson number are not needed, as its cumulants are all the mean.
        let [a, b, c, d] = match self {
            Self::Poisson(mean) => return mean,
            Self::Exponential => [1.0, 2.0, 6.0, 24.0],
            Self::BernoulliExponential(p) => [p, 2.0 * p, 6.0 * p, 24.0 * p],
            Self::BernoulliGaussian(p) => [0.0, p, 0.0, 3.0 * p],
        };
        match order {
            1 => a,
            2 => b - a * a,
            3 => c - 3.0 * a * b + 2.0 * a.powi(3),
            4 => d - 4.0 * a * c - 3.0 * b * b + 12.0 * a * a * b - 6.0 * a.powi(4),
            _ => panic!("cumulants of orders 1 to 4 are known"),
        }
    }

    pub(super) fn check(self) -> Result<()> {
        let (value, most) = match self {
            Self::Poisson(mean) => (mean, 1e6),
            Self::Exponential => return Ok(()),
            Self::BernoulliExponential(p) | Self::BernoulliGaussian(p) => (p, 1.0),
        };
        if value > 0.0 && value <= most {
            return Ok(());
        }
        let expected = format!("above 0 and at most {most}");
        Err(Error::BadParameter { name: "activity".into(), value: value.to_string(), expected })
    }

    /// Calls `fire` with every place of `0..places` that is active, in order, and its amplitude.
    pub(super) fn draw(self, places: usize, rng: &mut Rng, mut fire: impl FnMut(usize, f64)) {
        match self {
            Self::Poisson(mean) => {
                // Their number in all is Poisson too, and given it places are independent: no draw for each place.
                let total = mean * places as f64;
                let count = Poisson::new(total).map_or(0.0, |law| law.sample(rng)) as usize;
                let mut fired: Vec<usize> = (0..count).map(|_| rng.random_range(0..places)).collect();
                fired.sort_unstable();
                fired.chunk_by(|a, b| a == b).for_each(|same| fire(same[0], same.len() as f64));
            }
            Self::Exponential => (0..places).for_each(|place| fire(place, exponential(rng))),
            Self::BernoulliExponential(p) => hits(p, places, rng, |place, rng| fire(place, exponential(rng))),
            Self::BernoulliGaussian(p) => {
                hits(p, places, rng, |place, rng| fire(place, random::normal(rng)));
            }
        }
    }
}

/// Places that are hit with probability p, by the geometric number of those that are passed over.
fn hits(p: f64, places: usize, rng: &mut Rng, mut hit: impl FnMut(usize, &mut Rng)) {
    let mut place = 0.0;
    loop {
        if p < 1.0 {
            place += ((1.0 - rng.random::<f64>()).ln() / (-p).ln_1p()).floor();
        }
        // Also ends when the number is infinite.
        if place >= places as f64 {
            return;
        }
        hit(place as usize, rng);
        place += 1.0;
    }
}

fn exponential(rng: &mut Rng) -> f64 {
    // Open at 0, so that the logarithm is finite.
    -(1.0 - rng.random::<f64>()).ln()
}
