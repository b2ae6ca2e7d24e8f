//! Tables whose cells stand in quotes.

use super::head::Head;
use super::lines::{Separator, weight_of};
use crate::communities::data::{Gathered, GraphBuilder};
use crate::error::Result;
use crate::input::Source;
use crate::input::decode::utf8;
use crate::input::rows::{Cells, Kind, RowReader};
use crate::output::text_of_cell;
use tenfold_engine::progress::Progress;

/// Rows between two looks whether to stop.
const ROWS: u64 = 1 << 14;

/// Most bytes of a row: ids are short, so a longer one is a quote that is not closed.
const LONGEST: u64 = 1 << 24;

pub(super) fn read(source: &Source, head: &Head, progress: &dyn Progress) -> Result<Gathered> {
    let fields = &head.fields;
    let (kind, separator) = match fields.separator {
        Separator::One(b'\t') => (Kind::Tsv, b'\t'),
        Separator::One(byte) => (Kind::Csv, byte),
        _ => (Kind::Csv, b' '),
    };
    let mut rows = RowReader::new(source, kind, LONGEST, progress)?.separated_by(separator);
    rows.too_large = "close the quote; within quotes a quote is written twice";
    let (mut row, mut builder, mut count) = (Cells::default(), GraphBuilder::new(None), 0u64);
    while let Some(line) = rows.next(&mut row)? {
        count += 1;
        if count.is_multiple_of(ROWS) {
            progress.check()?;
        }
        let is_comment =
            fields.comments && row.get(0).is_some_and(|c| matches!(c.first(), Some(b'#' | b'%')));
        if line <= head.skip.1 || row.is_blank() || is_comment {
            continue;
        }
        let cell = |at: usize| -> Result<&str> {
            let Some(bytes) = row.get(at) else {
                let (found, wanted) = (row.len(), at + 1);
                let problem = format!("has {found} fields where at least {wanted} were expected");
                return Err(source.fail(
                    line,
                    problem,
                    "mend the line; a cell with separators stands in quotes",
                ));
            };
            Ok(text_of_cell(utf8(source.path(), bytes.trim_ascii(), line)?))
        };
        let (from, to) = (cell(fields.from)?, cell(fields.to)?);
        if from.is_empty() || to.is_empty() {
            return Err(source.fail(line, "has an empty id", "give the two ids of an edge in every row"));
        }
        match fields.weight {
            None => builder.edge(from, to),
            Some(at) => {
                let weight = weight_of(cell(at)?.as_bytes());
                let weight = weight.map_err(|bad| source.fail(line, bad.problem, bad.remedy))?;
                builder.weighted_edge(from, to, f64::from(weight))
            }
        };
    }
    Ok(builder.gathered())
}
