//! Parquet with a column of text.

use super::ReadOptions;
use super::lexicon::Texts;
use super::table::choose_named;
use crate::error::Result;
use crate::input::Source;
use crate::input::cells::{Cell, Column};
use crate::input::parquet::{DAMAGED, File};
use crate::topics::data::Corpus;
use tenfold_engine::progress::Progress;

pub(super) fn read(source: Source, options: &ReadOptions, progress: &dyn Progress) -> Result<Corpus> {
    let disk = source.plain(options.opening(), progress)?;
    let file = File::open(&disk, options.max_decompressed)?;
    let all = file.names();
    let columns = choose_named(disk.path(), all, options)?;
    let mut texts = Texts::new(disk.path(), options)?;
    texts.note(format!("text from column {}", all[columns.text]));
    let (mut names, mut nulls) = (Vec::new(), 0);
    progress.stage(&format!("reading {}", disk.path().display()), file.rows());
    for group in 0..file.groups() {
        let open = |at: usize, remedy| Column::open(&file, group, at, remedy);
        let mut text = open(columns.text, NOT_TEXT)?;
        if !text.is_text() {
            return Err(disk.fail(format!("column {:?} holds no text", all[columns.text]), NOT_TEXT));
        }
        let mut id = columns.id.map(|at| open(at, "choose another with --id-column")).transpose()?;
        loop {
            progress.check()?;
            let batch = rows_of(&mut text)?;
            if batch.is_empty() {
                break;
            }
            progress.advance(batch.len() as u64);
            nulls += batch.iter().filter(|t| t.is_none()).count();
            if let Some(id) = &mut id {
                let ids = rows_of(id)?;
                if ids.len() != batch.len() {
                    return Err(
                        disk.fail(format!("column {:?} is shorter than the text", id.name()), DAMAGED)
                    );
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

/// The next rows as strings; empty at the end.
fn rows_of(column: &mut Column) -> Result<Vec<Option<String>>> {
    let (mut rows, mut fractions) = (Vec::new(), false);
    column.next(|cell| {
        rows.push(match cell {
            Cell::Text(text) => Some(text.to_owned()),
            Cell::Whole(number) => Some(number.to_string()),
            Cell::Null | Cell::Number(_) => None,
        });
        fractions |= matches!(cell, Cell::Number(_));
        Ok(())
    })?;
    if fractions { Err(column.other_type()) } else { Ok(rows) }
}
