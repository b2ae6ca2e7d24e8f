//! `tenfold sentences encode`.

use super::reading::{FeaturesName, ReadArgs};
use crate::common::Session;
use crate::files;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tenfold::sentences::Model;

/// Numbers for sentences
#[derive(Args)]
#[command(after_help = "\
One row a sentence, in the order of the text; a sentence without a known word is all zeros.

Examples:
  tenfold sentences encode m.tenfold new.txt -o features.npy
  tenfold sentences encode m.tenfold new.txt --features mean -o features.csv")]
pub struct Encode {
    /// A model that `tenfold sentences fit` made
    model: PathBuf,
    /// Sentences, one a line; - for standard input
    #[arg(value_name = "TEXT")]
    input: PathBuf,
    /// Where the table goes: .npy, .csv, .tsv or .parquet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// What a sentence becomes [default: what the model was fitted for]
    #[arg(long, value_name = "NAME")]
    features: Option<FeaturesName>,
    #[command(flatten)]
    read: ReadArgs,
}

impl Encode {
    pub fn run(self, session: &Session) -> Result<()> {
        files::check_table(&self.output, &[&self.model, &self.input])?;
        let begin = Instant::now();
        let model = Model::load(&self.model)?;
        let lines = self.read.read(&self.input, session)?;
        let lines: Vec<&str> = lines.iter().collect();
        let features = self.features.map_or(model.features(), FeaturesName::features);
        let (words, known) = model.known(&lines)?;
        if known == 0 {
            session.warn("no sentence holds a word of the model: every row is zeros");
        }
        let rows = session.watch.during(|watch| model.encode_with(&lines, features, watch))?;
        files::write_table(&self.output, &model.columns(features), &rows, &session.watch)?;
        let seconds = begin.elapsed().as_secs_f64();
        let (n, width, to) = (rows.rows(), rows.cols(), self.output.display());
        let share = if words == 0 { 0.0 } else { known as f64 / words as f64 };
        let text = format!(
            "{n} sentences of {width} numbers written to {to} in {seconds:.1} s; the model knows {:.1} % of their words\n",
            100.0 * share
        );
        let value = json!({
            "sentences": n, "width": width, "features": features.name(), "words": words, "known": known,
            "output": self.output.to_string_lossy(), "seconds": seconds,
        });
        session.answer(&text, &value)
    }
}
