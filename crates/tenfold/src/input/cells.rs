//! Cells of Parquet columns that hold text or numbers.

use super::Disk;
pub(crate) use super::cell::Cell;
use super::parquet::{DAMAGED, guarded, is_unsigned};
use crate::error::{Error, Result};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::SchemaDescriptor;

/// Rows that are decoded together.
const BATCH: usize = 4096;

/// A column of a row group.
pub(crate) struct Column<'a> {
    disk: &'a Disk,
    name: &'a str,
    reader: ColumnReader,
    /// Definition level of a value that is not null.
    present: i16,
    unsigned: bool,
    /// What to do about a column of another type.
    remedy: &'static str,
}

impl<'a> Column<'a> {
    /// Opens the column `at` of a row group.
    ///
    /// # Errors
    /// A column of lists, or a damaged one.
    pub(crate) fn open(
        disk: &'a Disk,
        group: &dyn RowGroupReader,
        schema: &SchemaDescriptor,
        (at, name): (usize, &'a str),
        remedy: &'static str,
    ) -> Result<Self> {
        let descriptor = schema.column(at);
        if descriptor.max_rep_level() > 0 {
            return Err(disk.fail(format!("column {name:?} holds lists, not text"), remedy));
        }
        let reader = guarded(disk, || group.get_column_reader(at))?;
        let (present, unsigned) = (descriptor.max_def_level(), is_unsigned(&descriptor));
        Ok(Self { disk, name, reader, present, unsigned, remedy })
    }

    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    /// Whether the cells are text.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.reader, ColumnReader::ByteArrayColumnReader(_))
    }

    /// Hands the next rows over and says how many there were; none at the end.
    ///
    /// # Errors
    /// A damaged column, one that holds neither text nor numbers, and what `take` says.
    pub(crate) fn next(&mut self, mut take: impl FnMut(Cell) -> Result<()>) -> Result<usize> {
        let (disk, name, present, unsigned) = (self.disk, self.name, self.present, self.unsigned);
        let whole = |x: i64| if unsigned { i128::from(x as u64) } else { i128::from(x) };
        let not_text = || -> Error {
            disk.fail(format!("column {name:?} holds bytes that are not UTF-8"), "write it again as strings")
        };
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(r) => batch(disk, r, present, |value| match value {
                None => take(Cell::Null),
                Some(value) => match std::str::from_utf8(value.data()) {
                    Ok(text) => take(Cell::Text(text)),
                    Err(_) => Err(not_text()),
                },
            }),
            ColumnReader::BoolColumnReader(r) => batch(disk, r, present, |value| {
                take(value.map_or(Cell::Null, |x| Cell::Text(if *x { "true" } else { "false" })))
            }),
            ColumnReader::Int32ColumnReader(r) => batch(disk, r, present, |value| {
                let whole = |x: i32| if unsigned { i128::from(x as u32) } else { i128::from(x) };
                take(value.map_or(Cell::Null, |x| Cell::Whole(whole(*x))))
            }),
            ColumnReader::Int64ColumnReader(r) => {
                batch(disk, r, present, |value| take(value.map_or(Cell::Null, |x| Cell::Whole(whole(*x)))))
            }
            ColumnReader::FloatColumnReader(r) => batch(disk, r, present, |value| {
                take(value.map_or(Cell::Null, |x| Cell::Number(f64::from(*x))))
            }),
            ColumnReader::DoubleColumnReader(r) => {
                batch(disk, r, present, |value| take(value.map_or(Cell::Null, |x| Cell::Number(*x))))
            }
            _ => Err(self.other_type()),
        }
    }

    /// The error for a column whose cells cannot be used.
    pub(crate) fn other_type(&self) -> Error {
        self.disk.fail(format!("column {:?} holds neither text nor whole numbers", self.name), self.remedy)
    }
}

fn batch<T: DataType>(
    disk: &Disk,
    reader: &mut ColumnReaderImpl<T>,
    present: i16,
    mut take: impl FnMut(Option<&T::T>) -> Result<()>,
) -> Result<usize> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, ..) = guarded(disk, || reader.read_records(BATCH, Some(&mut levels), None, &mut values))?;
    let mut values = values.iter();
    for i in 0..records {
        // A required column has no levels.
        match levels.get(i).is_none_or(|level| *level == present) {
            true => match values.next() {
                None => return Err(disk.fail("holds fewer values than it promises", DAMAGED)),
                value => take(value)?,
            },
            false => take(None)?,
        }
    }
    Ok(records)
}
