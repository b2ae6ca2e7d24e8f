//! Newick and NEXUS: the tree alone, observed names as tips.

use super::super::newick::quoted;
use super::super::picture::Shown;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A line for every component.
pub(super) fn newick(shown: &Shown<'_>) -> String {
    trees(shown, false).into_iter().map(|tree| tree + "\n").collect()
}

pub(super) fn nexus(shown: &Shown<'_>) -> String {
    let variables = shown.picture.variables;
    let mut text = format!("#NEXUS\nBEGIN TAXA;\n  DIMENSIONS NTAX={};\n  TAXLABELS\n", variables.len());
    for variable in variables {
        let _ = writeln!(text, "    {}", quoted(&variable.name));
    }
    text += "  ;\nEND;\nBEGIN TREES;\n";
    for (i, tree) in trees(shown, true).into_iter().enumerate() {
        let _ = writeln!(text, "  TREE tree_{} = [&U] {tree}", i + 1);
    }
    text + "END;\n"
}

fn trees(shown: &Shown<'_>, comments: bool) -> Vec<String> {
    let edges: BTreeMap<_, _> = shown.edges.iter().map(|e| ((e.a, e.b), (e.length, e.support))).collect();
    let mut parts = shown.picture.tree.components();
    parts.retain(|part| part[0] < shown.picture.tree.observed());
    parts.iter().map(|part| one(shown, part, &edges, comments)).collect()
}

type Edges = BTreeMap<(usize, usize), (f64, Option<f64>)>;

/// Written without recursion: a chain may be as deep as it has variables.
fn one(shown: &Shown<'_>, part: &[usize], edges: &Edges, comments: bool) -> String {
    enum Step {
        Text(&'static str),
        Node(usize, Option<usize>),
        Close(usize, usize),
    }
    let tree = shown.picture.tree;
    // An inner node as the root, so that no tip is one.
    let root = part.iter().copied().max_by_key(|&n| (tree.degree(n) > 1, std::cmp::Reverse(n)));
    let mut text = String::new();
    let mut steps = vec![Step::Text(";"), Step::Node(root.unwrap_or(part[0]), None)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Text(t) => text += t,
            Step::Close(node, parent) => {
                let (length, support) = edges[&(node.min(parent), node.max(parent))];
                let inner = tree.degree(node) > 1;
                match support.filter(|_| inner) {
                    Some(x) if comments => drop(write!(text, "[&support={x}]")),
                    Some(x) => drop(write!(text, "{x}")),
                    None => {}
                }
                let _ = write!(text, ":{}", length.max(0.0));
            }
            Step::Node(node, parent) => {
                let below: Vec<usize> =
                    tree.neighbours(node).keys().copied().filter(|&n| Some(n) != parent).collect();
                parent.into_iter().for_each(|above| steps.push(Step::Close(node, above)));
                let name = |text: &mut String| *text += &quoted(&shown.name(node));
                if below.is_empty() {
                    name(&mut text);
                    continue;
                }
                text.push('(');
                steps.push(Step::Text(")"));
                // A variable inside the tree is a tip that stands on its place.
                if !tree.is_hidden(node) {
                    name(&mut text);
                    text += ":0,";
                }
                for (i, &child) in below.iter().enumerate().rev() {
                    steps.push(Step::Node(child, Some(node)));
                    if i > 0 {
                        steps.push(Step::Text(","));
                    }
                }
            }
        }
    }
    text
}
