//! Lines of a text parsed in parallel: where the file is its own text, every thread reads its own part of it.

use super::guard::{LONGEST_LINE, TooMuch};
use super::numbers::Bad;
use super::pieces::parse_pieces;
use super::{Disk, Source};
use crate::error::Result;
use rayon::prelude::*;
use std::ops::ControlFlow;
use tenfold_engine::progress::Progress;

/// Bytes of a range: it stays in the cache between the reading and the parsing of it.
const RANGE: u64 = 1 << 20;

/// Ranges that are parsed before their results are handed over.
const BATCH: usize = 64;

/// Bytes read beyond a range at once, where its last line ends as a rule.
const BEYOND: u64 = 1 << 10;

/// Parses all lines behind the first `skip` bytes and lines of the text, in pieces in parallel, and hands the results
/// over in order. `parse` gives the number of lines with its result. False when `take` broke it off.
///
/// # Errors
/// Of what cannot be read or parsed, the earliest.
pub(crate) fn parse_lines<T: Send>(
    source: &Source,
    skip: (u64, u64),
    parse: impl Fn(&[u8]) -> std::result::Result<(T, u64), Bad> + Sync,
    mut take: impl FnMut(T) -> Result<ControlFlow<()>>,
    progress: &dyn Progress,
) -> Result<bool> {
    let Some(mark) = source.is_its_text() else {
        return parse_unpacked(source, skip, parse, take, progress);
    };
    source.begin(progress);
    let (disk, first, mut lines) = (source.disk(), mark + skip.0, skip.1);
    let ranges = disk.len().saturating_sub(first).div_ceil(RANGE) as usize;
    for batch in (0..ranges).step_by(BATCH) {
        progress.check()?;
        let parsed: Vec<Result<_>> = (batch..(batch + BATCH).min(ranges))
            .into_par_iter()
            .with_max_len(1)
            .map_init(Vec::new, |buffer, range| {
                let range = range as u64;
                let text = lines_of(disk, first, range, buffer)?;
                let result = parse(text);
                progress.advance(RANGE.min(disk.len() - first - range * RANGE));
                Ok(result)
            })
            .collect();
        for result in parsed {
            let fail = |bad: Bad| source.fail(lines + bad.line + 1, bad.problem, bad.remedy);
            let (value, more) = result?.map_err(fail)?;
            if take(value)?.is_break() {
                return Ok(false);
            }
            lines += more;
        }
    }
    Ok(true)
}

/// The same for a text that must be unpacked or decoded, which happens on one thread while the others parse.
fn parse_unpacked<T: Send>(
    source: &Source,
    (mut skip, lines): (u64, u64),
    parse: impl Fn(&[u8]) -> std::result::Result<(T, u64), Bad> + Sync,
    take: impl FnMut(T) -> Result<ControlFlow<()>>,
    progress: &dyn Progress,
) -> Result<bool> {
    let mut pieces = source.pieces(progress)?;
    let mut batch = pieces.batch()?;
    while skip > 0 && !batch.is_empty() {
        let used = skip.min(batch[0].len() as u64);
        batch[0].drain(..used as usize);
        skip -= used;
        if batch[0].is_empty() {
            batch.remove(0);
        }
        if batch.is_empty() {
            batch = pieces.batch()?;
        }
    }
    parse_pieces(source, &mut pieces, (batch, lines), parse, take)
}

/// The lines that begin in a range of the file, the last one whole. Ranges count from `first`, where a line begins.
fn lines_of<'a>(disk: &Disk, first: u64, range: u64, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    let start = first + range * RANGE;
    let end = (start + RANGE).min(disk.len());
    // The byte before the range tells whether a line begins with it.
    let from = if range == 0 { start } else { start - 1 };
    let mut to = (end + BEYOND).min(disk.len());
    buffer.resize((to - from) as usize, 0);
    disk.read_exact_at(from, buffer)?;
    let inside = (end - from) as usize;
    let begin = match range {
        0 => 0,
        _ => match buffer[..inside].iter().position(|&b| b == b'\n') {
            Some(at) if at + 1 < inside => at + 1,
            _ => return Ok(&[]),
        },
    };
    let mut searched = inside - 1;
    loop {
        if let Some(at) = buffer[searched..].iter().position(|&b| b == b'\n') {
            return Ok(&buffer[begin..=searched + at]);
        }
        if to == disk.len() {
            return Ok(&buffer[begin..]);
        }
        if to - end > LONGEST_LINE {
            return Err(disk.fail(TooMuch::Line.to_string(), TooMuch::Line.remedy()));
        }
        searched = buffer.len();
        let more = (disk.len() - to).min(RANGE);
        buffer.resize(searched + more as usize, 0);
        disk.read_exact_at(to, &mut buffer[searched..])?;
        to += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Opening;
    use tenfold_engine::progress::Silent;

    /// All lines of a text with this many bytes each, seen through the ranges.
    fn through(text: &[u8], skip: (u64, u64)) -> (Vec<Vec<u8>>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, text).unwrap();
        let opening = Opening { encoding: None, max_decompressed: 1 << 30, wanted: "" };
        let source = Source::open(&path, opening, &Silent).unwrap();
        let (mut pieces, mut lines) = (Vec::new(), 0);
        let parse = |piece: &[u8]| Ok((piece.to_vec(), piece.iter().filter(|&&b| b == b'\n').count() as u64));
        let take = |piece: Vec<u8>| {
            lines += piece.iter().filter(|&&b| b == b'\n').count() as u64;
            pieces.push(piece);
            Ok(ControlFlow::Continue(()))
        };
        assert!(parse_lines(&source, skip, parse, take, &Silent).unwrap());
        (pieces, lines)
    }

    #[test]
    fn every_line_comes_once_and_whole() {
        for length in [3usize, 15, 1000, 1 << 19, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20] {
            let line: Vec<u8> = (0..length - 1).map(|i| b'a' + (i % 23) as u8).chain([b'\n']).collect();
            let count = (5 << 20) / length + 2;
            let mut text = line.repeat(count);
            let (pieces, lines) = through(&text, (0, 0));
            assert_eq!((pieces.concat() == text, lines), (true, count as u64), "lines of {length} bytes");
            assert!(pieces.iter().all(|p| p.is_empty() || p.len() % length == 0));
            text.pop();
            let (pieces, _) = through(&text, (length as u64, 1));
            assert!(pieces.concat() == text[length..], "without a last line end, behind a header");
        }
    }

    #[test]
    fn a_mark_is_left_out_and_an_endless_line_refused() {
        assert_eq!(through(b"\xef\xbb\xbfa\nb", (0, 0)).0.concat(), b"a\nb");
        assert_eq!(through(b"\xef\xbb\xbfa\nb", (2, 1)).0.concat(), b"b");
        assert_eq!(through(b"a\n", (2, 1)).0.concat(), b"");
    }
}
