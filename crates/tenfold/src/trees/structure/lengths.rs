//! Lengths of a tree's edges from distances, each with its standard error.

use super::super::distances::Distances;
use super::super::tree::Tree;
use super::branches::{Branches, Near};
use super::linear::Linear;
use super::pairs::Pairs;
use crate::error::Result;
use rayon::prelude::*;

/// An edge with the length that distances give it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The end with the smaller number.
    pub a: usize,
    /// The other end.
    pub b: usize,
    /// Its length; an edge that is not there comes out near 0, on either side.
    pub length: f64,
    /// Its standard error by the jackknife; 0 when there are no blocks.
    pub error: f64,
}

impl Edge {
    /// Length over error: how surely it is there.
    pub fn z(&self) -> f64 {
        if self.error > 0.0 { self.length / self.error } else { self.length * f64::MAX.sqrt() }
    }
}

/// Observed variables that speak for one side of an edge.
const SPEAKERS: usize = 6;

/// Degrees of freedom that the variances of distances count for. Measured: with none, one inner edge in fifty of drawn trees is
/// there by mistake; with 8 to 30 one in two hundred.
const PRIOR: f64 = 16.0;

/// Measures every edge of a tree from distances between variables near it,
///
/// ℓ = Σ w_q [(d_ac + d_ad + d_bc + d_bd)/4 − (d_ab + d_cd)/2] / Σ w_q
///
/// over quartets q = (a, b, c, d) with a, b in different branches of one end and c, d in different branches of the other; an end
/// that is observed stands for both of its variables. w_q⁻¹ is the sum of the variances of the distances.
///
/// # Errors
/// When a distance is not a number.
///
/// # Example
/// ```
/// use tenfold::trees::{Distances, Tree, structure};
/// let star = Tree::from_edges(3, &[(0, 3, 1.0), (1, 3, 1.0), (2, 3, 1.0)]);
/// let edges = structure::measure(&Distances::new(3, vec![0.5, 0.75, 0.75], vec![]), &star)?;
/// assert_eq!(edges.iter().map(|e| e.length).collect::<Vec<_>>(), vec![0.25, 0.25, 0.5]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn measure(distances: &Distances, tree: &Tree) -> Result<Vec<Edge>> {
    Ok(with_pairs(distances, &Pairs::new(distances)?, tree))
}

/// The same where dense rows exist already.
pub(crate) fn with_pairs(distances: &Distances, pairs: &Pairs, tree: &Tree) -> Vec<Edge> {
    let branches = Branches::new(tree, SPEAKERS);
    let edges = tree.edges();
    let mut measured: Vec<(Edge, f64)> =
        edges.par_iter().map(|&(a, b, _)| of_edge(distances, pairs, (tree, &branches), (a, b))).collect();
    steady(&mut measured, distances.blocks());
    measured.into_iter().map(|m| m.0).collect()
}

/// Errors from a few blocks are rough: they are drawn to what the variances of the distances say, scaled to agree over all edges.
fn steady(measured: &mut [(Edge, f64)], blocks: usize) {
    if blocks < 2 {
        return;
    }
    let mut ratios: Vec<f64> =
        measured.iter().filter(|m| m.1 > 0.0).map(|(e, spread)| e.error * e.error / spread).collect();
    ratios.sort_by(f64::total_cmp);
    let scale = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
    let free = (blocks - 1) as f64;
    for (edge, spread) in measured {
        edge.error = ((PRIOR * scale * *spread + free * edge.error * edge.error) / (PRIOR + free)).sqrt();
    }
}

/// Gives a tree the lengths that were measured; those below 0 become 0.
pub(crate) fn apply(tree: &mut Tree, edges: &[Edge]) {
    edges.iter().for_each(|e| tree.join(e.a, e.b, e.length.max(0.0)));
}

fn of_edge(
    distances: &Distances,
    pairs: &Pairs,
    on: (&Tree, &Branches),
    ends: (usize, usize),
) -> (Edge, f64) {
    let (a, b) = ends;
    let sides = [side(on.0, on.1, a, b), side(on.0, on.1, b, a)];
    let mut sum = Linear::default();
    let mut total = 0.0;
    for &(a, b) in &sides[0] {
        for &(c, d) in &sides[1] {
            let v = |i: usize, j: usize| if i == j { 0.0 } else { pairs.variance(i, j) };
            let w = 1.0
                / (v(a, b) + v(c, d) + v(a, c) + v(a, d) + v(b, c) + v(b, d)).max(f64::MIN_POSITIVE.sqrt());
            total += w;
            [(a, c), (a, d), (b, c), (b, d)].into_iter().for_each(|(i, j)| sum.add(i, j, 0.25 * w));
            sum.add(a, b, -0.5 * w);
            sum.add(c, d, -0.5 * w);
        }
    }
    sum.close(total.max(f64::MIN_POSITIVE));
    let (length, error) = sum.measure(distances);
    (Edge { a, b, length, error }, sum.spread(|i, j| pairs.variance(i, j)))
}

/// Pairs of variables in different branches of `at`, away from `other`; an observed node is a pair with itself.
fn side(tree: &Tree, branches: &Branches, at: usize, other: usize) -> Vec<(usize, usize)> {
    if !tree.is_hidden(at) {
        return vec![(at, at)];
    }
    let around: Vec<usize> = tree.neighbours(at).keys().copied().filter(|&n| n != other).collect();
    let each = (SPEAKERS / around.len().max(1)).max(1);
    let mut all: Vec<(usize, Near)> = Vec::new();
    for (branch, &n) in around.iter().enumerate() {
        let length = tree.length(at, n).unwrap_or(0.0).max(0.0);
        all.extend(branches.behind(at, n).iter().take(each).map(|&(x, d)| (branch, (x, d + length))));
    }
    all.sort_by(|x, y| x.1.1.total_cmp(&y.1.1).then(x.1.0.cmp(&y.1.0)));
    all.truncate(SPEAKERS);
    let mut chosen = Vec::new();
    for (i, x) in all.iter().enumerate() {
        chosen.extend(all[..i].iter().filter(|y| y.0 != x.0).map(|y| (y.1.0, x.1.0)));
    }
    chosen
}
