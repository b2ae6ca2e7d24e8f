//! Leading directions of a graph, and how many communities they speak for.

use super::data::Graph;
use super::moments::{Stars, product};
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::device::{Device, Product};
use tenfold_engine::linalg::{Adjacency, Lanczos, Tall, TallEigen, TallOperator, Wanted};
use tenfold_engine::progress::Progress;

/// Residual of the directions in shares of the smallest wanted eigenvalue. A fixed number of products is no substitute: directions that
/// had not converged were the only failures. A tenth of this changes no membership in the third digit.
const TOLERANCE: f64 = 0.05;

/// Most communities that are looked for when nobody says how many.
const MOST: usize = 100;

/// Most that are looked for in a graph of so many nodes on either side.
pub(super) fn most(rows: usize, columns: usize) -> usize {
    MOST.min(rows.min(columns) / 4).max(1)
}

/// Parts that edges are dealt to; one of them confirms what the others show.
pub(super) const FOLDS: u64 = 5;

/// How directions are sought.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub seed: u64,
    pub device: &'a Device,
    pub progress: &'a dyn Progress,
}

/// A symmetric adjacency matrix of so many nodes, wherever it is multiplied.
struct Symmetric<'a>(usize, Box<dyn Product + 'a>);

impl TallOperator for Symmetric<'_> {
    fn dim(&self) -> usize {
        self.0
    }
    fn apply(&self, x: &Tall) -> tenfold_engine::Result<Tall> {
        self.1.multiply(x)
    }
}

/// AᵀA, of so many leaves: its eigenvectors are the right singular vectors of A.
struct Squared<'a> {
    leaves: usize,
    forward: Box<dyn Product + 'a>,
    back: Box<dyn Product + 'a>,
}

impl TallOperator for Squared<'_> {
    fn dim(&self) -> usize {
        self.leaves
    }
    fn apply(&self, x: &Tall) -> tenfold_engine::Result<Tall> {
        self.back.multiply(&self.forward.multiply(x)?)
    }
}

/// The directions of the leaves: eigenvectors of a symmetric graph with eigenvalues largest in size, right singular vectors
/// of any other.
pub(super) fn directions(
    stars: Stars<'_>,
    symmetric: bool,
    k: usize,
    search: Search<'_>,
) -> Result<TallEigen> {
    let Search { seed, device, progress } = search;
    progress.stage("finding directions", 0);
    // Singular values are the roots of eigenvalues: the same residual asks for the square of the tolerance's effect.
    let (wanted, tolerance) =
        if symmetric { (Wanted::LargestMagnitude, TOLERANCE) } else { (Wanted::Largest, 2.0 * TOLERANCE) };
    let lanczos = Lanczos { wanted, tolerance, seed, ..Lanczos::default() };
    let mut found = if symmetric {
        lanczos.solve(&Symmetric(stars.hubs.rows(), device.adjacency(stars.hubs)?), k, progress)?
    } else {
        let (forward, back) = (device.adjacency(stars.hubs)?, device.adjacency(stars.leaves)?);
        lanczos.solve(&Squared { leaves: stars.leaves.rows(), forward, back }, k, progress)?
    };
    if !symmetric {
        for value in found.values.iter_mut().chain(&mut found.beyond) {
            *value = value.max(0.0).sqrt();
        }
    }
    Ok(found)
}

/// How many communities a graph shows, by two counts that know nothing of each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counted {
    /// Negative eigenvalues of the Bethe–Hessian matrix; none where the graph is not symmetric.
    pub bethe_hessian: Option<usize>,
    /// Directions of four fifths of the edges that keep more than half of their weight in the last fifth.
    pub kept: usize,
    /// Those that keep more than a quarter.
    pub kept_partly: usize,
    /// Whether there are fewer than [`FEW_EDGES`].
    pub few_edges: bool,
}

crate::checkpoint::keep! { Counted { bethe_hessian, kept, kept_partly, few_edges } }

/// Edges below which a fifth of them tells too little: of four cliques of eight nodes half of the seeds confirmed none.
pub(super) const FEW_EDGES: u64 = 2000;

impl Counted {
    /// The number to take: what both counts vouch for, at least one; that of the Bethe–Hessian alone where there are too few edges for
    /// a fifth of them to confirm anything.
    pub fn choice(&self) -> usize {
        if let (true, Some(b)) = (self.few_edges, self.bethe_hessian) {
            return b.max(1);
        }
        self.bethe_hessian.map_or(self.kept, |b| b.min(self.kept.max(1))).max(1)
    }

