//! Trees as text in the Newick format, and in the TREES block of NEXUS, which is told by its first word.
//!
//! Read are names in quotes, comments, lengths, internal names and several trees, which make a forest. The tips must be the
//! variables: names match as they stand, or with blanks for underscores, or with a genus by its letter (`M_mulatta` is `Macaca
//! mulatta`), or by their first words.
//!
//! A variable that is an internal node is written as a tip of length 0 on its place, so that other programs find all names
//! at tips; read back, it is internal again.

mod join;
mod parse;
pub(super) mod scan;
mod text;

pub(super) use join::join;
pub(super) use parse::{Written, most_nodes, next_tree};
pub(super) use text::quoted;
pub use text::{to_newick, to_nexus};

use super::nexus;
use super::tree::Tree;
use crate::error::{Error, Result};
use crate::input::decode::utf8;
use crate::input::{Opening, Source};
use scan::{Bad, Scanner};
use std::io::Read;
use std::path::Path;
use tenfold_engine::progress::Progress;

/// Reads a tree over the variables of these names from a file, plain or packed, in Newick or NEXUS.
///
/// Without any lengths all edges have length 1. Where a length is missing among others, it is 0. A packed file is given up after
/// `max_decompressed` bytes, 1 GiB where `None`.
///
/// # Errors
/// A file that is no tree, one with more nodes than a tree of all variables has, or a tree whose tips are not the variables; they name
/// the file, the line and the names.
///
/// # Example
/// ```
/// use tenfold::engine::progress::Silent;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("truth.nwk");
/// std::fs::write(&path, "((a:1,b:2)0.9:0.5,(c:1,'d e':1):0.5);").unwrap();
/// let names = ["a", "b", "c", "d e"].map(String::from);
/// let tree = tenfold::trees::read_tree(&path, &names, None, &Silent)?;
/// assert_eq!((tree.hidden().count(), tree.edges().len()), (2, 5));
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read_tree(
    path: &Path,
    names: &[String],
    max_decompressed: Option<u64>,
    progress: &dyn Progress,
) -> Result<Tree> {
    let max_decompressed = max_decompressed.unwrap_or(1 << 30);
    let opening = Opening { encoding: None, max_decompressed, wanted: "give a file with a tree" };
    let source = Source::open(path, opening, progress)?;
    let mut bytes = Vec::new();
    source.reader(progress)?.read_to_end(&mut bytes).map_err(|e| source.refuse(None, &e))?;
    progress.check()?;
    tree_of(utf8(source.path(), &bytes, 1)?, source.path(), names)
}

/// Reads a tree over the variables of these names from a text in Newick or NEXUS, as [`read_tree`] does from a file.
///
/// # Errors
/// As [`read_tree`].
pub fn parse_tree(text: &str, names: &[String]) -> Result<Tree> {
    tree_of(text, Path::new("tree"), names)
}

fn tree_of(text: &str, path: &Path, names: &[String]) -> Result<Tree> {
    let is_nexus = text.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("#nexus"));
    let most = most_nodes(names.len());
    let written = if is_nexus { nexus::trees(text, most) } else { all_trees(text, most) };
    written.and_then(|written| join(&written, names)).map_err(|bad: Bad| Error::Read {
        path: path.to_owned(),
        line: Some(Scanner::line(text, bad.at)),
        problem: bad.problem,
        remedy: bad.remedy.into(),
    })
}

fn all_trees(text: &str, most: usize) -> std::result::Result<Vec<Vec<Written>>, Bad> {
    let mut words = Scanner::new(text);
    let (mut trees, mut left) = (Vec::new(), most);
    while let Some(tree) = next_tree(&mut words, left)? {
        left = left.saturating_sub(tree.len());
        trees.push(tree);
    }
    match trees.is_empty() {
        true => Err(words.bad(0, "holds no tree", "give a tree such as (a:1,(b:2,c:3):0.5);")),
        false => Ok(trees),
    }
}

#[cfg(test)]
mod tests;
