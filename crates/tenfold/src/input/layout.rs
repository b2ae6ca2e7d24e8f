//! The columns of a text file, and how one of its lines becomes numbers.

use super::disk::Disk;
use super::{Options, numbered};
use crate::error::{Error, Result};
use csv::ByteRecord;
use std::path::PathBuf;

/// What the first line of a text file tells about all of them.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    path: PathBuf,
    /// Names of the columns that are read.
    pub(super) names: Vec<String>,
    /// Their places in a line.
    chosen: Vec<usize>,
    /// Cells in every line.
    width: usize,
    delimiter: u8,
    pub(super) has_header: bool,
    /// Whether cells without a number are read as NaN.
    gaps: bool,
}

impl Layout {
    pub(super) fn new(disk: &Disk, first: &ByteRecord, delimiter: u8, options: &Options) -> Result<Self> {
        let gaps = options.gaps;
        let is_word = |cell: &[u8]| {
            !cell.trim_ascii().is_empty() && number(cell).is_none() && !(gaps && is_missing(cell))
        };
        let has_header = options.header.unwrap_or_else(|| first.iter().any(is_word));
        let mut all = numbered("c", first.len());
        if has_header {
            for (name, cell) in all.iter_mut().zip(first) {
                // A nameless column, such as the index that pandas writes, keeps its number.
                if !cell.trim_ascii().is_empty() {
                    *name = String::from_utf8_lossy(cell.trim_ascii()).into_owned();
                }
            }
        }
        let chosen = choose(disk, &all, options.columns.as_deref())?;
        let names = chosen.iter().map(|&j| all[j].clone()).collect();
        let (path, width) = (disk.path().to_owned(), first.len());
        Ok(Self { path, names, chosen, width, delimiter, has_header, gaps })
    }

    /// Appends the chosen numbers of a line, the `line`-th of the file, to `out`.
    pub(super) fn parse(&self, record: &ByteRecord, line: u64, out: &mut Vec<f64>) -> Result<()> {
        if record.len() != self.width {
            let fields = if record.len() == 1 { "field" } else { "fields" };
            let problem = format!("has {} {fields} where {} were expected", record.len(), self.width);
            return Err(self.fail(
                line,
                problem,
                "every line must have as many fields as the first: mend the line",
            ));
        }
        for (&j, name) in self.chosen.iter().zip(&self.names) {
            match number(&record[j]) {
                Some(x) if x.is_finite() || self.gaps => out.push(x),
                None if self.gaps && is_missing(&record[j]) => out.push(f64::NAN),
                found => return Err(self.bad_cell(line, name, &record[j], found)),
            }
        }
        Ok(())
    }

    fn bad_cell(&self, line: u64, name: &str, cell: &[u8], found: Option<f64>) -> Error {
        let text: String = String::from_utf8_lossy(cell).chars().take(40).collect();
        if found.is_some() {
            let problem = format!("column {name} is {text:?}, which is not finite");
            return self.fail(line, problem, "every value must be a finite number: fill or drop such rows");
        }
        let problem = format!("column {name} is {text:?} where a number was expected");
        let remedy = if line == 1 {
            "if the first line holds the columns' names, say --header"
        } else if is_missing(cell) {
            "missing values are not read: fill or drop such rows"
        } else if self.width == 1
            && text.contains([';', '\t', ',', ' '])
            && !text.contains(self.delimiter as char)
        {
            "if the cells are separated by another character, name it with --delimiter"
        } else {
            "mend the cell, or choose the numeric columns with --columns"
        };
        self.fail(line, problem, remedy)
    }

    fn fail(&self, line: u64, problem: String, remedy: &str) -> Error {
        Error::Read { path: self.path.clone(), line: Some(line), problem, remedy: remedy.to_owned() }
    }
}

/// The places of the columns asked for among `all`.
pub(super) fn choose(disk: &Disk, all: &[String], asked: Option<&[String]>) -> Result<Vec<usize>> {
    let Some(asked) = asked else { return Ok((0..all.len()).collect()) };
    let place = |name: &String| {
        let mut found = all.iter().enumerate().filter(|(_, have)| *have == name).map(|(j, _)| j);
        match (found.next(), found.next()) {
            (Some(j), None) => Ok(j),
            (Some(_), Some(_)) => Err(disk.fail(
                format!("has more than one column named {name:?}"),
                "give the columns different names to choose among them",
            )),
            (None, _) => {
                let some: Vec<_> = all.iter().take(20).map(String::as_str).collect();
                let more = if all.len() > 20 { ", …" } else { "" };
                Err(disk.fail(
                    format!("has no column named {name:?}"),
                    format!("choose --columns among {}{more}", some.join(", ")),
                ))
            }
        }
    };
    asked.iter().map(place).collect()
}

/// Whether a cell says that there is no value.
fn is_missing(cell: &[u8]) -> bool {
    let words: [&[u8]; 7] = [b"", b"na", b"n/a", b"null", b"none", b"-", b"?"];
    words.iter().any(|word| cell.trim_ascii().eq_ignore_ascii_case(word))
}

/// The number a cell holds, finite or not.
fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell.trim_ascii()).ok()?.parse().ok()
}
