//! Texts on their way into a corpus: words get provisional numbers as they appear, and their final ones at the end.
//!
//! Documents are tokenised in parallel, some at a time, and their words numbered in the order of the documents. The
//! final vocabulary is in alphabetical order (of code points), so neither threads nor the order of documents change it.

use super::cut::Cutter;
use super::recipe::Recipe;
use super::tokens::Dropped;
use super::{ReadOptions, Windows, fail, grouped};
use crate::error::{Error, Result};
use crate::evaluate::Cooccurrence;
use crate::memory::{PROGRAM, size_to_give};
use crate::topics::data::{Builder, Corpus, Documents};
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;

/// Documents that a task tokenises: enough that their common words are looked up once for all of them.
const TOGETHER: usize = 128;

/// Tasks for each thread whose words are numbered together: threads seldom wait for the longest of two.
const TASKS: usize = 2;

/// Bytes of a distinct word beside its letters: a string and its number in a table that is between seven sixteenths and seven eighths
/// full, what the allocator takes for the letters, and a frequency.
const A_WORD: u64 = 110;

/// Texts become counts.
pub(super) struct Texts<'a> {
    path: &'a Path,
    options: &'a ReadOptions,
    recipe: Recipe,
    /// Made when the first texts are there, by which `auto` tells the language.
    cutter: Option<Cutter>,
    ids: HashMap<String, u32>,
    /// Documents that hold each word.
    frequencies: Vec<u32>,
    /// Words that were there before: those of a model.
    known: usize,
    builder: Builder,
    dropped: Dropped,
    /// What was counted in windows, by width.
    seen: Vec<Cooccurrence>,
    /// Words that the model does not know, as often as they occur.
    unknown: u64,
    empty: u64,
    bytes: u64,
    notes: Vec<String>,
}

/// What a task makes of some documents.
#[derive(Default)]
pub(super) struct Part {
    /// Its words in order of appearance.
    pub words: Vec<String>,
    /// Documents that hold each.
    pub frequencies: Vec<u32>,
    pub documents: Documents,
    dropped: Dropped,
    seen: Vec<Cooccurrence>,
}

/// Windows to be counted, and the words' numbers that they are counted by.
#[derive(Clone, Copy)]
pub(super) struct Counting<'a> {
    windows: &'a Windows,
    ids: &'a HashMap<String, u32>,
}

impl Counting<'_> {
    /// The number of a word; one that is not known keeps its place in the text.
    fn id(&self, word: &str) -> u32 {
        self.ids.get(word).copied().unwrap_or(u32::MAX)
    }

    fn count(&self, texts: &[Vec<u32>]) -> Vec<Cooccurrence> {
        let Windows { widths, topics } = self.windows;
        let texts = || texts.iter().map(Vec::as_slice);
        widths.iter().map(|&width| Cooccurrence::in_windows(texts(), width, topics)).collect()
    }
}

/// A corpus of texts that are at hand. Of the options those of text count: the recipe, the vocabulary and the memory.
///
/// # Errors
/// No documents, none of whose words stay; choices out of range.
///
/// # Example
/// ```
/// use tenfold::topics::read::{ReadOptions, Recipe, texts};
/// let options = ReadOptions { recipe: Recipe { min_df: Some(1), max_df: Some(1.0), ..Recipe::default() }, ..ReadOptions::default() };
/// let corpus = texts(&["The ship sails out.", "A ship in the harbour"], &options)?;
/// assert_eq!(corpus.vocabulary(), ["harbour", "sails", "ship"]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn texts<T: AsRef<str> + Sync>(texts: &[T], options: &ReadOptions) -> Result<Corpus> {
    texts_in_parts(std::iter::once(texts), options)
}

