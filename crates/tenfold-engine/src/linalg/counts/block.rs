//! Some documents' counts, by row and by column.

use super::gather::Gather;
use crate::linalg::vectorised;
use std::ops::Range;

/// One count: where it stands and which of the block's [`CountBlock::levels`] it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Local word when read by row, local row when read by column.
    pub at: u16,
    /// Index into the levels.
    pub code: u16,
}

/// Counts of a block of documents.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::CountBlock;
/// // Document 7 holds word 3 twice and word 9 once; document 4 holds word 9 five times.
/// let block = CountBlock::new(&[7, 4], &[0, 2, 3], &[3, 9, 9], &[2.0, 1.0, 5.0]);
/// assert_eq!(block.words(), [3, 9]);
/// let nine: Vec<f32> = block.column(1).iter().map(|e| block.levels()[e.code as usize]).collect();
/// assert_eq!(nine, [1.0, 5.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CountBlock {
    documents: Vec<u32>,
    words: Vec<u32>,
    levels: Vec<f32>,
    row_starts: Vec<u32>,
    by_row: Vec<Entry>,
    column_starts: Vec<u32>,
    by_column: Vec<Entry>,
}

impl CountBlock {
    /// A block of as many rows as there are `documents` (their positions in the corpus); row i holds `words` and
    /// `counts` from `starts[i]` to `starts[i + 1]`, words ascending and distinct.
    ///
    /// # Panics
    /// When there are more than 65,535 rows or distinct words, or 65,536 distinct counts: whoever cuts blocks sees
    /// to that.
    pub fn new(documents: &[u32], starts: &[u32], words: &[u32], counts: &[f32]) -> Self {
        assert_eq!(starts.len(), documents.len() + 1, "one start a row and an end");
        assert_eq!(words.len(), counts.len(), "one count a word");
        let (distinct, place) = distinct_words(words);
        let levels = distinct_counts(counts);
        assert!(documents.len() <= Self::MOST && distinct.len() <= Self::MOST, "indices have 16 bits");
        assert!(levels.len() <= Self::MOST + 1, "codes have 16 bits");
        let code = |count: f32| levels.partition_point(|l| l.total_cmp(&count).is_lt()) as u16;
        let by_row: Vec<Entry> = words
            .iter()
            .zip(counts)
            .map(|(&w, &c)| Entry { at: place[w as usize] as u16, code: code(c) })
            .collect();
        let mut block = Self {
            documents: documents.to_vec(),
            words: distinct,
            levels,
            row_starts: starts.to_vec(),
            by_row,
            column_starts: Vec::new(),
            by_column: Vec::new(),
        };
        block.index_columns();
        block
    }

    /// The largest local index.
    pub const MOST: usize = u16::MAX as usize;

