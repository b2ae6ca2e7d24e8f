//! Parquet, column by column.

use super::columns::Columns;
use super::gather::{Gather, Part};
use super::{Options, Read, WANTED};
use crate::error::Result;
use crate::input::Disk;
use crate::input::cells::{Cell, Column};
use crate::input::parquet::{DAMAGED, File};
use std::sync::Arc;
use tenfold_engine::progress::Progress;

const OTHER: &str = "write names as text and all else as numbers";

pub(super) fn read(disk: &Arc<Disk>, options: &Options, progress: &dyn Progress) -> Result<Read> {
    let file = File::open(disk, options.max_decompressed)?;
    let names = file.names();
    if names.is_empty() {
        return Err(disk.fail("holds no columns", WANTED));
    }
    let columns = Columns::choose(disk.path(), None, names, options)?;
    let name = disk.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    progress.stage(&format!("reading {name}"), file.rows());
    let mut gather = Gather::default();
    let mut before = 0u64;
    for group in 0..file.groups() {
        let table = Group { disk, file: &file, group, columns: &columns };
        before += table.read(before, &mut gather, progress)?;
    }
    Ok(gather.finish(disk.path(), columns))
}

struct Group<'a> {
    disk: &'a Arc<Disk>,
    file: &'a File,
    group: usize,
    columns: &'a Columns,
}

impl<'a> Group<'a> {
    fn open(&self, at: usize) -> Result<Column<'a>> {
        Column::open(self.file, self.group, at, OTHER)
    }

    /// Reads all columns a batch at a time; says how many rows there were.
    fn read(&self, before: u64, gather: &mut Gather, progress: &dyn Progress) -> Result<u64> {
        let texts = [self.columns.image, self.columns.gene];
        let mut texts = texts.map(|at| at.map(|at| self.open(at)).transpose());
        let mut numbers = self.columns.numbers().map(|at| self.open(at)).collect::<Result<Vec<_>>>()?;
        let mut row = 0u64;
        loop {
            progress.check()?;
            let mut values: Vec<Vec<f64>> = Vec::new();
            for (i, column) in numbers.iter_mut().enumerate() {
                let mut batch = Vec::new();
                column.next(|cell| {
                    batch.push(self.number(cell, i, before + row + batch.len() as u64)?);
                    Ok(())
                })?;
                values.push(batch);
            }
            let count = values[0].len();
            let mut labels: [Vec<Option<Arc<str>>>; 2] = Default::default();
            for (text, labels) in texts.iter_mut().zip(&mut labels) {
                let column = match text {
                    Ok(Some(column)) => column,
                    Ok(None) => {
                        labels.resize(count, None);
                        continue;
                    }
                    Err(_) => return std::mem::replace(text, Ok(None)).map(|_| 0),
                };
                column.next(|cell| {
                    labels.push(Some(label(cell, labels.last())));
                    Ok(())
                })?;
            }
            if values.iter().any(|v| v.len() != count) || labels.iter().any(|l| l.len() != count) {
                return Err(self.disk.fail("has columns of different lengths", DAMAGED));
            }
            if count == 0 {
                return Ok(row);
            }
            gather.take(self.part(&values, &labels, before + row)?);
            row += count as u64;
            progress.advance(count as u64);
        }
    }

    fn part(&self, values: &[Vec<f64>], labels: &[Vec<Option<Arc<str>>>; 2], before: u64) -> Result<Part> {
        let (mut part, mut numbers) = (Part::default(), vec![0.0; values.len()]);
        for row in 0..values[0].len() {
            numbers.iter_mut().zip(values).for_each(|(number, column)| *number = column[row]);
            let name = |of: &[Option<Arc<str>>]| of[row].clone().unwrap_or_default();
            let cell = self.columns.cell(&numbers).map_err(|(i, problem)| {
                let problem = format!("row {} has {}, but {problem}", before + row as u64 + 1, numbers[i]);
                self.disk.fail(problem, "mend the table")
            })?;
            part.push(&name(&labels[0]), &name(&labels[1]), cell);
        }
        Ok(part)
    }

    fn number(&self, cell: Cell, i: usize, row: u64) -> Result<f64> {
        let number = match cell {
            Cell::Null => f64::NAN,
            Cell::Number(number) => number,
            Cell::Whole(whole) => whole as f64,
            Cell::Text(text) => text.trim().parse().unwrap_or(f64::NAN),
        };
        match number.is_finite() {
            true => Ok(number),
            false if self.columns.may_miss(i) => Ok(f64::NAN),
            false => {
                let name = &self.file.names()[self.columns.numbers().nth(i).unwrap_or(0)];
                let problem = format!("row {} (counted from 1) has no number in column {name:?}", row + 1);
                Err(self.disk.fail(problem, "places must be known: drop such rows"))
            }
        }
    }
}

/// The name in a cell; mostly that of the cell before, which is then shared.
fn label(cell: Cell, last: Option<&Option<Arc<str>>>) -> Arc<str> {
    let shared = |text: &str| match last {
        Some(Some(last)) if **last == *text => Arc::clone(last),
        _ => Arc::from(text),
    };
    match cell {
        Cell::Null => shared(""),
        Cell::Text(text) => shared(text.trim()),
        Cell::Whole(number) => shared(&number.to_string()),
        Cell::Number(number) => shared(&number.to_string()),
    }
}
