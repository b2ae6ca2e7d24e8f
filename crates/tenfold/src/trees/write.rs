//! Drawn data to files: tables, events, and the tree behind them.

use super::data::{Kind, Row, Table};
use super::newick::to_newick;
use super::tree::Tree;
use crate::error::{Error, Result};
use crate::output::{push_cell, write_atomically, write_error};
use std::path::Path;

fn cell(text: &str) -> String {
    let mut cell = String::new();
    push_cell(&mut cell, text, ',');
    cell
}

/// The name of a number of a variable, which is the variable's own where it has one number only.
fn feature_name(table: &Table, variable: usize, label: usize) -> String {
    let variable = &table.variables()[variable];
    if variable.labels.len() == 1 {
        variable.name.clone()
    } else {
        format!("{}.{}", variable.name, variable.labels[label])
    }
}

/// Writes samples as CSV, a row each: a column for every category, which holds its level, and one for every number of the other
/// variables, called `variable.label` where there are several. Missing cells are empty.
///
/// # Errors
/// When the disk refuses.
pub fn write_samples(path: &Path, table: &Table) -> Result<()> {
    let mut names = Vec::new();
    for (v, variable) in table.variables().iter().enumerate() {
        match variable.kind {
            Kind::Category => names.push(cell(&variable.name)),
            _ => names.extend((0..variable.width()).map(|l| cell(&feature_name(table, v, l)))),
        }
    }
    write_atomically(path, |out| {
        let fail = |e| write_error(path, e);
        writeln!(out, "{}", names.join(",")).map_err(fail)?;
        let mut line = String::new();
        for sample in 0..table.samples() {
            line.clear();
            row_text(table, table.row(sample), &mut line);
            writeln!(out, "{line}").map_err(fail)?;
        }
        Ok(())
    })
}

fn row_text(table: &Table, row: Row, line: &mut String) {
    let (mut next, mut first) = (0, true);
    let mut put = |text: &str| {
        if !std::mem::take(&mut first) {
            line.push(',');
        }
        line.push_str(text);
    };
    for (v, variable) in table.variables().iter().enumerate() {
        let features = table.features_of(v);
        let missing = row.missing.binary_search(&(v as u32)).is_ok();
        let from = next;
        while row.features.get(next).is_some_and(|&f| (f as usize) < features.end) {
            next += 1;
        }
        let held = row.features[from..next].iter().zip(&row.values[from..next]);
        if variable.kind == Kind::Category {
            let level = row.features[from..next].first().map_or(0, |&f| f as usize - features.start + 1);
            put(&if missing { String::new() } else { cell(&variable.labels[level]) });
            continue;
        }
        let mut values = vec![0.0; variable.width()];
        held.for_each(|(&f, &x)| values[f as usize - features.start] = x);
        values.iter().for_each(|x| put(&if missing { String::new() } else { x.to_string() }));
    }
}

/// Writes samples as events, a row `patient,code` each: a flag that is up, a count as often as it says, a level that is not the
/// reference. Codes are called as the columns of [`write_samples`]; the level of a binary category by its variable. A sample without
/// events does not appear.
///
/// # Errors
/// When there are real variables or missing values, which events cannot say; when the disk refuses.
pub fn write_events(path: &Path, table: &Table) -> Result<()> {
    if table.has_missing() || table.variables().iter().any(|v| v.kind == Kind::Real) {
        return Err(Error::Unfit {
            problem: "real numbers and missing values cannot be written as events".into(),
            remedy: "write the samples as a table".into(),
        });
    }
    let codes = codes(table);
    write_atomically(path, |out| {
        let fail = |e| write_error(path, e);
        out.write_all(b"patient,code\n").map_err(fail)?;
        for sample in 0..table.samples() {
            let row = table.row(sample);
            for (&f, &x) in row.features.iter().zip(row.values) {
                for _ in 0..x.max(0.0) as u64 {
                    writeln!(out, "{},{}", sample + 1, codes[f as usize].0).map_err(fail)?;
                }
            }
        }
        Ok(())
    })
}

/// Writes the map of the codes of [`write_events`] to their variables, with the columns `code` and `group`.
///
/// # Errors
/// When the disk refuses.
pub fn write_groups(path: &Path, table: &Table) -> Result<()> {
    let text: String = codes(table)
        .iter()
        .map(|(code, v)| format!("{code},{}\n", cell(&table.variables()[*v].name)))
        .collect();
    write_text(path, &format!("code,group\n{text}"))
}

/// The code and the variable of every feature.
fn codes(table: &Table) -> Vec<(String, usize)> {
    let mut codes = Vec::new();
    for (v, variable) in table.variables().iter().enumerate() {
        for f in 0..variable.width() {
            let code = match variable.kind {
                Kind::Category if variable.width() == 1 => variable.name.clone(),
                Kind::Category => feature_name(table, v, f + 1),
                _ => feature_name(table, v, f),
            };
            codes.push((cell(&code), v));
        }
    }
    codes
}

/// Writes the tree behind samples in the Newick format.
///
/// # Errors
/// When the disk refuses.
pub fn write_tree(path: &Path, tree: &Tree, table: &Table) -> Result<()> {
    let names: Vec<String> = table.variables().iter().map(|v| v.name.clone()).collect();
    write_text(path, &to_newick(tree, &names, &|_, _| None))
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    write_atomically(path, |out| out.write_all(text.as_bytes()).map_err(|e| write_error(path, e)))
}
