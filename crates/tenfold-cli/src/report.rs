//! `tenfold report`.

use crate::common::Session;
use crate::{exit, files};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tenfold::engine::progress::Progress;
use tenfold::model_file::{ModelFile, TensorData};
use tenfold::report::{self, Page};
use tenfold::{communities, ica, topics};

/// One page about a model, to look at in a browser
#[derive(Args)]
#[command(after_help = "\
The page is a single file that works offline and can be sent to others. For topics it has a map, \
the words of every topic with a slider for their relevance, a search, sizes and correlations, the \
spectrum and what speaks for or against the model.

Example:
  tenfold report model.tenfold -o topics.html")]
pub struct Report {
    /// A model that tenfold made
    model: PathBuf,
    /// Where the page goes: .html
    #[arg(short, long, value_name = "PAGE.html")]
    output: PathBuf,
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
        files::check_output(&self.output, &[&self.model])?;
        let kind = ModelFile::kind_of(&self.model)?;
        let page = match kind.as_str() {
            "topics" => topics::Model::load(&self.model)?.report()?,
            "communities" => communities::Model::load(&self.model)?.report(),
            "ica" => ica::Model::load(&self.model)?.report(),
            _ => plain(&ModelFile::load(&self.model)?),
        };
        session.watch.check()?;
        page.write(&self.output)?;
        let to = self.output.display();
        let value = json!({ "output": self.output.to_string_lossy(), "kind": kind });
        session.answer(&format!("page written to {to}; open it in a browser\n"), &value)
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
