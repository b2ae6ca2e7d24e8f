//! From the corners of the simplex to the memberships of every node.
//!
//! The moments give f_i, where s_u lies for a node of community i alone; E\[s_u\] = Σ_i π_ui f_i for the others.

use super::moments::product;
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::{Adjacency, Mat, Tall, pinv, project_to_simplex};

/// Steps of the projected gradient: with its momentum the error falls as 1/t² or faster.
const STEPS: usize = 150;

/// Standard errors below which a membership is taken for noise: most of what noise makes of a zero lies within.
const NOISE: f64 = 1.5;

/// Sweeps over the nodes of a plain block model.
const SWEEPS: usize = 10;

/// Least squares without the simplex, then negative shares cut off: quick, and enough to start a likelihood.
pub(super) fn clipped(sums: &Tall, corners: &Mat) -> Result<Tall> {
    let k = corners.rows();
    let mut out = sums.times(&pinv(corners, 1e-9)?);
    out.as_mut_slice().par_chunks_exact_mut(k.max(1)).for_each(|row| {
        row.iter_mut().for_each(|x| *x = x.max(0.0));
        let total: f32 = row.iter().sum();
        row.iter_mut().for_each(|x| *x = if total > 0.0 { *x / total } else { 1.0 / k as f32 });
    });
    Ok(out)
}

