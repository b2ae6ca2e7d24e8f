//! Observed variables from files.
//!
//! | format | told by | variables | samples |
//! | --- | --- | --- | --- |
//! | CSV, TSV, Parquet, Arrow | `.csv`, `.tsv`, `.parquet`, `.arrow` (`.feather`, `.ipc`), their first bytes | columns | rows |
//! | events | columns such as `patient` and `code` in the same | codes, or groups of codes | patients |
//! | FASTA, PHYLIP | `.fasta`, `.phy`, their first lines | taxa | sites |
//!
//! A table is taken for one of events when its columns have usual names, and there are three at most or samples come again among its
//! first rows; with four columns or more of Parquet or Arrow it must be said. Text may be packed by gzip or zstd, and `-` is standard input. What is guessed or left out stands in [`Input::notes`].

mod align;
#[cfg(feature = "arrow")]
mod arrow;
mod columns;
mod events;
mod fasta;
mod fields;
mod format;
mod groups;
mod interner;
mod lines;
mod map;
#[cfg(feature = "parquet")]
mod parquet;
mod phylip;
mod samples;
mod table;
mod variables;

pub use format::Format;
pub use samples::Samples;

use crate::error::{Error, Result};
use crate::input::{Opening, Source};
use crate::trees::data::{Kind, Table, Variable};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tenfold_engine::progress::Progress;

/// What to give in place of a file without data.
const WANTED: &str = "give a file with at least one sample";

/// What a column is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// One of several levels.
    Category,
    /// One of two levels; of a vector, flags.
    Binary,
    /// A real number.
    Real,
    /// A count.
    Counts,
}

impl FromStr for ColumnKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "category" => Ok(Self::Category),
            "binary" => Ok(Self::Binary),
            "real" => Ok(Self::Real),
            "counts" => Ok(Self::Counts),
            _ => Err(Error::BadParameter {
                name: "kind".into(),
                value: name.into(),
                expected: "category, binary, real or counts".into(),
            }),
        }
    }
}

/// How variables are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The format; `None` tells it by the file's name, its first lines, or the names of its columns.
    pub format: Option<Format>,
    /// Whether the first line of a table holds the columns' names. `None` looks.
    pub header: Option<bool>,
    /// What columns and vectors are, by name, where it is not to be guessed.
    pub kinds: BTreeMap<String, ColumnKind>,
    /// Columns that are one variable together: its name, and their names.
    pub vectors: Vec<(String, Vec<String>)>,
    /// Columns to leave out; the first of them names the samples.
    pub ids: Vec<String>,
    /// Whole numbers with no more different values than this are a category. 20 by default.
    pub max_levels: usize,
    /// The column of the samples in a table of events, by name or number. `None`: one of a usual name such as `patient`.
    pub sample: Option<String>,
    /// The column of the codes. `None`: one of a usual name such as `code`.
    pub code: Option<String>,
    /// A table that maps codes to groups. A group is then a variable, otherwise every code is.
    pub groups: Option<PathBuf>,
    /// A table of what groups are.
    pub descriptions: Option<PathBuf>,
    /// Whether a code with several groups goes to the one with the shortest name, rather than to the one with the longest.
    pub broad_groups: bool,
    /// Whether it matters how often a code appears in a sample, rather than whether.
    pub counts: bool,
    /// Codes of a group that have a number of their own; the others are pooled. 32 by default.
    pub max_codes: usize,
    /// Samples that must have a code. `None`: √samples / 10, and at least 5.
    pub min_count: Option<u64>,
    /// The variables of a model. When there are any, the file is read as samples of these: a column is what it was in the fit, also
    /// where it holds one value only, no code is too rare, and what the model does not know is left out.
    pub like: Vec<Variable>,
    /// The encoding of text, by its name in the Encoding Standard. `None` is UTF-8.
    pub encoding: Option<String>,
    /// Bytes of memory for events, at 16 bytes each. 4 GiB by default.
    pub memory: u64,
    /// Bytes after which unpacking, or standard input, is given up. 16 GiB by default.
    pub max_decompressed: u64,
    /// The same for each of the tables of groups and their descriptions, which are held in memory. 1 GiB by default.
    pub max_decompressed_groups: u64,
}

/// Bytes that a table of groups may unpack to: that of the longest classification of diseases has some megabytes.
const GROUPS: u64 = 1 << 30;

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            header: None,
            kinds: BTreeMap::new(),
            vectors: Vec::new(),
            ids: Vec::new(),
            max_levels: 20,
            sample: None,
            code: None,
            groups: None,
            descriptions: None,
            broad_groups: false,
            counts: false,
            max_codes: 32,
            min_count: None,
            like: Vec::new(),
            encoding: None,
            memory: 4 << 30,
            max_decompressed: 16 << 30,
            max_decompressed_groups: GROUPS,
        }
    }
}

