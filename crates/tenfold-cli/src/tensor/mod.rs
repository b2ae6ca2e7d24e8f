//! `tenfold tensor`: components of a tensor.

mod decompose;
mod evaluate;
mod read;

use crate::common::Session;
use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    Decompose(decompose::Decompose),
    Evaluate(evaluate::Evaluate),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Decompose(decompose) => decompose.run(session),
            Self::Evaluate(evaluate) => evaluate.run(session),
        }
    }
}
