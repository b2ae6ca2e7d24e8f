//! `tenfold ica evaluate`.

use crate::common::Session;
use crate::exit;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use tenfold::engine::linalg::Mat;
use tenfold::evaluate::amari_distance;
use tenfold::ica::Model;
use tenfold::input::read_array;

/// How near a model is to a known mixing matrix
#[derive(Args)]
#[command(after_help = "\
Prints the Amari distance: 0 is perfect, 1 is nothing separated. Order, sign and scale of the \
sources do not count.

Example:
  tenfold generate ica --columns 6 --sources 6 -o X.npy
  tenfold ica fit X.npy -k 6 -o model.tenfold
  tenfold ica evaluate model.tenfold --mixing X.mixing.npy")]
pub struct Evaluate {
    /// A model that `tenfold ica fit` made
    model: PathBuf,
    /// The true mixing matrix, columns of the data × sources
    #[arg(long, value_name = "A.npy")]
    mixing: PathBuf,
}

impl Evaluate {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let truth = read_array(&self.mixing)?;
        let (columns, k) = (model.unmixing().cols(), model.k());
        if truth.shape != [columns, k] {
            return Err(exit::bad_input(format!(
                "{} has shape {:?}, but a model of {k} sources in {columns} columns needs {:?}; \
                 fit with as many sources as the truth has",
                self.mixing.display(),
                truth.shape,
                [columns, k]
            )));
        }
        let distance = amari_distance(&model.unmixing().matmul(&Mat::from_vec(columns, k, truth.data)));
        let text = format!("Amari distance {distance:.6} (0 is perfect, 1 is nothing separated)\n");
        session.answer(&text, &json!({ "amari_distance": distance, "k": k }))
    }
}
