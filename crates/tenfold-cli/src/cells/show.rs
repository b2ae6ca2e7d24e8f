//! `tenfold cells show`.

use crate::common::Session;
use crate::exit;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use tenfold::cells::{Feature, Model};
use tenfold::output::shown;

/// What a model holds: its types, or one type with its marker genes
#[derive(Args)]
#[command(after_help = "\
Examples:
  tenfold cells show m.tenfold
  tenfold cells show m.tenfold 3 --top 30")]
pub struct Show {
    /// A model that `tenfold cells fit` made
    model: PathBuf,
    /// One type, counted from 0
    #[arg(value_name = "TYPE")]
    which: Option<usize>,
    /// Marker genes to list
    #[arg(long, value_name = "N", default_value_t = 15)]
    top: usize,
}

impl Show {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        match self.which {
            None => session.answer(&model.summary(), &model.to_json()),
            Some(t) if t < model.k() => {
                let (text, value) = one(&model, t, self.top);
                session.answer(&text, &value)
            }
            Some(t) => Err(exit::usage(format!(
                "there is no type {t}: {} has types 0 to {}",
                self.model.display(),
                model.k() - 1
            ))),
        }
    }
}

/// One type in words.
fn one(model: &Model, t: usize, top: usize) -> (String, Value) {
    let mut text = format!("type {t}: {:.1} % of the {}\n", 100.0 * model.weights()[t], model.counted());
    for own in model.traits().get(t).into_iter().flatten() {
        let (scale, unit) = match own.feature {
            Feature::Orientation => (180.0 / std::f64::consts::PI, "°"),
            _ => (1.0, ""),
        };
        let [low, median, high] = [own.low, own.median, own.high].map(|x| x * scale);
        let name = own.feature.name();
        let _ =
            writeln!(text, "  {name:<12} {median:>9.3}{unit}  (5 % {low:.3}{unit}, 95 % {high:.3}{unit})");
    }
    let markers = model.markers(t, top);
    let _ = writeln!(text, "\n  {:<20} {:>9} {:>9}", "gene", "share", "times");
    for marker in &markers {
        let gene = shown(&model.genes()[marker.gene]);
        let _ = writeln!(text, "  {gene:<20} {:>7.3} % {:>9.2}", 100.0 * marker.share, marker.lift);
    }
    let told =
        markers.iter().map(|m| json!({ "gene": model.genes()[m.gene], "share": m.share, "lift": m.lift }));
    let value = json!({
        "type": t, "weight": model.weights()[t], "markers": told.collect::<Vec<_>>(),
        "traits": model.to_json()["traits"][t],
    });
    (text, value)
}
