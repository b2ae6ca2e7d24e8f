//! The rates of edges under a model.

use super::Model;
use tenfold_engine::linalg::Tall;

/// Rates as the likelihood has them: θ_uc = π_uc · explained_u / √(edges that c explains), and a background by degrees.
pub(super) struct Rates<'a> {
    model: &'a Model,
    /// 1/√(edges that each community explains).
    roots: Vec<f64>,
    /// Σ_v φ_vc.
    pub column_rates: Vec<f64>,
    /// Rate of the background between two edges' ends.
    ends: f64,
}

impl<'a> Rates<'a> {
    pub fn new(model: &'a Model) -> Self {
        let k = model.k();
        let mut totals = vec![0.0; k];
        for u in 0..model.nodes() {
            let own = model.explained[u];
            totals.iter_mut().zip(model.memberships().row(u)).for_each(|(t, x)| *t += own * f64::from(*x));
        }
        let all: f64 = model.strengths.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let roots: Vec<f64> = totals.iter().map(|t| if *t > 0.0 { 1.0 / t.sqrt() } else { 0.0 }).collect();
        let mut rates =
            Self { model, roots, column_rates: vec![0.0; k], ends: model.background.unwrap_or(0.0) / all };
        let mut sums = vec![0.0; k];
        for v in 0..model.leaves().rows() {
            sums.iter_mut().zip(rates.of_other(v)).for_each(|(s, x)| *s += x);
        }
        rates.column_rates = sums;
        rates
    }

    fn of(&self, u: usize) -> Vec<f64> {
        scaled(self.model.memberships().row(u), self.model.explained[u], &self.roots)
    }

    /// φ_v.
    pub fn of_other(&self, v: usize) -> Vec<f64> {
        let model = self.model;
        let explained = if model.others.is_some() { &model.other_explained } else { &model.explained };
        scaled(model.leaves().row(v), explained[v], &self.roots)
    }

    /// The rate of edges that belong to no community, from a node of this strength to node v.
    pub fn background(&self, strength: f64, v: usize) -> f64 {
        let model = self.model;
        let others = if model.others.is_some() { &model.other_strengths } else { &model.strengths };
        self.ends * strength * others[v]
    }

    /// The probability of an edge.
    pub fn probability(&self, u: usize, v: usize) -> f64 {
        if self.model.diagnostics.dense {
            let p = &self.model.connectivity;
            let (a, b) = (self.model.memberships().row(u), self.model.leaves().row(v));
            let rate = |i: usize| {
                f64::from(a[i]) * p.row(i).iter().zip(b).map(|(x, y)| x * f64::from(*y)).sum::<f64>()
            };
            return (0..a.len()).map(rate).sum::<f64>().clamp(0.0, 1.0);
        }
        let inside: f64 = self.of(u).iter().zip(self.of_other(v)).map(|(a, b)| a * b).sum();
        let rate = inside + self.background(self.model.strengths[u], v);
        -(-rate).exp_m1()
    }
}

impl Model {
    /// Memberships of the nodes that edges go to.
    pub(super) fn leaves(&self) -> &Tall {
        self.other_memberships().unwrap_or(self.memberships())
    }
}

fn scaled(memberships: &[f32], explained: f64, roots: &[f64]) -> Vec<f64> {
    memberships.iter().zip(roots).map(|(m, r)| f64::from(*m) * explained * r).collect()
}
