//! `tenfold communities show`.

use crate::common::{Session, parse_count};
use crate::exit;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use tenfold::communities::{Members, Model};

/// What a model holds: its communities, one of them, a node, or the nodes between them
#[derive(Args)]
#[command(after_help = "\
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
    /// Members of a community to show
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = parse_count)]
    members: usize,
    /// The N nodes that bridge communities most
    #[arg(long, value_name = "N", value_parser = parse_count, conflicts_with_all = ["node", "members"])]
    bridges: Option<usize>,
    /// The communities of one node, by its id
    #[arg(long, value_name = "ID", conflicts_with = "members")]
    node: Option<String>,
}

/// Memberships below this are not shown: they round to nothing.
const SHOWN: f32 = 0.005;

impl Show {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (text, value) = match (self.community, self.bridges, &self.node) {
            (Some(community), ..) if community >= model.k() => {
                return Err(exit::usage(format!(
                    "there is no community {community}: {} has communities 0 to {}",
                    self.model.display(),
                    model.k() - 1
                )));
            }
            (Some(community), ..) => one(&model, community, self.members),
            (_, Some(count), _) => bridges(&model, count)?,
            (.., Some(id)) => node(&model, id)?,
            _ => (model.summary(), model.to_json()),
        };
        session.answer(&text, &value)
    }
}

fn one(model: &Model, community: usize, count: usize) -> (String, Value) {
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
    if !near.is_empty() {
        let told: Vec<String> = near.iter().map(|(c, rate)| format!("{c} ({rate:.4})")).collect();
        text += &format!("joined most with {}\n", told.join(", "));
    }
    text += "membership  confidence  degree  node\n";
    let mut rows = Vec::new();
    for (u, share) in model.members(community, count) {
        let (id, confidence, degree) = (model.ids().get(u), model.confidence()[u], model.strengths()[u]);
        text += &format!("{share:>10.3}  {confidence:>10.2}  {degree:>6.0}  {id}\n");
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

/// The communities of a node that are worth a word, the largest first.
fn mixture(members: &Members<'_>, node: usize) -> Vec<(usize, f32)> {
    let mut all: Vec<(usize, f32)> = members.row(node).into_iter().enumerate().filter(|x| x.1 >= SHOWN).collect();
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

fn bridges(model: &Model, count: usize) -> Result<(String, Value)> {
    let members = Members::of(model, None)?;
    let mut text = "bridgeness  times degree  node: its communities\n".to_owned();
    let mut rows = Vec::new();
    for bridge in model.bridges(count) {
        let (id, mixture) = (model.ids().get(bridge.node), mixture(&members, bridge.node));
        text += &format!("{:>10.3}  {:>12.1}  {id}: {}\n", bridge.bridgeness, bridge.corrected, told(&mixture));
        rows.push(json!({
            "id": id, "bridgeness": bridge.bridgeness, "corrected": bridge.corrected, "communities": as_json(&mixture),
        }));
    }
    Ok((text, json!({ "bridges": rows })))
}

fn node(model: &Model, id: &str) -> Result<(String, Value)> {
    let members = Members::of(model, None)?;
    let Some(node) = members.ids().find(id) else {
        return Err(exit::usage(format!("the model has no node {id:?}; ids are compared as text")));
    };
    let mixture = mixture(&members, node);
    let (confidence, degree) = (members.confidence(node).unwrap_or_default(), model.strengths()[node]);
    let text = format!("{id}: {}\nconfidence {confidence:.2}, degree {degree:.0}\n", told(&mixture));
    let value = json!({
        "id": id, "communities": as_json(&mixture), "confidence": confidence, "degree": degree,
    });
    Ok((text, value))
}
