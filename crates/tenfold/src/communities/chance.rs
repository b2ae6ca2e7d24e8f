//! Whether edges that were kept aside confirm the directions of the others, as chance alone would not have it.

mod beyond;
mod degrees;
#[cfg(test)]
mod tests;

use super::data::{Graph, Kind};
use super::moments::product;
use super::spectrum::{FEW_EDGES, FOLDS, Search, damped, part};
use crate::error::Result;
use beyond::{Expected, Half, Terms};
use degrees::Degrees;
use tenfold_engine::linalg::{Adjacency, Lanczos, Tall, TallOperator, Wanted};

/// Directions that are looked at: communities that are there show in the first few.
pub(super) const DIRECTIONS: usize = 4;

/// Products after which directions are taken as they are: those of communities have long converged, and noise never does.
const PRODUCTS: usize = 24;

/// Columns of the search's basis: enough for a few directions, and less than what the fit itself holds.
pub(super) const WIDEST: usize = 64;

/// Edges from which on one in [`RARE`] is enough to confirm.
const MANY_EDGES: u64 = 1 << 20;

const RARE: u64 = 20;

/// Parts that so many edges are dealt to.
pub(super) fn folds(edges: u64) -> u64 {
    if edges < MANY_EDGES { FOLDS } else { RARE }
}

/// D^(−½) (A − B) D^(−½) for edges B that are kept aside: A itself is multiplied, so that only B takes memory.
struct Others<'a> {
    all: &'a Adjacency,
    aside: &'a Adjacency,
    rows: &'a [f64],
    cols: &'a [f64],
}

impl Others<'_> {
    fn apply(&self, x: &Tall) -> Tall {
        let scaled = times(x, self.cols);
        let mut out = product(self.all, &scaled);
        let less = product(self.aside, &scaled);
        out.as_mut_slice().iter_mut().zip(less.as_slice()).for_each(|(o, l)| *o -= l);
        times(&out, self.rows)
    }
}

/// diag(d) · X.
fn times(x: &Tall, d: &[f64]) -> Tall {
    let mut out = x.clone();
    let rows = out.as_mut_slice().chunks_exact_mut(x.width().max(1));
    rows.zip(d).for_each(|(row, d)| row.iter_mut().for_each(|value| *value *= *d as f32));
    out
}

/// The operator whose eigenvectors are the directions of the leaves: S itself, or SᵀS.
struct Directions<'a> {
    forward: Others<'a>,
    back: Option<Others<'a>>,
}

impl TallOperator for Directions<'_> {
    fn dim(&self) -> usize {
        self.forward.cols.len()
    }
    fn apply(&self, x: &Tall) -> tenfold_engine::Result<Tall> {
        let out = self.forward.apply(x);
        Ok(self.back.as_ref().map_or_else(|| out.clone(), |back| back.apply(&out)))
    }
}

/// How surely edges that were kept aside confirm the leading directions of the others, in standard errors.
///
/// With directions u, v of four fifths of the edges and B the last fifth, Σ_i sign(λ_i) u_iᵀ (B − E[B]) v_i has mean zero in a graph
/// that knows degrees only. E[B] is that of a graph that joins a pair at most once, where hubs have fewer edges with each other than
/// the product of their degrees says and all others more ([`Degrees`]), on the pairs that the four fifths leave free and with the
/// degrees of B ([`Expected`]). Directed and bipartite graphs have degrees of two sides; with weights, pairs are joined by the
/// numbers of edges, and sums of weights take the place of B's degrees. A graph of few edges is gone through fold by fold.
///
/// # Complexity
/// 24 products for the directions, and some forty passes over the edges for what degrees explain; in memory B, and a dozen numbers a node.
///
/// # References
/// Park and Newman, "Statistical mechanics of networks", Physical Review E 70 (2004), for graphs of given degrees.
pub(super) fn confirmed(graph: &Graph, k: usize, search: Search<'_>) -> Result<Option<f64>> {
    if k < 2 {
        return Ok(None);
    }
    search.progress.stage("asking edges kept aside", 0);
    let folds = folds(graph.edges());
    let asked = if graph.edges() < FEW_EDGES { folds } else { 1 };
    let degrees = Degrees::of(graph);
    let (mut sum, mut squares) = (0.0, 0.0);
    for fold in 0..asked {
        let (s, q) = score(graph, &degrees, k.min(DIRECTIONS), (fold, folds), search)?;
        (sum, squares) = (sum + s, squares + q);
    }
    // Fold by fold every two edges meet twice, each once as a judge of the other: the same chance counts twice, and its variance four times
    // instead of two.
    let variance = if asked > 1 { 2.0 * squares } else { squares };
    Ok((variance > 0.0).then(|| sum / variance.sqrt()))
}

/// The sum over the edges of one fold beyond what degrees explain, and its variance.
fn score(
    graph: &Graph,
    degrees: &Degrees,
    wanted: usize,
    (fold, folds): (u64, u64),
    search: Search<'_>,
) -> Result<(f64, f64)> {
    let all = graph.adjacency();
    let symmetric = graph.transposed().is_none();
    let aside = part(all, symmetric, (search.seed, folds), |own| own == fold);
    if aside.entries() == 0 || aside.entries() == all.entries() {
        return Ok((0.0, 0.0));
    }
    let turned = (!symmetric).then(|| aside.transpose());
    let own = [aside.strengths(), turned.as_ref().unwrap_or(&aside).strengths()];
    let both = [all.strengths(), graph.transposed().unwrap_or(all).strengths()];
    let [rows, cols] = [0, 1].map(|side| {
        let rest: Vec<f64> = both[side].iter().zip(&own[side]).map(|(d, o)| d - o).collect();
        damped(&rest)
    });
    let operator = Directions {
        forward: Others { all, aside: &aside, rows: &rows, cols: &cols },
        back: graph.transposed().zip(turned.as_ref()).map(|(all, aside)| Others {
            all,
            aside,
            rows: &cols,
            cols: &rows,
        }),
    };
    let lanczos = Lanczos {
        wanted: if symmetric { Wanted::LargestMagnitude } else { Wanted::Largest },
        tolerance: 0.05,
        seed: search.seed,
        max_products: PRODUCTS,
        widest: Some(WIDEST),
        ..Lanczos::default()
    };
    let found = lanczos.solve(&operator, wanted, search.progress)?;
    let right = times(&found.vectors, &cols);
    let left = if symmetric { right.clone() } else { times(&operator.forward.apply(&found.vectors), &rows) };
    // Left directions are u = S v / σ; only their signs and sizes to each other matter.
    let weights: Vec<f64> = found
        .values
        .iter()
        .map(|value| if symmetric { value.signum() } else { 1.0 / value.max(1e-12).sqrt() })
        .collect();
    let back = Half { all: graph.transposed().unwrap_or(all), aside: turned.as_ref().unwrap_or(&aside) };
    let itself = graph.kind() != Kind::Bipartite;
    let expected = Expected::new(degrees, [Half { all, aside: &aside }, back], itself);
    let (sum, variance) = expected.score(Terms { left: &left, right: &right, weights: &weights });
    // Every edge of a symmetric graph stands twice: its two terms are one.
    let times = if symmetric { 2.0 } else { 1.0 };
    Ok((sum / times, variance / times))
}
