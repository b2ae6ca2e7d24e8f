//! Tables with a column of text: CSV and TSV.

use super::lexicon::Texts;
use super::{Format, ReadOptions, fail};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::input::decode::utf8;
use crate::input::rows::{Cells, Kind, RowReader};
use crate::topics::data::Corpus;
use std::path::Path;
use tenfold_engine::progress::Progress;

/// Bytes of text that are tokenised together.
const BATCH: usize = 16 << 20;

/// Columns that are taken for the text when none is named.
const USUAL: [&str; 8] = ["text", "document", "body", "content", "abstract", "message", "review", "sentence"];

/// The columns in use.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) text: usize,
    pub(super) id: Option<usize>,
    pub(super) has_header: bool,
}

impl Columns {
    /// What was chosen, for people.
    fn describe(&self, first: &[String]) -> String {
        match self.has_header {
            true => format!("text from column {}; the first line holds the columns' names", first[self.text]),
            false => format!("text from column {}; the first line is a document", self.text + 1),
        }
    }
}

/// Reads every row. In a table of one column a blank line is an empty document, so that the places of the others stay
/// right; in a wider one it is no row, and passed over.
pub(super) fn read(
    source: &Source,
    format: Format,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Corpus> {
    let kind = if format == Format::Tsv { Kind::Tsv } else { Kind::Csv };
    // A batch is held in any case, so a row may take as much whatever the memory.
    let mut rows = RowReader::new(source, kind, options.memory.max(BATCH as u64), progress)?;
    let (mut row, mut blank) = (Cells::default(), 0);
    let mut next = rows.next(&mut row)?;
    while next.is_some() && row.is_blank() {
        blank += 1;
        next = rows.next(&mut row)?;
    }
    if next.is_none() {
        return Err(source.fail(None, "holds no lines", "give a file with at least one document"));
    }
    let first: Vec<String> = row.iter().map(|c| String::from_utf8_lossy(c).trim().to_owned()).collect();
    let columns = choose(source.path(), &first, options)?;
    let mut kept = Kept { texts: Texts::new(source.path(), options)?, waiting: Vec::new(), bytes: 0 };
    kept.texts.note(columns.describe(&first));
    let (mut names, single) = (Vec::new(), first.len() == 1);
    if columns.has_header {
        next = rows.next(&mut row)?;
    } else if single {
        kept.waiting.resize(std::mem::take(&mut blank), String::new());
    }
    while let Some(line) = next {
        if row.is_blank() && !single {
            blank += 1;
        } else {
            narrow(source, &row, first.len(), line)?;
            kept.take(cell(source, &row, columns.text, line)?, progress)?;
            if let Some(id) = columns.id {
                names.push(cell(source, &row, id, line)?);
            }
        }
        next = rows.next(&mut row)?;
    }
    let Kept { mut texts, waiting, .. } = kept;
    texts.take(&waiting)?;
    let open = rows.open_quotes;
    if rows.has_semicolons() {
        texts.note("cells stand between semicolons, because the first line has those and no comma");
    }
    for (count, what) in [
        (blank, "blank lines were passed over"),
        (open, "cells begin with a quote that does not close at their end; they were taken as they stand"),
    ] {
        if count > 0 {
            texts.note(format!("{count} {what}"));
        }
    }
    texts.finish(columns.id.map(|_| names))
}

/// Texts, tokenised together when there are enough of them.
struct Kept<'a> {
    texts: Texts<'a>,
    waiting: Vec<String>,
    bytes: usize,
}

impl Kept<'_> {
    fn take(&mut self, text: String, progress: &dyn Progress) -> Result<()> {
        self.bytes += text.len() + size_of::<String>();
        self.waiting.push(text);
        if self.bytes > BATCH {
            progress.check()?;
            self.texts.take(&self.waiting)?;
            self.waiting.clear();
            self.bytes = 0;
        }
        Ok(())
    }
}

/// Refuses a row with more cells than the first one: text would be lost. Empty cells at its end hold nothing.
fn narrow(source: &Source, row: &Cells, cells: usize, line: u64) -> Result<()> {
    let filled = (cells..row.len()).filter(|&i| row.get(i).is_some_and(|c| !c.trim_ascii().is_empty()));
    match filled.max() {
        Some(last) => Err(source.fail(
            line,
            format!("has {} fields where {cells} were expected", last + 1),
            "mend the line; text with separators in it must stand in quotes",
        )),
        None => Ok(()),
    }
}

fn cell(source: &Source, row: &Cells, column: usize, line: u64) -> Result<String> {
    let Some(bytes) = row.get(column) else {
        let (found, wanted) = (row.len(), column + 1);
        return Err(source.fail(
            line,
            format!("has {found} fields where at least {wanted} were expected"),
            "mend the line; text with separators in it must stand in quotes",
        ));
    };
    utf8(source.path(), bytes, line).map(str::to_owned)
}

/// The columns that the options name, by name or by number from 1, or the usual one.
fn choose(path: &Path, first: &[String], options: &ReadOptions) -> Result<Columns> {
    let place = |wanted: &str| first.iter().position(|name| name.eq_ignore_ascii_case(wanted));
    let usual = USUAL.iter().find_map(|name| place(name));
    let named = options.text_column.as_deref().map(|name| (name, place(name)));
    let looks_like_names = || {
        named.is_some_and(|(_, found)| found.is_some())
            || options.text_column.is_none() && usual.is_some()
            || first
                .iter()
                .all(|c| !c.is_empty() && c.len() <= 40 && !c.contains(' ') && c.parse::<f64>().is_err())
                && first.len() > 1
    };
    let has_header = options.header.unwrap_or_else(looks_like_names);
    let find = |wanted: &str| {
        let by_name = has_header.then(|| place(wanted)).flatten();
        by_name
            .or_else(|| wanted.parse::<usize>().ok().filter(|n| (1..=first.len()).contains(n)).map(|n| n - 1))
    };
    let missing = |wanted: &str| no_column(path, wanted, first, has_header);
    let wanted = [options.text_column.as_deref(), options.id_column.as_deref()];
    for name in wanted.into_iter().flatten().filter(|_| has_header) {
        let places: Vec<usize> = (0..first.len()).filter(|&i| first[i].eq_ignore_ascii_case(name)).collect();
        if let [a, b, ..] = places[..] {
            let problem = format!("columns {} and {} are both called {name:?}", a + 1, b + 1);
            return Err(fail(path, problem, "give the number of the column that is meant"));
        }
    }
    let text = match &options.text_column {
        Some(wanted) => find(wanted).ok_or_else(|| missing(wanted))?,
        None if first.len() == 1 => 0,
        None => usual.filter(|_| has_header).ok_or_else(|| missing("text"))?,
    };
    let id =
        options.id_column.as_deref().map(|wanted| find(wanted).ok_or_else(|| missing(wanted))).transpose()?;
    Ok(Columns { text, id, has_header })
}

fn no_column(path: &Path, wanted: &str, names: &[String], has_header: bool) -> Error {
    let held = match has_header {
        true => format!(
            "the columns are {}",
            names.iter().take(20).map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ")
        ),
        false => format!("there are {} columns, which have no names", names.len()),
    };
    fail(
        path,
        format!("has no column {wanted:?}; {held}"),
        "name the column of the text with --text-column, by its name or its number from 1",
    )
}

/// [`choose`] for a table whose columns have names.
#[cfg(feature = "parquet")]
pub(super) fn choose_named(path: &Path, names: &[String], options: &ReadOptions) -> Result<Columns> {
    choose(path, names, &ReadOptions { header: Some(true), ..options.clone() })
}
