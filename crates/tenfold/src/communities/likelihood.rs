//! The Poisson likelihood of a graph, and the iteration that climbs it.
//!
//! A_uv ~ Poisson(Σ_c θ_uc φ_vc), with one more column for edges that belong to no community, θ_u ∝ d_u. An undirected
//! graph has φ = θ. The share of the edge (u, v) that column c explains is q = θ_uc φ_vc / Σ, and
//!
//!   θ_uc = Σ_v A_uv q / √(Σ_uv A_uv q),   φ_vc = Σ_u A_uv q / √(Σ_uv A_uv q)
//!
//! is the maximum of the expected likelihood (Ball, Karrer and Newman 2011, equations 4 and 5).

use super::moments::Stars;
use rayon::prelude::*;
use tenfold_engine::linalg::{Adjacency, Tall};

/// Rows are padded with zeros to a multiple of this many numbers: one AVX register of f32.
const LANES: usize = 8;
/// Nodes that one task works on.
const NODES_A_TASK: usize = 512;
/// Added to a rate before it divides: an edge that nothing explains gives no weight instead of a NaN.
const TINY: f32 = 1e-30;
/// Factors below are nothing. Those of communities that a node is not in shrink at every iteration; the processor would take a
/// hundred times as long for numbers near the end of single precision.
const NOTHING: f32 = 1e-12;
/// The background never dies out altogether: a column at zero could not come back.
pub(super) const LEAST_BACKGROUND: f64 = 1e-3;

/// θ and φ, padded, with the background in column k.
#[derive(Clone)]
pub(super) struct Factors {
    pub k: usize,
    /// Nodes × (k + 1, padded).
    pub rows: Tall,
    /// Likewise for the other side of a directed or bipartite graph.
    pub columns: Option<Tall>,
    /// Share of the edges that belong to no community.
    pub background: f64,
}

crate::checkpoint::keep! { Factors { k, rows, columns, background } }

/// What one pass over the edges gives.
pub(super) struct Pass {
    /// Expected numbers of edges of every node in every column, padded as the factors.
    pub rows: Tall,
    pub columns: Option<Tall>,
}

crate::checkpoint::keep! { Pass { rows, columns } }

impl Factors {
    /// Factors from memberships (nodes × k, rows on the simplex) and the share of edges that is background.
    pub fn start(stars: Stars<'_>, memberships: &Tall, symmetric: bool, background: f64) -> Self {
        let k = memberships.width();
        let width = (k + 1).next_multiple_of(LANES);
        let strengths = stars.hubs.strengths();
        let mut counts = Tall::zeros(memberships.rows(), width);
        let rows = counts.as_mut_slice().par_chunks_exact_mut(width).enumerate();
        rows.for_each(|(u, row)| spread(row, memberships.row(u), strengths[u], background));
        let columns = (!symmetric).then(|| leaves_of(stars, memberships, background, width));
        Self::maximised(Pass { rows: counts, columns }, k, (&strengths, &stars.leaves.strengths()))
    }

    /// The maximum of the expected likelihood for expected numbers of edges.
    fn maximised(pass: Pass, k: usize, strengths: (&[f64], &[f64])) -> Self {
        let mut factors = Self { k, rows: pass.rows.clone(), columns: pass.columns.clone(), background: 0.0 };
        factors.maximise(&pass, strengths);
        factors
    }

    /// The same in the place of these factors: large matrices made anew at every iteration cost a tenth of it.
    pub fn maximise(&mut self, pass: &Pass, (from, to): (&[f64], &[f64])) {
        let k = self.k;
        let totals = column_sums(&pass.rows);
        let all: f64 = from.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        self.background = (totals[k] / all).max(LEAST_BACKGROUND);
        let root = (self.background / all).sqrt();
        let scales: Vec<f32> =
            totals.iter().map(|t| if *t > 0.0 { (1.0 / t.sqrt()) as f32 } else { 0.0 }).collect();
        scale(&pass.rows, &scales, k, &mut self.rows, |u| (from[u] * root) as f32);
        if let (Some(counts), Some(columns)) = (&pass.columns, &mut self.columns) {
            scale(counts, &scales, k, columns, |v| (to[v] * root) as f32);
        }
    }

    /// Whether both are of as many nodes and communities.
    pub fn like(&self, other: &Self) -> bool {
        let size = |x: &Tall| (x.rows(), x.width());
        let sizes = |x: &Self| (x.k, size(&x.rows), x.columns.as_ref().map(size));
        sizes(self) == sizes(other)
    }

    fn others(&self) -> &Tall {
        self.columns.as_ref().unwrap_or(&self.rows)
    }

