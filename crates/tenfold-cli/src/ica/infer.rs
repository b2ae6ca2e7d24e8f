//! `tenfold ica infer`.

use crate::common::{Session, TableArgs, numbered};
use crate::{exit, files};
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tenfold::engine::linalg::Rows;
use tenfold::ica::Model;
use tenfold::input::Table;

/// The sources of new samples, or the mixtures that given sources make
#[derive(Args)]
#[command(after_help = "\
Sources are s = U (x - mean), in columns s1, s2, ... They are written block by block, so X may be \
larger than memory. Where both the model and X know the names of their columns, these must agree; \
--columns takes the right ones from a table that holds more, or holds them in another order.

Examples:
  tenfold ica infer model.tenfold X.npy -o S.npy
  tenfold ica infer model.tenfold S.npy --mix-back -o X.npy")]
pub struct Infer {
    /// A model that `tenfold ica fit` made
    model: PathBuf,
    /// Samples, with the columns of the fit; sources with --mix-back
    #[arg(value_name = "X")]
    input: PathBuf,
    /// Where the table goes: .npy, .csv, .tsv or .parquet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The other way: read sources, write the mixtures x = A s + mean
    #[arg(long)]
    mix_back: bool,
    #[command(flatten)]
    table: TableArgs,
}

impl Infer {
    pub fn run(self, session: &Session) -> Result<()> {
        files::check_table(&self.output, &[&self.model, &self.input])?;
        let begin = Instant::now();
        let model = Model::load(&self.model)?;
        let table = self.table.open(&self.input, session)?;
        let unfit = || format!("{} does not fit {}", self.input.display(), self.model.display());
        let (sources, mixtures, names);
        let rows: &dyn Rows = if self.mix_back {
            mixtures = model.mixtures(&table).with_context(unfit)?;
            names = model.columns().map_or_else(|| numbered("c", mixtures.cols()), <[String]>::to_vec);
            &mixtures
        } else {
            check_names(&model, &table, self.table.chosen(), session)?;
            sources = model.sources(&table).with_context(unfit)?;
            names = numbered("s", sources.cols());
            &sources
        };
        files::write_table(&self.output, &names, rows, &session.watch)?;
        let seconds = begin.elapsed().as_secs_f64();
        let (n, columns, to) = (rows.rows(), rows.cols(), self.output.display());
        let what = if self.mix_back { "columns" } else { "sources" };
        let text = format!("{n} samples of {columns} {what} written to {to} in {seconds:.1} s\n");
        let value = json!({
            "samples": n, "columns": columns, "output": self.output.to_string_lossy(), "seconds": seconds,
        });
        session.answer(&text, &value)
    }
}

/// Holds the table's names against those of the fit, where both have them. Columns that were chosen with --columns
/// are taken as they were chosen, with a warning when their names are others.
fn check_names(model: &Model, table: &Table, chosen: bool, session: &Session) -> Result<()> {
    let Some(expected) = model.columns().filter(|_| table.is_named()) else { return Ok(()) };
    let found = table.names();
    if found == expected {
        return Ok(());
    }
    let path = table.path().display();
    if chosen {
        if let Some((e, f)) = expected.iter().zip(found).find(|(e, f)| e != f) {
            session.warn(&format!("{path}: column {f:?} is taken for {e:?} of the fit, as --columns says"));
        }
        return Ok(());
    }
    // A name with a comma cannot be given to --columns, and hundreds of names are no advice.
    let list = expected.join(",");
    let list = if list.matches(',').count() + 1 == expected.len() && list.len() <= LONGEST_LIST {
        list
    } else {
        "the names that `tenfold ica show --json` lists".into()
    };
    let message = match expected.iter().find(|name| !found.contains(name)) {
        Some(missing) => format!(
            "has no column {missing:?}, which the model was fitted on; \
             choose the columns that stand for {list} with --columns"
        ),
        None if found.len() == expected.len() => {
            format!("has the columns of the fit in another order; say --columns {list}")
        }
        None => format!("has more columns than the fit; say --columns {list}"),
    };
    Err(exit::bad_input(format!("{path}: {message}")))
}

/// Letters of a list of columns that is still printed.
const LONGEST_LIST: usize = 200;
