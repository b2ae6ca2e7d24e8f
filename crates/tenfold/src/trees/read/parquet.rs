//! Parquet with a sample or an event a row.

use super::events::{Events, Fields};
use super::table::Taken;
use super::{Format, Input, Options, WANTED};
use crate::error::Result;
use crate::input::cells::Column;
use crate::input::parquet::{DAMAGED, File};
use crate::input::{Disk, Source};
use tenfold_engine::progress::Progress;

/// What to do about columns of another type.
const OTHER: &str = "write the table with columns of text, numbers or true and false";

/// Reads a table, or events where the options or the names of the columns say so.
pub(super) fn read(source: Source, options: &Options, progress: &dyn Progress) -> Result<(Input, Format)> {
    let disk = source.plain(options.opening(), progress)?;
    let file = File::open(&disk, options.max_decompressed)?;
    let names = file.names();
    if names.is_empty() || file.groups() == 0 {
        return Err(disk.fail("holds no columns or no rows", WANTED));
    }
    progress.stage(&format!("reading {}", disk.path().display()), file.rows());
    if options.means_events(names) {
        let fields = Fields::choose(disk.path(), Some(names), names.len(), options)?;
        return events(&disk, &file, fields, (options, progress)).map(|input| (input, Format::Events));
    }
    let mut taken = Taken::new(disk.path(), names, options)?;
    let mut before = 0u64;
    for group in 0..file.groups() {
        let mut lengths = Vec::new();
        for at in 0..names.len() {
            let mut column = Column::open(&file, group, at, OTHER)?;
            let mut row = before;
            loop {
                progress.check()?;
                let count = texts(&mut column, |text| {
                    row += 1;
                    taken.push(at, text, row);
                })?;
                if count == 0 {
                    break;
                }
            }
            lengths.push(row - before);
        }
        if lengths.iter().any(|l| *l != lengths[0]) {
            return Err(disk.fail("has columns of different lengths", DAMAGED));
        }
        before += lengths[0];
        progress.advance(lengths[0]);
    }
    taken.finish(disk.path(), options, progress).map(|input| (input, Format::Parquet))
}

fn events(
    disk: &Disk,
    file: &File,
    fields: Fields,
    (options, progress): (&Options, &dyn Progress),
) -> Result<Input> {
    let mut events = Events::new(disk.path(), options);
    for group in 0..file.groups() {
        let open = |at: usize| Column::open(file, group, at, OTHER);
        let (mut samples, mut codes) = (open(fields.sample)?, open(fields.code)?);
        loop {
            progress.check()?;
            let (mut of, mut with) = (Vec::new(), Vec::new());
            let count = texts(&mut samples, |text| of.push(text.to_owned()))?;
            texts(&mut codes, |text| with.push(text.to_owned()))?;
            if of.len() != with.len() {
                return Err(disk.fail("has columns of different lengths", DAMAGED));
            }
            if count == 0 {
                break;
            }
            progress.advance(count as u64);
            events.take_pairs(of.iter().map(String::as_str).zip(with.iter().map(String::as_str)))?;
        }
    }
    events.finish(fields.describe(Some(file.names())), progress)
}

/// Hands the next cells over as text, empty where null, and says how many there were.
fn texts(column: &mut Column, mut take: impl FnMut(&str)) -> Result<usize> {
    let mut text = String::new();
    column.next(|cell| {
        text.clear();
        cell.write(&mut text);
        take(&text);
        Ok(())
    })
}
