//! Tables with a sample a row: CSV and TSV.

use super::columns::{Column, is_missing};
use super::{Format, Input, Options, Samples, variables};
use crate::error::Result;
use crate::input::Source;
use crate::input::decode::utf8;
use crate::input::rows::{Cells, Kind, RowReader, TOO_WIDE};
use crate::trees::data::MOST_VARIABLES;
use tenfold_engine::progress::Progress;

/// Rows between two looks whether to stop.
const ROWS: u64 = 1 << 12;

/// Most bytes of a quoted cell: a longer one is a quote that is not closed.
const LONGEST: u64 = 1 << 24;

/// What to do about a row of another length.
const MEND: &str = "mend the line; a cell with separators in it stands in quotes";

pub(super) fn read(
    source: &Source,
    format: Format,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Input> {
    let kind = if format == Format::Tsv { Kind::Tsv } else { Kind::Csv };
    let mut rows = RowReader::new(source, kind, LONGEST, progress)?;
    rows.too_large = "close the quote; within quotes a quote is written twice";
    let mut row = Cells::default();
    let mut next = rows.next(&mut row)?;
    while next.is_some() && row.is_blank() {
        next = rows.next(&mut row)?;
    }
    let Some(line) = next else {
        return Err(source.fail(None, "holds no lines", "give a table with at least one sample"));
    };
    if row.len() > MOST_VARIABLES {
        let problem = format!("has {} columns, more than {MOST_VARIABLES}", row.len());
        return Err(source.fail(line, problem, TOO_WIDE));
    }
    let first: Vec<String> = row
        .iter()
        .map(|c| utf8(source.path(), c, line).map(|c| c.trim().to_owned()))
        .collect::<Result<_>>()?;
    let known = |cell: &String| options.like.iter().any(|v| v.name == *cell || v.labels.contains(cell));
    let has_names = options.header.unwrap_or_else(|| first.iter().any(known) || are_names(&first));
    let names: Vec<String> = match has_names {
        true => first
            .iter()
            .enumerate()
            .map(|(i, n)| if n.is_empty() { format!("c{}", i + 1) } else { n.clone() })
            .collect(),
        false => (1..=first.len()).map(|i| format!("c{i}")).collect(),
    };
    let mut taken = Taken::new(source.path(), &names, options)?;
    if has_names {
        next = rows.next(&mut row)?;
    }
    while let Some(line) = next {
        if line.is_multiple_of(ROWS) {
            progress.check()?;
        }
        if !row.is_blank() || names.len() == 1 {
            if row.len() != names.len() {
                let problem = format!("has {} cells where {} were expected", row.len(), names.len());
                return Err(source.fail(line, problem, MEND));
            }
            match row.text() {
                Some(text) => {
                    row.spans().enumerate().for_each(|(at, span)| taken.push(at, &text[span], line));
                }
                // One of the cells is not UTF-8, and this says where.
                None => row.iter().try_for_each(|cell| utf8(source.path(), cell, line).map(|_| ()))?,
            }
        }
        next = rows.next(&mut row)?;
    }
    let mut input = taken.finish(source.path(), options, progress)?;
    if !has_names {
        input.notes.push("the first line is a sample; the columns have no names".into());
    }
    if rows.has_semicolons() {
        input.notes.push("cells stand between semicolons".into());
    }
    Ok(input)
}

/// Whether a first line holds names: none of its cells is a number or missing, but perhaps the first, and no two are the same.
fn are_names(first: &[String]) -> bool {
    let mut sorted: Vec<&String> = first.iter().collect();
    sorted.sort_unstable();
    let differ = sorted.windows(2).all(|w| w[0] != w[1]);
    differ
        && first
            .iter()
            .enumerate()
            .all(|(i, c)| c.parse::<f64>().is_err() && (!is_missing(c) || i == 0 && first.len() > 1))
}

/// The columns that are read, and the names of the samples.
pub(super) struct Taken {
    columns: Vec<Column>,
    /// The place of every column of the file among them.
    places: Vec<Option<usize>>,
    /// The column of the file that names the samples.
    id: Option<usize>,
    ids: Vec<String>,
}

impl Taken {
    pub(super) fn new(path: &std::path::Path, names: &[String], options: &Options) -> Result<Self> {
        for id in &options.ids {
            if !names.contains(id) {
                let problem = format!("has no column {id:?}; the columns are {}", super::listed(names));
                return Err(super::fail(path, None, problem, "give --ids the name of a column"));
            }
        }
        let (mut columns, mut places) = (Vec::new(), Vec::new());
        for name in names {
            let kept = !options.ids.contains(name);
            places.push(kept.then_some(columns.len()));
            if kept {
                columns.push(Column::new(name, options.kind_of(name)));
            }
        }
        let id = options.ids.first().and_then(|id| names.iter().position(|n| n == id));
        Ok(Self { columns, places, id, ids: Vec::new() })
    }

    /// Takes the next cell of a column of the file.
    pub(super) fn push(&mut self, at: usize, cell: &str, line: u64) {
        if let Some(place) = self.places.get(at).copied().flatten() {
            self.columns[place].push(cell, line);
        }
        if self.id == Some(at) {
            self.ids.push(cell.trim().to_owned());
        }
    }

    pub(super) fn finish(
        self,
        path: &std::path::Path,
        options: &Options,
        progress: &dyn Progress,
    ) -> Result<Input> {
        let samples = if self.id.is_some() { Samples::named(self.ids) } else { Samples::Numbered };
        variables::finish(path, &self.columns, samples, options, progress)
    }
}
