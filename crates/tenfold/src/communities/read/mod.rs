//! Graphs from files.
//!
//! | format | told by | edges |
//! | --- | --- | --- |
//! | a list of edges | `.edges`, `.txt`, anything else | a line each: two ids, perhaps a weight; comments begin with `#` or `%` |
//! | CSV, TSV | `.csv`, `.tsv` | a row each, by the columns' names or the first two |
//! | Parquet | `.parquet`, its first bytes | the same |
//! | MatrixMarket | `.mtx`, its first line | a place of the matrix each |
//! | GML, GraphML | `.gml`, `.graphml`, their first lines | nodes with attributes, and edges |
//! | Matlab 5 to 7 | `.mat`, its first bytes | places of a sparse matrix, attributes from `local_info` |
//!
//! All may be packed by gzip or zstd, and `-` is standard input. Nodes that are called by numbers come in ascending order,
//! others as they appear. What is read is checked against what its header promises before memory is set aside.

mod columns;
mod edges;
mod format;
mod gml;
mod graphml;
mod head;
mod lines;
mod market;
mod mat;
mod named;
mod nodes;
#[cfg(feature = "parquet")]
mod parquet;
mod table;

pub use format::Format;

use super::data::{Gathered, Graph, Ids, Kind, Wanted};
use crate::error::{Error, Result};
use crate::input::{Opening, Source};
use std::path::{Path, PathBuf};
use tenfold_engine::progress::Progress;

/// How a graph is read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The format; `None` tells it by the file's name or its first lines.
    pub format: Option<Format>,
    /// The kind of graph; `None` asks the file, or its edges.
    pub kind: Option<Kind>,
    /// Whether edges have weights. `None` looks. `Some(true)` without any in the file: an edge weighs as often as it is
    /// given.
    pub weighted: Option<bool>,
    /// The column where edges begin, by name or by number from 1. `None`: one of a usual name such as `source`, or the
    /// first.
    pub from: Option<String>,
    /// The column where edges end. `None`: one of a usual name such as `target`, or the second.
    pub to: Option<String>,
    /// The column of the weights, or the attribute of edges in GML and GraphML. `None`: one of a usual name such as
    /// `weight`.
    pub weight: Option<String>,
    /// Whether the first line of a list or a table holds the columns' names. `None` looks.
    pub header: Option<bool>,
    /// The matrix of a Matlab file. `None`: the only sparse one, or `A`.
    pub matrix: Option<String>,
    /// The encoding of text, by its name in the Encoding Standard. `None` is UTF-8.
    pub encoding: Option<String>,
    /// Bytes after which unpacking, or standard input, is given up. 16 GiB by default.
    pub max_decompressed: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            kind: None,
            weighted: None,
            from: None,
            to: None,
            weight: None,
            header: None,
            matrix: None,
            encoding: None,
            max_decompressed: 16 << 30,
        }
    }
}

/// What to give in place of a file without edges.
const WANTED: &str = "give a file with at least one edge";

impl ReadOptions {
    /// How a file is opened.
    fn opening(&self) -> Opening<'_> {
        let wanted = WANTED;
        Opening { encoding: self.encoding.as_deref(), max_decompressed: self.max_decompressed, wanted }
    }

    /// Refuses what was asked for and would be passed over.
    fn refuse_unused(&self, format: Format) -> Result<()> {
        let is_lines = matches!(format, Format::Edges | Format::Csv | Format::Tsv);
        let is_table = is_lines || format == Format::Parquet;
        let has_attributes = matches!(format, Format::Gml | Format::GraphMl);
        let unused = [
            ("--from", self.from.is_some() && !is_table),
            ("--to", self.to.is_some() && !is_table),
            ("--weight", self.weight.is_some() && !is_table && !has_attributes),
            ("--header", self.header.is_some() && !is_lines),
            ("--matrix", self.matrix.is_some() && format != Format::Mat),
            ("--encoding", self.encoding.is_some() && matches!(format, Format::Parquet | Format::Mat)),
        ];
        if let Some((choice, _)) = unused.into_iter().find(|(_, unused)| *unused) {
            return Err(Error::Unused { choice, with: format.describe().into() });
        }
        match self.weight.is_some() && self.weighted == Some(false) {
            true => Err(Error::Unused { choice: "--weight", with: "--unweighted".into() }),
            false => Ok(()),
        }
    }
}

