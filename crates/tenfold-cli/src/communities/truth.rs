//! Where known communities stand.

use crate::common::parse_count;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tenfold::communities::truth::{Format, Options};

/// Where the truth is.
#[derive(Args)]
#[command(next_help_heading = "Truth")]
pub struct TruthArgs {
    /// Known communities
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    /// What the truth is, where neither its name nor its lines tell
    #[arg(long, value_name = "NAME", requires = "truth")]
    truth_format: Option<FormatName>,
    /// The column of a table that holds the ids
    #[arg(long, value_name = "NAME", requires = "truth")]
    id_column: Option<String>,
    /// Attributes whose values are communities
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "truth")]
    attribute: Vec<String>,
    /// Values of attributes that stand for none
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "truth")]
    missing: Vec<String>,
    /// Fewest members of a true community
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_count, requires = "truth")]
    min_size: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    /// One community a line
    Cover,
    /// One node a line
    Nodes,
    /// id,community,weight
    Members,
    /// An id and attributes
    Table,
    /// Attributes of a graph's nodes
    Graph,
}

impl TruthArgs {
    pub fn options(&self, encoding: Option<String>) -> Options {
        Options {
            format: self.truth_format.map(|format| match format {
                FormatName::Cover => Format::Cover,
                FormatName::Nodes => Format::Nodes,
                FormatName::Members => Format::Members,
                FormatName::Table => Format::Table,
                FormatName::Graph => Format::Graph,
            }),
            id_column: self.id_column.clone(),
            attributes: self.attribute.clone(),
            missing: self.missing.clone(),
            min_size: self.min_size,
            encoding,
            ..Options::default()
        }
    }
}
