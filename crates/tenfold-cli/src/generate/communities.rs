//! `tenfold generate communities`.

use super::{check_entries, folder, stem};
use crate::common::{Session, parse_amount, parse_count, refuse};
use crate::exit;
use crate::files::{Bundle, check_output};
use crate::watch::Watch;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use tenfold::communities::{
    Drawn, Edges, Ids, Kind, Members, Synth, Threshold, write_connectivity, write_members,
};
use tenfold::engine::progress::Progress;
use tenfold::output;

/// A graph with known communities (mixed membership block model), with memberships beside it
#[derive(Args)]
#[command(after_help = "\
Memberships are drawn from Dirichlet(alpha); with --alpha0 0 every node has one community. Then \
each pair of nodes is joined with probability --within or --between, by the communities of its \
ends; or, with --degree, numbers of edges follow a Poisson law with that mean degree, and a share \
--background of them joins any two nodes. The second way serves for graphs of millions of nodes.

Examples:
  tenfold generate communities -o g.txt
  tenfold communities fit g.txt -k 10 -o m.tenfold
  tenfold communities evaluate m.tenfold --truth g.truth.csv
  tenfold generate communities --nodes 100000 --degree 20 -o large.txt

The first writes g.txt, g.truth.csv and g.connectivity.csv.")]
pub struct Communities {
    /// Nodes; of the left side when bipartite
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = parse_count)]
    nodes: usize,
    /// Nodes of the right side of a bipartite graph [default: as many as of the left]
    #[arg(long, value_name = "N", value_parser = parse_count, requires = "bipartite")]
    others: Option<usize>,
    /// Communities
    #[arg(short, value_name = "N", default_value_t = 10, value_parser = parse_count)]
    k: usize,
    /// Sum of alpha: 0 for one community a node, large to mix them all
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_amount)]
    alpha0: f64,
    /// Probability of an edge between two nodes of one community [default: 0.9]
    #[arg(long, value_name = "P", value_parser = parse_amount)]
    within: Option<f64>,
    /// Probability of an edge between nodes of two communities [default: 0.1]
    #[arg(long, value_name = "P", value_parser = parse_amount)]
    between: Option<f64>,
    /// Mean degree: numbers of edges by a Poisson law
    #[arg(long, value_name = "X", value_parser = parse_amount, conflicts_with_all = ["within", "between"])]
    degree: Option<f64>,
    /// Share of edges that belong to no community, with --degree [default: 0.2]
    #[arg(long, value_name = "X", value_parser = parse_amount, requires = "degree")]
    background: Option<f64>,
    /// Edges from one node to another
    #[arg(long, conflicts_with = "bipartite")]
    directed: bool,
    /// Edges from nodes u0, u1, ... to nodes v0, v1, ...
    #[arg(long)]
    bipartite: bool,
    /// Keep numbers of edges as weights, with --degree
    #[arg(long)]
    weighted: bool,
    /// The file of edges: .csv with names, anything else a list with tabs; the truth goes beside it
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Communities {
    pub fn run(self, session: &Session) -> Result<()> {
        let synth = self.synth(session.seed)?;
        let (n, m, k) = (synth.nodes as f64, synth.others as f64, synth.k as f64);
        let edges = match synth.edges {
            Edges::Bernoulli { within, between } => n * m * f64::max(between, within / k.max(1.0)),
            Edges::Poisson { degree, .. } => n * degree,
        };
        check_entries(edges + (n + m) * k)?;
        check_output(&self.output, &[])?;
        let drawn = session.watch.during(|_| synth.draw())?;
        session.watch.check()?;
        let mut bundle = Bundle::new(folder(&self.output))?;
        let name = self.output.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let graph = Named::new(&drawn, &synth);
        let to = bundle.path(&name)?;
        session.watch.during(|watch| graph.write(&to, &drawn, &synth, watch))?;
        let stem = stem(&self.output);
        let from = Members::new(&graph.ids, &drawn.memberships);
        let sides = drawn.others.as_ref().map(|others| Members::new(graph.other_ids(), others));
        let truths = match sides {
            None => vec![("truth", from)],
            Some(to) => vec![("truth.from", from), ("truth.to", to)],
        };
        for (part, members) in &truths {
            let path = bundle.path(&format!("{stem}.{part}.csv"))?;
            // Every membership that is not nothing.
            session.watch.during(|watch| write_members(&path, members, Threshold::Absolute(1e-6), watch))?;
        }
        write_connectivity(&bundle.path(&format!("{stem}.connectivity.csv"))?, &drawn.connectivity)?;
        session.watch.check()?;
        let paths: Vec<String> = bundle.finish()?.iter().map(|path| path.display().to_string()).collect();
        self.tell(&synth, &drawn, &paths, session)
    }

    fn synth(&self, seed: u64) -> Result<Synth> {
        let edges = match self.degree {
            Some(degree) => Edges::Poisson { degree, background: self.background.unwrap_or(0.2) },
            None => {
                refuse(&[("--weighted", self.weighted)], "--within and --between")?;
                Edges::Bernoulli { within: self.within.unwrap_or(0.9), between: self.between.unwrap_or(0.1) }
            }
        };
        let kind = match (self.directed, self.bipartite) {
            (true, _) => Kind::Directed,
            (_, true) => Kind::Bipartite,
            _ => Kind::Undirected,
        };
        if self.k > self.nodes {
            return Err(exit::usage(format!(
                "{} communities in {} nodes; ask for at most as many as there are nodes",
                self.k, self.nodes
            )));
        }
        let Self { nodes, k, alpha0, weighted, .. } = *self;
        Ok(Synth { nodes, others: self.others.unwrap_or(nodes), k, alpha0, edges, kind, weighted, seed })
    }

    fn tell(&self, synth: &Synth, drawn: &Drawn, paths: &[String], session: &Session) -> Result<()> {
        let Synth { nodes, k, alpha0, kind, .. } = *synth;
        let edges = drawn.graph.edges();
        let sides = if kind == Kind::Bipartite {
            format!("{nodes} + {} nodes", synth.others)
        } else {
            format!("{nodes} nodes")
        };
        let flag = if kind == Kind::Undirected { String::new() } else { format!(" --{kind}") };
        let text = format!(
            "{sides}, {edges} edges, {k} communities, {kind}: {}\n\
             the truth beside it: {}\n\
             next: tenfold communities fit {} -k {k}{flag} -o model.tenfold\n",
            paths[0],
            paths[1..].join(", "),
            paths[0],
        );
        let value = json!({
            "nodes": nodes, "edges": edges, "k": k, "alpha0": alpha0, "kind": kind.to_string(),
            "weighted": drawn.graph.weighted(), "seed": session.seed, "output": paths[0], "files": paths,
        });
        session.answer(&text, &value)
    }
}

