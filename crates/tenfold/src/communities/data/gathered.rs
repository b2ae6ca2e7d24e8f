//! Edges become a graph: what must not stay is dropped and counted, the kind is settled, and all of it is told.

use super::attributes::Attributes;
use super::compact::for_every;
use super::components::components;
use super::guess::{Pairs, Sides};
use super::{Edges, Graph, Ids, Kind, Weights};
use crate::error::{Error, Result};
use crate::report::grouped;
use rayon::prelude::*;
use tenfold_engine::linalg::Adjacency;

/// The largest weight: sums of four thousand million of them still fit single precision.
const LARGEST_WEIGHT: f64 = 1e28;

/// A weight as it is kept, or what is wrong with it.
pub(crate) fn weight(value: f64) -> std::result::Result<f32, &'static str> {
    match value {
        _ if !value.is_finite() => Err("is not a finite number"),
        _ if value < 0.0 => Err("is negative"),
        _ if value > LARGEST_WEIGHT => Err("is larger than 1e28"),
        _ => Ok(value as f32),
    }
}

/// What to do about a bad weight.
pub(crate) const MEND_WEIGHT: &str =
    "weights are finite and not negative: mend it, or leave the weights out with --unweighted";

/// What the data say about the kind of the graph.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) kind: Kind,
    /// Who says so, as the end of a sentence.
    pub(crate) by: &'static str,
    /// Whether the edges may still show otherwise.
    pub(crate) sure: bool,
}

/// What the user wants.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    pub(crate) kind: Option<Kind>,
    pub(crate) weighted: Option<bool>,
}

/// Edges on their way into a graph, as a reader or a builder found them.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) ids: Ids,
    /// What the right side is called, where it is known to be a side of its own.
    pub(crate) others: Option<Ids>,
    pub(crate) edges: Edges,
    pub(crate) weights: Option<Weights>,
    pub(crate) attributes: Attributes,
    pub(crate) told: Option<Told>,
    /// Whether nodes were declared apart from their edges, so that an id means one node wherever it stands. Otherwise the
    /// two ends of edges are columns, which may be two sides with ids of their own.
    pub(crate) declared: bool,
    pub(crate) notes: Vec<String>,
}

impl Gathered {
    /// Edges between nodes of these ids, and nothing more.
    pub(crate) fn new(ids: Ids, edges: Edges, weights: Option<Weights>) -> Self {
        let (others, attributes, told) = (None, Attributes::default(), None);
        Self { ids, others, edges, weights, attributes, told, declared: false, notes: Vec::new() }
    }

    /// The graph.
    ///
    /// # Errors
    /// [`Error::BadParameter`] when the kind that is wanted does not go with the data, and the engine's
    /// `TooLittleData` when no edges are left.
    pub(crate) fn finish(mut self, wanted: Wanted) -> Result<Graph> {
        let kind = self.settle_kind(wanted.kind)?;
        if kind == Kind::Bipartite {
            self.split()?;
        } else {
            let loops = self.retain(|(i, j), _| i != j);
            self.count(loops, "self-loop was dropped", "self-loops were dropped");
        }
        let counted = self.settle_weights(wanted.weighted);
        let given: usize = self.edges.iter().map(Vec::len).sum();
        if given == 0 {
            let what = "the graph has no edges between different nodes; give at least one";
            return Err(tenfold_engine::Error::TooLittleData(what.into()).into());
        }
        let (edges, weights) = (std::mem::take(&mut self.edges), self.weights.take());
        let (rows, cols) = (self.ids.len(), self.others.as_ref().unwrap_or(&self.ids).len());
        let (adjacency, added_up) = match kind {
            Kind::Undirected => undirected(rows, edges, weights, counted)?,
            _ => (Adjacency::from_edges(rows, cols, edges, weights)?, true),
        };
        let held = adjacency.entries() / if kind == Kind::Undirected { 2 } else { 1 };
        let again =
            if kind == Kind::Undirected { "given again or in the other direction" } else { "given again" };
        let merged = match (adjacency.weighted(), added_up) {
            (false, _) => "merged",
            (true, true) => "merged, and their weights added up",
            (true, false) => "merged; both directions have the same weight, which stays",
        };
        let (one, many) =
            (format!("edge was {again}, and {merged}"), format!("edges were {again}, and {merged}"));
        self.count(given - held, &one, &many);
        Ok(self.connected(kind, adjacency))
    }

