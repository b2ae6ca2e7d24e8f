//! `tenfold communities show`.

use super::SideName;
use crate::common::{Session, parse_count};
use crate::exit;
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::PathBuf;
use tenfold::communities::{Members, Model};

/// What a model holds: its communities, one of them, a node, or the nodes between them
#[derive(Args)]
#[command(after_help = "\
Leading members of a community are the nodes with the most edges in it: membership times degree. \
Bridgeness is 0 for a node of one community and 1 for one that belongs to all alike; times the \
degree it tells bridges from strays. Within and to are how often nodes of two communities are \
joined. Confidence says how well a node's edges tell its memberships, from 0 to 1.

Examples:
  tenfold communities show model.tenfold
  tenfold communities show model.tenfold 3 --members 50
  tenfold communities show model.tenfold --bridges 20
  tenfold communities show model.tenfold --node ann")]
pub struct Show {
    /// A model that `tenfold communities fit` made
    model: PathBuf,
    /// One community, by its number; all of them when not given
    #[arg(value_name = "COMMUNITY", conflicts_with_all = ["bridges", "node"])]
    community: Option<usize>,
    /// Members of a community to show [default: 20]
    #[arg(long, value_name = "N", value_parser = parse_count, requires = "community")]
    members: Option<usize>,
    /// The N nodes that bridge communities most
    #[arg(long, value_name = "N", value_parser = parse_count, conflicts_with = "node")]
    bridges: Option<usize>,
    /// What bridges are ranked by [default: corrected]
    #[arg(long, value_name = "NAME", requires = "bridges")]
    by: Option<Ranking>,
    /// The communities of one node, by its id
    #[arg(long, value_name = "ID")]
    node: Option<String>,
    /// Side of the edges to look at [default: both of a directed graph, from of a bipartite one]
    #[arg(long, value_name = "SIDE")]
    side: Option<SideName>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Ranking {
    /// Bridgeness times degree
    Corrected,
    /// Bridgeness alone
    Bridgeness,
}

/// Memberships below this are not shown: they round to nothing.
const SHOWN: f32 = 0.005;

impl Show {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let members = Members::of(&model, self.side.map(SideName::side))?;
        let (text, value) = match (self.community, self.bridges, &self.node) {
            (Some(community), ..) if community >= model.k() => {
                return Err(exit::usage(format!(
                    "there is no community {community}: {} has communities 0 to {}",
                    self.model.display(),
                    model.k() - 1
                )));
            }
            (Some(community), ..) => one(&model, &members, community, self.members.unwrap_or(20)),
            (_, Some(count), _) => bridges(&members, count, self.by != Some(Ranking::Bridgeness)),
            (.., Some(id)) => self.node(&members, id)?,
            _ if self.side.is_some() => {
                return Err(exit::usage(
                    "--side means nothing for all communities; name one, --bridges or --node",
                ));
            }
            _ => (model.summary(), model.to_json()),
        };
        session.answer(&text, &value)
    }

    fn node(&self, members: &Members<'_>, id: &str) -> Result<(String, Value)> {
        let Some(node) = members.ids().find(id) else {
            return Err(exit::usage(format!(
                "{} has no node {id:?} among its {}, which are called {:?} and so on; ids are compared as text",
                self.model.display(),
                members.len(),
                members.ids().get(0)
            )));
        };
        let mixture = mixture(members, node);
        let (confidence, degree) = facts(members, node);
        let mut text = format!(
            "{}: {}\nconfidence {confidence:.2}, degree {degree}\n",
            members.shown(node),
            told(&mixture)
        );
        if !members.is_told(node) {
            text += "it has no edges, so its memberships are the mean of all others\n";
        }
        let value = json!({
            "id": id, "communities": as_json(&mixture), "confidence": confidence, "degree": degree,
        });
        Ok((text, value))
    }
}

fn one(model: &Model, members: &Members<'_>, community: usize, count: usize) -> (String, Value) {
    let p = model.connectivity();
    let mut text = format!(
        "community {community} of {}: {:.1}% of all memberships, alpha {:.4}, joined within {:.4}\n",
        model.k(),
        100.0 * model.shares()[community],
        model.alpha()[community],
        p[(community, community)],
    );
    let mut near: Vec<(usize, f64)> =
        (0..model.k()).filter(|c| *c != community).map(|c| (c, p[(community, c)])).collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    near.truncate(5);
    near.retain(|(_, rate)| *rate > 0.0);
    if !near.is_empty() {
        let told: Vec<String> = near.iter().map(|(c, rate)| format!("{c} ({rate:.4})")).collect();
        text += &format!("joined most with {}\n", told.join(", "));
    }
    text += "membership  confidence  degree  node\n";
    let mut rows = Vec::new();
    for (u, share) in members.leading(count).swap_remove(community) {
        let (id, (confidence, degree)) = (members.ids().get(u), facts(members, u));
        text += &format!("{share:>10.3}  {confidence:>10.2}  {degree:>6}  {}\n", members.shown(u));
        rows.push(json!({ "id": id, "weight": share, "confidence": confidence, "degree": degree }));
    }
    let near: Vec<Value> = near.iter().map(|(c, rate)| json!({ "community": c, "rate": rate })).collect();
    let value = json!({
        "community": community,
        "share": model.shares()[community],
        "alpha": model.alpha()[community],
        "within": p[(community, community)],
        "joined_most": near,
        "members": rows,
    });
    (text, value)
}

/// Confidence and degree of a node; the degree with two digits, for it may be a sum of weights.
fn facts(members: &Members<'_>, node: usize) -> (f64, f64) {
    let degree = members.degree(node).unwrap_or_default();
    (members.confidence(node).unwrap_or_default(), (100.0 * degree).round() / 100.0)
}

/// The communities of a node that are worth a word, the largest first.
fn mixture(members: &Members<'_>, node: usize) -> Vec<(usize, f32)> {
    let mut all: Vec<(usize, f32)> =
        members.row(node).into_iter().enumerate().filter(|x| x.1 >= SHOWN).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}

fn told(mixture: &[(usize, f32)]) -> String {
    let parts: Vec<String> = mixture.iter().map(|(c, x)| format!("{c} ({:.0}%)", 100.0 * x)).collect();
    parts.join(", ")
}

fn as_json(mixture: &[(usize, f32)]) -> Vec<Value> {
    mixture.iter().map(|(c, x)| json!({ "community": c, "weight": x })).collect()
}

fn bridges(members: &Members<'_>, count: usize, corrected: bool) -> (String, Value) {
    let mut text = "bridgeness  degree  times degree  node: its communities\n".to_owned();
    let mut rows = Vec::new();
    for bridge in members.bridges(count, corrected) {
        let (id, mixture) = (members.ids().get(bridge.node), mixture(members, bridge.node));
        let degree = facts(members, bridge.node).1;
        text += &format!(
            "{:>10.3}  {degree:>6}  {:>12.1}  {}: {}\n",
            bridge.bridgeness,
            bridge.corrected,
            members.shown(bridge.node),
            told(&mixture)
        );
        rows.push(json!({
            "id": id, "bridgeness": bridge.bridgeness, "corrected": bridge.corrected, "degree": degree,
            "communities": as_json(&mixture),
        }));
    }
    (text, json!({ "bridges": rows }))
}
