//! How sure splits are: trees of resampled tables.

use crate::checkpoint::stage;
use crate::error::Result;
use crate::trees::choices::{Contraction, Params};
use crate::trees::data::Table;
use crate::trees::moments::Spectra;
use crate::trees::structure::Method;
use crate::trees::tree::Tree;
use rand::RngExt;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tenfold_engine::linalg::random;
use tenfold_engine::progress::{Progress, Silent};

/// Random streams of resampled tables begin here.
const RESAMPLED: u64 = 750 << 32;

/// A resampled table has no more entries that are not 0, or else rows: what costs too much is resampled in part, and edges then
/// look less sure than they are.
const MOST_ENTRIES: usize = 20_000_000;
const MOST_SAMPLES: usize = 50_000;

/// Entries of all tables that are resampled side by side, at 12 bytes each and again as much for the search: about 1 GB.
const MOST_TOGETHER: usize = 40_000_000;

/// Above so many variables resampled tables have one start only.
const MANY: usize = 500;

/// The side of a split without the first variable, by its variables.
type Side = Vec<u32>;

/// For every inner edge the share of resampled tables whose tree has its split. Trees are those of the distances, contracted by
/// their errors; an edge that only the likelihood pays for shows in fewer.
pub(super) fn bootstrap(
    params: &Params,
    table: &Table,
    tree: &Tree,
    states: usize,
    progress: &dyn Progress,
) -> Result<BTreeMap<(usize, usize), f64>> {
    let edges = splits(tree);
    let mut counts = vec![0usize; edges.len()];
    if params.bootstrap == 0 || edges.is_empty() {
        return Ok(BTreeMap::new());
    }
    progress.stage("resampling", params.bootstrap as u64);
    let contraction = match params.contraction {
        Contraction::None => Contraction::None,
        _ => Contraction::Jackknife,
    };
    // The other starts seldom win in large trees, and cost as much again for every table.
    let large = table.variables().len() > MANY && params.method == Method::Auto;
    let method = if large { Method::Insertion } else { params.method };
    let plain = Params { contraction, method, ..params.clone() };
    let most = most_samples(table);
    let round = |round: usize| -> Result<BTreeSet<Side>> {
        progress.check()?;
        let found = stage(progress, &format!("table {round}"), |_| {
            let mut rng = random::rng(params.seed, RESAMPLED + round as u64);
            let n = table.samples();
            let drawn = table.take((0..n.min(most)).map(|_| rng.random_range(0..n)));
            let (spectra, distances) = Spectra::and_distances(&drawn, |_| Ok(states - 1), &Silent)?;
            let components = spectra.components();
            drop((spectra, drawn));
            let found = plain.forest(&components, &distances, &Silent)?;
            Ok(splits(&found).into_values().collect())
        })?;
        progress.advance(1);
        Ok(found)
    };
    let together = side_by_side(table).min(params.bootstrap);
    let mut found: Vec<BTreeSet<Side>> = Vec::with_capacity(params.bootstrap);
    for first in (0..params.bootstrap).step_by(together) {
        let rounds = first..(first + together).min(params.bootstrap);
        let some = rounds.into_par_iter().with_max_len(1).map(round);
        found.extend(some.collect::<Result<Vec<_>>>()?);
    }
    for there in &found {
        for (count, side) in counts.iter_mut().zip(edges.values()) {
            *count += usize::from(there.contains(side));
        }
    }
    let share = |count: usize| count as f64 / params.bootstrap as f64;
    Ok(edges.into_keys().zip(counts.into_iter().map(share)).collect())
}

/// Rows of a resampled table, at most.
fn most_samples(table: &Table) -> usize {
    MOST_SAMPLES.max(MOST_ENTRIES / table.entries().div_ceil(table.samples().max(1)).max(1))
}

/// Tables are resampled side by side, since much of the search for a tree runs on one thread, but no more than there are threads, nor
/// than fit into memory: a thread that waits inside one table would begin the next, and all of them would be held half-done.
pub(in crate::trees) fn side_by_side(table: &Table) -> usize {
    let entries = most_samples(table).min(table.samples()) * table.entries().div_ceil(table.samples().max(1));
    (MOST_TOGETHER / entries.max(1)).clamp(1, rayon::current_num_threads())
}

/// Rows and entries of one resampled table.
pub(in crate::trees) fn resampled(table: &Table) -> (usize, usize) {
    let samples = most_samples(table).min(table.samples());
    (samples, samples * table.entries().div_ceil(table.samples().max(1)))
}

/// The splits of inner edges: those with at least two variables on either side.
fn splits(tree: &Tree) -> BTreeMap<(usize, usize), Side> {
    let mut found = BTreeMap::new();
    for component in tree.components() {
        let observed: Vec<usize> = component.iter().copied().filter(|&node| !tree.is_hidden(node)).collect();
        let Some(&root) = observed.first() else { continue };
        let order = tree.walk(root);
        let mut below: BTreeMap<usize, Side> = BTreeMap::new();
        for &(node, parent) in order.iter().rev() {
            let mut own = below.remove(&node).unwrap_or_default();
            if !tree.is_hidden(node) {
                own.push(node as u32);
            }
            if let Some(parent) = parent {
                if own.len() > 1 && own.len() + 1 < observed.len() {
                    own.sort_unstable();
                    found.insert((node.min(parent), node.max(parent)), own.clone());
                }
                below.entry(parent).or_default().extend(own);
            }
        }
    }
    found
}
