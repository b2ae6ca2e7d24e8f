//! `tenfold trees show`.

use crate::common::Session;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use tenfold::output::shown;
use tenfold::trees::Model;

/// What a model holds: its groups, its hidden nodes, or one variable
#[derive(Args)]
#[command(after_help = "\
Examples:
  tenfold trees show m.tenfold
  tenfold trees show m.tenfold --variable diabetes")]
pub struct Show {
    /// A model that `tenfold trees fit` made
    model: PathBuf,
    /// One variable: where it stands and what is near it
    #[arg(long, value_name = "NAME")]
    variable: Option<String>,
    /// Neighbours or groups to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
}

impl Show {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (mut text, mut value) = (model.summary(), model.to_json());
        match &self.variable {
            None => groups(&model, self.top, (&mut text, &mut value)),
            Some(name) => {
                let near = model.nearest(name, self.top)?;
                text = format!("nearest to {}, by the length of the path:\n", shown(name));
                for (other, length) in &near {
                    text += &format!("  {length:7.3}  {}\n", shown(&model.variables()[*other].name));
                }
                let list = near.iter().map(|(v, d)| json!([model.variables()[*v].name, d]));
                value = json!({ "variable": name, "nearest": list.collect::<Vec<Value>>() });
            }
        }
        session.answer(&text, &value)
    }
}

/// The largest groups with their variables.
fn groups(model: &Model, top: usize, (text, value): (&mut String, &mut Value)) {
    let mut groups: Vec<Vec<&str>> = Vec::new();
    for (variable, &group) in model.variables().iter().zip(model.clusters()) {
        if groups.len() <= group {
            groups.resize(group + 1, Vec::new());
        }
        groups[group].push(&variable.name);
    }
    groups.retain(|group| group.len() > 1);
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    *text += "\ngroups, cut at the longest edges:\n";
    for group in groups.iter().take(top) {
        let more = group.len().saturating_sub(8);
        let names: Vec<_> = group.iter().take(8).map(|name| shown(name)).collect();
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        *text += &format!("  {:>4}  {}{rest}\n", group.len(), names.join(", "));
    }
    value["groups"] = json!(groups);
}
