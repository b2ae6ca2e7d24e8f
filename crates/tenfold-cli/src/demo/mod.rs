//! `tenfold demo`: the main job on made-up data, for a first look.

mod picture;
mod signals;
mod topics;

use crate::common::Session;
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Find known topics in drawn documents, show them beside the truth, make a report
#[derive(Args)]
#[command(after_help = "\
Examples:
  tenfold demo             topics: documents, model, report in tenfold-demo
  tenfold demo signals     mixed signals (ICA); files only with -o")]
pub struct Demo {
    /// What to show
    #[arg(value_name = "WHAT", default_value = "topics")]
    what: What,
    /// The folder for what is made [default for topics: tenfold-demo]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    Topics,
    Signals,
}

impl Demo {
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Topics => topics::run(&self.output.unwrap_or_else(|| "tenfold-demo".into()), session),
            What::Signals => signals::run(self.output.as_deref(), session),
        }
    }
}
