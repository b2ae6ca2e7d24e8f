//! From documents as they are read to the blocks of a corpus.

#[cfg(test)]
mod tests;

use super::{Corpus, Store};
use crate::error::{Error, Result};
use rand::RngExt;
use rayon::prelude::*;
use serde_json::Value;
use tenfold_engine::linalg::{CountBlock, random};

/// Most documents that are shuffled together: a multiple of a block.
const WINDOW: usize = 32_768;
/// Most entries that are shuffled together, some tens of megabytes of them: 256 words a document fill a window of
/// documents too. Like the number of documents it is the data's alone, so that memory changes no block.
const ENTRIES: usize = 256 * WINDOW;
/// Documents in a block of a corpus that fits into one window: stepwise learning wants small batches there.
const SMALL_BLOCK: usize = 64;
/// Documents in a block of a larger corpus: products run best on blocks of this size.
const LARGE_BLOCK: usize = 512;
/// The shuffle is part of how a corpus is stored, not of a fit: it has its own fixed seed.
const SHUFFLE: u64 = 0x7e4f;

/// Documents as a reader hands them over: document i holds `words` and `counts` from `ends[i − 1]` to `ends[i]`. Words
/// may come in any order and repeat; their counts are added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Documents {
    /// Where each document ends.
    pub ends: Vec<u32>,
    /// Word numbers.
    pub words: Vec<u32>,
    /// Their counts.
    pub counts: Vec<u32>,
}

impl Documents {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn range(&self, i: usize) -> std::ops::Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        start..self.ends[i] as usize
    }
}

/// Gathers documents into blocks, shuffled within windows of consecutive documents (32,768 of them, or fewer long ones
/// with 8 million entries), so that any block is a random sample even of a sorted file. Blocks hold 64 documents when
/// all fit into one window, else 512.
#[derive(Debug)]
pub struct Builder {
    store: Store,
    batches: Vec<Documents>,
    /// Documents and entries of the batches.
    waiting: usize,
    entries: usize,
    documents: usize,
    flushed: u64,
    highest: Option<u32>,
}

impl Builder {
    /// A builder of a corpus that may hold `memory` bytes; a larger one goes to a temporary file.
    pub fn new(memory: u64) -> Self {
        let store = Store::new(memory);
        Self { store, batches: Vec::new(), waiting: 0, entries: 0, documents: 0, flushed: 0, highest: None }
    }

    /// Documents so far.
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// Adds documents. Batches of any size give the same corpus.
    ///
    /// # Errors
    /// A document with more than 65,535 distinct words; a temporary file that cannot be written.
    ///
    /// # Panics
    /// When ends are not ascending or do not fit words and counts.
    pub fn push(&mut self, batch: Documents) -> Result<()> {
        assert!(batch.ends.is_sorted() && batch.words.len() == batch.counts.len(), "a batch is whole");
        assert_eq!(batch.ends.last().copied().unwrap_or(0) as usize, batch.words.len(), "a batch is whole");
        if batch.ends.is_empty() {
            return Ok(());
        }
        self.highest = self.highest.max(batch.words.par_iter().max().copied());
        self.documents += batch.len();
        self.waiting += batch.len();
        self.entries += batch.words.len();
        self.batches.push(batch);
        // One document more than a window tells that the corpus is a large one.
        while self.waiting > 1 && (self.waiting > WINDOW || self.entries > ENTRIES) {
            let window = self.take_window(self.fitting());
            self.flush(&window, LARGE_BLOCK)?;
        }
        Ok(())
    }

    /// Ends the building; `vocabulary` names the words.
    ///
    /// # Errors
    /// A word number outside the vocabulary; a temporary file that cannot be written.
    pub fn finish(mut self, vocabulary: Vec<String>) -> Result<Corpus> {
        if let Some(word) = self.highest.filter(|w| *w as usize >= vocabulary.len()) {
            return Err(Error::BadParameter {
                name: "word".into(),
                value: word.to_string(),
                expected: format!("a number below the {} words of the vocabulary", vocabulary.len()),
            });
        }
        let block = block_size(self.flushed as usize + 1);
        let window = self.take_window(self.waiting);
        self.flush(&window, block)?;
        self.store.finish()?;
        let (names, recipe, notes, windows) = (None, Value::Null, Vec::new(), Vec::new());
        Ok(Corpus { store: self.store, vocabulary, names, recipe, notes, windows })
    }

    /// How many of the first waiting documents fit into a window; one does however long it is.
    fn fitting(&self) -> usize {
        let (mut count, mut before) = (0, 0);
        for batch in &self.batches {
            let fit = batch.ends.partition_point(|&end| before + end as usize <= ENTRIES);
            count += fit;
            if fit < batch.len() || count >= WINDOW {
                break;
            }
            before += batch.words.len();
        }
        count.clamp(1, WINDOW)
    }

