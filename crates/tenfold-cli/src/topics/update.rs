//! `tenfold topics update`.

use super::ReadArgs;
use crate::common::Session;
use crate::files;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tenfold::topics::Model;

/// Add documents to a model, without the old ones
#[derive(Args)]
#[command(after_help = "\
The model keeps its moments in a subspace wider than its topics; those of the new documents are \
added there. What the new documents hold outside it is measured, and the verdict says when a new \
fit of all documents is due. New words join the vocabulary.

Examples:
  tenfold topics update model.tenfold today.txt -o newer.tenfold
  zcat today.txt.gz | tenfold topics update model.tenfold - -o newer.tenfold")]
pub struct Update {
    /// A model that `tenfold topics fit` made
    model: PathBuf,
    /// More documents: a file or a folder of what `topics fit` reads; - for standard input
    #[arg(value_name = "MORE")]
    input: PathBuf,
    /// Where the new model goes
    #[arg(short, long, value_name = "NEW")]
    output: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
}

impl Update {
    pub fn run(self, session: &Session) -> Result<()> {
        files::check_output(&self.output, &[&self.model, &self.input])?;
        let begin = Instant::now();
        let mut model = Model::load(&self.model)?;
        let more = self.read.read_for(&model, &self.input, true, session)?;
        let updated = session.watch.during(|watch| model.update(&more, watch))?;
        model.save(&self.output)?;
        let seconds = begin.elapsed().as_secs_f64();
        let mut text = model.summary();
        let most = updated.moved.iter().copied().fold(0.0, f64::max);
        text += &format!(
            "{} documents and {} words added; topics moved by at most {most:.3} (total variation)\n",
            updated.documents, updated.new_words
        );
        text += &format!("model written to {} in {seconds:.1} s\n", self.output.display());
        let mut value = model.to_json();
        value["model"] = json!(self.output.to_string_lossy());
        value["seconds"] = json!(seconds);
        value["update"] = json!({
            "documents": updated.documents,
            "new_words": updated.new_words,
            "outside": updated.outside,
            "outside_at_fit": updated.outside_at_fit,
            "moved": updated.moved,
            "refit_is_due": updated.refit_is_due(),
        });
        session.answer(&text, &value)
    }
}
