//! Seeded randomness: the same numbers on every machine and for every number of threads.

use super::{Mat, polar};
use crate::error::Result;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// The generator used everywhere. ChaCha8 is portable and has independent streams.
pub type Rng = ChaCha8Rng;

/// The generator for `seed`; different `stream`s of one seed are independent.
///
/// # Example
/// ```
/// use rand::RngExt;
/// use tenfold_engine::linalg::random::rng;
/// assert_eq!(rng(7, 0).random::<u64>(), rng(7, 0).random::<u64>());
/// assert_ne!(rng(7, 0).random::<u64>(), rng(7, 1).random::<u64>());
/// ```
pub fn rng(seed: u64, stream: u64) -> Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// One standard normal number.
pub fn normal(rng: &mut Rng) -> f64 {
    rng.sample(StandardNormal)
}

/// A matrix of independent standard normal numbers.
pub fn gaussian(rows: usize, cols: usize, rng: &mut Rng) -> Mat {
    Mat::from_fn(rows, cols, |_, _| normal(rng))
}

/// A matrix with orthonormal columns, uniformly distributed (Haar).
///
/// # Errors
/// None in practice: a Gaussian matrix always has a polar factor.
pub fn orthogonal(rows: usize, cols: usize, rng: &mut Rng) -> Result<Mat> {
    polar(&gaussian(rows, cols, rng))
}

/// A point on the unit sphere.
pub fn sphere(dim: usize, rng: &mut Rng) -> Vec<f64> {
    let mut v: Vec<f64> = (0..dim).map(|_| normal(rng)).collect();
    let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    v.iter_mut().for_each(|x| *x /= norm);
    v
}

/// A random order of 0..n.
pub fn permutation(n: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}
