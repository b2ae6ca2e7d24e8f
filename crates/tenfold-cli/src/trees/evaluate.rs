//! `tenfold trees evaluate`.

use super::reading::ReadArgs;
use crate::common::Session;
use crate::exit;
use anyhow::Result;
use clap::{ArgGroup, Args};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tenfold::engine::progress::Progress;
use tenfold::evaluate::{
    PathLength, adjusted_rand_index, nmi, path_difference, quartet_distance, robinson_foulds,
};
use tenfold::trees::{self, Model};

/// How near a tree is to a known one or to a grouping, and how likely new samples are
#[derive(Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(["truth", "groups_of", "data"]))]
#[command(after_help = "\
Robinson-Foulds counts the splits that only one of the trees has, over all splits of both; an edge beside a \
single variable splits nothing. The grouping is a table of two columns, variable and group; clusters are cut \
from the tree, as many as there are groups.

Examples:
  tenfold trees evaluate m.tenfold truth.nwk
  tenfold trees evaluate m.tenfold --groups-of chapters.csv
  tenfold trees evaluate m.tenfold --data new.csv")]
pub struct Evaluate {
    /// A model that `tenfold trees fit` made
    model: PathBuf,
    /// The true tree: Newick or NEXUS
    #[arg(value_name = "TRUTH")]
    truth: Option<PathBuf>,
    /// A table of variable and group
    #[arg(long, value_name = "TABLE")]
    groups_of: Option<PathBuf>,
    /// Samples whose likelihood is wanted
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

impl Evaluate {
    pub fn run(self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (mut text, mut value) = (String::new(), json!({}));
        if let Some(path) = &self.truth {
            against_tree(&model, path, session, (&mut text, &mut value))?;
        }
        if let Some(path) = &self.groups_of {
            against_groups(&model, path, session, (&mut text, &mut value))?;
        }
        if let Some(path) = &self.data {
            let table = self.read.open_like(path, &model, session)?.table;
            let each = session.watch.during(|watch| model.log_likelihood(&table, watch))?;
            let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
            text += &format!("log-likelihood       {mean:.4} nats a sample, over {} samples\n", each.len());
            value["log_likelihood"] = json!(mean);
            value["samples"] = json!(each.len());
        }
        session.watch.check()?;
        session.answer(&text, &value)
    }
}

fn against_tree(
    model: &Model,
    path: &Path,
    session: &Session,
    (text, value): (&mut String, &mut Value),
) -> Result<()> {
    let names: Vec<String> = model.variables().iter().map(|v| v.name.clone()).collect();
    let bound = session.max_decompressed;
    let truth = session.watch.during(|watch| trees::read_tree(path, &names, bound, watch))?;
    let (found, truth) = (model.tree().edges(), truth.edges());
    let rf = robinson_foulds(names.len(), &found, &truth);
    let quartets = quartet_distance(names.len(), &found, &truth, session.seed);
    let paths = path_difference(names.len(), &found, &truth, PathLength::Edges);
    *text += &format!(
        "Robinson-Foulds      {:.4}  ({} splits in one tree only; {} found, {} true)\n\
         quartet distance     {:.4}  ({} quartets)\npath difference      {:.4}\n",
        rf.normalised(),
        rf.different,
        rf.first,
        rf.second,
        quartets.distance,
        quartets.quartets,
        paths
    );
    value["robinson_foulds"] = json!(rf.normalised());
    value["splits"] = json!({ "different": rf.different, "found": rf.first, "true": rf.second });
    value["quartet_distance"] = json!(quartets.distance);
    value["path_difference"] = json!(paths);
    Ok(())
}

fn against_groups(
    model: &Model,
    path: &Path,
    session: &Session,
    (text, value): (&mut String, &mut Value),
) -> Result<()> {
    let names: Vec<String> = model.variables().iter().map(|v| v.name.clone()).collect();
    let bound = session.max_decompressed;
    let groups = session.watch.during(|watch| trees::read::groups_of(path, &names, bound, watch))?;
    let known: Vec<Option<&String>> = groups.iter().map(Option::as_ref).collect();
    let mut names: Vec<&String> = known.iter().flatten().copied().collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        let problem = format!("{}: it names none of the model's variables", path.display());
        return Err(exit::bad_input(format!("{problem}; give a table of variable and group")));
    }
    // Variables without a group have clusters too: pieces are added until those of the others are as many as the groups.
    let told = |pieces: usize| trees::clusters(model.tree(), pieces);
    let pieces_of = |cut: &[usize]| {
        let mut seen: Vec<usize> =
            known.iter().zip(cut).filter(|(name, _)| name.is_some()).map(|(_, c)| *c).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    let most = known.len();
    let enough = (names.len()..=most).find(|&pieces| pieces_of(&told(pieces)) >= names.len());
    let cut = told(enough.unwrap_or(most));
    let pairs: Vec<(u32, u32)> = known
        .iter()
        .zip(&cut)
        .filter_map(|(name, &cut)| Some((names.binary_search(&(*name)?).ok()? as u32, cut as u32)))
        .collect();
    let (a, b): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    let (ari, shared) = (adjusted_rand_index(&a, &b), nmi(&a, &b));
    *text += &format!(
        "adjusted Rand index  {ari:.4}  ({} variables, {} groups)\nNMI                  {shared:.4}\n",
        a.len(),
        names.len()
    );
    value["adjusted_rand_index"] = json!(ari);
    value["nmi"] = json!(shared);
    value["grouped"] = json!(a.len());
    Ok(())
}