/// The names of nodes in the file.
struct Named {
    ids: Ids,
    others: Option<Ids>,
}

impl Named {
    /// Numbers from 0; in a bipartite graph with a letter for the side.
    fn new(drawn: &Drawn, synth: &Synth) -> Self {
        if synth.kind != Kind::Bipartite {
            return Self { ids: Ids::counted(0, drawn.memberships.rows()), others: None };
        }
        let lettered = |letter: char, count: usize| {
            Ids::from_names((0..count).map(|i| format!("{letter}{i}"))).expect("every name is another")
        };
        Self { ids: lettered('u', synth.nodes), others: Some(lettered('v', synth.others)) }
    }

    fn other_ids(&self) -> &Ids {
        self.others.as_ref().unwrap_or(&self.ids)
    }

    /// Writes edges, a line each.
    fn write(&self, path: &Path, drawn: &Drawn, synth: &Synth, watch: &Watch) -> Result<()> {
        let graph = &drawn.graph;
        let is_csv = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        let (between, head) = match (is_csv, graph.weighted()) {
            (true, true) => (',', "source,target,weight\n".to_owned()),
            (true, false) => (',', "source,target\n".to_owned()),
            (false, _) => {
                ('\t', format!("# {} graph of {} communities, drawn by tenfold\n", synth.kind, synth.k))
            }
        };
        watch.stage("writing", graph.nodes() as u64);
        Ok(output::write_atomically(path, |out| {
            let fail = |e| output::write_error(path, e);
            let mut text = head;
            for u in 0..graph.nodes() {
                let (neighbours, weights) = graph.adjacency().row(u);
                let from = self.ids.get(u);
                for (e, &v) in neighbours.iter().enumerate() {
                    if synth.kind == Kind::Undirected && (v as usize) < u {
                        continue;
                    }
                    text += &from;
                    text.push(between);
                    text += &self.other_ids().get(v as usize);
                    if let Some(weights) = weights {
                        text += &format!("{between}{}", weights[e]);
                    }
                    text.push('\n');
                }
                if text.len() > 1 << 16 {
                    watch.check()?;
                    out.write_all(text.as_bytes()).map_err(fail)?;
                    text.clear();
                }
                watch.advance(1);
            }
            out.write_all(text.as_bytes()).map_err(fail)
        })?)
    }
}