/// [`texts`] that come in parts, so that they need not be at hand together. Parts of any size give the same corpus, but for
/// the language: that is told by the first part.
///
/// # Errors
/// As [`texts`].
///
/// # Example
/// ```
/// use tenfold::topics::read::{ReadOptions, texts, texts_in_parts};
/// let all: Vec<String> = (0..900).map(|i| format!("ships sail to harbour {}", ["north", "south", "west"][i % 3])).collect();
/// let options = ReadOptions::default();
/// let parts = texts_in_parts(all.chunks(100).map(<[String]>::to_vec), &options)?;
/// assert_eq!(parts.vocabulary(), texts(&all, &options)?.vocabulary());
/// assert_eq!(parts.vocabulary(), ["north", "south", "west"]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn texts_in_parts<T: AsRef<str> + Sync, P: AsRef<[T]>>(
    mut parts: impl Iterator<Item = P>,
    options: &ReadOptions,
) -> Result<Corpus> {
    let mut all = Texts::new(Path::new("the texts"), options)?;
    parts.try_for_each(|part| all.take(part.as_ref()))?;
    all.finish(None)
}

/// A corpus of documents whose words are given. Words stay as they are; `min_df` and `max_df` may drop some.
///
/// # Errors
/// No documents, none of whose words stay; choices out of range.
pub fn tokens<T: AsRef<str> + Sync>(documents: &[Vec<T>], options: &ReadOptions) -> Result<Corpus> {
    tokens_in_parts(std::iter::once(documents), options)
}

/// [`tokens`] of documents that come in parts, of any size.
///
/// # Errors
/// As [`tokens`].
pub fn tokens_in_parts<T: AsRef<str> + Sync, P: AsRef<[Vec<T>]>>(
    mut parts: impl Iterator<Item = P>,
    options: &ReadOptions,
) -> Result<Corpus> {
    let mut all = Texts::new(Path::new("the documents"), options)?;
    all.recipe = Recipe { min_df: options.recipe.min_df, max_df: options.recipe.max_df, ..Recipe::given() };
    all.notes.clear();
    parts.try_for_each(|part| all.take_words(part.as_ref()))?;
    all.finish(None)
}

impl<'a> Texts<'a> {
    pub(super) fn new(path: &'a Path, options: &'a ReadOptions) -> Result<Self> {
        let mut notes = Vec::new();
        let mut recipe = options.recipe.clone();
        if !recipe.text {
            recipe = Recipe { min_df: recipe.min_df, max_df: recipe.max_df, ..Recipe::default() };
            notes.push(
                "the model knows no recipe for text, having learned from counts: the usual one was used"
                    .into(),
            );
        }
        recipe.check()?;
        let known = options.fixed_vocabulary.as_deref().unwrap_or_default();
        Ok(Self {
            path,
            options,
            recipe,
            cutter: None,
            ids: known.iter().cloned().zip(0..).collect(),
            frequencies: vec![0; known.len()],
            known: known.len(),
            builder: Builder::new(options.memory),
            dropped: Dropped::default(),
            seen: Vec::new(),
            unknown: 0,
            empty: 0,
            bytes: 0,
            notes,
        })
    }

