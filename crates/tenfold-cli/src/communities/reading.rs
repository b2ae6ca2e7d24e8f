//! How a graph is read.

use crate::common::{Header, Session};
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::path::Path;
use tenfold::communities::read::{self, Format, PairList, ReadOptions};
use tenfold::communities::{Graph, Kind, Model};

/// Where edges stand in a file.
#[derive(Args)]
#[command(next_help_heading = "Reading the graph")]
pub struct ReadArgs {
    /// What the file is, where neither its name nor its first lines tell
    #[arg(long, value_name = "NAME")]
    format: Option<FormatName>,
    /// The column where edges begin, by name or by number from 1
    #[arg(long, value_name = "COLUMN")]
    from: Option<String>,
    /// The column where edges end
    #[arg(long, value_name = "COLUMN")]
    to: Option<String>,
    /// The column of the weights; in GML and GraphML the attribute
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Whether the first line of a list or a table holds names
    #[arg(long, value_name = "WHEN", default_value = "guess")]
    header: Header,
    /// The matrix of a Matlab file [default: the only sparse one, or A]
    #[arg(long, value_name = "NAME")]
    matrix: Option<String>,
    /// How the letters of a text are stored: utf-8, latin1, windows-1252, ...
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
}

/// What edges are; told by the file or guessed when not given.
#[derive(Args)]
#[command(next_help_heading = "Kind of the graph")]
pub struct KindArgs {
    /// Edges go from one node to another
    #[arg(long, conflicts_with_all = ["undirected", "bipartite"])]
    directed: bool,
    /// Edges join two nodes, neither of them first
    #[arg(long, conflicts_with = "bipartite")]
    undirected: bool,
    /// Edges join a node of the left column with one of the right, such as users with items
    #[arg(long)]
    bipartite: bool,
    /// Edges have weights; without a column of them, an edge weighs as often as it is given
    #[arg(long, conflicts_with = "unweighted")]
    weighted: bool,
    /// Every edge counts 1, whatever the file says
    #[arg(long, conflicts_with = "weight")]
    unweighted: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    /// An edge a line, as SNAP and KONECT write them
    Edges,
    Csv,
    Tsv,
    Parquet,
    /// MatrixMarket
    Mtx,
    Gml,
    Graphml,
    /// Matlab 5 to 7
    Mat,
}

impl FormatName {
    fn format(self) -> Format {
        match self {
            Self::Edges => Format::Edges,
            Self::Csv => Format::Csv,
            Self::Tsv => Format::Tsv,
            Self::Parquet => Format::Parquet,
            Self::Mtx => Format::MatrixMarket,
            Self::Gml => Format::Gml,
            Self::Graphml => Format::GraphMl,
            Self::Mat => Format::Mat,
        }
    }
}

impl KindArgs {
    /// What is said about the edges.
    fn kind(&self) -> Option<Kind> {
        let said = [
            (self.directed, Kind::Directed),
            (self.undirected, Kind::Undirected),
            (self.bipartite, Kind::Bipartite),
        ];
        said.into_iter().find(|(given, _)| *given).map(|(_, kind)| kind)
    }

    fn weighted(&self) -> Option<bool> {
        (self.weighted || self.unweighted).then_some(self.weighted)
    }
}

impl ReadArgs {
    fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.map(FormatName::format),
            from: self.from.clone(),
            to: self.to.clone(),
            weight: self.weight.clone(),
            header: self.header.known(),
            matrix: self.matrix.clone(),
            encoding: self.encoding.clone(),
            ..ReadOptions::default()
        }
    }

    /// Reads a graph and says what it is. What the reader did stands in the verdict of the fit.
    pub fn graph(&self, path: &Path, kind: &KindArgs, session: &Session) -> Result<Graph> {
        self.read(
            path,
            ReadOptions { kind: kind.kind(), weighted: kind.weighted(), ..self.options() },
            session,
        )
    }

    /// Reads edges as a graph of a kind that is known.
    pub fn graph_of(&self, path: &Path, kind: Kind, session: &Session) -> Result<Graph> {
        self.read(path, ReadOptions { kind: Some(kind), ..self.options() }, session)
    }

    /// Reads the graph of a model, or another of its kind.
    pub fn graph_like(&self, path: &Path, model: &Model, session: &Session) -> Result<Graph> {
        let (kind, weighted) = (Some(model.kind()), Some(model.weighted()));
        self.read(path, ReadOptions { kind, weighted, ..self.options() }, session)
    }

    fn read(&self, path: &Path, mut options: ReadOptions, session: &Session) -> Result<Graph> {
        session.bound(&mut options.max_decompressed);
        let graph = session.watch.during(|watch| read::read(path, &options, watch))?;
        session.note(&format!("{}: {}", shown(path), describe(&graph)));
        Ok(graph)
    }

    /// Reads pairs of ids in their order.
    pub fn pairs(&self, path: &Path, session: &Session) -> Result<PairList> {
        let mut options = ReadOptions { weighted: Some(false), ..self.options() };
        session.bound(&mut options.max_decompressed);
        Ok(session.watch.during(|watch| read::read_pairs(path, &options, watch))?)
    }
}

/// A path for people.
pub fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}

fn describe(graph: &Graph) -> String {
    let nodes = match graph.kind() {
        Kind::Bipartite => format!("{} + {} nodes", graph.nodes(), graph.others()),
        _ => format!("{} nodes", graph.nodes()),
    };
    let weights = if graph.weighted() { ", weighted" } else { "" };
    format!("{nodes}, {} edges, {}{weights}", graph.edges(), graph.kind())
}
