//! `tenfold ica infer`.

use crate::common::{Session, TableArgs, numbered};
use crate::{exit, files};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tenfold::engine::linalg::{Mat, Rows};
use tenfold::ica::Model;

/// The sources of new samples, or the mixtures that given sources make
#[derive(Args)]
#[command(after_help = "\
Sources are s = U (x - mean), in columns s1, s2, ... They are written block by block, so X may be \
larger than memory.

Examples:
  tenfold ica infer model.tenfold X.npy -o S.npy
  tenfold ica infer model.tenfold S.npy --mix-back -o X.npy     (from sources to mixtures)")]
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
        let table = self.table.open(&self.input)?;
        session.note(&table.describe());
        let (prefix, expected) =
            if self.mix_back { ("c", model.k()) } else { ("s", model.unmixing().cols()) };
        if table.cols() != expected {
            return Err(exit::bad_input(format!(
                "{} has {} columns, but {} has {expected} {}; choose them with --columns, or give another file",
                self.input.display(),
                table.cols(),
                self.model.display(),
                if self.mix_back { "sources" } else { "columns" },
            )));
        }
        let (sources, mixed);
        let rows: &dyn Rows = if self.mix_back {
            mixed = Mixed { model: &model, sources: &table };
            &mixed
        } else {
            sources = model.sources(&table)?;
            &sources
        };
        files::write_table(&self.output, &numbered(prefix, rows.cols()), rows, &session.watch)?;
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

/// The mixtures that sources make, computed as the sources are read.
struct Mixed<'a> {
    model: &'a Model,
    sources: &'a dyn Rows,
}

impl Rows for Mixed<'_> {
    fn rows(&self) -> usize {
        self.sources.rows()
    }
    fn cols(&self) -> usize {
        self.model.mixing().rows()
    }
    fn read_rows(&self, start: usize, out: &mut [f64]) -> tenfold::engine::Result<()> {
        let mut block = Mat::zeros(out.len() / self.cols(), self.sources.cols());
        self.sources.read_rows(start, block.as_mut_slice())?;
        out.copy_from_slice(self.model.mix(&block).as_slice());
        Ok(())
    }
}
