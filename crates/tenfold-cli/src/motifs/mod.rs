//! `tenfold motifs`: what repeats anywhere in signals.

mod decoding;
mod evaluate;
mod events;
mod fit;
mod infer;
mod picture;
mod reading;
mod show;

pub use decoding::DecodeArgs;
pub use reading::ReadArgs;

use crate::common::Session;
use crate::{exit, files};
use anyhow::Result;
use clap::Subcommand;
use std::path::Path;
use tenfold::motifs::{Extent, Length};

#[derive(Subcommand)]
pub enum Command {
    Fit(fit::Fit),
    Infer(infer::Infer),
    Show(show::Show),
    Evaluate(evaluate::Evaluate),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Fit(fit) => fit.run(session),
            Self::Infer(infer) => infer.run(session),
            Self::Show(show) => show.run(session),
            Self::Evaluate(evaluate) => evaluate.run(session),
        }
    }
}

/// `64`, or `32x48` for rows and columns.
pub fn parse_extent(text: &str) -> Result<Extent, String> {
    let side = |text: &str| match text.trim().parse::<usize>() {
        Ok(side) if (1..=1 << 32).contains(&side) => Ok(side),
        _ => Err("a number of samples such as 64, or rows and columns such as 32x32, is needed".to_owned()),
    };
    match text.split_once(['x', '×']) {
        None => Ok(Extent::line(side(text)?)),
        Some((rows, columns)) => Ok(Extent::plane(side(rows)?, side(columns)?)),
    }
}

/// An extent, or `auto`.
fn parse_length(text: &str) -> Result<Length, String> {
    if text == "auto" { Ok(Length::Auto) } else { parse_extent(text).map(Length::Known) }
}

/// The extent as it is given.
pub fn shown(extent: Extent) -> String {
    if extent.is_plane() { format!("{}x{}", extent.rows, extent.columns) } else { extent.columns.to_string() }
}

/// Checks before the work that an array can be written here.
fn check_npy(path: &Path, inputs: &[&Path]) -> Result<()> {
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
        return Err(exit::usage(format!("{} is no .npy file; arrays are written as .npy", path.display())));
    }
    files::check_output(path, inputs)
}
