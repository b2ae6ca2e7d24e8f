//! A graph as stars, for the moments and for the likelihood.

use super::data::Graph;
use super::moments::Stars;
use super::spectrum::rescaled;
use tenfold_engine::linalg::Adjacency;

/// A weighted graph with its weights brought to a level of their own. The moments take a weight for a number of edges, whose square and
/// sum are alike where edges are rare; of weights in any unit, Σw/Σw² times them has this, so that pairs of a leaf with itself are
/// taken away as they came.
pub(super) struct Level {
    hubs: Option<Adjacency>,
    leaves: Option<Adjacency>,
}

impl Level {
    pub fn of(graph: &Graph) -> Self {
        if !graph.weighted() {
            return Self { hubs: None, leaves: None };
        }
        let a = graph.adjacency();
        let weights = (0..a.rows()).filter_map(|u| a.row(u).1).flatten().map(|w| f64::from(*w));
        let (sum, squares) = weights.fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
        let unit = sum / squares;
        Self { hubs: Some(rescaled(a, unit)), leaves: graph.transposed().map(|t| rescaled(t, unit)) }
    }

    pub fn stars<'a>(&'a self, graph: &'a Graph) -> Stars<'a> {
        let given = stars_of(graph);
        let hubs = self.hubs.as_ref().unwrap_or(given.hubs);
        let leaves =
            if graph.transposed().is_some() { self.leaves.as_ref().unwrap_or(given.leaves) } else { hubs };
        Stars { hubs, leaves }
    }
}

/// The graph as it was given.
pub(super) fn stars_of(graph: &Graph) -> Stars<'_> {
    Stars { hubs: graph.adjacency(), leaves: graph.transposed().unwrap_or(graph.adjacency()) }
}
