//! Arrow's own files, Feather 2 among them, and streams: a batch of rows at a time.
//!
//! Both are messages, each with a head that says what its body holds. A file has a footer that lists them; in a stream one
//! follows the other. Whatever a head promises is held against the bytes that are there before anything is decoded.

use super::cell::Cell;
use super::disk::Disk;
use super::guard::{Tallies, Tally};
use super::lz4;
use crate::error::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{
    Block, CompressionType, Endianness, Message, MessageHeader, RecordBatch as Head, Schema as Written,
    convert::fb_to_schema, root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// How files begin and end.
const MAGIC: &[u8] = b"ARROW1";

/// How messages begin, and so streams.
const CONTINUES: [u8; 4] = [0xff; 4];

/// What to do about a file that cannot be decoded.
const DAMAGED: &str = "it is damaged or cut short: write it again";

/// What to do about columns of another type.
const OTHER: &str = "write the table with columns of text, numbers or true and false";

/// Where a message lies.
struct Place {
    at: u64,
    /// Bytes of the head with what stands before it.
    head: u64,
    body: u64,
}

/// The batches of a file or stream, in order.
pub(crate) struct Batches {
    disk: Arc<Disk>,
    schema: Arc<Schema>,
    decoder: FileDecoder,
    places: std::vec::IntoIter<Place>,
    /// Most bytes of a batch once it is unpacked.
    memory: u64,
    /// The columns whose values are counted; all where it is empty.
    read: Vec<usize>,
    tallies: Tallies,
}

impl Batches {
    /// Reads which columns there are and where batches lie.
    ///
    /// # Errors
    /// A damaged file, and columns that hold neither text nor numbers.
    pub(crate) fn open(disk: &Arc<Disk>, memory: u64, limit: u64) -> Result<Self> {
        let begins = disk.bytes(0, disk.len().min(MAGIC.len() as u64))?;
        let (schema, decoder, places) = if begins == MAGIC { file(disk)? } else { stream(disk)? };
        for field in schema.fields() {
            if !is_plain(field.data_type()) {
                let problem = format!("column {:?} holds {}", field.name(), field.data_type());
                return Err(disk.fail(problem, OTHER));
            }
        }
        let (tallies, places) = (Tallies::new(disk, limit), places.into_iter());
        Ok(Self { disk: Arc::clone(disk), schema, decoder, places, memory, read: Vec::new(), tallies })
    }

    /// Says that the values of other columns than these are not looked at.
    pub(crate) fn read_only(&mut self, columns: &[usize]) {
        self.read = columns.to_vec();
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The next batch, and the bytes of the file that it took.
    ///
    /// # Errors
    /// A damaged file, a batch that needs more memory than is allowed, and batches that come to more than may be unpacked.
    pub(crate) fn next(&mut self) -> Result<Option<(Batch, u64)>> {
        for place in self.places.by_ref() {
            let bytes = self.disk.bytes(place.at, place.head.saturating_add(place.body))?;
            let size = bytes.len() as u64;
            let block = Block::new(0, place.head as i32, place.body as i64);
            let (kind, unpacked) = sound(&self.disk, &bytes, &place, self.memory)?;
            self.tallies.pages.add(&self.disk, unpacked)?;
            let buffer = Buffer::from_vec(bytes);
            match kind {
                MessageHeader::DictionaryBatch => {
                    guarded(&self.disk, || self.decoder.read_dictionary(&block, &buffer))?;
                }
                MessageHeader::RecordBatch => {
                    let batch = guarded(&self.disk, || self.decoder.read_record_batch(&block, &buffer))?;
                    if let Some(batch) = batch {
                        let read = |at: &usize| self.read.is_empty() || self.read.contains(at);
                        let mut columns = (0..batch.num_columns()).filter(read);
                        columns
                            .try_for_each(|at| pointed(batch.column(at), &self.disk, &self.tallies.values))?;
                        return Ok(Some((Batch(batch), size)));
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

/// Some rows of all columns.
pub(crate) struct Batch(RecordBatch);

impl Batch {
    pub(crate) fn rows(&self) -> usize {
        self.0.num_rows()
    }

    /// What stands in a row of a column.
    pub(crate) fn cell(&self, column: usize, row: usize) -> Cell<'_> {
        cell(self.0.column(column), row)
    }
}

/// Runs the crates of arrow, which meet some damaged files with a panic.
fn guarded<T>(disk: &Disk, work: impl FnOnce() -> std::result::Result<T, ArrowError>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(disk.fail(format!("cannot be read as Arrow ({error})"), DAMAGED)),
        Err(_) => Err(disk.fail("cannot be read as Arrow (its contents contradict one another)", DAMAGED)),
    }
}

fn damaged(disk: &Disk, what: impl std::fmt::Display) -> Error {
    disk.fail(format!("cannot be read as Arrow ({what})"), DAMAGED)
}

type Opened = (Arc<Schema>, FileDecoder, Vec<Place>);

/// A file: its footer is followed by its length and the magic.
fn file(disk: &Disk) -> Result<Opened> {
    let tail = 4 + MAGIC.len() as u64;
    let Some(before) = disk.len().checked_sub(tail) else { return Err(damaged(disk, "it has no footer")) };
    let end = disk.bytes(before, tail)?;
    let length = i32::from_le_bytes([end[0], end[1], end[2], end[3]]);
    let from = u64::try_from(length).ok().and_then(|length| before.checked_sub(length));
    let (Some(from), true) = (from, end.ends_with(MAGIC)) else {
        return Err(damaged(disk, "its end is not that of an Arrow file"));
    };
    let bytes = disk.bytes(from, before - from)?;
    let footer = root_as_footer(&bytes).map_err(|e| damaged(disk, e))?;
    let schema = schema(disk, footer.schema())?;
    let blocks =
        footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    let place = |block: &Block| {
        let (at, body) = (u64::try_from(block.offset()), u64::try_from(block.bodyLength()));
        match (at, u64::try_from(block.metaDataLength()), body) {
            (Ok(at), Ok(head), Ok(body)) => Ok(Place { at, head, body }),
            _ => Err(damaged(disk, "a length is below zero")),
        }
    };
    let places = blocks.map(place).collect::<Result<_>>()?;
    let decoder = FileDecoder::new(Arc::clone(&schema), footer.version());
    Ok((schema, decoder, places))
}

/// A stream: the first message holds the schema, and one of length 0, or the end of the bytes, is the end.
fn stream(disk: &Disk) -> Result<Opened> {
    let (mut places, mut at, mut first) = (Vec::new(), 0, None);
    while at + 4 <= disk.len() {
        // Old streams have the length alone.
        let continued = disk.bytes(at, 4)? == CONTINUES;
        let prefix = if continued { 8 } else { 4 };
        let length = disk.bytes(at + prefix - 4, 4)?;
        let length = u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]]));
        if length == 0 {
            break;
        }
        let head = disk.bytes(at + prefix, length)?;
        let message = root_as_message(&head).map_err(|e| damaged(disk, e))?;
        let body =
            u64::try_from(message.bodyLength()).map_err(|_| damaged(disk, "a length is below zero"))?;
        if first.is_none() {
            first = Some((schema(disk, message.header_as_schema())?, message.version()));
        } else {
            places.push(Place { at, head: prefix + length, body });
        }
        at = at.saturating_add(prefix + length).saturating_add(body);
    }
    let (schema, version) = first.ok_or_else(|| damaged(disk, "it has no schema"))?;
    let decoder = FileDecoder::new(Arc::clone(&schema), version);
    Ok((schema, decoder, places))
}

fn schema(disk: &Disk, written: Option<Written<'_>>) -> Result<Arc<Schema>> {
    let written = written.ok_or_else(|| damaged(disk, "it has no schema"))?;
    if written.endianness() != Endianness::Little {
        return Err(disk.fail("holds big-endian numbers", "write it on a little-endian machine"));
    }
    guarded(disk, || Ok(fb_to_schema(written))).map(Arc::new)
}

/// What a message holds, and how many bytes once it is unpacked; its head is seen to promise no more than its body has.
fn sound(disk: &Disk, bytes: &[u8], place: &Place, memory: u64) -> Result<(MessageHeader, u64)> {
    let split =
        usize::try_from(place.head).ok().filter(|&head| head <= bytes.len() && head <= i32::MAX as usize);
    let (head, body) = bytes.split_at(split.ok_or_else(|| damaged(disk, "a message has no head"))?);
    let prefix = if head.starts_with(&CONTINUES) { 8 } else { 4 };
    let message: Message<'_> = head
        .get(prefix..)
        .ok_or_else(|| damaged(disk, "a message has no head"))
        .and_then(|head| root_as_message(head).map_err(|e| damaged(disk, e)))?;
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|d| d.data()),
        _ => None,
    };
    let mut held = 0;
    if let Some(batch) = batch {
        let unpacked = unpacked(disk, &batch, body)?;
        held = unpacked;
        if unpacked > memory {
            let problem =
                format!("has a batch of {unpacked} bytes, more than the {memory} bytes of memory allowed");
            return Err(disk.fail(
                problem,
                "write it again in smaller batches (chunksize in pandas), or raise --memory",
            ));
        }
        // A value takes a bit at least; columns of nothing but nulls take none, and may promise any number of rows.
        let rows = u64::try_from(batch.length()).unwrap_or(u64::MAX);
        if rows > unpacked.saturating_add(8).saturating_mul(8) {
            return Err(damaged(disk, format_args!("{rows} rows in {unpacked} bytes")));
        }
    }
    Ok((message.header_type(), held))
}

