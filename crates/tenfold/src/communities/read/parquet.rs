//! Parquet with an edge a row.

use super::columns::choose;
use super::{ReadOptions, WANTED};
use crate::communities::data::{Gathered, GraphBuilder, MEND_WEIGHT, PIECE, Pairs, compact, weight};
use crate::error::{Error, Result};
use crate::input::cells::{Cell, Column};
use crate::input::parquet::{DAMAGED, File};
use crate::input::{Disk, Source};
use tenfold_engine::progress::Progress;

/// What to do about columns that hold no edges.
const CHOOSE: &str = "choose the columns with --from, --to and --weight";

pub(super) fn read(source: Source, options: &ReadOptions, progress: &dyn Progress) -> Result<Gathered> {
    let disk = source.plain(options.opening(), progress)?;
    let file = File::open(&disk, options.max_decompressed)?;
    let all = file.names();
    let columns = choose(disk.path(), Some(all), all.len(), options)?;
    progress.stage(&format!("reading {}", disk.path().display()), file.rows());
    let mut edges =
        Edges { disk: &disk, numbers: Some(Vec::new()), weights: Vec::new(), named: None, rows: 0 };
    for group in 0..file.groups() {
        let open = |at: usize| Column::open(&file, group, at, CHOOSE);
        let (mut from, mut to) = (open(columns.from)?, open(columns.to)?);
        let mut weights = columns.weight.map(open).transpose()?;
        loop {
            progress.check()?;
            let taken = edges.take(&mut from, &mut to, weights.as_mut())?;
            if taken == 0 {
                break;
            }
            progress.advance(taken as u64);
        }
    }
    let mut gathered = edges.finish(columns.weight.is_some())?;
    gathered.notes.push(format!("edges from column {} to column {}", all[columns.from], all[columns.to]));
    gathered.notes.extend(columns.weight.map(|at| format!("weights from column {}", all[at])));
    Ok(gathered)
}

/// Edges so far: between numbers, as long as all ids are.
struct Edges<'a> {
    disk: &'a Disk,
    numbers: Option<Vec<Vec<(u64, u64)>>>,
    weights: Vec<Vec<f32>>,
    named: Option<GraphBuilder>,
    rows: u64,
}

/// An id as it stands in a cell.
enum Id {
    Number(u64),
    Name(String),
}

impl Edges<'_> {
    /// Takes the next rows and says how many there were.
    fn take(&mut self, from: &mut Column, to: &mut Column, weights: Option<&mut Column>) -> Result<usize> {
        let (from, to) = (self.ids(from)?, self.ids(to)?);
        let count = from.len();
        let given = weights.map(|column| self.weights_of(column)).transpose()?;
        if to.len() != count || given.as_ref().is_some_and(|w| w.len() != count) {
            return Err(self.disk.fail("has columns of different lengths", DAMAGED));
        }
        let all_numbers = from.iter().chain(&to).all(|id| matches!(id, Id::Number(_)));
        if all_numbers && let Some(numbers) = &mut self.numbers {
            if numbers.last().is_none_or(|piece| piece.len() >= PIECE / 2) {
                numbers.push(Vec::new());
                self.weights.push(Vec::new());
            }
            let pairs = from.iter().zip(&to).filter_map(|pair| match pair {
                (Id::Number(from), Id::Number(to)) => Some((*from, *to)),
                _ => None,
            });
            numbers.last_mut().into_iter().for_each(|piece| piece.extend(pairs.clone()));
            self.weights.last_mut().into_iter().for_each(|piece| piece.extend(given.iter().flatten()));
        } else {
            self.push_names(&from, &to, given.as_deref());
        }
        self.rows += count as u64;
        Ok(count)
    }

    /// Goes on by names; the numbers so far become names first.
    fn push_names(&mut self, from: &[Id], to: &[Id], given: Option<&[f32]>) {
        let builder = self.named.get_or_insert_with(|| {
            let mut builder = GraphBuilder::new(None);
            let weights = std::mem::take(&mut self.weights);
            for (piece, weights) in self.numbers.take().into_iter().flatten().zip(weights) {
                for (e, (from, to)) in piece.into_iter().enumerate() {
                    push(&mut builder, &from.to_string(), &to.to_string(), weights.get(e));
                }
            }
            builder
        });
        let text = |id: &Id| match id {
            Id::Number(number) => number.to_string(),
            Id::Name(name) => name.clone(),
        };
        for (e, (from, to)) in from.iter().zip(to).enumerate() {
            push(builder, &text(from), &text(to), given.and_then(|w| w.get(e)));
        }
    }

    fn finish(self, weighted: bool) -> Result<Gathered> {
        if let Some(builder) = self.named {
            return Ok(builder.gathered());
        }
        let small = |piece: Vec<(u64, u64)>| match piece.iter().all(|e| (e.0 | e.1) >> 32 == 0) {
            true => Pairs::Small(piece.into_iter().map(|e| (e.0 as u32, e.1 as u32)).collect()),
            false => Pairs::Large(piece),
        };
        let pieces: Vec<Pairs> = self.numbers.into_iter().flatten().map(small).collect();
        if pieces.is_empty() {
            return Err(self.disk.fail("holds no edges", WANTED));
        }
        let (ids, edges) = compact(pieces)?;
        Ok(Gathered::new(ids, edges, weighted.then_some(self.weights)))
    }

    fn ids(&self, column: &mut Column) -> Result<Vec<Id>> {
        let (disk, name, mut ids, mut fractions) = (self.disk, column.name(), Vec::new(), false);
        column.next(|cell| {
            ids.push(match cell {
                Cell::Text("") | Cell::Null => {
                    let problem = format!(
                        "row {} (counted from 1), column {name} is empty",
                        self.rows + ids.len() as u64 + 1
                    );
                    return Err(disk.fail(problem, "every edge has two ids: fill or drop such rows"));
                }
                Cell::Text(text) => Id::Name(text.to_owned()),
                Cell::Whole(number) => {
                    u64::try_from(number).map_or_else(|_| Id::Name(number.to_string()), Id::Number)
                }
                Cell::Number(_) => {
                    fractions = true;
                    Id::Number(0)
                }
            });
            Ok(())
        })?;
        if fractions { Err(column.other_type()) } else { Ok(ids) }
    }

    fn weights_of(&self, column: &mut Column) -> Result<Vec<f32>> {
        let (name, mut weights) = (column.name(), Vec::new());
        column.next(|cell| {
            let row = self.rows + weights.len() as u64 + 1;
            let bad = |problem: &str| -> Error {
                let place = format!("row {row} (counted from 1), column {name}");
                self.disk.fail(format!("{place}: the weight {problem}"), MEND_WEIGHT)
            };
            let value = match cell {
                Cell::Null => return Err(bad("is missing")),
                Cell::Text(text) => text.trim().parse().map_err(|_| bad("is not a number"))?,
                Cell::Whole(number) => number as f64,
                Cell::Number(number) => number,
            };
            weights.push(weight(value).map_err(bad)?);
            Ok(())
        })?;
        Ok(weights)
    }
}

fn push(builder: &mut GraphBuilder, from: &str, to: &str, weight: Option<&f32>) {
    match weight {
        None => builder.edge(from, to),
        Some(weight) => builder.weighted_edge(from, to, f64::from(*weight)),
    };
}
