//! Bags of words as triples of document, word and count: UCI bag-of-words and MatrixMarket.
//!
//! As a rule the entries of a document stand together and documents ascend, so documents go into the corpus as they are
//! read. Where they do not, all entries are gathered and put in order in memory.

use super::ReadOptions;
use super::bag::{Bag, bears_out};
use super::header::{Shape, cut_short, market_header, uci_header};
use super::numbers::{count, id};
use super::words::Named;
use crate::error::Result;
use crate::input::numbers::{Bad, blanks, digits, line, line_end, shown};
use crate::input::{Source, parse_pieces};
use crate::topics::data::{Corpus, Documents};
use std::ops::ControlFlow;
use tenfold_engine::progress::Progress;

/// The two formats; they differ in their headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Uci,
    MatrixMarket,
}

/// Entries as they stand in a piece, in runs of one document.
#[derive(Debug, Default)]
struct Runs {
    /// The document of every run, from 0.
    documents: Vec<u32>,
    ends: Vec<u32>,
    words: Vec<u32>,
    counts: Vec<u32>,
    /// Entries, with those of count 0, which are left out.
    entries: u64,
}

/// Entries of a batch that go into the corpus together.
const TOGETHER: usize = 1 << 20;

pub(super) fn read(
    source: &Source,
    kind: Kind,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Corpus> {
    let mut pieces = source.pieces(progress)?;
    let mut batch = pieces.batch()?;
    let head = batch.first_mut().ok_or_else(|| cut_short(source))?;
    let (shape, used) = match kind {
        Kind::Uci => uci_header(source, head)?,
        Kind::MatrixMarket => market_header(source, head)?,
    };
    head.drain(..used);
    let named = Named::find(source, options, Some(shape.words))?;
    let mut ordered = Ordered {
        bag: Bag::new(source, named, options.memory),
        source,
        open: None,
        waiting: Documents::default(),
        entries: 0,
    };
    let parse = |piece: &[u8]| parse(piece, &shape);
    if parse_pieces(source, &mut pieces, (batch, shape.lines), parse, |runs| ordered.take(runs))? {
        check_entries(source, &shape, ordered.entries)?;
        let mut bag = ordered.close()?;
        bag.fill(u64::from(shape.documents))?;
        return bag.finish(shape.words as usize);
    }
    drop(ordered);
    gather(source, &shape, used, options, progress)
}

/// The second way, for a file in another order.
fn gather(
    source: &Source,
    shape: &Shape,
    used: usize,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Corpus> {
    let mut pieces = source.pieces(progress)?;
    let mut batch = pieces.batch()?;
    batch.first_mut().ok_or_else(|| cut_short(source))?.drain(..used);
    let (mut all, mut entries, mut held) = (Vec::<Runs>::new(), 0, 0);
    let parse = |piece: &[u8]| parse(piece, shape);
    parse_pieces(source, &mut pieces, (batch, shape.lines), parse, |runs| {
        entries += runs.entries;
        // What is held now, and what the ordered copy will take.
        held += 8 * runs.documents.len() as u64 + 16 * runs.words.len() as u64;
        if held > options.memory / 2 {
            return Err(source.fail(
                None,
                format!(
                    "does not keep the entries of a document together, and to gather them takes more than \
                     half of the {} bytes of memory allowed",
                    options.memory
                ),
                "sort the entries by document (sort -n -k1,1 -k2,2), or raise --memory",
            ));
        }
        all.push(runs);
        Ok(ControlFlow::Continue(()))
    })?;
    check_entries(source, shape, entries)?;
    bears_out(source, u64::from(shape.documents), entries)?;
    let mut bag = Bag::new(source, Named::find(source, options, Some(shape.words))?, options.memory);
    bag.zeros = entries - all.iter().map(|runs| runs.words.len() as u64).sum::<u64>();
    push_in_order(&mut bag, all, shape.documents as usize, progress)?;
    let mut corpus = bag.finish(shape.words as usize)?;
    corpus.note("the entries of a document did not stand together: all were gathered in memory first");
    Ok(corpus)
}

/// A counting sort by document, and batches of its result.
fn push_in_order(bag: &mut Bag, all: Vec<Runs>, documents: usize, progress: &dyn Progress) -> Result<()> {
    let mut starts = vec![0usize; documents + 1];
    for runs in &all {
        let mut begin = 0;
        for (&document, &end) in runs.documents.iter().zip(&runs.ends) {
            starts[document as usize + 1] += (end - begin) as usize;
            begin = end;
        }
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let (mut words, mut counts) = (vec![0; starts[documents]], vec![0; starts[documents]]);
    let mut next = starts.clone();
    for runs in all {
        let mut begin = 0;
        for (&document, &end) in runs.documents.iter().zip(&runs.ends) {
            let (from, to) = (begin as usize..end as usize, next[document as usize]);
            words[to..to + from.len()].copy_from_slice(&runs.words[from.clone()]);
            counts[to..to + from.len()].copy_from_slice(&runs.counts[from.clone()]);
            next[document as usize] += from.len();
            begin = end;
        }
    }
    let mut first = 0;
    while first < documents {
        progress.check()?;
        let mut end = first + 1;
        while end < documents && starts[end + 1] - starts[first] <= TOGETHER && end - first < TOGETHER {
            end += 1;
        }
        let range = starts[first]..starts[end];
        let ends = starts[first + 1..=end].iter().map(|e| (e - starts[first]) as u32).collect();
        bag.push(Documents { ends, words: words[range.clone()].to_vec(), counts: counts[range].to_vec() })?;
        first = end;
    }
    Ok(())
}

/// Documents as they come, as long as they ascend.
struct Ordered<'a> {
    bag: Bag<'a>,
    source: &'a Source,
    /// The document whose entries may go on in the next piece.
    open: Option<u32>,
    /// Whole documents, and behind their last end the entries of the open one.
    waiting: Documents,
    entries: u64,
}

impl<'a> Ordered<'a> {
    fn take(&mut self, runs: Runs) -> Result<ControlFlow<()>> {
        let ascending = runs.documents.is_sorted_by(|a, b| a < b);
        let goes_on = runs.documents.first().is_none_or(|first| Some(*first) >= self.open);
        if !ascending || !goes_on {
            return Ok(ControlFlow::Break(()));
        }
        self.entries += runs.entries;
        self.bag.zeros += runs.entries - runs.words.len() as u64;
        let base = self.waiting.words.len() as u32;
        self.waiting.words.extend_from_slice(&runs.words);
        self.waiting.counts.extend_from_slice(&runs.counts);
        let mut start = base;
        for (&document, &end) in runs.documents.iter().zip(&runs.ends) {
            // Every document from the open one up to this ends here; those between have no entries.
            let behind = document - self.open.unwrap_or(0);
            if behind > 1 {
                bears_out(self.source, u64::from(document) + 1, self.entries)?;
            }
            self.waiting.ends.extend(std::iter::repeat_n(start, behind as usize));
            self.open = Some(document);
            start = base + end;
        }
        if self.waiting.words.len() > TOGETHER || self.waiting.ends.len() > TOGETHER {
            self.flush()?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Hands the whole documents over.
    fn flush(&mut self) -> Result<()> {
        let whole = self.waiting.ends.last().copied().unwrap_or(0) as usize;
        let open = Documents {
            ends: Vec::new(),
            words: self.waiting.words.split_off(whole),
            counts: self.waiting.counts.split_off(whole),
        };
        self.bag.push(std::mem::replace(&mut self.waiting, open))
    }

    fn close(mut self) -> Result<Bag<'a>> {
        if self.open.is_some() {
            self.waiting.ends.push(self.waiting.words.len() as u32);
        }
        self.flush()?;
        Ok(self.bag)
    }
}

fn parse(piece: &[u8], shape: &Shape) -> std::result::Result<(Runs, u64), Bad> {
    // Lines of about twelve bytes are usual.
    let room = piece.len() / 10;
    let mut runs =
        Runs { words: Vec::with_capacity(room), counts: Vec::with_capacity(room), ..Runs::default() };
    let (mut at, mut lines, mut last) = (0, 0, u32::MAX);
    while at < piece.len() {
        let begin = at;
        let (document, word, count) = match quick(piece, &mut at, shape) {
            Some(entry) => entry,
            None => {
                let (text, next) = line(piece, begin);
                at = next;
                match entry(text, shape).map_err(|bad| bad.at(lines))? {
                    Some(entry) => entry,
                    None => {
                        lines += 1;
                        continue;
                    }
                }
            }
        };
        lines += 1;
        runs.entries += 1;
        if count == 0 {
            continue;
        }
        if document != last {
            if last != u32::MAX {
                runs.ends.push(runs.words.len() as u32);
            }
            runs.documents.push(document);
            last = document;
        }
        runs.words.push(word);
        runs.counts.push(count);
    }
    if last != u32::MAX {
        runs.ends.push(runs.words.len() as u32);
    }
    Ok((runs, lines))
}

/// An entry of three plain numbers in range, from 0; `None` for anything else, which [`entry`] looks at closely.
#[inline(always)]
fn quick(piece: &[u8], at: &mut usize, shape: &Shape) -> Option<(u32, u32, u32)> {
    let document = digits(piece, at)?.wrapping_sub(1);
    blanks(piece, at);
    let word = digits(piece, at)?.wrapping_sub(1);
    blanks(piece, at);
    let count = digits(piece, at)?;
    let fine = line_end(piece, at)
        && document < shape.documents
        && word < shape.words
        && count <= super::numbers::LARGEST_COUNT
        && !shape.pattern;
    fine.then_some((document, word, count))
}

/// The same, with a reason where it is not well; `None` for a blank line.
fn entry(text: &[u8], shape: &Shape) -> std::result::Result<Option<(u32, u32, u32)>, Bad> {
    let (wanted, names) =
        if shape.pattern { (2, "document and word") } else { (3, "document, word and count") };
    let all = || text.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty());
    // No more than is needed: a line may be as long as the file.
    let fields: Vec<&[u8]> = all().take(wanted + 1).collect();
    if fields.is_empty() {
        return Ok(None);
    }
    if fields.len() != wanted {
        let problem =
            format!("{:?} has {} fields where {wanted} were expected ({names})", shown(text), all().count());
        return Err(Bad::new(problem, "mend the line, or export the file again"));
    }
    let promised = "which the header promises";
    let document = id("document", fields[0], 1, shape.documents, promised)?;
    let word = id("word", fields[1], 1, shape.words, promised)?;
    let count = if shape.pattern { 1 } else { count(fields[2])? };
    Ok(Some((document - 1, word - 1, count)))
}

fn check_entries(source: &Source, shape: &Shape, found: u64) -> Result<()> {
    if found == shape.entries {
        return Ok(());
    }
    let remedy = if found < shape.entries {
        "it is cut short, or the header is wrong: export it again"
    } else {
        "the header is wrong: mend it"
    };
    Err(source.fail(
        shape.lines,
        format!("promises {} entries, but the file holds {found}", shape.entries),
        remedy,
    ))
}
