//! Counts of words in documents, in blocks: the one sparse structure of corpora.
//!
//! A block holds a few hundred documents twice, by row and by column, with 16-bit local indices: eight bytes an entry.
//! By row it serves `C·X` and the inference of mixtures, by column `Cᵀ·Y` and the update of topics, and every sum
//! is made by one task in a fixed order. Blocks may lie in memory or on disk; whoever works block by block
//! cannot tell the difference, and neither can its result.

use super::spmm::prefetch;
use super::{Kernel, Mat, vectorised};
use crate::error::Result;
use rayon::prelude::*;
use std::borrow::Cow;
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

/// Counts that come in blocks, in memory or from disk: documents in rows, words in columns.
pub trait Counts: Sync {
    /// Documents.
    fn rows(&self) -> usize;
    /// Words.
    fn cols(&self) -> usize;
    /// Counts that are not zero.
    fn entries(&self) -> u64;
    /// Blocks.
    fn blocks(&self) -> usize;
    /// Block `b`.
    ///
    /// # Errors
    /// What the source of the data says.
    fn block(&self, b: usize) -> Result<Cow<'_, CountBlock>>;
}

/// Documents that are worked on together; large enough that two barriers a group cost nothing, small enough that
/// the projections of a group stay in the third-level cache.
const GROUP_ROWS: usize = 4096;

/// The numbers of all blocks.
pub fn all_blocks(counts: &dyn Counts) -> Vec<usize> {
    (0..counts.blocks()).collect()
}

