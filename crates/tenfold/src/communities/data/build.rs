//! Graphs from a program: edge by edge, by ids of any kind.

use super::attributes::Attributes;
use super::compact::{PIECE, Pairs, compact};
use super::gathered::{Gathered, Wanted, weight};
use super::ids::too_many;
use super::{Edges, Graph, Ids, Kind, Names, Weights};
use crate::error::{Error, Result};

/// Takes edges one by one and makes a graph of them.
///
/// Ids that are all whole numbers put the nodes in ascending order; other ids keep the order in which they first appear.
/// What is wrong with an edge is told by [`GraphBuilder::finish`].
///
/// # Example
/// ```
/// use tenfold::communities::GraphBuilder;
/// let mut builder = GraphBuilder::new(None);
/// for (from, to, weight) in [("a", "b", 2.5), ("b", "c", 1.0), ("b", "a", 0.5)] {
///     builder.weighted_edge(from, to, weight);
/// }
/// let graph = builder.finish()?;
/// assert_eq!(graph.adjacency().row(1), (&[0, 2][..], Some(&[0.5, 1.0][..])));
/// println!("{}", graph.notes().join("\n"));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct GraphBuilder {
    kind: Option<Kind>,
    names: Names,
    edges: Edges,
    weights: Option<Weights>,
    attributes: Attributes,
    trouble: Option<Error>,
}

impl GraphBuilder {
    /// A graph of this kind, or of the kind that its edges show.
    pub fn new(kind: Option<Kind>) -> Self {
        Self { kind, ..Self::default() }
    }

    /// An edge of weight 1.
    pub fn edge(&mut self, from: &str, to: &str) -> &mut Self {
        self.push(from, to, None)
    }

    /// An edge with a weight.
    pub fn weighted_edge(&mut self, from: &str, to: &str, weight: f64) -> &mut Self {
        self.push(from, to, Some(weight))
    }

    /// A node, which may have no edges. In a bipartite graph it then belongs to the left side.
    pub fn node(&mut self, id: &str) -> &mut Self {
        self.place(id);
        self
    }

    /// What is known about a node beside its id, such as a label.
    pub fn attribute(&mut self, id: &str, name: &str, value: &str) -> &mut Self {
        let node = self.place(id);
        self.attributes.set(node, name, value);
        self
    }

    /// The graph.
    ///
    /// # Errors
    /// The first weight that is negative or not finite; no edges between different nodes; more than 2³² − 1 nodes.
    pub fn finish(mut self) -> Result<Graph> {
        if let Some(trouble) = self.trouble.take() {
            return Err(trouble);
        }
        let wanted = Wanted { kind: self.kind, weighted: None };
        self.gathered().finish(wanted)
    }

    /// Edges between names that were numbered elsewhere.
    pub(crate) fn of(names: Names, edges: Edges, weights: Option<Weights>, attributes: Attributes) -> Self {
        Self { names, edges, weights, attributes, ..Self::default() }
    }

    /// The edges so far, between the places of their nodes.
    pub(crate) fn gathered(self) -> Gathered {
        let Self { names, mut edges, weights, attributes, .. } = self;
        let (ids, places) = Ids::settled(names);
        let attributes = match &places {
            None => attributes.settled(Some),
            Some(places) => attributes.settled(|node| Some(places[node as usize])),
        };
        if let Some(places) = places {
            super::compact::for_every(&mut edges, |e| *e = (places[e.0 as usize], places[e.1 as usize]));
        }
        Gathered { attributes, ..Gathered::new(ids, edges, weights) }
    }

    fn push(&mut self, from: &str, to: &str, given: Option<f64>) -> &mut Self {
        let edge = (self.place(from), self.place(to));
        if self.edges.last().is_none_or(|chunk| chunk.len() == PIECE) {
            self.edges.push(Vec::new());
            self.weights.iter_mut().for_each(|chunks| chunks.push(Vec::new()));
        }
        if given.is_some() && self.weights.is_none() {
            self.weights = Some(self.edges.iter().map(|chunk| vec![1.0; chunk.len()]).collect());
        }
        let kept = weight(given.unwrap_or(1.0)).unwrap_or_else(|problem| {
            let value = given.unwrap_or(1.0).to_string();
            let expected = format!("it {problem}; weights are finite and not negative");
            self.trouble.get_or_insert(Error::BadParameter { name: "weight".into(), value, expected });
            0.0
        });
        let last = self.edges.len() - 1;
        self.edges[last].push(edge);
        if let Some(weights) = &mut self.weights {
            weights[last].push(kept);
        }
        self
    }

    /// The place of a node, which is new if it was not seen before.
    fn place(&mut self, id: &str) -> u32 {
        self.names.insert(id).unwrap_or_else(|| {
            self.trouble.get_or_insert_with(too_many);
            0
        })
    }
}

