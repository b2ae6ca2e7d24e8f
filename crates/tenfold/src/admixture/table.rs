//! Topics by word, in single precision: what the hot loops read and what the updates write.

use super::kernel::{RowsRef, TINY, padded, sum_of};
use crate::checkpoint::Keep;
use rayon::prelude::*;
use tenfold_engine::linalg::counts::{Parcel, Unpacked};
use tenfold_engine::linalg::parallel::add_assign;
use tenfold_engine::linalg::{Kernel, Mat, vectorised};

/// Words that one task converts or gathers.
const WORDS_A_TASK: usize = 512;

/// One row a word: a number for each topic, padded with zeros.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub k: usize,
    pub width: usize,
    pub data: Vec<f32>,
}

impl Table {
    /// All zeros.
    pub fn zeros(words: usize, k: usize) -> Self {
        Self { k, width: padded(k), data: vec![0.0; words * padded(k)] }
    }

    /// A table of these numbers; `None` when they are not whole rows.
    pub fn from_data(k: usize, data: Vec<f32>) -> Option<Self> {
        let width = padded(k);
        (width > 0 && data.len().is_multiple_of(width)).then_some(Self { k, width, data })
    }

    /// `scale` · topicsᵀ, where topics are k × words.
    pub fn from_topics(topics: &Mat, scale: f64) -> Self {
        let mut table = Self::zeros(topics.cols(), topics.rows());
        let width = table.width;
        table.data.par_chunks_mut((WORDS_A_TASK * width).max(1)).enumerate().for_each(|(task, rows)| {
            for t in 0..topics.rows() {
                let source = &topics.row(t)[task * WORDS_A_TASK..];
                for (row, x) in rows.chunks_exact_mut(width).zip(source) {
                    row[t] = (x * scale) as f32;
                }
            }
        });
        table
    }

    /// The rows of [`Table::from_topics`] for some words only, in their order: for documents so few that turning the whole matrix
    /// would cost more than they do.
    pub fn of_words(topics: &Mat, words: &[u32]) -> Self {
        let mut table = Self::zeros(words.len(), topics.rows());
        let width = table.width;
        for t in 0..topics.rows() {
            let source = topics.row(t);
            for (row, &word) in table.data.chunks_exact_mut(width).zip(words) {
                row[t] = source[word as usize] as f32;
            }
        }
        table
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.data.len() / self.width.max(1)
    }

    /// Sums over words, padded; added in fixed pieces.
    pub fn sums(&self) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = (self.data.par_chunks((WORDS_A_TASK * self.width).max(1)))
            .map(|rows| {
                let mut sum = vec![0.0; self.width];
                for row in rows.chunks_exact(self.width) {
                    sum.iter_mut().zip(row).for_each(|(s, x)| *s += f64::from(*x));
                }
                sum
            })
            .collect();
        let mut total = vec![0.0; self.width];
        parts.iter().for_each(|part| add_assign(&mut total, part));
        total
    }

    /// [`split_rows`] of this table.
    pub fn split<'a>(&'a mut self, words: &'a [u32], size: usize) -> Vec<(usize, &'a [u32], &'a mut [f32])> {
        split_rows(&mut self.data, self.width, words, size)
    }
}

impl Keep for Table {
    fn put(&self, parcel: &mut Parcel) {
        self.k.put(parcel);
        parcel.singles(&self.data);
    }
    fn take(parcel: &mut Unpacked<'_>) -> Option<Self> {
        // A row is at least as long as there are topics, so more of them than numbers cannot be.
        let (k, data) = (usize::take(parcel)?, parcel.singles()?);
        (k <= data.len()).then(|| Self::from_data(k, data)).flatten()
    }
}

/// The rows of `words`, which ascend, to be changed by tasks of `size` words each: a task gets the position of its first word
/// among `words`, and the rows from that word's on.
pub(super) fn split_rows<'a, T>(
    data: &'a mut [T],
    width: usize,
    words: &'a [u32],
    size: usize,
) -> Vec<(usize, &'a [u32], &'a mut [T])> {
    let mut tasks = Vec::with_capacity(words.len().div_ceil(size));
    let (mut rest, mut before) = (data, 0);
    for (task, own) in words.chunks(size).enumerate() {
        let (first, last) = (own[0] as usize, own[own.len() - 1] as usize);
        let (_, from) = rest.split_at_mut((first - before) * width);
        let (mine, after) = from.split_at_mut((last + 1 - first) * width);
        tasks.push((task * size, own, mine));
        (rest, before) = (after, last + 1);
    }
    tasks
}

/// How a table is read: B_wt = slope_t · x_wt + offset_t + share_t · background_w.
#[derive(Clone)]
pub(super) struct Reading<'a> {
    pub table: &'a Table,
    pub slope: Vec<f32>,
    pub offset: Vec<f32>,
    pub share: f32,
    pub background: &'a [f32],
}

impl<'a> Reading<'a> {
    /// The table as it is.
    pub fn plain(table: &'a Table) -> Self {
        let slope = pad(table, 1.0);
        Self { table, slope, offset: vec![0.0; table.width], share: 0.0, background: &[] }
    }

