//! `tenfold communities evaluate`.

use super::fit::{score_json, told_score};
use super::reading::{ReadArgs, shown};
use super::{SideName, ThresholdArgs};
use crate::common::Session;
use crate::{exit, files};
use anyhow::Result;
use clap::{ArgGroup, Args};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tenfold::communities::truth::{self, Truth};
use tenfold::communities::{Comparison, Measures, Members, Model, THRESHOLDS, held_out_score};
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Progress;
use tenfold::evaluate::{Pairing, Recovery};
use tenfold::output;

pub use super::truth::TruthArgs;

/// How near communities are to known ones, and how well they predict edges that were held out
#[derive(Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(["truth", "held_out"]))]
#[command(after_help = "\
The truth may be a cover (one community a line), a list of nodes (node, then its communities), a \
table id,community,weight, a table of attributes with an id column, or a GML, GraphML or Matlab \
file whose nodes have attributes; every value of an attribute is a community. Ids that only one \
side has are left out and counted.

Recovery is the share of true communities whose memberships are correlated with those of a found \
one (p-values, false discovery rate 0.01); the error sums over all such pairs and means nothing \
without their number. The mean absolute error is that of the best one-to-one matching; beside it \
stands what an empty answer would score. The curve shows both when memberships below a threshold \
count as none. The other measures compare lists of nodes: a node is in a community when its \
membership is at least half of its largest one, or as --relative and --threshold say.

With --held-out the score is the area under the curve: how often an edge that the fit did not see \
has a higher probability than a pair without an edge. Pairs are drawn by --seed; give the graph of \
the fit with --graph, so that none of its edges is taken for such a pair.

Examples:
  tenfold communities evaluate m.tenfold --truth labels.txt
  tenfold communities evaluate m.tenfold --truth graph.gml --attribute dorm
  tenfold communities evaluate m.tenfold --held-out test.txt --graph train.txt")]
pub struct Evaluate {
    /// A model that `tenfold communities fit` made
    model: PathBuf,
    #[command(flatten)]
    truth: TruthArgs,
    #[command(flatten)]
    threshold: ThresholdArgs,
    /// Side of the edges to look at [default: both of a directed graph, from of a bipartite one]
    #[arg(long, value_name = "SIDE", requires = "truth")]
    side: Option<SideName>,
    /// Also write the curve of recovery against error: .csv, .tsv, .parquet or .npy
    #[arg(long, value_name = "OUT", requires = "truth")]
    curve: Option<PathBuf>,
    /// Edges that the fit did not see
    #[arg(long, value_name = "EDGES")]
    held_out: Option<PathBuf>,
    /// The graph of the fit, whose edges are no pairs without an edge
    #[arg(long, value_name = "EDGES", requires = "held_out")]
    graph: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

impl Evaluate {
    pub fn run(self, session: &Session) -> Result<()> {
        let read =
            [Some(&self.model), self.truth.truth.as_ref(), self.held_out.as_ref(), self.graph.as_ref()];
        let read: Vec<&Path> = read.into_iter().flatten().map(PathBuf::as_path).collect();
        if let Some(curve) = &self.curve {
            files::check_table(curve, &read)?;
        }
        let model = Model::load(&self.model)?;
        let (mut text, mut value) = (String::new(), json!({ "k": model.k() }));
        if let Some(path) = &self.truth.truth {
            self.against_truth(&model, path, session, (&mut text, &mut value))?;
        }
        if let Some(path) = &self.held_out {
            self.against_edges(&model, path, session, (&mut text, &mut value))?;
        }
        session.answer(&text, &value)
    }

    fn against_truth(
        &self,
        model: &Model,
        path: &Path,
        session: &Session,
        (text, value): (&mut String, &mut Value),
    ) -> Result<()> {
        let members = Members::of(model, self.side.map(SideName::side))?;
        let mut options = self.truth.options(self.read.encoding.clone());
        session.bound(&mut options.max_decompressed);
        let known = session.watch.during(|watch| truth::read(path, members.ids(), &options, watch))?;
        known.notes().iter().for_each(|note| session.note(&format!("{}: {note}", shown(path))));
        known.warnings().iter().for_each(|warning| session.warn(&format!("{}: {warning}", shown(path))));
        let untold = (0..members.len()).filter(|&u| known.known()[u] && !members.is_told(u)).count();
        if untold > 0 {
            session.note(&format!(
                "{untold} of the compared nodes have no edges: they have the mean of all memberships, and are in none of the lists"
            ));
        }
        let comparison = Comparison::new(&members, &known);
        session.watch.check()?;
        let curve = comparison.trade_off(&THRESHOLDS);
        session.watch.check()?;
        let recovery = comparison.recovery();
        let threshold = self.threshold.threshold();
        let measures = comparison.measures(threshold);
        *text += &format!(
            "{} nodes, {} true communities, {} found\n\n{}\nas lists of nodes, by {threshold}:\n",
            comparison.nodes(),
            known.k(),
            model.k(),
            told_recovery(&recovery)
        );
        tell_measures(&measures, text, value);
        *text += &told_curve(&curve);
        tell_truth(&known, value);
        value["nodes"] = json!(comparison.nodes());
        value["members"] = json!(threshold.to_string());
        for (key, x) in figures(&recovery) {
            value[key] = x;
        }
        value["matches"] = recovery.pairs().iter().map(|pair| pair_json(pair, &known)).collect();
        value["curve"] = curve.iter().zip(THRESHOLDS).map(|(point, t)| point_json(point, t)).collect();
        if let Some(path) = &self.curve {
            write_curve(path, &curve)?;
            *text += &format!("\ncurve written to {}\n", path.display());
            value["curve_file"] = json!(path.to_string_lossy());
        }
        Ok(())
    }

