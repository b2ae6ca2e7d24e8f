//! `tenfold communities predict`.

use super::reading::{ReadArgs, shown};
use crate::common::Session;
use crate::{exit, files};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tenfold::communities::{Ids, Model, check_members_path};
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Progress;
use tenfold::output::{self, Labels};

/// The probability of a link between two nodes
#[derive(Args)]
#[command(after_help = "\
PAIRS holds two ids a line, in any form that `communities fit` reads. The table has a row \
from,to,probability for each, in the same order. In a directed graph the link goes from the first \
to the second; in a bipartite one the first is of the left side.

Examples:
  tenfold communities predict model.tenfold pairs.txt -o links.csv
  echo ann bob | tenfold communities predict m.tenfold - -o links.csv")]
pub struct Predict {
    /// A model that `tenfold communities fit` made
    model: PathBuf,
    /// Pairs of ids; - for standard input
    #[arg(value_name = "PAIRS")]
    input: PathBuf,
    /// Where the table goes: .csv, .tsv or .parquet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
}

impl Predict {
    pub fn run(self, session: &Session) -> Result<()> {
        check_members_path(&self.output)?;
        files::check_output(&self.output, &[&self.model, &self.input])?;
        let model = Model::load(&self.model)?;
        let list = self.read.pairs(&self.input, session)?;
        let places =
            |given: &Ids, own: &Ids| -> Vec<Option<usize>> { given.iter().map(|id| own.find(&id)).collect() };
        let (from, to) = (places(list.from(), model.ids()), places(list.to(), model.other_ids()));
        let mut pairs = Vec::with_capacity(list.pairs().len());
        for (number, &(u, v)) in list.pairs().iter().enumerate() {
            let (Some(a), Some(b)) = (from[u as usize], to[v as usize]) else {
                let left = from[u as usize].is_none();
                let id = if left { list.from().get(u as usize) } else { list.to().get(v as usize) };
                return Err(exit::bad_input(format!(
                    "{}, pair {}: the model has no node {id:?}{}; give pairs of nodes of the graph",
                    shown(&self.input),
                    number + 1,
                    if model.ids().len() == model.other_ids().len() { "" } else { " on that side" },
                )));
            };
            pairs.push((a, b));
        }
        session.watch.check()?;
        let rows = Mat::from_vec(pairs.len(), 1, model.predict_all(&pairs));
        let labels = [
            Labels { name: "from", of: &|row| model.ids().get(pairs[row].0) },
            Labels { name: "to", of: &|row| model.other_ids().get(pairs[row].1) },
        ];
        output::write_labelled(&self.output, &labels, &["probability".into()], &rows)?;
        let (count, to) = (pairs.len(), self.output.display());
        let mean = rows.as_slice().iter().sum::<f64>() / count.max(1) as f64;
        let shown = if mean < 1e-3 { format!("{mean:.2e}") } else { format!("{mean:.4}") };
        let text = format!("probabilities of {count} pairs, {shown} on average, written to {to}\n");
        let value = json!({ "pairs": count, "mean": mean, "output": self.output.to_string_lossy() });
        session.answer(&text, &value)
    }
}
