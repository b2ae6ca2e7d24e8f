//! Distances between trees over the same leaves.
//!
//! A tree is a list of edges (a, b, length). Nodes 0..n are the observed ones, whatever their place; all other numbers are
//! hidden nodes. An observed node that is internal counts as a leaf that hangs on its place by an edge of length 0, as it
//! does in a Newick file. Hidden nodes with two neighbours say nothing and are passed over.

mod paths;
mod quartets;
mod splits;

pub use paths::{PathLength, path_difference};
pub use quartets::{QuartetDistance, quartet_distance};
pub use splits::{RobinsonFoulds, robinson_foulds};

#[cfg(test)]
mod tests_support;

use std::collections::HashMap;

/// Neighbours of every node: the observed ones first, then hidden ones in the order in which edges name them.
struct Forest {
    neighbours: Vec<Vec<(usize, f64)>>,
    /// The component of every node, by the smallest observed node in it; hidden ones without observed nodes have `usize::MAX`.
    component: Vec<usize>,
}

impl Forest {
    /// # Panics
    /// When the edges hold a cycle.
    fn new(n: usize, edges: &[(usize, usize, f64)]) -> Self {
        let mut neighbours: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        let mut hidden: HashMap<usize, usize> = HashMap::new();
        for &(a, b, length) in edges {
            let mut place = |node: usize| {
                if node < n {
                    return node;
                }
                *hidden.entry(node).or_insert_with(|| {
                    neighbours.push(Vec::new());
                    neighbours.len() - 1
                })
            };
            let (a, b) = (place(a), place(b));
            neighbours[a].push((b, length));
            neighbours[b].push((a, length));
        }
        let mut forest = Self { component: vec![usize::MAX; neighbours.len()], neighbours };
        let (mut met, mut roots) = (0, 0);
        for root in 0..n {
            if forest.component[root] == usize::MAX {
                let walk = forest.walk(root);
                met += walk.len();
                roots += 1;
                walk.into_iter().for_each(|(node, _)| forest.component[node] = root);
            }
        }
        let held: usize = forest.neighbours.iter().take(n).map(Vec::len).sum::<usize>()
            + (n..forest.neighbours.len())
                .filter(|&h| forest.component[h] != usize::MAX)
                .map(|h| forest.neighbours[h].len())
                .sum::<usize>();
        assert_eq!(held / 2, met - roots, "the edges of a tree hold no cycle");
        forest
    }

    /// The nodes of a component, each with its parent, parents first. Ends also where there is a cycle.
    fn walk(&self, root: usize) -> Vec<(usize, usize)> {
        let mut seen = vec![false; self.neighbours.len()];
        seen[root] = true;
        let mut order = vec![(root, usize::MAX)];
        let mut next = 0;
        while next < order.len() {
            let node = order[next].0;
            for &(other, _) in &self.neighbours[node] {
                if !std::mem::replace(&mut seen[other], true) {
                    order.push((other, node));
                }
            }
            next += 1;
        }
        order
    }

    /// Joins the edges at hidden nodes with two neighbours, and drops hidden ones with one.
    fn suppressed(n: usize, edges: &[(usize, usize, f64)]) -> Self {
        let mut forest = Self::new(n, edges);
        let mut open: Vec<usize> = (n..forest.neighbours.len()).collect();
        while let Some(node) = open.pop() {
            if forest.neighbours[node].len() > 2 {
                continue;
            }
            let edges = std::mem::take(&mut forest.neighbours[node]);
            for &(other, _) in &edges {
                forest.neighbours[other].retain(|e| e.0 != node);
            }
            if let [(a, x), (b, y)] = edges[..] {
                forest.neighbours[a].push((b, x + y));
                forest.neighbours[b].push((a, x + y));
            } else {
                open.extend(edges.iter().map(|e| e.0).filter(|&other| other >= n));
            }
        }
        forest
    }
}

#[cfg(test)]
mod tests {
    use super::Forest;

    #[test]
    #[should_panic(expected = "no cycle")]
    fn a_cycle_is_no_tree() {
        Forest::new(2, &[(0, 5, 1.0), (1, 5, 1.0), (0, 1, 1.0)]);
    }

    #[test]
    fn nodes_that_say_nothing_are_passed_over() {
        let forest =
            Forest::suppressed(2, &[(0, 9, 1.0), (9, 7, 2.0), (7, 1, 3.0), (9, 4, 1.0), (4, 5, 1.0)]);
        assert_eq!(
            (&forest.neighbours[0][..], &forest.neighbours[1][..]),
            (&[(1, 6.0)][..], &[(0, 6.0)][..])
        );
        assert!(forest.neighbours[2..].iter().all(Vec::is_empty));
    }
}
