//! Pages of Parquet columns, unpacked here: the parquet crate lets a page become as long as it will, and decodes as many texts of it as
//! its head promises, before anybody can count them.

use super::Disk;
use super::guard::Tallies;
use super::parquet::{Chunks, DAMAGED};
use crate::error::{Error, Result};
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;
use std::io::Read;
use std::sync::Arc;

/// Bytes of a value; a text has four for its length beside its own.
pub(super) fn width(kind: Physical) -> u64 {
    match kind {
        Physical::BOOLEAN => 1,
        Physical::INT32 | Physical::FLOAT | Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => 4,
        Physical::INT64 | Physical::DOUBLE => 8,
        Physical::INT96 => 12,
    }
}

/// The values of a column of a row group, with pages that are counted.
pub(super) fn column_reader(
    disk: &Arc<Disk>,
    chunks: &Arc<Chunks>,
    group: &RowGroupMetaData,
    at: usize,
    tallies: &Tallies,
) -> ParquetResult<ColumnReader> {
    let column = group.column(at);
    // The crate hands pages over as they lie in the file when it believes that they are not packed.
    let plain = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
    let rows = usize::try_from(group.num_rows())?;
    let about = column.column_descr_ptr();
    let pages = Pages {
        disk: Arc::clone(disk),
        inner: SerializedPageReader::new(Arc::clone(chunks), &plain, rows, None)?,
        packing: column.compression(),
        about: Arc::clone(&about),
        tallies: tallies.clone(),
    };
    Ok(get_column_reader(about, Box::new(pages)))
}

struct Pages {
    disk: Arc<Disk>,
    inner: SerializedPageReader<Chunks>,
    packing: Compression,
    about: ColumnDescPtr,
    tallies: Tallies,
}

impl Iterator for Pages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let Some(page) = self.inner.get_next_page()? else { return Ok(None) };
        self.taken(page).map(Some).map_err(|e| ParquetError::External(Box::new(e)))
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.inner.skip_next_page()
    }
}

impl Pages {
    fn damaged(&self, what: &str) -> Error {
        self.disk.fail(format!("cannot be read as Parquet ({what})"), DAMAGED)
    }

    /// The page unpacked, once it is seen that there is room for what it promises.
    fn taken(&self, mut page: Page) -> Result<Page> {
        let width = width(self.about.physical_type());
        let promised = u64::from(page.num_values()) * width;
        match &mut page {
            Page::DataPage { buf, .. } => {
                self.tallies.values.check(&self.disk, promised)?;
                *buf = self.unpacked(buf, 0)?;
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, .. } => {
                self.tallies.values.check(&self.disk, promised)?;
                // Levels stand before the values and are not packed.
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                let levels = usize::try_from(levels).ok().filter(|levels| *levels <= buf.len());
                let levels = levels.ok_or_else(|| self.damaged("a page is shorter than its levels"))?;
                *buf = self.unpacked(buf, if *is_compressed { levels } else { buf.len() })?;
            }
            Page::DictionaryPage { buf, .. } => {
                *buf = self.unpacked(buf, 0)?;
                // The crate makes room for all values before it looks for them.
                if promised > buf.len() as u64 {
                    return Err(self.damaged("a dictionary holds fewer values than it promises"));
                }
            }
        }
        self.check_texts(&page)?;
        Ok(page)
    }

    /// The bytes of a page, of which the first `plain` are not packed.
    fn unpacked(&self, page: &Bytes, plain: usize) -> Result<Bytes> {
        let (pages, packed) = (&self.tallies.pages, &page[plain..]);
        pages.add(&self.disk, plain as u64)?;
        // A page of nothing but nulls may have no values at all, not even packed ones.
        if packed.is_empty() || self.packing == Compression::UNCOMPRESSED {
            pages.add(&self.disk, packed.len() as u64)?;
            return Ok(page.clone());
        }
        let mut out = page[..plain].to_vec();
        let refuse = |e: &dyn std::fmt::Display| self.damaged(&format!("a page cannot be unpacked: {e}"));
        match self.packing {
            Compression::SNAPPY => {
                let len = snap::raw::decompress_len(packed).map_err(|e| refuse(&e))?;
                pages.check(&self.disk, len as u64)?;
                // Its best is a copy of 64 bytes in three.
                if len / 22 > packed.len() {
                    return Err(refuse(&format!("{len} bytes cannot be in {}", packed.len())));
                }
                out.resize(plain + len, 0);
                snap::raw::Decoder::new().decompress(packed, &mut out[plain..]).map_err(|e| refuse(&e))?;
            }
            Compression::GZIP(_) => self.stream(MultiGzDecoder::new(packed), &mut out)?,
            Compression::ZSTD(_) => {
                self.stream(zstd::Decoder::with_buffer(packed).map_err(|e| refuse(&e))?, &mut out)?;
            }
            other => return Err(self.damaged(&format!("its codec {other} is not known"))),
        }
        pages.add(&self.disk, (out.len() - plain) as u64)?;
        Ok(out.into())
    }

