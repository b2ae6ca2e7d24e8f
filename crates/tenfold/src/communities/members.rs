//! Who belongs to which communities: rows of memberships with the ids of their nodes, whichever side of the edges they
//! are seen from.

mod leading;
mod threshold;

pub use leading::Bridge;
pub use threshold::Threshold;
pub(super) use threshold::main_of;

use super::data::{Ids, Kind};
use super::model::Model;
use crate::error::{Error, Result};
use crate::evaluate::Cover;
use tenfold_engine::linalg::{Mat, Tall};

/// Which edges of a node its memberships are told from, where edges have a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Those that go out from it; in a bipartite graph the nodes of the left side.
    From,
    /// Those that come in; in a bipartite graph the nodes of the right side.
    To,
    /// All of them.
    Both,
}

/// Memberships of nodes, row by row, without a copy of the model's.
///
/// # Example
/// ```
/// use tenfold::communities::{Ids, Members, Threshold};
/// use tenfold::engine::linalg::Tall;
/// let ids = Ids::from_names(["ann", "bob"])?;
/// let memberships = Tall::from_vec(2, 3, vec![0.75, 0.25, 0.0, 0.125, 0.0, 0.875]).unwrap();
/// let members = Members::new(&ids, &memberships);
/// assert_eq!(members.main(1), (2, 0.875));
/// assert_eq!(members.cover(Threshold::Absolute(0.2)).communities(), [vec![0], vec![0], vec![1]]);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Members<'a> {
    ids: &'a Ids,
    own: Part<'a>,
    /// What the edges of the other direction say.
    other: Option<Part<'a>>,
}

/// Memberships; and where they are known, the edges of a node and how many of them communities explain.
#[derive(Debug, Clone, Copy)]
struct Part<'a> {
    rows: &'a Tall,
    edges: Option<Edges<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct Edges<'a> {
    all: &'a [f64],
    explained: &'a [f64],
}

impl<'a> Members<'a> {
    /// Memberships that did not come from a model.
    ///
    /// # Panics
    /// When there is not a row for every id.
    pub fn new(ids: &'a Ids, memberships: &'a Tall) -> Self {
        assert_eq!(ids.len(), memberships.rows(), "a row of memberships for every id");
        Self { ids, own: Part { rows: memberships, edges: None }, other: None }
    }

    /// Those of a model, of the side that [`Side::of`] gives. Both sides of a directed graph count by the number of edges that
    /// communities explain: a membership is then the share of a node's edges, in either direction, that a community
    /// explains.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a side that the graph does not have.
    pub fn of(model: &'a Model, side: Option<Side>) -> Result<Self> {
        let side = Side::of(model.kind(), side)?;
        let part = |rows, all, explained| Part { rows, edges: Some(Edges { all, explained }) };
        let own = part(model.memberships(), model.strengths(), model.explained());
        let other = model
            .other_memberships()
            .map(|rows| part(rows, model.other_strengths(), model.other_explained()));
        Ok(match (side, other) {
            (Side::To, Some(own)) => Self { ids: model.other_ids(), own, other: None },
            (Side::From, _) => Self { ids: model.ids(), own, other: None },
            _ => Self { ids: model.ids(), own, other },
        })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.own.rows.rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of communities.
    pub fn k(&self) -> usize {
        self.own.rows.width()
    }

    /// What the nodes are called.
    pub fn ids(&self) -> &'a Ids {
        self.ids
    }

    /// What a node is called, for people: as [`shown`](crate::output::shown), so that nothing acts on a terminal.
    pub fn shown(&self, node: usize) -> String {
        crate::output::shown(&self.ids.get(node)).into_owned()
    }

    /// Writes the memberships of a node into `row`.
    pub fn read(&self, node: usize, row: &mut Vec<f32>) {
        row.clear();
        row.extend_from_slice(self.own.rows.row(node));
        let Some(other) = self.other else { return };
        let (a, b) = (self.own.weight(node), other.weight(node));
        if b > 0.0 {
            let share = (b / (a + b)) as f32;
            row.iter_mut().zip(other.rows.row(node)).for_each(|(x, y)| *x += share * (y - *x));
        }
    }

    /// The memberships of a node.
    pub fn row(&self, node: usize) -> Vec<f32> {
        let mut row = Vec::with_capacity(self.k());
        self.read(node, &mut row);
        row
    }

    /// The community that a node belongs to most, and how much; of equals the first.
    pub fn main(&self, node: usize) -> (usize, f64) {
        main_of(&self.row(node))
    }

    /// Whether a node has edges that tell its memberships; otherwise they are the mean of all others. `true` where nobody
    /// knows.
    pub fn is_told(&self, node: usize) -> bool {
        self.explained(node).is_none_or(|edges| edges > 0.0)
    }

    /// How well a node's edges tell its memberships, 0 to 1, where that is known.
    pub fn confidence(&self, node: usize) -> Option<f64> {
        self.explained(node).map(|edges| confidence(&self.row(node), edges))
    }

    fn explained(&self, node: usize) -> Option<f64> {
        let own = self.own.edges?.explained[node];
        Some(own + self.other.map_or(0.0, |other| other.weight(node)))
    }

