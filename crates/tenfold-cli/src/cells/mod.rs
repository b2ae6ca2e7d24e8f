//! `tenfold cells`: cell types from tissue images.

mod detect;
mod evaluate;
mod export;
mod fit;
mod genes;
mod infer;
mod reading;
mod select;
mod show;

pub use reading::read_counts;

use crate::common::Session;
use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    Detect(Box<detect::Detect>),
    Fit(Box<fit::Fit>),
    Infer(infer::Infer),
    Show(show::Show),
    Evaluate(evaluate::Evaluate),
    Export(export::Export),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Detect(detect) => detect.run(session),
            Self::Fit(fit) => fit.run(session),
            Self::Infer(infer) => infer.run(session),
            Self::Show(show) => show.run(session),
            Self::Evaluate(evaluate) => evaluate.run(session),
            Self::Export(export) => export.run(session),
        }
    }
}
