//! Cells of Parquet columns that hold text or numbers.

use super::Disk;
pub(crate) use super::cell::Cell;
use super::guard::Tally;
use super::pages::width;
use super::parquet::{DAMAGED, File, guarded, is_unsigned};
use crate::error::{Error, Result};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;

/// Rows that are decoded together.
const BATCH: usize = 4096;

/// A column of a row group.
pub(crate) struct Column<'a> {
    disk: &'a Disk,
    name: &'a str,
    reader: ColumnReader,
    /// Counts the values of the whole file, and what a value counts for, but for its text.
    tally: (&'a Tally, u64),
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
    /// A column of lists, a damaged one, or one of more values than may be unpacked.
    pub(crate) fn open(file: &'a File, group: usize, at: usize, remedy: &'static str) -> Result<Self> {
        let (disk, name, about) = (&*file.disk, &file.names[at], file.about(at));
        if about.max_rep_level() > 0 {
            return Err(disk.fail(format!("column {name:?} holds lists, not text"), remedy));
        }
        let (values, width) = (&*file.tallies.values, width(about.physical_type()));
        values.check(disk, file.rows_of(group).saturating_mul(width))?;
        let reader = file.column_reader(group, at, &file.tallies)?;
        let (present, unsigned) = (about.max_def_level(), is_unsigned(&about));
        Ok(Self { disk, name, reader, tally: (values, width), present, unsigned, remedy })
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
    /// A damaged column, one that holds neither text nor numbers, one that comes to too much, and what `take` says.
    pub(crate) fn next(&mut self, mut take: impl FnMut(Cell) -> Result<()>) -> Result<usize> {
        let (disk, name, unsigned) = (self.disk, self.name, self.unsigned);
        let (values, present) = (self.tally.0, self.present);
        let counted = (disk, self.tally);
        let whole = |x: i64| if unsigned { i128::from(x as u64) } else { i128::from(x) };
        let not_text = || -> Error {
            disk.fail(format!("column {name:?} holds bytes that are not UTF-8"), "write it again as strings")
        };
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(r) => batch(counted, r, present, |value| match value {
                None => take(Cell::Null),
                // A text of a dictionary is held once here, and by whoever takes it every time.
                Some(value) => match std::str::from_utf8(value.data()) {
                    Ok(text) => values.add(disk, text.len() as u64).and_then(|()| take(Cell::Text(text))),
                    Err(_) => Err(not_text()),
                },
            }),
            ColumnReader::BoolColumnReader(r) => batch(counted, r, present, |value| {
                take(value.map_or(Cell::Null, |x| Cell::Text(if *x { "true" } else { "false" })))
            }),
            ColumnReader::Int32ColumnReader(r) => batch(counted, r, present, |value| {
                let whole = |x: i32| if unsigned { i128::from(x as u32) } else { i128::from(x) };
                take(value.map_or(Cell::Null, |x| Cell::Whole(whole(*x))))
            }),
            ColumnReader::Int64ColumnReader(r) => {
                batch(counted, r, present, |value| take(value.map_or(Cell::Null, |x| Cell::Whole(whole(*x)))))
            }
            ColumnReader::FloatColumnReader(r) => batch(counted, r, present, |value| {
                take(value.map_or(Cell::Null, |x| Cell::Number(f64::from(*x))))
            }),
            ColumnReader::DoubleColumnReader(r) => {
                batch(counted, r, present, |value| take(value.map_or(Cell::Null, |x| Cell::Number(*x))))
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
    (disk, (tally, width)): (&Disk, (&Tally, u64)),
    reader: &mut ColumnReaderImpl<T>,
    present: i16,
    mut take: impl FnMut(Option<&T::T>) -> Result<()>,
) -> Result<usize> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, ..) = guarded(disk, || reader.read_records(BATCH, Some(&mut levels), None, &mut values))?;
    tally.add(disk, records as u64 * width)?;
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
