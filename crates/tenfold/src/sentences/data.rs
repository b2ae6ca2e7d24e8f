//! Sentences as numbers of words, in their order.

use super::read::Lines;
use crate::checkpoint::Digest;
use crate::error::Result;
use crate::topics::read::{Cutter, Recipe};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Sentences that one task cuts into words.
const TOGETHER: usize = 512;

/// Tasks whose words are put together at a time: enough to share among threads, and little beside what is put together.
const TASKS: usize = 256;

/// Sentences, however they are held.
pub(super) trait Sentences: Sync {
    fn count(&self) -> usize;
    /// Hands over the sentences of a range, in order.
    fn each(&self, range: Range<usize>, take: &mut dyn FnMut(&str));
}

impl<T: AsRef<str> + Sync> Sentences for [T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn each(&self, range: Range<usize>, take: &mut dyn FnMut(&str)) {
        self[range].iter().for_each(|sentence| take(sentence.as_ref()));
    }
}

/// The ranges of all tasks over so many sentences.
fn tasks(count: usize) -> impl IndexedParallelIterator<Item = Range<usize>> {
    let range = move |task: usize| task * TOGETHER..count.min((task + 1) * TOGETHER);
    (0..count.div_ceil(TOGETHER)).into_par_iter().map(range)
}

/// How sentences become words. Every word counts, the shortest and the most frequent too, because they carry the phrases; so
/// do marks of punctuation.
///
/// # Example
/// ```
/// use tenfold::sentences::{Cutting, Text};
/// let text = Text::new(&["Not so good, alas!"], &Cutting::default(), 1)?;
/// assert_eq!(text.vocabulary(), ["!", ",", "alas", "good", "not", "so"]);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cutting {
    /// How text is cut into words.
    pub recipe: Recipe,
    /// Whether marks of punctuation are words of their own.
    pub punctuation: bool,
}

impl Default for Cutting {
    fn default() -> Self {
        let (stop_words, min_length, numbers) = (Vec::new(), 1, true);
        let (min_df, max_df) = (Some(1), Some(1.0));
        let recipe = Recipe { stop_words, min_length, numbers, min_df, max_df, ..Recipe::default() };
        Self { recipe, punctuation: true }
    }
}

impl Cutting {
    /// Refuses choices out of range, and runs of words: templates find those by themselves.
    ///
    /// # Errors
    /// As [`Recipe::check`].
    pub fn check(&self) -> Result<()> {
        self.recipe.check()?;
        if self.recipe.ngrams == 1 {
            return Ok(());
        }
        Err(crate::Error::BadParameter {
            name: "ngrams".into(),
            value: self.recipe.ngrams.to_string(),
            expected: "1: templates find runs of words by themselves".into(),
        })
    }
}

/// A [`Cutting`] at work.
pub(super) struct Knife {
    cutter: Cutter,
    punctuation: bool,
}

impl Knife {
    pub(super) fn new(cutting: &Cutting) -> Result<Self> {
        cutting.check()?;
        let (cutter, _) = Cutter::new::<&str>(&cutting.recipe, &[])?;
        Ok(Self { cutter, punctuation: cutting.punctuation })
    }

    /// Every word of a sentence, in its order.
    pub(super) fn words(&self, sentence: &str, take: &mut dyn FnMut(&str)) {
        if !self.punctuation {
            return self.cutter.in_order(sentence, take);
        }
        for piece in sentence.split_word_bounds() {
            if piece.chars().any(char::is_alphanumeric) {
                self.cutter.in_order(piece, take);
            } else if !piece.trim().is_empty() {
                take(piece);
            }
        }
    }
}

/// Sentences whose words have numbers. Words that have none are left out, and their neighbours close up.
///
/// # Example
/// ```
/// use tenfold::sentences::{Cutting, Text};
/// let text = Text::new(&["The ship sails.", "", "A ship, the ship!"], &Cutting::default(), 2)?;
/// assert_eq!(text.vocabulary(), ["ship", "the"]);
/// assert_eq!((text.len(), text.sentence(0), text.sentence(2)), (3, &[1, 0][..], &[0, 1, 0][..]));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The sentences, one after another.
    words: Vec<u32>,
    /// Where each ends.
    ends: Vec<usize>,
    vocabulary: Vec<String>,
    /// How often each word stands in the sentences.
    counts: Vec<u64>,
    cutting: Cutting,
    /// Words before the rare ones were left out, as often as they occur.
    tokens: u64,
    /// Different words before the rare ones were left out.
    distinct: usize,
}

