//! Trees for the tests.

use rand::RngExt;
use tenfold_engine::linalg::random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Binary,
    Polytomies,
    /// Some observed nodes are internal.
    Internal,
}

/// A tree over n leaves.
pub(super) fn random_tree(n: usize, shape: Shape, seed: u64) -> Vec<(usize, usize, f64)> {
    let rng = &mut random::rng(seed, 0);
    let mut open = random::permutation(n, rng);
    let (mut edges, mut next) = (Vec::new(), 1000);
    while open.len() > 1 {
        let most = if shape == Shape::Polytomies { 4 } else { 2 };
        let count = if open.len() == 3 { 3 } else { rng.random_range(2..=most).min(open.len()) };
        let mut children: Vec<usize> =
            (0..count).map(|_| open.swap_remove(rng.random_range(0..open.len()))).collect();
        let internal = shape == Shape::Internal && children[0] < n && rng.random_range(0..2) == 0;
        let top = if internal { children.remove(0) } else { next };
        edges.extend(children.into_iter().map(|child| (child, top, rng.random_range(0.5..1.5))));
        open.push(top);
        next += 1;
    }
    edges
}
