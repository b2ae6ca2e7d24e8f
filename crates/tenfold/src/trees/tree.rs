//! A tree, or a forest, over observed and hidden nodes, without a root.

use std::collections::BTreeMap;

/// Nodes 0..observed are the observed variables; numbers from `observed` on are hidden nodes. Edges have a length: the
/// distance of their ends, −Σ log of the canonical correlations.
///
/// # Example
/// ```
/// use tenfold::trees::Tree;
/// let mut tree = Tree::new(3);
/// let h = tree.add_hidden();
/// (0..3).for_each(|leaf| tree.join(leaf, h, 0.5));
/// assert_eq!((h, tree.degree(h), tree.edges().len()), (3, 3, 3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    observed: usize,
    /// Neighbours of every node with the lengths of the edges; hidden nodes that were removed stay as holes.
    nodes: Vec<Option<BTreeMap<usize, f64>>>,
}

crate::checkpoint::keep! { Tree { observed, nodes } }

impl Tree {
    /// Observed nodes without edges.
    pub fn new(observed: usize) -> Self {
        Self { observed, nodes: vec![Some(BTreeMap::new()); observed] }
    }

    /// From edges; hidden nodes are those that appear in them.
    ///
    /// # Panics
    /// When an edge joins a node to itself.
    pub fn from_edges(observed: usize, edges: &[(usize, usize, f64)]) -> Self {
        let mut tree = Self::new(observed);
        for &(a, b, length) in edges {
            while tree.nodes.len() <= a.max(b) {
                tree.nodes.push(None);
            }
            for node in [a, b] {
                tree.nodes[node].get_or_insert_default();
            }
            tree.join(a, b, length);
        }
        tree
    }

    /// How many nodes are observed.
    pub fn observed(&self) -> usize {
        self.observed
    }

    /// Whether this node is hidden.
    pub fn is_hidden(&self, node: usize) -> bool {
        node >= self.observed
    }

    /// A number above those of all nodes.
    pub fn capacity(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes, increasing.
    pub fn nodes(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().enumerate().filter_map(|(node, edges)| edges.as_ref().map(|_| node))
    }

    /// The hidden nodes, increasing.
    pub fn hidden(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes().filter(|&node| node >= self.observed)
    }

    /// Adds a hidden node.
    pub fn add_hidden(&mut self) -> usize {
        self.nodes.push(Some(BTreeMap::new()));
        self.nodes.len() - 1
    }

    /// Adds an edge, or changes its length.
    ///
    /// # Panics
    /// When a node is not there, or both are the same.
    pub fn join(&mut self, a: usize, b: usize, length: f64) {
        assert_ne!(a, b, "an edge has two ends");
        self.edges_of(a).insert(b, length);
        self.edges_of(b).insert(a, length);
    }

    /// Removes an edge.
    pub fn cut(&mut self, a: usize, b: usize) {
        self.edges_of(a).remove(&b);
        self.edges_of(b).remove(&a);
    }

    fn edges_of(&mut self, node: usize) -> &mut BTreeMap<usize, f64> {
        self.nodes[node].as_mut().expect("a node that is there")
    }

    /// The neighbours of a node with the lengths of the edges, by number.
    ///
    /// # Panics
    /// When the node is not there.
    pub fn neighbours(&self, node: usize) -> &BTreeMap<usize, f64> {
        self.nodes[node].as_ref().expect("a node that is there")
    }

    /// How many neighbours a node has.
    pub fn degree(&self, node: usize) -> usize {
        self.neighbours(node).len()
    }

    /// The length of an edge, where there is one.
    pub fn length(&self, a: usize, b: usize) -> Option<f64> {
        self.nodes.get(a)?.as_ref()?.get(&b).copied()
    }

    /// All edges (a, b, length) with a < b, in order.
    pub fn edges(&self) -> Vec<(usize, usize, f64)> {
        let of =
            |a: usize| self.neighbours(a).iter().filter(move |(b, _)| a < **b).map(move |(&b, &w)| (a, b, w));
        self.nodes().flat_map(of).collect()
    }

    /// Merges the hidden node `gone` into its neighbour `kept`; edges of `gone` keep their lengths.
    ///
    /// # Panics
    /// When `gone` is observed or the nodes are no neighbours.
    pub fn contract(&mut self, kept: usize, gone: usize) {
        assert!(self.is_hidden(gone) && self.length(kept, gone).is_some(), "a hidden neighbour is merged");
        let edges = self.nodes[gone].take().expect("a node that is there");
        for (other, length) in edges {
            self.edges_of(other).remove(&gone);
            if other != kept {
                self.join(kept, other, length);
            }
        }
    }

    /// Removes hidden nodes with fewer than three neighbours; where there are two, their edges become one.
    pub fn suppress(&mut self) {
        let mut open: Vec<usize> = self.hidden().filter(|&node| self.degree(node) < 3).collect();
        while let Some(node) = open.pop() {
            if self.nodes[node].as_ref().is_none_or(|edges| edges.len() > 2) {
                continue;
            }
            let edges: Vec<(usize, f64)> = self.nodes[node].take().expect("a node").into_iter().collect();
            for &(other, _) in &edges {
                self.edges_of(other).remove(&node);
            }
            if let [(a, x), (b, y)] = edges[..] {
                self.join(a, b, x + y);
            }
            open.extend(edges.into_iter().map(|(other, _)| other).filter(|&other| other >= self.observed));
        }
    }

    /// The nodes of one component in breadth-first order from `root`, each with its parent (none at the root).
    pub fn walk(&self, root: usize) -> Vec<(usize, Option<usize>)> {
        let mut order = vec![(root, None)];
        let mut next = 0;
        while next < order.len() {
            let (node, parent) = order[next];
            order.extend(
                self.neighbours(node).keys().filter(|&&n| Some(n) != parent).map(|&n| (n, Some(node))),
            );
            next += 1;
        }
        order
    }

    /// The components: their nodes in increasing order, the component of the smallest node first.
    pub fn components(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.nodes.len()];
        let mut all = Vec::new();
        for root in self.nodes() {
            if !seen[root] {
                let mut nodes: Vec<usize> = self.walk(root).into_iter().map(|(node, _)| node).collect();
                nodes.iter().for_each(|&node| seen[node] = true);
                nodes.sort_unstable();
                all.push(nodes);
            }
        }
        all
    }

