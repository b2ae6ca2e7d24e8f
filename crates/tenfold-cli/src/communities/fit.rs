//! `tenfold communities fit`.

use super::outputs::{OutputArgs, Written};
use super::parse_part;
use super::reading::{KindArgs, ReadArgs, shown};
use crate::checkpoint::CheckpointArgs;
use crate::common::{Session, parse_amount, parse_components, parse_count_to, refuse};
use crate::device::DeviceArgs;
use crate::files::Bundle;
use crate::memory::{MemoryArgs, Taken};
use crate::solver::SolverArgs;
use crate::{device, exit, files};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;
use tenfold::communities::{
    Graph, LinkScore, Model, Params, Polish, Treatment, Views, held_out_score, hold_out,
};
use tenfold::components::Components;
use tenfold::engine::progress::Progress;

/// Learn overlapping communities from a graph
#[derive(Args)]
#[command(after_help = "\
EDGES is a list of edges (two ids a line, perhaps a weight, as SNAP and KONECT write them), a \
.csv, .tsv or .parquet table, MatrixMarket, GML, GraphML or a Matlab file with a sparse matrix, \
also as .gz or .zst; - reads standard input. Ids may be numbers or names and come back as they \
were. Whether edges have a direction or weights is told by the file or guessed; the verdict says \
which and why.

Communities come from the moments of stars, a node with two or three of its neighbours. A node may \
belong to several. In a sparse graph the Poisson likelihood then polishes the memberships; a dense \
one needs no polish. --views partition is the thesis's own way, in four sets of nodes. With \
--hold-out some edges are kept from the fit to see how well it predicts them.

Examples:
  tenfold communities fit friends.txt -k 20 -o model.tenfold
  tenfold communities fit links.csv --from src --to dst -k auto -o m.tenfold
  tenfold communities fit graph.gml -k 12 -o m.tenfold --members members.csv
  tenfold communities fit buys.tsv.gz --bipartite -k 50 -o m.tenfold")]
