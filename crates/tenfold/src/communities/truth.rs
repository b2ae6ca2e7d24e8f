//! Known communities, to compare found ones with.
//!
//! | format | told by | what it holds |
//! | --- | --- | --- |
//! | cover | anything else | one community a line: its ids |
//! | nodes | a line for every node | a node a line, then its communities; perhaps a line of names before |
//! | members | a table with columns `community` and `weight` | `id,community,weight`, as [`write_members`] writes it |
//! | table | `.csv`, `.tsv`, `.parquet` | a node a row: an id and attributes; every value of an attribute is a community |
//! | graph | `.gml`, `.graphml`, `.mat` | the attributes of a graph's nodes, likewise |
//!
//! All may be packed by gzip or zstd. Ids are compared as text. Those that are no nodes of the graph are left out and
//! counted, and so are nodes that the truth does not know; where most ids are strangers, the file is refused.
//!
//! [`write_members`]: super::write_members

mod gather;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod table;

use super::data::Ids;
use super::members::Threshold;
use super::read::{self, ReadOptions};
use crate::error::{Error, Result};
use crate::evaluate::Cover;
use crate::input::{Opening, Source};
use gather::Gather;
use std::path::Path;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::Progress;

/// How known communities are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One community a line: its ids.
    Cover,
    /// One node a line, then its communities.
    Nodes,
    /// A table of `id,community,weight`.
    Members,
    /// A table with an id and attributes in every row.
    Table,
    /// The attributes of a graph's nodes.
    Graph,
}

/// How known communities are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The format; `None` tells it by the file's name or its lines.
    pub format: Option<Format>,
    /// The column of a table that holds the ids. `None`: one of a usual name such as `id`, or the first.
    pub id_column: Option<String>,
    /// The attributes to take. Empty: the only one.
    pub attributes: Vec<String>,
    /// Values of attributes that stand for one that is not known, beside the empty one.
    pub missing: Vec<String>,
    /// Fewest known members of a community; smaller ones are left out.
    pub min_size: usize,
    /// The encoding of text, by its name in the Encoding Standard. `None` is UTF-8.
    pub encoding: Option<String>,
    /// Bytes after which unpacking, or standard input, is given up. 16 GiB by default.
    pub max_decompressed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            id_column: None,
            attributes: Vec::new(),
            missing: Vec::new(),
            min_size: 1,
            encoding: None,
            max_decompressed: 16 << 30,
        }
    }
}

/// What to give in place of a file without communities.
const WANTED: &str = "give a file with known communities";

/// Communities as they are known, over the nodes of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    names: Vec<String>,
    /// Node, community and weight, in this order.
    entries: Vec<(u32, u32, f32)>,
    known: Vec<bool>,
    strangers: usize,
    weighted: bool,
    notes: Vec<String>,
    warnings: Vec<String>,
}

impl Truth {
    /// What a program knows: which node is in which community, by their places, and how much of it, where memberships have
    /// weights. Nodes that stand nowhere are not known.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a place outside, a weight that is negative or not finite, or when nothing is known.
    ///
    /// # Example
    /// ```
    /// use tenfold::communities::truth::Truth;
    /// let truth = Truth::new(3, vec!["red".into()], vec![(2, 0, 1.0), (0, 0, 1.0)], false)?;
    /// assert_eq!((truth.k(), truth.unknown()), (1, 1));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn new(
        nodes: usize,
        names: Vec<String>,
        mut entries: Vec<(u32, u32, f32)>,
        weighted: bool,
    ) -> Result<Self> {
        let bad = |value: String, expected: &str| {
            Err(Error::BadParameter { name: "truth".into(), value, expected: expected.into() })
        };
        let wrong = |e: &&(u32, u32, f32)| {
            e.0 as usize >= nodes || e.1 as usize >= names.len() || !(e.2 >= 0.0 && e.2.is_finite())
        };
        if let Some((node, community, weight)) = entries.iter().find(wrong) {
            let value = format!("node {node} in community {community} by {weight}");
            return bad(value, "places of nodes and communities, and weights from 0 on");
        }
        if entries.is_empty() {
            return bad("nothing".into(), "at least one member of a community");
        }
        entries.sort_by_key(|e| (e.0, e.1));
        entries.dedup_by_key(|e| (e.0, e.1));
        let mut known = vec![false; nodes];
        entries.iter().for_each(|e| known[e.0 as usize] = true);
        let (notes, warnings) = (Vec::new(), Vec::new());
        Ok(Self { names, entries, known, strangers: 0, weighted, notes, warnings })
    }

    /// Number of communities.
    pub fn k(&self) -> usize {
        self.names.len()
    }

    /// What the communities are called.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// For each node of the graph whether the truth knows it.
    pub fn known(&self) -> &[bool] {
        &self.known
    }

    /// Nodes of the graph that the truth does not know.
    pub fn unknown(&self) -> usize {
        self.known.iter().filter(|known| !**known).count()
    }

    /// Ids of the truth that are no nodes of the graph.
    pub fn strangers(&self) -> usize {
        self.strangers
    }

    /// Whether memberships have weights of their own; otherwise a node is in a community or not.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// What happened on the way in that the user should know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What may mean that it is the truth of another graph.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Known nodes × communities, numbered anew in their order.
    pub fn memberships(&self) -> Mat {
        let places = self.places();
        let count = self.known.len() - self.unknown();
        let mut out = Mat::zeros(count, self.k());
        for &(node, community, weight) in &self.entries {
            out[(places[node as usize], community as usize)] = f64::from(weight);
        }
        out
    }

    /// The communities over the known nodes. Where memberships have weights, `threshold` says which of them count.
    pub fn cover(&self, threshold: Threshold) -> Cover {
        let places = self.places();
        let count = self.known.len() - self.unknown();
        let mut communities = vec![Vec::new(); self.k()];
        for own in self.entries.chunk_by(|a, b| a.0 == b.0) {
            let place = places[own[0].0 as usize] as u32;
            if !self.weighted {
                own.iter().for_each(|e| communities[e.1 as usize].push(place));
                continue;
            }
            let row: Vec<f32> = own.iter().map(|e| e.2).collect();
            threshold.visit(&row, |i| communities[own[i].1 as usize].push(place));
        }
        Cover::new(count, communities)
    }

    /// The place of every known node among them.
    fn places(&self) -> Vec<usize> {
        let mut next = 0;
        let place = |known: &bool| {
            next += usize::from(*known);
            next.wrapping_sub(1)
        };
        self.known.iter().map(place).collect()
    }
}