/// Counts what rows hold beyond the bytes of their batch: a text of a dictionary stands there once for any number of rows, texts
/// by views may share their bytes, and eight cells of true and false fill a byte, those of nothing none.
fn pointed(array: &dyn Array, disk: &Disk, values: &Tally) -> Result<()> {
    match array.data_type() {
        DataType::Dictionary(..) | DataType::Utf8View => (0..array.len()).try_for_each(|row| {
            values.add(
                disk,
                match cell(array, row) {
                    Cell::Text(text) => text.len() as u64,
                    _ => 8,
                },
            )
        }),
        DataType::Boolean | DataType::Null => values.add(disk, array.len() as u64),
        _ => Ok(()),
    }
}

/// Bytes of the buffers of a batch. A packed one begins with its own length, which is −1 where it is not packed after all. The
/// decoder stops at that length with zstd, but not with LZ4.
fn unpacked(disk: &Disk, batch: &Head<'_>, body: &[u8]) -> Result<u64> {
    let packed = batch.compression().is_some();
    let lz4 = batch.compression().is_some_and(|c| c.codec() == CompressionType::LZ4_FRAME);
    let mut sum = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let from = usize::try_from(buffer.offset()).ok().and_then(|at| body.get(at..));
        let length = usize::try_from(buffer.length()).ok();
        let Some(bytes) = from.zip(length).and_then(|(from, length)| from.get(..length)) else {
            return Err(damaged(disk, "a column reaches beyond the end"));
        };
        let own = bytes.first_chunk::<8>().map(|first| i64::from_le_bytes(*first));
        let size = match own {
            Some(own) if packed => match u64::try_from(own) {
                Ok(size) if lz4 && size > 0 && lz4::unpacked_len(&bytes[8..]) != Some(size) => {
                    return Err(damaged(disk, "a column is not of the length that it promises"));
                }
                Ok(size) => size,
                Err(_) => bytes.len() as u64,
            },
            _ => bytes.len() as u64,
        };
        sum = sum.saturating_add(size);
    }
    Ok(sum)
}