impl Text {
    /// What tells this text from another.
    pub(super) fn identify(&self, digest: &mut Digest) -> Result<()> {
        digest.places(&self.words);
        self.ends.iter().for_each(|&end| digest.number(end as u64));
        digest.texts(&self.vocabulary);
        digest.bytes(format!("{:?} {} {}", self.cutting, self.tokens, self.distinct).as_bytes());
        Ok(())
    }

    /// Cuts sentences into words and keeps those that occur at least `min_count` times: the most frequent first, words of
    /// one frequency in alphabetical order.
    ///
    /// # Complexity
    /// Two passes over the sentences, in parallel.
    ///
    /// # Errors
    /// A recipe out of range, or one that joins words into runs, which have no order.
    pub fn new<T: AsRef<str> + Sync>(sentences: &[T], cutting: &Cutting, min_count: usize) -> Result<Self> {
        Self::of(sentences, cutting, min_count)
    }

    /// [`Text::new`] of the lines of a file.
    ///
    /// # Errors
    /// As [`Text::new`].
    pub fn of_lines(lines: &Lines, cutting: &Cutting, min_count: usize) -> Result<Self> {
        Self::of(lines, cutting, min_count)
    }

    /// Bytes of the text that [`Text::of_lines`] makes, where words stand between blanks.
    pub fn bytes_of(lines: &Lines) -> u64 {
        4 * lines.words() + 8 * lines.len() as u64
    }

    fn of<S: Sentences + ?Sized>(sentences: &S, cutting: &Cutting, min_count: usize) -> Result<Self> {
        let knife = Knife::new(cutting)?;
        let counted = |some: Range<usize>| {
            let mut counts: HashMap<String, u64> = HashMap::new();
            sentences.each(some, &mut |sentence| {
                knife.words(sentence, &mut |word| match counts.get_mut(word) {
                    Some(count) => *count += 1,
                    None => {
                        counts.insert(word.to_owned(), 1);
                    }
                });
            });
            counts
        };
        // Counts are whole numbers: any order of adding gives the same.
        let counts = tasks(sentences.count()).map(counted).reduce(HashMap::new, added);
        let (tokens, distinct) = (counts.values().sum(), counts.len());
        let mut words: Vec<(String, u64)> =
            counts.into_iter().filter(|(_, count)| *count >= min_count as u64).collect();
        words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let (vocabulary, counts): (Vec<_>, Vec<_>) = words.into_iter().unzip();
        let kept = counts.iter().sum::<u64>() as usize;
        let (words, ends) = numbered(sentences, &knife, &index(&vocabulary), kept);
        Ok(Self { words, ends, vocabulary, counts, cutting: cutting.clone(), tokens, distinct })
    }

    /// Number of sentences, empty ones included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The words of a sentence by their numbers.
    pub fn sentence(&self, i: usize) -> &[u32] {
        &self.words[self.range(i)]
    }

    /// The words, the most frequent first.
    pub fn vocabulary(&self) -> &[String] {
        &self.vocabulary
    }

    /// How often each word occurs.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How the sentences were cut into words.
    pub fn cutting(&self) -> &Cutting {
        &self.cutting
    }

    /// Words of all sentences before rare ones were left out, as often as they occur.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Different words before rare ones were left out.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// Words of all sentences that have numbers, as often as they occur.
    pub fn kept(&self) -> usize {
        self.words.len()
    }

    fn range(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start..self.ends[i]
    }

    /// The same sentences by the numbers of another vocabulary; words that it lacks are left out.
    pub(super) fn renumbered(&self, other: &HashMap<String, u32>) -> Numbered {
        let to: Vec<Option<u32>> = self.vocabulary.iter().map(|word| other.get(word).copied()).collect();
        let mut out = Numbered::default();
        for i in 0..self.len() {
            out.words.extend(self.sentence(i).iter().filter_map(|&w| to[w as usize]));
            out.ends.push(out.words.len());
        }
        out
    }
}

/// Sentences by the numbers of some vocabulary.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Numbered {
    pub(super) words: Vec<u32>,
    pub(super) ends: Vec<usize>,
}

