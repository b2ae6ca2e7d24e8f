//! Trees whose observed nodes are leaves and whose hidden nodes have three neighbours: where repairs work.

use super::super::tree::Tree;
use super::branches::Branches;
use super::joining;
use super::pairs::Pairs;
use crate::error::Result;
use tenfold_engine::progress::Silent;

/// The same tree made binary: an observed node with several neighbours becomes a leaf of a hidden one in its place, and a node
/// with more than three branches is resolved by joining the nearest variable of each.
pub(crate) fn binarise(tree: &Tree, pairs: &Pairs) -> Result<Tree> {
    let mut tree = tree.clone();
    for node in 0..tree.observed() {
        if tree.degree(node) > 1 {
            lower(&mut tree, node);
        }
    }
    tree.suppress();
    let branches = Branches::new(&tree, 1);
    // The node that a new one was part of: the branches were seen before it was there.
    let mut origin: Vec<usize> = (0..tree.capacity()).collect();
    for node in tree.hidden().collect::<Vec<_>>() {
        let around: Vec<(usize, f64)> = tree.neighbours(node).iter().map(|(&n, &w)| (n, w)).collect();
        if around.len() < 4 {
            continue;
        }
        let spoken: Vec<usize> = around.iter().map(|&(n, _)| branches.behind(node, origin[n])[0].0).collect();
        let mut small = Tree::new(around.len());
        joining::join(
            &mut small,
            (0..around.len()).collect(),
            |i, j| pairs.distance(spoken[i], spoken[j]),
            &Silent,
        )?;
        around.iter().for_each(|&(n, _)| tree.cut(node, n));
        let mut place: Vec<usize> = around.iter().map(|&(n, _)| n).collect();
        // The node itself stands for the first hidden one of the small tree.
        place.push(node);
        place.extend((around.len() + 1..small.capacity()).map(|_| tree.add_hidden()));
        origin.resize(tree.capacity(), node);
        for (a, b, length) in small.edges() {
            // Edges to the branches keep the lengths they had.
            let length = if a < around.len() { around[a].1 } else { length };
            tree.join(place[a], place[b], length.max(0.0));
        }
    }
    Ok(tree)
}

/// Puts a hidden node in the place of an observed one, which becomes its leaf. Returns the hidden node.
pub(crate) fn lower(tree: &mut Tree, node: usize) -> usize {
    let around: Vec<(usize, f64)> = tree.neighbours(node).iter().map(|(&n, &w)| (n, w)).collect();
    let h = tree.add_hidden();
    for (other, length) in around {
        tree.cut(node, other);
        tree.join(h, other, length);
    }
    tree.join(node, h, 0.0);
    h
}