fn is_plain(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => !matches!(**values, DataType::Dictionary(..)) && is_plain(values),
        DataType::Float16 => false,
        kind => {
            kind.is_numeric() && !kind.is_decimal()
                || kind.is_string()
                || matches!(
                    kind,
                    DataType::Null
                        | DataType::Boolean
                        | DataType::Date32
                        | DataType::Date64
                        | DataType::Timestamp(..)
                )
        }
    }
}

fn cell(array: &dyn Array, row: usize) -> Cell<'_> {
    if array.is_null(row) {
        return Cell::Null;
    }
    match array.data_type() {
        DataType::Boolean => Cell::Text(if array.as_boolean().value(row) { "true" } else { "false" }),
        DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Cell::Text(array.as_string_view().value(row)),
        DataType::Int8 => whole::<Int8Type>(array, row),
        DataType::Int16 => whole::<Int16Type>(array, row),
        DataType::Int32 => whole::<Int32Type>(array, row),
        DataType::Int64 => whole::<Int64Type>(array, row),
        DataType::UInt8 => whole::<UInt8Type>(array, row),
        DataType::UInt16 => whole::<UInt16Type>(array, row),
        DataType::UInt32 => whole::<UInt32Type>(array, row),
        DataType::UInt64 => whole::<UInt64Type>(array, row),
        DataType::Date32 => whole::<Date32Type>(array, row),
        DataType::Date64 => whole::<Date64Type>(array, row),
        DataType::Timestamp(TimeUnit::Second, _) => whole::<TimestampSecondType>(array, row),
        DataType::Timestamp(TimeUnit::Millisecond, _) => whole::<TimestampMillisecondType>(array, row),
        DataType::Timestamp(TimeUnit::Microsecond, _) => whole::<TimestampMicrosecondType>(array, row),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => whole::<TimestampNanosecondType>(array, row),
        DataType::Float32 => Cell::Number(f64::from(array.as_primitive::<Float32Type>().value(row))),
        DataType::Float64 => Cell::Number(array.as_primitive::<Float64Type>().value(row)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            match cell(dictionary.keys(), row) {
                Cell::Whole(key) => cell(dictionary.values(), key as usize),
                _ => Cell::Null,
            }
        }
        _ => Cell::Null,
    }
}

fn whole<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &dyn Array, row: usize) -> Cell<'_> {
    Cell::Whole(array.as_primitive::<T>().value(row).into())
}