    /// A node's edges of this side, or the sum of their weights, where that is known.
    pub fn degree(&self, node: usize) -> Option<f64> {
        let own = self.own.edges?.all[node];
        Some(own + self.other.and_then(|other| other.edges).map_or(0.0, |edges| edges.all[node]))
    }

    /// Communities as lists of nodes: those that `threshold` counts as members. Nodes whose edges tell nothing are in none.
    ///
    /// # Complexity
    /// O(n k), and memory for the lists.
    pub fn cover(&self, threshold: Threshold) -> Cover {
        let mut communities = vec![Vec::new(); self.k()];
        let mut row = Vec::new();
        for node in (0..self.len()).filter(|&node| self.is_told(node)) {
            self.read(node, &mut row);
            threshold.visit(&row, |c| communities[c].push(node as u32));
        }
        Cover::new(self.len(), communities)
    }

    /// The memberships of some nodes, in double precision.
    ///
    /// # Panics
    /// When `kept` does not have an entry for every node.
    pub fn to_mat(&self, kept: &[bool]) -> Mat {
        assert_eq!(kept.len(), self.len(), "one entry for every node");
        let count = kept.iter().filter(|k| **k).count();
        let mut out = Mat::zeros(count, self.k());
        let mut row = Vec::new();
        for (i, node) in (0..self.len()).filter(|&node| kept[node]).enumerate() {
            self.read(node, &mut row);
            out.row_mut(i).iter_mut().zip(&row).for_each(|(x, v)| *x = f64::from(*v));
        }
        out
    }
}

impl Part<'_> {
    fn weight(&self, node: usize) -> f64 {
        self.edges.map_or(0.0, |edges| edges.explained[node])
    }
}

impl Side {
    /// The side that is meant in a graph of this kind: the one that is asked for; else both where edges have a direction, and
    /// the left one of a bipartite graph.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a side that such a graph does not have.
    ///
    /// # Example
    /// ```
    /// use tenfold::communities::{Kind, Side};
    /// assert_eq!(Side::of(Kind::Bipartite, None)?, Side::From);
    /// assert!(Side::of(Kind::Undirected, Some(Side::To)).is_err());
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn of(kind: Kind, asked: Option<Self>) -> Result<Self> {
        let expected = match (kind, asked) {
            (Kind::Undirected, Some(Self::From | Self::To)) => {
                "edges of this graph have no direction; leave it out"
            }
            (Kind::Bipartite, Some(Self::Both)) => "one side of a bipartite graph at a time: from or to",
            (Kind::Bipartite, None) => return Ok(Self::From),
            (_, asked) => return Ok(asked.unwrap_or(Self::Both)),
        };
        let value = asked.map_or("none", Self::name).to_owned();
        Err(Error::BadParameter { name: "side".into(), value, expected: expected.into() })
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::From => "from",
            Self::To => "to",
            Self::Both => "both",
        }
    }
}

/// 1 − √(Σ_c π_c(1 − π_c) / edges): one minus the standard error of shares that were counted on so many edges.
pub(super) fn confidence(row: &[f32], edges: f64) -> f64 {
    let spread: f64 = row.iter().map(|x| f64::from(x * (1.0 - x))).sum();
    if edges > 0.0 { (1.0 - (spread / edges).sqrt()).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_count_by_their_edges() {
        let ids = Ids::counted(0, 3);
        let from = Tall::from_vec(3, 2, vec![1.0, 0.0, 0.5, 0.5, 0.5, 0.5]).unwrap();
        let to = Tall::from_vec(3, 2, vec![0.0, 1.0, 0.0, 1.0, 0.5, 0.5]).unwrap();
        let (out, into) = ([3.0, 0.0, 0.0], [1.0, 2.0, 0.0]);
        let edges = |explained| Some(Edges { all: &[4.0, 2.0, 0.0], explained });
        let own = Part { rows: &from, edges: edges(&out) };
        let other = Some(Part { rows: &to, edges: edges(&into) });
        let members = Members { ids: &ids, own, other };
        assert_eq!((members.degree(0), Members::new(&ids, &from).degree(0)), (Some(8.0), None));
        assert_eq!((members.row(0), members.row(1)), (vec![0.75, 0.25], vec![0.0, 1.0]));
        assert_eq!((members.is_told(1), members.is_told(2)), (true, false));
        assert_eq!(members.cover(Threshold::Absolute(0.3)).communities(), [vec![0], vec![1]]);
        assert_eq!(members.confidence(1), Some(1.0));
        assert_eq!(members.confidence(2), Some(0.0));
        assert_eq!(members.to_mat(&[true, false, true]).row(0), [0.75, 0.25]);
    }

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        let ids = Ids::from_names(["two\nlines", "\u{1b}[31m", "caf\u{e9} \\"]).unwrap();
        let rows = Tall::zeros(3, 1);
        let members = Members::new(&ids, &rows);
        let shown: Vec<String> = (0..3).map(|u| members.shown(u)).collect();
        assert_eq!(shown, ["two\\nlines", "\\u{1b}[31m", "caf\u{e9} \\"]);
    }

    #[test]
    fn confidence_grows_with_edges() {
        assert_eq!((confidence(&[0.5, 0.5], 2.0), confidence(&[1.0, 0.0], 1.0)), (0.5, 1.0));
        assert_eq!((confidence(&[0.5, 0.5], 0.0), confidence(&[0.5, 0.5], 0.1)), (0.0, 0.0));
    }
}
