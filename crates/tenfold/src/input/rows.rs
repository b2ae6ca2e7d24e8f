//! Rows of a table of text, one by one, and never more of a file than one row is allowed.
//!
//! In CSV a quoted cell may hold line breaks, so a quote that is never closed would take the rest of the file into one
//! cell: a row has a largest size, and a quote still open at the end is an error that names its line. In TSV a row is a
//! line, as its registration (text/tab-separated-values) has it. Such files mostly hold text in which a quote is a
//! letter like any other; but spreadsheets quote cells in them too. So there a cell stands in quotes only when they
//! close where the cell ends and within the line; all others are taken as they stand, and counted.

use super::{Source, numbers};
use crate::error::Result;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use tenfold_engine::progress::Progress;

/// Most cells of a row. What readers keep of a column (its name, its kind, its place) is many times the two bytes that a column may take
/// in a file.
pub(crate) const MOST_CELLS: usize = 1 << 18;

/// What to do about a table that is too wide.
pub(crate) const TOO_WIDE: &str = "give the columns that matter, or exchange rows and columns";

/// The cells of a row.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    data: Vec<u8>,
    ends: Vec<usize>,
}

impl Cells {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, i: usize) -> Option<&[u8]> {
        let start = if i == 0 { 0 } else { *self.ends.get(i - 1)? };
        self.ends.get(i).map(|&end| &self.data[start..end])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// The beginning of the row, for messages.
    pub(crate) fn shown(&self) -> String {
        let mut shown = String::new();
        for (i, cell) in self.iter().take(20).enumerate() {
            shown += if i > 0 { "," } else { "" };
            shown += numbers::shown(cell.trim_ascii()).trim();
        }
        shown
    }

    /// All cells one after another, unless one of them is not UTF-8: the whole row is looked at once.
    pub(crate) fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.data).ok()?;
        self.ends.iter().all(|&end| text.is_char_boundary(end)).then_some(text)
    }

    /// Where the cells stand in it.
    pub(crate) fn spans(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// Whether this is a line without anything on it, or with an empty cell in quotes.
    pub(crate) fn is_blank(&self) -> bool {
        self.len() == 1 && self.data.trim_ascii().is_empty()
    }

    fn clear(&mut self) {
        self.data.clear();
        self.ends.clear();
    }

    /// Ends a cell.
    fn end(&mut self) {
        self.ends.push(self.data.len());
    }
}

/// How cells are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Commas, or semicolons where the first line has those and no comma, as spreadsheets write in many countries; quoted cells
    /// may hold anything.
    Csv,
    /// Tabs; a row is a line.
    Tsv,
}

/// Reads rows.
pub(crate) struct RowReader<'a> {
    source: &'a Source,
    text: BufReader<Box<dyn Read + Send + 'a>>,
    kind: Kind,
    /// What stands between cells; not known before the first line with anything on it.
    separator: Option<u8>,
    /// Most bytes of a row.
    most: u64,
    /// The line that was read last, with its end, and its number from 1.
    line: Vec<u8>,
    number: u64,
    /// Cells that begin with a quote which does not close at their end.
    pub(crate) open_quotes: usize,
    /// What to do about a cell that is too large.
    pub(crate) too_large: &'static str,
}

impl<'a> RowReader<'a> {
    /// From the beginning of the source; a row may take `most` bytes.
    pub(crate) fn new(source: &'a Source, kind: Kind, most: u64, progress: &'a dyn Progress) -> Result<Self> {
        source.check_line_ends()?;
        source.begin(progress);
        let text = BufReader::with_capacity(1 << 16, source.reader(progress)?);
        let too_large = "close the quote, write a quote within text twice, or raise --memory";
        let (separator, line, number, open_quotes) = (None, Vec::new(), 0, 0);
        Ok(Self { source, text, kind, separator, most, line, number, open_quotes, too_large })
    }

    /// Cells of CSV are told apart by this, whatever the first line holds.
    pub(crate) fn separated_by(mut self, separator: u8) -> Self {
        self.separator = Some(separator);
        self
    }

    /// Reads the next row; gives the number of its first line, or nothing at the end.
    ///
    /// # Errors
    /// A row that is too large or has too many cells, a quote that is never closed; what the source says.
    pub(crate) fn next(&mut self, cells: &mut Cells) -> Result<Option<u64>> {
        cells.clear();
        if !self.next_line()? {
            return Ok(None);
        }
        let first = self.number;
        match self.kind {
            Kind::Csv => self.csv(cells)?,
            Kind::Tsv => self.open_quotes += tsv(content(&self.line), cells),
        }
        // Neither goes on beyond that: the places of cells take more than their bytes.
        match cells.len() > MOST_CELLS {
            true => Err(self.source.fail(first, format!("has more than {MOST_CELLS} cells"), TOO_WIDE)),
            false => Ok(Some(first)),
        }
    }

