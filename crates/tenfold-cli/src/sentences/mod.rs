//! `tenfold sentences`: numbers for sentences.

mod encode;
mod fit;
mod reading;
mod show;
mod similarity;

use crate::common::Session;
use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    Fit(Box<fit::Fit>),
    Encode(encode::Encode),
    Similarity(similarity::Similarity),
    Show(show::Show),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Fit(fit) => fit.run(session),
            Self::Encode(encode) => encode.run(session),
            Self::Similarity(similarity) => similarity.run(session),
            Self::Show(show) => show.run(session),
        }
    }
}
