//! DOT, for Graphviz.

use super::super::picture::Shown;
use crate::output::acts;
use std::fmt::Write;

/// Middle tones, which stand on white and on black; clusters beyond the last begin again.
const TONES: [&str; 10] = [
    "#3d85c6", "#e08a2e", "#3c9d60", "#cf4f45", "#9070c4", "#a9764a", "#d977b0", "#25a2a8", "#b3a02a",
    "#7c8fd9",
];

pub(super) fn dot(shown: &Shown<'_>) -> String {
    let tree = shown.picture.tree;
    let mut text = "graph tree {\n  graph [layout=neato, overlap=false, splines=false];\n".to_owned();
    text += "  node [fontname=\"Helvetica\", fontsize=10];\n";
    for node in tree.nodes() {
        let _ = write!(text, "  n{node} [label={}", quoted(&shown.name(node)));
        match shown.picture.clusters.get(node) {
            Some(&c) if !tree.is_hidden(node) => {
                let _ = write!(
                    text,
                    ", shape=box, style=rounded, color=\"{}\", cluster={c}",
                    TONES[c % TONES.len()]
                );
            }
            _ => text += ", shape=circle, width=0.1, fixedsize=true, fontsize=6",
        }
        text += "];\n";
    }
    for edge in &shown.edges {
        let _ = write!(
            text,
            "  n{} -- n{} [len={:.4}, length=\"{}\", penwidth={:.2}",
            edge.a,
            edge.b,
            edge.length.clamp(0.05, 5.0),
            edge.length,
            0.5 + 3.0 * edge.strength()
        );
        if let Some(support) = edge.support {
            let _ = write!(text, ", support=\"{support}\"");
        }
        text += "];\n";
    }
    text + "}\n"
}

/// A text in quotes. Backslashes are doubled, since Graphviz reads `\N` and others as orders; control characters,
/// which no label shows, become blanks, and marks that turn the direction of writing U+FFFD: nodes are told apart by their
/// numbers, and labels are for the eye.
fn quoted(name: &str) -> String {
    let plain = name.replace(|c: char| c.is_control(), " ").replace(acts, "\u{fffd}");
    let inside = plain.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{inside}\"")
}