    /// The same tree with hidden nodes numbered without holes, in an order that depends on the tree alone: by the smallest
    /// observed node around which they are met.
    pub fn canonical(&self) -> Self {
        let mut place: Vec<Option<usize>> =
            (0..self.nodes.len()).map(|n| (n < self.observed).then_some(n)).collect();
        let mut next = self.observed;
        for component in self.components() {
            let smallest = |node: usize, from: Option<usize>| self.smallest_behind(node, from);
            let mut stack = vec![(component[0], None)];
            while let Some((node, parent)) = stack.pop() {
                if place[node].is_none() {
                    place[node] = Some(next);
                    next += 1;
                }
                let mut children: Vec<usize> =
                    self.neighbours(node).keys().copied().filter(|&c| Some(c) != parent).collect();
                children.sort_by_cached_key(|&c| std::cmp::Reverse(smallest(c, Some(node))));
                stack.extend(children.into_iter().map(|c| (c, Some(node))));
            }
        }
        let number = |node: usize| place[node].expect("every node is met");
        let edges: Vec<_> = self.edges().into_iter().map(|(a, b, w)| (number(a), number(b), w)).collect();
        let mut tree = Self::from_edges(self.observed, &edges);
        while tree.nodes.len() < next {
            tree.nodes.push(Some(BTreeMap::new()));
        }
        tree
    }

    /// The smallest observed node in the branch at `node` seen from `from`.
    fn smallest_behind(&self, node: usize, from: Option<usize>) -> usize {
        let mut least = usize::MAX;
        let mut stack = vec![(node, from)];
        while let Some((node, parent)) = stack.pop() {
            least = if node < self.observed { least.min(node) } else { least };
            stack.extend(
                self.neighbours(node).keys().filter(|&&n| Some(n) != parent).map(|&n| (n, Some(node))),
            );
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quartet() -> Tree {
        Tree::from_edges(4, &[(0, 9, 1.0), (1, 9, 2.0), (9, 7, 0.5), (2, 7, 3.0), (3, 7, 4.0)])
    }

    #[test]
    fn merging_and_suppressing_keep_the_lengths() {
        let mut tree = quartet();
        tree.contract(7, 9);
        assert_eq!(tree.edges(), vec![(0, 7, 1.0), (1, 7, 2.0), (2, 7, 3.0), (3, 7, 4.0)]);
        let mut tree = quartet();
        tree.cut(3, 7);
        tree.suppress();
        assert_eq!(tree.edges(), vec![(0, 9, 1.0), (1, 9, 2.0), (2, 9, 3.5)]);
        assert_eq!(tree.components(), vec![vec![0, 1, 2, 9], vec![3]]);
    }

    #[test]
    fn canonical_numbers_depend_on_the_tree_alone() {
        let other = Tree::from_edges(4, &[(2, 5, 3.0), (3, 5, 4.0), (5, 6, 0.5), (1, 6, 2.0), (0, 6, 1.0)]);
        assert_eq!(quartet().canonical(), other.canonical());
        assert_eq!(quartet().canonical().hidden().collect::<Vec<_>>(), vec![4, 5]);
    }
}
