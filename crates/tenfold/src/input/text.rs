//! Delimited text: `.csv` and `.tsv`, plain or compressed.
//!
//! One pass checks every cell. It keeps the numbers while they fit into memory and notes where every block of
//! rows begins, so that a table that turns out too large can be read again in any order.

use super::disk::{Cursor, Disk};
use super::guard::{Contents, Guard, TooMuch};
use super::layout::Layout;
use super::rows::TOO_WIDE;
use super::wide::{Narrow, TooWide};
use super::{Opened, Options, Store, Stored, dense_bytes};
use crate::error::{Error, Result};
use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use std::io::Read;
use std::sync::Arc;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::BLOCK;
use tenfold_engine::progress::Progress;

/// The separator and the compression, as the extension tells them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    delimiter: u8,
    packing: Packing,
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Format {
    /// The format of a file with this lower-case name, if it is text.
    pub(super) fn of(name: &str) -> Option<Self> {
        let (name, packing) = match name.rsplit_once('.')? {
            (inner, "gz") => (inner, Packing::Gzip),
            (inner, "zst") => (inner, Packing::Zstd),
            _ => (name, Packing::Plain),
        };
        match name.rsplit_once('.')?.1 {
            "csv" => Some(Self { delimiter: b',', packing }),
            "tsv" => Some(Self { delimiter: b'\t', packing }),
            _ => None,
        }
    }

    /// The text, unpacked, of what `file` still holds.
    fn reader<'a>(
        self,
        disk: &Disk,
        file: impl Read + Send + 'a,
        limit: u64,
    ) -> Result<Reader<Narrow<Box<dyn Read + Send + 'a>>>> {
        let unpacked = unpacked(disk, self.packing, file, (limit, Contents::Lines))?;
        Ok(csv_rows(Narrow::new(unpacked, self.delimiter), self.delimiter))
    }
}

/// Rows of delimited text as they stand, the first one included.
fn csv_rows<R: Read>(text: R, delimiter: u8) -> Reader<R> {
    // Lines are compared with one another here, where the message can say which line and what was expected.
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter).buffer_capacity(1 << 16);
    // With the usual "\r, \n or both" the reader's count of lines lags after a "\r\n". Cells are trimmed,
    // so the "\r" does no harm.
    builder.terminator(Terminator::Any(b'\n'));
    builder.from_reader(text)
}

/// The bytes of a file, unpacked and guarded: a line of text may not be endless, nor may a packed file unpack to more
/// than `limit` bytes.
///
/// # Errors
/// When an unpacker cannot be made.
pub(crate) fn unpacked<'a>(
    disk: &Disk,
    packing: Packing,
    file: impl Read + Send + 'a,
    (limit, contents): (u64, Contents),
) -> Result<Box<dyn Read + Send + 'a>> {
    Ok(match packing {
        Packing::Plain => Box::new(Guard::new(file, u64::MAX, contents)),
        Packing::Gzip => {
            let buffered = std::io::BufReader::with_capacity(1 << 16, file);
            Box::new(Guard::new(flate2::bufread::MultiGzDecoder::new(buffered), limit, contents))
        }
        Packing::Zstd => {
            let decoder = zstd::Decoder::new(file)
                .map_err(|e| disk.fail(format!("cannot be unpacked ({e})"), UNPACK))?;
            Box::new(Guard::new(decoder, limit, contents))
        }
    })
}

/// What to do about compressed data that do not unpack.
pub(crate) const UNPACK: &str = "it is cut short or damaged: copy or export it again";

/// The bytes of a file from its beginning; the listener hears how many were read, packed as they may be.
pub(crate) struct Told<'a> {
    file: Cursor,
    progress: &'a dyn Progress,
}

impl<'a> Told<'a> {
    pub(crate) fn new(disk: &Arc<Disk>, progress: &'a dyn Progress) -> Self {
        Self { file: Cursor::new(disk, 0), progress }
    }
}

impl Read for Told<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.progress.advance(n as u64);
        Ok(n)
    }
}

