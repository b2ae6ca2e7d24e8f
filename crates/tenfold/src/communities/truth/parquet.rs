//! Parquet tables of known communities.

use super::table::Rows;
use crate::error::Result;
use crate::input::cells::{Cell, Column};
use crate::input::parquet::{DAMAGED, File};
use crate::input::{Disk, Opening, Source};
use std::sync::Arc;
use tenfold_engine::progress::Progress;

/// What to do about columns that hold no texts.
const CHOOSE: &str = "choose the columns with --id-column and --attribute";

/// An open Parquet file.
pub(super) struct Table<'a> {
    disk: Arc<Disk>,
    file: File,
    progress: &'a dyn Progress,
}

impl<'a> Table<'a> {
    pub(super) fn open(source: Source, opening: Opening<'_>, progress: &'a dyn Progress) -> Result<Self> {
        let disk = source.plain(opening, progress)?;
        let file = File::open(&disk, opening.max_decompressed)?;
        Ok(Self { disk, file, progress })
    }
}

impl Rows for Table<'_> {
    fn names(&self) -> &[String] {
        self.file.names()
    }

    fn for_every(&mut self, columns: &[usize], take: &mut dyn FnMut(&[String]) -> Result<()>) -> Result<()> {
        for group in 0..self.file.groups() {
            let open = |at: &usize| Column::open(&self.file, group, *at, CHOOSE);
            let mut opened = columns.iter().map(open).collect::<Result<Vec<_>>>()?;
            loop {
                self.progress.check()?;
                let batch = opened.iter_mut().map(texts).collect::<Result<Vec<Vec<String>>>>()?;
                let count = batch.first().map_or(0, Vec::len);
                if batch.iter().any(|column| column.len() != count) {
                    return Err(self.disk.fail("has columns of different lengths", DAMAGED));
                }
                if count == 0 {
                    break;
                }
                for i in 0..count {
                    take(&batch.iter().map(|column| column[i].clone()).collect::<Vec<_>>())?;
                }
            }
        }
        Ok(())
    }
}

/// The next cells of a column as texts; one that is null is empty.
fn texts(column: &mut Column<'_>) -> Result<Vec<String>> {
    let mut out = Vec::new();
    column.next(|cell| {
        out.push(match cell {
            Cell::Null => String::new(),
            Cell::Text(text) => text.to_owned(),
            Cell::Whole(number) => number.to_string(),
            // Numbers of communities may be stored as fractions; 3.0 is written `3`.
            Cell::Number(number) => number.to_string(),
        });
        Ok(())
    })?;
    Ok(out)
}
