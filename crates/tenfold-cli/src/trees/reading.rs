//! How variables are read.

use crate::common::{Header, Session, parse_count};
use crate::memory::MemoryArgs;
use anyhow::Result;
use clap::Args;
use std::path::{Path, PathBuf};
use tenfold::trees::Model;
use tenfold::trees::read::{ColumnKind, Format, Input, Options, open};

/// Memory for events where no bound is given.
const USUAL: u64 = 4 << 30;

/// How data are read, the same for every subcommand.
#[derive(Args)]
#[command(next_help_heading = "Reading the data")]
pub struct ReadArgs {
    /// csv, tsv, parquet, arrow, events, fasta or phylip [default: by name and content]
    #[arg(long, value_name = "NAME", value_parser = parse_format)]
    format: Option<Format>,
    /// Every line is a sample and a code; the same as --format events
    #[arg(long, conflicts_with = "format")]
    events: bool,
    /// What a column is: category, binary, real or counts; as often as needed
    #[arg(long = "kind", value_name = "COLUMN=KIND", value_parser = parse_kind)]
    kinds: Vec<(String, ColumnKind)>,
    /// Columns that are one variable together; as often as needed
    #[arg(long = "vector", value_name = "NAME=A,B,C", value_parser = parse_vector)]
    vectors: Vec<(String, Vec<String>)>,
    /// Columns to leave out
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    ids: Vec<String>,
    /// The column of the samples in an event table
    #[arg(long, value_name = "COLUMN")]
    sample: Option<String>,
    /// The column of the codes in an event table
    #[arg(long, value_name = "COLUMN")]
    code: Option<String>,
    /// A table of code and group: codes of a group become one variable
    #[arg(long, value_name = "MAP")]
    groups: Option<PathBuf>,
    /// A table of what groups are; variables are then called by it too
    #[arg(long, value_name = "TABLE", requires = "groups")]
    descriptions: Option<PathBuf>,
    /// How often a code appears in a sample matters, not only whether
    #[arg(long)]
    counts: bool,
    /// Codes of a group with a number of their own; the others are pooled
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = parse_count)]
    max_codes: usize,
    /// Samples that must have a code [default: a tenth of the root of their number, at least 5]
    #[arg(long, value_name = "N")]
    min_count: Option<u64>,
    /// Whether the first line of a table holds names
    #[arg(long, value_name = "WHEN", default_value = "guess")]
    header: Header,
    /// The encoding of text that is not UTF-8, such as latin1
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    #[command(flatten)]
    pub memory: MemoryArgs,
}

impl ReadArgs {
    fn options(&self) -> Options {
        Options {
            format: if self.events { Some(Format::Events) } else { self.format },
            header: self.header.known(),
            kinds: self.kinds.iter().cloned().collect(),
            vectors: self.vectors.clone(),
            ids: self.ids.clone(),
            sample: self.sample.clone(),
            code: self.code.clone(),
            groups: self.groups.clone(),
            descriptions: self.descriptions.clone(),
            counts: self.counts,
            max_codes: self.max_codes,
            min_count: self.min_count,
            encoding: self.encoding.clone(),
            memory: self.memory.for_data(USUAL),
            ..Options::default()
        }
    }

    /// All files that are read.
    pub fn inputs<'a>(&'a self, input: &'a Path) -> Vec<&'a Path> {
        std::iter::once(input)
            .chain([&self.groups, &self.descriptions].into_iter().flatten().map(PathBuf::as_path))
            .collect()
    }

    /// Reads the data and says what was guessed.
    pub fn open(&self, path: &Path, session: &Session) -> Result<Input> {
        let mut options = self.options();
        session.bound(&mut options.max_decompressed);
        session.bound(&mut options.max_decompressed_groups);
        let input = session.watch.during(|watch| open(path, &options, watch))?;
        input.notes.iter().for_each(|note| session.note(note));
        session.note(&format!(
            "{} samples of {} variables",
            input.table.samples(),
            input.table.variables().len()
        ));
        Ok(input)
    }

    /// Reads data as samples of a model's variables, and says what did not fit.
    pub fn open_like(&self, path: &Path, model: &Model, session: &Session) -> Result<Input> {
        let mut options = Options { like: model.variables().to_vec(), ..self.options() };
        session.bound(&mut options.max_decompressed);
        session.bound(&mut options.max_decompressed_groups);
        let input = session.watch.during(|watch| open(path, &options, watch))?;
        input.notes.iter().for_each(|note| session.note(note));
        Ok(input)
    }
}

fn parse_format(text: &str) -> Result<Format, String> {
    text.parse().map_err(|e: tenfold::Error| e.to_string())
}

fn parse_kind(text: &str) -> Result<(String, ColumnKind), String> {
    let (name, kind) = text.split_once('=').ok_or("a column and its kind such as age=real are needed")?;
    Ok((name.to_owned(), kind.parse().map_err(|e: tenfold::Error| e.to_string())?))
}

fn parse_vector(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, parts) = text.split_once('=').ok_or("a name and columns such as place=x,y are needed")?;
    Ok((name.to_owned(), parts.split(',').map(str::to_owned).collect()))
}
