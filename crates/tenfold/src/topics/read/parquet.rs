//! Parquet with a column of text.

use super::ReadOptions;
use super::lexicon::Texts;
use super::source::Source;
use super::table::choose_named;
use crate::error::{Error, Result};
use crate::input::Disk;
use crate::input::parquet::{Chunks, DAMAGED, guarded};
use crate::topics::data::Corpus;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use std::sync::Arc;
use tenfold_engine::progress::Progress;

/// Rows that are decoded together.
const BATCH: usize = 4096;

pub(super) fn read(source: Source, options: &ReadOptions, progress: &dyn Progress) -> Result<Corpus> {
    let disk = source.plain(options, progress)?;
    let reader = guarded(&disk, || SerializedFileReader::new(Chunks(Arc::clone(&disk))))?;
    let metadata = reader.metadata();
    let about = metadata.file_metadata().schema_descr();
    let all: Vec<String> = about.columns().iter().map(|c| c.path().string()).collect();
    let columns = choose_named(disk.path(), &all, options)?;
    let mut texts = Texts::new(disk.path(), options)?;
    texts.note(format!("text from column {}", all[columns.text]));
    let (mut names, mut nulls) = (Vec::new(), 0);
    let rows = metadata.file_metadata().num_rows().max(0) as u64;
    progress.stage(&format!("reading {}", disk.path().display()), rows);
    for group in 0..metadata.num_row_groups() {
        let group = guarded(&disk, || reader.get_row_group(group))?;
        let open = |column: usize| -> Result<Column> {
            let descriptor = about.column(column);
            if descriptor.max_rep_level() > 0 {
                return Err(disk.fail(format!("column {:?} holds lists, not text", all[column]), NOT_TEXT));
            }
            let reader = guarded(&disk, || group.get_column_reader(column))?;
            Ok(Column { disk: &disk, name: &all[column], reader, present: descriptor.max_def_level() })
        };
        let mut text = open(columns.text)?;
        if !matches!(text.reader, ColumnReader::ByteArrayColumnReader(_)) {
            return Err(disk.fail(format!("column {:?} holds no text", all[columns.text]), NOT_TEXT));
        }
        let mut id = columns.id.map(open).transpose()?;
        loop {
            progress.check()?;
            let batch = text.next()?;
            if batch.is_empty() {
                break;
            }
            progress.advance(batch.len() as u64);
            nulls += batch.iter().filter(|t| t.is_none()).count();
            if let Some(id) = &mut id {
                let ids = id.next()?;
                if ids.len() != batch.len() {
                    return Err(disk.fail(format!("column {:?} is shorter than the text", id.name), DAMAGED));
                }
                names.extend(ids.into_iter().map(Option::unwrap_or_default));
            }
            let batch: Vec<String> = batch.into_iter().map(Option::unwrap_or_default).collect();
            texts.take(&batch)?;
        }
    }
    if nulls > 0 {
        texts.note(format!("{nulls} rows without a text were taken as empty documents"));
    }
    texts.finish(columns.id.map(|_| names))
}

const NOT_TEXT: &str = "name the column of the text with --text-column";

/// A column of a row group, as strings.
struct Column<'a> {
    disk: &'a Disk,
    name: &'a str,
    reader: ColumnReader,
    /// Definition level of a value that is not null.
    present: i16,
}

impl Column<'_> {
    /// The next rows; empty at the end.
    fn next(&mut self) -> Result<Vec<Option<String>>> {
        let (disk, name, present) = (self.disk, self.name, self.present);
        let whole = |x: &i64| Ok(x.to_string());
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(r) => batch(disk, r, present, |value| {
                std::str::from_utf8(value.data()).map(str::to_owned).map_err(|_| {
                    disk.fail(
                        format!("column {name:?} holds bytes that are not UTF-8"),
                        "write it again as strings",
                    )
                })
            }),
            ColumnReader::Int32ColumnReader(r) => batch(disk, r, present, |x| Ok(x.to_string())),
            ColumnReader::Int64ColumnReader(r) => batch(disk, r, present, whole),
            _ => Err(disk.fail(
                format!("column {name:?} holds neither text nor whole numbers"),
                "choose another with --id-column",
            )),
        }
    }
}

fn batch<T: DataType>(
    disk: &Disk,
    reader: &mut ColumnReaderImpl<T>,
    present: i16,
    read: impl Fn(&T::T) -> Result<String>,
) -> Result<Vec<Option<String>>> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, ..) = guarded(disk, || reader.read_records(BATCH, Some(&mut levels), None, &mut values))?;
    let mut values = values.iter();
    let damaged = || -> Error { disk.fail("holds fewer values than it promises", DAMAGED) };
    // A required column has no levels.
    (0..records)
        .map(|i| match levels.get(i).is_none_or(|level| *level == present) {
            true => values.next().ok_or_else(damaged).and_then(&read).map(Some),
            false => Ok(None),
        })
        .collect()
}
