//! `tenfold communities infer`.

use super::ThresholdArgs;
use super::reading::{ReadArgs, shown};
use crate::common::Session;
use crate::{exit, files};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tenfold::communities::{Kind, Members, Model, check_members_path, write_members};
use tenfold::engine::progress::Progress;

/// The communities of new nodes, from their edges to known ones
#[derive(Args)]
#[command(after_help = "\
EDGES holds edges of new nodes: the new node in the first column, a node of the model in the \
second, perhaps a weight. In a directed graph these are the edges that go out from the new node; \
in a bipartite one new nodes are of the left side. Edges to nodes that the model does not know are \
left out and counted; a node without any other gets the mean of all memberships.

The table has a row id,community,weight for every membership of a new node that is at least half \
of its largest one; --relative 0 writes all that are not nothing.

Examples:
  tenfold communities infer model.tenfold new.txt -o members.csv
  tenfold communities infer m.tenfold new.csv --from who --to whom -o out.csv")]
pub struct Infer {
    /// A model that `tenfold communities fit` made
    model: PathBuf,
    /// Edges from new nodes to known ones; - for standard input
    #[arg(value_name = "EDGES")]
    input: PathBuf,
    /// Where the table goes: .csv, .tsv or .parquet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    threshold: ThresholdArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl Infer {
    pub fn run(self, session: &Session) -> Result<()> {
        check_members_path(&self.output)?;
        files::check_output(&self.output, &[&self.model, &self.input])?;
        let begin = Instant::now();
        let model = Model::load(&self.model)?;
        // New nodes are one side and known ones the other, even where they are called alike.
        let graph = self.read.graph_of(&self.input, Kind::Bipartite, session)?;
        let known: Vec<Option<usize>> =
            graph.other_ids().iter().map(|id| model.other_ids().find(&id)).collect();
        let strangers = known.iter().filter(|place| place.is_none()).count();
        if strangers == known.len() {
            return Err(exit::bad_input(format!(
                "{}: none of the {strangers} nodes in its second column is known to {}: {:?} is not; give the new node first \
                 and a node of the model second",
                shown(&self.input),
                self.model.display(),
                graph.other_ids().get(0)
            )));
        }
        let neighbours = |u: usize| -> Vec<(usize, f64)> {
            let (at, weights) = graph.adjacency().row(u);
            let weight = |e: usize| weights.map_or(1.0, |w| f64::from(w[e]));
            at.iter().enumerate().filter_map(|(e, &v)| Some((known[v as usize]?, weight(e)))).collect()
        };
        let alone = (0..graph.nodes()).filter(|&u| neighbours(u).is_empty()).count();
        let found = session.watch.during(|watch| model.infer_all(graph.nodes(), neighbours, watch))?;
        let members = Members::new(graph.ids(), &found);
        session.watch.check()?;
        let rows = session
            .watch
            .during(|watch| write_members(&self.output, &members, self.threshold.threshold(), watch))?;
        if let Some(first) = known.iter().position(Option::is_none) {
            session.warn(&format!(
                "{strangers} of {} nodes in the second column are not known to the model, such as {:?}; edges to them are \
                 left out",
                known.len(),
                graph.other_ids().get(first)
            ));
        }
        if alone > 0 {
            session.warn(&format!(
                "{alone} new nodes have no known neighbours and get the mean of all memberships"
            ));
        }
        let seconds = begin.elapsed().as_secs_f64();
        let (nodes, to) = (graph.nodes(), self.output.display());
        let text = format!("{rows} memberships of {nodes} new nodes written to {to} in {seconds:.1} s\n");
        let value = json!({
            "nodes": nodes, "k": model.k(), "memberships": rows, "strangers": strangers, "without_neighbours": alone,
            "output": self.output.to_string_lossy(), "seconds": seconds,
        });
        session.answer(&text, &value)
    }
}
