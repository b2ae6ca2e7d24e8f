//! `tenfold communities`: overlapping communities in graphs.

mod evaluate;
mod export;
mod fit;
mod infer;
mod outputs;
mod predict;
mod reading;
mod show;
mod truth;

use crate::common::Session;
use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use tenfold::communities::{Side, Threshold};

pub use evaluate::TruthArgs;

#[derive(Subcommand)]
pub enum Command {
    Fit(Box<fit::Fit>),
    Infer(infer::Infer),
    Predict(predict::Predict),
    Show(show::Show),
    Evaluate(Box<evaluate::Evaluate>),
    Export(Box<export::Export>),
}

impl Command {
    pub fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Fit(fit) => fit.run(session),
            Self::Infer(infer) => infer.run(session),
            Self::Predict(predict) => predict.run(session),
            Self::Show(show) => show.run(session),
            Self::Evaluate(evaluate) => evaluate.run(session),
            Self::Export(export) => export.run(session),
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

/// From which membership on a node is a member; it always is one of its largest community.
#[derive(Args)]
pub struct ThresholdArgs {
    /// A node is in a community when its membership is at least X times its largest one
    #[arg(long, value_name = "X", default_value_t = 0.5, value_parser = parse_part, conflicts_with = "threshold")]
    relative: f64,
    /// A node is in a community when its membership is at least T, whatever its largest one is
    #[arg(long, value_name = "T", value_parser = parse_part)]
    threshold: Option<f64>,
}

impl ThresholdArgs {
    fn threshold(&self) -> Threshold {
        self.threshold.map_or(Threshold::Relative(self.relative), Threshold::Absolute)
    }
}

/// A number from 0 to 1.
fn parse_part(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|x: &f64| (0.0..=1.0).contains(x));
    value.ok_or_else(|| "a number from 0 to 1 is needed".into())
}
