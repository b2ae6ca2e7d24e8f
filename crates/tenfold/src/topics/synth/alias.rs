//! Draws from a fixed distribution in constant time.

use rand::RngExt;
use tenfold_engine::linalg::random::Rng;

/// Walker's alias table: bin i keeps its own word with probability `keep`, and gives `other` else.
#[derive(Debug, Clone)]
pub(super) struct Alias {
    bins: Vec<(f32, u32)>,
}

impl Alias {
    /// The table of weights that need not sum to one (Vose's construction).
    pub(super) fn new(weights: &[f64]) -> Self {
        let n = weights.len();
        let total: f64 = weights.iter().sum();
        let mut scaled: Vec<f64> = weights.iter().map(|w| w * n as f64 / total).collect();
        let mut bins: Vec<(f32, u32)> = (0..n as u32).map(|i| (1.0, i)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| scaled[i] < 1.0);
        while let (Some(low), Some(&high)) = (small.pop(), large.last()) {
            bins[low] = (scaled[low] as f32, high as u32);
            scaled[high] -= 1.0 - scaled[low];
            if scaled[high] < 1.0 {
                small.push(high);
                large.pop();
            }
        }
        Self { bins }
    }

    /// One draw.
    pub(super) fn draw(&self, rng: &mut Rng) -> u32 {
        // One random number serves twice: the whole part of u·n is the bin, the rest decides inside it.
        let product = u128::from(rng.random::<u64>()) * self.bins.len() as u128;
        let (bin, rest) = ((product >> 64) as usize, product as u64);
        let (keep, other) = self.bins[bin];
        if ((rest >> 40) as f32) < keep * (1u64 << 24) as f32 { bin as u32 } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::random;

    #[test]
    fn draws_come_as_often_as_their_weights_say() {
        let weights = [0.5, 0.0, 3.0, 1e-9, 1.5, 5.0];
        let table = Alias::new(&weights);
        let mut rng = random::rng(1, 0);
        let n = 200_000;
        let mut counts = [0.0; 6];
        (0..n).for_each(|_| counts[table.draw(&mut rng) as usize] += 1.0);
        for (count, weight) in counts.iter().zip(weights) {
            let p = weight / 10.0;
            // Five standard errors of a binomial count.
            assert!((count / n as f64 - p).abs() <= 5.0 * (p / n as f64).sqrt(), "{counts:?}");
        }
        assert_eq!(counts[1], 0.0);
    }
}