impl Options {
    fn opening(&self) -> Opening<'_> {
        Opening {
            encoding: self.encoding.as_deref(),
            max_decompressed: self.max_decompressed,
            wanted: WANTED,
        }
    }

    /// Whether something was said that only events have.
    fn asks_for_events(&self) -> bool {
        self.sample.is_some()
            || self.code.is_some()
            || self.groups.is_some()
            || self.counts
            || self.min_count.is_some()
    }

    /// What a column is said to be, or was in the fit of a model.
    fn kind_of(&self, name: &str) -> Option<ColumnKind> {
        let known = self.like.iter().find(|v| match v.kind {
            Kind::Category => v.name == name,
            Kind::Real | Kind::Counts | Kind::Flags => v.labels.iter().any(|label| label == name),
        });
        let was = known.and_then(|v| match v.kind {
            Kind::Category => Some(ColumnKind::Category),
            Kind::Real => Some(ColumnKind::Real),
            Kind::Counts => Some(ColumnKind::Counts),
            Kind::Flags => None,
        });
        was.or_else(|| self.kinds.get(name).copied())
    }

    /// Samples that must have a code, of so many.
    fn least(&self, samples: usize) -> u64 {
        // Every entry of a correlation rests on the samples with a code; the square root lets the bound grow slowly with the data.
        let usual = 5.max((samples as f64).sqrt() as u64 / 10);
        if self.like.is_empty() { self.min_count.unwrap_or(usual) } else { 1 }
    }

    /// Codes of a group that have a number of their own.
    fn widest(&self) -> usize {
        if self.like.is_empty() { self.max_codes } else { usize::MAX }
    }

    /// Whether it matters how often a code appears.
    fn counted(&self) -> bool {
        self.counts || self.like.iter().any(|variable| variable.kind == Kind::Counts)
    }

    /// Whether a table with typed columns of these names holds events.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    fn means_events(&self, names: &[String]) -> bool {
        let guessed = self.format.is_none() && !self.asks_for_table() && names.len() <= 3;
        self.format == Some(Format::Events)
            || self.asks_for_events()
            || guessed && fields::Fields::are_usual(names)
    }

    /// Whether something was said that only tables with a sample a row have.
    fn asks_for_table(&self) -> bool {
        !self.kinds.is_empty() || !self.vectors.is_empty() || !self.ids.is_empty()
    }

    /// Refuses what was asked for and would be passed over.
    fn refuse_unused(&self, format: Format) -> Result<()> {
        let events = format == Format::Events;
        let table = matches!(format, Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow);
        let unused = [
            ("--kind", !self.kinds.is_empty() && !table),
            ("--vector", !self.vectors.is_empty() && !table),
            ("--ids", !self.ids.is_empty() && !table),
            (
                "--header",
                self.header.is_some() && !matches!(format, Format::Csv | Format::Tsv | Format::Events),
            ),
            ("--sample", self.sample.is_some() && !events),
            ("--code", self.code.is_some() && !events),
            ("--groups", self.groups.is_some() && !events),
            ("--counts", self.counts && !events),
            ("--min-count", self.min_count.is_some() && !events),
            ("--encoding", self.encoding.is_some() && matches!(format, Format::Parquet | Format::Arrow)),
        ];
        if let Some((choice, _)) = unused.into_iter().find(|(_, unused)| *unused) {
            return Err(Error::Unused { choice, with: format.describe().into() });
        }
        let alone = [("--descriptions", self.descriptions.is_some()), ("--broad", self.broad_groups)];
        match alone.into_iter().find(|(_, given)| *given && self.groups.is_none()) {
            Some((choice, _)) => Err(Error::Unused { choice, with: "codes without --groups".into() }),
            None if self.max_codes == 0 => Err(Error::BadParameter {
                name: "max-codes".into(),
                value: "0".into(),
                expected: "at least 1".into(),
            }),
            None => Ok(()),
        }
    }
}

/// Samples of variables, and what their reader did.
#[derive(Debug, Clone)]
pub struct Input {
    /// The samples.
    pub table: Table,
    /// What was guessed, dropped and counted, for people.
    pub notes: Vec<String>,
    /// What every variable is.
    pub groups: Vec<String>,
    /// What the samples are called.
    pub samples: Samples,
    /// What the file was read as.
    pub format: Format,
}

