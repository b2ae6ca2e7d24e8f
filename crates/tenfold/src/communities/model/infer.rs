//! Memberships of new nodes.

use super::super::assign;
use super::super::likelihood::column_sums;
use super::Model;
use super::rates::Rates;
use crate::error::{Error, Result, check_range};
use rayon::prelude::*;
use tenfold_engine::linalg::{Mat, Tall, eigen_symmetric};
use tenfold_engine::progress::{Progress, Silent};

/// Steps of a new node's memberships in a sparse graph.
const STEPS: usize = 50;

/// Nodes between two looks whether to stop.
const NODES_A_TASK: usize = 1024;

impl Model {
    /// Memberships of a node that was not in the graph, from its edges (neighbour, weight) to nodes that were. In a sparse
    /// graph the fixed point of
    ///
    ///   θ_c ← θ_c Σ_v w_v φ_vc / (Σ_b θ_b φ_vb + background_v) / Σ_v φ_vc,
    ///
    /// where φ are the known nodes' rates; in a dense one the least squares argmin ‖a − Φ Pᵀ π‖ on the simplex, without what
    /// noise alone could have given, as in the fit. A node without neighbours gets the mean; with α0 = 0 a node belongs to
    /// one community.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a neighbour that is not in the graph or a weight that is not positive.
    ///
    /// # Example
    /// ```
    /// use tenfold::communities::{Params, Synth};
    /// let drawn = Synth { nodes: 300, k: 3, alpha0: 0.0, ..Synth::default() }.draw()?;
    /// let model = Params { alpha0: 0.0, ..Params::new(3) }.fit(&drawn.graph)?;
    /// // A node with the edges of node 7 is in the community of node 7.
    /// let edges: Vec<(usize, f64)> = drawn.graph.adjacency().row(7).0.iter().map(|&v| (v as usize, 1.0)).collect();
    /// let found: Vec<f32> = model.infer(&edges)?.iter().map(|x| *x as f32).collect();
    /// assert_eq!(found, model.memberships().row(7));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn infer(&self, neighbours: &[(usize, f64)]) -> Result<Vec<f64>> {
        let found = self.infer_all(1, |_| neighbours.to_vec(), &Silent)?;
        Ok(found.row(0).iter().map(|x| f64::from(*x)).collect())
    }

    /// [`Model::infer`] for many nodes: `neighbours` gives those of each. In parallel, with the same result on any number of
    /// threads.
    ///
    /// # Complexity
    /// O(nodes of the graph · k) once, with k² in the place of k when it is dense; then 50 k operations an edge, or 150 k²
    /// operations a node.
    ///
    /// # Errors
    /// As [`Model::infer`], when the listener stops the run, and when memberships come out beyond the range of numbers.
    pub fn infer_all(
        &self,
        nodes: usize,
        neighbours: impl Fn(usize) -> Vec<(usize, f64)> + Sync,
        progress: &dyn Progress,
    ) -> Result<Tall> {
        progress.stage("inferring", nodes as u64);
        let neighbours = |u: usize| self.checked(neighbours(u));
        let mut out = if self.diagnostics.dense {
            self.by_squares(nodes, &neighbours)?
        } else {
            self.by_likelihood(nodes, &neighbours, progress)?
        };
        let k = self.k().max(1);
        let alone = self.params["alpha0"] == 0.0;
        for (u, row) in out.as_mut_slice().chunks_exact_mut(k).enumerate() {
            if neighbours(u)?.is_empty() {
                row.iter_mut().zip(self.shares()).for_each(|(x, share)| *x = *share as f32);
            } else if alone {
                let most = assign::largest(row);
                row.fill(0.0);
                row[most] = 1.0;
            }
        }
        check_range("memberships", out.as_slice().iter().map(|x| f64::from(*x)))?;
        Ok(out)
    }

    fn checked(&self, neighbours: Vec<(usize, f64)>) -> Result<Vec<(usize, f64)>> {
        let count = self.leaves().rows();
        match neighbours.iter().find(|(v, w)| *v >= count || !(*w > 0.0 && w.is_finite())) {
            None => Ok(neighbours),
            Some((v, w)) => Err(Error::BadParameter {
                name: "neighbour".into(),
                value: format!("node {v} with weight {w}"),
                expected: format!("a node below {count} and a positive weight"),
            }),
        }
    }

    fn by_likelihood(
        &self,
        nodes: usize,
        neighbours: &(impl Fn(usize) -> Result<Vec<(usize, f64)>> + Sync),
        progress: &dyn Progress,
    ) -> Result<Tall> {
        let (rates, k) = (Rates::new(self), self.k());
        let mut out = Tall::zeros(nodes, k);
        let tasks = out.as_mut_slice().par_chunks_mut((NODES_A_TASK * k).max(1)).enumerate();
        tasks.try_for_each(|(task, rows)| -> Result<()> {
            progress.check()?;
            for (i, row) in rows.chunks_exact_mut(k).enumerate() {
                climb(&rates, &neighbours(task * NODES_A_TASK + i)?, row);
                progress.advance(1);
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// With ΦᵀΦ = V D Vᵀ the columns of Φ V D^(−½) are orthonormal; seen through them the edges a are s = D^(−½) Vᵀ Φᵀ a and a
    /// node of community i alone lies at f_i, row i of P V D^½.
    fn by_squares(
        &self,
        nodes: usize,
        neighbours: &(impl Fn(usize) -> Result<Vec<(usize, f64)>> + Sync),
    ) -> Result<Tall> {
        let leaves = self.leaves();
        let found = eigen_symmetric(&leaves.gram(leaves))?;
        let largest = found.values.iter().copied().fold(0.0, f64::max);
        // A community without members has no direction of its own.
        let kept: Vec<usize> =
            (0..found.values.len()).filter(|&i| found.values[i] > 1e-9 * largest).collect();
        if kept.is_empty() {
            return Err(Error::Unfit {
                problem: "no node of the model belongs to a community".into(),
                remedy: "fit the model again".into(),
            });
        }
        let scaled = |power: f64| {
            Mat::from_fn(self.k(), kept.len(), |i, j| {
                found.vectors[(i, kept[j])] * found.values[kept[j]].powf(power)
            })
        };
        let (seen_by, corners) = (scaled(-0.5), self.connectivity.matmul(&scaled(0.5)));
        let mut sums = Tall::zeros(nodes, self.k());
        let mut strengths = vec![0.0; nodes];
        let rows = sums.as_mut_slice().par_chunks_mut(self.k().max(1)).zip(&mut strengths).enumerate();
        rows.try_for_each(|(u, (row, strength))| -> Result<()> {
            for (v, w) in neighbours(u)? {
                row.iter_mut().zip(leaves.row(v)).for_each(|(x, y)| *x += w as f32 * y);
                *strength += w;
            }
            Ok(())
        })?;
        let mut seen = sums.times(&seen_by);
        let expected = self.connectivity.matvec(&column_sums(leaves));
        let near = assign::clipped(&seen, &corners)?;
        let scales = rescaled(&mut seen, &near, (&strengths, &expected));
        let pairs = leaves.rows().max(1) as f64;
        assign::on_simplex(&seen, &corners, |u| {
            let p = (strengths[u] / pairs).clamp(0.0, 1.0);
            // The p whose variance p(1 − p) is that of an edge, so many times as large.
            let variance = (p * (1.0 - p) / (scales[u] * scales[u])).min(0.25);
            (1.0 - (1.0 - 4.0 * variance).sqrt()) / 2.0
        })
    }
}

/// Share of the edges that nodes of its communities have, below which a new node is taken to have given a part of its edges.
const FEW: f64 = 0.5;

/// Scales what is seen of nodes with few edges to what nodes of their communities have: without that the simplex, on which shares
/// add up to 1, would give them the communities with the fewest edges. Says by how much each node was short.
fn rescaled(seen: &mut Tall, near: &Tall, (strengths, expected): (&[f64], &[f64])) -> Vec<f64> {
    let short = |u: usize| {
        let usual: f64 = near.row(u).iter().zip(expected).map(|(x, e)| f64::from(*x) * e).sum();
        let part = strengths[u] / usual.max(f64::MIN_POSITIVE);
        if part > 0.0 && part < FEW { part } else { 1.0 }
    };
    let scales: Vec<f64> = (0..near.rows()).map(short).collect();
    let width = seen.width().max(1);
    for (row, scale) in seen.as_mut_slice().chunks_exact_mut(width).zip(&scales) {
        row.iter_mut().for_each(|x| *x /= *scale as f32);
    }
    scales
}

/// The memberships under which a node's edges are most probable.
fn climb(rates: &Rates<'_>, neighbours: &[(usize, f64)], row: &mut [f32]) {
    let k = row.len();
    let total: f64 = neighbours.iter().map(|n| n.1).sum();
    let known: Vec<(f64, f64, Vec<f64>)> =
        neighbours.iter().map(|&(v, w)| (w, rates.background(total, v), rates.of_other(v))).collect();
    let mut theta: Vec<f64> = vec![total / k as f64; k];
    for _ in 0..STEPS {
        let mut next = vec![0.0; k];
        for (w, background, phi) in &known {
            let below: f64 = theta.iter().zip(phi).map(|(a, b)| a * b).sum::<f64>() + background;
            let share = w / below.max(f64::MIN_POSITIVE);
            next.iter_mut().zip(theta.iter().zip(phi)).for_each(|(n, (t, p))| *n += share * t * p);
        }
        // θ_c Σ_v φ_vc is the expected number of edges in c.
        let rate = |(n, s): (&f64, &f64)| if *s > 0.0 { n / s } else { 0.0 };
        theta = next.iter().zip(&rates.column_rates).map(rate).collect();
    }
    let edges: Vec<f64> = theta.iter().zip(&rates.column_rates).map(|(t, s)| t * s).collect();
    let sum: f64 = edges.iter().sum();
    let even = 1.0 / k as f64;
    row.iter_mut().zip(&edges).for_each(|(x, e)| *x = (if sum > 0.0 { e / sum } else { even }) as f32);
}

#[cfg(test)]
mod tests {
    use super::super::super::data::Kind;
    use super::super::super::fit::Params;
    use super::super::super::synth::{Edges, Synth};
    use super::*;

    /// Nodes that come again as new ones get the memberships that they had.
    #[test]
    fn a_node_with_the_edges_of_another_has_its_memberships() {
        let sparse = Edges::Poisson { degree: 40.0, background: 0.1 };
        for (kind, edges) in [
            (Kind::Undirected, Edges::Bernoulli { within: 0.9, between: 0.1 }),
            (Kind::Undirected, sparse),
            (Kind::Directed, sparse),
            (Kind::Bipartite, sparse),
        ] {
            let synth = Synth { nodes: 1000, others: 900, k: 4, edges, kind, seed: 3, ..Synth::default() };
            let drawn = synth.draw().unwrap();
            let model = Params::new(4).fit(&drawn.graph).unwrap();
            let row = |u: usize| -> Vec<(usize, f64)> {
                drawn.graph.adjacency().row(u).0.iter().map(|&v| (v as usize, 1.0)).collect()
            };
            let found = model.infer_all(1000, row, &Silent).unwrap();
            let pairs = found.as_slice().iter().zip(model.memberships().as_slice());
            let error = pairs.map(|(a, b)| f64::from((a - b).abs())).sum::<f64>() / 4000.0;
            // The same equations with the other nodes held fixed; the fit ends its climb before its fixed point.
            assert!(error < 0.02, "{kind}, {edges:?}: {error}");
        }
    }

    #[test]
    fn a_node_with_few_edges_gets_the_communities_of_its_neighbours() {
        let drawn = Synth { nodes: 400, k: 4, alpha0: 0.0, ..Synth::default() }.draw().unwrap();
        let model = Params { alpha0: 0.1, ..Params::new(4) }.fit(&drawn.graph).unwrap();
        for u in 0..20 {
            let (found, own) = (model.infer(&[(u, 1.0)]).unwrap(), model.memberships().row(u));
            let most = assign::largest(own);
            assert!(own[most] > 0.8 && found[most] > 0.5, "{u}: {found:?} beside {own:?}");
        }
    }

    #[test]
    fn strange_neighbours_are_refused_and_none_give_the_mean() {
        let drawn = Synth { nodes: 200, k: 3, ..Synth::default() }.draw().unwrap();
        let model = Params::new(3).fit(&drawn.graph).unwrap();
        for bad in [(200, 1.0), (0, 0.0), (0, f64::NAN), (0, -1.0)] {
            assert!(model.infer(&[bad]).unwrap_err().to_string().contains("neighbour"), "{bad:?}");
        }
        let mean = model.infer(&[]).unwrap();
        assert!(mean.iter().zip(model.shares()).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}
