//! The headers of triples, which promise numbers of documents, words and entries.

use crate::error::{Error, Result};
use crate::input::Source;
use crate::input::numbers::{line, shown};

/// What a header promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) documents: u32,
    pub(super) words: u32,
    pub(super) entries: u64,
    /// Whether entries have no counts and stand for 1.
    pub(super) pattern: bool,
    /// Lines of the header, the last of which holds a promise.
    pub(super) lines: u64,
}

pub(super) fn cut_short(source: &Source) -> Error {
    source.fail(None, "ends within its header", "it is cut short: copy or export it again")
}

/// Numbers of documents, words and entries on the first three lines.
pub(super) fn uci_header(source: &Source, head: &[u8]) -> Result<(Shape, usize)> {
    let (mut numbers, mut at) = ([0u64; 3], 0);
    for (i, what) in ["documents", "words", "entries"].into_iter().enumerate() {
        if at >= head.len() {
            return Err(cut_short(source));
        }
        let (text, next) = line(head, at);
        at = next;
        numbers[i] = promise(source, i as u64 + 1, what, text.trim_ascii())?;
    }
    let [documents, words, entries] = numbers;
    Ok((Shape { documents: documents as u32, words: words as u32, entries, pattern: false, lines: 3 }, at))
}

/// `%%MatrixMarket matrix coordinate integer general`, comments, and the numbers of rows, columns and entries.
pub(super) fn market_header(source: &Source, head: &[u8]) -> Result<(Shape, usize)> {
    let (first, mut at) = line(head, 0);
    let banner = String::from_utf8_lossy(first).to_ascii_lowercase();
    let words: Vec<&str> = banner.split_ascii_whitespace().take(6).collect();
    let pattern = match words[..] {
        ["%%matrixmarket", "matrix", "coordinate", field @ ("integer" | "real" | "pattern"), "general"] => {
            field == "pattern"
        }
        _ => {
            return Err(source.fail(
                1,
                format!("{:?} where %%MatrixMarket matrix coordinate integer general was expected", shown(first)),
                "write the counts as a sparse matrix with documents in rows, for example with scipy.io.mmwrite",
            ));
        }
    };
    let mut number = 1;
    loop {
        if at >= head.len() {
            return Err(cut_short(source));
        }
        let (text, next) = line(head, at);
        number += 1;
        at = next;
        if text.starts_with(b"%") || text.is_empty() {
            continue;
        }
        let fields = text.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty());
        let fields: Vec<&[u8]> = fields.take(4).collect();
        let [rows, columns, entries] = fields[..] else {
            return Err(source.fail(
                number,
                format!("{:?} where the numbers of rows, columns and entries were expected", shown(text)),
                "export the file again",
            ));
        };
        let documents = promise(source, number, "documents", rows)? as u32;
        let words = promise(source, number, "words", columns)? as u32;
        let entries = promise(source, number, "entries", entries)?;
        return Ok((Shape { documents, words, entries, pattern, lines: number }, at));
    }
}

/// A number in a header; documents and words must fit 32 bits.
fn promise(source: &Source, line: u64, what: &str, text: &[u8]) -> Result<u64> {
    let value = std::str::from_utf8(text).ok().and_then(|t| t.parse::<u64>().ok());
    let value = value.ok_or_else(|| {
        source.fail(
            line,
            format!("{:?} where the number of {what} was expected", shown(text)),
            "the header holds whole numbers: export the file again",
        )
    })?;
    if what != "entries" && value >= u64::from(u32::MAX) {
        return Err(source.fail(
            line,
            format!("promises {value} {what}"),
            format!("at most {} are possible: mend the header", u32::MAX - 1),
        ));
    }
    Ok(value)
}