    /// Something the user should know.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds documents, in order.
    pub(super) fn take<T: AsRef<str> + Sync>(&mut self, texts: &[T]) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        let cutter = match self.cutter.take() {
            Some(cutter) => cutter,
            None => {
                let (cutter, note) = Cutter::new(&self.recipe, texts)?;
                self.recipe = cutter.recipe().clone();
                self.notes.extend(note);
                cutter
            }
        };
        let taken = self.add(texts, |text, dropped, take| cutter.words(text.as_ref(), dropped, take));
        self.cutter = Some(cutter);
        taken
    }

    /// Adds documents whose words are given, in order.
    fn take_words<T: AsRef<str> + Sync>(&mut self, documents: &[Vec<T>]) -> Result<()> {
        self.add(documents, |words, dropped, take| {
            dropped.all += words.len() as u64;
            words.iter().for_each(|word| take(word.as_ref()));
        })
    }

    fn add<D: Sync>(
        &mut self,
        documents: &[D],
        words: impl Fn(&D, &mut Dropped, &mut dyn FnMut(&str)) + Sync,
    ) -> Result<()> {
        // A few tasks for each thread at a time: what all of a batch find would be held beside each other, and rare words are many.
        for some in documents.chunks(TOGETHER * TASKS * rayon::current_num_threads()) {
            let counting = self.options.windows.as_ref().map(|windows| Counting { windows, ids: &self.ids });
            let parts: Vec<Part> =
                some.par_chunks(TOGETHER).map(|some| count(some, &words, counting)).collect();
            parts.into_iter().try_for_each(|part| self.merge(part))?;
        }
        Ok(())
    }

    /// Gives the words of a part their numbers in the corpus.
    fn merge(&mut self, mut part: Part) -> Result<()> {
        let grows = self.options.fixed_vocabulary.is_none() || self.options.grow;
        let mut map = Vec::with_capacity(part.words.len());
        for (word, frequency) in part.words.into_iter().zip(part.frequencies) {
            let id = match self.ids.get(&word) {
                Some(&id) => id,
                None if grows => {
                    let id = self.ids.len() as u32;
                    self.bytes += word.len() as u64 + A_WORD;
                    self.ids.insert(word, id);
                    self.frequencies.push(0);
                    id
                }
                None => u32::MAX,
            };
            if id != u32::MAX {
                self.frequencies[id as usize] += frequency;
            }
            map.push(id);
        }
        if self.bytes > self.options.memory / 2 {
            return Err(self.fail(
                format!(
                    "{} distinct words take more than half of the {} bytes of memory allowed",
                    grouped(self.ids.len() as u64),
                    self.options.memory
                ),
                // Those that are yet to come are not known; half as many again come with twice the documents in most texts.
                &format!(
                    "ask for shorter n-grams or a stemmer, or give --memory {} or more",
                    size_to_give(self.bytes.saturating_mul(4).saturating_add(PROGRAM))
                ),
            ));
        }
        self.dropped.add(&part.dropped);
        match self.seen.is_empty() {
            true => self.seen = part.seen,
            false => self.seen.iter_mut().zip(part.seen).for_each(|(all, part)| all.merge(part)),
        }
        self.unknown += super::bag::rename(&mut part.documents, &map);
        let mut start = 0;
        for &end in &part.documents.ends {
            self.empty += u64::from(start == end);
            start = end;
        }
        self.builder.push(part.documents)
    }

    fn fail(&self, problem: String, remedy: &str) -> Error {
        fail(self.path, problem, remedy)
    }

    /// The corpus, with final words; `names` are the documents' names, where they have some.
    pub(super) fn finish(mut self, names: Option<Vec<String>>) -> Result<Corpus> {
        let documents = self.builder.documents();
        if documents == 0 {
            return Err(self.fail("holds no documents".into(), "give at least one document"));
        }
        let (kept, rare, common) = self.keep(documents);
        if kept.is_empty() {
            return Err(self.empty_vocabulary(documents, rare, common));
        }
        let mut words = vec![String::new(); self.ids.len()];
        for (word, id) in std::mem::take(&mut self.ids) {
            words[id as usize] = word;
        }
        let mut order = kept;
        // The words of a model keep their numbers; new ones follow in alphabetical order.
        order[self.known..].sort_unstable_by(|a, b| words[*a as usize].cmp(&words[*b as usize]));
        let mut new = vec![u32::MAX; words.len()];
        order.iter().zip(0..).for_each(|(&old, id)| new[old as usize] = id);
        let vocabulary = order.iter().map(|&old| words[old as usize].clone()).collect();
        let (min_df, max_df) = self.recipe.limits();
        if rare + common > 0 {
            self.notes.push(format!(
                "of {} distinct words {} were dropped that stand in fewer than {min_df} documents and {} that \
                 stand in more than {} % of them",
                grouped(words.len() as u64), grouped(rare), grouped(common), 100.0 * max_df
            ));
        }
        if self.unknown > 0 {
            self.notes.push(format!(
                "{} words that the model does not know were dropped, counted as often as they occur",
                grouped(self.unknown)
            ));
        }
        if self.empty > 0 {
            self.notes
                .push(format!("{} documents hold no words; they keep their places", grouped(self.empty)));
        }
        let mut corpus = self.builder.finish(words)?;
        if self.options.fixed_vocabulary.is_none() || self.options.grow {
            corpus = corpus.renumber(&new, vocabulary)?;
        }
        if let Some(names) = names {
            corpus.set_names(names);
        }
        corpus.set_windows(self.seen);
        corpus.set_recipe(Recipe { min_df: Some(min_df), max_df: Some(max_df), ..self.recipe }.to_json());
        self.notes.into_iter().for_each(|note| corpus.note(note));
        Ok(corpus)
    }

    /// The words that stay, and how many are too rare and too common.
    fn keep(&self, documents: usize) -> (Vec<u32>, u64, u64) {
        let (min_df, max_df) = self.recipe.limits();
        let most = max_df * documents as f64;
        let (mut kept, mut rare, mut common) = (Vec::new(), 0, 0);
        for (id, &frequency) in (0u32..).zip(&self.frequencies) {
            if (id as usize) < self.known {
                kept.push(id);
            } else if (frequency as usize) < min_df {
                rare += 1;
            } else if f64::from(frequency) > most {
                common += 1;
            } else {
                kept.push(id);
            }
        }
        (kept, rare, common)
    }

    fn empty_vocabulary(&self, documents: usize, rare: u64, common: u64) -> Error {
        let (min_df, max_df) = self.recipe.limits();
        let Dropped { all, numbers, short, long, stopped } = self.dropped;
        let problem = format!(
            "no words are left: of {} words in {} documents {} were numbers, {} had fewer than {} letters, {} were too \
             long and {} were stop words; of the {} distinct words after that {} stand in fewer than {min_df} \
             documents and {} in more than {} % of them",
            grouped(all),
            grouped(documents as u64),
            grouped(numbers),
            grouped(short),
            self.recipe.min_length,
            grouped(long),
            grouped(stopped),
            grouped(self.ids.len() as u64),
            grouped(rare),
            grouped(common),
            100.0 * max_df
        );
        let remedy = match (all, rare, common) {
            (0, ..) => "check that the input is text, and its encoding",
            (_, 0, 0) => "check the stop words and the smallest word length",
            (_, rare, common) if rare >= common => "lower --min-df, or give more documents",
            _ => "raise --max-df",
        };
        self.fail(problem, remedy)
    }
}