pub struct Fit {
    /// The graph: a file, or - for standard input
    #[arg(value_name = "EDGES")]
    input: PathBuf,
    /// Number of communities, or `auto` to choose it by the Bethe-Hessian and by edges kept apart
    #[arg(short, value_name = "N|auto", default_value = "auto", value_parser = parse_components)]
    k: Components,
    /// Where the model goes; .tenfold is the usual extension
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Sum of alpha that the moments assume: 0 for one community a node, larger for more
    #[arg(long, value_name = "X", value_parser = parse_amount)]
    alpha0: Option<f64>,
    /// How edges become samples: `all` nodes and their neighbours, or `partition[:ROUNDS]`
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = parse_views)]
    views: Views,
    /// Whether many pairs of nodes are joined; `auto` goes by their share
    #[arg(long, value_name = "NAME", default_value = "auto")]
    treatment: TreatmentName,
    /// What follows the moments in a sparse graph
    #[arg(long, value_name = "NAME", default_value = "likelihood")]
    polish: PolishName,
    /// Most iterations of the polish [default: 200 in small graphs, 40 to 8 in large ones]
    #[arg(long, value_name = "N", value_parser = parse_count_to::<10_000>)]
    iterations: Option<usize>,
    /// Keep this share of the edges out of the fit and say how well it predicts them
    #[arg(long, value_name = "X", value_parser = parse_hold_out)]
    hold_out: Option<f64>,
    /// Exit with code 4 when the fit did not converge
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    kind: KindArgs,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    solver: SolverArgs,
    #[command(flatten)]
    device: DeviceArgs,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum TreatmentName {
    Auto,
    /// Least squares on the simplex
    Dense,
    /// Poisson likelihood
    Sparse,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PolishName {
    /// Climb the Poisson likelihood, with a background
    Likelihood,
    /// The moments alone
    None,
}

/// Partitions that are averaged when nobody says how many: each costs four decompositions.
const ROUNDS: usize = 5;

impl Fit {
    pub fn run(self, session: &Session) -> Result<()> {
        let mut params = self.params(session.seed)?;
        files::check_output(&self.output, &[&self.input])?;
        self.outputs.check(&[&self.input, &self.output])?;
        let kept = self.checkpoint.open(session)?;
        let begin = Instant::now();
        // A list of edges is held once as it was read and once by rows.
        self.memory.admit(&self.input, 2.0)?;
        let graph = self.read.graph(&self.input, &self.kind, session)?;
        self.outputs.check_graph(graph.kind(), [graph.ids(), graph.other_ids()])?;
        let reading = begin.elapsed().as_secs_f64();
        let parts = self.hold_out.map(|share| self.parts(&graph, share, session)).transpose()?;
        let fitted = parts.as_ref().map_or(&graph, |parts| &parts.0);
        let remedy = "ask for fewer communities";
        let taken = self.memory.announce(params.needs(fitted), remedy, session)?;
        params.device = self.device.open(session)?;
        let model = kept.during(session, |progress| params.fit_with(fitted, progress))?;
        device::tell(&params.device, session);
        let score = |(fit, out): &(Graph, Graph)| held_out_score(&model, out, Some(fit), session.seed);
        let scored = parts.as_ref().map(score).transpose()?;
        let writing = Instant::now();
        // All files appear together or not at all, so that a stop leaves none.
        let mut bundle = Bundle::new(files::folder_of(&self.output))?;
        let written = self.outputs.write(&model, Some(&graph), &mut bundle, session)?;
        model.save(&bundle.place(&self.output)?)?;
        session.watch.check()?;
        bundle.finish()?;
        kept.finish(session);
        let stages =
            Stages { reading, writing: writing.elapsed().as_secs_f64(), all: begin.elapsed().as_secs_f64() };
        self.tell(&model, (scored, &written), (&stages, &taken), session)
    }

    /// Edges for the fit, and edges that are kept from it.
    fn parts(&self, graph: &Graph, share: f64, session: &Session) -> Result<(Graph, Graph)> {
        let parts = hold_out(graph, share, session.seed)
            .map_err(|e| exit::bad_input(format!("{}: {e}", shown(&self.input))))?;
        session.note(&format!("{} of {} edges are held out", parts.1.edges(), graph.edges()));
        Ok(parts)
    }

    fn params(&self, seed: u64) -> Result<Params> {
        let iterations = [("--iterations", self.iterations.is_some())];
        if self.polish == PolishName::None {
            refuse(&iterations, "--polish none")?;
        }
        if self.treatment == TreatmentName::Dense {
            refuse(&iterations, "--treatment dense")?;
        }
        let defaults = Params::new(self.k);
        Ok(Params {
            alpha0: self.alpha0.unwrap_or(defaults.alpha0),
            views: self.views,
            treatment: match self.treatment {
                TreatmentName::Auto => Treatment::Auto,
                TreatmentName::Dense => Treatment::Dense,
                TreatmentName::Sparse => Treatment::Sparse,
            },
            polish: match self.polish {
                PolishName::Likelihood => Polish::Likelihood,
                PolishName::None => Polish::None,
            },
            iterations: self.iterations,
            solver: self.solver.solver_like(&defaults.solver)?,
            seed,
            ..defaults
        })
    }

    fn tell(
        &self,
        model: &Model,
        (scored, written): (Option<LinkScore>, &Written),
        (stages, taken): (&Stages, &Taken),
        session: &Session,
    ) -> Result<()> {
        let mut text = model.summary();
        let mut value: Value = model.to_json();
        if let Some(score) = &scored {
            text += &format!("\n{}", told_score(score));
            value["held_out"] = score_json(score);
            value["held_out"]["share"] = json!(self.hold_out);
        }
        text += &stages.told(model);
        text += &format!("model written to {} in {:.1} s\n", self.output.display(), stages.all);
        text += &written.text;
        text += &format!("next: tenfold report {} -o communities.html\n", self.output.display());
        value["seconds"] = json!(stages.all);
        value["memory"] = taken.to_json();
        value["diagnostics"]["seconds"]["reading"] = json!(stages.reading);
        value["diagnostics"]["seconds"]["writing"] = json!(stages.writing);
        value["model"] = json!(self.output.to_string_lossy());
        for (name, path) in &written.files {
            value[*name] = path.clone();
        }
        session.answer(&text, &value)?;
        if let Some(what) = unsettled(model) {
            session.warn(what);
            if self.strict {
                return Err(exit::not_converged());
            }
        }
        Ok(())
    }
}

/// How well edges are predicted, for people.
pub fn told_score(score: &LinkScore) -> String {
    let LinkScore { auc, edges, pairs, .. } = score;
    format!("AUC {auc:.4}: {edges} edges that the fit did not see against {pairs} pairs without an edge\n")
}

/// How well edges are predicted, for programs.
pub fn score_json(score: &LinkScore) -> Value {
    let LinkScore { auc, edges, pairs, strangers, seen } = score;
    json!({ "auc": auc, "edges": edges, "pairs": pairs, "strangers": strangers, "seen": seen })
}

/// Which iteration that the answer rests on did not end, if one did not.
fn unsettled(model: &Model) -> Option<&'static str> {
    let d = model.diagnostics();
    // Where the likelihood was climbed, the decomposition was a start only.
    match (d.directions_converged, d.log_likelihood.is_some()) {
        (false, _) => Some("the eigenvectors of the graph had not converged"),
        (_, true) if !d.settled => Some("memberships still moved when the polish ended; raise --iterations"),
        (_, false) if !d.converged => Some("the decomposition had not converged; raise --max-iterations"),
        _ => None,
    }
}

/// Where the time went.
struct Stages {
    reading: f64,
    writing: f64,
    all: f64,
}

impl Stages {
    fn told(&self, model: &Model) -> String {
        let own = model.diagnostics().seconds.iter().map(|(stage, seconds)| (stage.as_str(), *seconds));
        let all = std::iter::once(("reading", self.reading)).chain(own).chain([("writing", self.writing)]);
        let told: Vec<String> = all.map(|(stage, seconds)| format!("{stage} {seconds:.1} s")).collect();
        format!("\nstages: {}\n", told.join(", "))
    }
}

fn parse_hold_out(text: &str) -> Result<f64, String> {
    match parse_part(text)? {
        share if (0.001..=0.5).contains(&share) => Ok(share),
        _ => Err("a share from 0.001 to 0.5 is needed".into()),
    }
}

/// `all`, `partition` or `partition:5`.
fn parse_views(text: &str) -> Result<Views, String> {
    match text.split_once(':').unwrap_or((text, "")) {
        ("all", "") => Ok(Views::All),
        ("partition", "") => Ok(Views::Partition(ROUNDS)),
        ("partition", rounds) => parse_count_to::<1000>(rounds).map(Views::Partition),
        _ => Err("`all`, `partition` or `partition:ROUNDS` is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_understood() {
        assert_eq!(parse_views("all"), Ok(Views::All));
        assert_eq!(parse_views("partition"), Ok(Views::Partition(ROUNDS)));
        assert_eq!(parse_views("partition:3"), Ok(Views::Partition(3)));
        for text in ["", "all:3", "partition:0", "partition:x", "parts"] {
            assert!(parse_views(text).is_err(), "{text}");
        }
    }
}