    fn against_edges(
        &self,
        model: &Model,
        path: &Path,
        session: &Session,
        (text, value): (&mut String, &mut Value),
    ) -> Result<()> {
        let held_out = self.read.graph_like(path, model, session)?;
        let fitted = self.graph.as_deref();
        let fitted = fitted.map(|path| self.read.graph_like(path, model, session)).transpose()?;
        let score = held_out_score(model, &held_out, fitted.as_ref(), session.seed)
            .map_err(|e| exit::bad_input(format!("{}: {e}", shown(path))))?;
        *text += if text.is_empty() { "" } else { "\n" };
        *text += &told_score(&score);
        for (count, what) in [
            (score.strangers, "held-out edges have an end that the model does not know; they are left out"),
            (score.seen, "held-out edges were in the graph of the fit; they are left out"),
        ] {
            if count > 0 {
                session.warn(&format!("{count} {what}"));
            }
        }
        value["held_out"] = score_json(&score);
        Ok(())
    }
}

/// How lists of nodes compare.
fn tell_measures(measures: &Measures, text: &mut String, value: &mut Value) {
    *text += &match measures.nmi {
        Some(nmi) => format!("NMI         {nmi:.4}  (of main communities)\n"),
        None => "NMI         -       (nodes are in several true communities, or in none)\n".into(),
    };
    value["nmi"] = json!(measures.nmi);
    for (name, key, x) in [
        ("ONMI-LFK", "onmi_lfk", measures.onmi_lfk),
        ("ONMI-max", "onmi_max", measures.onmi_max),
        ("omega", "omega", measures.omega),
        ("average F1", "average_f1", measures.average_f1),
    ] {
        *text += &format!("{name:<10}  {x:.4}\n");
        value[key] = json!(x);
    }
}

/// What the truth is, for programs.
fn tell_truth(known: &Truth, value: &mut Value) {
    value["true_communities"] = json!(known.k());
    value["unknown_nodes"] = json!(known.unknown());
    value["strangers"] = json!(known.strangers());
    value["notes"] = json!([known.notes(), known.warnings()].concat());
}

fn told_recovery(recovery: &Recovery) -> String {
    format!(
        "recovery             {:.1}%  of the true communities\n\
         error                {:.4}  over {} significant pairs\n\
         mean absolute error  {:.4}  after the best matching; an empty answer has {:.4}\n",
        100.0 * recovery.ratio(),
        recovery.error(),
        recovery.pairs().len(),
        recovery.mean_absolute_error(),
        recovery.empty_error()
    )
}

fn figures(recovery: &Recovery) -> [(&'static str, Value); 5] {
    [
        ("recovery", json!(recovery.ratio())),
        ("error", json!(recovery.error())),
        ("pairs", json!(recovery.pairs().len())),
        ("mean_absolute_error", json!(recovery.mean_absolute_error())),
        ("empty_error", json!(recovery.empty_error())),
    ]
}

fn pair_json(pair: &Pairing, known: &Truth) -> Value {
    let Pairing { truth, found, correlation, p_value, error } = pair;
    let truth = &known.names()[*truth];
    json!({ "truth": truth, "found": found, "correlation": correlation, "p_value": p_value, "error": error })
}

fn point_json(point: &Recovery, threshold: f64) -> Value {
    let mut value = json!({ "threshold": threshold });
    figures(point).into_iter().take(4).for_each(|(key, x)| value[key] = x);
    value
}

fn told_curve(curve: &[Recovery]) -> String {
    let mut text = "\nmemberships below a threshold taken as none:\n\
                    threshold  recovery   error  pairs  mean absolute error\n"
        .to_owned();
    for (point, threshold) in curve.iter().zip(THRESHOLDS) {
        text += &format!(
            "{threshold:>9}  {:>7.1}%  {:>6.4}  {:>5}  {:.4}\n",
            100.0 * point.ratio(),
            point.error(),
            point.pairs().len(),
            point.mean_absolute_error()
        );
    }
    text
}

fn write_curve(path: &Path, curve: &[Recovery]) -> Result<()> {
    let names = ["threshold", "recovery", "error", "pairs", "mean_absolute_error"].map(str::to_owned);
    let rows = Mat::from_fn(curve.len(), names.len(), |i, j| match j {
        0 => THRESHOLDS[i],
        1 => curve[i].ratio(),
        2 => curve[i].error(),
        3 => curve[i].pairs().len() as f64,
        _ => curve[i].mean_absolute_error(),
    });
    Ok(output::write_table(path, &names, &rows)?)
}
