//! Files beside the model.

use super::{SideName, parse_threshold};
use crate::common::Session;
use crate::exit;
use crate::files::{self, Together};
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tenfold::communities::{
    Graph, Kind, Members, Model, Side, THRESHOLD, check_members_path, write_connectivity, write_cover,
    write_gexf, write_gml, write_members,
};

/// What is written beside the model.
#[derive(Args)]
#[command(next_help_heading = "Further files")]
pub struct OutputArgs {
    /// Members as a table id,community,weight: .csv, .tsv or .parquet
    #[arg(long, value_name = "OUT")]
    members: Option<PathBuf>,
    /// Least membership that counts in --members and --cover; the largest of a node always does
    #[arg(long, value_name = "T", default_value_t = THRESHOLD, value_parser = parse_threshold)]
    threshold: f64,
    /// Side of the edges that --members and --cover tell of [default: both of a directed graph, from of a bipartite one]
    #[arg(long, value_name = "SIDE")]
    side: Option<SideName>,
    /// Communities as lists, one a line, ids separated by tabs
    #[arg(long, value_name = "OUT")]
    cover: Option<PathBuf>,
    /// The graph with communities, as GML
    #[arg(long, value_name = "OUT.gml")]
    gml: Option<PathBuf>,
    /// The graph with communities, as GEXF for Gephi
    #[arg(long, value_name = "OUT.gexf")]
    gexf: Option<PathBuf>,
    /// How often communities are joined, k × k: .csv, .tsv, .parquet or .npy
    #[arg(long, value_name = "OUT")]
    connectivity: Option<PathBuf>,
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
        if self.side.is_some() && self.members.is_none() && self.cover.is_none() {
            return Err(exit::usage("--side means nothing without --members or --cover; leave it out"));
        }
        let mut taken = taken.to_vec();
        let files = [&self.members, &self.cover, &self.gml, &self.gexf, &self.connectivity];
        for path in files.into_iter().flatten() {
            files::check_output(path, &taken)?;
            taken.push(path);
        }
        Ok(())
    }

    /// Checks what only the graph can tell.
    pub fn check_kind(&self, kind: Kind) -> Result<()> {
        Ok(Side::of(kind, self.side()).map(drop)?)
    }

    fn side(&self) -> Option<Side> {
        self.side.map(SideName::side)
    }

    /// Writes the files to where they wait for one another; says what they are.
    pub fn write(
        &self,
        graph: &Graph,
        model: &Model,
        together: &mut Together,
        session: &Session,
    ) -> Result<Written> {
        let mut written = Written::default();
        let members = Members::of(model, self.side())?;
        let watch = &session.watch;
        if let Some(path) = &self.members {
            let to = together.path(path)?;
            let rows = watch.during(|watch| write_members(&to, &members, self.threshold, watch))?;
            written.push("members", path, &format!("{rows} memberships"));
        }
        if let Some(path) = &self.cover {
            let (to, cover) = (together.path(path)?, members.cover(self.threshold));
            watch.during(|watch| write_cover(&to, members.ids(), &cover, watch))?;
            written.push("cover", path, "communities as lists");
        }
        if let Some(path) = &self.gml {
            let to = together.path(path)?;
            watch.during(|watch| write_gml(&to, graph, model, watch))?;
            written.push("gml", path, "graph with communities");
        }
        if let Some(path) = &self.gexf {
            let to = together.path(path)?;
            watch.during(|watch| write_gexf(&to, graph, model, watch))?;
            written.push("gexf", path, "graph with communities");
        }
        if let Some(path) = &self.connectivity {
            write_connectivity(&together.path(path)?, model.connectivity())?;
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