/// Reads variables and their samples.
///
/// Columns are guessed to be categories (text, or whole numbers with few values), binary or real. Missing are empty cells, `NA`,
/// `nan`, `null` and `?`. The reference level of a category is its most frequent one, the others follow by frequency. Columns with
/// one value, and text that looks like ids, are left out. All of that is told in the notes.
///
/// # Complexity
/// One pass over the file. Events are parsed in parallel and held at 16 bytes each; cells of other tables take up to 10 bytes.
///
/// # Errors
/// An option that means nothing with the format; a file that is missing, damaged, empty, not what its header promises or not UTF-8;
/// rows of different lengths; sequences that are not aligned; a map without the codes of the events. All name the file, the line
/// where there is one, and a remedy.
///
/// # Example
/// ```
/// use tenfold::engine::progress::Silent;
/// use tenfold::trees::read::{Options, open};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "smokes,weight\nno,61.5\nyes,80\nno,\nno,75.2\n").unwrap();
/// let input = open(&path, &Options::default(), &Silent)?;
/// assert_eq!(input.table.variables()[0].labels, ["no", "yes"]);
/// assert_eq!(input.table.row(1).values, [1.0, 80.0]);
/// assert_eq!(input.table.row(2).missing, [1]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn open(path: &Path, options: &Options, progress: &dyn Progress) -> Result<Input> {
    let mut input = open_as_is(path, options, progress)?;
    if !options.like.is_empty() {
        let events = input.format == Format::Events;
        let conformed = input.table.conform(&options.like, events).map_err(|e| match e {
            Error::Unfit { problem, remedy } => fail(path, None, problem, &remedy),
            other => other,
        })?;
        input.table = conformed.table;
        input.notes.extend(conformed.notes);
        input.groups = options.like.iter().map(|variable| variable.name.clone()).collect();
    }
    Ok(input)
}

fn open_as_is(path: &Path, options: &Options, progress: &dyn Progress) -> Result<Input> {
    let source = Source::open(path, options.opening(), progress)?;
    let (format, how) = match options.format {
        Some(Format::Events) => (Format::tell(&source).map_or(Format::Csv, |told| told.0), "as was said"),
        Some(format) => (format, "as was said"),
        None => Format::tell(&source)?,
    };
    if matches!(format, Format::Parquet | Format::Arrow) {
        return typed_table(source, format, options, progress).map(|mut input| {
            input.notes.insert(0, format!("read as {}, told {how}", input.format.describe()));
            input
        });
    }
    let is_events = match options.format {
        Some(format) => format == Format::Events,
        None => {
            matches!(format, Format::Csv | Format::Tsv)
                && (options.asks_for_events()
                    || !options.asks_for_table() && events::begins_like_events(&source, format))
        }
    };
    let by_columns = is_events && options.format.is_none();
    let how = if by_columns { "by its columns or the options" } else { how };
    let read_as = if is_events { Format::Events } else { format };
    options.refuse_unused(read_as)?;
    let mut input = match read_as {
        Format::Events => events::read(
            &source,
            if format == Format::Tsv { format } else { Format::Events },
            options,
            progress,
        ),
        Format::Fasta => fasta::read(&source, options, progress),
        Format::Phylip => phylip::read(&source, options, progress),
        _ => table::read(&source, format, options, progress),
    }?;
    input.notes.insert(0, format!("read as {}, told {how}", read_as.describe()));
    input.format = read_as;
    Ok(input)
}

/// The group of every name by a table of two columns, name and group; `None` for names that it does not have. A packed table is given
/// up after `max_decompressed` bytes, 1 GiB where `None`.
///
/// # Errors
/// When the table cannot be read.
pub fn groups_of(
    path: &Path,
    names: &[String],
    max_decompressed: Option<u64>,
    progress: &dyn Progress,
) -> Result<Vec<Option<String>>> {
    let max_decompressed_groups = max_decompressed.unwrap_or(GROUPS);
    let groups = map::read(path, &Options { max_decompressed_groups, ..Options::default() }, progress)?;
    // A variable may be called by its code and what that is.
    let code = |name: &String| name.split_once(' ').and_then(|(code, _)| groups.find(code));
    let group = |name: &String| {
        groups.find(name).or_else(|| code(name)).map(|(_, group)| groups.names[group as usize].clone())
    };
    Ok(names.iter().map(group).collect())
}

/// A table whose columns have types.
fn typed_table(source: Source, format: Format, options: &Options, progress: &dyn Progress) -> Result<Input> {
    let events = options.format == Some(Format::Events) || options.asks_for_events();
    options.refuse_unused(if events { Format::Events } else { format })?;
    let (mut input, format) = match format {
        #[cfg(feature = "arrow")]
        Format::Arrow => arrow::read(source, options, progress)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(source, options, progress)?,
        _ => {
            let problem = format!("this build was made without the feature `{format}`");
            return Err(source.fail(None, problem, "convert it to CSV"));
        }
    };
    options.refuse_unused(format)?;
    input.format = format;
    Ok(input)
}

/// An error about a file.
fn fail(path: &Path, line: Option<u64>, problem: String, remedy: &str) -> Error {
    Error::Read { path: path.to_owned(), line, problem, remedy: remedy.into() }
}

/// The first of some names, for messages.
fn listed(names: &[impl AsRef<str>]) -> String {
    let first: Vec<String> = names
        .iter()
        .take(12)
        .map(|n| format!("{:?}", n.as_ref().chars().take(40).collect::<String>()))
        .collect();
    first.join(", ") + if names.len() > 12 { ", …" } else { "" }
}

#[cfg(test)]
mod tests;
