//! Networks as GML.

use super::super::data::{Graph, Kind};
use super::super::model::Model;
use super::network::{Edge, Node, Style, share, write};
use crate::error::Result;
use std::fmt::Write;
use std::path::Path;
use tenfold_engine::progress::Progress;

/// Writes the graph as GML: nodes with their id as label, main community, its weight, bridgeness and confidence; edges with
/// their weights. In a bipartite graph nodes also have their side.
///
/// Labels are ASCII, as GML wants it: other characters are written as `&#233;`.
///
/// # Errors
/// A graph that is not the model's; a disk that refuses; a listener that stops the run.
///
/// # References
/// Himsolt, "GML: a portable graph file format", 1997.
pub fn write_gml(path: &Path, graph: &Graph, model: &Model, progress: &dyn Progress) -> Result<()> {
    write(path, &Gml, graph, model, progress)
}

struct Gml;

impl Style for Gml {
    fn begin(&self, kind: Kind, out: &mut String) {
        let directed = u8::from(kind == Kind::Directed);
        *out += &format!("Creator \"tenfold {}\"\n", env!("CARGO_PKG_VERSION"));
        *out += &format!("graph\n[\n  directed {directed}\n");
    }

    fn node(&self, node: &Node<'_>, out: &mut String) {
        let _ = write!(out, "  node\n  [\n    id {}\n    label \"", node.place);
        escape(&node.key, out);
        *out += "\"\n";
        if let Some(side) = node.side {
            let _ = writeln!(out, "    side \"{side}\"");
        }
        let _ = writeln!(out, "    community {}\n    weight {}", node.community, share(node.weight));
        let _ = writeln!(
            out,
            "    bridgeness {}\n    confidence {}\n  ]",
            share(node.bridgeness),
            share(node.confidence)
        );
    }

    fn turn(&self, _: &mut String) {}

    fn edge(&self, edge: &Edge, _: [&str; 2], out: &mut String) {
        let _ = write!(out, "  edge\n  [\n    source {}\n    target {}\n", edge.from, edge.to);
        if let Some(weight) = edge.weight {
            let _ = writeln!(out, "    weight {weight}");
        }
        *out += "  ]\n";
    }

    fn end(&self, out: &mut String) {
        *out += "]\n";
    }
}

/// Text inside quotes: quotes, ampersands, and all that is no printable ASCII as entities.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => *out += "&quot;",
            '&' => *out += "&amp;",
            ' '..='~' => out.push(c),
            _ => drop(write!(out, "&#{};", u32::from(c))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::data::GraphBuilder;
    use super::super::super::fit::Params;
    use super::super::super::read::{ReadOptions, read};
    use super::*;
    use tenfold_engine::progress::Silent;

    #[test]
    fn text_is_escaped() {
        let mut out = String::new();
        escape("a \"b\" & caf\u{e9}\n<\u{1f600}>&#7;", &mut out);
        assert_eq!(out, "a &quot;b&quot; &amp; caf&#233;&#10;<&#128512;>&amp;#7;");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.gml");
        for kind in [Kind::Undirected, Kind::Directed] {
            let mut builder = GraphBuilder::new(Some(kind));
            for (i, j) in [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)] {
                let id = |n: usize| ["\"q\"", "a&b", "\u{fc}", "x\ty", "]", "5"][n];
                builder.weighted_edge(id(i), id(j), (i + 1) as f64 / 4.0);
            }
            let graph = builder.finish().unwrap();
            let model = Params::new(2).fit(&graph).unwrap();
            write_gml(&path, &graph, &model, &Silent).unwrap();
            let back = read(&path, &ReadOptions::default(), &Silent).unwrap();
            assert_eq!((back.kind(), back.adjacency()), (kind, graph.adjacency()));
            assert_eq!(back.ids().iter().collect::<Vec<_>>(), graph.ids().iter().collect::<Vec<_>>());
            let community = back.attributes().get("community").unwrap();
            let main = super::super::super::members::Members::of(&model, None).unwrap();
            for u in 0..6 {
                assert_eq!(community.value(u), Some(main.main(u).0.to_string().as_str()));
            }
            for name in ["weight", "bridgeness", "confidence"] {
                let column = back.attributes().get(name).unwrap();
                assert!(
                    column.iter().all(|(_, x)| (0.0..=1.0).contains(&x.parse::<f64>().unwrap())),
                    "{name}"
                );
            }
        }
    }
}
