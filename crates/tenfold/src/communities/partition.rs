//! The thesis's views: nodes dealt into X, A, B and C, hubs in X seen from the other three.
//!
//! With Pairs(B, C) = G_XBᵀ G_XC / |X| and so on, Z_B = Pairs(A, C) Pairs(B, C)⁺ carries what B sees to A, Z_C likewise, and
//!
//!   M2 = (α0+1)/|X| Σ_x Z_C g_xC ⊗ Z_B g_xB − α0 M1⊗M1,   M3 from g_xA ⊗ Z_B g_xB ⊗ Z_C g_xC
//!
//! have no pair of equal leaves by construction (thesis, equations for the moments of a graph). One partition sees a quarter of
//! the hubs; all four turns of several partitions are averaged.

use super::data::{Graph, Kind};
use super::estimate::Estimate;
use super::fit::Params;
use super::moments::{Stars, symmetric};
use crate::error::{Error, Result};
use tenfold_engine::decompose::Decomposition;
use tenfold_engine::linalg::{
    Adjacency, Csr, LinearOperator, Mat, RangeFinder, Svd, Tall, TallEigen, assign, eigen_symmetric,
    orthonormalise, random, solve,
};
use tenfold_engine::progress::Progress;
use tenfold_engine::tensor::{Implicit, Tensor3, Term};

/// Pairs of what two sets see of the hubs: Pᵀ Q / |X|.
struct Pairs<'a> {
    left: &'a Csr,
    left_transposed: &'a Csr,
    right: &'a Csr,
    right_transposed: &'a Csr,
}

impl LinearOperator for Pairs<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.left.cols(), self.right.cols())
    }
    fn apply(&self, x: &Mat) -> tenfold_engine::Result<Mat> {
        let hubs = self.left.rows().max(1) as f64;
        Ok(self.left_transposed.matmul(&self.right.matmul(x)).map(|v| v / hubs))
    }
    fn apply_transpose(&self, x: &Mat) -> tenfold_engine::Result<Mat> {
        let hubs = self.left.rows().max(1) as f64;
        Ok(self.right_transposed.matmul(&self.left.matmul(x)).map(|v| v / hubs))
    }
}

/// What one turn of a partition finds: raw memberships of the nodes outside A.
struct Turn {
    nodes: Vec<usize>,
    memberships: Mat,
    found: Decomposition,
    spectrum: Vec<f64>,
}

