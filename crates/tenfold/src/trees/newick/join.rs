//! Trees as they are written become a tree over variables.

use super::parse::{Written, shown};
use super::scan::{Bad, Label};
use crate::trees::tree::Tree;
use std::collections::HashMap;

/// What to do about names that do not match.
const MATCH: &str = "give a tree whose tips are the names of the variables";

/// Finds variables by their names.
struct Names<'a> {
    exact: HashMap<&'a str, usize>,
    /// With blanks for underscores and control characters, as they are written; `None` where several names are alike.
    loose: HashMap<String, Option<usize>>,
    /// With the first word, a genus, by its first letter.
    short: HashMap<String, Option<usize>>,
    /// By the first word, as many programs cut the names of sequences.
    first: HashMap<&'a str, Option<usize>>,
}

fn loosened(text: &str) -> String {
    text.replace(|c: char| c == '_' || c.is_control(), " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `M mulatta` for `Macaca mulatta` and for `M. mulatta`; nothing for a single word.
fn shortened(text: &str) -> Option<String> {
    let loose = loosened(text);
    let (genus, species) = loose.split_once(' ')?;
    genus.chars().next().map(|letter| format!("{letter} {species}"))
}

impl<'a> Names<'a> {
    fn new(names: &'a [String]) -> Result<Self, Bad> {
        let mut all = Self {
            exact: HashMap::new(),
            loose: HashMap::new(),
            short: HashMap::new(),
            first: HashMap::new(),
        };
        for (v, name) in names.iter().enumerate() {
            if all.exact.insert(name, v).is_some() {
                let problem = format!("the variable {:?} is there twice", shown(name));
                return Err(Bad { at: 0, problem, remedy: "give every variable a name of its own" });
            }
            all.loose.entry(loosened(name)).and_modify(|v| *v = None).or_insert(Some(v));
            if let Some(short) = shortened(name) {
                all.short.entry(short).and_modify(|v| *v = None).or_insert(Some(v));
            }
            if let Some(word) = name.split_whitespace().next() {
                all.first.entry(word).and_modify(|v| *v = None).or_insert(Some(v));
            }
        }
        Ok(all)
    }

    fn find(&self, label: &Label) -> Option<usize> {
        let exact = self.exact.get(&*label.text).copied();
        exact.or_else(|| self.loose.get(&loosened(&label.text)).copied().flatten())
    }

    fn find_tip(&self, label: &Label) -> Option<usize> {
        let is_short = |text: &str| text.chars().nth(1).is_some_and(|c| matches!(c, '_' | '.' | ' '));
        let short = shortened(&label.text).filter(|_| is_short(&label.text));
        let by_first = || self.first.get(&*label.text).copied().flatten();
        self.find(label).or_else(|| self.short.get(&short?).copied().flatten()).or_else(by_first)
    }
}

/// The tree, or the forest when there are several texts, over the variables of these names.
///
/// An internal name that is a variable's makes it an internal node; so does a tip of length 0, the only one at its place.
pub(in crate::trees) fn join(written: &[Vec<Written>], names: &[String]) -> Result<Tree, Bad> {
    let known = Names::new(names)?;
    let observed = places(written, names, &known)?;
    let measured = written.iter().flatten().any(|node| node.length.is_some());
    let mut next = names.len();
    let mut edges: Vec<(usize, usize, f64)> = Vec::new();
    for (nodes, observed) in written.iter().zip(&observed) {
        let id: Vec<usize> = observed
            .iter()
            .map(|variable| {
                variable.unwrap_or_else(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let length = |node: &Written| node.length.unwrap_or(if measured { 0.0 } else { 1.0 });
        edges.extend(
            nodes.iter().enumerate().skip(1).map(|(at, node)| (id[at], id[node.parent], length(node))),
        );
    }
    let mut tree = Tree::from_edges(names.len(), &edges);
    tree.suppress();
    if measured {
        return Ok(tree);
    }
    let plain: Vec<_> = tree.edges().into_iter().map(|(a, b, _)| (a, b, 1.0)).collect();
    Ok(Tree::from_edges(names.len(), &plain))
}

/// The variable at every node, where there is one.
fn places(written: &[Vec<Written>], names: &[String], known: &Names) -> Result<Vec<Vec<Option<usize>>>, Bad> {
    let mut used = vec![false; names.len()];
    let mut strangers: Vec<(usize, &str)> = Vec::new();
    let mut all: Vec<Vec<Option<usize>>> = Vec::new();
    // A long name of a TRANSLATE command may stand at any number of nodes, and is looked for once.
    let (mut tips_found, mut inner_found) = (HashMap::new(), HashMap::new());
    for nodes in written {
        let mut observed = vec![None; nodes.len()];
        for (place, node) in observed.iter_mut().zip(nodes).filter(|(_, node)| node.is_tip) {
            let Some(label) = &node.label else { continue };
            let found = tips_found.entry(label.text.as_ptr()).or_insert_with(|| known.find_tip(label));
            let Some(variable) = *found else {
                strangers.push((node.at, &label.text));
                continue;
            };
            if std::mem::replace(&mut used[variable], true) {
                return Err(twice(node, &names[variable], written.len()));
            }
            *place = Some(variable);
        }
        all.push(observed);
    }
    for (nodes, observed) in written.iter().zip(&mut all) {
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_tip) {
            // A number is the support of a split.
            let look =
                |l: &Label| Some(l).filter(|l| l.text.parse::<f64>().is_err()).and_then(|l| known.find(l));
            let label = node.label.as_ref();
            let found = label.and_then(|l| *inner_found.entry(l.text.as_ptr()).or_insert_with(|| look(l)));
            if let Some(variable) = found.filter(|&v| !used[v]) {
                used[variable] = true;
                observed[at] = Some(variable);
            }
        }
        fold(nodes, observed);
    }
    let missing: Vec<&String> = names.iter().zip(&used).filter(|(_, used)| !**used).map(|(n, _)| n).collect();
    if strangers.is_empty() && missing.is_empty() {
        return Ok(all);
    }
    let tips: Vec<&str> = strangers.iter().map(|s| s.1).collect();
    let parts = [("tips are no variables", listed(&tips)), ("variables are no tips", listed(&missing))];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(what, list)| Some(format!("{} {what} ({})", list.0, list.1?)))
        .collect();
    let at = strangers.first().map_or(0, |s| s.0);
    Err(Bad { at, problem: parts.join(", and "), remedy: MATCH })
}

/// How many names, and the first of them.
fn listed(names: &[impl AsRef<str>]) -> (usize, Option<String>) {
    let first: Vec<String> = names.iter().take(5).map(|n| format!("{:?}", shown(n.as_ref()))).collect();
    let more = if names.len() > 5 { ", …" } else { "" };
    (names.len(), Some(first.join(", ") + more).filter(|_| !names.is_empty()))
}

fn twice(node: &Written, name: &str, trees: usize) -> Bad {
    let problem = match trees {
        1 => format!("{:?} stands at two tips", shown(name)),
        _ => format!("{:?} stands at two tips of the {trees} trees in the file", shown(name)),
    };
    let remedy =
        if trees == 1 { MATCH } else { "keep the tree that is meant; the trees of a forest share no tips" };
    Bad { at: node.at, problem, remedy }
}

/// A tip of length 0 is its place, where no other tip claims that.
fn fold(nodes: &[Written], observed: &mut [Option<usize>]) {
    let mut claims: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, node) in nodes.iter().enumerate().skip(1) {
        if node.is_tip && node.length == Some(0.0) {
            claims.entry(node.parent).or_default().push(at);
        }
    }
    for (place, tips) in claims {
        if let [tip] = tips[..]
            && observed[place].is_none()
        {
            // The tip becomes a hidden node without a name at the end of an edge, which is then dropped.
            observed[place] = observed[tip].take();
        }
    }
}
