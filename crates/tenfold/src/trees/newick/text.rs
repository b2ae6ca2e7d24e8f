//! Trees to text.

use crate::trees::tree::Tree;
use std::collections::HashMap;
use std::fmt::Write;

/// What is still to be written.
enum Step {
    /// A node and the one above it.
    Node(usize, Option<usize>),
    /// The end of an internal node.
    Close(usize, Option<usize>),
    Comma,
}

/// A tree in the Newick format, one line for each of its components: names as tips, lengths, and as name of every internal
/// edge's lower end its support, where `support` has one for the edge.
///
/// # Panics
/// When there are fewer names than observed nodes.
///
/// # Example
/// ```
/// use tenfold::trees::{Tree, to_newick};
/// let tree = Tree::from_edges(4, &[(0, 9, 1.0), (1, 9, 2.0), (9, 7, 0.5), (2, 7, 3.0), (3, 7, 4.0)]);
/// let names = ["a", "b", "c", "it's"].map(String::from);
/// assert_eq!(to_newick(&tree, &names, &|_, _| Some(0.9)), "(a:1,b:2,(c:3,'it''s':4)0.9:0.5);\n");
/// // An observed node that is internal is a tip of length 0 on its place.
/// let path = Tree::from_edges(3, &[(0, 1, 1.0), (1, 2, 2.0)]);
/// assert_eq!(to_newick(&path, &names, &|_, _| None), "(a:0,(b:0,c:2):1);\n");
/// ```
pub fn to_newick(tree: &Tree, names: &[String], support: &dyn Fn(usize, usize) -> Option<f64>) -> String {
    let mut tree = tree.clone();
    tree.suppress();
    let mut text = String::new();
    for component in tree.components() {
        // Components have no nodes but hidden ones only where there was nothing to hide.
        component_text(&tree, component[0], names, support, &mut text);
        text.push_str(";\n");
    }
    text
}

/// The same in the NEXUS format, with a block of names and one of trees.
///
/// # Panics
/// When there are fewer names than observed nodes.
pub fn to_nexus(tree: &Tree, names: &[String], support: &dyn Fn(usize, usize) -> Option<f64>) -> String {
    let labels: Vec<String> = names[..tree.observed()].iter().map(|n| quoted(n)).collect();
    let mut text = format!(
        "#NEXUS\nBEGIN TAXA;\n  DIMENSIONS NTAX={};\n  TAXLABELS\n    {}\n  ;\nEND;\nBEGIN TREES;\n",
        labels.len(),
        labels.join("\n    ")
    );
    for (i, line) in to_newick(tree, names, support).lines().enumerate() {
        let _ = writeln!(text, "  TREE part_{} = [&U] {line}", i + 1);
    }
    text + "END;\n"
}

fn component_text(
    tree: &Tree,
    first: usize,
    names: &[String],
    support: &dyn Fn(usize, usize) -> Option<f64>,
    text: &mut String,
) {
    // The root is the hidden node nearest to the first variable, so that it has three branches or more, as trees without a
    // root are written.
    let walk = tree.walk(first);
    let root = walk.iter().map(|w| w.0).find(|&node| tree.is_hidden(node)).unwrap_or(first);
    let least = smallest(tree, root);
    let mut steps = vec![Step::Node(root, None)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Comma => text.push(','),
            Step::Close(node, parent) => {
                text.push(')');
                if let Some(parent) = parent {
                    if let Some(value) = support(parent, node) {
                        let _ = write!(text, "{value}");
                    }
                    length(tree, node, parent, text);
                }
            }
            Step::Node(node, parent) => {
                let mut children: Vec<usize> =
                    tree.neighbours(node).keys().copied().filter(|&c| Some(c) != parent).collect();
                if children.is_empty() {
                    text.push_str(&quoted(&names[node]));
                    parent.into_iter().for_each(|parent| length(tree, node, parent, text));
                    continue;
                }
                children.sort_by_key(|c| std::cmp::Reverse(least[c]));
                text.push('(');
                steps.push(Step::Close(node, parent));
                if !tree.is_hidden(node) {
                    let _ = write!(text, "{}:0,", quoted(&names[node]));
                }
                for (i, child) in children.into_iter().enumerate() {
                    if i > 0 {
                        steps.push(Step::Comma);
                    }
                    steps.push(Step::Node(child, Some(node)));
                }
            }
        }
    }
}

fn length(tree: &Tree, node: usize, parent: usize, text: &mut String) {
    let _ = write!(text, ":{}", tree.length(node, parent).unwrap_or(0.0));
}

/// The smallest variable at or below every node.
fn smallest(tree: &Tree, root: usize) -> HashMap<usize, usize> {
    let walk = tree.walk(root);
    let own = |node: usize| if tree.is_hidden(node) { usize::MAX } else { node };
    let mut least: HashMap<usize, usize> = walk.iter().map(|w| (w.0, own(w.0))).collect();
    for &(node, parent) in walk.iter().rev() {
        let below = least[&node];
        if let Some(up) = parent.and_then(|parent| least.get_mut(&parent)) {
            *up = below.min(*up);
        }
    }
    least
}

/// A name as other programs read it: in quotes unless it is plain. Underscores are quoted too, since without quotes they mean
/// blanks; control characters, ends of lines among them, become blanks.
pub(in crate::trees) fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '+');
    if !name.is_empty() && name.chars().all(plain) && !name.starts_with('-') {
        return name.to_owned();
    }
    format!("'{}'", name.replace(|c: char| c.is_control(), " ").replace('\'', "''"))
}
