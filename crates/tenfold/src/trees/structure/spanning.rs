//! Minimum spanning trees: what is left of a tree when hidden nodes are not allowed, and the map for local work.

use super::super::distances::Distances;
use super::super::tree::Tree;
use super::pairs::Pairs;
use crate::error::Result;

/// The minimum spanning tree of the observed variables, by Prim's algorithm in O(p²). With the distances of two-state variables
/// this is close to the tree of Chow and Liu, and the baseline without hidden nodes.
///
/// # Errors
/// When a distance is not a number.
///
/// # Example
/// ```
/// use tenfold::trees::{Distances, structure};
/// let tree = structure::spanning(&Distances::new(3, vec![1.0, 2.0, 1.0], vec![]))?;
/// assert_eq!(tree.edges(), vec![(0, 1, 1.0), (1, 2, 1.0)]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn spanning(distances: &Distances) -> Result<Tree> {
    Ok(of_pairs(&Pairs::new(distances)?))
}

/// The same from dense rows.
pub(crate) fn of_pairs(pairs: &Pairs) -> Tree {
    let mut tree = Tree::new(pairs.count());
    for (node, above) in order(pairs).into_iter().skip(1) {
        tree.join(node, above, pairs.distance(node, above));
    }
    tree
}

/// The variables in the order in which the spanning tree reaches them, each with the one it hangs on (the first on itself).
pub(crate) fn order(pairs: &Pairs) -> Vec<(usize, usize)> {
    let p = pairs.count();
    let mut order = Vec::with_capacity(p);
    let mut best: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); p];
    let mut open: Vec<usize> = (0..p).collect();
    let mut next = 0;
    while !open.is_empty() {
        let node = open.swap_remove(next);
        order.push((node, best[node].1));
        let row = pairs.row(node);
        next = 0;
        for (place, &other) in open.iter().enumerate() {
            if row[other] < best[other].0 {
                best[other] = (row[other], node);
            }
            let (a, b) = (best[other].0, best[open[next]].0);
            if a < b || (a == b && other < open[next]) {
                next = place;
            }
        }
    }
    order
}
