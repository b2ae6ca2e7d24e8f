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
use tenfold_engine::linalg::{Adjacency, Kernel, Tall, vectorised};

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
const LEAST_BACKGROUND: f64 = 1e-3;

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

/// What one pass over the edges gives.
pub(super) struct Pass {
    /// Expected numbers of edges of every node in every column, padded as the factors.
    pub rows: Tall,
    pub columns: Option<Tall>,
}

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
    pub fn maximised(pass: Pass, k: usize, (from, to): (&[f64], &[f64])) -> Self {
        let Pass { mut rows, mut columns } = pass;
        let totals = column_sums(&rows);
        let all: f64 = from.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let background = (totals[k] / all).max(LEAST_BACKGROUND);
        let root = (background / all).sqrt();
        let scales: Vec<f32> =
            totals.iter().map(|t| if *t > 0.0 { (1.0 / t.sqrt()) as f32 } else { 0.0 }).collect();
        scale(&mut rows, &scales, k, |u| (from[u] * root) as f32);
        if let Some(columns) = &mut columns {
            scale(columns, &scales, k, |v| (to[v] * root) as f32);
        }
        Self { k, rows, columns, background }
    }

    fn others(&self) -> &Tall {
        self.columns.as_ref().unwrap_or(&self.rows)
    }

    /// Expected numbers of edges under these factors.
    ///
    /// # Complexity
    /// 4·edges·k operations for every direction of an edge.
    pub fn expected(&self, stars: Stars<'_>) -> Pass {
        let rows = explain(stars.hubs, &self.rows, self.others());
        let columns = self.columns.as_ref().map(|columns| explain(stars.leaves, columns, &self.rows));
        Pass { rows, columns }
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

fn scale(x: &mut Tall, scales: &[f32], k: usize, background: impl Fn(usize) -> f32 + Sync) {
    let width = x.width();
    x.as_mut_slice().par_chunks_exact_mut(width).enumerate().for_each(|(u, row)| {
        row.iter_mut().zip(scales).for_each(|(v, s)| *v = if *v * s < NOTHING { 0.0 } else { *v * s });
        row[k] = background(u);
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

/// out_u = x_u ∘ Σ_v A_uv y_v / (x_u · y_v).
fn explain(a: &Adjacency, x: &Tall, y: &Tall) -> Tall {
    let width = x.width();
    let mut out = Tall::zeros(x.rows(), width);
    out.as_mut_slice()
        .par_chunks_mut(NODES_A_TASK * width)
        .enumerate()
        .for_each(|(task, out)| vectorised(Explain { a, first: task * NODES_A_TASK, x, y, out }));
    out
}

struct Explain<'a> {
    a: &'a Adjacency,
    first: usize,
    x: &'a Tall,
    y: &'a Tall,
    out: &'a mut [f32],
}

impl Kernel for Explain<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let width = self.x.width();
        for (i, sum) in self.out.chunks_exact_mut(width).enumerate() {
            let own = self.x.row(self.first + i);
            let (at, weights) = self.a.row(self.first + i);
            for (e, &v) in at.iter().enumerate() {
                let other = &self.y.as_slice()[v as usize * width..][..width];
                let rate = dot(own, other) + TINY;
                let share = weights.map_or(1.0, |w| w[e]) / rate;
                for (sum, other) in sum.chunks_exact_mut(LANES).zip(other.chunks_exact(LANES)) {
                    for l in 0..LANES {
                        sum[l] += share * other[l];
                    }
                }
            }
            sum.iter_mut().zip(own).for_each(|(s, x)| *s *= x);
        }
    }
}

/// Inner product of padded rows with a register of running sums.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    for (x, y) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for l in 0..LANES {
            sums[l] += x[l] * y[l];
        }
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]))
}
