//! A corpus: counts of words in documents, in blocks, in memory or on disk.

mod afar;
mod build;
mod store;

pub(super) use afar::Blocks;
pub use afar::Layout;
pub use build::{Builder, Documents};
pub(super) use build::{block_size, blocks_of_window, window_sizes};
pub(crate) use store::Store;

use crate::admixture::{HeldOut, documents_aside};
use crate::checkpoint::Digest;
use crate::error::{Error, Result};
use crate::evaluate::Cooccurrence;
use rayon::prelude::*;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;
use tenfold_engine::linalg::counts::{Elsewhere, Parcel, Part, Pass, all_blocks, for_each_group, sum};
use tenfold_engine::linalg::{CountBlock, Counts};
use tenfold_engine::progress::{Progress, Silent};

/// Documents with their counts of words, and the words' names.
///
/// Documents are numbered as they were read. Inside, they lie in blocks in a shuffled order ([`Builder`]), so
/// that any block is a random sample; nothing that comes out shows that order.
///
/// # Example
/// ```
/// use tenfold::topics::{Builder, Documents};
/// let mut builder = Builder::new(1 << 30);
/// builder.push(Documents { ends: vec![2, 3], words: vec![0, 1, 1], counts: vec![4, 1, 2] })?;
/// let corpus = builder.finish(vec!["apple".into(), "pear".into()])?;
/// assert_eq!((corpus.documents(), corpus.words(), corpus.tokens()), (2, 2, 7));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug)]
pub struct Corpus {
    store: Store,
    vocabulary: Vec<String>,
    names: Option<Vec<String>>,
    recipe: Value,
    notes: Vec<String>,
    windows: Vec<Cooccurrence>,
}

impl Corpus {
    /// A corpus whose blocks lie elsewhere: only sums over them, and a few of them at a time, come here.
    ///
    /// # Panics
    /// When the layout has another number of words than the vocabulary.
    pub fn afar(layout: &Layout, vocabulary: Vec<String>, who: Box<dyn Elsewhere + Send>) -> Self {
        assert_eq!(layout.words, vocabulary.len(), "a layout for these words");
        let (names, recipe, notes, windows) = (None, Value::Null, Vec::new(), Vec::new());
        Self { store: Store::afar(layout, who), vocabulary, names, recipe, notes, windows }
    }

    /// Documents, empty ones included.
    pub fn documents(&self) -> usize {
        self.store.rows
    }

    /// Words in the vocabulary.
    pub fn words(&self) -> usize {
        self.vocabulary.len()
    }

    /// Pairs of a document and a word in it.
    pub fn entries(&self) -> u64 {
        self.store.entries
    }

    /// Tokens: the sum of all counts.
    pub fn tokens(&self) -> u64 {
        self.store.tokens
    }

    /// Documents of fewer than three tokens: they have no third moment.
    pub fn short_documents(&self) -> usize {
        self.store.short
    }

    /// The words.
    pub fn vocabulary(&self) -> &[String] {
        &self.vocabulary
    }

    /// Names of the documents, where their source has them.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Gives names to the documents.
    ///
    /// # Panics
    /// When there are not as many as documents.
    pub fn set_names(&mut self, names: Vec<String>) {
        assert_eq!(names.len(), self.documents(), "one name a document");
        self.names = Some(names);
    }

    /// How text became words, as JSON; null for counts that were given.
    pub fn recipe(&self) -> &Value {
        &self.recipe
    }

    /// Says how text became words.
    pub fn set_recipe(&mut self, recipe: Value) {
        self.recipe = recipe;
    }

    /// What the reader did that its user should know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds to [`Corpus::notes`].
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// How often words stood together in windows of the text, for every width that the reader was asked for; nothing
    /// where the order of words is not known, as in a bag of words.
    pub fn windows(&self) -> &[Cooccurrence] {
        &self.windows
    }

    /// Keeps what was counted in windows.
    pub(super) fn set_windows(&mut self, windows: Vec<Cooccurrence>) {
        self.windows = windows;
    }

    /// What tells this corpus from another.
    pub(super) fn identify(&self, digest: &mut Digest) -> Result<()> {
        digest.texts(&self.vocabulary);
        digest.texts(self.names.iter().flatten());
        digest.texts(&self.notes);
        digest.bytes(self.recipe.to_string().as_bytes());
        for_each_group(self, &all_blocks(self), |_, blocks| {
            blocks.iter().for_each(|block| digest.bytes(&block.to_bytes()));
            Ok(())
        })?;
        Ok(())
    }

