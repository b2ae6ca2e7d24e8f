//! `tenfold topics`: topics in text.

mod evaluate;
mod fit;
mod infer;
mod merge;
mod mixtures;
mod reading;
mod show;
pub mod truth;
mod update;

use crate::common::Session;
use anyhow::Result;
use clap::Subcommand;
pub use reading::{ReadArgs, WordArgs};

#[derive(Subcommand)]
pub enum Command {
    Fit(Box<fit::Fit>),
    Infer(infer::Infer),
    Show(show::Show),
    Evaluate(evaluate::Evaluate),
    Update(update::Update),
    Merge(merge::Merge),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Fit(fit) => fit.run(session),
            Self::Infer(infer) => infer.run(session),
            Self::Show(show) => show.run(session),
            Self::Evaluate(evaluate) => evaluate.run(session),
            Self::Update(update) => update.run(session),
            Self::Merge(merge) => merge.run(session),
        }
    }
}