    /// Whether cells are told apart by semicolons.
    pub(crate) fn has_semicolons(&self) -> bool {
        self.separator == Some(b';')
    }

    /// Reads a line; false at the end.
    fn next_line(&mut self) -> Result<bool> {
        self.line.clear();
        let read = self.text.read_until(b'\n', &mut self.line);
        let read = read.map_err(|e| self.source.refuse(Some(self.number + 1), &e))?;
        self.number += u64::from(read > 0);
        Ok(read > 0)
    }

    fn csv(&mut self, cells: &mut Cells) -> Result<()> {
        if self.separator.is_none() && !self.line.trim_ascii().is_empty() {
            let semicolons = self.line.contains(&b';') && !self.line.contains(&b',');
            self.separator = Some(if semicolons { b';' } else { b',' });
        }
        let separator = self.separator.unwrap_or(b',');
        let mut at = 0;
        loop {
            if self.line.get(at) == Some(&b'"') {
                at = self.quoted(at + 1, cells)?;
            }
            // What follows a closing quote belongs to the cell, as everywhere.
            let rest = content(&self.line).get(at..).unwrap_or_default();
            let next = rest.iter().position(|&b| b == separator);
            cells.data.extend_from_slice(&rest[..next.unwrap_or(rest.len())]);
            cells.end();
            match next {
                Some(next) if cells.len() <= MOST_CELLS => at += next + 1,
                _ => return Ok(()),
            }
        }
    }

    /// Takes a cell whose opening quote stands before `at`; gives the place behind the closing one.
    fn quoted(&mut self, mut at: usize, cells: &mut Cells) -> Result<usize> {
        let opened = self.number;
        loop {
            let rest = &self.line[at..];
            match rest.iter().position(|&b| b == b'"') {
                Some(quote) => {
                    cells.data.extend_from_slice(&rest[..quote]);
                    at += quote + 1;
                    if self.line.get(at) != Some(&b'"') {
                        return Ok(at);
                    }
                    cells.data.push(b'"');
                    at += 1;
                }
                None => {
                    cells.data.extend_from_slice(rest);
                    if cells.data.len() as u64 > self.most {
                        return Err(self.source.fail(
                            opened,
                            format!("a quote opens a cell of more than {} bytes", self.most),
                            self.too_large,
                        ));
                    }
                    if !self.next_line()? {
                        return Err(self.source.fail(
                            opened,
                            "a quote opens here and is never closed",
                            "close it; within quotes a quote is written twice",
                        ));
                    }
                    at = 0;
                }
            }
        }
    }
}

/// A line without its end.
fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The cells of a line of TSV; gives how many begin with a quote that does not close at their end.
fn tsv(line: &[u8], cells: &mut Cells) -> usize {
    let (mut rest, mut open) = (line, 0);
    loop {
        let quoted = rest.strip_prefix(b"\"").and_then(|inner| closed(inner).map(|end| (inner, end)));
        let next = match quoted {
            Some((inner, end)) => {
                let mut before = 0;
                // Of two quotes one stays.
                for (i, pair) in inner[..end].windows(2).enumerate() {
                    if pair == b"\"\"" && i >= before {
                        cells.data.extend_from_slice(&inner[before..=i]);
                        before = i + 2;
                    }
                }
                cells.data.extend_from_slice(&inner[before..end]);
                inner.get(end + 2..)
            }
            None => {
                open += usize::from(rest.starts_with(b"\""));
                let tab = rest.iter().position(|&b| b == b'\t');
                cells.data.extend_from_slice(&rest[..tab.unwrap_or(rest.len())]);
                tab.map(|tab| &rest[tab + 1..])
            }
        };
        cells.end();
        match next {
            Some(next) if cells.len() <= MOST_CELLS => rest = next,
            _ => return open,
        }
    }
}

