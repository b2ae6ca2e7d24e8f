//! Whether edges that were kept aside confirm the directions of the others, as chance alone would not have it.

use super::data::{Graph, Kind};
use super::moments::product;
use super::spectrum::{FEW_EDGES, FOLDS, Search, damped, part};
use crate::error::Result;
use tenfold_engine::linalg::{Adjacency, Lanczos, Tall, TallOperator, Wanted};

/// Directions that are looked at: communities that are there show in the first few.
const DIRECTIONS: usize = 4;

/// Products after which directions are taken as they are: those of communities have long converged, and noise never does.
const PRODUCTS: usize = 24;

/// Columns of the search's basis: enough for a few directions, and less than what the fit itself holds.
const WIDEST: usize = 64;

/// Edges from which on one in [`RARE`] is enough to confirm.
const MANY_EDGES: u64 = 1 << 20;

const RARE: u64 = 20;

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
/// With directions u, v of four fifths of the edges and B the last fifth, Σ_i sign(λ_i) (u_iᵀ B v_i − u_iᵀ E[B] v_i) has mean
/// zero in a graph that knows degrees only, E[B_uv] ∝ d_u d_v over the pairs that the four fifths do not join, whatever the degrees and
/// weights are; its variance is the sum of the squared terms of the edges. A graph of few edges is gone through fold by fold.
pub(super) fn confirmed(graph: &Graph, k: usize, search: Search<'_>) -> Result<Option<f64>> {
    if k < 2 {
        return Ok(None);
    }
    search.progress.stage("asking edges kept aside", 0);
    let folds = if graph.edges() < MANY_EDGES { FOLDS } else { RARE };
    let asked = if graph.edges() < FEW_EDGES { folds } else { 1 };
    let (mut sum, mut squares) = (0.0, 0.0);
    for fold in 0..asked {
        let (s, q) = score(graph, k.min(DIRECTIONS), (fold, folds), search)?;
        (sum, squares) = (sum + s, squares + q);
    }
    Ok((squares > 0.0).then(|| sum / squares.sqrt()))
}

/// The sum over the edges of one fold beyond what degrees explain, and the sum of its squared terms.
fn score(graph: &Graph, wanted: usize, (fold, folds): (u64, u64), search: Search<'_>) -> Result<(f64, f64)> {
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
    let term = |u: usize, v: usize| -> f64 {
        let pairs = left.row(u).iter().zip(right.row(v)).zip(&weights);
        pairs.map(|((a, b), w)| w * f64::from(*a) * f64::from(*b)).sum()
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    each_edge(&aside, |u, v, w| {
        let value = w * term(u, v);
        (sum, squares) = (sum + value, squares + value * value);
    });
    // What degrees put on pairs that could still be joined: not a node with itself, and not those that the others join.
    let mut free = Free::of(&own, (&left, &right, &weights));
    if graph.kind() != Kind::Bipartite {
        (0..own[0].len()).for_each(|u| free.take(own[0][u] * own[1][u], || term(u, u)));
    }
    each_edge(all, |u, v, _| free.take(own[0][u] * own[1][v], || term(u, v)));
    each_edge(&aside, |u, v, _| free.take(-own[0][u] * own[1][v], || term(u, v)));
    // Every edge of a symmetric graph stands twice: its two terms are one.
    let times = if symmetric { 2.0 } else { 1.0 };
    Ok(((sum - free.mean(own[0].iter().sum())) / times, squares / times))
}

fn each_edge(a: &Adjacency, mut visit: impl FnMut(usize, usize, f64)) {
    for u in 0..a.rows() {
        let (at, values) = a.row(u);
        for (e, &v) in at.iter().enumerate() {
            visit(u, v as usize, f64::from(values.map_or(1.0, |w| w[e])));
        }
    }
}

/// Σ d_u d_v t(u, v) and Σ d_u d_v over pairs, from which pairs are taken away.
struct Free {
    terms: f64,
    mass: f64,
}

impl Free {
    fn of(own: &[Vec<f64>; 2], (left, right, weights): (&Tall, &Tall, &[f64])) -> Self {
        let sums = |x: &Tall, d: &[f64]| -> Vec<f64> {
            let mut out = vec![0.0; x.width()];
            for (u, d) in d.iter().enumerate() {
                out.iter_mut().zip(x.row(u)).for_each(|(o, value)| *o += d * f64::from(*value));
            }
            out
        };
        let [a, b] = [sums(left, &own[0]), sums(right, &own[1])];
        let terms = a.iter().zip(&b).zip(weights).map(|((a, b), w)| w * a * b).sum();
        Self { terms, mass: own[0].iter().sum::<f64>() * own[1].iter().sum::<f64>() }
    }

    /// Takes a pair of this mass away.
    fn take(&mut self, mass: f64, term: impl Fn() -> f64) {
        if mass != 0.0 {
            self.terms -= mass * term();
            self.mass -= mass;
        }
    }

    /// The expected sum of terms when edges of this total lie on the pairs that are left.
    fn mean(&self, total: f64) -> f64 {
        if self.mass > 0.0 { total * self.terms / self.mass } else { 0.0 }
    }
}
