//! `tenfold topics merge`.

use crate::common::Session;
use crate::files;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tenfold::engine::progress::Progress;
use tenfold::topics::Model;

/// One model from two that were fitted on different documents of one vocabulary
#[derive(Args)]
#[command(after_help = "\
The moments that both models keep are added, as if the documents had been read together, and the \
topics are found anew from the sum; no document is needed. What the polish had made of a topic in \
either model is then added, by its share of the documents. Topics keep the numbers of A; the \
verdict says when some of A or B are no longer there. Both models must have the same words and the \
same number of topics, and must have been fitted with the same kind of polish and with their \
moments (without --no-moments).

Example:
  tenfold topics merge monday.tenfold tuesday.tenfold -o both.tenfold")]
pub struct Merge {
    /// A model that `tenfold topics fit` made
    #[arg(value_name = "A")]
    first: PathBuf,
    /// Another, of the same vocabulary
    #[arg(value_name = "B")]
    second: PathBuf,
    /// Where the new model goes
    #[arg(short, long, value_name = "NEW")]
    output: PathBuf,
}

impl Merge {
    pub fn run(self, session: &Session) -> Result<()> {
        files::check_output(&self.output, &[&self.first, &self.second])?;
        let first = Model::load(&self.first)?;
        let second = Model::load(&self.second)?;
        let merged = session
            .watch
            .during(|watch| first.merge(&second, watch))
            .with_context(|| format!("{} and {}", self.first.display(), self.second.display()))?;
        session.watch.check()?;
        merged.save(&self.output)?;
        let text = format!("{}model written to {}\n", merged.summary(), self.output.display());
        let mut value = merged.to_json();
        value["model"] = json!(self.output.to_string_lossy());
        session.answer(&text, &value)
    }
}
