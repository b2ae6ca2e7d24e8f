//! Critical values of the χ² distribution, kept by degrees of freedom because many pairs share them.

use statrs::function::gamma::checked_gamma_ur;
use std::collections::BTreeMap;

/// The value that χ² exceeds with a given probability.
pub(super) struct Critical {
    probability: f64,
    known: BTreeMap<usize, f64>,
}

impl Critical {
    pub fn new(probability: f64) -> Self {
        Self { probability, known: BTreeMap::new() }
    }

    /// For so many degrees of freedom; 0 for none.
    pub fn of(&mut self, degrees: usize) -> f64 {
        if degrees == 0 {
            return 0.0;
        }
        let probability = self.probability;
        *self.known.entry(degrees).or_insert_with(|| {
            // The upper tail itself is compared, so that small probabilities keep their digits.
            let above =
                |x: f64| checked_gamma_ur(degrees as f64 / 2.0, x / 2.0).is_ok_and(|p| p > probability);
            let mut high = degrees as f64 + 10.0;
            while above(high) {
                high *= 2.0;
            }
            let mut low = 0.0;
            for _ in 0..80 {
                let middle = (low + high) / 2.0;
                if above(middle) { low = middle } else { high = middle }
            }
            high
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_tables() {
        let mut critical = Critical::new(0.01);
        assert!((critical.of(1) - 6.6349).abs() < 1e-4 && (critical.of(30) - 50.8922).abs() < 1e-4);
        // Far out, for many degrees of freedom, it stays finite and grows: Wilson and Hilferty's cube as a yardstick.
        let mut far = Critical::new(1e-12);
        let (z, d) = (7.0345f64, 961.0f64);
        let cube = d * (1.0 - 2.0 / (9.0 * d) + z * (2.0 / (9.0 * d)).sqrt()).powi(3);
        assert!((far.of(961) / cube - 1.0).abs() < 1e-3, "{} {cube}", far.of(961));
    }
}
