//! CSV and TSV, in pieces of whole lines that are parsed in parallel.

use super::columns::Columns;
use super::gather::{Gather, Part};
use super::{Options, Read, WANTED};
use crate::error::Result;
use crate::input::numbers::{Bad, decimal, line, shown};
use crate::input::rows::{Cells, Kind, MOST_CELLS, RowReader};
use crate::input::{Source, parse_lines};
use crate::output::text_of_cell;
use std::borrow::Cow;
use std::ops::ControlFlow;
use tenfold_engine::progress::{Progress, Silent};

/// Bytes of the first line at most.
const LONGEST: u64 = 1 << 20;

const MEND: &str =
    "mend the line; a cell with separators in it stands in quotes, and no cell has line breaks";

pub(super) fn read(source: &Source, tabs: bool, options: &Options, progress: &dyn Progress) -> Result<Read> {
    let (names, separator, skip) = heading(source, tabs)?;
    let columns = Columns::choose(source.path(), Some(skip.1), &names, options)?;
    let parser =
        Parser { columns: &columns, separator, width: names.len(), numbers: columns.numbers().collect() };
    let mut gather = Gather::default();
    let take = |part: Part| {
        gather.take(part);
        Ok(ControlFlow::Continue(()))
    };
    parse_lines(source, skip, |piece| parser.piece(piece), take, progress)?;
    Ok(gather.finish(source.path(), columns))
}

/// The names of the first line with anything on it, what separates cells, and the bytes and lines up to there.
fn heading(source: &Source, tabs: bool) -> Result<(Vec<String>, u8, (u64, u64))> {
    let head = source.head(LONGEST);
    let (mut at, mut lines) = (0, 0);
    while at < head.len() && line(&head, at).0.is_empty() {
        at = line(&head, at).1;
        lines += 1;
    }
    let kind = if tabs { Kind::Tsv } else { Kind::Csv };
    let mut rows = RowReader::new(source, kind, LONGEST, &Silent)?;
    let mut cells = Cells::default();
    while let Some(number) = rows.next(&mut cells)? {
        if cells.is_blank() {
            continue;
        }
        let names = cells.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect();
        let separator = if tabs {
            b'\t'
        } else if rows.has_semicolons() {
            b';'
        } else {
            b','
        };
        let (text, next) = line(&head, at);
        if number != lines + 1 || text.iter().filter(|&&b| b == b'"').count() % 2 == 1 {
            return Err(source.fail(number, "has names with line breaks in them", MEND));
        }
        return Ok((names, separator, (next as u64, number)));
    }
    Err(source.fail(None, "holds no lines", WANTED))
}

struct Parser<'a> {
    columns: &'a Columns,
    separator: u8,
    /// Cells of a line.
    width: usize,
    numbers: Vec<usize>,
}

/// A cell and what follows its separator; nothing at the end of the line.
type CellAndRest<'t> = (Cow<'t, [u8]>, Option<&'t [u8]>);