    /// Smallest and largest number that either count would take.
    pub fn interval(&self) -> (usize, usize) {
        let low = self.choice();
        (low, self.kept_partly.max(self.bethe_hessian.unwrap_or(0)).max(low))
    }
}

/// r·A − D: has an eigenvalue above r² − 1 for every negative one of the Bethe–Hessian (r² − 1)I − rA + D.
struct BetheHessian<'a> {
    nodes: usize,
    adjacency: Box<dyn Product + 'a>,
    strengths: &'a [f64],
    radius: f64,
}

impl TallOperator for BetheHessian<'_> {
    fn dim(&self) -> usize {
        self.nodes
    }
    fn apply(&self, x: &Tall) -> tenfold_engine::Result<Tall> {
        let mut out = self.adjacency.multiply(x)?;
        let (width, r) = (x.width().max(1), self.radius as f32);
        let rows = out.as_mut_slice().chunks_exact_mut(width).zip(x.as_slice().chunks_exact(width));
        for ((out, x), d) in rows.zip(self.strengths) {
            out.iter_mut().zip(x).for_each(|(o, v)| *o = r * *o - *d as f32 * v);
        }
        Ok(out)
    }
}

/// Counts communities.
///
/// # References
/// Saade, Krzakala and Zdeborová 2014 (Bethe–Hessian, r² = ⟨d²⟩/⟨d⟩ − 1); edges as samples: Li, Levina and Zhu 2020.
pub(super) fn count(graph: &Graph, search: Search<'_>) -> Result<Counted> {
    let adjacency = graph.adjacency();
    let symmetric = graph.transposed().is_none();
    let most = most(adjacency.rows(), adjacency.cols());
    search.progress.stage("choosing k", 0);
    // The count is for edges that are there or not.
    let bethe_hessian = match symmetric {
        true => {
            let pattern = adjacency.weighted().then(|| filtered(adjacency, |_, _| true, |_, _, _| 1.0));
            Some(bethe_hessian(pattern.as_ref().unwrap_or(adjacency), most, search)?)
        }
        false => None,
    };
    let ratios = kept_by_others(graph, most, search)?;
    // Directions come in order of weight: the first that is not kept ends the count, and noise beyond it does not resume it.
    let run = |limit: f64| ratios.iter().take_while(|r| **r > limit).count();
    Ok(Counted {
        bethe_hessian,
        kept: run(0.5),
        kept_partly: run(0.25),
        few_edges: graph.edges() < FEW_EDGES,
    })
}

fn bethe_hessian(a: &Adjacency, most: usize, search: Search<'_>) -> Result<usize> {
    let strengths = a.strengths();
    let (sum, squares) = strengths.iter().fold((0.0, 0.0), |(s, q), d| (s + d, q + d * d));
    let radius = (squares / f64::max(sum, 1.0) - 1.0).max(1.0).sqrt();
    let nodes = a.rows();
    let operator =
        BetheHessian { nodes, adjacency: search.device.adjacency(a)?, strengths: &strengths, radius };
    let limit = radius * radius - 1.0;
    let mut asked = 16.min(most);
    loop {
        let lanczos = Lanczos {
            wanted: Wanted::Largest,
            tolerance: 0.02,
            seed: search.seed,
            max_products: 60,
            ..Lanczos::default()
        };
        let found = lanczos.solve(&operator, asked, search.progress)?;
        let count = found.values.iter().filter(|v| **v > limit).count();
        if count < asked || asked == most {
            return Ok(count);
        }
        asked = (2 * asked).min(most);
    }
}

/// For directions of the regularised Laplacian of four fifths of the edges, the share of their weight that the last fifth
/// gives them too. Halves were tried: in a graph of a few hundred edges no direction of a half is exact enough to be
/// confirmed.
fn kept_by_others(graph: &Graph, most: usize, search: Search<'_>) -> Result<Vec<f64>> {
    let seed = search.seed;
    let symmetric = graph.transposed().is_none();
    let seen = part(graph.adjacency(), symmetric, (seed, FOLDS), |fold| fold != 0);
    let unseen = part(graph.adjacency(), symmetric, (seed, FOLDS), |fold| fold == 0);
    let [left, right] = [damped(&seen.strengths()), damped(&seen.column_strengths())];
    let scale = |u: usize, v: u32, w: f32| (f64::from(w) * left[u] * right[v as usize]) as f32;
    let [a, b] = [seen, unseen].map(|h| h.reweighed(scale));
    let transpose = (!symmetric).then(|| a.transpose());
    let leaves = transpose.as_ref().unwrap_or(&a);
    let found = directions(Stars { hubs: &a, leaves }, symmetric, most, search)?;
    drop(transpose);
    let v = &found.vectors;
    let mut first = v.clone();
    if !symmetric {
        // u = A v / σ, so that uᵀ A v = σ.
        first = product(&a, v);
        for row in first.as_mut_slice().chunks_exact_mut(v.width().max(1)) {
            row.iter_mut().zip(&found.values).for_each(|(x, s)| *x /= s.max(1e-12) as f32);
        }
    }
    let second = product(&b, v);
    let cross = first.gram(&second);
    Ok((0..v.width()).map(|i| (FOLDS - 1) as f64 * cross[(i, i)] / found.values[i]).collect())
}

