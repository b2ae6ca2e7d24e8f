//! What a fitted model does: links, bridges, leading members, and a page of text.

use super::super::data::Kind;
use super::super::likelihood::LEAST_BACKGROUND;
use super::super::members::{Bridge, Members};
use super::Model;
use super::rates::Rates;
use rayon::prelude::*;
use std::fmt::Write;

impl Model {
    /// The probability of an edge from node u to node v: 1 − e^(−rate) with the Poisson rate of the likelihood, π_uᵀ P π_v where the
    /// graph was dense.
    pub fn predict(&self, u: usize, v: usize) -> f64 {
        Rates::new(self).probability(u, v)
    }

    /// [`Model::predict`] for many pairs, in parallel.
    ///
    /// # Complexity
    /// O(nodes · k) once, then O(k) a pair; k² in a dense graph.
    pub fn predict_all(&self, pairs: &[(usize, usize)]) -> Vec<f64> {
        let rates = Rates::new(self);
        pairs.par_iter().map(|&(u, v)| rates.probability(u, v)).collect()
    }

    /// The nodes with the largest degree-corrected bridgeness, at most `count`: [`Members::bridges`] of the side that
    /// [`Side::of`](super::super::Side::of) gives.
    pub fn bridges(&self, count: usize) -> Vec<Bridge> {
        self.all_members().bridges(count, true)
    }

    /// For every community its leading members, at most `count`: [`Members::leading`] of the side that
    /// [`Side::of`](super::super::Side::of) gives.
    pub fn leading(&self, count: usize) -> Vec<Vec<(usize, f64)>> {
        self.all_members().leading(count)
    }

    fn all_members(&self) -> Members<'_> {
        Members::of(self, None).expect("every graph has its usual side")
    }

    /// A page of text: communities with their sizes and largest members, and the verdict.
    pub fn summary(&self) -> String {
        let nodes = match self.kind() {
            Kind::Bipartite => format!("{} + {}", self.nodes(), self.other_ids().len()),
            _ => self.nodes().to_string(),
        };
        let mut out = format!("{} communities in {nodes} nodes and {} edges\n\n", self.k(), self.edges());
        let _ = writeln!(out, "community  share  alpha  within  leading members");
        let members = self.all_members();
        for (c, leading) in members.leading(6).into_iter().enumerate() {
            let names: Vec<String> = leading.iter().map(|(u, _)| members.shown(*u)).collect();
            let _ = writeln!(
                out,
                "{c:>9}  {:>4.1}%  {:.3}  {:>6.4}  {}",
                100.0 * self.shares()[c],
                self.alpha()[c],
                self.connectivity()[(c, c)],
                names.join(", ")
            );
        }
        if let Some(background) = self.background().filter(|b| self.k() > 1 && *b > 1.1 * LEAST_BACKGROUND) {
            let least = 100.0 * background;
            let _ = writeln!(
                out,
                "\nat least {least:.1} % of the edges belong to no community; most stray ones count as small memberships"
            );
        }
        let _ = writeln!(out, "\nverdict: {}", self.verdict().headline());
        for (_, finding) in self.verdict().findings() {
            let _ = writeln!(out, "  - {finding}");
        }
        out
    }
}
