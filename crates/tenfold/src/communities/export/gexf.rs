//! Networks as GEXF, the format of Gephi.

use super::super::data::{Graph, Kind};
use super::super::model::Model;
use super::network::{Edge, Node, Style, share, write};
use crate::error::Result;
use std::fmt::Write;
use std::path::Path;
use tenfold_engine::progress::Progress;

/// Writes the graph as GEXF: nodes with their ids, main community, its weight, bridgeness and confidence; edges with their
/// weights. In a bipartite graph nodes also have their side; an id that stands on both gets `from:` or `to:` before it.
///
/// Characters that XML cannot hold at all, such as control characters, become U+FFFD.
///
/// # Errors
/// A graph that is not the model's; a disk that refuses; a listener that stops the run.
///
/// # References
/// GEXF working group, "GEXF 1.2 draft primer", 2012.
pub fn write_gexf(path: &Path, graph: &Graph, model: &Model, progress: &dyn Progress) -> Result<()> {
    write(path, &Gexf, graph, model, progress)
}

struct Gexf;

/// Attributes of nodes: title and type; their place is their id.
const ATTRIBUTES: [(&str, &str); 5] = [
    ("community", "integer"),
    ("weight", "double"),
    ("bridgeness", "double"),
    ("confidence", "double"),
    ("side", "string"),
];

impl Style for Gexf {
    fn begin(&self, kind: Kind, out: &mut String) {
        *out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
        *out += "<gexf xmlns=\"http://www.gexf.net/1.2draft\" version=\"1.2\">\n";
        let _ = writeln!(out, "<meta><creator>tenfold {}</creator></meta>", env!("CARGO_PKG_VERSION"));
        let directed = if kind == Kind::Directed { "directed" } else { "undirected" };
        let _ = writeln!(out, "<graph mode=\"static\" defaultedgetype=\"{directed}\">");
        *out += "<attributes class=\"node\">\n";
        let count = if kind == Kind::Bipartite { ATTRIBUTES.len() } else { ATTRIBUTES.len() - 1 };
        for (id, (title, kind)) in ATTRIBUTES.iter().enumerate().take(count) {
            let _ = writeln!(out, "<attribute id=\"{id}\" title=\"{title}\" type=\"{kind}\"/>");
        }
        *out += "</attributes>\n<nodes>\n";
    }

    fn node(&self, node: &Node<'_>, out: &mut String) {
        *out += "<node id=\"";
        escape(&node.key, out);
        *out += "\" label=\"";
        escape(&node.label, out);
        *out += "\"><attvalues>";
        let _ = write!(out, "<attvalue for=\"0\" value=\"{}\"/>", node.community);
        for (id, x) in [(1, node.weight), (2, node.bridgeness), (3, node.confidence)] {
            let _ = write!(out, "<attvalue for=\"{id}\" value=\"{}\"/>", share(x));
        }
        if let Some(side) = node.side {
            let _ = write!(out, "<attvalue for=\"4\" value=\"{side}\"/>");
        }
        *out += "</attvalues></node>\n";
    }

    fn turn(&self, out: &mut String) {
        *out += "</nodes>\n<edges>\n";
    }

    fn edge(&self, edge: &Edge, ends: [&str; 2], out: &mut String) {
        let _ = write!(out, "<edge id=\"{}\"", edge.number);
        for (name, end) in [("source", ends[0]), ("target", ends[1])] {
            let _ = write!(out, " {name}=\"");
            escape(end, out);
            out.push('"');
        }
        if let Some(weight) = edge.weight {
            let _ = write!(out, " weight=\"{weight}\"");
        }
        *out += "/>\n";
    }

    fn end(&self, out: &mut String) {
        *out += "</edges>\n</graph>\n</gexf>\n";
    }
}

/// The value of an attribute: what XML reads otherwise as an entity, and what it cannot hold as U+FFFD.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => *out += "&amp;",
            '<' => *out += "&lt;",
            '>' => *out += "&gt;",
            '"' => *out += "&quot;",
            // Plain ones would come back as blanks.
            '\t' | '\n' | '\r' => drop(write!(out, "&#{};", u32::from(c))),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::data::GraphBuilder;
    use super::super::super::fit::Params;
    use super::*;
    use tenfold_engine::progress::Silent;

    #[test]
    fn text_is_escaped() {
        let mut out = String::new();
        escape("<a href=\"x\">&amp;\n\u{1}\u{ffff} caf\u{e9} '", &mut out);
        assert_eq!(out, "&lt;a href=&quot;x&quot;&gt;&amp;amp;&#10;\u{fffd}\u{fffd} caf\u{e9} '");
    }

    fn written(kind: Kind, edges: &[(&str, &str)], k: usize) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.gexf");
        let mut builder = GraphBuilder::new(Some(kind));
        for (from, to) in edges {
            builder.edge(from, to);
        }
        let graph = builder.finish().unwrap();
        let model = Params::new(k).fit(&graph).unwrap();
        write_gexf(&path, &graph, &model, &Silent).unwrap();
        std::fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn nodes_and_edges_stand_once() {
        let two = [("a", "b"), ("b", "c"), ("c", "a"), ("<", "&"), ("&", "\""), ("\"", "<"), ("a", "<")];
        let text = written(Kind::Undirected, &two, 2);
        assert_eq!((text.matches("<node ").count(), text.matches("<edge ").count()), (6, 7));
        assert!(text.contains("defaultedgetype=\"undirected\"") && !text.contains("side"), "{text}");
        assert!(text.contains("<node id=\"&lt;\" label=\"&lt;\">"), "{text}");
        assert!(text.contains("source=\"a\" target=\"&lt;\"/>"), "{text}");
        assert!(written(Kind::Directed, &two, 2).contains("defaultedgetype=\"directed\""));
    }

    #[test]
    fn the_sides_of_a_bipartite_graph_are_told_apart() {
        let edges: Vec<(String, String)> = (0..6)
            .flat_map(|u| (0..6).filter(move |v| u / 3 == v / 3).map(move |v| (u, v)))
            .map(|(u, v)| (u.to_string(), v.to_string()))
            .collect();
        let borrowed: Vec<(&str, &str)> = edges.iter().map(|(u, v)| (u.as_str(), v.as_str())).collect();
        let text = written(Kind::Bipartite, &borrowed, 2);
        assert_eq!((text.matches("<node ").count(), text.matches("<edge ").count()), (12, 18));
        assert!(
            text.contains("<node id=\"from:0\" label=\"0\">")
                && text.contains("<node id=\"to:0\" label=\"0\">")
        );
        assert!(
            text.contains("source=\"from:0\" target=\"to:1\"/>") && text.contains("value=\"to\""),
            "{text}"
        );
    }
}
