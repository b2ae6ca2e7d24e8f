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
    /// The `keep` nearest of every branch of the component of node 0. Lengths below a small positive one count as that, so that
    /// a node with many near branches does not crowd out others at random.
    pub(crate) fn new(tree: &Tree, keep: usize) -> Self {
        let order = tree.walk(0);
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
            let mut list: Vec<Near> = if tree.is_hidden(node) { vec![] } else { vec![(node, 0.0)] };
            for (&child, &length) in tree.neighbours(node).iter().filter(|(n, _)| Some(**n) != parent) {
                list.extend(further(&branches.below[child], length));
            }
            branches.below[node] = branches.nearest(list);
        }
        for &(node, parent) in order.iter().skip(1) {
            let parent = parent.expect("only the root has none");
            let mut list: Vec<Near> = if tree.is_hidden(parent) { vec![] } else { vec![(parent, 0.0)] };
            for (&other, &length) in tree.neighbours(parent).iter().filter(|(n, _)| **n != node) {
                list.extend(further(branches.behind(parent, other), length));
            }
            branches.above[node] = branches.nearest(list);
        }
        branches
    }

    /// The nearest observed variables in the branch at `to` seen from its neighbour `from`, with distances from `to`.
    pub(crate) fn behind(&self, from: usize, to: usize) -> &[Near] {
        if self.parent[to] == from { &self.below[to] } else { &self.above[from] }
    }

    fn nearest(&self, mut list: Vec<Near>) -> Vec<Near> {
        list.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        list.truncate(self.keep);
        list
    }
}

fn further(list: &[Near], length: f64) -> impl Iterator<Item = Near> + '_ {
    list.iter().map(move |&(leaf, d)| (leaf, d + length.max(SHORT)))
}

/// Lengths count at least this much.
const SHORT: f64 = 1e-3;
