//! `tenfold ica show`.

use crate::common::Session;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use tenfold::ica::Model;

/// What a model holds, and how far to trust it
#[derive(Args)]
pub struct Show {
    /// A model that `tenfold ica fit` made
    model: PathBuf,
}

impl Show {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        session.answer(&model.summary(), &model.to_json())
    }
}