/// Reads known communities of the nodes with these ids.
///
/// # Errors
/// A file that is missing, damaged, empty or not what it should be; a column or an attribute that it does not have; ids of
/// which most, or all, are no nodes of the graph.
///
/// # Example
/// ```
/// use tenfold::communities::{Ids, Threshold, truth};
/// use tenfold::engine::progress::Silent;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("truth.txt");
/// std::fs::write(&path, "node group\n1 red\n2 red\n3 blue\n9 blue\n").unwrap();
/// let ids = Ids::from_numbers(vec![1, 2, 3, 4])?;
/// let known = truth::read(&path, &ids, &truth::Options::default(), &Silent)?;
/// assert_eq!((known.names(), known.unknown(), known.strangers()), (&["red".into(), "blue".into()][..], 1, 1));
/// assert_eq!(known.cover(Threshold::HALF).communities(), [vec![0, 1], vec![2]]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read(path: &Path, ids: &Ids, options: &Options, progress: &dyn Progress) -> Result<Truth> {
    let opening = Opening {
        encoding: options.encoding.as_deref(),
        max_decompressed: options.max_decompressed,
        wanted: WANTED,
    };
    let format = options.format.or_else(|| by_name(path));
    if format == Some(Format::Graph) {
        return of_graph(path, ids, options, progress);
    }
    let source = Source::open(path, opening, progress)?;
    let mut gather = Gather::new(source.path(), ids);
    match format {
        Some(Format::Table | Format::Members) => {
            table::read(source, opening, (format == Some(Format::Members), options), &mut gather, progress)?;
        }
        _ => lines::read(&source, format, &mut gather, progress)?,
    }
    gather.finish(options.min_size)
}

/// The format of a file of this name, where the name tells it.
fn by_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    match Path::new(plain).extension()?.to_str()? {
        "csv" | "tsv" | "parquet" => Some(Format::Table),
        "gml" | "graphml" | "mat" => Some(Format::Graph),
        _ => None,
    }
}

/// The attributes of a graph's nodes.
fn of_graph(path: &Path, ids: &Ids, options: &Options, progress: &dyn Progress) -> Result<Truth> {
    let read_options = ReadOptions {
        encoding: options.encoding.clone(),
        max_decompressed: options.max_decompressed,
        ..ReadOptions::default()
    };
    let graph = read::read(path, &read_options, progress)?;
    let names: Vec<&str> = graph.attributes().names().collect();
    // How a node is called says nothing about its communities.
    let usual: Vec<&str> = names.iter().copied().filter(|n| !matches!(*n, "id" | "label" | "name")).collect();
    let chosen = chosen(path, &names, &usual, options)?;
    let mut gather = Gather::new(path, ids);
    for name in &chosen {
        let Some(attribute) = graph.attributes().get(name) else { continue };
        for (node, value) in attribute.iter() {
            let value = value.trim();
            if is_known(value, options) {
                gather.member(&graph.ids().get(node), &community(name, value, chosen.len()), None);
            }
        }
    }
    gather.note(told(&chosen));
    gather.finish(options.min_size)
}

/// The attributes that were asked for, or the only one.
fn chosen(path: &Path, names: &[&str], usual: &[&str], options: &Options) -> Result<Vec<String>> {
    let fail = |problem: String, remedy: &str| {
        Err(Error::Read { path: path.to_owned(), line: None, problem, remedy: remedy.into() })
    };
    let held = usual.iter().take(20).map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ");
    if let Some(wanted) = options.attributes.iter().find(|wanted| !names.contains(&wanted.as_str())) {
        return fail(
            format!("has no attribute {wanted:?}; there are {held}"),
            "name another with --attribute",
        );
    }
    match (options.attributes.is_empty(), usual) {
        (false, _) => Ok(options.attributes.clone()),
        (true, [one]) => Ok(vec![(*one).to_owned()]),
        (true, []) => {
            fail("holds no attributes of nodes".into(), "give a file that says what communities they are in")
        }
        (true, _) => {
            fail(format!("has the attributes {held}"), "say with --attribute which of them are communities")
        }
    }
}

/// Whether a value says something.
fn is_known(value: &str, options: &Options) -> bool {
    !value.is_empty() && !options.missing.iter().any(|missing| missing == value)
}

/// What the nodes with a value of an attribute are called together.
fn community(attribute: &str, value: &str, attributes: usize) -> String {
    if attributes == 1 { value.to_owned() } else { format!("{attribute}={value}") }
}

fn told(chosen: &[String]) -> String {
    format!("communities are the values of {}", chosen.join(", "))
}

#[cfg(test)]
mod tests;
