//! Nodes by the nearest of k centres: a start that owes nothing to the third moment.

use rand::RngExt;
use rayon::prelude::*;
use tenfold_engine::linalg::{Tall, random};

/// Nodes that the centres are found from.
const SAMPLE: usize = 20_000;
/// Rounds of moving the centres.
const ROUNDS: usize = 20;

/// Hard memberships (nodes × k) from directions: rows brought to unit length, so that a node's degree does not matter,
/// centres chosen far apart (Arthur and Vassilvitskii 2007) and moved to the mean of their nodes.
pub(super) fn cluster(directions: &Tall, k: usize, seed: u64) -> Tall {
    let width = directions.width();
    let rows = directions.rows();
    let stride = rows.div_ceil(SAMPLE).max(1);
    let sample: Vec<Vec<f32>> = (0..rows).step_by(stride).filter_map(|u| unit(directions.row(u))).collect();
    let mut centres = far_apart(&sample, k, seed);
    for _ in 0..ROUNDS {
        let labels: Vec<usize> = sample.par_iter().map(|x| nearest(&centres, x).0).collect();
        let mut sums = vec![vec![0.0f64; width]; centres.len()];
        let mut sizes = vec![0.0f64; centres.len()];
        for (x, &c) in sample.iter().zip(&labels) {
            sums[c].iter_mut().zip(x).for_each(|(s, v)| *s += f64::from(*v));
            sizes[c] += 1.0;
        }
        let next: Vec<Vec<f32>> = (0..centres.len())
            .map(|c| match sizes[c] {
                0.0 => centres[c].clone(),
                size => sums[c].iter().map(|s| (s / size) as f32).collect(),
            })
            .collect();
        if next == centres {
            break;
        }
        centres = next;
    }
    let mut out = Tall::zeros(rows, k);
    out.as_mut_slice().par_chunks_exact_mut(k.max(1)).enumerate().for_each(|(u, row)| {
        match unit(directions.row(u)) {
            Some(x) if !centres.is_empty() => row[nearest(&centres, &x).0] = 1.0,
            _ => row.fill(1.0 / k as f32),
        }
    });
    out
}

fn unit(row: &[f32]) -> Option<Vec<f32>> {
    let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    (norm > 1e-12).then(|| row.iter().map(|x| x / norm).collect())
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// The nearest centre, the first among equals, and how far it is.
fn nearest(centres: &[Vec<f32>], x: &[f32]) -> (usize, f32) {
    let mut best = (0, f32::INFINITY);
    for (c, centre) in centres.iter().enumerate() {
        let d = distance(centre, x);
        if d < best.1 {
            best = (c, d);
        }
    }
    best
}

/// Each next centre is a node drawn with probability proportional to its squared distance from those before.
fn far_apart(sample: &[Vec<f32>], k: usize, seed: u64) -> Vec<Vec<f32>> {
    let Some(first) = sample.first() else { return Vec::new() };
    let mut rng = random::rng(seed, 900);
    let mut centres = vec![first.clone()];
    let mut gaps: Vec<f64> = sample.iter().map(|x| f64::from(distance(first, x))).collect();
    while centres.len() < k.min(sample.len()) {
        let mut rest = rng.random_range(0.0..1.0) * gaps.iter().sum::<f64>();
        let chosen = gaps.iter().position(|g| {
            rest -= g;
            rest <= 0.0
        });
        let next = sample[chosen.unwrap_or(sample.len() - 1)].clone();
        gaps.iter_mut().zip(sample).for_each(|(g, x)| *g = g.min(f64::from(distance(&next, x))));
        centres.push(next);
    }
    centres
}
