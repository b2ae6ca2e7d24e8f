//! What all bags of words share: the check of what they hold, and the way into the corpus.

use super::numbers::LARGEST_COUNT;
use super::words::Named;
use crate::error::Result;
use crate::input::Source;
use crate::topics::data::{Builder, Corpus, Documents};
use rayon::prelude::*;

/// Documents without a word that are taken beyond one for every entry. A header may promise any number of documents;
/// this is what an empty one may cost.
const EMPTY: u64 = 1 << 22;

/// Counts on their way into a corpus.
pub(super) struct Bag<'a> {
    source: &'a Source,
    named: Named,
    builder: Builder,
    entries: u64,
    empty: u64,
    repeated: u64,
    /// Entries with count 0, which the parsers leave out.
    pub(super) zeros: u64,
    dropped: u64,
}

impl<'a> Bag<'a> {
    pub(super) fn new(source: &'a Source, named: Named, memory: u64) -> Self {
        let builder = Builder::new(memory);
        Self { source, named, builder, entries: 0, empty: 0, repeated: 0, zeros: 0, dropped: 0 }
    }

    /// Documents so far.
    pub(super) fn documents(&self) -> u64 {
        self.builder.documents() as u64
    }

    /// Takes documents whose words are numbered as in the file.
    pub(super) fn push(&mut self, mut batch: Documents) -> Result<()> {
        let first = self.builder.documents();
        let found: Vec<Look> = batch
            .ends
            .par_iter()
            .enumerate()
            .with_min_len(256)
            .map(|(i, &end)| {
                let start = if i == 0 { 0 } else { batch.ends[i - 1] as usize };
                look(&batch.words[start..end as usize], &batch.counts[start..end as usize])
            })
            .collect();
        for (i, look) in found.iter().enumerate() {
            self.empty += u64::from(look.empty);
            self.repeated += look.repeated;
            if let Some(word) = look.enormous {
                return Err(self.source.fail(
                    None,
                    format!(
                        "document {}, word {}: repeated counts add up to more than {LARGEST_COUNT}",
                        first + i + 1,
                        word + 1
                    ),
                    "no document holds a word so often: mend the file",
                ));
            }
        }
        self.entries += batch.words.len() as u64;
        if let Some(map) = &self.named.map {
            self.dropped += rename(&mut batch, map);
        }
        self.builder.push(batch)
    }

    /// Adds empty documents until there are `count`.
    pub(super) fn fill(&mut self, count: u64) -> Result<()> {
        bears_out(self.source, count, self.entries)?;
        let missing = count.saturating_sub(self.documents());
        self.empty += missing;
        self.builder.push(Documents { ends: vec![0; missing as usize], ..Documents::default() })
    }

    /// Ends the reading. `words` is the number of words where the file has no names for them.
    pub(super) fn finish(self, words: usize) -> Result<Corpus> {
        let Self { source, named, builder, entries, empty, repeated, zeros, dropped } = self;
        if builder.documents() == 0 {
            return Err(source.fail(None, "holds no documents", "give a file with at least one document"));
        }
        let (vocabulary, notes) = named.finish(source, words, entries)?;
        let mut corpus = builder.finish(vocabulary)?;
        notes.into_iter().for_each(|note| corpus.note(note));
        if repeated > 0 {
            corpus.note(format!("{repeated} repeated entries (the same document and word) were added up"));
        }
        if zeros > 0 {
            corpus.note(format!("{zeros} entries with count 0 were dropped"));
        }
        if dropped > 0 {
            corpus.note(format!(
                "{dropped} words were dropped, counted as often as they occur: the model does not know them"
            ));
        }
        if empty > 0 {
            corpus.note(format!("{empty} documents are empty; they keep their places"));
        }
        Ok(corpus)
    }
}

/// Refuses a number of documents that the entries do not bear out.
pub(super) fn bears_out(source: &Source, documents: u64, entries: u64) -> Result<()> {
    if documents > EMPTY + entries {
        return Err(source.fail(
            None,
            format!("promises {documents} documents, but holds {entries} entries up to there"),
            "mend the header, or number the documents without gaps",
        ));
    }
    Ok(())
}

/// What one document shows.
struct Look {
    empty: bool,
    repeated: u64,
    enormous: Option<u32>,
}

fn look(words: &[u32], counts: &[u32]) -> Look {
    let mut look = Look { empty: words.is_empty(), repeated: 0, enormous: None };
    if words.is_sorted_by(|a, b| a < b) {
        return look;
    }
    let mut pairs: Vec<(u32, u32)> = words.iter().copied().zip(counts.iter().copied()).collect();
    pairs.sort_unstable();
    for same in pairs.chunk_by(|a, b| a.0 == b.0) {
        look.repeated += same.len() as u64 - 1;
        if same.iter().map(|p| u64::from(p.1)).sum::<u64>() > u64::from(LARGEST_COUNT) {
            look.enormous = Some(same[0].0);
        }
    }
    look
}

/// Gives words their new numbers and leaves out those that have none; returns how often such words occur.
pub(super) fn rename(batch: &mut Documents, map: &[u32]) -> u64 {
    let (mut kept, mut start, mut dropped) = (0, 0, 0);
    for end in &mut batch.ends {
        for i in start..*end as usize {
            match map[batch.words[i] as usize] {
                u32::MAX => dropped += u64::from(batch.counts[i]),
                word => {
                    batch.words[kept] = word;
                    batch.counts[kept] = batch.counts[i];
                    kept += 1;
                }
            }
        }
        start = *end as usize;
        *end = kept as u32;
    }
    batch.words.truncate(kept);
    batch.counts.truncate(kept);
    dropped
}