/// Visits the chosen blocks in order, in groups of about 4096 documents read in parallel; the visitor gets the group's
/// place in `chosen` and its blocks.
///
/// # Errors
/// What the counts or the visitor say.
pub fn for_each_group(
    counts: &dyn Counts,
    chosen: &[usize],
    mut visit: impl FnMut(Range<usize>, &[Cow<'_, CountBlock>]) -> Result<()>,
) -> Result<()> {
    let a_block = counts.rows().div_ceil(counts.blocks().max(1)).max(1);
    let size = (GROUP_ROWS / a_block).max(1);
    for (g, group) in chosen.chunks(size).enumerate() {
        let blocks: Result<Vec<_>> = group.par_iter().map(|&b| counts.block(b)).collect();
        visit(g * size..g * size + group.len(), &blocks?)?;
    }
    Ok(())
}

/// Words of one task of [`add_transposed`]: enough tasks for eight threads on a usual vocabulary.
const WORDS_A_TASK: usize = 4096;

/// out += Σ over the blocks of Cᵀ·Y, `ys[b]` belonging to `blocks[b]` and `values` taking the place of counts; every
/// word is summed by one task, in order.
///
/// # Panics
/// When a block and its Y have different numbers of rows.
pub fn add_transposed(
    blocks: &[Cow<'_, CountBlock>],
    values: impl Fn(f32) -> f32,
    ys: &[Vec<f32>],
    width: usize,
    out: &mut [f32],
) {
    let levels: Vec<Vec<f32>> =
        blocks.iter().map(|block| block.levels().iter().map(|&l| values(l)).collect()).collect();
    out.par_chunks_mut(WORDS_A_TASK * width).enumerate().for_each(|(task, out)| {
        let first = task * WORDS_A_TASK;
        for ((block, levels), y) in blocks.iter().zip(&levels).zip(ys) {
            let local = |word: usize| block.words().partition_point(|&w| (w as usize) < word);
            let range = local(first)..local(first + WORDS_A_TASK);
            block.backward(levels, y, range, Target { first, width, out });
        }
    });
}

/// A matrix as single-precision rows, each scaled by `scales`.
pub fn to_single(x: &Mat, scales: &[f64]) -> Vec<f32> {
    let mut out = vec![0.0f32; x.rows() * x.cols()];
    if out.is_empty() {
        return out;
    }
    let rows_a_task = 512;
    let width = x.cols();
    out.par_chunks_mut(rows_a_task * width).enumerate().for_each(|(task, chunk)| {
        for (i, row) in chunk.chunks_exact_mut(width).enumerate() {
            let at = task * rows_a_task + i;
            row.iter_mut().zip(x.row(at)).for_each(|(o, v)| *o = (v * scales[at]) as f32);
        }
    });
    out
}

/// out[to(i)] += Σ over the entries of row i of value · x[from(at)].
struct Gather<'a, From, To> {
    starts: &'a [u32],
    entries: &'a [Entry],
    values: &'a [f32],
    x: &'a [f32],
    width: usize,
    out: &'a mut [f32],
    from: From,
    to: To,
}

/// The widest tile: ten registers of running sums leave six for what is loaded.
const WIDEST: usize = 80;

impl<From: Fn(u16) -> usize, To: Fn(usize) -> usize> Kernel for Gather<'_, From, To> {
    type Output = ();

    /// Splits the columns evenly into tiles of a width the compiler knows, so that entries are read as few times as can be.
    #[inline(always)]
    fn run(mut self) {
        let width = self.width;
        let tiles = width.div_ceil(WIDEST).max(1);
        let even = width.div_ceil(tiles).next_multiple_of(8);
        let mut first = 0;
        while first < width {
            first += match (width - first).min(even) {
                80.. => self.tile::<80>(first),
                72.. => self.tile::<72>(first),
                64.. => self.tile::<64>(first),
                56.. => self.tile::<56>(first),
                48.. => self.tile::<48>(first),
                40.. => self.tile::<40>(first),
                32.. => self.tile::<32>(first),
                24.. => self.tile::<24>(first),
                16.. => self.tile::<16>(first),
                8.. => self.tile::<8>(first),
                _ => self.tile::<1>(first),
            }
        }
    }
}

/// How many entries ahead rows are asked for.
const AHEAD: usize = 8;

impl<From: Fn(u16) -> usize, To: Fn(usize) -> usize> Gather<'_, From, To> {
    /// Columns `first..first + W`; returns W.
    #[inline(always)]
    fn tile<const W: usize>(&mut self, first: usize) -> usize {
        let width = self.width;
        for (i, bounds) in self.starts.windows(2).enumerate() {
            let mut sum = [0.0f32; W];
            let entries = &self.entries[bounds[0] as usize..bounds[1] as usize];
            for (e, entry) in entries.iter().enumerate() {
                if let Some(later) = entries.get(e + AHEAD) {
                    prefetch::<W, f32>(self.x, (self.from)(later.at) * width + first);
                }
                let at = (self.from)(entry.at) * width + first;
                let row: &[f32; W] = self.x[at..at + W].try_into().expect("W columns");
                let value = self.values[entry.code as usize];
                for l in 0..W {
                    sum[l] += value * row[l];
                }
            }
            let out = &mut self.out[(self.to)(i) * width + first..][..W];
            for l in 0..W {
                out[l] += sum[l];
            }
        }
        W
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;
    use rand::RngExt;

    /// A random block of counts and the same, dense.
    fn drawn(rows: usize, words: usize, seed: u64) -> (CountBlock, Mat) {
        let mut rng = random::rng(seed, 0);
        let mut dense = Mat::zeros(rows, words);
        let (mut starts, mut ids, mut counts) = (vec![0u32], Vec::new(), Vec::new());
        for i in 0..rows {
            for w in 0..words {
                if rng.random_range(0..4) == 0 {
                    let c = rng.random_range(1..6u32);
                    dense[(i, w)] = f64::from(c);
                    ids.push(w as u32 + 10);
                    counts.push(c as f32);
                }
            }
            starts.push(ids.len() as u32);
        }
        let documents: Vec<u32> = (0..rows as u32).rev().collect();
        (CountBlock::new(&documents, &starts, &ids, &counts), dense)
    }

    #[test]
    fn products_equal_dense_ones() {
        for width in [1, 7, 8, 24, 104, 160] {
            let (block, dense) = drawn(13, 40, width as u64);
            let mut rng = random::rng(1, 1);
            let x = Mat::from_fn(50, width, |_, _| f64::from(rng.random_range(-3..4i32)));
            let single = to_single(&x, &[1.0; 50]);
            let mut y = vec![9.0; 13 * width];
            block.forward(block.levels(), &single, width, &mut y);
            let part = Mat::from_fn(40, width, |i, j| x[(i + 10, j)]);
            let expected = dense.matmul(&part);
            assert!(y.iter().zip(expected.as_slice()).all(|(a, b)| f64::from(*a) == *b), "forward {width}");
            let mut back = vec![0.0; 50 * width];
            let block = [Cow::Owned(block)];
            add_transposed(&block, |l| l, std::slice::from_ref(&y), width, &mut back);
            let expected = dense.tr_matmul(&expected);
            let same = back[10 * width..].iter().zip(expected.as_slice()).all(|(a, b)| f64::from(*a) == *b);
            assert!(same && back[..10 * width].iter().all(|x| *x == 0.0), "backward {width}");
        }
    }

    #[test]
    fn a_block_comes_back_from_bytes() {
        let (block, _) = drawn(30, 40, 5);
        let bytes = block.to_bytes();
        assert_eq!(CountBlock::from_bytes(&bytes), Some(block));
        for cut in 0..bytes.len() {
            assert_eq!(CountBlock::from_bytes(&bytes[..cut]), None, "cut at {cut}");
        }
        let mut damaged = bytes;
        damaged.iter_mut().skip(16 + 4 * (30 + 40 + 5 + 31)).for_each(|b| *b = 255);
        assert_eq!(CountBlock::from_bytes(&damaged), None);
    }

    #[test]
    fn an_empty_block_is_a_block() {
        let block = CountBlock::new(&[0, 1], &[0, 0, 0], &[], &[]);
        assert_eq!((block.rows(), block.entries(), block.words().len()), (2, 0, 0));
        let mut y = vec![1.0; 4];
        block.forward(&[], &[], 2, &mut y);
        assert_eq!(y, [0.0; 4]);
    }
}