    /// The counts, block by block.
    pub fn counts(&self) -> &dyn Counts {
        self
    }

    /// Whether the blocks lie on disk.
    pub fn is_spilled(&self) -> bool {
        self.store.is_spilled()
    }

    /// Bytes of memory that the documents take; none when they lie on disk or elsewhere.
    pub fn held_bytes(&self) -> u64 {
        self.store.held_bytes()
    }

    /// Moves the blocks to a temporary file, so that their memory serves for other things; nothing happens where they lie there already.
    ///
    /// # Errors
    /// A temporary file that cannot be written.
    pub fn move_to_disk(&mut self) -> Result<()> {
        self.store.move_to_disk()
    }

    /// Documents in which every word occurs.
    ///
    /// # Errors
    /// What the source of the blocks says.
    pub fn document_frequencies(&self) -> Result<Vec<u32>> {
        let sums = sum(&Frequencies, self, &all_blocks(self), &Silent)?;
        Ok(sums[0].iter().map(|n| *n as u32).collect())
    }

    /// The corpus with other word numbers: word w becomes `new[w]`, or is dropped where that is `u32::MAX`. Documents
    /// keep their places.
    ///
    /// # Errors
    /// What the source of the blocks says, or the disk when they are written anew.
    ///
    /// # Panics
    /// When two words get one number, or a number lies outside the vocabulary.
    pub fn renumber(mut self, new: &[u32], vocabulary: Vec<String>) -> Result<Self> {
        assert_eq!(new.len(), self.words(), "one number a word");
        let mut taken = vec![false; vocabulary.len()];
        for &w in new.iter().filter(|w| **w != u32::MAX) {
            assert!(!std::mem::replace(&mut taken[w as usize], true), "numbers are distinct");
        }
        let mut store = Store::new(self.store.memory);
        // A few blocks at a time: the old and the new corpus together stay near the memory of one.
        let old = &mut self.store;
        for first in (0..old.blocks()).step_by(64) {
            let end = (first + 64).min(old.blocks());
            let made: Result<Vec<CountBlock>> =
                (first..end).into_par_iter().map(|b| Ok(renumbered(&*old.block(b)?, new))).collect();
            old.forget(first..end);
            made?.into_iter().try_for_each(|block| store.push(block))?;
        }
        store.finish()?;
        store.ends = std::mem::take(&mut old.ends);
        Ok(Self { store, vocabulary, ..self })
    }

    /// The corpus without the words for which `keep` is false.
    ///
    /// # Errors
    /// As [`Corpus::renumber`].
    pub fn keep_words(self, keep: &[bool]) -> Result<Self> {
        assert_eq!(keep.len(), self.words(), "one choice a word");
        let mut new = vec![u32::MAX; keep.len()];
        (0..keep.len()).filter(|&w| keep[w]).enumerate().for_each(|(next, w)| new[w] = next as u32);
        let vocabulary =
            self.vocabulary.iter().zip(keep).filter(|(_, k)| **k).map(|(w, _)| w.clone()).collect();
        self.renumber(&new, vocabulary)
    }