    /// The graph of a square matrix whose rows and columns are the same nodes: undirected when it is symmetric, else directed,
    /// unless a kind is wanted.
    ///
    /// # Errors
    /// As [`Gathered::finish`].
    pub(crate) fn finish_square(mut self, wanted: Wanted) -> Result<Graph> {
        if wanted.kind.is_some() || wanted.weighted == Some(true) && self.weights.is_none() {
            return self.finish(wanted);
        }
        let loops = self.retain(|(i, j), _| i != j);
        self.count(loops, "self-loop was dropped", "self-loops were dropped");
        self.settle_weights(wanted.weighted);
        if self.edges.iter().all(Vec::is_empty) {
            return self.finish(Wanted { kind: Some(Kind::Directed), weighted: Some(false) });
        }
        let (edges, weights) = (std::mem::take(&mut self.edges), self.weights.take());
        let matrix = Adjacency::from_edges(self.ids.len(), self.ids.len(), edges, weights)?;
        let symmetric = matrix == matrix.transpose();
        self.notes.push(match symmetric {
            true => "undirected, as its matrix is symmetric".into(),
            false => "directed, as its matrix is not symmetric".into(),
        });
        Ok(self.connected(if symmetric { Kind::Undirected } else { Kind::Directed }, matrix))
    }

    /// Says how the nodes are connected.
    fn connected(mut self, kind: Kind, adjacency: Adjacency) -> Graph {
        let transposed = (kind != Kind::Undirected).then(|| adjacency.transpose());
        let without = |a: &Adjacency, b: Option<&Adjacency>| {
            (0..a.rows()).filter(|&i| a.degree(i) == 0 && b.is_none_or(|b| b.degree(i) == 0)).count()
        };
        let bipartite = kind == Kind::Bipartite;
        let alone = match &transposed {
            Some(t) if bipartite => without(&adjacency, None) + without(t, None),
            t => without(&adjacency, t.as_ref()),
        };
        self.count(alone, "node has no edges; it stays", "nodes have no edges; they stay");
        let (components, largest) = components(&adjacency, transposed.as_ref(), bipartite);
        let nodes = adjacency.rows() + if bipartite { adjacency.cols() } else { 0 };
        self.notes.push(match components {
            1 => "all nodes are connected with one another".into(),
            _ => format!(
                "{} connected components; the largest holds {} of {} nodes",
                grouped(components),
                grouped(largest),
                grouped(nodes)
            ),
        });
        let Self { ids, others, attributes, notes, .. } = self;
        Graph { kind, adjacency, transposed, ids, others, attributes, components, notes }
    }

    /// The kind that is wanted, that the data tell, or that the edges show.
    fn settle_kind(&mut self, wanted: Option<Kind>) -> Result<Kind> {
        if let Some(kind) = wanted {
            if self.others.is_some() && kind != Kind::Bipartite {
                return Err(wrong_kind(kind, "a square matrix, but the sides of this one differ".into()));
            }
            return Ok(kind);
        }
        let doubled = |edges| Pairs::count(edges).doubled();
        if let Some(Told { kind, by, sure }) = self.told.clone()
            && (sure || kind != Kind::Directed || !doubled(&self.edges))
        {
            self.notes.push(format!("{kind}, {by}"));
            return Ok(kind);
        }
        let pairs = Pairs::count(&self.edges);
        let total: usize = self.edges.iter().map(Vec::len).sum();
        let distinct = if total <= Pairs::ALL { pairs.seen } else { total };
        // A tree is bipartite whatever it means; more edges than nodes are not so by chance.
        let (kind, why) = if !self.declared
            && distinct > self.ids.len()
            && Sides::of(&self.edges, self.ids.len()).on_both().is_none()
        {
            (Kind::Bipartite, "no id stands in both columns".into())
        } else {
            pairs.kind()
        };
        let others = match kind {
            Kind::Undirected => "--directed or --bipartite",
            Kind::Directed => "--undirected or --bipartite",
            Kind::Bipartite => "--undirected or --directed",
        };
        self.notes.push(format!("taken as {kind}, for {why}; say {others} if that is wrong"));
        Ok(kind)
    }

