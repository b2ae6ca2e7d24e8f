//! GraphML.

use super::super::picture::Shown;
use super::json::parameters;
use serde_json::Value;
use std::fmt::Write;

/// Keys: the id, of what, its name, its type.
const KEYS: [(&str, &str, &str, &str); 8] = [
    ("n0", "node", "name", "string"),
    ("n1", "node", "kind", "string"),
    ("n2", "node", "cluster", "int"),
    ("n3", "node", "labels", "string"),
    ("n4", "node", "parameters", "string"),
    ("e0", "edge", "length", "double"),
    ("e1", "edge", "strength", "double"),
    ("e2", "edge", "support", "double"),
];

/// Labels and parameters are JSON inside their attribute, as GraphML has no lists.
pub(super) fn graphml(shown: &Shown<'_>) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                    <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
        .to_owned();
    for (id, of, name, kind) in KEYS {
        let _ = writeln!(text, "<key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
    text += "<graph id=\"tree\" edgedefault=\"undirected\">\n";
    for node in shown.picture.tree.nodes() {
        let _ = write!(text, "<node id=\"n{node}\">");
        data(&mut text, "n0", &shown.name(node));
        let variable = shown.picture.variables.get(node);
        data(&mut text, "n1", variable.map_or("hidden", |v| v.kind.name()));
        if variable.is_some() {
            if let Some(cluster) = shown.picture.clusters.get(node) {
                data(&mut text, "n2", &cluster.to_string());
            }
            data(&mut text, "n3", &Value::from(shown.labels(node)).to_string());
        }
        let all: serde_json::Map<String, Value> =
            parameters(shown, node).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        data(&mut text, "n4", &Value::Object(all).to_string());
        text += "</node>\n";
    }
    for (i, edge) in shown.edges.iter().enumerate() {
        let _ = write!(text, "<edge id=\"e{i}\" source=\"n{}\" target=\"n{}\">", edge.a, edge.b);
        data(&mut text, "e0", &edge.length.to_string());
        data(&mut text, "e1", &edge.strength().to_string());
        if let Some(support) = edge.support {
            data(&mut text, "e2", &support.to_string());
        }
        text += "</edge>\n";
    }
    text + "</graph>\n</graphml>\n"
}

/// What XML reads otherwise as an entity, and what it cannot hold as U+FFFD.
fn data(out: &mut String, key: &str, text: &str) {
    let _ = write!(out, "<data key=\"{key}\">");
    for c in text.chars() {
        match c {
            '&' => *out += "&amp;",
            '<' => *out += "&lt;",
            '>' => *out += "&gt;",
            '\r' => *out += "&#13;",
            '\t' | '\n' => out.push(c),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            _ => out.push(c),
        }
    }
    *out += "</data>";
}
