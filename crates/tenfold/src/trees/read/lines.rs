//! Lines with an event each, in pieces of the file.

use super::Format;
use super::columns::is_missing;
use super::fields::Fields;
use super::interner::Interner;
use crate::input::numbers::{Bad, line, shown};
use std::hash::RandomState;

/// What to do about a line that is no event.
const MEND: &str = "mend the line; an event has a sample and a code in every row";

/// Events of a piece of the file, by its own numbers.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) samples: Interner,
    pub(super) codes: Interner,
    pub(super) events: Vec<(u32, u32)>,
    /// Rows without a sample or without a code.
    pub(super) empty: u64,
}

impl Piece {
    pub(super) fn new(hasher: &RandomState) -> Self {
        Self { samples: Interner::new(hasher), codes: Interner::new(hasher), events: Vec::new(), empty: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, sample: &[u8], code: &[u8]) {
        let missing = |cell: &[u8]| cell.len() <= 4 && std::str::from_utf8(cell).is_ok_and(is_missing);
        if missing(sample) || missing(code) {
            self.empty += 1;
            return;
        }
        // The events of a sample mostly stand together.
        let sample = match self.events.last() {
            Some(&(last, _)) if self.samples.name(last as usize) == sample => last,
            _ => self.samples.number(sample),
        };
        let code = self.codes.number(code);
        self.events.push((sample, code));
    }
}

/// A tab, a comma, or a semicolon where the first line has those and no comma.
pub(super) fn separator(head: &[u8], format: Format) -> u8 {
    let first = head.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    match format {
        Format::Tsv => b'\t',
        _ if first.contains(&b',') => b',',
        Format::Events if first.contains(&b'\t') => b'\t',
        _ if first.contains(&b';') => b';',
        _ => b',',
    }
}

pub(super) fn cells(text: &[u8], separator: u8) -> Result<Vec<String>, Bad> {
    let mut cells = Vec::new();
    split(text, separator, |_, cell| cells.push(String::from_utf8_lossy(cell).trim().to_owned()))?;
    Ok(cells)
}

/// Hands over the cells of a line, which may stand in quotes.
fn split(text: &[u8], separator: u8, mut take: impl FnMut(usize, &[u8])) -> Result<(), Bad> {
    let (mut rest, mut at, mut unquoted) = (text, 0, Vec::new());
    loop {
        let next = if rest.first() == Some(&b'"') {
            unquoted.clear();
            let mut i = 1;
            loop {
                match (rest.get(i), rest.get(i + 1)) {
                    (None, _) => {
                        let remedy = "close it; cells with line breaks in them are read from Parquet only";
                        return Err(Bad::new("a quote is not closed on its line", remedy));
                    }
                    (Some(b'"'), Some(b'"')) => {
                        unquoted.push(b'"');
                        i += 2;
                    }
                    (Some(b'"'), _) => break,
                    (Some(&byte), _) => {
                        unquoted.push(byte);
                        i += 1;
                    }
                }
            }
            let end = rest[i..].iter().position(|b| *b == separator).map(|n| i + n);
            unquoted.extend_from_slice(&rest[i + 1..end.unwrap_or(rest.len())]);
            take(at, &unquoted);
            end
        } else {
            let end = rest.iter().position(|b| *b == separator);
            take(at, &rest[..end.unwrap_or(rest.len())]);
            end
        };
        match next {
            Some(end) => rest = &rest[end + 1..],
            None => return Ok(()),
        }
        at += 1;
    }
}

pub(super) fn parse(
    text: &[u8],
    fields: Fields,
    separator: u8,
    hasher: &RandomState,
) -> Result<(Piece, u64), Bad> {
    let mut piece = Piece::new(hasher);
    // Lines of twenty bytes are usual.
    piece.events.reserve(text.len() / 20);
    let (mut at, mut lines) = (0, 0);
    let last = fields.sample.max(fields.code);
    while at < text.len() {
        let (row, next) = line(text, at);
        at = next;
        lines += 1;
        if row.is_empty() {
            continue;
        }
        let few = |found: usize| {
            let problem =
                format!("{:?} has {found} cells where at least {} were expected", shown(row), last + 1);
            Bad::new(problem, MEND).at(lines - 1)
        };
        if row.contains(&b'"') {
            let (mut found, mut sample, mut code) = (0, Vec::new(), Vec::new());
            let take = |i: usize, cell: &[u8]| {
                found = i + 1;
                if i == fields.sample {
                    sample = cell.trim_ascii().to_vec();
                } else if i == fields.code {
                    code = cell.trim_ascii().to_vec();
                }
            };
            split(row, separator, take).map_err(|bad| bad.at(lines - 1))?;
            if found <= last {
                return Err(few(found));
            }
            piece.push(&sample, &code);
            continue;
        }
        let (mut sample, mut code) = (&row[..0], &row[..0]);
        let mut cells = row.split(|b| *b == separator);
        for i in 0..=last {
            let Some(cell) = cells.next() else { return Err(few(i)) };
            if i == fields.sample {
                sample = cell;
            } else if i == fields.code {
                code = cell;
            }
        }
        piece.push(sample.trim_ascii(), code.trim_ascii());
    }
    for (what, names) in [("sample", &piece.samples), ("code", &piece.codes)] {
        if let Some(bad) = names.names().find(|name| std::str::from_utf8(name).is_err()) {
            let problem = format!("near here the {what} {:?} is not valid UTF-8", shown(bad));
            return Err(Bad::new(problem, "name the encoding it was written in with --encoding"));
        }
    }
    Ok((piece, lines))
}