/// Where the quote closes that opened before `text`: at a tab or the end of the line, all quotes before it being twice.
fn closed(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].iter().position(|&b| b == b'"')?;
        match text.get(at + 1) {
            None | Some(b'\t') => return Some(at),
            Some(b'"') => at += 2,
            Some(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Opening;
    use tenfold_engine::progress::Silent;

    /// All rows with their lines, and the number of open quotes.
    type Read = (Vec<(u64, Vec<String>)>, usize);

    fn rows(kind: Kind, text: &str, most: u64) -> Result<Read> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, text).unwrap();
        let opening = Opening { encoding: None, max_decompressed: 1 << 30, wanted: "" };
        let source = Source::open(&path, opening, &Silent).unwrap();
        let mut reader = RowReader::new(&source, kind, most, &Silent)?;
        let (mut rows, mut cells) = (Vec::new(), Cells::default());
        while let Some(line) = reader.next(&mut cells)? {
            rows.push((line, cells.iter().map(|c| String::from_utf8_lossy(c).into_owned()).collect()));
        }
        Ok((rows, reader.open_quotes))
    }

    fn cells(kind: Kind, line: &str) -> Vec<String> {
        rows(kind, line, 1 << 20).unwrap().0.swap_remove(0).1
    }

    #[test]
    fn csv_is_that_of_everybody() {
        for (line, expected) in [
            ("a,b c,", &["a", "b c", ""][..]),
            ("\"a,b\",\"say \"\"no\"\"\"\r\n", &["a,b", "say \"no\""]),
            ("\"\"\n", &[""]),
            ("\r\n", &[""]),
            ("5\" disk,x \"y\"\n", &["5\" disk", "x \"y\""]),
            ("\"two\r\nlines\",b\n", &["two\r\nlines", "b"]),
            ("\"a\" and b,c\n", &["a and b", "c"]),
            ("\"\"\"\"", &["\""]),
        ] {
            assert_eq!(cells(Kind::Csv, line), expected, "{line:?}");
        }
        let semicolons = rows(Kind::Csv, "\nid;text\n1;\"a;b, c\"\n2;d, e\n", 100).unwrap().0;
        assert_eq!(semicolons[2].1, ["1", "a;b, c"]);
        assert_eq!(semicolons[3].1, ["2", "d, e"]);
        let text = "a\n\"b\n\nc\"\n\nd\n";
        let lines: Vec<u64> = rows(Kind::Csv, text, 100).unwrap().0.iter().map(|r| r.0).collect();
        assert_eq!(lines, [1, 2, 5, 6], "blank lines are rows, and quoted ones are not");
    }

    #[test]
    fn cells_are_text_each_by_itself() {
        let cells = |bytes: &[u8], ends: &[usize]| Cells { data: bytes.to_vec(), ends: ends.to_vec() };
        let row = cells("aéb".as_bytes(), &[1, 3, 4]);
        let text = row.text().unwrap();
        assert_eq!(row.spans().map(|span| &text[span]).collect::<Vec<_>>(), ["a", "é", "b"]);
        // Together two halves are a letter, but they are halves of different cells.
        assert!(cells("é".as_bytes(), &[1, 2]).text().is_none() && cells(b"\xff", &[1]).text().is_none());
    }

    #[test]
    fn an_open_quote_ends_at_the_end_of_the_file_or_of_the_memory() {
        let text = format!("a,b\n1,\"c\n{}", "2,d\n".repeat(100));
        let error = |most| rows(Kind::Csv, &text, most).unwrap_err().to_string();
        assert!(error(1000).ends_with("x, line 2: a quote opens here and is never closed; close it; within quotes a quote is written twice"), "{}", error(1000));
        assert!(error(100).contains("line 2: a quote opens a cell of more than 100 bytes"), "{}", error(100));
    }

    #[test]
    fn tsv_takes_quotes_as_letters_unless_they_hold_a_cell() {
        for (line, expected, open) in [
            ("a\tb\t\n", &["a", "b", ""][..], 0),
            ("\"a\tb\"\t\"say \"\"no\"\"\"\r\n", &["a\tb", "say \"no\""], 0),
            ("\"Yes\" he said\tx\n", &["\"Yes\" he said", "x"], 1),
            ("\"Yes, he said\tx\n", &["\"Yes, he said", "x"], 1),
            ("5\" disk\t\"\n", &["5\" disk", "\""], 1),
            ("\"\"\n", &[""], 0),
            ("\"\"\"\"\"\"\n", &["\"\""], 0),
        ] {
            let (read, found) = rows(Kind::Tsv, line, 1 << 20).unwrap();
            assert_eq!(
                (&read[0].1[..], found),
                (&expected.iter().map(|s| s.to_string()).collect::<Vec<_>>()[..], open),
                "{line:?}"
            );
        }
        let (read, open) = rows(Kind::Tsv, "1\t\"open\n2\tb\n3\t\"c\"\n", 10).unwrap();
        assert_eq!((read.len(), open), (3, 1));
    }
}
