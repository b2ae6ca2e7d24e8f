//! `tenfold communities`: overlapping communities in graphs.

mod evaluate;
mod fit;
mod infer;
mod outputs;
mod predict;
mod reading;
mod show;

use crate::common::Session;
use anyhow::Result;
use clap::{Subcommand, ValueEnum};
use tenfold::communities::Side;

pub use evaluate::TruthArgs;

#[derive(Subcommand)]
pub enum Command {
    Fit(Box<fit::Fit>),
    Infer(infer::Infer),
    Predict(predict::Predict),
    Show(show::Show),
    Evaluate(Box<evaluate::Evaluate>),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Fit(fit) => fit.run(session),
            Self::Infer(infer) => infer.run(session),
            Self::Predict(predict) => predict.run(session),
            Self::Show(show) => show.run(session),
            Self::Evaluate(evaluate) => evaluate.run(session),
        }
    }
}

/// The sides of edges, as [`Side`] names them.
#[derive(Clone, Copy, ValueEnum)]
pub enum SideName {
    From,
    To,
    Both,
}

impl SideName {
    fn side(self) -> Side {
        match self {
            Self::From => Side::From,
            Self::To => Side::To,
            Self::Both => Side::Both,
        }
    }
}

/// A membership from 0 to 1.
fn parse_threshold(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|x: &f64| (0.0..=1.0).contains(x));
    value.ok_or_else(|| "a number from 0 to 1 is needed".into())
}
