//! `tenfold ica`: unmix signals.

mod evaluate;
mod fit;
mod infer;
mod show;

use crate::common::Session;
use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    Fit(Box<fit::Fit>),
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
