//! `tenfold report`.

use crate::common::Session;
use crate::communities::TruthArgs;
use crate::{exit, files};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use tenfold::communities::{Comparison, Members, THRESHOLDS, truth};
use tenfold::engine::progress::Progress;
use tenfold::model_file::{ModelFile, TensorData};
use tenfold::report::{self, Page};
use tenfold::{communities, ica, motifs, sentences, topics, trees};

/// One page about a model, to look at in a browser
#[derive(Args)]
#[command(after_help = "\
The page is a single file that works offline and can be sent to others. For topics it has a map, \
the words of every topic with a slider for their relevance, a search, sizes and correlations, the \
spectrum and what speaks for or against the model. For communities it has the network with \
memberships as pies, members and bridges, the adjacency matrix by blocks, and the trade-off that a \
threshold makes; with --truth that between recovery and error. For motifs it has \
their shapes and spectra, where they fire on a stretch of the signal, and the raster of firings. For \
sentences it has the words on a map with their neighbours, and the phrases of every template. For trees \
it has the tree, to fold, search and zoom, with the tables behind every edge.

Examples:
  tenfold report model.tenfold -o topics.html
  tenfold report communities.tenfold --truth labels.txt -o communities.html")]
pub struct Report {
    /// A model that tenfold made
    model: PathBuf,
    /// Where the page goes: .html
    #[arg(short, long, value_name = "PAGE.html")]
    output: PathBuf,
    /// For trees: hold back what stands for fewer samples than this, other than none
    #[arg(long, value_name = "N")]
    min_cell: Option<u64>,
    #[command(flatten)]
    truth: TruthArgs,
}

impl Report {
    pub fn run(self, session: &Session) -> Result<()> {
        let extension = self.output.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if !matches!(extension.as_str(), "html" | "htm") {
            return Err(exit::usage(format!(
                "{}: a report is a page for the browser; give it a name that ends in .html",
                self.output.display()
            )));
        }
        let inputs: Vec<&Path> =
            std::iter::once(&self.model).chain(&self.truth.truth).map(PathBuf::as_path).collect();
        files::check_output(&self.output, &inputs)?;
        let kind = ModelFile::kind_of(&self.model)?;
        if self.truth.truth.is_some() && kind != "communities" {
            return Err(exit::usage(format!(
                "--truth is for models of communities; {} holds one of {kind}",
                self.model.display()
            )));
        }
        if self.min_cell.is_some() && kind != "trees" {
            return Err(exit::usage(format!(
                "--min-cell is for models of trees; {} holds one of {kind}",
                self.model.display()
            )));
        }
        let page = match kind.as_str() {
            "topics" => topics::Model::load(&self.model)?.report()?,
            "communities" => self.communities(&communities::Model::load(&self.model)?, session)?,
            "ica" => ica::Model::load(&self.model)?.report(),
            "motifs" => motifs::Model::load(&self.model)?.report(),
            "sentences" => sentences::Model::load(&self.model)?.report()?,
            "trees" => {
                let model = trees::Model::load(&self.model)?;
                let picture = model.picture(self.min_cell);
                picture.check()?;
                picture.page()
            }
            _ => plain(&ModelFile::load(&self.model)?),
        };
        session.watch.check()?;
        page.write(&self.output)?;
        let to = self.output.display();
        let value = json!({ "output": self.output.to_string_lossy(), "kind": kind });
        session.answer(&format!("page written to {to}; open it in a browser\n"), &value)
    }
}

impl Report {
    fn communities(&self, model: &communities::Model, session: &Session) -> Result<Page> {
        let Some(path) = &self.truth.truth else { return Ok(model.report()) };
        let members = Members::of(model, None)?;
        let options = self.truth.options(None);
        let known = session.watch.during(|watch| truth::read(path, members.ids(), &options, watch))?;
        known.notes().iter().for_each(|note| session.note(&format!("{}: {note}", path.display())));
        if known.strangers() > 0 {
            session.warn(&format!("{} ids of the truth are no nodes of the graph", known.strangers()));
        }
        let curve = Comparison::new(&members, &known).trade_off(&THRESHOLDS);
        Ok(model.report_with(&THRESHOLDS.into_iter().zip(curve).collect::<Vec<_>>()))
    }
}

/// The page of a model that has none of its own.
fn plain(file: &ModelFile) -> Page {
    let arrays: Vec<(&str, &[usize], &[f64])> = file
        .tensors
        .iter()
        .filter_map(|(name, tensor)| match &tensor.data {
            TensorData::F64(data) => Some((name.as_str(), &tensor.shape[..], &data[..])),
            _ => None,
        })
        .collect();
    report::plain(&file.kind, &file.metadata, &arrays)
}