    /// The first `count` waiting documents, as (batch, document in it).
    fn take_window(&mut self, count: usize) -> Vec<Documents> {
        let mut window: Vec<Documents> = Vec::new();
        let mut wanted = count;
        while wanted > 0 {
            let batch = self.batches.remove(0);
            if batch.len() <= wanted {
                wanted -= batch.len();
                window.push(batch);
                continue;
            }
            let cut = batch.ends[wanted - 1] as usize;
            let tail = Documents {
                ends: batch.ends[wanted..].iter().map(|e| e - cut as u32).collect(),
                words: batch.words[cut..].to_vec(),
                counts: batch.counts[cut..].to_vec(),
            };
            self.batches.insert(0, tail);
            window.push(Documents {
                ends: batch.ends[..wanted].to_vec(),
                words: batch.words[..cut].to_vec(),
                counts: batch.counts[..cut].to_vec(),
            });
            wanted = 0;
        }
        self.waiting -= count;
        self.entries -= window.iter().map(|batch| batch.words.len()).sum::<usize>();
        window
    }

    fn flush(&mut self, window: &[Documents], block: usize) -> Result<()> {
        let blocks = blocks_of_window(window, self.flushed, self.store.rows, block)?;
        blocks.into_iter().try_for_each(|block| self.store.push(block))?;
        self.store.ends.push(self.store.blocks());
        self.flushed += 1;
        Ok(())
    }
}

/// Documents to blocks, whoever holds the window: `number` counts windows, `first` the documents before it. The order of the
/// rows is drawn by the number of the window, so that it depends on nothing else.
pub(in crate::topics) fn blocks_of_window(
    window: &[Documents],
    number: u64,
    first: usize,
    block: usize,
) -> Result<Vec<CountBlock>> {
    let places: Vec<(usize, usize)> =
        window.iter().enumerate().flat_map(|(b, batch)| (0..batch.len()).map(move |i| (b, i))).collect();
    let mut rng = random::rng(SHUFFLE, number);
    let mut order: Vec<usize> = (0..places.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let made: Result<Vec<Vec<CountBlock>>> = order
        .par_chunks(block)
        .map(|rows| {
            let rows: Vec<(u32, &Documents, usize)> =
                (rows.iter()).map(|&r| ((first + r) as u32, &window[places[r].0], places[r].1)).collect();
            assemble(&rows)
        })
        .collect();
    Ok(made?.into_iter().flatten().collect())
}

/// How many documents the windows of a corpus take whose documents have so many entries each: as many as fit, one at least.
/// [`Builder`] cuts in the same places.
pub(in crate::topics) fn window_sizes(entries: impl IntoIterator<Item = u32>) -> Vec<usize> {
    let (mut sizes, mut documents, mut held) = (Vec::new(), 0, 0usize);
    for n in entries {
        if documents > 0 && (documents == WINDOW || held + n as usize > ENTRIES) {
            sizes.push(documents);
            (documents, held) = (0, 0);
        }
        documents += 1;
        held += n as usize;
    }
    sizes.extend(Some(documents).filter(|n| *n > 0));
    sizes
}

/// Documents of a block, in a corpus of one window or of more.
pub(in crate::topics) fn block_size(windows: usize) -> usize {
    if windows <= 1 { SMALL_BLOCK } else { LARGE_BLOCK }
}

/// The block of these rows, or several when they hold more distinct words or counts than a block can.
fn assemble(rows: &[(u32, &Documents, usize)]) -> Result<Vec<CountBlock>> {
    let entries: usize = rows.iter().map(|(_, batch, i)| batch.range(*i).len()).sum();
    let (mut starts, mut words, mut counts) =
        (vec![0u32], Vec::with_capacity(entries), Vec::with_capacity(entries));
    let mut row: Vec<(u32, u32)> = Vec::new();
    for (_, batch, i) in rows {
        let range = batch.range(*i);
        row.clear();
        row.extend(batch.words[range.clone()].iter().copied().zip(batch.counts[range].iter().copied()));
        if !row.is_sorted_by(|a, b| a.0 < b.0) {
            row.sort_unstable_by_key(|r| r.0);
            row.dedup_by(|later, first| {
                let same = later.0 == first.0;
                first.1 = if same { first.1.saturating_add(later.1) } else { first.1 };
                same
            });
        }
        words.extend(row.iter().filter(|r| r.1 > 0).map(|r| r.0));
        counts.extend(row.iter().filter(|r| r.1 > 0).map(|r| r.1 as f32));
        starts.push(words.len() as u32);
    }
    let documents: Vec<u32> = rows.iter().map(|r| r.0).collect();
    let found = distinct(&words, CountBlock::MOST);
    // Counts are whole numbers above zero, so there are no more of them than the largest says. One row has no more
    // counts than words.
    let levels = if counts.iter().all(|c| *c <= CountBlock::MOST as f32) {
        0
    } else {
        distinct(&counts.iter().map(|c| c.to_bits()).collect::<Vec<_>>(), CountBlock::MOST)
    };
    if found.max(levels) > CountBlock::MOST {
        return match rows.len() {
            1 => Err(too_many(documents[0], found)),
            n => {
                let mut halves = assemble(&rows[..n / 2])?;
                halves.extend(assemble(&rows[n / 2..])?);
                Ok(halves)
            }
        };
    }
    Ok(vec![CountBlock::new(&documents, &starts, &words, &counts)])
}

/// How many of the numbers are distinct; as many as there are where those are no more than `few`.
fn distinct(numbers: &[u32], few: usize) -> usize {
    if numbers.len() <= few {
        return numbers.len();
    }
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

fn too_many(document: u32, words: usize) -> Error {
    Error::BadParameter {
        name: format!("document {}", document + 1),
        value: format!("{words} distinct words"),
        expected: format!("at most {} distinct words a document; cut it into chapters", CountBlock::MOST),
    }
}
