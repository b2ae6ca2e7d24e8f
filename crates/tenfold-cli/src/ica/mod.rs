//! `tenfold ica`: unmix signals.

mod evaluate;
mod fit;
mod infer;
mod show;

use crate::common::Session;
use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};
use tenfold::ica::Model;

#[derive(Subcommand)]
pub enum Command {
    Fit(fit::Fit),
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

/// A model as JSON. Figures that are not finite (an eigengap with nothing behind it) become null.
fn model_json(model: &Model) -> Value {
    let d = model.diagnostics();
    json!({
        "parameters": model.params(),
        "k": model.k(),
        "columns": model.unmixing().cols(),
        "kurtosis": model.kurtosis(),
        "skewness": model.skewness(),
        "shares": model.shares(),
        "diagnostics": {
            "samples": d.samples,
            "spectrum": d.spectrum,
            "condition": d.condition,
            "eigengap": d.eigengap,
            "residual": d.residual,
            "iterations": d.iterations,
            "converged": d.converged,
            "agreement": d.agreement,
            "polish_steps": d.polish_steps,
            "polish_converged": d.polish_converged,
        },
        "sound": model.verdict().is_sound(),
        "verdict": model.verdict().to_json(),
    })
}
