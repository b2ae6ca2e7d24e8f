//! Text in pieces of whole lines, parsed in parallel and handed over in order.

use super::numbers::Bad;
use super::source::Source;
use crate::error::Result;
use rayon::prelude::*;
use std::io::Read;
use std::ops::ControlFlow;
use tenfold_engine::progress::Progress;

/// Bytes of a piece. A batch of [`BATCH`] pieces and what is made of them stay within some tens of megabytes.
const PIECE: usize = 2 << 20;

/// Pieces that are parsed together, in parallel.
const BATCH: usize = 8;

/// Text in pieces that end where lines end.
pub(crate) struct Pieces<'a> {
    source: &'a Source,
    progress: &'a dyn Progress,
    reader: Box<dyn Read + Send + 'a>,
    rest: Vec<u8>,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(
        source: &'a Source,
        progress: &'a dyn Progress,
        reader: Box<dyn Read + Send + 'a>,
    ) -> Self {
        Self { source, progress, reader, rest: Vec::new() }
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut piece = std::mem::take(&mut self.rest);
        loop {
            self.progress.check()?;
            let held = piece.len();
            let wanted = held.max(PIECE / 2) * 2 - held;
            // Set aside and not written: zeros in a whole piece would be most of the work where the text is short.
            piece.reserve_exact(wanted);
            let read = self.reader.by_ref().take(wanted as u64).read_to_end(&mut piece);
            let ended = read.map_err(|e| self.source.refuse(None, &e))? < wanted;
            if ended {
                return Ok((!piece.is_empty()).then_some(piece));
            }
            if let Some(last) = piece[held..].iter().rposition(|&b| b == b'\n') {
                self.rest = piece.split_off(held + last + 1);
                return Ok(Some(piece));
            }
        }
    }

    /// The next few pieces; empty at the end.
    pub(crate) fn batch(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH
            && let Some(piece) = self.next()?
        {
            batch.push(piece);
        }
        Ok(batch)
    }
}

/// Parses a text piece by piece, a batch at a time in parallel while the next batch is read, and hands the results over
/// in order. `first` is the first batch and the number of lines before it. False when `take` broke it off.
pub(crate) fn parse_pieces<T: Send>(
    source: &Source,
    pieces: &mut Pieces,
    first: (Vec<Vec<u8>>, u64),
    parse: impl Fn(&[u8]) -> std::result::Result<(T, u64), Bad> + Sync,
    mut take: impl FnMut(T) -> Result<ControlFlow<()>>,
) -> Result<bool> {
    let (mut batch, mut lines) = first;
    while !batch.is_empty() {
        let parse_all = || batch.par_iter().map(|piece| parse(piece)).collect::<Vec<_>>();
        let (parsed, next) = rayon::join(parse_all, || pieces.batch());
        for result in parsed {
            let fail = |bad: Bad| source.fail(lines + bad.line + 1, bad.problem, bad.remedy);
            let (value, more) = result.map_err(fail)?;
            if take(value)?.is_break() {
                return Ok(false);
            }
            lines += more;
        }
        batch = next?;
    }
    Ok(true)
}
