//! Trees for other programs: Newick and NEXUS for phylogenetics, GraphML and JSON for networks, DOT for Graphviz, BIF for
//! Bayesian networks.
//!
//! Names are strangers' text and are escaped as each format asks. Where a smallest cell is set
//! ([`Picture::min_cell`]), every format tells the same coarse tables ([`Picture::shown`]).

mod bif;
mod dot;
mod graphml;
mod json;
mod newick;

use super::picture::Picture;
use crate::error::{Error, Result};
use crate::output;
use std::path::Path;

/// A format that a tree is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Newick: variables are tips, also those inside the tree, which stand there with length 0; supports are the labels of
    /// inner nodes. A line for every tree of a forest.
    Newick,
    /// NEXUS: the same trees with a block of taxa, supports as comments.
    Nexus,
    /// GraphML, without directions.
    GraphMl,
    /// Graphviz.
    Dot,
    /// The Bayesian interchange format: hidden nodes and categories are discrete variables, every flag is one of its own, and
    /// so is whether a count is above 0. Real variables are left out, with a note.
    Bif,
    /// JSON as networkx reads it (`node_link_graph`), with all parameters.
    Json,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] = [Self::Newick, Self::Nexus, Self::GraphMl, Self::Dot, Self::Bif, Self::Json];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newick => "newick",
            Self::Nexus => "nexus",
            Self::GraphMl => "graphml",
            Self::Dot => "dot",
            Self::Bif => "bif",
            Self::Json => "json",
        }
    }

    /// The format with this name.
    ///
    /// # Errors
    /// An unknown name, with those that are known.
    ///
    /// # Example
    /// ```
    /// use tenfold::trees::export::Format;
    /// assert_eq!(Format::named("BIF")?, Format::Bif);
    /// assert!(Format::named("png").is_err());
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        let known = Self::ALL.iter().find(|format| format.name().eq_ignore_ascii_case(name));
        known.copied().ok_or_else(|| Error::BadParameter {
            name: "format".into(),
            value: name.into(),
            expected: "newick, nexus, graphml, dot, bif or json".into(),
        })
    }
}

/// The tree in a format. The same picture gives the same bytes.
///
/// # Complexity
/// O(size of the tables).
///
/// # Errors
/// When there are fewer samples than the smallest cell that may be told ([`Picture::check`]).
pub fn text(picture: &Picture<'_>, format: Format) -> Result<String> {
    picture.check()?;
    let shown = picture.shown();
    Ok(match format {
        Format::Newick => newick::newick(&shown),
        Format::Nexus => newick::nexus(&shown),
        Format::GraphMl => graphml::graphml(&shown),
        Format::Dot => dot::dot(&shown),
        Format::Bif => bif::bif(&shown),
        Format::Json => json::json(&shown),
    })
}

/// Writes the tree in a format, whole or not at all.
///
/// # Errors
/// As [`text`]; [`Error::Write`] when the disk refuses.
pub fn write(path: &Path, picture: &Picture<'_>, format: Format) -> Result<()> {
    let text = text(picture, format)?;
    output::write_atomically(path, |out| {
        out.write_all(text.as_bytes()).map_err(|e| output::write_error(path, e))
    })
}

#[cfg(test)]
mod tests;
