//! Parquet: numeric columns, read a row group at a time.

use super::disk::{Cursor, Disk};
use super::guard::Tallies;
use super::guard::Tally;
use super::layout::choose;
use super::pages::{column_reader, width};
use super::thrift::repeats_nothing;
use super::{Opened, Options, Store, Stored, dense_bytes};
use crate::error::{Error, Result};
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use tenfold_engine::progress::{Progress, Silent};

/// The file as the parquet crate wants it. Lengths are checked against the file before a buffer is made, which
/// the crate's own reader for files does not do.
#[derive(Debug)]
pub(super) struct Chunks(Arc<Disk>);

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Chunks {
    type T = std::io::BufReader<Cursor>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let reader = || std::io::BufReader::new(Cursor::new(&self.0, start));
        // So the heads of pages are read, and the end of the file.
        if repeats_nothing(&mut reader(), REPEATED) {
            return Err(ParquetError::General(TOO_MANY.into()));
        }
        Ok(reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<bytes::Bytes> {
        let bytes = self.0.bytes(start, length as u64);
        bytes.map(Into::into).map_err(|e| ParquetError::External(Box::new(e)))
    }
}

/// Elements without bytes in the head of a page; none is known to have any.
const REPEATED: u64 = 1 << 12;

const TOO_MANY: &str = "a head promises more than it can hold";

/// The footer, before the crate reads it.
fn check_footer(disk: &Arc<Disk>) -> ParquetResult<()> {
    let mut tail = [0; FOOTER];
    let Some(end) = disk.len().checked_sub(FOOTER as u64) else { return Ok(()) };
    disk.read_exact_at(end, &mut tail).map_err(|e| ParquetError::External(Box::new(e)))?;
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let Some(begin) = end.checked_sub(length) else { return Ok(()) };
    let mut footer = std::io::BufReader::new(Cursor::new(disk, begin)).take(length);
    // A byte an element is what the format asks for.
    match repeats_nothing(&mut footer, length) {
        true => Err(ParquetError::General(TOO_MANY.into())),
        false => Ok(()),
    }
}

/// Bytes at the end: the length of the footer, and what the file is.
const FOOTER: usize = 8;

/// An open file, and what has come out of it so far.
pub(crate) struct File {
    pub(super) disk: Arc<Disk>,
    chunks: Arc<Chunks>,
    metadata: ParquetMetaData,
    pub(super) names: Vec<String>,
    pub(super) tallies: Tallies,
}

impl File {
    /// Opens a file, out of which no more than `limit` bytes may come.
    ///
    /// # Errors
    /// A damaged footer.
    pub(crate) fn open(disk: &Arc<Disk>, limit: u64) -> Result<Self> {
        let chunks = Arc::new(Chunks(Arc::clone(disk)));
        let metadata = guarded(disk, || {
            check_footer(disk)?;
            ParquetMetaDataReader::new().parse_and_finish(&*chunks)
        })?;
        let columns = metadata.file_metadata().schema_descr().columns();
        let names = columns.iter().map(|c| c.path().string()).collect();
        Ok(Self { disk: Arc::clone(disk), chunks, metadata, names, tallies: Tallies::new(disk, limit) })
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Rows, as the file says: nothing to make room by.
    pub(crate) fn rows(&self) -> u64 {
        self.metadata.file_metadata().num_rows().max(0) as u64
    }

    /// Row groups.
    pub(crate) fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Rows of a group, as the file says.
    pub(super) fn rows_of(&self, group: usize) -> u64 {
        self.metadata.row_group(group).num_rows().max(0) as u64
    }

    pub(super) fn about(&self, at: usize) -> ColumnDescPtr {
        self.metadata.file_metadata().schema_descr().column(at)
    }

    pub(super) fn column_reader(&self, group: usize, at: usize, tallies: &Tallies) -> Result<ColumnReader> {
        let group = self.metadata.row_group(group);
        guarded(&self.disk, || column_reader(&self.disk, &self.chunks, group, at, tallies))
    }
}

/// What to do about a file that cannot be decoded.
pub(crate) const DAMAGED: &str =
    "it is damaged or uses a codec other than snappy, gzip and zstd: write it again";

/// Runs the parquet crate, which meets some damaged files with a panic: among 60 000 spoilt files version 59.3.2
/// panicked 55 times, on a data page whose dictionary is gone and on a negative column offset.
pub(crate) fn guarded<T>(disk: &Disk, work: impl FnOnce() -> ParquetResult<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(ParquetError::External(inner))) => match inner.downcast::<Error>() {
            Ok(own) => Err(*own),
            Err(other) => Err(disk.fail(format!("cannot be read as Parquet ({other})"), DAMAGED)),
        },
        Ok(Err(error)) => Err(disk.fail(format!("cannot be read as Parquet ({error})"), DAMAGED)),
        Err(_) => Err(disk.fail("cannot be read as Parquet (its contents contradict one another)", DAMAGED)),
    }
}

