//! JSON as networkx reads it, with all parameters.

use super::super::data::Kind;
use super::super::picture::Shown;
use serde_json::{Map, Value, json};

pub(super) fn json(shown: &Shown<'_>) -> String {
    let picture = &shown.picture;
    let nodes: Vec<Value> = picture.tree.nodes().map(|node| Value::Object(about(shown, node))).collect();
    let edge = |e: &super::super::picture::Edge| {
        let mut told = json!({ "source": e.a, "target": e.b, "length": e.length, "strength": e.strength() });
        told["error"] = json!(e.error);
        told["support"] = json!(e.support);
        told
    };
    let whole = json!({
        "directed": false, "multigraph": false,
        "graph": {
            "made_by": concat!("tenfold ", env!("CARGO_PKG_VERSION")),
            "samples": picture.samples, "min_cell": picture.min_cell,
        },
        "nodes": nodes,
        "edges": shown.edges.iter().map(edge).collect::<Vec<_>>(),
    });
    format!("{whole:#}\n")
}

/// A node: what it is, and its parameters.
fn about(shown: &Shown<'_>, node: usize) -> Map<String, Value> {
    let mut told = Map::new();
    let mut tell = |name: &str, value: Value| drop(told.insert(name.to_owned(), value));
    tell("id", json!(node));
    tell("name", json!(shown.name(node)));
    match shown.picture.variables.get(node) {
        Some(variable) => {
            tell("kind", json!(variable.kind.name()));
            tell("labels", json!(shown.labels(node)));
            tell("cluster", json!(shown.picture.clusters.get(node)));
        }
        None => tell("kind", json!("hidden")),
    }
    parameters(shown, node).into_iter().for_each(|(name, value)| tell(name, value));
    told
}

/// `shares`: P(state); `parent` and `table`: P(state | parent's state), a row for every state; `shows` and `emission`:
/// the hidden node that a variable shows, and what each of its states makes of it, a row for every label.
pub(super) fn parameters(shown: &Shown<'_>, node: usize) -> Vec<(&'static str, Value)> {
    let mut told = Vec::new();
    if let Some(i) = shown.index[node] {
        let inner = &shown.network.nodes[i];
        told.push(("states", json!(inner.states())));
        told.push(("shares", json!(shown.marginals[i])));
        if let Some(parent) = inner.parent {
            let rows: Vec<&[f64]> = (0..inner.states()).map(|s| inner.table.row(s)).collect();
            told.push(("parent", json!(shown.network.nodes[parent].place)));
            told.push(("table", json!(rows)));
        }
    }
    if let Some(variable) = shown.picture.variables.get(node) {
        let emission = &shown.network.emissions[node];
        let rows = match variable.kind {
            Kind::Counts => (0..emission.mean.rows()).map(|f| emission.mean.row(f).to_vec()).collect(),
            _ => shown.emission(node),
        };
        told.push(("shows", json!(shown.network.nodes[emission.node].place)));
        told.push(("emission", json!(rows)));
        if variable.kind == Kind::Real {
            told.push(("variance", json!(emission.variance)));
        }
    }
    told
}
