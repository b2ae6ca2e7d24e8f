//! The adjacency matrix by blocks, and the connectivity of communities.

use super::Facts;
use super::sections::labels;
use crate::communities::data::Kind;
use crate::report::{Block, Plot, Section, base64};
use serde_json::json;
use tenfold_engine::linalg::Mat;

/// Communities that the matrices tell about; numbers of more would make most of the page.
const TOLD: usize = 150;

pub(super) fn section(facts: &Facts) -> Section {
    let (model, k) = (facts.model, facts.model.k());
    let (between, what) = match model.kind() {
        Kind::Undirected => ("with", ""),
        Kind::Directed => ("to", " Rows are sources of edges, columns targets."),
        Kind::Bipartite => ("with", " Rows are the left side, columns the right one."),
    };
    let measure = if model.weighted() { "the mean weight" } else { "the share of joined pairs" };
    let told = k.min(TOLD);
    let largest =
        if told < k { format!(" The {told} largest communities are shown.") } else { String::new() };
    let caption = format!(
        "Connectivity: {measure} between nodes that belong to two communities altogether, by least squares. Colours go with the root, so that \
         small entries show.{what}{largest} A click chooses the community of the row."
    );
    let shown = Mat::from_fn(told, told, |i, j| model.connectivity()[(i, j)]);
    let heat = Plot::matrix(caption, &labels(told), &shown, between).axes("community", "");
    let Some(picture) = model.picture() else {
        return Section::new("Blocks").with(heat);
    };
    let rows = facts.all.rows();
    let columns = facts.all.columns();
    let cells = &picture.cells;
    let [from, to] = match model.kind() {
        Kind::Undirected => ["nodes", "nodes"],
        Kind::Directed => ["sources", "targets"],
        Kind::Bipartite => ["nodes of the left side", "nodes of the right side"],
    };
    let binned = if (rows.nodes.len(), columns.as_ref().unwrap_or(&rows).nodes.len()) == cells.shape {
        "every dot is a pair of nodes".to_owned()
    } else {
        format!("in {} × {} cells, stronger where more pairs are joined", cells.shape.0, cells.shape.1)
    };
    let data = json!({
        "levels": base64(&cells.levels),
        "shape": [cells.shape.0, cells.shape.1],
        "rows": rows.borders,
        "cols": columns.as_ref().unwrap_or(&rows).borders,
        "told": told,
        "blocks": (0..told).flat_map(|i| &cells.blocks[i * k..i * k + told]).map(|&n| n as u64).collect::<Vec<_>>(),
        "sides": [from, to],
        "undirected": model.kind() == Kind::Undirected,
        "caption": format!(
            "Adjacency: nodes with edges by their main community, then by degree; {binned}.{what} A click chooses the community of the row."
        ),
    });
    let picture = Block::Widget { name: "adjacency", data };
    Section::new("Blocks").with(Block::Row(vec![picture, heat.into()]))
}
