//! Distances and their variances as dense rows, for loops that look at them millions of times.

use super::super::distances::Distances;
use crate::error::{Error, Result};

/// A distance and a variance for every pair.
#[derive(Debug, Clone)]
pub(crate) struct Pairs {
    count: usize,
    /// Whether there are no blocks to see errors by.
    exact: bool,
    distance: Vec<f64>,
    variance: Vec<f64>,
}

impl Pairs {
    /// From distances with their jackknife. A correlation has about the same error everywhere, so the variance of its logarithm
    /// grows as exp 2d: that law stands in where there are too few blocks to see errors.
    ///
    /// # Errors
    /// When a distance is not a number.
    pub(crate) fn new(distances: &Distances) -> Result<Self> {
        let count = distances.count();
        let zeros = vec![0.0; count * count];
        let exact = distances.blocks() < 2;
        let mut pairs = Self { count, exact, distance: zeros.clone(), variance: zeros };
        for i in 0..count {
            for j in i + 1..count {
                let d = distances.between(i, j);
                if !d.is_finite() {
                    return Err(Error::Unfit {
                        problem: format!("the distance of variables {i} and {j} is {d}"),
                        remedy: "leave out constant variables, and learn independent ones apart".into(),
                    });
                }
                let v = if exact { 0.0 } else { distances.error(i, j).powi(2) };
                for at in [i * count + j, j * count + i] {
                    pairs.distance[at] = d;
                    pairs.variance[at] = v;
                }
            }
        }
        pairs.smooth(distances.blocks());
        Ok(pairs)
    }

    /// Variances from a few blocks are rough. They are drawn to the law v = exp(a + b d), with as much weight as the blocks have
    /// degrees of freedom.
    fn smooth(&mut self, blocks: usize) {
        let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (&d, &v) in self.distance.iter().zip(&self.variance) {
            if v > 1e-20 {
                let v = v.ln();
                (n, x, y, xx, xy) = (n + 1.0, x + d, y + v, xx + d * d, xy + d * v);
            }
        }
        let spread = n * xx - x * x;
        let (a, b) = if !self.exact && n > 0.0 && spread > 1e-9 * n * n {
            let b = ((n * xy - x * y) / spread).max(0.0);
            ((y - b * x) / n, b)
        } else {
            (0.0, 2.0)
        };
        let free = blocks.saturating_sub(1) as f64;
        for (&d, v) in self.distance.iter().zip(&mut self.variance) {
            let law = (a + b * d).min(600.0).exp();
            *v = (PRIOR * law + free * *v) / (PRIOR + free);
        }
    }

    /// How many variables.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The distance of two variables.
    #[inline]
    pub(crate) fn distance(&self, i: usize, j: usize) -> f64 {
        self.distance[i * self.count + j]
    }

    /// Its variance.
    #[inline]
    pub(crate) fn variance(&self, i: usize, j: usize) -> f64 {
        self.variance[i * self.count + j]
    }

    /// Its standard error; 0 where no blocks show it.
    pub(crate) fn error(&self, i: usize, j: usize) -> f64 {
        if self.exact { 0.0 } else { self.variance(i, j).sqrt() }
    }

    /// Distances from one variable.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.distance[i * self.count..(i + 1) * self.count]
    }
}

/// Degrees of freedom that the law of variances counts for.
const PRIOR: f64 = 8.0;
