//! `tenfold topics update`.

use super::ReadArgs;
use crate::common::Session;
use crate::files;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::engine::progress::Progress;
use tenfold::topics::Model;

/// Add documents to a model, without the old ones
#[derive(Args)]
#[command(after_help = "\
The model keeps its moments in a subspace wider than its topics; those of the new documents are \
added there, exactly. Beside k topics it has k/8 directions more, at least 8, in whole eights: m of \
them take 8 m bytes a word and 4/3 m^3 bytes (27 MB for 50 topics of 50,000 words; `topics show \
--json` says it under `kept`). What the new documents hold outside it is measured from 64 documents \
on, and the verdict says when a new fit of all documents is due. New words join the vocabulary.

The polish of the fit goes over the new documents once (`faithful`: three times), beside all that the \
topics stand for already. Spectrum, weights and alpha become those of all documents; stability stays \
that of the fit. Models of more than 143 topics keep no moments.

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
        let read = self.read.inputs(&self.input);
        let inputs: Vec<&Path> = read.iter().chain([&self.model]).map(PathBuf::as_path).collect();
        files::check_output(&self.output, &inputs)?;
        let begin = Instant::now();
        let mut model = Model::load(&self.model)?;
        let more = self.read.read_for(&model, &self.input, true, session)?;
        let updated = session.watch.during(|watch| model.update(&more, watch))?;
        session.watch.check()?;
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