/// Directions of the regularised Laplacian D^(−½) A D^(−½) with D = diag(d + mean d) on the side of the hubs: a start that owes
/// nothing to the moments, and that hubs of large degree do not rule (Amini, Chen, Bickel and Levina 2013).
pub(super) fn laplacian(stars: Stars<'_>, symmetric: bool, k: usize, search: Search<'_>) -> Result<Tall> {
    let [left, right] = [damped(&stars.hubs.strengths()), damped(&stars.leaves.strengths())];
    let a = scaled(stars.hubs, &left, &right);
    if symmetric {
        let found = directions(Stars { hubs: &a, leaves: &a }, true, k, search)?;
        return Ok(found.vectors);
    }
    let transpose = a.transpose();
    let found = directions(Stars { hubs: &a, leaves: &transpose }, false, k, search)?;
    Ok(product(&a, &found.vectors))
}

/// 1/√(d + mean d).
pub(super) fn damped(strengths: &[f64]) -> Vec<f64> {
    let mean = strengths.iter().sum::<f64>() / strengths.len().max(1) as f64;
    strengths.iter().map(|d| 1.0 / (d + mean.max(1e-12)).sqrt()).collect()
}

/// The edges that a hash deals to the wanted folds; both directions of an edge go together.
///
/// Both ends are mixed on their own: where the second one only shifted what the first had given, folds lay in a pattern over the nodes that
/// the directions of a dense graph showed, and edges of one fold were fewer where the others had more.
pub(super) fn part(
    a: &Adjacency,
    symmetric: bool,
    (seed, folds): (u64, u64),
    wanted: impl Fn(u64) -> bool + Sync,
) -> Adjacency {
    let start = mixed(seed).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mine = |u: usize, v: u32| {
        let (x, y) = if symmetric && u > v as usize { (v as usize, u) } else { (u, v as usize) };
        let first = mixed(start.wrapping_add(x as u64));
        wanted((mixed(first.wrapping_add(y as u64)) >> 11) % folds)
    };
    filtered(a, mine, |_, _, w| w)
}

/// A number that changes altogether when one bit of `x` does.
pub(super) fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// diag(left) · A · diag(right).
fn scaled(a: &Adjacency, left: &[f64], right: &[f64]) -> Adjacency {
    filtered(a, |_, _| true, |u, v, w| (f64::from(w) * left[u] * right[v as usize]) as f32)
}

/// c · A.
pub(super) fn rescaled(a: &Adjacency, c: f64) -> Adjacency {
    filtered(a, |_, _| true, |_, _, w| (f64::from(w) * c) as f32)
}

fn filtered(
    a: &Adjacency,
    keep: impl Fn(usize, u32) -> bool + Sync,
    weight: impl Fn(usize, u32, f32) -> f32,
) -> Adjacency {
    // Counted first: arrays that grow by doubling are held up to three times over while they are moved.
    let kept = |u: usize| a.row(u).0.iter().filter(|v| keep(u, **v)).count();
    let count: usize = (0..a.rows()).into_par_iter().map(kept).sum();
    let mut starts = Vec::with_capacity(a.rows() + 1);
    starts.push(0);
    let (mut indices, mut weights) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for u in 0..a.rows() {
        let (at, own) = a.row(u);
        for (e, &v) in at.iter().enumerate().filter(|(_, v)| keep(u, **v)) {
            indices.push(v);
            weights.push(weight(u, v, own.map_or(1.0, |w| w[e])));
        }
        starts.push(indices.len());
    }
    Adjacency::new(a.cols(), starts, indices, Some(weights)).expect("a part of a matrix is a matrix")
}
