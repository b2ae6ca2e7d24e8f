//! The nearest observed variables of every branch of a tree.

use super::super::tree::Tree;

/// An observed variable and how far it is along the tree.
pub(crate) type Near = (usize, f64);

/// For every edge and both of its directions, the observed variables behind it that are nearest.
pub(crate) struct Branches {
    keep: usize,
    parent: Vec<usize>,
    /// Behind a node, seen from its parent; distances from the node.
    below: Vec<Vec<Near>>,
    /// Behind the parent, seen from the node; distances from the parent.
    above: Vec<Vec<Near>>,
}

const NONE: usize = usize::MAX;

impl Branches {
    /// The `keep` nearest of every branch, in all trees of a forest. Lengths below a small positive one count as that, so that
    /// a node with many near branches does not crowd out others at random.
    pub(crate) fn new(tree: &Tree, keep: usize) -> Self {
        let order: Vec<(usize, Option<usize>)> =
            tree.components().iter().flat_map(|nodes| tree.walk(nodes[0])).collect();
        let mut branches = Self {
            keep,
            parent: vec![NONE; tree.capacity()],
            below: vec![Vec::new(); tree.capacity()],
            above: vec![Vec::new(); tree.capacity()],
        };
        for &(node, parent) in &order {
            branches.parent[node] = parent.unwrap_or(NONE);
        }
        for &(node, parent) in order.iter().rev() {
            let below = |n: &usize| (*n, &branches.below[*n][..]);
            let children = tree.neighbours(node).keys().filter(|n| Some(**n) != parent).map(below).collect();
            branches.below[node] = branches.nearest(tree, node, children);
        }
        for &(node, parent) in &order {
            let Some(parent) = parent else { continue };
            let behind = |n: &usize| (*n, branches.behind(parent, *n));
            let others = tree.neighbours(parent).keys().filter(|n| **n != node).map(behind).collect();
            branches.above[node] = branches.nearest(tree, parent, others);
        }
        branches
    }

    /// The nearest observed variables in the branch at `to` seen from its neighbour `from`, with distances from `to`.
    pub(crate) fn behind(&self, from: usize, to: usize) -> &[Near] {
        if self.parent[to] == from { &self.below[to] } else { &self.above[from] }
    }

    /// The nearest of some branches at a node. At least two branches have a say: where lengths are 0 the nearest variables may all
    /// sit in one, and quartets would never see the other.
    fn nearest(&self, tree: &Tree, at: usize, parts: Vec<(usize, &[Near])>) -> Vec<Near> {
        let mut list: Vec<(usize, Near)> = Vec::new();
        if !tree.is_hidden(at) {
            list.push((at, (at, 0.0)));
        }
        for (part, near) in parts {
            let length = tree.length(at, part).unwrap_or(0.0).max(SHORT);
            list.extend(near.iter().map(|&(leaf, d)| (part, (leaf, d + length))));
        }
        list.sort_unstable_by(|x, y| x.1.1.total_cmp(&y.1.1).then(x.1.0.cmp(&y.1.0)));
        let last = self.keep - 1;
        if let Some(other) = list.iter().position(|x| x.0 != list[0].0)
            && other > last
            && last > 0
        {
            list.swap(last, other);
        }
        list.truncate(self.keep);
        list.into_iter().map(|x| x.1).collect()
    }
}

/// Lengths count at least this much.
const SHORT: f64 = 1e-3;
