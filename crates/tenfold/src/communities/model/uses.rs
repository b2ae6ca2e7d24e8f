//! What a fitted model does: new nodes, links, bridges, and a page of text.

use super::super::members::bridgeness;
use super::Model;
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::fmt::Write;
use tenfold_engine::linalg::Tall;
use tenfold_engine::progress::Progress;

/// Steps of a new node's memberships.
const STEPS: usize = 50;

/// A node between communities.
#[derive(Debug, Clone, PartialEq)]
pub struct Bridge {
    /// The node's number.
    pub node: usize,
    /// 1 − √(k/(k−1) Σ_c (π_c − 1/k)²): 0 for a node of one community, 1 for one of all alike.
    pub bridgeness: f64,
    /// The same times the node's degree: it tells bridges from strays.
    pub corrected: f64,
}

impl Model {
    /// Memberships of a node that was not in the graph, from its edges to nodes that were: the fixed point of
    ///
    ///   π_c ∝ π_c Σ_v w_v φ_vc / (Σ_b π_b g φ_vb + background),
    ///
    /// where φ are the known nodes' rates and g is the new node's own. A node without known neighbours gets the mean.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a neighbour that is not in the graph or a weight that is not positive.
    pub fn infer(&self, neighbours: &[(usize, f64)]) -> Result<Vec<f64>> {
        self.inferred(&self.rates(), neighbours)
    }

    /// [`Model::infer`] for many nodes: `neighbours` gives those of each. In parallel, with the same result on any number of
    /// threads.
    ///
    /// # Complexity
    /// O(nodes of the graph · k) once, then 50 k operations an edge.
    ///
    /// # Errors
    /// As [`Model::infer`], and when the listener stops the run.
    pub fn infer_all(
        &self,
        nodes: usize,
        neighbours: impl Fn(usize) -> Vec<(usize, f64)> + Sync,
        progress: &dyn Progress,
    ) -> Result<Tall> {
        progress.stage("inferring", nodes as u64);
        let rates = self.rates();
        let mut out = Tall::zeros(nodes, self.k());
        let rows = out.as_mut_slice().par_chunks_mut(self.k().max(1)).enumerate();
        rows.try_for_each(|(u, row)| -> Result<()> {
            progress.check()?;
            let found = self.inferred(&rates, &neighbours(u))?;
            row.iter_mut().zip(&found).for_each(|(x, v)| *x = *v as f32);
            progress.advance(1);
            Ok(())
        })?;
        Ok(out)
    }

    fn inferred(&self, rates: &Rates<'_>, neighbours: &[(usize, f64)]) -> Result<Vec<f64>> {
        let k = self.k();
        let count = self.other_memberships().unwrap_or(self.memberships()).rows();
        for &(v, w) in neighbours {
            if v >= count || !(w > 0.0 && w.is_finite()) {
                return Err(Error::BadParameter {
                    name: "neighbour".into(),
                    value: format!("node {v} with weight {w}"),
                    expected: format!("a node below {count} and a positive weight"),
                });
            }
        }
        if neighbours.is_empty() {
            return Ok(self.shares().to_vec());
        }
        let total: f64 = neighbours.iter().map(|n| n.1).sum();
        let mut theta: Vec<f64> = vec![total / k as f64; k];
        for _ in 0..STEPS {
            let mut next = vec![0.0; k];
            for &(v, w) in neighbours {
                let phi = rates.of_other(v);
                let below: f64 =
                    theta.iter().zip(&phi).map(|(a, b)| a * b).sum::<f64>() + rates.background(total, v);
                let share = w / below.max(f64::MIN_POSITIVE);
                next.iter_mut().zip(theta.iter().zip(&phi)).for_each(|(n, (t, p))| *n += share * t * p);
            }
            // θ_c Σ_v φ_vc is the expected number of edges in c.
            theta = next
                .iter()
                .zip(&rates.column_rates)
                .map(|(n, s)| if *s > 0.0 { n / s } else { 0.0 })
                .collect();
        }
        let edges: Vec<f64> = theta.iter().zip(&rates.column_rates).map(|(t, s)| t * s).collect();
        let sum: f64 = edges.iter().sum();
        if sum > 0.0 { Ok(edges.iter().map(|e| e / sum).collect()) } else { Ok(self.shares().to_vec()) }
    }

    /// The probability of an edge from node u to node v: 1 − e^(−rate) with the Poisson rate of the likelihood, π_uᵀ P π_v where the
    /// graph was dense.
    pub fn predict(&self, u: usize, v: usize) -> f64 {
        self.rates().probability(u, v)
    }

