//! Nodes with their communities, then edges: what GML and GEXF share.

use super::super::data::{Graph, Ids, Kind};
use super::super::members::{Members, Side, main_of};
use super::super::model::Model;
use crate::error::{Error, Result};
use crate::evaluate::bridgeness_of;
use crate::output::{write_atomically, write_error};
use std::borrow::Cow;
use std::path::Path;
use tenfold_engine::progress::Progress;

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

/// A node as it is written.
pub(super) struct Node<'a> {
    /// Its place in the file, from 0.
    pub place: usize,
    /// Its id, told apart from the same id on the other side.
    pub key: Cow<'a, str>,
    pub label: Cow<'a, str>,
    /// The side of a bipartite graph.
    pub side: Option<&'static str>,
    /// The community that it belongs to most, and how much.
    pub community: usize,
    pub weight: f64,
    pub bridgeness: f64,
    pub confidence: f64,
}

/// An edge between two places.
pub(super) struct Edge {
    pub number: u64,
    pub from: usize,
    pub to: usize,
    pub weight: Option<f32>,
}

/// How a format writes its parts; all of them add to a text.
pub(super) trait Style {
    fn begin(&self, kind: Kind, out: &mut String);
    fn node(&self, node: &Node<'_>, out: &mut String);
    /// Between nodes and edges.
    fn turn(&self, out: &mut String);
    fn edge(&self, edge: &Edge, ends: [&str; 2], out: &mut String);
    fn end(&self, out: &mut String);
}

/// Writes a graph with what the model says about its nodes.
///
/// # Errors
/// [`Error::WrongShape`] for a graph that is not the model's; a disk that refuses; a listener that stops the run.
pub(super) fn write(
    path: &Path,
    style: &dyn Style,
    graph: &Graph,
    model: &Model,
    progress: &dyn Progress,
) -> Result<()> {
    if graph.nodes() != model.nodes() || graph.kind() != model.kind() {
        return Err(Error::WrongShape { what: "nodes", found: graph.nodes(), expected: model.nodes() });
    }
    let network = Network::new(graph, model)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    progress.stage(&format!("writing {name}"), network.nodes() as u64 + graph.edges());
    write_atomically(path, |out| {
        let mut text = String::with_capacity(2 * BUFFER);
        style.begin(graph.kind(), &mut text);
        let mut flush = |text: &mut String, most: usize| -> Result<()> {
            if text.len() > most {
                progress.check()?;
                out.write_all(text.as_bytes()).map_err(|e| write_error(path, e))?;
                text.clear();
            }
            Ok(())
        };
        network.for_every_node(|node| {
            style.node(&node, &mut text);
            progress.advance(1);
            flush(&mut text, BUFFER)
        })?;
        style.turn(&mut text);
        network.for_every_edge(|edge, ends| {
            style.edge(&edge, ends, &mut text);
            progress.advance(1);
            flush(&mut text, BUFFER)
        })?;
        style.end(&mut text);
        flush(&mut text, 0)
    })
}

/// The graph with its sides as one list of nodes.
struct Network<'a> {
    graph: &'a Graph,
    sides: Vec<(Members<'a>, Option<&'static str>)>,
    /// Whether an id stands on both sides of a bipartite graph.
    ambiguous: bool,
}

impl<'a> Network<'a> {
    fn new(graph: &'a Graph, model: &'a Model) -> Result<Self> {
        if graph.kind() != Kind::Bipartite {
            return Ok(Self { graph, sides: vec![(Members::of(model, None)?, None)], ambiguous: false });
        }
        let side = |side: Side| Ok::<_, Error>((Members::of(model, Some(side))?, Some(side.name())));
        let sides = vec![side(Side::From)?, side(Side::To)?];
        let (left, right): (&Ids, &Ids) = (graph.ids(), graph.other_ids());
        let ambiguous = left.iter().any(|id| right.find(&id).is_some());
        Ok(Self { graph, sides, ambiguous })
    }

    fn nodes(&self) -> usize {
        self.sides.iter().map(|side| side.0.len()).sum()
    }

    fn key<'b>(&self, id: Cow<'b, str>, side: Option<&str>) -> Cow<'b, str> {
        match side {
            Some(side) if self.ambiguous => Cow::Owned(format!("{side}:{id}")),
            _ => id,
        }
    }

    fn for_every_node(&self, mut visit: impl FnMut(Node<'_>) -> Result<()>) -> Result<()> {
        let (mut place, mut row) = (0, Vec::new());
        for (members, side) in &self.sides {
            for u in 0..members.len() {
                let id = members.ids().get(u);
                members.read(u, &mut row);
                let (community, weight) = main_of(&row);
                visit(Node {
                    place,
                    key: self.key(id.clone(), *side),
                    label: id,
                    side: *side,
                    community,
                    weight,
                    bridgeness: bridgeness_of(&row),
                    confidence: members.confidence(u).unwrap_or_default(),
                })?;
                place += 1;
            }
        }
        Ok(())
    }

    /// Every edge once, with the keys of its ends.
    fn for_every_edge(&self, mut visit: impl FnMut(Edge, [&str; 2]) -> Result<()>) -> Result<()> {
        let [first, last] = [&self.sides[0], &self.sides[self.sides.len() - 1]];
        let offset = if self.sides.len() > 1 { first.0.len() } else { 0 };
        let mut number = 0;
        for u in 0..self.graph.nodes() {
            let (neighbours, weights) = self.graph.adjacency().row(u);
            let from = self.key(first.0.ids().get(u), first.1);
            for (e, &v) in neighbours.iter().enumerate() {
                let v = v as usize;
                if self.graph.kind() == Kind::Undirected && v < u {
                    continue;
                }
                let to = self.key(last.0.ids().get(v), last.1);
                visit(Edge { number, from: u, to: offset + v, weight: weights.map(|w| w[e]) }, [&from, &to])?;
                number += 1;
            }
        }
        Ok(())
    }
}

/// A share for people and programs: four digits behind the point.
pub(super) fn share(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}
