//! Contraction: edges that the data do not support go, and observed nodes rise to where they stand.

use super::super::distances::Distances;
use super::super::tree::Tree;
use super::lengths::{self, Edge};
use super::pairs::Pairs;
use crate::error::Result;

/// Which edges go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// An inner edge stays when its length is at least this many standard errors.
    pub z: f64,
    /// And at least this long; a leaf edge that is shorter pulls its variable up.
    pub length: f64,
    /// A leaf edge shorter than this many standard errors pulls its variable up.
    pub rise: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { z: 3.0, length: 0.02, rise: 2.0 }
    }
}

/// A leaf edge longer than this is never taken for none, however rough its error: two variables with a correlation of 0.9 are
/// not the same.
const CLOSE: f64 = 0.1;

/// Contracts inner edges that are not surely there, and lets observed leaves with an edge of no length take the place of the
/// hidden node above them. The edges of the result have the lengths that distances give them.
///
/// # Errors
/// When a distance is not a number.
///
/// # Example
/// ```
/// use tenfold::trees::{Distances, Tree, structure};
/// // 0 — 1 — 2 in a row: the hidden node has the place of 1.
/// let star = Tree::from_edges(3, &[(0, 3, 0.5), (1, 3, 0.0), (2, 3, 0.5)]);
/// let distances = Distances::new(3, vec![0.5, 1.0, 0.5], vec![]);
/// let tree = structure::contract(&distances, &star, &structure::Limits::default())?;
/// assert_eq!(tree.edges(), vec![(0, 1, 0.5), (1, 2, 0.5)]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn contract(distances: &Distances, tree: &Tree, limits: &Limits) -> Result<Tree> {
    Ok(with_pairs(distances, &Pairs::new(distances)?, tree, limits))
}

/// The same where dense rows exist already.
pub(crate) fn with_pairs(distances: &Distances, pairs: &Pairs, tree: &Tree, limits: &Limits) -> Tree {
    let mut tree = tree.clone();
    loop {
        let mut edges = lengths::with_pairs(distances, pairs, &tree);
        lengths::apply(&mut tree, &edges);
        // Either kind of step changes what the other one sees: inner edges first, then leaves, until nothing moves.
        if merge(&mut tree, &mut edges, limits) == 0 && raise(&mut tree, &edges, limits) == 0 {
            return tree;
        }
    }
}

/// Contracts the weakest inner edges, none of them beside another. Returns how many.
fn merge(tree: &mut Tree, edges: &mut [Edge], limits: &Limits) -> usize {
    edges.sort_by(|x, y| x.z().total_cmp(&y.z()).then((x.a, x.b).cmp(&(y.a, y.b))));
    let mut touched = vec![false; tree.capacity()];
    let mut made = 0;
    for edge in edges.iter().filter(|e| e.z() < limits.z || e.length < limits.length) {
        let (a, b) = (edge.a, edge.b);
        // The end with the larger number is hidden whenever one is.
        if !tree.is_hidden(b) || touched[a] || touched[b] || tree.degree(a) < 2 {
            continue;
        }
        touched[a] = true;
        touched[b] = true;
        tree.neighbours(b).keys().for_each(|&n| touched[n] = true);
        tree.neighbours(a).keys().for_each(|&n| touched[n] = true);
        tree.contract(a, b);
        made += 1;
    }
    if made > 0 {
        tree.suppress();
    }
    made
}

/// Lets leaves take the place of the hidden node above them, the shortest edge first.
fn raise(tree: &mut Tree, edges: &[Edge], limits: &Limits) -> usize {
    let mut short: Vec<&Edge> = edges
        .iter()
        .filter(|e| !tree.is_hidden(e.a) && e.length < limits.length.max((limits.rise * e.error).min(CLOSE)))
        .collect();
    short.sort_by(|x, y| x.length.total_cmp(&y.length).then((x.a, x.b).cmp(&(y.a, y.b))));
    let mut made = 0;
    let mut touched = vec![false; tree.capacity()];
    for edge in short {
        let (leaf, h) = (edge.a, edge.b);
        if tree.length(leaf, h).is_none() || !tree.is_hidden(h) || tree.degree(leaf) != 1 || touched[h] {
            continue;
        }
        tree.neighbours(h).keys().for_each(|&n| touched[n] = true);
        tree.contract(leaf, h);
        made += 1;
    }
    made
}
