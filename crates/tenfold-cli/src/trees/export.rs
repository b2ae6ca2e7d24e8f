//! `tenfold trees export`.

use crate::common::Session;
use crate::files;
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use tenfold::trees::Model;
use tenfold::trees::export::{self, Format};

/// The tree for other programs
#[derive(Args)]
#[command(after_help = "\
Newick and NEXUS hold the tree with lengths and support, observed names as tips. BIF is a Bayesian \
network with hidden nodes (pgmpy and others read it). With --min-cell nothing is written that stands for \
fewer samples than that, other than none.

Examples:
  tenfold trees export m.tenfold --format newick -o tree.nwk
  tenfold trees export m.tenfold --format bif --min-cell 11 -o net.bif")]
pub struct Export {
    /// A model that `tenfold trees fit` made
    model: PathBuf,
    /// The format
    #[arg(long, value_name = "NAME")]
    format: FormatName,
    /// Where it goes
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Hold back what stands for fewer samples than this, other than none
    #[arg(long, value_name = "N")]
    min_cell: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    Newick,
    Nexus,
    Graphml,
    Dot,
    Bif,
    Json,
}

impl Export {
    pub fn run(self, session: &Session) -> Result<()> {
        files::check_output(&self.output, &[&self.model])?;
        let model = Model::load(&self.model)?;
        let format = match self.format {
            FormatName::Newick => Format::Newick,
            FormatName::Nexus => Format::Nexus,
            FormatName::Graphml => Format::GraphMl,
            FormatName::Dot => Format::Dot,
            FormatName::Bif => Format::Bif,
            FormatName::Json => Format::Json,
        };
        let picture = model.picture(self.min_cell);
        export::write(&self.output, &picture, format)?;
        let held_back = picture.held_back();
        if let [first, ..] = held_back[..] {
            session.warn(&format!(
                "{} variables were observed in fewer samples than --min-cell and nothing is told of their values: {} …",
                held_back.len(),
                model.variables()[first].name
            ));
        }
        let to = self.output.display();
        let value = json!({ "output": self.output.to_string_lossy(), "format": format.name(), "held_back": held_back.len() });
        session.answer(&format!("{} written to {to}\n", format.name()), &value)
    }
}