pub(super) fn count<D>(
    texts: &[D],
    words_of: &impl Fn(&D, &mut Dropped, &mut dyn FnMut(&str)),
    counting: Option<Counting>,
) -> Part {
    let mut part = Part::default();
    // The texts as numbers of words, and that of every word of the part.
    let (mut sequences, mut numbers) = (Vec::new(), Vec::new());
    let mut ids: HashMap<String, u32> = HashMap::new();
    // For every word the document that held it last (from 1), and where its count stands.
    let mut latest: Vec<(u32, usize)> = Vec::new();
    for (text, document) in texts.iter().zip(1u32..) {
        let Part { words, frequencies, documents, dropped, .. } = &mut part;
        let mut sequence = Vec::new();
        words_of(text, dropped, &mut |word| {
            let id = match ids.get(word) {
                Some(&id) => id,
                None => {
                    let id = words.len() as u32;
                    ids.insert(word.to_owned(), id);
                    words.push(word.to_owned());
                    frequencies.push(0);
                    latest.push((0, 0));
                    numbers.extend(counting.map(|counting| counting.id(word)));
                    id
                }
            };
            sequence.extend(numbers.get(id as usize).copied());
            let (held, place) = latest[id as usize];
            if held == document {
                documents.counts[place] += 1;
            } else {
                latest[id as usize] = (document, documents.words.len());
                frequencies[id as usize] += 1;
                documents.words.push(id);
                documents.counts.push(1);
            }
        });
        documents.ends.push(documents.words.len() as u32);
        sequences.push(sequence);
    }
    part.seen = counting.map_or(Vec::new(), |counting| counting.count(&sequences));
    part
}
