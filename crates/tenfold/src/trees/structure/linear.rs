//! Weighted sums of distances, whose errors the jackknife gives.

use super::super::distances::Distances;

/// Σ c_ij d_ij.
#[derive(Debug, Clone, Default)]
pub(crate) struct Linear {
    terms: Vec<(usize, usize, f64)>,
}

impl Linear {
    /// Adds `scale` times a distance; that of a variable from itself is 0.
    pub(crate) fn add(&mut self, i: usize, j: usize, scale: f64) {
        if i != j {
            self.terms.push((i.min(j), i.max(j), scale));
        }
    }

    /// Adds up what belongs to one pair, and divides everything by `total`.
    pub(crate) fn close(&mut self, total: f64) {
        self.terms.sort_by_key(|t| (t.0, t.1));
        self.terms.dedup_by(|later, first| {
            let same = (later.0, later.1) == (first.0, first.1);
            if same {
                first.2 += later.2;
            }
            same
        });
        self.terms.iter_mut().for_each(|t| t.2 /= total);
    }

    /// Its variance if distances erred independently: Σ c² v.
    pub(crate) fn spread(&self, variance: impl Fn(usize, usize) -> f64) -> f64 {
        self.terms.iter().map(|&(i, j, c)| c * c * variance(i, j)).sum()
    }

    /// Its value and standard error.
    pub(crate) fn measure(&self, distances: &Distances) -> (f64, f64) {
        distances.weighted(&self.terms)
    }
}