pub(super) fn open(disk: &Arc<Disk>, options: &Options) -> Result<Opened> {
    let file = File::open(disk, options.max_decompressed)?;
    let all = file.names();
    let chosen = choose(disk, all, options.columns.as_deref())?;
    for &j in &chosen {
        if let Some(what) = not_a_number(&file.about(j)) {
            return Err(disk.fail(
                format!("column {:?} holds {what}, not numbers", all[j]),
                "choose the numeric columns with --columns",
            ));
        }
    }
    let names: Vec<String> = chosen.iter().map(|&j| all[j].clone()).collect();
    let mut starts = vec![0usize];
    for group in file.metadata.row_groups() {
        let end =
            usize::try_from(group.num_rows()).ok().and_then(|n| starts[starts.len() - 1].checked_add(n));
        starts.push(end.ok_or_else(|| disk.fail("has row groups of impossible length", DAMAGED))?);
    }
    let rows = starts[starts.len() - 1];
    // No more rows are read than the file says, so what it says is what it unpacks to.
    let row: u64 = chosen.iter().map(|&j| width(file.about(j).physical_type())).sum();
    Tally::new(disk, options.max_decompressed).check(disk, (rows as u64).saturating_mul(row))?;
    let largest = starts.windows(2).map(|w| dense_bytes(w[1] - w[0], names.len())).max().unwrap_or(0);
    if largest > options.memory {
        return Err(disk.fail(
            format!(
                "has a row group of {largest} bytes, more than the {} bytes of memory allowed",
                options.memory
            ),
            "write it again with smaller row groups (row_group_size in pandas and polars), or raise --memory",
        ));
    }
    let keep = (options.memory / largest.max(1)).clamp(1, 8) as usize;
    let store = Groups {
        file,
        limit: options.max_decompressed,
        chosen,
        names: names.clone(),
        starts,
        keep,
        gaps: options.gaps,
        recent: Mutex::default(),
    };
    let store = Store::Disk(Box::new(store));
    Ok(Opened { names, named: true, rows, rate: None, stored_as: "Parquet".into(), store })
}

/// What a column holds when it holds no numbers.
fn not_a_number(column: &ColumnDescriptor) -> Option<&'static str> {
    if column.max_rep_level() > 0 {
        return Some("lists");
    }
    match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
        (Physical::INT96, ..) => Some("times"),
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, ..) => Some("text or bytes"),
        (_, Some(LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. }), _) => {
            Some("dates or times")
        }
        (_, Some(LogicalType::Decimal { .. }), _) | (_, _, ConvertedType::DECIMAL) => Some("decimals"),
        (
            ..,
            ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS,
        ) => Some("dates or times"),
        _ => None,
    }
}

/// A Parquet file and the row groups decoded last.
struct Groups {
    file: File,
    /// Bytes that a row group may unpack to.
    limit: u64,
    chosen: Vec<usize>,
    names: Vec<String>,
    /// First row of every group, and the number of rows.
    starts: Vec<usize>,
    /// Groups that may be held: threads work on neighbouring blocks, which may lie in neighbouring groups.
    keep: usize,
    /// Whether nulls are read as NaN.
    gaps: bool,
    recent: Mutex<Vec<(usize, Arc<Vec<f64>>)>>,
}

impl std::fmt::Debug for Groups {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Groups")
            .field("disk", &self.file.disk)
            .field("starts", &self.starts)
            .finish_non_exhaustive()
    }
}

impl Stored for Groups {
    fn read(&self, start: usize, out: &mut [f64]) -> Result<()> {
        let cols = self.names.len();
        let mut done = 0;
        while done < out.len() / cols {
            let row = start + done;
            // Empty groups share their start with the next one, so the last group that begins here is meant.
            let group = self.starts.partition_point(|&s| s <= row) - 1;
            let now = (self.starts[group + 1] - row).min(out.len() / cols - done);
            let from = (row - self.starts[group]) * cols;
            let numbers = self.group(group)?;
            out[done * cols..(done + now) * cols].copy_from_slice(&numbers[from..from + now * cols]);
            done += now;
        }
        Ok(())
    }

    /// Decodes straight into place: a copy of a large group would double the memory.
    fn read_all(&self, out: &mut [f64], progress: &dyn Progress) -> Result<()> {
        for group in 0..self.starts.len() - 1 {
            let (from, to) =
                (self.starts[group] * self.names.len(), self.starts[group + 1] * self.names.len());
            self.decode(group, &mut out[from..to], &self.file.tallies, progress)?;
        }
        Ok(())
    }
}