impl Numbered {
    /// Cuts sentences into words of a known vocabulary.
    pub(super) fn new<T: AsRef<str> + Sync>(
        sentences: &[T],
        knife: &Knife,
        index: &HashMap<String, u32>,
    ) -> Self {
        let (words, ends) = numbered(sentences, knife, index, 0);
        Self { words, ends }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn range(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start..self.ends[i]
    }

    pub(super) fn sentence(&self, i: usize) -> &[u32] {
        &self.words[self.range(i)]
    }
}

/// The number of every word.
pub(super) fn index(vocabulary: &[String]) -> HashMap<String, u32> {
    vocabulary.iter().enumerate().map(|(i, word)| (word.clone(), i as u32)).collect()
}

fn added(mut a: HashMap<String, u64>, mut b: HashMap<String, u64>) -> HashMap<String, u64> {
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    for (word, count) in b {
        *a.entry(word).or_default() += count;
    }
    a
}

/// `room` is for the words, as many as are expected, so that the arrays need not grow.
fn numbered<S: Sentences + ?Sized>(
    sentences: &S,
    knife: &Knife,
    index: &HashMap<String, u32>,
    room: usize,
) -> (Vec<u32>, Vec<usize>) {
    let cut = |some: Range<usize>| {
        let (mut words, mut ends) = (Vec::new(), Vec::with_capacity(some.len()));
        sentences.each(some, &mut |sentence| {
            knife.words(sentence, &mut |word| words.extend(index.get(word)));
            ends.push(words.len());
        });
        (words, ends)
    };
    let count = sentences.count();
    let (mut words, mut ends) = (Vec::with_capacity(room), Vec::with_capacity(count));
    for begin in (0..count.div_ceil(TOGETHER)).step_by(TASKS) {
        let parts: Vec<(Vec<u32>, Vec<usize>)> = tasks(count).skip(begin).take(TASKS).map(&cut).collect();
        for (part, part_ends) in parts {
            ends.extend(part_ends.into_iter().map(|end| words.len() + end));
            words.extend(part);
        }
    }
    (words, ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_by_frequency_and_rare_ones_close_up() {
        let text = Text::new(&["b a once b", "  ", "a b c c"], &Cutting::default(), 2).unwrap();
        assert_eq!(text.vocabulary(), ["b", "a", "c"]);
        assert_eq!(text.counts(), [3, 2, 2]);
        assert_eq!(text.sentence(0), [0, 1, 0]);
        assert_eq!(text.sentence(1), [0; 0]);
        assert_eq!((text.tokens(), text.kept(), text.distinct()), (8, 7, 4));
        let other = index(&["c".into(), "b".into()]);
        let seen = text.renumbered(&other);
        assert_eq!((seen.sentence(0), seen.sentence(2)), (&[1, 1][..], &[1, 0, 0][..]));
    }

    #[test]
    fn marks_are_words_where_they_are_wanted() {
        let cut = |punctuation| {
            let cutting = Cutting { punctuation, ..Cutting::default() };
            let text = Text::new(&["Don't (stop)... 1,000.5 \u{1f600}"], &cutting, 1).unwrap();
            text.sentence(0).iter().map(|&w| text.vocabulary()[w as usize].clone()).collect::<Vec<_>>()
        };
        assert_eq!(cut(false), ["don", "t", "stop", "1,000.5"]);
        assert_eq!(cut(true), ["don", "t", "(", "stop", ")", ".", ".", ".", "1,000.5", "\u{1f600}"]);
    }

    #[test]
    fn threads_and_blocks_change_nothing() {
        let lines: Vec<String> =
            (0..3000).map(|i| format!("w{} x{} the w{}", i % 7, i % 31, i % 3)).collect();
        let on = |threads| {
            tenfold_engine::linalg::parallel::with_threads(threads, || {
                Text::new(&lines, &Cutting::default(), 1).unwrap()
            })
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn runs_of_words_are_refused() {
        let recipe = Recipe { ngrams: 2, ..Cutting::default().recipe };
        let cutting = Cutting { recipe, ..Cutting::default() };
        assert!(Text::new(&["a b"], &cutting, 1).unwrap_err().to_string().contains("ngrams"));
    }
}
