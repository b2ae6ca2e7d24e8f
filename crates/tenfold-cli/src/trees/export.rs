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
fewer samples than that, other than none. Without -o the tree goes to standard output.

Examples:
  tenfold trees export m.tenfold --format dot | dot -Tsvg -o tree.svg
  tenfold trees export m.tenfold --format newick -o tree.nwk
  tenfold trees export m.tenfold --format bif --min-cell 11 -o net.bif")]
pub struct Export {
    /// A model that `tenfold trees fit` made
    model: PathBuf,
    /// The format
    #[arg(long, value_name = "NAME")]
    format: FormatName,
    /// Where it goes; standard output when not given
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
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
        if let Some(output) = &self.output {
            files::check_output(output, &[&self.model])?;
        }
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
        let (told, key, value) = match &self.output {
            Some(output) => {
                export::write(output, &picture, format)?;
                let told = format!("{} written to {}\n", format.name(), output.display());
                (told, "output", output.to_string_lossy().into_owned())
            }
            None => {
                let text = export::text(&picture, format)?;
                (text.clone(), "text", text)
            }
        };
        let held_back = picture.held_back();
        if let [first, ..] = held_back[..] {
            session.warn(&format!(
                "{} variables were observed in fewer samples than --min-cell and nothing is told of their values: {} …",
                held_back.len(),
                model.variables()[first].name
            ));
        }
        let value = json!({ "format": format.name(), "held_back": held_back.len(), key: value });
        if self.output.is_some() { session.answer(&told, &value) } else { session.hand_over(&told, &value) }
    }
}
