//! `tenfold motifs show`.

use super::check_npy;
use crate::common::Session;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tenfold::motifs::Model;
use tenfold::output;

/// What a model holds, and how far to trust it
#[derive(Args)]
#[command(after_help = "\
Examples:
  tenfold motifs show model.tenfold
  tenfold motifs show model.tenfold --filters F.npy")]
pub struct Show {
    /// A model that `tenfold motifs fit` made
    model: PathBuf,
    /// Also write the motifs: .npy, motifs × [channels ×] [rows ×] samples
    #[arg(long, value_name = "OUT.npy")]
    filters: Option<PathBuf>,
}

impl Show {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (mut text, mut value) = (model.summary(), model.to_json());
        text += &super::picture::shapes(model.filters());
        if let Some(path) = &self.filters {
            check_npy(path, &[&self.model])?;
            let filters = model.filters();
            let sides = [filters.channels, filters.extent.rows, filters.extent.columns];
            let mut shape = vec![filters.count()];
            shape.extend(sides.iter().enumerate().filter(|(i, n)| *i == 2 || **n > 1).map(|(_, n)| *n));
            output::write_array(path, &shape, &filters.values)?;
            text += &format!("motifs written to {}\n", path.display());
            value["filters"] = json!(path.to_string_lossy());
        }
        session.answer(&text, &value)
    }
}