/// argmin ‖s_u − Σ_i π_i f_i‖ on the simplex, and again without the communities that noise alone could have given:
/// a share within 1.5 standard errors of zero. An edge's variance is about p(1 − p), so with orthonormal directions that of
/// π_i is p(1 − p) · \[(F Fᵀ)⁻¹\]_ii.
///
/// # Complexity
/// 150·k² operations a node.
pub(super) fn on_simplex(sums: &Tall, corners: &Mat, density: impl Fn(usize) -> f64 + Sync) -> Result<Tall> {
    let k = corners.rows();
    let gram = corners.matmul_tr(corners);
    let inverse = pinv(&gram, 1e-12)?;
    let curvature = (0..k).map(|i| gram.row(i).iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let mut out = Tall::zeros(sums.rows(), k);
    out.as_mut_slice().par_chunks_exact_mut(k.max(1)).enumerate().for_each(|(u, row)| {
        let s: Vec<f64> = sums.row(u).iter().map(|x| f64::from(*x)).collect();
        let pull = corners.matvec(&s);
        let mut shares = descend(&gram, &pull, curvature, &vec![true; k]);
        let p = density(u);
        let noise = |i: usize| NOISE * (p * (1.0 - p) * inverse[(i, i)].max(0.0)).sqrt();
        let real: Vec<bool> = (0..k).map(|i| shares[i] > noise(i)).collect();
        if real.contains(&true) && real.contains(&false) {
            shares = descend(&gram, &pull, curvature, &real);
        }
        row.iter_mut().zip(&shares).for_each(|(x, s)| *x = *s as f32);
    });
    Ok(out)
}

/// Accelerated projected gradient for ½ πᵀGπ − bᵀπ over the communities that are allowed.
fn descend(gram: &Mat, pull: &[f64], curvature: f64, allowed: &[bool]) -> Vec<f64> {
    let own: Vec<usize> = (0..allowed.len()).filter(|&i| allowed[i]).collect();
    let mut x = vec![1.0 / own.len() as f64; own.len()];
    let (mut y, mut momentum) = (x.clone(), 1.0f64);
    for _ in 0..STEPS {
        let mut next: Vec<f64> = own
            .iter()
            .enumerate()
            .map(|(a, &i)| {
                let slope: f64 = own.iter().zip(&y).map(|(&j, v)| gram[(i, j)] * v).sum::<f64>() - pull[i];
                y[a] - slope / curvature.max(f64::MIN_POSITIVE)
            })
            .collect();
        project_to_simplex(&mut next, 1.0);
        let faster = (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0;
        let push = (momentum - 1.0) / faster;
        y = next.iter().zip(&x).map(|(n, o)| n + push * (n - o)).collect();
        let moved = next.iter().zip(&x).map(|(n, o)| (n - o).abs()).fold(0.0, f64::max);
        (x, momentum) = (next, faster);
        if moved < 1e-9 {
            break;
        }
    }
    let mut out = vec![0.0; allowed.len()];
    own.iter().zip(x).for_each(|(&i, v)| out[i] = v);
    out
}

/// Whole nodes to single communities: the plain block model, α0 = 0. Starts from the largest share and moves every node to
/// the community under which its edges are most probable, with P estimated from the last sweep.
pub(super) fn blocks(a: &Adjacency, start: &Tall) -> Tall {
    let k = start.width();
    let mut labels: Vec<usize> = (0..start.rows()).map(|u| largest(start.row(u))).collect();
    for _ in 0..SWEEPS {
        let hard = one_hot(&labels, k);
        let counts = product(a, &hard);
        let mut sizes = vec![0.0f64; k];
        labels.iter().for_each(|&c| sizes[c] += 1.0);
        let inside = hard.gram(&counts);
        // One edge and one missing edge more keep every probability away from 0 and 1.
        let rate = Mat::from_fn(k, k, |c, b| {
            let pairs = sizes[c] * (sizes[b] - if c == b { 1.0 } else { 0.0 });
            (inside[(c, b)] + 0.5) / (pairs + 1.0).max(inside[(c, b)] + 1.0)
        });
        let next: Vec<usize> = (0..labels.len())
            .into_par_iter()
            .map(|u| best_block(counts.row(u), labels[u], &sizes, &rate))
            .collect();
        if next == labels {
            break;
        }
        labels = next;
    }
    one_hot(&labels, k)
}

fn best_block(counts: &[f32], own: usize, sizes: &[f64], rate: &Mat) -> usize {
    let score = |c: usize| -> f64 {
        (0..sizes.len())
            .map(|b| {
                let edges = f64::from(counts[b]);
                let others = (sizes[b] - if b == own { 1.0 } else { 0.0 } - edges).max(0.0);
                edges * rate[(c, b)].ln() + others * (1.0 - rate[(c, b)]).ln()
            })
            .sum()
    };
    let occupied = (0..sizes.len()).filter(|&c| sizes[c] > 0.0);
    occupied.fold((own, score(own)), |best, c| if score(c) > best.1 { (c, score(c)) } else { best }).0
}

/// Every node whole to its largest community.
pub(super) fn harden(rows: &mut Tall) {
    let width = rows.width().max(1);
    for row in rows.as_mut_slice().chunks_exact_mut(width) {
        let best = largest(row);
        row.fill(0.0);
        row[best] = 1.0;
    }
}

/// Nodes without an edge get the mean of all others.
pub(super) fn fill_strays(rows: &mut Tall, a: &Adjacency) {
    let k = rows.width();
    let told: Vec<bool> = (0..a.rows()).map(|u| a.degree(u) > 0).collect();
    if told.iter().all(|t| *t) {
        return;
    }
    let mut mean = vec![0.0f64; k];
    for (row, _) in rows.as_slice().chunks_exact(k.max(1)).zip(&told).filter(|(_, told)| **told) {
        mean.iter_mut().zip(row).for_each(|(m, x)| *m += f64::from(*x));
    }
    let total: f64 = mean.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    for (row, _) in rows.as_mut_slice().chunks_exact_mut(k.max(1)).zip(&told).filter(|(_, told)| !**told) {
        row.iter_mut().zip(&mean).for_each(|(x, m)| *x = (m / total) as f32);
    }
}

/// The first of the largest.
pub(super) fn largest(row: &[f32]) -> usize {
    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}

fn one_hot(labels: &[usize], k: usize) -> Tall {
    let mut out = Tall::zeros(labels.len(), k);
    let width = k.max(1);
    out.as_mut_slice().chunks_exact_mut(width).zip(labels).for_each(|(row, &c)| row[c] = 1.0);
    out
}
