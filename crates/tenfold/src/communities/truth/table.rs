//! Tables of known communities: members with weights, or attributes of nodes.

use super::gather::Gather;
use super::{Options, chosen, community, is_known, told};
use crate::error::{Error, Result};
use crate::input::decode::utf8;
use crate::input::rows::{Cells, Kind, RowReader};
use crate::input::{Opening, Source};
use crate::output::text_of_cell;
use std::path::Path;
use tenfold_engine::progress::Progress;

/// Columns that are taken for the ids when none is named.
const ID: [&str; 7] = ["id", "node", "node_id", "nodeid", "name", "label", "user"];

/// Rows between two looks whether to stop.
const ROWS: u64 = 1 << 14;

/// Most bytes of a row: ids and values are short, so a longer one is a quote that is not closed.
const LONGEST: u64 = 1 << 24;

/// Rows of texts, with the names of their columns.
pub(super) trait Rows {
    /// The columns' names.
    fn names(&self) -> &[String];
    /// Calls `take` with the cells of these columns, row by row.
    fn for_every(&mut self, columns: &[usize], take: &mut dyn FnMut(&[String]) -> Result<()>) -> Result<()>;
}

pub(super) fn read(
    source: Source,
    opening: Opening<'_>,
    (members, options): (bool, &Options),
    gather: &mut Gather<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    let path = source.path().to_owned();
    if source.head(4) == b"PAR1" {
        #[cfg(feature = "parquet")]
        return gathered(
            &path,
            &mut super::parquet::Table::open(source, opening, progress)?,
            (members, options),
            gather,
        );
        #[cfg(not(feature = "parquet"))]
        return Err(source.fail(
            None,
            "this build was made without the feature `parquet`",
            "convert it to CSV",
        ));
    }
    let _ = opening;
    gathered(&path, &mut Text::open(&source, progress)?, (members, options), gather)
}

fn gathered(
    path: &Path,
    rows: &mut dyn Rows,
    (members, options): (bool, &Options),
    gather: &mut Gather<'_>,
) -> Result<()> {
    let names = rows.names().to_vec();
    let find = |wanted: &str| names.iter().position(|n| n.eq_ignore_ascii_case(wanted));
    let id = match &options.id_column {
        Some(wanted) => find(wanted).ok_or_else(|| missing(path, wanted, &names))?,
        None => ID.iter().find_map(|usual| find(usual)).unwrap_or(0),
    };
    let weighted = find("community").zip(find("weight")).filter(|_| members || options.attributes.is_empty());
    if members || weighted.is_some() {
        let (community, weight) =
            weighted.ok_or_else(|| missing(path, "community\" and \"weight", &names))?;
        return with_weights(path, rows, [id, community, weight], gather);
    }
    let others: Vec<&str> = (0..names.len()).filter(|at| *at != id).map(|at| names[at].as_str()).collect();
    let chosen = chosen(path, &others, &others, options)?;
    let columns: Vec<usize> =
        std::iter::once(id).chain(chosen.iter().filter_map(|name| find(name))).collect();
    gather.note(told(&chosen));
    rows.for_every(&columns, &mut |cells| {
        // A node with no value of its own is still known.
        if cells[0].trim().is_empty() || gather.node(&cells[0]).is_none() {
            return Ok(());
        }
        for (name, value) in chosen.iter().zip(cells[1..].iter().map(|cell| cell.trim())) {
            if is_known(value, options) {
                gather.member(&cells[0], &community(name, value, chosen.len()), None);
            }
        }
        Ok(())
    })
}

fn with_weights(
    path: &Path,
    rows: &mut dyn Rows,
    columns: [usize; 3],
    gather: &mut Gather<'_>,
) -> Result<()> {
    gather.note("read as members with weights");
    let mut count = 0u64;
    rows.for_every(&columns, &mut |cells| {
        count += 1;
        let weight = cells[2].trim().parse::<f32>().ok().filter(|w| w.is_finite() && *w >= 0.0);
        let Some(weight) = weight else {
            let problem = format!("row {count} (counted from 1) has the weight {:?}", cells[2]);
            let remedy = "weights of members are finite and not negative: mend the row".into();
            return Err(Error::Read { path: path.to_owned(), line: None, problem, remedy });
        };
        gather.member(&cells[0], cells[1].trim(), Some(weight));
        Ok(())
    })
}

fn missing(path: &Path, wanted: &str, names: &[String]) -> Error {
    let held: Vec<String> = names.iter().take(20).map(|n| format!("{n:?}")).collect();
    Error::Read {
        path: path.to_owned(),
        line: None,
        problem: format!("has no column \"{wanted}\"; the columns are {}", held.join(", ")),
        remedy: "name the column of ids with --id-column, or export the table with names".into(),
    }
}

/// Delimited text.
struct Text<'a> {
    source: &'a Source,
    rows: RowReader<'a>,
    names: Vec<String>,
    progress: &'a dyn Progress,
}

impl<'a> Text<'a> {
    fn open(source: &'a Source, progress: &'a dyn Progress) -> Result<Self> {
        let head = source.head(1 << 16);
        let first =
            head.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
        let tabs = first.contains(&b'\t') && !first.contains(&b',') && !first.contains(&b';');
        let kind = if tabs { Kind::Tsv } else { Kind::Csv };
        let mut rows = RowReader::new(source, kind, LONGEST, progress)?;
        rows.too_large = "close the quote; within quotes a quote is written twice";
        let mut text = Self { source, rows, names: Vec::new(), progress };
        let Some((_, names)) = text.next()? else {
            return Err(source.fail(None, "holds no lines", super::WANTED));
        };
        text.names = names.iter().map(|name| name.trim().to_owned()).collect();
        Ok(text)
    }

    /// The number and the cells of the next line that holds something.
    fn next(&mut self) -> Result<Option<(u64, Vec<String>)>> {
        let mut row = Cells::default();
        while let Some(line) = self.rows.next(&mut row)? {
            if !row.is_blank() {
                let text = |cell: &[u8]| Ok(text_of_cell(utf8(self.source.path(), cell, line)?).to_owned());
                return Ok(Some((line, row.iter().map(text).collect::<Result<_>>()?)));
            }
        }
        Ok(None)
    }
}

impl Rows for Text<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn for_every(&mut self, columns: &[usize], take: &mut dyn FnMut(&[String]) -> Result<()>) -> Result<()> {
        let mut count = 0u64;
        while let Some((line, cells)) = self.next()? {
            count += 1;
            if count.is_multiple_of(ROWS) {
                self.progress.check()?;
            }
            let pick = |at: &usize| {
                cells.get(*at).cloned().ok_or_else(|| {
                    let problem =
                        format!("has {} cells where {} were expected", cells.len(), self.names.len());
                    self.source.fail(line, problem, "mend the line; a cell with separators stands in quotes")
                })
            };
            take(&columns.iter().map(pick).collect::<Result<Vec<_>>>()?)?;
        }
        Ok(())
    }
}