/// The estimate of [`Params::estimate`] by partitions: memberships averaged over all turns, and corners fitted to them.
pub(super) fn estimate(
    params: &Params,
    graph: &Graph,
    (stars, directions): (Stars<'_>, &TallEigen),
    rounds: usize,
    progress: &dyn Progress,
) -> Result<Estimate> {
    let k = directions.values.len();
    check(graph, k)?;
    let mut sum = Mat::zeros(graph.nodes(), k);
    let mut times = vec![0.0; graph.nodes()];
    let mut first: Option<Turn> = None;
    for round in 0..rounds.max(1) {
        let order = random::permutation(graph.nodes(), &mut random::rng(params.seed, 950 + round as u64));
        let size = order.len().div_ceil(4);
        let parts: Vec<&[usize]> =
            (0..4).map(|p| &order[(p * size).min(order.len())..((p + 1) * size).min(order.len())]).collect();
        for turn in 0..4 {
            progress.check()?;
            let sets = [0, 1, 2, 3].map(|p| parts[(p + turn) % 4]);
            let seen = one_turn(params, graph.adjacency(), sets, k, progress)?;
            let columns = match &first {
                Some(_) => matched(&sum, &times, &seen),
                None => (0..k).collect(),
            };
            for (i, &u) in seen.nodes.iter().enumerate() {
                times[u] += 1.0;
                let row = seen.memberships.row(i);
                sum.row_mut(u)
                    .iter_mut()
                    .zip(&columns)
                    .for_each(|(s, &c)| *s += row.get(c).copied().unwrap_or(0.0));
            }
            first.get_or_insert(seen);
        }
    }
    sum.scale_rows(&times.iter().map(|t| 1.0 / f64::max(*t, 1.0)).collect::<Vec<_>>());
    let Turn { found, spectrum, .. } = first.expect("there is at least one turn");
    let seen = stars.seen(&directions.vectors);
    let shares = simplex_rows(&sum);
    let mut gram = shares.gram(&shares);
    (0..k).for_each(|i| gram[(i, i)] += 1e-9 * graph.nodes() as f64);
    let corners = solve(&gram, &shares.gram(&seen.sums));
    Ok(Estimate::with_corners(seen, corners, spectrum, found))
}

/// Nodes of one kind, and enough of them that a quarter tells k communities.
fn check(graph: &Graph, k: usize) -> Result<()> {
    let expected = match graph.kind() {
        Kind::Bipartite => "all, for a bipartite graph has two sets of nodes already".to_owned(),
        _ if graph.nodes() < 8 * (k + 1) => {
            format!("all, for a quarter of {} nodes is too few to tell {k} communities", graph.nodes())
        }
        _ => return Ok(()),
    };
    Err(Error::BadParameter { name: "views".into(), value: "partition".into(), expected })
}

/// Clipped and brought to sum 1.
fn simplex_rows(x: &Mat) -> Tall {
    let mut out = x.map(|v| v.max(0.0));
    let k = x.cols() as f64;
    for u in 0..out.rows() {
        let total: f64 = out.row(u).iter().sum();
        out.row_mut(u).iter_mut().for_each(|v| *v = if total > 0.0 { *v / total } else { 1.0 / k });
    }
    Tall::from_mat(&out)
}

/// Which column of the new memberships belongs to which of the sum, by their inner products over common nodes.
fn matched(sum: &Mat, times: &[f64], seen: &Turn) -> Vec<usize> {
    let k = sum.cols();
    let mut cross = Mat::zeros(k, k);
    for (i, &u) in seen.nodes.iter().enumerate().filter(|(_, u)| times[**u] > 0.0) {
        for a in 0..k {
            let own = sum[(u, a)] / times[u];
            cross.row_mut(a).iter_mut().zip(seen.memberships.row(i)).for_each(|(c, x)| *c += own * x);
        }
    }
    assign(&cross)
}

fn one_turn(
    params: &Params,
    graph: &Adjacency,
    [x, a, b, c]: [&[usize]; 4],
    k: usize,
    progress: &dyn Progress,
) -> Result<Turn> {
    let [ga, gb, gc] = [a, b, c].map(|columns| part(graph, x, columns));
    let [ta, tb, tc] = [&ga, &gb, &gc].map(Csr::transpose);
    let finder = RangeFinder { seed: params.seed, ..RangeFinder::default() };
    let pairs = |left, left_transposed, right, right_transposed| {
        finder.svd(&Pairs { left, left_transposed, right, right_transposed }, k)
    };
    let (ab, ac, bc) = (pairs(&ga, &ta, &gb, &tb)?, pairs(&ga, &ta, &gc, &tc)?, pairs(&gb, &tb, &gc, &tc)?);
    // Z_B = zb · U_bcᵀ and Z_C = zc · V_bcᵀ.
    let zb = carried(&ac, &ac.v, &bc, &bc.v);
    let zc = carried(&ab, &ab.v, &bc, &bc.u);
    let hubs = ga.rows().max(1) as f64;
    let mean = ta.matmul(&Mat::from_fn(ga.rows(), 1, |_, _| 1.0 / hubs));
    let basis = orthonormalise(&beside(&[&zc, &zb, &mean]));
    let mut scaled = zc.clone();
    scaled.scale_cols(&bc.s);
    let second = symmetric(&basis.tr_matmul(&scaled).matmul_tr(&basis.tr_matmul(&zb)));
    let m = basis.tr_matmul(&mean);
    let alpha0 = params.alpha0;
    let corrected = Mat::from_fn(second.rows(), second.rows(), |i, j| {
        (alpha0 + 1.0) * second[(i, j)] - alpha0 * m[(i, 0)] * m[(j, 0)]
    });
    let eigen = eigen_symmetric(&symmetric(&corrected))?;
    let floor = 1e-9 * eigen.values[0].abs();
    let usable = eigen.values.iter().take(k).filter(|v| **v > floor).count();
    if usable == 0 {
        let message = "a quarter of the nodes tells nothing about communities; give a larger graph, or take all nodes for views";
        return Err(tenfold_engine::Error::TooLittleData(message.into()).into());
    }
    let mut small = eigen.vectors.first_cols(usable);
    small.scale_cols(&eigen.values[..usable].iter().map(|v| v.powf(-0.5)).collect::<Vec<_>>());
    let white = basis.matmul(&small);
    let ya = ga.matmul(&white);
    let yb = gb.matmul(&bc.u.matmul(&zb.tr_matmul(&white)));
    let yc = gc.matmul(&bc.v.matmul(&zc.tr_matmul(&white)));
    let third = third_moment([&ya, &yb, &yc], alpha0)?;
    let found = params.solver.decompose(&third, usable, params.seed, progress)?;
    let nodes: Vec<usize> = [x, b, c].concat();
    let mut memberships = part(graph, &nodes, a).matmul(&white).matmul(&found.cp.factors);
    memberships.scale_cols(&found.cp.weights.iter().map(|l| 1.0 / l.max(1e-6)).collect::<Vec<_>>());
    Ok(Turn { nodes, memberships, found, spectrum: eigen.values })
}

/// U s (Vᵀ P) s_bc⁻¹ for P one side of Pairs(B, C).
fn carried(from: &Svd, right: &Mat, bc: &Svd, side: &Mat) -> Mat {
    let mut left = from.u.clone();
    left.scale_cols(&from.s);
    let mut middle = right.tr_matmul(side);
    let floor = 1e-9 * bc.s.first().copied().unwrap_or(0.0);
    middle.scale_cols(&bc.s.iter().map(|s| 1.0 / s.max(floor).max(f64::MIN_POSITIVE)).collect::<Vec<_>>());
    left.matmul(&middle)
}

/// (α0+1)(α0+2)/2 E\[sym a⊗b⊗c\] − α0(α0+1)/2 (pairs ⊗ mean, symmetrised) + α0² mean⊗³.
fn third_moment([ya, yb, yc]: [&Mat; 3], alpha0: f64) -> Result<Tensor3> {
    let (n, k) = (ya.rows().max(1) as f64, ya.cols());
    let mut both = ya.clone();
    both.add_scaled(1.0, yb);
    // (a+b)(a+b)c − aac − bbc are the six orders of abc.
    let mut third = Tensor3::from_mixed(&both, yc, None)?;
    third.add_scaled(-1.0, &Tensor3::from_mixed(ya, yc, None)?);
    third.add_scaled(-1.0, &Tensor3::from_mixed(yb, yc, None)?);
    let mut out = Tensor3::zeros(k);
    out.add_scaled((alpha0 + 1.0) * (alpha0 + 2.0) / 2.0 / (6.0 * n), &third);
    if alpha0 > 0.0 {
        let ones = vec![1.0 / (3.0 * n); ya.rows()];
        let mut mean = vec![0.0; k];
        for y in [ya, yb, yc] {
            mean.iter_mut().zip(y.tr_matvec(&ones)).for_each(|(m, v)| *m += v);
        }
        let mut pairs = ya.tr_matmul(yb);
        pairs.add_scaled(1.0, &ya.tr_matmul(yc));
        pairs.add_scaled(1.0, &yb.tr_matmul(yc));
        let matrix = symmetric(&pairs.map(|v| v / (3.0 * n)));
        let terms = vec![
            Term::MatrixVector { matrix, vector: mean.clone(), scale: -alpha0 * (alpha0 + 1.0) / 2.0 },
            Term::RankOne { vector: mean, scale: alpha0 * alpha0 },
        ];
        out.add_scaled(1.0, &Implicit::new(3, k, terms).to_tensor3()?);
    }
    Ok(out)
}

/// The rows and columns of these nodes.
fn part(graph: &Adjacency, rows: &[usize], columns: &[usize]) -> Csr {
    let mut place = vec![u32::MAX; graph.cols()];
    columns.iter().enumerate().for_each(|(i, &v)| place[v] = i as u32);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for &u in rows {
        let (at, weights) = graph.row(u);
        for (e, &v) in at.iter().enumerate().filter(|(_, v)| place[**v as usize] != u32::MAX) {
            indices.push(place[v as usize]);
            values.push(f64::from(weights.map_or(1.0, |w| w[e])));
        }
        starts.push(indices.len());
    }
    Csr::new(columns.len(), starts, indices, values).expect("a part of a matrix is a matrix")
}

fn beside(parts: &[&Mat]) -> Mat {
    let rows: Vec<Vec<f64>> =
        (0..parts[0].rows()).map(|i| parts.iter().flat_map(|p| p.row(i).iter().copied()).collect()).collect();
    let width = parts.iter().map(|p| p.cols()).sum();
    Mat::from_vec(parts[0].rows(), width, rows.concat())
}
