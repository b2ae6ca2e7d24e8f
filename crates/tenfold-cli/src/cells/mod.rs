//! `tenfold cells`: cell types from tissue images.

mod detect;
mod genes;
mod select;

use crate::common::Session;
use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    Detect(Box<detect::Detect>),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Detect(detect) => detect.run(session),
        }
    }
}
