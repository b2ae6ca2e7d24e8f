//! Merging local trees along the edges of the spanning tree.

use super::super::tree::Tree;
use super::grouping::Local;
use super::pairs::Pairs;

/// Where a local tree meets its neighbour's, and how far that is from its centre.
struct Gate {
    node: usize,
    far: f64,
}

/// One tree from the local trees of neighbourhoods. For an edge of the spanning tree between centres i and j, j leaves the tree
/// of i and i that of j, and the nodes they hung on become neighbours, d_ij minus their distances from i and j apart.
pub(crate) fn merge(map: &Tree, locals: Vec<Local>, pairs: &Pairs) -> Tree {
    let mut tree = Tree::new(map.observed());
    if locals.is_empty() {
        // Two variables, or one.
        map.edges().into_iter().for_each(|(a, b, d)| tree.join(a, b, d));
        return tree;
    }
    let mut gates = std::collections::BTreeMap::new();
    for Local { members, tree: small } in &locals {
        let centre = members[0];
        let mut number: Vec<usize> = members.clone();
        number.extend((members.len()..small.capacity()).map(|_| tree.add_hidden()));
        let far = depths(small);
        let shared = |node: usize| node > 0 && node < members.len() && map.degree(members[node]) > 1;
        for (a, b, length) in small.edges() {
            // A neighbour that is a centre itself has a tree of its own: only its gate stays.
            match (shared(a), shared(b)) {
                (false, false) => tree.join(number[a], number[b], length),
                (true, _) => drop(gates.insert((centre, members[a]), Gate { node: number[b], far: far[b] })),
                (_, true) => drop(gates.insert((centre, members[b]), Gate { node: number[a], far: far[a] })),
            }
        }
    }
    for (&(i, j), gate) in gates.range(..).filter(|((i, j), _)| i < j) {
        if let Some(other) = gates.get(&(j, i)) {
            let length = (pairs.distance(i, j) - gate.far - other.far).max(0.0);
            tree.join(gate.node, other.node, length);
        }
    }
    // Numbers of nodes that grouping took away have no edges.
    tree.suppress();
    tree
}

/// Distances from node 0.
fn depths(tree: &Tree) -> Vec<f64> {
    let mut far = vec![0.0; tree.capacity()];
    for (node, parent) in tree.walk(0).into_iter().skip(1) {
        let parent = parent.expect("only the root has none");
        far[node] = far[parent] + tree.length(parent, node).unwrap_or(0.0);
    }
    far
}
