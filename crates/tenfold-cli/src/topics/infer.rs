//! `tenfold topics infer`.

use super::{ReadArgs, mixtures};
use crate::common::{Session, parse_count};
use crate::files;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tenfold::topics::Model;

/// The topics of new documents
#[derive(Args)]
#[command(after_help = "\
Text is cut into words as it was for the fit. One row a document, in the order of the input: its \
name or number, then the share of every topic (topic0, topic1, ...). A document without a known \
word gets the mixture of the whole corpus. --top 3 writes one row for each of a document's three \
largest shares instead: document, topic, share.

Examples:
  tenfold topics infer model.tenfold new.txt -o mixtures.csv
  tenfold topics infer model.tenfold letters/ --top 3 -o mixtures.parquet
  cat new.txt | tenfold topics infer model.tenfold - -o mixtures.csv")]
pub struct Infer {
    /// A model that `tenfold topics fit` made
    model: PathBuf,
    /// Documents: a file or a folder of what `topics fit` reads; - for standard input
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// Where the table goes: .csv, .tsv, .parquet or .npy
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Only the N largest shares of a document, one a row
    #[arg(long, value_name = "N", value_parser = parse_count)]
    top: Option<usize>,
    #[command(flatten)]
    read: ReadArgs,
}

impl Infer {
    pub fn run(self, session: &Session) -> Result<()> {
        let read = self.read.inputs(&self.input);
        let inputs: Vec<&Path> = read.iter().chain([&self.model]).map(PathBuf::as_path).collect();
        files::check_table(&self.output, &inputs)?;
        let begin = Instant::now();
        let model = Model::load(&self.model)?;
        let corpus = self.read.read_for(&model, &self.input, false, session)?;
        if corpus.tokens() == 0 {
            session.warn("no document holds a word of the model: every mixture is the mean of its prior");
        }
        mixtures::write(&self.output, &model, &corpus, self.top, session)?;
        let seconds = begin.elapsed().as_secs_f64();
        let (documents, k, to) = (corpus.documents(), model.k(), self.output.display());
        let text = format!("{documents} documents of {k} topics written to {to} in {seconds:.1} s\n");
        let value = json!({
            "documents": documents, "k": k, "output": self.output.to_string_lossy(), "seconds": seconds,
            "tokens": corpus.tokens(), "notes": corpus.notes(),
        });
        session.answer(&text, &value)
    }
}
