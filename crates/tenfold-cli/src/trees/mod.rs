//! `tenfold trees`: the hierarchy of hidden causes above what was observed.

mod evaluate;
mod export;
mod fit;
mod infer;
mod reading;
mod show;

use crate::common::Session;
use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    Fit(fit::Fit),
    Infer(infer::Infer),
    Show(show::Show),
    Evaluate(evaluate::Evaluate),
    Export(export::Export),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Fit(fit) => fit.run(session),
            Self::Infer(infer) => infer.run(session),
            Self::Show(show) => show.run(session),
            Self::Evaluate(evaluate) => evaluate.run(session),
            Self::Export(export) => export.run(session),
        }
    }
}