    fn index_columns(&mut self) {
        let mut starts = vec![0u32; self.words.len() + 1];
        for e in &self.by_row {
            starts[e.at as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut by_column = vec![Entry { at: 0, code: 0 }; self.by_row.len()];
        for row in 0..self.documents.len() {
            for e in self.row(row) {
                let slot = &mut next[e.at as usize];
                by_column[*slot as usize] = Entry { at: row as u16, code: e.code };
                *slot += 1;
            }
        }
        self.column_starts = starts;
        self.by_column = by_column;
    }

    /// Documents in the block.
    pub fn rows(&self) -> usize {
        self.documents.len()
    }

    /// Counts in the block.
    pub fn entries(&self) -> usize {
        self.by_row.len()
    }

    /// Position in the corpus of every row.
    pub fn documents(&self) -> &[u32] {
        &self.documents
    }

    /// The distinct words, ascending; their places are the local words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The distinct counts, ascending; their places are the codes.
    pub fn levels(&self) -> &[f32] {
        &self.levels
    }

    /// The entries of a row, words ascending.
    pub fn row(&self, i: usize) -> &[Entry] {
        &self.by_row[self.row_starts[i] as usize..self.row_starts[i + 1] as usize]
    }

    /// The entries of a local word, rows ascending.
    pub fn column(&self, local: usize) -> &[Entry] {
        &self.by_column[self.column_starts[local] as usize..self.column_starts[local + 1] as usize]
    }

    /// Words and counts of a row.
    pub fn row_counts(&self, i: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.row(i).iter().map(|e| (self.words[e.at as usize], self.levels[e.code as usize]))
    }

    /// The rows that `keep` wants, as a block.
    pub fn select(&self, keep: impl Fn(usize) -> bool) -> Self {
        let (mut documents, mut starts) = (Vec::new(), vec![0]);
        let (mut words, mut counts) = (Vec::new(), Vec::new());
        for i in (0..self.rows()).filter(|&i| keep(i)) {
            documents.push(self.documents[i]);
            words.extend(self.row_counts(i).map(|(word, _)| word));
            counts.extend(self.row_counts(i).map(|(_, count)| count));
            starts.push(words.len() as u32);
        }
        Self::new(&documents, &starts, &words, &counts)
    }

    /// The block as bytes, little-endian, to be put aside on disk; columns are indexed anew when it comes back.
    pub fn to_bytes(&self) -> Vec<u8> {
        let lengths = [self.documents.len(), self.words.len(), self.levels.len(), self.by_row.len()];
        let mut bytes =
            Vec::with_capacity(16 + 4 * lengths.iter().sum::<usize>() + 4 * self.row_starts.len());
        let mut put = |x: u32| bytes.extend_from_slice(&x.to_le_bytes());
        lengths.iter().for_each(|&l| put(l as u32));
        self.documents.iter().chain(&self.words).for_each(|&x| put(x));
        self.levels.iter().for_each(|x| put(x.to_bits()));
        self.row_starts.iter().for_each(|&x| put(x));
        self.by_row.iter().for_each(|e| put(u32::from(e.at) | u32::from(e.code) << 16));
        bytes
    }

    /// The block of [`CountBlock::to_bytes`]; `None` when the bytes are not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        let mut numbers = numbers.iter().map(|b| u32::from_le_bytes(*b));
        let lengths = [numbers.next()?, numbers.next()?, numbers.next()?, numbers.next()?];
        let [documents, words, levels, entries] = lengths.map(|l| l as usize);
        if !rest.is_empty() || numbers.len() != 2 * documents + 1 + words + levels + entries {
            return None;
        }
        let mut take = |count: usize| numbers.by_ref().take(count).collect::<Vec<u32>>();
        let mut block = Self {
            documents: take(documents),
            words: take(words),
            levels: take(levels).into_iter().map(f32::from_bits).collect(),
            row_starts: take(documents + 1),
            by_row: take(entries).iter().map(|&x| Entry { at: x as u16, code: (x >> 16) as u16 }).collect(),
            column_starts: Vec::new(),
            by_column: Vec::new(),
        };
        let inside = block.by_row.iter().all(|e| (e.at as usize) < words && (e.code as usize) < levels);
        let ordered = block.row_starts.is_sorted()
            && block.row_starts[0] == 0
            && block.row_starts[documents] as usize == entries;
        (inside && ordered).then(|| {
            block.index_columns();
            block
        })
    }

    /// Bytes that the block takes in memory.
    pub fn bytes(&self) -> usize {
        8 * self.documents.len() + 8 * self.words.len() + 4 * self.levels.len() + 8 * self.by_row.len()
    }

    /// `out = C·X` for rows of `width` numbers, with `values` in the place of the levels.
    ///
    /// # Panics
    /// When `values` or `out` have another length than the block, or X lacks one of its words.
    pub fn forward(&self, values: &[f32], x: &[f32], width: usize, out: &mut [f32]) {
        assert_eq!((values.len(), out.len()), (self.levels.len(), self.rows() * width), "shapes");
        let (starts, entries) = (self.row_starts.as_slice(), self.by_row.as_slice());
        let from = |at: u16| self.words[at as usize] as usize;
        out.fill(0.0);
        vectorised(Gather { starts, entries, values, x, width, out, from, to: |row| row });
    }

    /// Adds `Cᵀ·Y` for the local words of `range` to `out`, whose first row belongs to word `first`.
    ///
    /// # Panics
    /// When `values` or `y` have another length than the block, or `out` lacks one of the words.
    pub fn backward(&self, values: &[f32], y: &[f32], range: Range<usize>, into: Target<'_>) {
        let width = into.width;
        assert_eq!((values.len(), y.len()), (self.levels.len(), self.rows() * width), "shapes");
        let starts = &self.column_starts[range.start..=range.end];
        let entries = self.by_column.as_slice();
        let words = &self.words[range];
        let to = |i: usize| words[i] as usize - into.first;
        let from = |at: u16| at as usize;
        vectorised(Gather { starts, entries, values, x: y, width, out: into.out, from, to });
    }
}

/// The distinct words, ascending, and for every word up to the largest its place among them.
fn distinct_words(words: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut place = vec![u32::MAX; words.iter().max().map_or(0, |w| *w as usize + 1)];
    words.iter().for_each(|&w| place[w as usize] = 0);
    let distinct: Vec<u32> = (0..place.len()).filter(|&w| place[w] == 0).map(|w| w as u32).collect();
    distinct.iter().enumerate().for_each(|(local, &w)| place[w as usize] = local as u32);
    (distinct, place)
}

/// The distinct counts, ascending. Nearly all are small whole numbers, which are ticked off; only the others are sorted.
fn distinct_counts(counts: &[f32]) -> Vec<f32> {
    const SMALL: usize = 256;
    let mut seen = [false; SMALL];
    let mut others = Vec::new();
    for &c in counts {
        let whole = c as usize;
        if whole < SMALL && whole as f32 == c { seen[whole] = true } else { others.push(c) }
    }
    let mut levels: Vec<f32> = (0..SMALL).filter(|&c| seen[c]).map(|c| c as f32).collect();
    levels.append(&mut others);
    levels.sort_unstable_by(f32::total_cmp);
    levels.dedup_by(|a, b| a.to_bits() == b.to_bits());
    levels
}

/// Rows of consecutive words that [`CountBlock::backward`] adds to.
pub struct Target<'a> {
    /// The word of the first row.
    pub first: usize,
    /// Numbers in a row.
    pub width: usize,
    /// The rows.
    pub out: &'a mut [f32],
}