impl Parser<'_> {
    fn piece(&self, piece: &[u8]) -> std::result::Result<(Part, u64), Bad> {
        let (mut part, mut lines, mut at) = (Part::default(), 0, 0);
        let mut cells: Vec<Cow<[u8]>> = Vec::with_capacity(self.width);
        let mut numbers = vec![0.0; self.numbers.len()];
        while at < piece.len() {
            let (text, next) = line(piece, at);
            if !text.is_empty() {
                self.split(text, &mut cells)
                    .and_then(|()| self.row(&cells, &mut numbers, &mut part))
                    .map_err(|bad| bad.at(lines))?;
            }
            lines += 1;
            at = next;
        }
        part.shrink();
        Ok((part, lines))
    }

    fn row(&self, cells: &[Cow<[u8]>], numbers: &mut [f64], part: &mut Part) -> std::result::Result<(), Bad> {
        if cells.len() != self.width {
            // Trailing separators are lost where the end of the line is trimmed: empty cells of TSV.
            let problem = format!("has {} cells where {} were expected", cells.len(), self.width);
            return Err(Bad::new(problem, MEND));
        }
        for (i, &column) in self.numbers.iter().enumerate() {
            numbers[i] = match number(&cells[column]) {
                Some(number) => number,
                None if self.columns.may_miss(i) && is_missing(&cells[column]) => f64::NAN,
                None => {
                    let problem = format!("has {:?} where a number was expected", shown(&cells[column]));
                    return Err(Bad::new(
                        problem,
                        "mend the line; places must be known, other numbers may be missing",
                    ));
                }
            };
        }
        let name = |at: Option<usize>| match at
            .map_or(Cow::Borrowed(""), |at| String::from_utf8_lossy(cells[at].trim_ascii()))
        {
            Cow::Borrowed(text) => Cow::Borrowed(text_of_cell(text)),
            Cow::Owned(text) => Cow::Owned(text_of_cell(&text).to_owned()),
        };
        match self.columns.cell(numbers) {
            Ok(cell) => {
                part.push(&name(self.columns.image), &name(self.columns.gene), cell);
                Ok(())
            }
            Err((i, problem)) => Err(Bad::new(
                format!("has {:?}, but {problem}", shown(&cells[self.numbers[i]])),
                "mend the line",
            )),
        }
    }

    /// The cells of a line.
    fn split<'t>(&self, line: &'t [u8], cells: &mut Vec<Cow<'t, [u8]>>) -> std::result::Result<(), Bad> {
        cells.clear();
        let mut rest = line;
        loop {
            let (cell, behind) = match rest {
                [b'"', inside @ ..] => self.quoted(inside)?,
                _ => {
                    let end = rest.iter().position(|&b| b == self.separator);
                    (Cow::Borrowed(&rest[..end.unwrap_or(rest.len())]), end.map(|end| &rest[end + 1..]))
                }
            };
            cells.push(cell);
            if cells.len() > MOST_CELLS {
                return Err(Bad::new(format!("has more than {MOST_CELLS} cells"), MEND));
            }
            match behind {
                Some(behind) => rest = behind,
                None => break,
            }
        }
        // The end of a line was cut where it is blank, and tabs are blank.
        while self.separator == b'\t' && cells.len() < self.width {
            cells.push(Cow::Borrowed(b""));
        }
        Ok(())
    }

    /// A cell behind its opening quote, and what follows it.
    fn quoted<'t>(&self, inside: &'t [u8]) -> std::result::Result<CellAndRest<'t>, Bad> {
        let (mut text, mut at) = (Vec::new(), 0);
        loop {
            match inside.get(at) {
                None => return Err(Bad::new("opens a quote that is not closed in its line", MEND)),
                Some(b'"') if inside.get(at + 1) == Some(&b'"') => {
                    text.push(b'"');
                    at += 2;
                }
                Some(b'"') => break,
                Some(byte) => {
                    text.push(*byte);
                    at += 1;
                }
            }
        }
        match inside.get(at + 1) {
            None => Ok((Cow::Owned(text), None)),
            Some(byte) if *byte == self.separator => Ok((Cow::Owned(text), Some(&inside[at + 2..]))),
            Some(_) => Err(Bad::new("has text behind a closing quote", MEND)),
        }
    }
}

/// A finite number; quickly where it is short and plain.
fn number(cell: &[u8]) -> Option<f64> {
    let cell = cell.trim_ascii();
    let mut at = 0;
    match decimal(cell, &mut at) {
        Some(number) if at == cell.len() => Some(number),
        _ => std::str::from_utf8(cell).ok()?.parse().ok().filter(|x: &f64| x.is_finite()),
    }
}

fn is_missing(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    cell.is_empty()
        || [&b"nan"[..], b"na", b"n/a", b"null", b"none", b"-"].iter().any(|m| cell.eq_ignore_ascii_case(m))
}
