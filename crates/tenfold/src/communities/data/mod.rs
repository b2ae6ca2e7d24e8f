//! A graph: who is linked with whom, by ids of any kind.

mod attributes;
mod build;
mod compact;
mod components;
mod gathered;
mod guess;
mod ids;
mod names;
mod pieces;
mod pool;

pub use attributes::{Attribute, Attributes};
pub use build::GraphBuilder;
pub(crate) use compact::{PIECE, Pairs, compact};
pub(crate) use gathered::{Gathered, MEND_WEIGHT, Told, Wanted, weight};
pub use ids::Ids;
pub(crate) use ids::number;
pub(crate) use names::{Keys, Names};
pub use pieces::{EdgeArrays, Ends, Piece};
pub(crate) use pool::{NamedPiece, Pool};

use crate::checkpoint::Digest;
use crate::error::Result;
use tenfold_engine::linalg::Adjacency;

/// Edges between places of nodes, in pieces that threads can share.
pub(crate) type Edges = Vec<Vec<(u32, u32)>>;

/// A weight for every edge, in the pieces of the edges.
pub(crate) type Weights = Vec<Vec<f32>>;

/// What the edges of a graph are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An edge links two nodes, neither of them first.
    Undirected,
    /// An edge goes from one node to another.
    Directed,
    /// An edge links a node of the left side with one of the right side.
    Bipartite,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(match self {
            Self::Undirected => "undirected",
            Self::Directed => "directed",
            Self::Bipartite => "bipartite",
        })
    }
}

/// A graph with at least one edge, and the ids of its nodes.
///
/// There are no edges from a node to itself, and none stands twice: such edges were dropped or merged on the way in, and
/// [`Graph::notes`] says how many. Nodes named by numbers stand in ascending order, others in the order in which they
/// first appeared.
///
/// # Example
/// ```
/// use tenfold::communities::{Graph, Kind};
/// let graph = Graph::from_edges(Kind::Directed, &[(10, 20), (20, 10), (10, 30), (10, 10)], None)?;
/// assert_eq!((graph.nodes(), graph.edges()), (3, 3));
/// assert_eq!(graph.adjacency().row(0).0, [1, 2]);
/// assert_eq!(graph.ids().get(2), "30");
/// assert!(graph.notes().iter().any(|note| note.contains("1 self-loop")));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Graph {
    kind: Kind,
    adjacency: Adjacency,
    transposed: Option<Adjacency>,
    ids: Ids,
    others: Option<Ids>,
    attributes: Attributes,
    components: usize,
    notes: Vec<String>,
}

impl Graph {
    /// What tells this graph from another.
    pub(super) fn identify(&self, digest: &mut Digest) -> Result<()> {
        digest.bytes(format!("{:?}", self.kind).as_bytes());
        digest.texts(&self.notes);
        for ids in [Some(&self.ids), self.others.as_ref()].into_iter().flatten() {
            digest.number(ids.len() as u64);
            ids.iter().for_each(|id| digest.bytes(id.as_bytes()));
        }
        digest.number(self.adjacency.cols() as u64);
        for node in 0..self.adjacency.rows() {
            let (neighbours, weights) = self.adjacency.row(node);
            digest.places(neighbours);
            digest.singles(weights.unwrap_or_default());
        }
        Ok(())
    }

    /// A graph of nodes that are called by numbers, with a weight for every edge if there are weights.
    ///
    /// # Errors
    /// [`Error::BadParameter`](crate::Error::BadParameter) when a weight is negative, not finite or missing; an error when
    /// no edges are left.
    pub fn from_edges(kind: Kind, edges: &[(u64, u64)], weights: Option<&[f64]>) -> Result<Self> {
        build::from_numbers(kind, edges, weights)
    }

