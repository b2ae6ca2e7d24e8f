//! In how many documents or windows of text the top words of topics occur, alone and together.

use crate::error::Result;
use std::borrow::Cow;
use tenfold_engine::linalg::counts::{Parcel, Part, Pass, Unpacked, all_blocks, sum};
use tenfold_engine::linalg::parallel::sum_blocks;
use tenfold_engine::linalg::{CountBlock, Counts};
use tenfold_engine::progress::{Progress, Silent};

/// Occurrences of the words of each topic, and of their pairs.
///
/// Only pairs within a topic are counted, so memory is a few numbers a pair whatever the corpus: each block of
/// documents gives every top word a row of bits, one a document, and a pair is the number of bits in both rows.
///
/// # Example
/// ```
/// use tenfold::evaluate::Cooccurrence;
/// // Two texts, windows of two words: (0 1) (1 0) (0 2) and (2 1).
/// let texts: [&[u32]; 2] = [&[0, 1, 0, 2], &[2, 1]];
/// let seen = Cooccurrence::in_windows(texts, 2, &[vec![0, 1, 2]]);
/// assert_eq!(seen.windows(), 4);
/// assert_eq!((seen.count(0, 0), seen.together(0, 0, 1), seen.together(0, 1, 2)), (3, 2, 1));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cooccurrence {
    windows: u64,
    /// For each topic a square of counts, row by row, the diagonal being the word alone.
    pairs: Vec<Vec<u64>>,
    sizes: Vec<usize>,
}

impl Cooccurrence {
    /// Counts documents that hold the words, for topics given as lists of words, in one pass.
    ///
    /// This is the whole document as the window: the literature's choice for UMass, and what stands in for sliding
    /// windows where the order of words is not known, as in any bag of words.
    ///
    /// # Complexity
    /// O(entries of the top words + topics · pairs · documents / 64).
    ///
    /// # Errors
    /// What the source of the counts says.
    pub fn in_documents(counts: &dyn Counts, topics: &[Vec<u32>]) -> Result<Self> {
        let pass = TogetherInDocuments { topics: Cow::Borrowed(topics) };
        let sums = sum(&pass, counts, &all_blocks(counts), &Silent)?;
        let (windows, mut numbers) = (sums[0][0] as u64, sums[1].iter());
        let mut seen = Self { windows, ..Self::none(topics) };
        seen.pairs.iter_mut().flatten().zip(&mut numbers).for_each(|(pair, n)| *pair = *n as u64);
        Ok(seen)
    }

    /// Counts windows of `width` consecutive words that hold the words; a text that is shorter is one window.
    ///
    /// The literature takes 10 for UCI and NPMI, 110 for c_v.
    ///
    /// # Panics
    /// When `width` is 0.
    pub fn in_windows<'a>(
        texts: impl IntoIterator<Item = &'a [u32]>,
        width: usize,
        topics: &[Vec<u32>],
    ) -> Self {
        assert!(width > 0, "a window holds at least one word");
        let union = union(topics);
        let places = places(topics, &union);
        let mut seen = Self::none(topics);
        for text in texts {
            seen.add(&Bits::of_text(text, width, &union), &places);
        }
        seen
    }

    /// Documents or windows in all.
    pub fn windows(&self) -> u64 {
        self.windows
    }

    /// Topics.
    pub fn topics(&self) -> usize {
        self.pairs.len()
    }

    /// Words in the list of a topic.
    pub fn size(&self, topic: usize) -> usize {
        self.sizes[topic]
    }

    /// Windows with word `i` of the topic's list.
    pub fn count(&self, topic: usize, i: usize) -> u64 {
        self.together(topic, i, i)
    }

    /// Windows with both words `i` and `j` of the topic's list.
    pub fn together(&self, topic: usize, i: usize, j: usize) -> u64 {
        self.pairs[topic][i * self.sizes[topic] + j]
    }

    fn none(topics: &[Vec<u32>]) -> Self {
        let sizes: Vec<usize> = topics.iter().map(Vec::len).collect();
        Self { windows: 0, pairs: sizes.iter().map(|n| vec![0; n * n]).collect(), sizes }
    }

    /// Adds what was counted elsewhere for the same lists.
    ///
    /// # Panics
    /// When the lists are of other lengths.
    pub fn merge(&mut self, other: Self) {
        assert_eq!(self.sizes, other.sizes, "the same lists of words");
        self.windows += other.windows;
        for (mine, theirs) in self.pairs.iter_mut().flatten().zip(other.pairs.iter().flatten()) {
            *mine += theirs;
        }
    }

    fn add(&mut self, bits: &Bits, places: &[Vec<usize>]) {
        self.windows += bits.windows as u64;
        for (pairs, places) in self.pairs.iter_mut().zip(places) {
            let n = places.len();
            for i in 0..n {
                for j in 0..=i {
                    let both = bits.both(places[i], places[j]);
                    pairs[i * n + j] += both;
                    if i != j {
                        pairs[j * n + i] += both;
                    }
                }
            }
        }
    }
}

