//! What a fit says of its data and its tree.

use super::super::data::Table;
use super::super::moments::Spectra;
use super::super::picture::HeldOut;
use super::super::tree::Tree;
use crate::verdict::Verdict;
use std::collections::BTreeMap;

/// What is wrong or remarkable about the data.
pub(super) fn data(spectra: &Spectra, table: &Table, verdict: &mut Verdict) {
    let name = |v: usize| table.variables()[v].name.as_str();
    let constants = spectra.constants();
    if let [first, ..] = constants[..] {
        verdict.note(format!(
            "{} variables do not vary ({} …); they stand alone",
            constants.len(),
            name(first)
        ));
    }
    let duplicates = spectra.duplicates();
    if let [(a, b), ..] = duplicates[..] {
        verdict.warn(format!(
            "{} pair{} of variables tell each other exactly, such as {} and {}: keep one of each pair",
            duplicates.len(),
            if duplicates.len() == 1 { "" } else { "s" },
            name(a),
            name(b)
        ));
    }
    if let Some(needed) = spectra.too_few() {
        verdict.warn(format!(
            "{} samples are few for variables this wide; about {needed} are needed before distances say much",
            table.samples()
        ));
    }
}

/// How far to trust the tree.
pub(super) fn tree(
    tree: &Tree,
    support: &BTreeMap<(usize, usize), f64>,
    held_out: Option<HeldOut>,
    verdict: &mut Verdict,
) {
    let weak = support.values().filter(|s| **s < 0.5).count();
    if weak > 0 && 3 * weak >= support.len() {
        verdict.warn(format!(
            "{weak} of {} inner edges stand in less than half of the resampled tables: do not read them as facts",
            support.len()
        ));
    } else if weak > 0 {
        verdict.note(format!(
            "{weak} of {} inner edges stand in less than half of the resampled tables",
            support.len()
        ));
    }
    if let Some(held) = held_out
        && held.tree < held.chow_liu
    {
        verdict.warn(format!(
            "a tree without hidden nodes predicts held-out samples better ({:.3} against {:.3} nats)",
            held.chow_liu, held.tree
        ));
    }
    if tree.hidden().next().is_none() {
        verdict.warn("no hidden node was found: the variables are too few or hang together too little");
    }
}