    /// Makes the two ends of edges two sides.
    fn split(&mut self) -> Result<()> {
        if self.others.is_some() {
            return Ok(());
        }
        let sides = Sides::of(&self.edges, self.ids.len());
        if self.declared
            && let Some(node) = sides.on_both()
        {
            let id = self.ids.get(node);
            let expected = format!("edges from one side to the other, but node {id:?} stands on both");
            return Err(wrong_kind(Kind::Bipartite, expected));
        }
        let (left, right) = (sides.left(), sides.right());
        let places = |keep: &[bool]| -> Vec<u32> {
            let mut next = 0;
            let place = |k: &bool| {
                next += u32::from(*k);
                next.wrapping_sub(1)
            };
            keep.iter().map(place).collect()
        };
        let (to_left, to_right) = (places(&left), places(&right));
        for_every(&mut self.edges, |e| *e = (to_left[e.0 as usize], to_right[e.1 as usize]));
        self.others = Some(self.ids.some(&right));
        self.ids = self.ids.some(&left);
        let place = |node: u32| left[node as usize].then(|| to_left[node as usize]);
        self.attributes = std::mem::take(&mut self.attributes).settled(place);
        Ok(())
    }

    /// Weights as wanted; those of 0 go, and so do all if they say nothing. True when they only count edges.
    fn settle_weights(&mut self, wanted: Option<bool>) -> bool {
        let counted = wanted == Some(true) && self.weights.is_none();
        match (wanted, &self.weights) {
            (Some(false), _) => self.weights = None,
            (Some(true), None) => {
                self.weights = Some(self.edges.iter().map(|chunk| vec![1.0; chunk.len()]).collect());
                self.notes.push("there are no weights: an edge weighs as often as it is given".into());
            }
            (_, Some(_)) => {
                let zeros = self.retain(|_, weight| weight > 0.0);
                self.count(zeros, "edge of weight 0 was dropped", "edges of weight 0 were dropped");
                let all_one = |w: &Weights| w.par_iter().all(|w| w.iter().all(|w| *w == 1.0));
                if wanted.is_none() && self.weights.as_ref().is_some_and(all_one) {
                    self.weights = None;
                    self.notes.push("all weights are 1: the graph is taken as unweighted".into());
                }
            }
            (None, None) => {}
        }
        counted
    }

    /// Keeps some of the edges and says how many went.
    fn retain(&mut self, keep: impl Fn((u32, u32), f32) -> bool + Sync) -> usize {
        let Some(weights) = &mut self.weights else {
            let some = |chunk: &mut Vec<(u32, u32)>| {
                let before = chunk.len();
                chunk.retain(|edge| keep(*edge, 1.0));
                before - chunk.len()
            };
            return self.edges.par_iter_mut().map(some).sum();
        };
        let some = |(edges, weights): (&mut Vec<(u32, u32)>, &mut Vec<f32>)| {
            let (before, mut kept) = (edges.len(), 0);
            for e in 0..before {
                if keep(edges[e], weights[e]) {
                    (edges[kept], weights[kept]) = (edges[e], weights[e]);
                    kept += 1;
                }
            }
            edges.truncate(kept);
            weights.truncate(kept);
            before - kept
        };
        self.edges.par_iter_mut().zip(weights.par_iter_mut()).map(some).sum()
    }

