//! A reader that stops a row of too many cells before the parser behind it has made room for the places of all of them.

use super::rows::MOST_CELLS;
use std::io::{self, Read};

/// What is wrong with such a row.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("has a row of more than {MOST_CELLS} cells")]
pub(super) struct TooWide;

/// Where a byte stands, as the parser sees it: a quote counts at the beginning of a cell only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Begin,
    Inside,
    Quoted,
    /// Behind a quote within a quoted cell: the end of the cell, or the first of two.
    Closing,
}

/// Passes text on until a row has too many cells.
#[derive(Debug)]
pub(super) struct Narrow<R> {
    inner: R,
    delimiter: u8,
    at: At,
    /// Separators of the row so far.
    cells: usize,
}

impl<R> Narrow<R> {
    pub(super) fn new(inner: R, delimiter: u8) -> Self {
        Self { inner, delimiter, at: At::Begin, cells: 0 }
    }

    /// Text without quotes, which is nearly all: rows that end within it are too short to be too wide, or are counted to their ends.
    fn plain(&mut self, text: &[u8]) -> bool {
        let count = |part: &[u8]| part.iter().filter(|b| **b == self.delimiter).count();
        let Some(first) = text.iter().position(|b| *b == b'\n') else {
            self.cells += count(text);
            return self.cells < MOST_CELLS;
        };
        if self.cells + count(&text[..first]) >= MOST_CELLS {
            return false;
        }
        let last = text.iter().rposition(|b| *b == b'\n').unwrap_or(first);
        let fits = last - first <= MOST_CELLS
            || text[first..last].split(|b| *b == b'\n').all(|row| count(row) < MOST_CELLS);
        self.cells = count(&text[last + 1..]);
        fits && self.cells < MOST_CELLS
    }

    /// Text with quotes, byte by byte.
    fn careful(&mut self, text: &[u8]) -> bool {
        for &byte in text {
            self.at = match (self.at, byte) {
                (At::Quoted, b'"') => At::Closing,
                (At::Quoted, _) | (At::Begin | At::Closing, b'"') => At::Quoted,
                (_, b'\n') => {
                    self.cells = 0;
                    At::Begin
                }
                (_, byte) if byte == self.delimiter => {
                    self.cells += 1;
                    if self.cells >= MOST_CELLS {
                        return false;
                    }
                    At::Begin
                }
                _ => At::Inside,
            };
        }
        true
    }
}

impl<R: Read> Read for Narrow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let text = &buffer[..n];
        let fits = match self.at == At::Quoted || text.contains(&b'"') {
            true => self.careful(text),
            false => {
                // Outside of quotes only the last byte tells where the next one stands.
                let fits = self.plain(text);
                self.at = match text.last() {
                    None => self.at,
                    Some(&last) if last == b'\n' || last == self.delimiter => At::Begin,
                    Some(_) => At::Inside,
                };
                fits
            }
        };
        if fits { Ok(n) } else { Err(io::Error::other(TooWide)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a text passes, in pieces of this length.
    fn passes(text: &str, piece: usize) -> bool {
        let mut reader = Narrow::new(text.as_bytes(), b',');
        let mut buffer = vec![0; piece];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    #[test]
    fn cells_are_counted_by_row() {
        let row = |cells: usize| vec!["1"; cells].join(",");
        let (widest, wider) = (row(MOST_CELLS), row(MOST_CELLS + 1));
        let text = format!("a\n{widest}\n{widest}\n\"x\ny,\"\n");
        let quoted = format!("\"1\n,\",{}", row(MOST_CELLS - 1));
        for piece in [1 << 16, 1 << 20, 12_345] {
            assert!(passes(&text, piece) && passes(&quoted, piece), "{piece}");
            assert!(!passes(&wider, piece) && !passes(&format!("1\n{wider}\n1\n"), piece), "{piece}");
            // Within quotes neither commas nor ends of lines count; a quote within a cell is none.
            assert!(passes(&format!("\"{}\"", ",".repeat(2 * MOST_CELLS)), piece), "{piece}");
            assert!(!passes(&"\"\n\",".repeat(MOST_CELLS), piece), "{piece}");
            assert!(!passes(&format!("5\" disk,{widest}"), piece), "{piece}");
            assert!(passes(&"1,5\" disk\n".repeat(MOST_CELLS), piece), "{piece}");
        }
    }
}