    /// One byte too many is enough to be refused.
    fn stream(&self, stream: impl Read, out: &mut Vec<u8>) -> Result<()> {
        let most = self.tallies.pages.left().saturating_add(1);
        let read = stream.take(most).read_to_end(out);
        read.map(|_| ()).map_err(|e| self.damaged(&format!("a page cannot be unpacked: {e}")))
    }

    /// Texts that are told by lengths are decoded page by page, as many as stand before the lengths; those that repeat the beginning
    /// of the text before are made whole, so that one that is long and many that repeat it come to far more than their page.
    fn check_texts(&self, page: &Page) -> Result<()> {
        let prefixes = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => false,
            Encoding::DELTA_BYTE_ARRAY => true,
            _ => return Ok(()),
        };
        if page.is_dictionary_page() || self.about.physical_type() != Physical::BYTE_ARRAY {
            return Ok(());
        }
        let cut = || self.damaged("lengths of texts end too early");
        let mut rest = self.levels(page).and_then(|at| page.buffer().get(at..)).ok_or_else(cut)?;
        for _ in 0..1 + usize::from(prefixes) {
            let (count, end) = lengths(rest).ok_or_else(cut)?;
            if count > u64::from(page.num_values()) {
                return Err(self.damaged("there are more lengths than texts"));
            }
            rest = rest.get(end..).ok_or_else(cut)?;
        }
        if prefixes { self.check_prefixes(page) } else { Ok(()) }
    }

    /// Where the values of a page begin.
    fn levels(&self, page: &Page) -> Option<usize> {
        let most = self.about.max_def_level();
        match page {
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                Some((*def_levels_byte_len + *rep_levels_byte_len) as usize)
            }
            _ if most == 0 => Some(0),
            Page::DataPage { def_level_encoding: Encoding::RLE, buf, .. } => {
                let len = buf.first_chunk::<4>().map(|len| u32::from_le_bytes(*len))?;
                Some(4 + len as usize)
            }
            page => {
                let bits = u64::from(i16::BITS - most.leading_zeros());
                usize::try_from((u64::from(page.num_values()) * bits).div_ceil(8)).ok()
            }
        }
    }

    /// Makes one text after the other and counts.
    fn check_prefixes(&self, page: &Page) -> Result<()> {
        let alone = Alone(Some(page.clone()));
        let ColumnReader::ByteArrayColumnReader(mut texts) =
            get_column_reader(Arc::clone(&self.about), Box::new(alone))
        else {
            return Ok(());
        };
        let (mut levels, mut text, mut sum) = (Vec::new(), Vec::new(), 0u64);
        loop {
            levels.clear();
            text.clear();
            let read = texts.read_records(1, Some(&mut levels), None, &mut text);
            // What is wrong with it is told when it is read.
            let Ok((1.., ..)) = read else { return Ok(()) };
            sum += 4 + text.first().map_or(0, |text| text.len() as u64);
            self.tallies.values.check(&self.disk, sum)?;
        }
    }
}

/// A page that is read by itself.
struct Alone(Option<Page>);

impl Iterator for Alone {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageReader for Alone {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        Ok(self.0.take())
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.0 = None;
        Ok(())
    }
}

/// How many whole numbers stand here as differences (DELTA_BINARY_PACKED), and where they end.
fn lengths(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut at = 0;
    let mut number = || -> Option<(u64, usize)> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *bytes.get(at)?;
            at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some((value, at));
            }
        }
        None
    };
    let (block, blocks, count) = (number()?.0, usize::try_from(number()?.0).ok()?, number()?.0);
    let (_, mut end) = number()?;
    if count == 0 {
        return Some((0, end));
    }
    let each = block.checked_div(blocks as u64).filter(|each| *each > 0)?;
    // The first number stands by itself.
    let mut left = count.saturating_sub(1);
    while left > 0 {
        // The smallest difference, and the bits of each part.
        end = bytes.get(end..)?.iter().position(|byte| *byte < 0x80)?.checked_add(end + 1)?;
        let widths = bytes.get(end..end.checked_add(blocks)?)?;
        end += blocks;
        for width in widths {
            if left > 0 {
                end = end.checked_add(usize::try_from(each.checked_mul(u64::from(*width))? / 8).ok()?)?;
            }
            left = left.saturating_sub(each);
        }
    }
    Some((count, end))
}