    /// Notes that something happened, if it did.
    fn count(&mut self, times: usize, one: &str, many: &str) {
        match times {
            0 => {}
            1 => self.notes.push(format!("1 {one}")),
            _ => self.notes.push(format!("{} {many}", grouped(times))),
        }
    }
}

/// The symmetric matrix, and whether the weights of both directions were added up.
fn undirected(
    nodes: usize,
    edges: Edges,
    weights: Option<Weights>,
    counted: bool,
) -> Result<(Adjacency, bool)> {
    // A list with both directions of every edge gives its weight twice.
    if weights.is_some() && !counted && Pairs::count(&edges).doubled() {
        let one = Adjacency::from_edges(nodes, nodes, edges, weights)?;
        return Ok(if one == one.transpose() { (one, false) } else { (one.symmetrised(), true) });
    }
    Ok((Adjacency::undirected(nodes, edges, weights)?, true))
}

fn wrong_kind(kind: Kind, expected: String) -> Error {
    Error::BadParameter { name: "kind".into(), value: kind.to_string(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(edges: &[(u32, u32)], weights: Option<&[f32]>) -> Gathered {
        let nodes = edges.iter().map(|e| e.0.max(e.1) + 1).max().unwrap_or(0);
        let weights = weights.map(|w| vec![w.to_vec(), vec![]]);
        Gathered::new(Ids::counted(0, nodes as usize), vec![edges.to_vec(), vec![]], weights)
    }

    fn wanted(kind: Kind) -> Wanted {
        Wanted { kind: Some(kind), weighted: None }
    }

    fn has(graph: &Graph, note: &str) -> bool {
        graph.notes().iter().any(|n| n.contains(note))
    }

    #[test]
    fn what_must_not_stay_is_dropped_and_told() {
        let edges = [(0, 1), (1, 0), (0, 1), (2, 2), (3, 1), (3, 1)];
        let graph = gathered(&edges, None).finish(wanted(Kind::Undirected)).unwrap();
        assert_eq!((graph.nodes(), graph.edges(), graph.components()), (4, 2, 2));
        assert_eq!(graph.adjacency().row(1).0, [0, 3]);
        assert!(has(&graph, "1 self-loop was dropped") && has(&graph, "1 node has no edges"));
        assert!(has(&graph, "3 edges were given again or in the other direction, and merged"));
        assert!(has(&graph, "2 connected components; the largest holds 3 of 4 nodes"));
        assert!((graph.density() - 2.0 / 6.0).abs() < 1e-15);
        let graph = gathered(&edges, None).finish(wanted(Kind::Directed)).unwrap();
        assert_eq!((graph.edges(), graph.transposed().unwrap().row(1).0), (3, &[0, 3][..]));
        assert!(has(&graph, "2 edges were given again, and merged") && has(&graph, "1 node has no edges"));
        assert!((graph.density() - 3.0 / 12.0).abs() < 1e-15);
    }

    #[test]
    fn weights_add_up_unless_both_directions_say_the_same() {
        let edges = [(0, 1), (1, 0), (1, 2), (2, 1)];
        let weights = |w: &[f32], kind| gathered(&edges, Some(w)).finish(wanted(kind)).unwrap();
        let same = weights(&[2.0, 2.0, 3.0, 3.0], Kind::Undirected);
        assert_eq!(same.adjacency().row(1), (&[0, 2][..], Some(&[2.0, 3.0][..])));
        let differ = weights(&[2.0, 1.0, 3.0, 3.0], Kind::Undirected);
        assert_eq!(differ.adjacency().row(1).1, Some(&[3.0, 6.0][..]));
        assert!(has(&differ, "added up") && !has(&same, "added up"));
        let ones = weights(&[1.0; 4], Kind::Directed);
        assert!(!ones.weighted() && has(&ones, "all weights are 1"));
        let zero = weights(&[0.0, 1.5, 0.0, 1.0], Kind::Directed);
        assert!(zero.edges() == 2 && has(&zero, "2 edges of weight 0 were dropped"));
        let asked = Wanted { kind: Some(Kind::Directed), weighted: Some(true) };
        let counted = gathered(&[(0, 1), (0, 1), (1, 2)], None).finish(asked).unwrap();
        assert_eq!(counted.adjacency().row(0).1, Some(&[2.0][..]));
        let both = Wanted { kind: Some(Kind::Undirected), weighted: Some(true) };
        let twice = gathered(&[(0, 1), (1, 0)], None).finish(both).unwrap();
        assert_eq!(twice.adjacency().row(0).1, Some(&[2.0][..]));
        let without = Wanted { weighted: Some(false), ..asked };
        assert!(!gathered(&edges, Some(&[2.0; 4])).finish(without).unwrap().weighted());
    }

    #[test]
    fn two_sides() {
        let edges = [(3, 0), (4, 1), (4, 0), (3, 1), (5, 0), (3, 2), (4, 2), (5, 2), (6, 0)];
        // The last node has no edges and counts as left.
        let ids = Ids::from_names((0..8).map(|i| format!("n{i}"))).unwrap();
        let graph = Gathered { ids, ..gathered(&edges, None) }.finish(wanted(Kind::Bipartite)).unwrap();
        assert_eq!((graph.nodes(), graph.others(), graph.edges(), graph.components()), (5, 3, 9, 2));
        assert_eq!((graph.ids().get(1), graph.other_ids().get(2)), ("n4".into(), "n2".into()));
        assert_eq!(graph.adjacency().row(2).0, [0, 2]);
        assert!((graph.density() - 9.0 / 15.0).abs() < 1e-15);
        // Lists have ids by column: one that stands in both is two nodes.
        let both = gathered(&[(0, 0), (1, 0), (0, 2)], None).finish(wanted(Kind::Bipartite)).unwrap();
        assert_eq!((both.nodes(), both.others(), both.edges()), (2, 2, 3));
        let declared = Gathered { declared: true, ..gathered(&[(0, 1), (1, 2)], None) };
        let error = declared.finish(wanted(Kind::Bipartite)).unwrap_err().to_string();
        assert!(error.contains("node \"1\" stands on both"), "{error}");
        let rectangular =
            || Gathered { others: Some(Ids::counted(0, 9)), ..gathered(&[(0, 8), (1, 0)], None) };
        assert!(rectangular().finish(wanted(Kind::Directed)).is_err());
        assert_eq!(rectangular().finish(wanted(Kind::Bipartite)).unwrap().others(), 9);
    }

    #[test]
    fn kinds_are_guessed_with_a_reason() {
        let guess = |edges: &[(u32, u32)]| gathered(edges, None).finish(Wanted::default()).unwrap();
        let sides = [(0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4), (0, 5), (1, 5)];
        let graph = guess(&sides);
        assert!(graph.kind() == Kind::Bipartite && has(&graph, "no id stands in both columns; say"));
        let star = guess(&[(0, 1), (0, 2), (0, 1), (0, 2), (0, 1)]);
        assert!(star.kind() == Kind::Undirected && has(&star, "no pair stands in both directions"));
        assert_eq!(guess(&[(0, 1), (1, 0), (1, 2)]).kind(), Kind::Directed);
        let told = |sure, edges: &[(u32, u32)]| {
            let told = Some(Told { kind: Kind::Directed, by: "as its comments say", sure });
            Gathered { told, ..gathered(edges, None) }.finish(Wanted::default()).unwrap()
        };
        assert_eq!(told(true, &[(0, 1), (1, 0)]).kind(), Kind::Directed);
        assert_eq!(told(false, &[(0, 1), (1, 0)]).kind(), Kind::Undirected);
        assert!(has(&told(false, &[(0, 1)]), "directed, as its comments say"));
        let nothing = gathered(&[(1, 1)], None).finish(Wanted::default()).unwrap_err().to_string();
        assert!(nothing.contains("no edges"), "{nothing}");
    }
}