    /// [`Model::predict`] for many pairs.
    pub fn predict_all(&self, pairs: &[(usize, usize)]) -> Vec<f64> {
        let rates = self.rates();
        pairs.iter().map(|&(u, v)| rates.probability(u, v)).collect()
    }

    /// The nodes with the largest degree-corrected bridgeness, at most `count`.
    pub fn bridges(&self, count: usize) -> Vec<Bridge> {
        let mut all: Vec<Bridge> = (0..self.nodes())
            .map(|node| {
                let bridgeness = bridgeness(self.memberships().row(node));
                Bridge { node, bridgeness, corrected: bridgeness * self.strengths()[node] }
            })
            .collect();
        all.sort_by(|a, b| b.corrected.total_cmp(&a.corrected).then(a.node.cmp(&b.node)));
        all.truncate(count);
        all
    }

    /// The largest members of a community, at most `count`: (node, share).
    pub fn members(&self, community: usize, count: usize) -> Vec<(usize, f64)> {
        let share = |u: usize| f64::from(self.memberships().row(u)[community]);
        let mut all: Vec<(usize, f64)> = (0..self.nodes()).map(|u| (u, share(u))).collect();
        let rank = |a: &(usize, f64)| (a.1, self.strengths()[a.0]);
        all.sort_by(|a, b| {
            let ((x, s), (y, t)) = (rank(a), rank(b));
            y.total_cmp(&x).then(t.total_cmp(&s)).then(a.0.cmp(&b.0))
        });
        all.truncate(count);
        all
    }

    fn rates(&self) -> Rates<'_> {
        Rates::new(self)
    }

    /// A page of text: communities with their sizes and largest members, and the verdict.
    pub fn summary(&self) -> String {
        let mut out =
            format!("{} communities in {} nodes and {} edges\n\n", self.k(), self.nodes(), self.edges());
        let _ = writeln!(out, "community  share  alpha  within  members with the largest share");
        for c in 0..self.k() {
            let names: Vec<String> =
                self.members(c, 6).iter().map(|(u, _)| self.ids().get(*u).into_owned()).collect();
            let _ = writeln!(
                out,
                "{c:>9}  {:>4.1}%  {:.3}  {:>6.4}  {}",
                100.0 * self.shares()[c],
                self.alpha()[c],
                self.connectivity()[(c, c)],
                names.join(" ")
            );
        }
        if let Some(background) = self.background() {
            let _ = writeln!(out, "\n{:.1} % of the edges belong to no community", 100.0 * background);
        }
        let _ = writeln!(out, "\nverdict: {}", self.verdict().headline());
        for (_, finding) in self.verdict().findings() {
            let _ = writeln!(out, "  - {finding}");
        }
        out
    }
}

/// The rates of edges under the model.
struct Rates<'a> {
    model: &'a Model,
    /// 1/√(edges that each community explains).
    roots: Vec<f64>,
    /// Σ_v φ_vc.
    column_rates: Vec<f64>,
    /// Rate of the background between two edges' ends.
    ends: f64,
}

impl<'a> Rates<'a> {
    fn new(model: &'a Model) -> Self {
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
        for v in 0..rates.others().rows() {
            sums.iter_mut().zip(rates.of_other(v)).for_each(|(s, x)| *s += x);
        }
        rates.column_rates = sums;
        rates
    }

    fn others(&self) -> &Tall {
        self.model.other_memberships().unwrap_or(self.model.memberships())
    }

    fn of(&self, u: usize) -> Vec<f64> {
        scaled(self.model.memberships().row(u), self.model.explained[u], &self.roots)
    }

    fn of_other(&self, v: usize) -> Vec<f64> {
        let explained =
            if self.model.others.is_some() { &self.model.other_explained } else { &self.model.explained };
        scaled(self.others().row(v), explained[v], &self.roots)
    }

    fn background(&self, strength: f64, v: usize) -> f64 {
        let others =
            if self.model.others.is_some() { &self.model.other_strengths } else { &self.model.strengths };
        self.ends * strength * others[v]
    }

    fn probability(&self, u: usize, v: usize) -> f64 {
        if self.model.diagnostics.dense {
            let p = &self.model.connectivity;
            let (a, b) = (self.model.memberships().row(u), self.others().row(v));
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

fn scaled(memberships: &[f32], explained: f64, roots: &[f64]) -> Vec<f64> {
    memberships.iter().zip(roots).map(|(m, r)| f64::from(*m) * explained * r).collect()
}
