//! How cells and counts are read.

use crate::common::Session;
use anyhow::Result;
use clap::Args;
use std::path::Path;
use tenfold::cells::table::{self, Options};
use tenfold::cells::{Expression, GenesIn, Tissue, read_expression};

/// How a table of cells is read.
#[derive(Args)]
#[command(next_help_heading = "Reading cells")]
pub struct ReadArgs {
    /// µm on the side of a pixel: places and radii in µm become pixels
    #[arg(long, value_name = "X", value_parser = parse_positive)]
    scale: Option<f64>,
}

impl ReadArgs {
    /// Whether anything was chosen.
    pub fn given(&self) -> bool {
        self.scale.is_some()
    }
}

/// A number above 0.
pub fn parse_positive(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
    amount.ok_or_else(|| "a number above 0 is needed".into())
}

/// Reads cells and says what was taken for what.
pub fn read_cells(path: &Path, read: &ReadArgs, session: &Session) -> Result<Tissue> {
    let mut options = Options { scale: read.scale, ..Options::default() };
    session.bound(&mut options.max_decompressed);
    let read = session.watch.during(|watch| table::read(path, &options, watch))?;
    read.notes.iter().for_each(|note| session.note(note));
    session.note(&format!(
        "{}: {} cells in {} images of {} genes",
        path.display(),
        read.tissue.len(),
        read.tissue.sections.len(),
        read.tissue.genes().len()
    ));
    Ok(read.tissue)
}

/// Reads counts of genes; `known` are the genes that tell whether they stand in rows or columns, without any in rows.
pub fn read_counts(path: &Path, known: &[String], session: &Session) -> Result<Expression> {
    let genes = if known.is_empty() { GenesIn::Rows } else { GenesIn::Guess };
    let bound = session.max_decompressed;
    let read = session.watch.during(|watch| read_expression(path, genes, known, bound, watch))?;
    session.note(&format!(
        "{}: {} rows of counts over {} genes",
        path.display(),
        read.cells.len(),
        read.counts.genes().len()
    ));
    Ok(read)
}
