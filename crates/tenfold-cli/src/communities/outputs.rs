//! Files beside the model.

use super::{SideName, ThresholdArgs};
use crate::common::Session;
use crate::exit;
use crate::files::{self, Bundle};
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tenfold::communities::{
    Graph, Ids, Kind, Members, Model, Side, check_cover_ids, check_members_path, write_connectivity,
    write_cover, write_gexf, write_gml, write_members,
};

/// What is written of a model for other programs.
#[derive(Args)]
#[command(next_help_heading = "Files for other programs")]
pub struct OutputArgs {
    /// Members as a table id,community,weight: .csv, .tsv or .parquet
    #[arg(long, value_name = "OUT")]
    members: Option<PathBuf>,
    /// Communities as lists, one a line, ids separated by tabs
    #[arg(long, value_name = "OUT")]
    covers: Option<PathBuf>,
    /// The graph with communities, as GML
    #[arg(long, value_name = "OUT.gml")]
    gml: Option<PathBuf>,
    /// The graph with communities, as GEXF for Gephi
    #[arg(long, value_name = "OUT.gexf")]
    gexf: Option<PathBuf>,
    /// How often communities are joined, k × k: .csv, .tsv, .parquet or .npy
    #[arg(long, value_name = "OUT")]
    connectivity: Option<PathBuf>,
    #[command(flatten)]
    threshold: ThresholdArgs,
    /// Side of the edges that --members and --covers tell of [default: both of a directed graph, from of a bipartite one]
    #[arg(long, value_name = "SIDE")]
    side: Option<SideName>,
}

impl OutputArgs {
    /// Checks, before any work, that all files can be written and none is in the way of another.
    pub fn check(&self, taken: &[&Path]) -> Result<()> {
        if let Some(path) = &self.members {
            check_members_path(path)?;
        }
        if let Some(path) = &self.connectivity {
            tenfold::output::check_table_path(path)?;
        }
        let table = |path: &&PathBuf| {
            path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv") || e.eq_ignore_ascii_case("tsv"))
        };
        if let Some(path) = self.covers.as_ref().filter(table) {
            // Spreadsheets would take ids for formulas, which lists for other programs must hold as they are.
            return Err(exit::usage(format!(
                "--covers writes a line of ids for every community, which is no table; name it .txt instead of {}, or ask for --members",
                path.display()
            )));
        }
        let lists = self.members.is_some() || self.covers.is_some();
        for (option, given) in
            [("--side", self.side.is_some()), ("--threshold", self.threshold.threshold.is_some())]
        {
            if given && !lists {
                return Err(exit::usage(format!(
                    "{option} means nothing without --members or --covers; leave it out"
                )));
            }
        }
        let mut taken = taken.to_vec();
        for path in self.files() {
            files::check_output(path, &taken)?;
            taken.push(path);
        }
        Ok(())
    }

    /// The files that are asked for.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.members, &self.covers, &self.gml, &self.gexf, &self.connectivity].into_iter().flatten()
    }

    /// Whether a file is asked for that holds edges.
    pub fn has_edges(&self) -> bool {
        self.gml.is_some() || self.gexf.is_some()
    }

    /// Checks what only the graph can tell: its kind, and what its nodes are called on either side.
    pub fn check_graph(&self, kind: Kind, ids: [&Ids; 2]) -> Result<()> {
        let side = Side::of(kind, self.side())?;
        if let Some(path) = &self.covers {
            check_cover_ids(path, ids[usize::from(side == Side::To)])?;
        }
        Ok(())
    }

    fn side(&self) -> Option<Side> {
        self.side.map(SideName::side)
    }

    /// Writes the files to where they wait for one another; says what they are. Those with edges need the graph.
    pub fn write(
        &self,
        model: &Model,
        graph: Option<&Graph>,
        bundle: &mut Bundle,
        session: &Session,
    ) -> Result<Written> {
        let mut written = Written::default();
        let members = Members::of(model, self.side())?;
        let (watch, threshold) = (&session.watch, self.threshold.threshold());
        if let Some(path) = &self.members {
            let to = bundle.place(path)?;
            let rows = watch.during(|watch| write_members(&to, &members, threshold, watch))?;
            let alone = (0..members.len()).filter(|&node| !members.is_told(node)).count();
            let told = members.len() - alone;
            let strays =
                if alone > 0 { format!("; {alone} nodes without edges are in none") } else { String::new() };
            written.push("members", path, &format!("{rows} memberships of {told} nodes{strays}"));
        }
        if let Some(path) = &self.covers {
            let (to, cover) = (bundle.place(path)?, members.cover(threshold));
            watch.during(|watch| write_cover(&to, members.ids(), &cover, watch))?;
            written.push("covers", path, "communities as lists");
        }
        if let Some((graph, path)) = graph.zip(self.gml.as_ref()) {
            let to = bundle.place(path)?;
            watch.during(|watch| write_gml(&to, graph, model, watch))?;
            written.push("gml", path, "graph with communities");
        }
        if let Some((graph, path)) = graph.zip(self.gexf.as_ref()) {
            let to = bundle.place(path)?;
            watch.during(|watch| write_gexf(&to, graph, model, watch))?;
            written.push("gexf", path, "graph with communities");
        }
        if let Some(path) = &self.connectivity {
            write_connectivity(&bundle.place(path)?, model.connectivity())?;
            written.push("connectivity", path, "connectivity");
        }
        Ok(written)
    }
}

/// What was written, for people and for programs.
#[derive(Default)]
pub struct Written {
    pub text: String,
    pub files: Vec<(&'static str, Value)>,
}

impl Written {
    fn push(&mut self, name: &'static str, path: &Path, what: &str) {
        self.text += &format!("{what} written to {}\n", path.display());
        self.files.push((name, json!(path.to_string_lossy())));
    }
}