    /// Expected numbers of edges under these factors.
    ///
    /// # Complexity
    /// 4·edges·k operations for every direction of an edge.
    pub fn expected(&self, stars: Stars<'_>) -> Pass {
        let like = |x: &Tall| Tall::zeros(x.rows(), x.width());
        let mut pass = Pass { rows: like(&self.rows), columns: self.columns.as_ref().map(like) };
        self.expect(stars, &mut pass);
        pass
    }

    /// [`Factors::expected`] in the place of an older pass.
    pub fn expect(&self, stars: Stars<'_>, pass: &mut Pass) {
        explain(stars.hubs, &self.rows, self.others(), &mut pass.rows);
        if let (Some(own), Some(out)) = (&self.columns, &mut pass.columns) {
            explain(stars.leaves, own, &self.rows, out);
        }
    }

    /// ln P(A | θ, φ) but for constants, over all ordered pairs.
    pub fn log_likelihood(&self, stars: Stars<'_>) -> f64 {
        let (width, others) = (self.rows.width(), self.others());
        let parts: Vec<f64> = self
            .rows
            .as_slice()
            .par_chunks(NODES_A_TASK * width)
            .enumerate()
            .map(|(task, rows)| {
                let logs = rows.chunks_exact(width).enumerate().map(|(i, row)| {
                    let (at, weights) = stars.hubs.row(task * NODES_A_TASK + i);
                    let one = |e: usize| {
                        let rate: f32 = row.iter().zip(others.row(at[e] as usize)).map(|(a, b)| a * b).sum();
                        f64::from(weights.map_or(1.0, |w| w[e])) * f64::from(rate + TINY).ln()
                    };
                    (0..at.len()).map(one).sum::<f64>()
                });
                logs.sum()
            })
            .collect();
        let (a, b) = (column_sums(&self.rows), column_sums(others));
        let expected: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
        parts.iter().sum::<f64>() - expected
    }
}

/// A node's edges over its communities and the background.
fn spread(row: &mut [f32], memberships: &[f32], strength: f64, background: f64) {
    let k = memberships.len();
    let inside = ((1.0 - background) * strength) as f32;
    // A little of every community, because a share of zero stays zero.
    let some = 0.02 / k.max(1) as f32;
    row.iter_mut().zip(memberships).for_each(|(x, m)| *x = inside * (0.98 * m + some));
    row[k] = (background * strength) as f32;
}

/// The other side of a start: every leaf has the communities of its hubs.
fn leaves_of(stars: Stars<'_>, memberships: &Tall, background: f64, width: usize) -> Tall {
    let k = memberships.width();
    let mixed = super::moments::product(stars.leaves, memberships);
    let strengths = stars.leaves.strengths();
    let mut counts = Tall::zeros(mixed.rows(), width);
    counts.as_mut_slice().par_chunks_exact_mut(width).enumerate().for_each(|(v, row)| {
        let total = mixed.row(v).iter().sum::<f32>().max(f32::MIN_POSITIVE);
        let shares: Vec<f32> = mixed.row(v).iter().map(|x| x / total).collect();
        debug_assert_eq!(shares.len(), k);
        spread(row, &shares, strengths[v], background);
    });
    counts
}

fn scale(counts: &Tall, scales: &[f32], k: usize, out: &mut Tall, background: impl Fn(usize) -> f32 + Sync) {
    let width = counts.width();
    let rows = out.as_mut_slice().par_chunks_exact_mut(width).zip(counts.as_slice().par_chunks_exact(width));
    rows.enumerate().for_each(|(u, (out, counts))| {
        for ((x, count), scale) in out.iter_mut().zip(counts).zip(scales) {
            let factor = count * scale;
            *x = if factor < NOTHING { 0.0 } else { factor };
        }
        out[k] = background(u);
    });
}

/// Sums of columns, in a fixed order.
pub(super) fn column_sums(x: &Tall) -> Vec<f64> {
    let width = x.width();
    let parts: Vec<Vec<f64>> = x
        .as_slice()
        .par_chunks((NODES_A_TASK * width).max(1))
        .map(|rows| {
            let mut sum = vec![0.0f64; width];
            for row in rows.chunks_exact(width) {
                sum.iter_mut().zip(row).for_each(|(s, v)| *s += f64::from(*v));
            }
            sum
        })
        .collect();
    let mut total = vec![0.0; width];
    for part in parts {
        total.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
    }
    total
}

fn explain(a: &Adjacency, x: &Tall, y: &Tall, out: &mut Tall) {
    a.explain(x.as_slice(), y.as_slice(), x.width(), out.as_mut_slice());
}
