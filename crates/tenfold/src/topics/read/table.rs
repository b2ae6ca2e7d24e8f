//! Tables with a column of text: CSV and TSV.

use super::lexicon::Texts;
use super::source::Source;
use super::{Format, ReadOptions, fail};
use crate::error::{Error, Result};
use crate::input::{csv_rows, next_row};
use crate::topics::data::Corpus;
use csv::ByteRecord;
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

pub(super) fn read(
    source: &Source,
    format: Format,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Corpus> {
    let delimiter = if format == Format::Tsv { b'\t' } else { b',' };
    source.begin(progress);
    let mut rows = csv_rows(source.reader(progress)?, delimiter);
    let mut record = ByteRecord::new();
    let Some(mut line) = next_row(source.disk(), &mut rows, &mut record)? else {
        return Err(source.fail(None, "holds no lines", "give a file with at least one document"));
    };
    let first: Vec<String> = record.iter().map(|c| String::from_utf8_lossy(c).trim().to_owned()).collect();
    let columns = choose(source.path(), &first, options)?;
    let mut texts = Texts::new(source.path(), options)?;
    let shown = if columns.has_header { first[columns.text].clone() } else { (columns.text + 1).to_string() };
    texts.note(format!(
        "text from column {shown}; the first line {}",
        if columns.has_header { "holds the columns' names" } else { "is a document" }
    ));
    let (mut names, mut waiting, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut skip = columns.has_header;
    loop {
        if !std::mem::take(&mut skip) {
            let text = cell(source, &record, columns.text, line)?;
            bytes += text.len();
            waiting.push(text);
            if let Some(id) = columns.id {
                names.push(cell(source, &record, id, line)?);
            }
            if bytes > BATCH {
                progress.check()?;
                texts.take(&waiting)?;
                waiting.clear();
                bytes = 0;
            }
        }
        match next_row(source.disk(), &mut rows, &mut record)? {
            Some(next) => line = next,
            None => break,
        }
    }
    texts.take(&waiting)?;
    texts.finish(columns.id.map(|_| names))
}

fn cell(source: &Source, record: &ByteRecord, column: usize, line: u64) -> Result<String> {
    let Some(bytes) = record.get(column) else {
        let (found, wanted) = (record.len(), column + 1);
        return Err(source.fail(
            line,
            format!("has {found} fields where at least {wanted} were expected"),
            "mend the line; text with separators in it must stand in quotes",
        ));
    };
    super::decode::utf8(source.path(), bytes, line).map(str::to_owned)
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
