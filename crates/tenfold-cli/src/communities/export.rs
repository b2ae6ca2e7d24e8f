//! `tenfold communities export`.

use super::outputs::OutputArgs;
use super::reading::{ReadArgs, shown};
use crate::common::Session;
use crate::exit;
use crate::files::{Bundle, folder_of};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use tenfold::communities::{Graph, Ids, Model};
use tenfold::engine::progress::Progress;

/// Members, covers and networks of a model, for other programs
#[derive(Args)]
#[command(after_help = "\
The same files as those of `communities fit`, from a model that is there already: with another \
threshold, of another side, or for a program that was not thought of. A model holds no edges; for \
--gml and --gexf give the graph of the fit once more.

Examples:
  tenfold communities export m.tenfold --members m.parquet --threshold 0.1
  tenfold communities export m.tenfold --covers covers.txt
  tenfold communities export m.tenfold --graph edges.txt --gexf gephi.gexf")]
pub struct Export {
    /// A model that `tenfold communities fit` made
    model: PathBuf,
    /// The graph of the fit, for --gml and --gexf
    #[arg(long, value_name = "EDGES")]
    graph: Option<PathBuf>,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl Export {
    pub fn run(self, session: &Session) -> Result<()> {
        let Some(first) = self.outputs.files().next() else {
            return Err(exit::usage(
                "nothing to write; ask for --members, --covers, --gml, --gexf or --connectivity",
            ));
        };
        if self.outputs.has_edges() != self.graph.is_some() {
            return Err(exit::usage(match self.graph {
                Some(_) => "--graph means nothing without --gml or --gexf; leave it out",
                None => "a model holds no edges; give the graph of the fit with --graph",
            }));
        }
        let inputs: Vec<&Path> = [&self.model].into_iter().chain(&self.graph).map(PathBuf::as_path).collect();
        self.outputs.check(&inputs)?;
        let model = Model::load(&self.model)?;
        self.outputs.check_graph(model.kind(), [model.ids(), model.other_ids()])?;
        let graph = self.graph.as_deref().map(|path| self.graph_of(path, &model, session)).transpose()?;
        let mut bundle = Bundle::new(folder_of(first))?;
        let written = self.outputs.write(&model, graph.as_ref(), &mut bundle, session)?;
        session.watch.check()?;
        bundle.finish()?;
        let mut value = json!({ "model": self.model.to_string_lossy() });
        for (name, path) in written.files {
            value[name] = path;
        }
        session.answer(&written.text, &value)
    }

    /// The graph of the fit, which must have the nodes of the model.
    fn graph_of(&self, path: &Path, model: &Model, session: &Session) -> Result<Graph> {
        let graph = self.read.graph_like(path, model, session)?;
        let same = |a: &Ids, b: &Ids| a.len() == b.len() && a.iter().eq(b.iter());
        if same(graph.ids(), model.ids()) && same(graph.other_ids(), model.other_ids()) {
            return Ok(graph);
        }
        Err(exit::bad_input(format!(
            "{}: its {} nodes are not the {} nodes of {}; give the graph of the fit",
            shown(path),
            graph.nodes(),
            model.nodes(),
            self.model.display()
        )))
    }
}
