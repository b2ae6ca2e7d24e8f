//! What a fit says of its data and its tree.

use super::super::data::Table;
use super::super::moments::Spectra;
use super::super::picture::HeldOut;
use super::super::tree::Tree;
use super::super::units::Units;
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

/// Real variables that vary in a few samples only; `table` is that of the data, in its own units.
pub(super) fn outliers(units: &Units, table: &Table, verdict: &mut Verdict) {
    let found = units.outliers(table);
    let [worst, ..] = &found[..] else { return };
    let variable = &table.variables()[worst.variable];
    let label = &variable.labels[worst.feature - table.features_of(worst.variable).start];
    let name = match variable.labels.len() {
        1 => variable.name.clone(),
        _ => format!("{} ({label})", variable.name),
    };
    // Numbers far from 1 would be rows of digits.
    let number = |x: f64| {
        if x == 0.0 || (1e-4..1e7).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
    };
    let cells: Vec<String> =
        worst.cells.iter().map(|(sample, x, _)| format!("{} in row {}", number(*x), sample + 1)).collect();
    let share: f64 = worst.cells.iter().map(|(_, _, share)| share).sum();
    let others = match found.len() {
        1 => String::new(),
        2 => "; one more is like that".into(),
        n => format!("; {} more are like that", n - 1),
    };
    verdict.warn(format!(
        "{name} varies by little else than {} ({:.1} % of its variance; rows are counted from 1){others}: what the other rows say is \
         lost beside that. Correct such numbers or leave them empty; where they are right, give logarithms or ranks",
        cells.join(", "),
        100.0 * share
    ));
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
