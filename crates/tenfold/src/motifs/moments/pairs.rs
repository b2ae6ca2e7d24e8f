//! Which frequencies meet: pairs of frequencies by their sum.

use super::super::extent::Extent;
use tenfold_engine::linalg::Complex64;

/// The frequencies of a circle or torus, in several channels.
///
/// A variable is a frequency in a channel: number channel · n + frequency, for n frequencies row after row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lattice {
    pub period: Extent,
    pub channels: usize,
}

impl Lattice {
    /// Frequencies.
    pub fn len(&self) -> usize {
        self.period.len()
    }

    /// Frequencies in all channels.
    pub fn variables(&self) -> usize {
        self.channels * self.len()
    }

    /// a + b, once around.
    pub fn add(&self, a: usize, b: usize) -> usize {
        let Extent { rows, columns } = self.period;
        ((a / columns + b / columns) % rows) * columns + (a % columns + b % columns) % columns
    }

    /// −a.
    pub fn negate(&self, a: usize) -> usize {
        let Extent { rows, columns } = self.period;
        ((rows - a / columns) % rows) * columns + (columns - a % columns) % columns
    }

    /// a − b.
    pub fn subtract(&self, a: usize, b: usize) -> usize {
        self.add(a, self.negate(b))
    }
}

/// The pairs of variables whose frequencies add up to ω.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sum {
    /// ω.
    pub frequency: usize,
    /// 2 where −ω, whose sums are the conjugates, is left out; 1 where ω = −ω.
    pub multiplicity: f64,
    /// Variables p ≤ q; each unordered pair once.
    pub pairs: Vec<(usize, usize)>,
    /// √2 for p ≠ q, so that norms count both orders; 1 for p = q.
    pub weights: Vec<f64>,
}

impl Sum {
    /// u_ω(F)(p, q) = weight · F(p) F(q).
    pub fn products(&self, spectrum: &[Complex64]) -> impl Iterator<Item = Complex64> {
        self.pairs.iter().zip(&self.weights).map(|(&(p, q), weight)| spectrum[p] * spectrum[q] * weight)
    }

    /// How many pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }
}

/// All sums of two frequencies, one of ω and −ω.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pairs {
    pub lattice: Lattice,
    pub sums: Vec<Sum>,
}

impl Pairs {
    pub fn new(lattice: Lattice) -> Self {
        let n = lattice.len();
        let sums = (0..n)
            .filter(|&omega| omega <= lattice.negate(omega))
            .map(|omega| {
                let mut pairs = Vec::new();
                for p in 0..lattice.variables() {
                    let rest = lattice.subtract(omega, p % n);
                    pairs.extend((0..lattice.channels).map(|c| (p, c * n + rest)).filter(|&(p, q)| p <= q));
                }
                let weights =
                    pairs.iter().map(|(p, q)| if p == q { 1.0 } else { std::f64::consts::SQRT_2 }).collect();
                let multiplicity = if omega == lattice.negate(omega) { 1.0 } else { 2.0 };
                Sum { frequency: omega, multiplicity, pairs, weights }
            })
            .collect();
        Self { lattice, sums }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quadruple_of_frequencies_is_counted_once() {
        for (period, channels) in [(Extent::line(6), 1), (Extent::line(5), 2), (Extent::plane(3, 4), 1)] {
            let lattice = Lattice { period, channels };
            let pairs = Pairs::new(lattice);
            let counted: f64 = pairs
                .sums
                .iter()
                .map(|sum| sum.multiplicity * sum.weights.iter().map(|w| w * w).sum::<f64>())
                .sum();
            // Ordered pairs of variables: each has one sum.
            assert_eq!(counted.round() as usize, lattice.variables().pow(2));
            for sum in &pairs.sums {
                for &(p, q) in &sum.pairs {
                    assert_eq!(lattice.add(p % lattice.len(), q % lattice.len()), sum.frequency);
                }
            }
        }
    }
}