    /// The documents whose number `keep` wants, in their order, as a corpus of its own over the same vocabulary.
    ///
    /// # Errors
    /// What the source of the blocks says, or the disk when a part does not fit into memory.
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Result<Self> {
        let mut builder = Builder::new(self.store.memory);
        self.for_each_window(|rows| {
            let mut chosen = Documents::default();
            for (position, words) in rows {
                if keep(position as usize) {
                    chosen.words.extend(words.iter().map(|w| w.0));
                    chosen.counts.extend(words.iter().map(|w| w.1));
                    chosen.ends.push(chosen.words.len() as u32);
                }
            }
            builder.push(chosen)
        })?;
        let mut part = builder.finish(self.vocabulary.clone())?;
        part.recipe = self.recipe.clone();
        part.notes.clone_from(&self.notes);
        part.names = (self.names.as_ref())
            .map(|n| n.iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, n)| n.clone()).collect());
        Ok(part)
    }

    /// The documents that are held out, or no more than about `most` of them, from the whole length of the corpus.
    pub(super) fn aside(&self, held_out: HeldOut, most: usize, progress: &dyn Progress) -> Result<Self> {
        let mut rows = Vec::new();
        for block in documents_aside(self, held_out, progress)? {
            for i in 0..block.rows() {
                let words: Vec<(u32, u32)> = block.row_counts(i).map(|(w, c)| (w, c as u32)).collect();
                rows.push((block.documents()[i], words));
            }
        }
        rows.sort_unstable_by_key(|r| r.0);
        let stride = rows.len().div_ceil(most).max(1);
        let mut chosen = Documents::default();
        for (_, words) in rows.iter().step_by(stride) {
            chosen.words.extend(words.iter().map(|w| w.0));
            chosen.counts.extend(words.iter().map(|w| w.1));
            chosen.ends.push(chosen.words.len() as u32);
        }
        let mut builder = Builder::new(u64::MAX);
        builder.push(chosen)?;
        builder.finish(self.vocabulary.clone())
    }

    /// Visits all documents in the order of their numbers, some thousands at a time, with their words and counts.
    ///
    /// # Errors
    /// What the source of the blocks or the visitor says.
    pub fn for_each_window(
        &self,
        mut visit: impl FnMut(Vec<(u32, Vec<(u32, u32)>)>) -> Result<()>,
    ) -> Result<()> {
        let (mut rows, mut prefix) = (Vec::new(), Prefix::default());
        for b in 0..self.store.blocks() {
            let block = self.store.block(b)?;
            for i in 0..block.rows() {
                let words = block.row_counts(i).map(|(w, c)| (w, c as u32)).collect();
                rows.push((block.documents()[i], words));
            }
            if prefix.closes_with(&block) {
                rows.sort_unstable_by_key(|r| r.0);
                visit(std::mem::take(&mut rows))?;
            }
        }
        Ok(())
    }
}

/// Tells where a window ends. Shuffling stays within windows of consecutive documents, so there, and perhaps by chance
/// before, the blocks so far hold the first documents without a gap.
#[derive(Debug, Default)]
pub(crate) struct Prefix {
    seen: usize,
    /// One more than the largest number of a document.
    reach: usize,
}

impl Prefix {
    /// Whether no document is missing before those of this block, the next one in order.
    pub(crate) fn closes_with(&mut self, block: &CountBlock) -> bool {
        self.seen += block.rows();
        let last = block.documents().iter().max().map_or(0, |&last| last as usize + 1);
        self.reach = self.reach.max(last);
        self.reach == self.seen
    }
}

fn renumbered(block: &CountBlock, new: &[u32]) -> CountBlock {
    let (mut starts, mut words, mut counts) = (vec![0u32], Vec::new(), Vec::new());
    let mut row: Vec<(u32, f32)> = Vec::new();
    for i in 0..block.rows() {
        row.clear();
        row.extend(block.row_counts(i).map(|(w, c)| (new[w as usize], c)).filter(|r| r.0 != u32::MAX));
        row.sort_unstable_by_key(|r| r.0);
        words.extend(row.iter().map(|r| r.0));
        counts.extend(row.iter().map(|r| r.1));
        starts.push(words.len() as u32);
    }
    CountBlock::new(block.documents(), &starts, &words, &counts)
}

impl Counts for Corpus {
    fn rows(&self) -> usize {
        self.store.rows
    }
    fn cols(&self) -> usize {
        self.vocabulary.len()
    }
    fn entries(&self) -> u64 {
        self.store.entries
    }
    fn blocks(&self) -> usize {
        self.store.blocks()
    }
    fn block(&self, b: usize) -> tenfold_engine::error::Result<Cow<'_, CountBlock>> {
        self.store.block(b).map_err(|e: Error| e.into())
    }
    fn windows(&self) -> Vec<Range<usize>> {
        self.store.windows()
    }
    fn fetch(&self, blocks: &[usize]) -> tenfold_engine::error::Result<()> {
        self.store.afar.as_ref().map_or(Ok(()), |afar| afar.fetch(blocks))
    }
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        self.store.afar.as_ref().map(|afar| afar.elsewhere())
    }
}

/// The pass that counts the documents of every word.
pub(super) struct Frequencies;

impl Frequencies {
    pub const TAG: u64 = 16;
}

impl Pass for Frequencies {
    fn window(
        &self,
        counts: &dyn Counts,
        chosen: &[usize],
        progress: &dyn Progress,
    ) -> tenfold_engine::error::Result<Vec<Part>> {
        let mut frequencies = vec![0.0; counts.cols()];
        for &b in chosen {
            progress.check()?;
            let block = counts.block(b)?;
            for (local, &word) in block.words().iter().enumerate() {
                frequencies[word as usize] += block.column(local).len() as f64;
            }
        }
        Ok(vec![Part::Double(frequencies)])
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        parcel.0
    }
}
