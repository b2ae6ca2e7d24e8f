//! Found communities against known ones.

use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use tenfold::communities::truth::{self, Options, Truth};
use tenfold::communities::{Comparison, Members, THRESHOLDS, Threshold};
use tenfold::engine::progress::Progress;
use tenfold::evaluate::Recovery;

/// What is known: a file, or members by their places.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Known {
    path: Option<PathBuf>,
    /// What the communities are called.
    names: Vec<String>,
    /// Node, community and how much of it.
    entries: Vec<(u32, u32, f32)>,
    /// Whether memberships have weights of their own.
    weighted: bool,
}

impl Known {
    /// As the nodes of a model are called.
    pub fn truth(&self, members: &Members<'_>, progress: &dyn Progress) -> tenfold::Result<Truth> {
        match &self.path {
            Some(path) => truth::read(path, members.ids(), &Options::default(), progress),
            None => Truth::new(members.len(), self.names.clone(), self.entries.clone(), self.weighted),
        }
    }
}

/// The measures under the names that the command line gives them.
pub fn told(
    members: &Members<'_>,
    known: &Truth,
    threshold: Threshold,
    progress: &dyn Progress,
) -> tenfold::Result<Value> {
    progress.stage("comparing", 0);
    let comparison = Comparison::new(members, known);
    progress.check()?;
    let recovery = comparison.recovery();
    let measures = comparison.measures(threshold);
    progress.check()?;
    let mut value = figures(&recovery);
    value["nmi"] = json!(measures.nmi);
    value["onmi_lfk"] = json!(measures.onmi_lfk);
    value["onmi_max"] = json!(measures.onmi_max);
    value["omega"] = json!(measures.omega);
    value["average_f1"] = json!(measures.average_f1);
    value["empty_error"] = json!(recovery.empty_error());
    value["nodes"] = json!(comparison.nodes());
    value["true_communities"] = json!(known.k());
    value["unknown_nodes"] = json!(known.unknown());
    value["strangers"] = json!(known.strangers());
    value["notes"] = json!(known.notes());
    value["warnings"] = json!(known.warnings());
    let point = |(at, threshold): (&Recovery, f64)| {
        let mut value = figures(at);
        value["threshold"] = json!(threshold);
        value
    };
    value["curve"] = comparison.trade_off(&THRESHOLDS).iter().zip(THRESHOLDS).map(point).collect();
    let matched = recovery.pairs().iter().map(|pair| {
        json!({
            "truth": known.names()[pair.truth], "found": pair.found, "correlation": pair.correlation,
            "p_value": pair.p_value, "error": pair.error,
        })
    });
    value["matches"] = matched.collect();
    Ok(value)
}

fn figures(recovery: &Recovery) -> Value {
    json!({
        "recovery": recovery.ratio(),
        "error": recovery.error(),
        "pairs": recovery.pairs().len(),
        "mean_absolute_error": recovery.mean_absolute_error(),
    })
}
