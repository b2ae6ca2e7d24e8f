//! `tenfold generate`: data with known truth.

mod cells;
mod communities;
mod ica;
mod motifs;
mod tensor;
mod topics;
mod trees;

use crate::common::Session;
use crate::exit;
use anyhow::Result;
use clap::Subcommand;
use std::path::Path;

#[derive(Subcommand)]
pub enum Command {
    Cells(cells::Cells),
    Communities(communities::Communities),
    Ica(ica::Ica),
    Motifs(motifs::Motifs),
    Tensor(tensor::Tensor),
    Topics(topics::Topics),
    Trees(trees::Trees),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Cells(cells) => cells.run(session),
            Self::Communities(communities) => communities.run(session),
            Self::Ica(ica) => ica.run(session),
            Self::Motifs(motifs) => motifs.run(session),
            Self::Tensor(tensor) => tensor.run(session),
            Self::Topics(topics) => topics.run(session),
            Self::Trees(trees) => trees.run(session),
        }
    }
}

/// Drawn data are held in memory; more than this is surely a slip of the keyboard.
const MOST_BYTES: f64 = 64e9;

/// Refuses a number of entries that this machine cannot hold. It is counted in f64, which does not overflow.
fn check_entries(entries: f64) -> Result<()> {
    let bytes = entries * 8.0;
    // Room that is asked for and given back: a refusal here is an error, and later it would be the end of the process.
    if bytes > MOST_BYTES || Vec::<f64>::new().try_reserve_exact(entries as usize).is_err() {
        let gigabytes = bytes / 1e9;
        return Err(exit::usage(format!(
            "{gigabytes:.0} GB of numbers would be drawn in memory; ask for less"
        )));
    }
    Ok(())
}

/// The name without its extension, for the files beside it.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folder of a file; empty for the current one, so that names are shown as they were given.
fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
