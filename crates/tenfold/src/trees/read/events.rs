//! Long tables of events: a sample and a code a row.
//!
//! Lines are parsed in pieces in parallel; every piece numbers its own samples and codes, and the pieces are joined in the order
//! of the file, so that numbers do not depend on threads. An event is held in 8 bytes, then in 4.

pub(super) use super::fields::Fields;
use super::groups;
use super::interner::Interner;
use super::lines::{Piece, cells, parse, separator};
use super::{Format, Input, Options, Samples, fail};
use crate::error::Result;
use crate::input::numbers::line;
use crate::input::{Source, parse_lines};
use std::collections::HashSet;
use std::hash::RandomState;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use tenfold_engine::progress::Progress;

pub(super) fn read(
    source: &Source,
    format: Format,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Input> {
    let head = source.head(1 << 16);
    let separator = separator(&head, format);
    let (mut at, mut lines, mut skip) = (0, 0, (0, 0));
    let mut first: Vec<Vec<String>> = Vec::new();
    while at < head.len() && first.len() < 2 {
        let (text, next) = line(&head, at);
        if !text.is_empty() {
            first
                .push(cells(text, separator).map_err(|bad| source.fail(lines + 1, bad.problem, bad.remedy))?);
        }
        lines += 1;
        if first.len() == 1 && skip == (0, 0) {
            skip = (next as u64, lines);
        }
        at = next;
    }
    let Some(names) = first.first() else {
        return Err(source.fail(None, "holds no lines", super::WANTED));
    };
    let has_names = Fields::has_names(names, first.get(1).map(Vec::as_slice), options);
    let given = has_names.then_some(names.as_slice());
    let fields = Fields::choose(source.path(), given, names.len(), options)?;
    let mut events = Events::new(source.path(), options);
    let hasher = events.hasher.clone();
    let parse = |piece: &[u8]| parse(piece, fields, separator, &hasher);
    let skip = if has_names { skip } else { (0, 0) };
    parse_lines(
        source,
        skip,
        parse,
        |piece| events.take(piece).map(|()| ControlFlow::Continue(())),
        progress,
    )?;
    events.finish(fields.describe(given), progress)
}

/// Whether a table begins like one of events: its columns have usual names, and there are three at most or a sample comes again among
/// the first rows. A table with a sample a row may have such columns too, but every sample once.
pub(super) fn begins_like_events(source: &Source, format: Format) -> bool {
    let head = source.head(1 << 16);
    let separator = separator(&head, format);
    let whole = head.iter().rposition(|b| *b == b'\n').map_or(&head[..], |end| &head[..end]);
    let mut rows = whole.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|row| !row.is_empty());
    let Some(names) = rows.next().and_then(|first| cells(first, separator).ok()) else { return false };
    if !Fields::are_usual(&names) {
        return false;
    }
    let Ok(fields) = Fields::choose(source.path(), Some(&names), names.len(), &Options::default()) else {
        return false;
    };
    let mut met = HashSet::new();
    let mut again = rows.filter_map(|row| cells(row, separator).ok()?.into_iter().nth(fields.sample));
    names.len() <= 3 || again.any(|sample| !met.insert(sample))
}

/// Events so far, by numbers of the whole file.
pub(super) struct Events<'a> {
    path: PathBuf,
    options: &'a Options,
    /// One for all pieces, so that names are hashed once, in parallel.
    hasher: RandomState,
    samples: Interner,
    codes: Interner,
    pieces: Vec<Vec<(u32, u32)>>,
    count: u64,
    empty: u64,
}

impl<'a> Events<'a> {
    pub(super) fn new(path: &Path, options: &'a Options) -> Self {
        let hasher = RandomState::new();
        let (samples, codes) = (Interner::new(&hasher), Interner::new(&hasher));
        Self {
            path: path.to_owned(),
            options,
            hasher,
            samples,
            codes,
            pieces: Vec::new(),
            count: 0,
            empty: 0,
        }
    }

    /// Takes the next pairs of a sample and a code.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn take_pairs<'b>(&mut self, pairs: impl Iterator<Item = (&'b str, &'b str)>) -> Result<()> {
        let mut piece = Piece::new(&self.hasher);
        pairs.for_each(|(sample, code)| piece.push(sample.trim().as_bytes(), code.trim().as_bytes()));
        self.take(piece)
    }

    /// Takes the next piece, in the order of the file.
    fn take(&mut self, piece: Piece) -> Result<()> {
        let (samples, codes) = (self.samples.numbers(&piece.samples), self.codes.numbers(&piece.codes));
        let mut events = piece.events;
        events.iter_mut().for_each(|e| *e = (samples[e.0 as usize], codes[e.1 as usize]));
        events.shrink_to_fit();
        self.count += events.len() as u64;
        self.empty += piece.empty;
        self.pieces.push(events);
        if 16 * self.count > self.options.memory {
            let problem = format!(
                "holds more events than fit into the {} bytes of memory allowed, at 16 bytes each",
                self.options.memory
            );
            return Err(fail(
                &self.path,
                None,
                problem,
                "raise --memory, or leave out rows that are not needed",
            ));
        }
        Ok(())
    }

    /// Makes the variables.
    pub(super) fn finish(self, note: String, progress: &dyn Progress) -> Result<Input> {
        if self.count == 0 {
            return Err(fail(&self.path, None, "holds no events".into(), super::WANTED));
        }
        progress.stage("arranging the events", 0);
        progress.check()?;
        let codes: Vec<String> =
            self.codes.names().map(|c| String::from_utf8_lossy(c).into_owned()).collect();
        let mut notes = vec![note];
        notes.push(format!(
            "{} events with {} codes of {} samples",
            self.count,
            codes.len(),
            self.samples.len()
        ));
        if self.empty > 0 {
            notes.push(format!("{} rows without a sample or a code were passed over", self.empty));
        }
        let (starts, events) = by_sample(self.pieces, self.samples.len());
        let (table, groups) =
            groups::arrange(&self.path, (starts, events), codes, (self.options, progress), &mut notes)?;
        Ok(Input {
            table,
            notes,
            groups,
            samples: Samples::Interned(self.samples.into()),
            format: Format::Events,
        })
    }
}

/// A counting sort: the codes of every sample together, and where each begins.
fn by_sample(pieces: Vec<Vec<(u32, u32)>>, samples: usize) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0usize; samples + 1];
    pieces.iter().flatten().for_each(|&(sample, _)| starts[sample as usize + 1] += 1);
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut codes = vec![0u32; starts[samples]];
    let mut next = starts.clone();
    for piece in pieces {
        for (sample, code) in piece {
            codes[next[sample as usize]] = code;
            next[sample as usize] += 1;
        }
    }
    (starts, codes)
}
