//! Tables of events.

use super::{Labels, NAMELESS, TrueEvent, Truth, TruthOptions, fail};
use crate::error::Result;
use crate::input::rows::{Cells, Kind, RowReader};
use crate::input::{Opening, Source};
use std::path::Path;
use tenfold_engine::progress::Progress;

/// Most bytes of a row.
const LONGEST: u64 = 1 << 20;

/// Rows between two looks whether to stop.
const ROWS: usize = 1 << 14;

/// Where the columns stand.
struct Columns {
    when: usize,
    /// What `when` is multiplied with to become samples.
    scale: f64,
    motif: Option<usize>,
    trial: Option<usize>,
}

pub(super) fn read(
    path: &Path,
    tabs: bool,
    options: &TruthOptions,
    progress: &dyn Progress,
) -> Result<Truth> {
    let opening =
        Opening { encoding: None, max_decompressed: options.most(), wanted: "give a table of events" };
    let source = Source::open(path, opening, progress)?;
    let kind = if tabs { Kind::Tsv } else { Kind::Csv };
    let mut rows = RowReader::new(&source, kind, LONGEST, progress)?;
    let mut cells = Cells::default();
    let Some(first) = rows.next(&mut cells)? else {
        return Err(fail(path, None, "holds no lines", "give a table of events"));
    };
    let columns = Columns::of(path, first, &cells, options)?;
    let (mut events, mut labels) = (Vec::new(), Labels::default());
    while let Some(line) = rows.next(&mut cells)? {
        if events.len() % ROWS == 0 {
            progress.check()?;
        }
        if cells.is_blank() {
            continue;
        }
        let text = |at: usize| cells.get(at).map(|cell| String::from_utf8_lossy(cell).trim().to_owned());
        let bad = |what: &str, at: usize| {
            let problem = format!("has the {what} {:?}", text(at).unwrap_or_default());
            fail(path, Some(line), problem, format!("a {what} is a number: mend the line"))
        };
        let when = text(columns.when).and_then(|t| t.parse::<f64>().ok()).map(|t| t * columns.scale);
        // Beyond 2⁵² samples are no longer told apart.
        let sample = when.filter(|t| t.abs() <= 4e15).ok_or_else(|| bad("time", columns.when))?;
        let trial = match columns.trial {
            None => 0,
            Some(at) => text(at).and_then(|t| t.parse().ok()).ok_or_else(|| bad("trial", at))?,
        };
        let kind = columns.motif.and_then(text).map_or(NAMELESS, |name| labels.kind(&name));
        events.push(TrueEvent { trial, sample, kind });
    }
    let labels = labels.finish(&mut events);
    Ok(Truth { events, labels })
}

impl Columns {
    fn of(path: &Path, line: u64, cells: &Cells, options: &TruthOptions) -> Result<Self> {
        let names: Vec<String> =
            cells.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_lowercase()).collect();
        let find = |wanted: &[&str]| wanted.iter().find_map(|w| names.iter().position(|name| name == w));
        let (when, scale) = match (find(&["sample"]), find(&["time"])) {
            (Some(at), _) => (at, 1.0),
            (None, Some(at)) => (at, options.rate.unwrap_or(1.0)),
            (None, None) => {
                let some: Vec<&String> = names.iter().take(20).collect();
                let problem = format!("has the columns {some:?}, and neither \"time\" nor \"sample\"");
                let remedy = "name the columns in the first line: time (in seconds) or sample, motif, trial";
                return Err(fail(path, Some(line), problem, remedy));
            }
        };
        Ok(Self { when, scale, motif: find(&["motif", "label", "kind"]), trial: find(&["trial"]) })
    }
}