/// The pass of [`Cooccurrence::in_documents`]: documents, then the squares of counts one after the other.
pub(crate) struct TogetherInDocuments<'a> {
    topics: Cow<'a, [Vec<u32>]>,
}

impl TogetherInDocuments<'_> {
    pub(crate) const TAG: u64 = 4;

    pub(crate) fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let words = |bytes: &[u8]| {
            let word = |b: &[u8]| u32::from_le_bytes(b.try_into().expect("four bytes"));
            bytes.chunks_exact(4).map(word).collect::<Vec<u32>>()
        };
        let topics: Option<Vec<Vec<u32>>> =
            (0..parcel.number()?).map(|_| parcel.bytes().map(words)).collect();
        Some(Self { topics: Cow::Owned(topics?) })
    }
}

impl Pass for TogetherInDocuments<'_> {
    fn window(
        &self,
        counts: &dyn Counts,
        chosen: &[usize],
        progress: &dyn Progress,
    ) -> tenfold_engine::error::Result<Vec<Part>> {
        let union = union(&self.topics);
        let places = places(&self.topics, &union);
        let add = |seen: &mut Cooccurrence, range: std::ops::Range<usize>| {
            for &b in &chosen[range] {
                progress.check()?;
                seen.add(&Bits::of_block(&*counts.block(b)?, &union), &places);
            }
            Ok(())
        };
        let none = || Cooccurrence::none(&self.topics);
        let seen = sum_blocks(chosen.len(), 1, none, add, Cooccurrence::merge)?;
        let pairs = seen.pairs.iter().flatten().map(|n| *n as f64).collect();
        Ok(vec![Part::Double(vec![seen.windows as f64]), Part::Double(pairs)])
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        parcel.number(self.topics.len() as u64);
        for list in self.topics.iter() {
            parcel.bytes(&list.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
        }
        parcel.0
    }
}