/// A graph of nodes that are called by numbers.
pub(super) fn from_numbers(kind: Kind, edges: &[(u64, u64)], weights: Option<&[f64]>) -> Result<Graph> {
    let bad =
        |value: String, expected: String| Error::BadParameter { name: "weights".into(), value, expected };
    if let Some(weights) = weights
        && weights.len() != edges.len()
    {
        return Err(bad(weights.len().to_string(), format!("{}, one for every edge", edges.len())));
    }
    let small = |chunk: &[(u64, u64)]| -> Option<Vec<(u32, u32)>> {
        chunk.iter().map(|e| Some((e.0.try_into().ok()?, e.1.try_into().ok()?))).collect()
    };
    let piece =
        |chunk: &[(u64, u64)]| small(chunk).map_or_else(|| Pairs::Large(chunk.to_vec()), Pairs::Small);
    let (ids, pieces) = compact(edges.chunks(PIECE).map(piece).collect())?;
    let keep = |chunk: &[f64]| -> Result<Vec<f32>> {
        let kept = |w: &f64| weight(*w).map_err(|problem| bad(w.to_string(), format!("it {problem}")));
        chunk.iter().map(kept).collect()
    };
    let weights = weights.map(|w| w.chunks(PIECE).map(keep).collect::<Result<Vec<_>>>()).transpose()?;
    Gathered::new(ids, pieces, weights).finish(Wanted { kind: Some(kind), weighted: None })
}

/// A graph of nodes that are counted from 0.
pub(super) fn numbered(
    kind: Kind,
    (nodes, others): (usize, usize),
    edges: &[(u32, u32)],
    weighted: bool,
) -> Result<Graph> {
    let bipartite = kind == Kind::Bipartite;
    if !bipartite && nodes != others {
        let (value, expected) =
            (format!("{nodes} and {others}"), format!("one number in a graph that is {kind}"));
        return Err(Error::BadParameter { name: "nodes".into(), value, expected });
    }
    let pieces = edges.chunks(PIECE).map(<[_]>::to_vec).collect();
    let mut gathered = Gathered::new(Ids::counted(0, nodes), pieces, None);
    gathered.others = bipartite.then(|| Ids::counted(0, others));
    gathered.finish(Wanted { kind: Some(kind), weighted: Some(weighted) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_and_numbers_get_theirs() {
        let mut builder = GraphBuilder::new(Some(Kind::Undirected));
        builder.node("z").edge("b", "a").attribute("a", "x", "1").edge("b", "z");
        let graph = builder.finish().unwrap();
        assert_eq!(graph.ids().iter().collect::<Vec<_>>(), ["z", "b", "a"]);
        assert_eq!(graph.attributes().get("x").unwrap().value(2), Some("1"));
        let mut builder = GraphBuilder::new(Some(Kind::Directed));
        builder.edge("10", "9").attribute("10", "x", "ten").edge("9", "2");
        let graph = builder.finish().unwrap();
        assert_eq!(graph.ids().iter().collect::<Vec<_>>(), ["2", "9", "10"]);
        assert_eq!(graph.adjacency().row(2).0, [1]);
        assert_eq!(graph.attributes().get("x").unwrap().iter().collect::<Vec<_>>(), [(2, "ten")]);
    }

    #[test]
    fn bad_weights_are_told() {
        for (weight, problem) in [
            (-1.0, "is negative"),
            (f64::NAN, "not a finite"),
            (f64::INFINITY, "not a finite"),
            (1e30, "larger"),
        ] {
            let mut builder = GraphBuilder::new(None);
            builder.edge("a", "b").weighted_edge("b", "c", weight).weighted_edge("b", "c", -7.0);
            let error = builder.finish().unwrap_err().to_string();
            assert!(error.contains(problem) && !error.contains("-7"), "{error}");
            let error =
                Graph::from_edges(Kind::Directed, &[(1, 2)], Some(&[weight])).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        assert!(Graph::from_edges(Kind::Directed, &[(1, 2)], Some(&[])).is_err());
        assert!(Graph::from_edges(Kind::Directed, &[], None).is_err());
        assert!(GraphBuilder::new(None).finish().is_err());
    }

    #[test]
    fn counted_nodes_stay_without_edges() {
        let graph = Graph::numbered(Kind::Undirected, (5, 5), &[(0, 1), (1, 0), (3, 3)], false).unwrap();
        assert_eq!((graph.nodes(), graph.edges(), graph.weighted(), graph.components()), (5, 1, false, 4));
        let graph = Graph::numbered(Kind::Directed, (3, 3), &[(0, 2), (0, 2), (0, 1)], true).unwrap();
        assert_eq!(graph.adjacency().row(0).1, Some(&[1.0, 2.0][..]));
        assert!(Graph::numbered(Kind::Directed, (3, 4), &[(0, 2)], false).is_err());
        assert!(Graph::numbered(Kind::Bipartite, (3, 4), &[(3, 3)], false).is_err());
        assert!(Graph::numbered(Kind::Undirected, (3, 3), &[(0, 3)], false).is_err());
    }

    #[test]
    fn weights_and_edges_without_them_mix() {
        let mut builder = GraphBuilder::new(Some(Kind::Directed));
        builder.edge("1", "2").weighted_edge("2", "3", 4.0).edge("3", "1");
        let graph = builder.finish().unwrap();
        assert_eq!(graph.adjacency().strengths(), [1.0, 4.0, 1.0]);
        let far =
            Graph::from_edges(Kind::Directed, &[(1 << 40, 2), (2, u64::MAX)], Some(&[2.0, 3.0])).unwrap();
        assert_eq!(
            (far.ids().get(2), far.adjacency().strengths()),
            (u64::MAX.to_string().into(), vec![3.0, 2.0, 0.0])
        );
    }
}
