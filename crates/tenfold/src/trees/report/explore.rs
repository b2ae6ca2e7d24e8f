//! The tree that is explored: what its script is given.

use super::telling::{Telling, upwards};
use super::{Facts, plural};
use crate::report::{Block, Section, number, numbers};
use crate::trees::data::Kind;
use crate::trees::picture::Edge;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Labels of a variable that the page holds, those with the largest probabilities: nobody reads more of them.
const LABELS: usize = 40;
/// Letters of a name that the page holds.
const LONGEST: usize = 120;

pub(super) fn section(facts: &Facts<'_>) -> Section {
    let picture = &facts.shown.picture;
    let tree = picture.tree;
    let edges: BTreeMap<(usize, usize), &Edge> = facts.shown.edges.iter().map(|e| ((e.a, e.b), e)).collect();
    let mut parent: Vec<Option<usize>> = vec![None; tree.capacity()];
    for part in tree.components() {
        for (node, above) in tree.walk(middle(tree, &part)) {
            parent[node] = above;
        }
    }
    let one = |node: usize| {
        let above = parent[node];
        let edge = above.and_then(|above| edges.get(&(node.min(above), node.max(above))).copied());
        about(facts, node, above, edge)
    };
    let groups = facts.groups();
    let mut nodes = vec![Value::Null; tree.capacity()];
    tree.nodes().for_each(|node| nodes[node] = one(node));
    let data = json!({
        "nodes": nodes,
        "observed": picture.variables.len(),
        "groups": groups.iter().map(|&c| json!([c, facts.clusters[c].len()])).collect::<Value>(),
        "samples": picture.samples,
        "minCell": picture.min_cell.filter(|&cell| cell > 1),
    });
    Section::new("Tree").with(Block::text(words(facts))).with(Block::Widget { name: "tree", data })
}

/// The node that leaves the smallest largest branch: from there the tree is widest on all sides.
fn middle(tree: &crate::trees::Tree, part: &[usize]) -> usize {
    let walk = tree.walk(part[0]);
    let mut weight: BTreeMap<usize, usize> = BTreeMap::new();
    let whole = part.iter().filter(|&&n| !tree.is_hidden(n)).count();
    let mut largest: BTreeMap<usize, usize> = BTreeMap::new();
    for &(node, above) in walk.iter().rev() {
        let own = weight.get(&node).copied().unwrap_or(0) + usize::from(!tree.is_hidden(node));
        let worst = largest.entry(node).or_default();
        *worst = (*worst).max(whole - own);
        if let Some(above) = above {
            *weight.entry(above).or_default() += own;
            let worst = largest.entry(above).or_default();
            *worst = (*worst).max(own);
        }
    }
    part.iter().copied().min_by_key(|node| (tree.degree(*node) < 2, largest[node], *node)).unwrap_or(part[0])
}

fn about(facts: &Facts<'_>, node: usize, above: Option<usize>, edge: Option<&Edge>) -> Value {
    let shown = &facts.shown;
    let mut told = json!({ "name": shorten(&shown.name(node)), "parent": above });
    if let Some(edge) = edge {
        told["edge"] = json!({
            "length": number(edge.length), "strength": number(edge.strength()),
            "error": edge.error.map(number), "support": edge.support.map(number),
        });
    }
    if let Some(i) = shown.index[node] {
        told["states"] = numbers(&shown.marginals[i]);
        if let Some(table) = above.and_then(|above| given(facts, i, above)) {
            told["table"] = table;
        }
        if shown.picture.tree.is_hidden(node) {
            told["telling"] =
                facts.telling[i].iter().map(|state| state.iter().map(tell).collect::<Value>()).collect();
        }
    }
    if let Some(variable) = shown.picture.variables.get(node) {
        told["kind"] = json!(variable.kind.name());
        told["cluster"] = json!(shown.picture.clusters.get(node));
        let own = shown.is_own_twin(node);
        let rows = shown.emission(node);
        let largest = |r: &usize| rows[*r].iter().copied().fold(f64::MIN, f64::max);
        let mut kept: Vec<usize> = (0..rows.len()).collect();
        if kept.len() > LABELS {
            kept.sort_by(|a, b| largest(b).total_cmp(&largest(a)).then(a.cmp(b)));
            kept.truncate(LABELS);
            kept.sort_unstable();
            told["more"] = json!(rows.len() - LABELS);
        }
        let labels = shown.labels(node);
        let label = |r: &usize| shorten(labels.get(*r).map_or("", String::as_str));
        told["labels"] = kept.iter().map(label).collect::<Vec<_>>().into();
        let overall = shown.levels(node);
        told["overall"] = numbers(&kept.iter().map(|&r| overall[r]).collect::<Vec<_>>());
        if !own {
            told["emission"] = kept.iter().map(|&r| numbers(&rows[r])).collect();
            told["shows"] = json!(shown.network.nodes[shown.network.emissions[node].node].place);
        }
        if variable.kind == Kind::Real {
            told["spread"] =
                numbers(&shown.network.emissions[node].variance.iter().map(|x| x.sqrt()).collect::<Vec<_>>());
        }
    }
    told
}

/// P(state | state of the node above it on the page), whichever way the network's own table goes.
fn given(facts: &Facts<'_>, node: usize, above: usize) -> Option<Value> {
    let shown = &facts.shown;
    let above = shown.index[above]?;
    let table = match () {
        () if shown.network.nodes[node].parent == Some(above) => shown.network.nodes[node].table.clone(),
        () if shown.network.nodes[above].parent == Some(node) => upwards(shown, above),
        () => return None,
    };
    Some((0..table.rows()).map(|s| numbers(table.row(s))).collect())
}

fn tell(telling: &Telling) -> Value {
    let (within, overall) = (number(telling.within), number(telling.overall));
    json!([telling.variable, shorten(&telling.value), within, overall, telling.means])
}

/// A name that a page can hold; a letter is never cut.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The tree in a few sentences.
fn words(facts: &Facts<'_>) -> String {
    let picture = &facts.shown.picture;
    let tree = picture.tree;
    let parts =
        tree.components().into_iter().filter(|part| part[0] < tree.observed() && part.len() > 1).count();
    let alone = (0..tree.observed()).filter(|&v| tree.degree(v) == 0).count();
    let inner = (0..tree.observed()).filter(|&v| tree.degree(v) > 1).count();
    let groups = facts.groups();
    let mut text = match (parts, groups.len()) {
        (0, _) => "No variable hangs together with another.".to_owned(),
        (1, 0 | 1) => "One tree joins the variables, and they hang together as one group.".to_owned(),
        (1, n) => format!("One tree joins the variables; cut where it is weakest, it falls into {n} groups."),
        (trees, n) => format!(
            "{trees} trees, independent of each other, hold the variables; they fall into {}.",
            plural(n, "group")
        ),
    };
    if inner > 0 {
        text += &format!(
            " {} inside: others hang together through {}.",
            if inner == 1 { "One variable stands".to_owned() } else { format!("{inner} variables stand") },
            if inner == 1 { "it" } else { "them" }
        );
    }
    if alone > 0 {
        text += &format!(
            " {} on nothing.",
            if alone == 1 { "One variable hangs".to_owned() } else { format!("{alone} variables hang") }
        );
    }
    if let Some(cell) = picture.min_cell.filter(|&cell| cell > 1) {
        text += &format!(" Numbers are in whole steps of {cell} samples: smaller cells are told as none.");
    }
    text
}