impl Groups {
    /// A decoded group. It is decoded under the lock, so that threads do not decode the same group twice.
    fn group(&self, group: usize) -> Result<Arc<Vec<f64>>> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let held = match recent.iter().position(|(held, _)| *held == group) {
            Some(at) => recent.remove(at),
            None => {
                recent.truncate(self.keep - 1);
                let mut numbers = vec![0.0; (self.starts[group + 1] - self.starts[group]) * self.names.len()];
                // A group is unpacked as often as the work comes back to it, and counted anew.
                self.decode(group, &mut numbers, &Tallies::new(&self.file.disk, self.limit), &Silent)?;
                (group, Arc::new(numbers))
            }
        };
        recent.insert(0, held);
        Ok(Arc::clone(&recent[0].1))
    }

    fn decode(
        &self,
        group: usize,
        out: &mut [f64],
        tallies: &Tallies,
        progress: &dyn Progress,
    ) -> Result<()> {
        let rows = (self.starts[group + 1] - self.starts[group]) as u64;
        for (place, &j) in self.chosen.iter().enumerate() {
            progress.check()?;
            let column = self.file.column_reader(group, j, tallies)?;
            let about = self.file.about(j);
            let (unsigned, present) = (is_unsigned(&about), about.max_def_level());
            let target =
                Target { groups: self, first_row: self.starts[group], place, present, out: &mut *out };
            match column {
                ColumnReader::BoolColumnReader(r) => target.fill(r, |&x| f64::from(u8::from(x)))?,
                ColumnReader::Int32ColumnReader(r) if unsigned => target.fill(r, |&x| f64::from(x as u32))?,
                ColumnReader::Int32ColumnReader(r) => target.fill(r, |&x| f64::from(x))?,
                ColumnReader::Int64ColumnReader(r) if unsigned => target.fill(r, |&x| x as u64 as f64)?,
                ColumnReader::Int64ColumnReader(r) => target.fill(r, |&x| x as f64)?,
                ColumnReader::FloatColumnReader(r) => target.fill(r, |&x| f64::from(x))?,
                ColumnReader::DoubleColumnReader(r) => target.fill(r, |&x| x)?,
                _ => return Err(self.file.disk.fail("changes a column's type between row groups", DAMAGED)),
            }
            progress.advance(rows);
        }
        Ok(())
    }
}

pub(super) fn is_unsigned(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed)
        || matches!(
            column.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        )
}

/// Where a column of a row group goes.
struct Target<'a> {
    groups: &'a Groups,
    first_row: usize,
    place: usize,
    /// Definition level of a value that is not null.
    present: i16,
    out: &'a mut [f64],
}

impl Target<'_> {
    /// Decodes in batches of 8192 values, so that a group that lies about its length costs one batch.
    fn fill<T: DataType>(self, mut column: ColumnReaderImpl<T>, number: impl Fn(&T::T) -> f64) -> Result<()> {
        let Self { groups, first_row, place, present, out } = self;
        let (cols, disk) = (groups.names.len(), &groups.file.disk);
        let rows = out.len() / cols;
        let (mut values, mut levels, mut done) = (Vec::new(), Vec::new(), 0);
        while done < rows {
            values.clear();
            levels.clear();
            let most = (rows - done).min(8192);
            let read = guarded(disk, || column.read_records(most, Some(&mut levels), None, &mut values));
            let (records, ..) = read?;
            let null = levels.iter().position(|&level| level < present);
            if let Some(null) = null.filter(|_| !groups.gaps) {
                return Err(disk.fail(
                    format!(
                        "row {} (counted from 1), column {} is null",
                        first_row + done + null + 1,
                        groups.names[place]
                    ),
                    "missing values are not read: fill or drop such rows",
                ));
            }
            let nulls = levels.iter().filter(|&&level| level < present).count();
            if records == 0 || values.len() + nulls < records {
                let name = &groups.names[place];
                return Err(disk.fail(format!("column {name} ends after {done} of {rows} rows"), DAMAGED));
            }
            let places = out[done * cols + place..].iter_mut().step_by(cols);
            if nulls == 0 {
                places.zip(&values).for_each(|(x, value)| *x = number(value));
            } else {
                // Values stand close together, without places for the nulls between them.
                let mut held = values.iter();
                for (x, &level) in places.zip(&levels) {
                    *x = if level < present { f64::NAN } else { held.next().map_or(f64::NAN, &number) };
                }
            }
            done += records;
        }
        Ok(())
    }
}