    /// (1 − share) · what was read so far + share · background.
    pub fn blended(mut self, share: f64, background: &'a [f32]) -> Self {
        let keep = (1.0 - share) as f32;
        self.slope.iter_mut().for_each(|x| *x *= keep);
        self.offset.iter_mut().for_each(|x| *x *= keep);
        Self { share: share as f32, background, ..self }
    }

    /// The topics, k × words.
    pub fn topics(&self) -> Mat {
        let (k, words) = (self.table.k, self.table.words());
        let all: Vec<u32> = (0..words as u32).collect();
        let mut rows = Rows::default();
        rows.gather(self, &all);
        let mut topics = Mat::zeros(k, words);
        topics.as_mut_slice().par_chunks_mut(words.max(1)).enumerate().for_each(|(t, topic)| {
            for (x, row) in topic.iter_mut().zip(rows.data.chunks_exact(rows.width)) {
                *x = f64::from(row[t]);
            }
            let total: f64 = topic.iter().sum();
            topic.iter_mut().for_each(|x| *x /= total.max(f64::MIN_POSITIVE));
        });
        topics
    }
}

/// B_wt = (N_wt + η) / Σ_w (N_wt + η) where N is `scale` · the table, whose sums over words are given.
pub(super) fn smoothed<'a>(table: &'a Table, scale: f64, sums: &[f64], eta: f64) -> Reading<'a> {
    let (mut slope, mut offset) = (pad(table, 0.0), pad(table, 0.0));
    for t in 0..table.k {
        let total = scale * sums[t] + eta * table.words() as f64;
        slope[t] = (scale / total) as f32;
        offset[t] = (eta / total) as f32;
    }
    Reading { table, slope, offset, share: 0.0, background: &[] }
}

/// `value` for every topic, zero in the padding.
pub(super) fn pad(table: &Table, value: f32) -> Vec<f32> {
    (0..table.width).map(|t| if t < table.k { value } else { 0.0 }).collect()
}

/// The prior of the hot loops, padded.
pub(super) fn pad_alpha(alpha: &[f64]) -> Vec<f32> {
    let mut padded_alpha = vec![0.0; padded(alpha.len())];
    padded_alpha.iter_mut().zip(alpha).for_each(|(p, a)| *p = *a as f32);
    padded_alpha
}

/// The rows of a block's words, gathered side by side. The memory is used again from block to block.
#[derive(Default)]
pub(super) struct Rows {
    pub width: usize,
    pub data: Vec<f32>,
    pub inverse: Vec<f32>,
}

impl Rows {
    /// Reads the rows of `words`.
    pub fn gather(&mut self, reading: &Reading<'_>, words: &[u32]) {
        let width = reading.table.width;
        self.width = width;
        self.data.resize(words.len() * width, 0.0);
        self.inverse.resize(words.len(), 0.0);
        let tasks = self.data.par_chunks_mut((WORDS_A_TASK * width).max(1));
        let tasks = tasks.zip(self.inverse.par_chunks_mut(WORDS_A_TASK)).zip(words.par_chunks(WORDS_A_TASK));
        tasks.for_each(|((out, inverse), words)| vectorised(Gather { reading, words, out, inverse }));
    }

    /// The rows of these words of a table as it is.
    pub fn of_table(table: &Table, words: &[u32]) -> Self {
        let mut rows = Self::default();
        rows.gather(&Reading::plain(table), words);
        rows
    }

    /// The rows of these words of the topics, read by the calling thread alone.
    pub fn of_topics(topics: &Mat, words: &[u32]) -> Self {
        let own = Table::of_words(topics, words);
        let places: Vec<u32> = (0..words.len() as u32).collect();
        let (mut data, mut inverse) = (vec![0.0; own.data.len()], vec![0.0; words.len()]);
        let reading = &Reading::plain(&own);
        vectorised(Gather { reading, words: &places, out: &mut data, inverse: &mut inverse });
        Self { width: own.width, data, inverse }
    }

    /// For the hot loops.
    pub fn as_ref(&self) -> RowsRef<'_> {
        RowsRef { width: self.width, data: &self.data, inverse: &self.inverse }
    }
}

struct Gather<'a> {
    reading: &'a Reading<'a>,
    words: &'a [u32],
    out: &'a mut [f32],
    inverse: &'a mut [f32],
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Reading { table, slope, offset, share, background } = self.reading;
        let (width, k) = (table.width, table.k);
        let (slope, offset) = (&slope[..width], &offset[..width]);
        for ((row, inverse), &word) in self.out.chunks_exact_mut(width).zip(self.inverse).zip(self.words) {
            let source = &table.data[word as usize * width..][..width];
            for j in 0..width {
                row[j] = slope[j] * source[j] + offset[j];
            }
            if let Some(background) = background.get(word as usize) {
                for x in &mut row[..k] {
                    *x += share * background;
                }
            }
            *inverse = 1.0 / (sum_of(row) + TINY);
        }
    }
}
