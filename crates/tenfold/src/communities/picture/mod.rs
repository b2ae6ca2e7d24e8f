//! What a model keeps of its graph, so that a report can draw it without the edges: the adjacency matrix in bins, and
//! some nodes with links between them. A few hundred kilobytes at most, whatever the size of the graph.

mod cells;
mod order;
mod sample;
mod stored;

pub(super) use cells::Cells;
pub(super) use order::{Order, largest};
pub(super) use sample::Sample;

use super::data::{Graph, Kind};
use super::model::Model;
use rayon::prelude::*;
use tenfold_engine::linalg::Tall;

/// The pictures of a graph.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picture {
    pub cells: Cells,
    pub sample: Sample,
}

impl Picture {
    /// # Complexity
    /// O(edges + nodes · k), and the sorting of the nodes.
    pub fn new(graph: &Graph, all: &AllNodes<'_>) -> Self {
        let rows = all.rows();
        let columns = all.columns();
        let cells = Cells::count(graph.adjacency(), &rows, columns.as_ref().unwrap_or(&rows));
        Self { cells, sample: Sample::draw(graph, all) }
    }
}

/// Memberships and degrees of all nodes, whichever sides a graph has. Nodes of the right side of a bipartite graph come
/// after those of the left one.
pub(super) struct AllNodes<'a> {
    pub kind: Kind,
    /// Of the nodes, or of the left side, or as sources.
    pub memberships: &'a Tall,
    /// Of the right side, or as targets.
    pub others: Option<&'a Tall>,
    pub strengths: &'a [f64],
    pub other_strengths: &'a [f64],
}

impl AllNodes<'_> {
    /// Number of communities.
    pub fn k(&self) -> usize {
        self.memberships.width()
    }

    /// Number of nodes on both sides.
    pub fn len(&self) -> usize {
        let right = if self.kind == Kind::Bipartite { self.other_strengths.len() } else { 0 };
        self.strengths.len() + right
    }

    /// All edges of a node.
    pub fn degree(&self, node: usize) -> f64 {
        let left = self.strengths.len();
        match self.kind {
            Kind::Undirected => self.strengths[node],
            Kind::Directed => self.strengths[node] + self.other_strengths[node],
            Kind::Bipartite if node < left => self.strengths[node],
            Kind::Bipartite => self.other_strengths[node - left],
        }
    }

    /// Memberships of a node; of one that is source and target, the mean of both, weighted by its edges.
    pub fn mix(&self, node: usize) -> Vec<f64> {
        let plain = |row: &[f32]| row.iter().map(|x| f64::from(*x)).collect();
        let left = self.memberships.rows();
        match (self.kind, self.others) {
            (Kind::Bipartite, Some(others)) if node >= left => plain(others.row(node - left)),
            (Kind::Directed, Some(others)) => {
                let total = self.degree(node);
                let part = if total > 0.0 { self.strengths[node] / total } else { 0.5 };
                let pairs = self.memberships.row(node).iter().zip(others.row(node));
                pairs.map(|(a, b)| part * f64::from(*a) + (1.0 - part) * f64::from(*b)).collect()
            }
            _ => plain(self.memberships.row(node)),
        }
    }

    /// The main community of every node.
    pub fn mains(&self) -> Vec<u32> {
        (0..self.len()).into_par_iter().map(|node| largest(&self.mix(node))).collect()
    }

    /// Rows of the adjacency matrix in the order of the picture.
    pub fn rows(&self) -> Order {
        Order::of(self.memberships, self.strengths)
    }

    /// Its columns; none where they are the rows.
    pub fn columns(&self) -> Option<Order> {
        self.others.map(|others| Order::of(others, self.other_strengths))
    }
}

impl Model {
    /// The nodes as a picture sees them.
    pub(super) fn all_nodes(&self) -> AllNodes<'_> {
        AllNodes {
            kind: self.kind(),
            memberships: self.memberships(),
            others: self.other_memberships(),
            strengths: self.strengths(),
            other_strengths: self.other_strengths(),
        }
    }
}