pub(super) fn open(
    disk: &Arc<Disk>,
    format: Format,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Opened> {
    let format = Format { delimiter: options.delimiter.unwrap_or(format.delimiter), ..format };
    let file = Told::new(disk, progress);
    let mut reader = format.reader(disk, file, options.max_decompressed)?;
    let mut record = ByteRecord::new();
    let Some(first) = next_row(disk, &mut reader, &mut record)? else {
        return Err(disk.fail("holds no lines", "give a file with at least one row of numbers"));
    };
    let layout = Layout::new(disk, &record, format.delimiter, options)?;
    let mut pass = Pass { values: Vec::new(), fits: true, rows: 0, index: Vec::new() };
    let mut row = Vec::with_capacity(layout.names.len());
    // The first line is data when it is no header; it begins where the file does.
    if !layout.has_header {
        layout.parse(&record, first, &mut row)?;
        pass.take(&row, (0, 1), options.memory);
    }
    loop {
        progress.check()?;
        let before = (reader.position().byte(), reader.position().line());
        let Some(line) = next_row(disk, &mut reader, &mut record)? else { break };
        row.clear();
        layout.parse(&record, line, &mut row)?;
        pass.take(&row, before, options.memory);
        if !pass.fits && format.packing != Packing::Plain {
            return Err(disk.fail(
                format!("unpacks to a table larger than the {} bytes of memory allowed", options.memory),
                "unpack the file, so that it can be read in pieces, or raise --memory",
            ));
        }
    }
    let Pass { mut values, fits, rows, index } = pass;
    let store = if fits && rows > 0 {
        values.shrink_to_fit();
        Store::Memory(Mat::from_vec(rows, layout.names.len(), values))
    } else {
        Store::Disk(Box::new(TextRows { disk: Arc::clone(disk), format, layout: layout.clone(), index }))
    };
    let Layout { names, has_header, .. } = layout;
    Ok(Opened { names, named: has_header, rows, rate: None, stored_as: "text".into(), store })
}

/// What one pass over the file gathers.
struct Pass {
    values: Vec<f64>,
    fits: bool,
    rows: usize,
    /// Byte and line where every [`BLOCK`]-th row begins.
    index: Vec<(u64, u64)>,
}

impl Pass {
    fn take(&mut self, row: &[f64], begin: (u64, u64), memory: u64) {
        if self.rows.is_multiple_of(BLOCK) {
            self.index.push(begin);
        }
        self.rows += 1;
        if self.fits && dense_bytes(self.rows, row.len()) > memory {
            self.fits = false;
            self.values = Vec::new();
        }
        if self.fits {
            self.values.extend_from_slice(row);
        }
    }
}

/// Reads the next line that is not blank, and gives its number, counted from 1 where the reader began.
fn next_row<R: Read>(disk: &Disk, reader: &mut Reader<R>, record: &mut ByteRecord) -> Result<Option<u64>> {
    loop {
        let before = reader.position().line();
        match reader.read_byte_record(record) {
            Ok(false) => return Ok(None),
            Ok(true) if record.len() == 1 && record[0].trim_ascii().is_empty() => {}
            Ok(true) => {
                // The reader passes over empty lines before it counts, so the line is found from its end.
                let inside = record.as_slice().iter().filter(|&&b| b == b'\n').count() as u64;
                return Ok(Some(before.max(reader.position().line().saturating_sub(1 + inside))));
            }
            Err(error) => {
                let line = reader.position().line();
                let (problem, remedy) = match error.into_kind() {
                    csv::ErrorKind::Io(e) => {
                        let inner = e.get_ref();
                        let too_much = inner.and_then(|inner| inner.downcast_ref::<TooMuch>());
                        let too_wide = inner.and_then(|inner| inner.downcast_ref::<TooWide>());
                        match (too_much, too_wide) {
                            (Some(too_much), _) => (too_much.to_string(), too_much.remedy()),
                            (_, Some(too_wide)) => (too_wide.to_string(), TOO_WIDE),
                            _ => (format!("cannot be read ({e})"), UNPACK),
                        }
                    }
                    other => (format!("cannot be read ({other:?})"), UNPACK),
                };
                let (path, remedy) = (disk.path().to_owned(), remedy.to_owned());
                return Err(Error::Read { path, line: Some(line), problem, remedy });
            }
        }
    }
}

/// A plain text file too large for memory.
#[derive(Debug)]
struct TextRows {
    disk: Arc<Disk>,
    format: Format,
    layout: Layout,
    index: Vec<(u64, u64)>,
}

impl Stored for TextRows {
    fn read(&self, start: usize, out: &mut [f64]) -> Result<()> {
        let cols = self.layout.names.len();
        let (offset, line) = self.index[start / BLOCK];
        let mut reader = self.format.reader(&self.disk, Cursor::new(&self.disk, offset), u64::MAX)?;
        let (mut record, mut row) = (ByteRecord::new(), Vec::with_capacity(cols));
        let changed =
            || self.disk.fail("changed while it was read", "leave the file alone until the run has ended");
        for _ in 0..start % BLOCK {
            next_row(&self.disk, &mut reader, &mut record)?.ok_or_else(changed)?;
        }
        for numbers in out.chunks_exact_mut(cols) {
            let within = next_row(&self.disk, &mut reader, &mut record)?.ok_or_else(changed)?;
            row.clear();
            self.layout.parse(&record, line - 1 + within, &mut row)?;
            numbers.copy_from_slice(&row);
        }
        Ok(())
    }
}