/// Reads a graph. What the reader did that its user should know stands in [`Graph::notes`].
///
/// Edges that are given again are merged, their weights added up; edges from a node to itself are dropped; nodes without
/// edges stay where the file names them. All of it is counted. The kind and the weights, where neither the options nor the
/// file say them, are guessed, and the guess is told with its reason.
///
/// # Complexity
/// One pass over a list of edges, in parallel, then a counting sort of the edges. Beyond the graph it holds the edges about
/// three times, eight bytes each.
///
/// # Errors
/// An option that means nothing with the format; a file that is missing, damaged, empty, not what its header promises or not UTF-8; a line without two ids; weights that
/// are negative or not finite; ids beyond 2⁶⁴. All name the file, and the line where there is one.
///
/// # Example
/// ```
/// use tenfold::communities::read::{ReadOptions, read};
/// use tenfold::communities::Kind;
/// use tenfold::engine::progress::Silent;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("friends.txt");
/// std::fs::write(&path, "# who knows whom\n7\t3\n3\t12\n12\t7\n7\t3\n").unwrap();
/// let graph = read(&path, &ReadOptions::default(), &Silent)?;
/// assert_eq!((graph.kind(), graph.nodes(), graph.edges()), (Kind::Undirected, 3, 3));
/// assert_eq!(graph.ids().iter().collect::<Vec<_>>(), ["3", "7", "12"]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Graph> {
    let (gathered, format, how, path) = gather(path, options, progress)?;
    progress.stage("arranging the edges", 0);
    progress.check()?;
    let mut graph = finish(&path, gathered, options)?;
    graph.note(format!("read as {}, told {how}", format.describe()));
    Ok(graph)
}

/// Pairs of ids in the order of a file, each as often as it stands there.
#[derive(Debug, Clone)]
pub struct PairList {
    from: Ids,
    to: Option<Ids>,
    pairs: Vec<(u32, u32)>,
}

impl PairList {
    /// The ids that stand first, and perhaps others.
    pub fn from(&self) -> &Ids {
        &self.from
    }

    /// The ids that stand second, and perhaps others.
    pub fn to(&self) -> &Ids {
        self.to.as_ref().unwrap_or(&self.from)
    }

    /// The pairs, by the places of their ids.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }
}

/// Reads pairs of ids, in any format of [`read`]. Nothing is merged or dropped.
///
/// # Errors
/// As [`read`].
///
/// # Example
/// ```
/// use tenfold::communities::read::{ReadOptions, read_pairs};
/// use tenfold::engine::progress::Silent;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("pairs.txt");
/// std::fs::write(&path, "ann bob\nbob ann\nann bob\n").unwrap();
/// let list = read_pairs(&path, &ReadOptions::default(), &Silent)?;
/// assert_eq!(list.pairs(), [(0, 1), (1, 0), (0, 1)]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read_pairs(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<PairList> {
    let (gathered, ..) = gather(path, options, progress)?;
    Ok(PairList { from: gathered.ids, to: gathered.others, pairs: gathered.edges.concat() })
}

/// The edges of a file as they stand there, its format and how that was told, and what the file is called.
fn gather(
    path: &Path,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<(Gathered, Format, &'static str, PathBuf)> {
    let source = Source::open(path, options.opening(), progress)?;
    let (format, how) = match options.format {
        Some(format) => (format, "as was said"),
        None => Format::tell(&source),
    };
    options.refuse_unused(format)?;
    let path = source.path().to_owned();
    let gathered = match format {
        Format::Edges | Format::Csv | Format::Tsv => edges::read(&source, format, options, progress),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(source, options, progress),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            Err(fail(&path, "this build was made without the feature `parquet`".into(), "convert it to CSV"))
        }
        Format::MatrixMarket => market::read(&source, options, progress),
        Format::Gml => gml::read(&source, options, progress),
        Format::GraphMl => graphml::read(&source, options, progress),
        Format::Mat => mat::read(&source, options, progress),
    }?;
    if gathered.edges.iter().all(Vec::is_empty) {
        return Err(fail(&path, "holds no edges".into(), WANTED));
    }
    Ok((gathered, format, how, path))
}

/// Makes the graph; what is wrong with it is said of the file.
fn finish(path: &Path, gathered: Gathered, options: &ReadOptions) -> Result<Graph> {
    let wanted = Wanted { kind: options.kind, weighted: options.weighted };
    gathered.finish(wanted).map_err(|error| match error {
        Error::Engine(tenfold_engine::Error::TooLittleData(_)) => {
            fail(path, "holds no edges between different nodes".into(), WANTED)
        }
        Error::BadParameter { name, value, expected } if name == "kind" => fail(
            path,
            format!("cannot be read as {value}: that takes {expected}"),
            "choose another kind of graph",
        ),
        other => other,
    })
}

/// An error about a file as a whole.
fn fail(path: &Path, problem: String, remedy: &str) -> Error {
    Error::Read { path: path.to_owned(), line: None, problem, remedy: remedy.into() }
}
