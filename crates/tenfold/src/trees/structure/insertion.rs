//! Insertion: variables, or whole branches, find their place by walking from what is nearest to them.

use super::super::tree::Tree;
use super::branches::Near;
use super::pairs::Pairs;
use super::quartets::{NEAR, sums};
use super::spanning;
use crate::error::Result;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use tenfold_engine::progress::Progress;

/// A binary tree that grows by one variable at a time, in the order of the spanning tree: each starts beside the nearest variable
/// that is there and walks on while quartets of near variables say so. Only short distances are used.
///
/// # Errors
/// When the caller stops the run.
pub(crate) fn grow(pairs: &Pairs, progress: &dyn Progress) -> Result<Tree> {
    let mut tree = Tree::new(pairs.count());
    let order = spanning::order(pairs);
    for (turn, &(node, above)) in order.iter().enumerate() {
        progress.check()?;
        match turn {
            0 => {}
            1 => tree.join(node, above, pairs.distance(node, above)),
            _ => {
                let edge = place(&tree, pairs, &[(node, 0.0)], above);
                insert(&mut tree, pairs, (node, &[(node, 0.0)]), edge);
            }
        }
    }
    Ok(tree)
}

/// The edge that a branch belongs to, given variables that speak for it and the leaf to begin at.
pub(crate) fn place(tree: &Tree, pairs: &Pairs, speakers: &[Near], start: usize) -> (usize, usize) {
    let mut from = start;
    let mut at = *tree.neighbours(start).keys().next().expect("a leaf hangs on something");
    loop {
        let around: Vec<usize> = tree.neighbours(at).keys().copied().collect();
        let [a, b, c] = around[..] else { return (from, at) };
        let lists = [a, b, c].map(|n| nearest(tree, at, n, NEAR));
        let s = sums(pairs, [speakers, &lists[0], &lists[1], &lists[2]]);
        let best = (0..3).min_by(|&x, &y| s[x].total_cmp(&s[y])).expect("three");
        // An even choice stays where it is.
        let next = around[best];
        let stay = around.iter().position(|&n| n == from).expect("it came from a neighbour");
        if next == from || s[stay] <= s[best] {
            return (from, at);
        }
        (from, at) = (at, next);
    }
}

/// Hangs a branch on an edge through a new hidden node; `branch` is its node and the variables that speak for it.
pub(crate) fn insert(
    tree: &mut Tree,
    pairs: &Pairs,
    branch: (usize, &[Near]),
    edge: (usize, usize),
) -> usize {
    let (a, b) = edge;
    let whole = tree.length(a, b).unwrap_or(0.0);
    let (left, right) = (nearest(tree, b, a, NEAR), nearest(tree, a, b, NEAR));
    let (mut total, mut pendant, mut share) = (0.0, 0.0, 0.0);
    for &(x, dx) in branch.1 {
        for &(i, di) in &left {
            for &(j, _) in &right {
                let w =
                    1.0 / (pairs.variance(x, i) + pairs.variance(x, j) + pairs.variance(i, j)).max(1e-300);
                let (xi, xj, ij) = (pairs.distance(x, i), pairs.distance(x, j), pairs.distance(i, j));
                total += w;
                pendant += w * (0.5 * (xi + xj - ij) - dx);
                share += w * (0.5 * (xi + ij - xj) - di);
            }
        }
    }
    let share = (share / total).clamp(0.0, whole.max(0.0));
    let h = tree.add_hidden();
    tree.cut(a, b);
    tree.join(a, h, share);
    tree.join(b, h, whole - share);
    tree.join(branch.0, h, (pendant / total).max(0.0));
    h
}

/// The `keep` nearest variables in the branch at `to` seen from `from`, with distances from `to`.
pub(crate) fn nearest(tree: &Tree, from: usize, to: usize, keep: usize) -> Vec<Near> {
    let mut heap = BinaryHeap::from([Reach { far: 0.0, node: to, from }]);
    let mut found = Vec::with_capacity(keep);
    while let Some(Reach { far, node, from }) = heap.pop() {
        if !tree.is_hidden(node) {
            found.push((node, far));
            if found.len() == keep {
                break;
            }
        }
        for (&next, &length) in tree.neighbours(node).iter().filter(|(n, _)| **n != from) {
            heap.push(Reach { far: far + length.max(1e-3), node: next, from: node });
        }
    }
    found
}

/// A node on the edge of a search, nearest first.
#[derive(PartialEq)]
struct Reach {
    far: f64,
    node: usize,
    from: usize,
}

impl Eq for Reach {}

impl Ord for Reach {
    fn cmp(&self, other: &Self) -> Ordering {
        other.far.total_cmp(&self.far).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Reach {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