/// All words of the lists, ascending and distinct.
fn union(topics: &[Vec<u32>]) -> Vec<u32> {
    let mut words: Vec<u32> = topics.iter().flatten().copied().collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The lists with places in the union for words.
fn places(topics: &[Vec<u32>], union: &[u32]) -> Vec<Vec<usize>> {
    let place = |word: &u32| union.binary_search(word).expect("the union holds every word");
    topics.iter().map(|list| list.iter().map(place).collect()).collect()
}

/// A row of bits for each word of the union: which of some windows hold it.
struct Bits {
    windows: usize,
    /// Numbers of 64 bits in a row.
    length: usize,
    rows: Vec<u64>,
}

impl Bits {
    fn none(windows: usize, words: usize) -> Self {
        let length = windows.div_ceil(64);
        Self { windows, length, rows: vec![0; length * words] }
    }

    fn of_block(block: &CountBlock, union: &[u32]) -> Self {
        let mut bits = Self::none(block.rows(), union.len());
        for (place, word) in union.iter().enumerate() {
            let Ok(local) = block.words().binary_search(word) else { continue };
            for entry in block.column(local) {
                // A count of nothing is no occurrence.
                if block.levels()[entry.code as usize] > 0.0 {
                    bits.set(place, entry.at as usize);
                }
            }
        }
        bits
    }

    fn of_text(text: &[u32], width: usize, union: &[u32]) -> Self {
        let mut bits = Self::none((text.len() + 1).saturating_sub(width).max(1), union.len());
        // For each word the first window that it may not have marked yet, so that every bit is set once.
        let mut next = vec![0; union.len()];
        for (at, word) in text.iter().enumerate() {
            let Ok(place) = union.binary_search(word) else { continue };
            let first = (at + 1).saturating_sub(width).max(next[place]);
            let end = (at + 1).min(bits.windows);
            (first..end).for_each(|window| bits.set(place, window));
            next[place] = end;
        }
        bits
    }

    fn set(&mut self, place: usize, window: usize) {
        self.rows[place * self.length + window / 64] |= 1 << (window % 64);
    }

    fn both(&self, a: usize, b: usize) -> u64 {
        let row = |place: usize| &self.rows[place * self.length..(place + 1) * self.length];
        row(a).iter().zip(row(b)).map(|(x, y)| u64::from((x & y).count_ones())).sum()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::borrow::Cow;
    use tenfold_engine::linalg::{parallel, random};

    /// Documents in blocks of three, in memory.
    pub struct Held(pub Vec<CountBlock>, pub usize);

    impl Held {
        pub fn new(texts: &[Vec<u32>], words: usize) -> Self {
            let blocks = texts.chunks(3).enumerate().map(|(b, texts)| {
                let (mut starts, mut ids, mut counts) = (vec![0], Vec::new(), Vec::new());
                for text in texts {
                    let mut text = text.clone();
                    text.sort_unstable();
                    for run in text.chunk_by(|a, b| a == b) {
                        ids.push(run[0]);
                        counts.push(run.len() as f32);
                    }
                    starts.push(ids.len() as u32);
                }
                let documents: Vec<u32> = (0..texts.len() as u32).map(|i| 3 * b as u32 + i).collect();
                CountBlock::new(&documents, &starts, &ids, &counts)
            });
            Self(blocks.collect(), words)
        }
    }

    impl Counts for Held {
        fn rows(&self) -> usize {
            self.0.iter().map(CountBlock::rows).sum()
        }
        fn cols(&self) -> usize {
            self.1
        }
        fn entries(&self) -> u64 {
            self.0.iter().map(|b| b.entries() as u64).sum()
        }
        fn blocks(&self) -> usize {
            self.0.len()
        }
        fn block(&self, b: usize) -> tenfold_engine::Result<Cow<'_, CountBlock>> {
            Ok(Cow::Borrowed(&self.0[b]))
        }
    }

    fn texts(count: usize, longest: usize, words: u32) -> Vec<Vec<u32>> {
        use rand::RngExt;
        let mut rng = random::rng(5, 0);
        let lengths: Vec<usize> = (0..count).map(|_| rng.random_range(0..=longest)).collect();
        lengths.iter().map(|&n| (0..n).map(|_| rng.random_range(0..words)).collect()).collect()
    }

    /// Windows as lists of words, counted one by one.
    fn by_hand(windows: &[&[u32]], topics: &[Vec<u32>]) -> Cooccurrence {
        let holding =
            |a: u32, b: u32| windows.iter().filter(|w| w.contains(&a) && w.contains(&b)).count() as u64;
        let square = |list: &Vec<u32>| {
            list.iter().flat_map(|&a| list.iter().map(move |&b| (a, b))).map(|(a, b)| holding(a, b)).collect()
        };
        Cooccurrence {
            windows: windows.len() as u64,
            pairs: topics.iter().map(square).collect(),
            sizes: topics.iter().map(Vec::len).collect(),
        }
    }

    #[test]
    fn documents_are_counted_as_by_hand_on_any_number_of_threads() {
        let texts = texts(50, 12, 20);
        let topics = [vec![3, 1, 19], vec![1, 7, 2, 5], vec![], vec![40, 3]];
        let windows: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
        let expected = by_hand(&windows, &topics);
        let held = Held::new(&texts, 50);
        for threads in [1, 3] {
            let seen =
                parallel::with_threads(threads, || Cooccurrence::in_documents(&held, &topics).unwrap());
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn windows_are_counted_as_by_hand() {
        let texts = texts(20, 150, 30);
        let topics = [vec![3, 1, 29], vec![1, 7, 2, 5]];
        for width in [1, 2, 10, 149, 1000] {
            let windows: Vec<&[u32]> = texts
                .iter()
                .flat_map(|text| {
                    if text.len() < width { vec![text.as_slice()] } else { text.windows(width).collect() }
                })
                .collect();
            let seen = Cooccurrence::in_windows(texts.iter().map(Vec::as_slice), width, &topics);
            assert_eq!(seen, by_hand(&windows, &topics), "width {width}");
        }
    }
}
