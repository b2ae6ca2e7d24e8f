//! `tenfold tensor evaluate`.

use crate::common::Session;
use crate::exit;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use tenfold::engine::tensor::Cp;
use tenfold::model_file::Factors;

/// How near found components are to known ones; signs do not count
#[derive(Args)]
#[command(after_help = "\
Example:
  tenfold generate tensor --side 10 -o T.npy
  tenfold tensor decompose T.npy -o found.tenfold
  tenfold tensor evaluate found.tenfold --truth T.truth.tenfold")]
pub struct Evaluate {
    /// Components that `tenfold tensor decompose` wrote
    model: PathBuf,
    /// The true components, as `tenfold generate tensor` writes them
    #[arg(long, value_name = "TRUTH")]
    truth: PathBuf,
}

/// A component this near to the truth counts as found.
const NEAR: f64 = 1e-3;

impl Evaluate {
    pub fn run(self, session: &Session) -> Result<()> {
        let (found, truth) = (read(&self.model)?, read(&self.truth)?);
        if found.factors.rows() != truth.factors.rows() || found.k() < truth.k() {
            return Err(exit::bad_input(format!(
                "{} components of length {} cannot be matched to {} true ones of length {}; decompose with -k {}",
                found.k(),
                found.factors.rows(),
                truth.k(),
                truth.factors.rows(),
                truth.k()
            )));
        }
        let matched = truth.match_to(&found);
        let weights = matched.weight_errors.iter().fold(0.0f64, |m, e| m.max(*e));
        let (share, worst) = (matched.found(NEAR), matched.worst());
        let text = format!(
            "{:.0} % of {} components found (error below {NEAR}); worst error {worst:.1e}, of a weight {weights:.1e}\n",
            100.0 * share,
            truth.k()
        );
        let value =
            json!({ "found": share, "k": truth.k(), "worst_error": worst, "worst_weight_error": weights });
        session.answer(&text, &value)
    }
}

fn read(path: &Path) -> Result<Cp> {
    Factors::load(path)?.symmetric().ok_or_else(|| {
        exit::bad_input(format!(
            "{}: its tensor has three sides of their own; evaluate components of a symmetric tensor",
            path.display()
        ))
    })
}