    /// A graph of nodes that are counted from 0: so many of them, and in a bipartite graph so many on the other side, with
    /// or without edges. With weights an edge weighs as often as it is given.
    ///
    /// # Errors
    /// [`Error::BadParameter`](crate::Error::BadParameter) when an edge lies outside, or a graph with one kind of nodes has
    /// two numbers of them; an error when no edges are left.
    ///
    /// # Example
    /// ```
    /// use tenfold::communities::{Graph, Kind};
    /// let graph = Graph::numbered(Kind::Bipartite, (3, 2), &[(0, 1), (2, 1), (2, 1)], true)?;
    /// assert_eq!((graph.nodes(), graph.others(), graph.edges()), (3, 2, 2));
    /// assert_eq!(graph.adjacency().row(2), (&[1][..], Some(&[2.0][..])));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn numbered(
        kind: Kind,
        (nodes, others): (usize, usize),
        edges: &[(u32, u32)],
        weighted: bool,
    ) -> Result<Self> {
        build::numbered(kind, (nodes, others), edges, weighted)
    }

    /// A graph of nodes that are called by their places, 0, 1, …, from its matrix: symmetric and without a diagonal when
    /// undirected. Nodes without edges stay.
    pub(crate) fn from_adjacency(kind: Kind, adjacency: Adjacency) -> Self {
        let transposed = (kind != Kind::Undirected).then(|| adjacency.transpose());
        let bipartite = kind == Kind::Bipartite;
        let (components, _) = components::components(&adjacency, transposed.as_ref(), bipartite);
        let ids = Ids::counted(0, adjacency.rows());
        let others = bipartite.then(|| Ids::counted(0, adjacency.cols()));
        let (attributes, notes) = (Attributes::default(), Vec::new());
        Self { kind, adjacency, transposed, ids, others, attributes, components, notes }
    }

    /// The same nodes with other edges between them.
    pub(crate) fn with_adjacency(&self, adjacency: Adjacency) -> Self {
        let transposed = (self.kind != Kind::Undirected).then(|| adjacency.transpose());
        let bipartite = self.kind == Kind::Bipartite;
        let (components, _) = components::components(&adjacency, transposed.as_ref(), bipartite);
        Self { adjacency, transposed, components, ..self.clone() }
    }

    /// What the edges are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether edges have weights; otherwise every edge counts 1.
    pub fn weighted(&self) -> bool {
        self.adjacency.weighted()
    }

    /// Number of nodes; in a bipartite graph those of the left side.
    pub fn nodes(&self) -> usize {
        self.adjacency.rows()
    }

    /// Number of nodes that edges go to: those of the right side in a bipartite graph, else [`Graph::nodes`].
    pub fn others(&self) -> usize {
        self.adjacency.cols()
    }

    /// Number of edges, each counted once.
    pub fn edges(&self) -> u64 {
        let entries = self.adjacency.entries() as u64;
        if self.kind == Kind::Undirected { entries / 2 } else { entries }
    }

    /// The share of the possible edges that are there.
    pub fn density(&self) -> f64 {
        let (rows, cols) = (self.nodes() as f64, self.others() as f64);
        let possible = if self.kind == Kind::Bipartite { rows * cols } else { rows * (rows - 1.0) };
        self.adjacency.entries() as f64 / possible.max(1.0)
    }

    /// The links by node. Undirected: symmetric, every edge stored in both directions. Directed: row i holds where edges
    /// from node i go. Bipartite: the left side in rows, the right side in columns.
    pub fn adjacency(&self) -> &Adjacency {
        &self.adjacency
    }

    /// The transpose of [`Graph::adjacency`]; `None` for an undirected graph, whose matrix is its own transpose.
    pub fn transposed(&self) -> Option<&Adjacency> {
        self.transposed.as_ref()
    }

    /// What the nodes are called; in a bipartite graph those of the left side.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// What the nodes that edges go to are called: the right side of a bipartite graph, else [`Graph::ids`].
    pub fn other_ids(&self) -> &Ids {
        self.others.as_ref().unwrap_or(&self.ids)
    }

    /// What the file says about the nodes beside their ids; in a bipartite graph about those of the left side.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Number of connected components, directions left aside; a node without edges is one by itself.
    pub fn components(&self) -> usize {
        self.components
    }

    /// What happened on the way in that the user should know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds to the notes.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}
