//! Counts of words in documents, in blocks: the one sparse structure of corpora.
//!
//! A block holds a few hundred documents twice, by row and by column, with 16-bit local indices: eight bytes an entry.
//! By row it serves `C·X` and the inference of mixtures, by column `Cᵀ·Y` and the update of topics, and every sum
//! is made by one task in a fixed order. Blocks may lie in memory or on disk; whoever works block by block
//! cannot tell the difference, and neither can its result.

mod block;
mod gather;
mod pass;

pub use block::{CountBlock, Entry, Target};
pub use pass::{Elsewhere, Parcel, Part, Pass, Sums, Unpacked, by_window, garbled, sum};

use super::Mat;
use crate::error::Result;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

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
    /// The runs of blocks that a pass sums one after the other; all in one when nobody says otherwise.
    fn windows(&self) -> Vec<Range<usize>> {
        std::iter::once(0..self.blocks()).collect()
    }
    /// Tells that these blocks will be asked for, so that counts that lie elsewhere can bring them all at once.
    ///
    /// # Errors
    /// What the source of the data says.
    fn fetch(&self, _blocks: &[usize]) -> Result<()> {
        Ok(())
    }
    /// Who sums over the blocks, where they do not lie here.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }
}

/// Documents that are worked on together; large enough that two barriers a group cost nothing, small enough that
/// the projections of a group stay in the third-level cache.
const GROUP_ROWS: usize = 4096;

/// Entries that are worked on together, some tens of megabytes: long documents make smaller groups.
const GROUP_ENTRIES: u64 = 4 << 20;

/// The numbers of all blocks.
pub fn all_blocks(counts: &dyn Counts) -> Vec<usize> {
    (0..counts.blocks()).collect()
}

/// Visits the chosen blocks in order, in groups of about 4096 documents (fewer where these hold more than 1024 entries
/// each) read in parallel; the visitor gets the numbers of the group's blocks, and the blocks.
///
/// # Errors
/// What the counts or the visitor say.
pub fn for_each_group(
    counts: &dyn Counts,
    chosen: &[usize],
    mut visit: impl FnMut(&[usize], &[Cow<'_, CountBlock>]) -> Result<()>,
) -> Result<()> {
    counts.fetch(chosen)?;
    for group in groups(counts, chosen) {
        let blocks: Result<Vec<_>> = group.par_iter().map(|&b| counts.block(b)).collect();
        visit(group, &blocks?)?;
    }
    Ok(())
}

/// The chosen blocks in groups, as [`for_each_group`] visits them.
pub fn groups<'a>(counts: &dyn Counts, chosen: &'a [usize]) -> std::slice::Chunks<'a, usize> {
    let a_block = counts.rows().div_ceil(counts.blocks().max(1)).max(1);
    let entries = counts.entries().div_ceil(counts.blocks().max(1) as u64).max(1);
    chosen.chunks((GROUP_ROWS / a_block).min((GROUP_ENTRIES / entries) as usize).max(1))
}

/// Words of one task of [`add_transposed`]: enough tasks for eight threads on a usual vocabulary.
const WORDS_A_TASK: usize = 4096;

/// out += Σ over the blocks of Cᵀ·Y, `ys[i]` belonging to `blocks[i]` and `values` taking the place of counts; every
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;
    use rand::RngExt;

    #[test]
    fn windows_add_to_the_same_bits_in_any_order_and_any_parts() {
        let mut rng = random::rng(3, 0);
        let draw = |rng: &mut _| -> Vec<Part> {
            let x = random::gaussian(40, 1, rng).as_slice().to_vec();
            let scales = random::gaussian(40, 1, rng);
            let wild: Vec<f64> = x.iter().zip(scales.as_slice()).map(|(x, s)| x * (20.0 * s).exp()).collect();
            vec![Part::Single(wild.iter().map(|x| *x as f32).collect()), Part::Double(wild)]
        };
        let parts: Vec<Vec<Part>> = (0..50).map(|_| draw(&mut rng)).collect();
        let all = |order: &[usize]| {
            let mut sums = Sums::default();
            order.iter().for_each(|&i| sums.add(parts[i].clone()));
            sums
        };
        let forward: Vec<usize> = (0..50).collect();
        let once = all(&forward).rounded();
        let plain: f64 = (parts.iter()).map(|p| if let Part::Double(x) = &p[1] { x[0] } else { 0.0 }).sum();
        assert!((once[1][0] - plain).abs() <= 1e-12 * plain.abs().max(1.0));
        for seed in 0..5 {
            let order = random::permutation(50, &mut random::rng(seed, 1));
            assert_eq!(all(&order).rounded(), once, "order {seed}");
            let cut = 1 + 9 * seed as usize;
            let mut left = all(&order[..cut]);
            let right = Sums::from_bytes(&all(&order[cut..]).to_bytes()).unwrap();
            assert!(left.agrees_with(&right));
            left.merge(right);
            assert_eq!(left.rounded(), once, "two parts {seed}");
        }
        let bytes = all(&forward).to_bytes();
        for cut in [0, 1, 8, 30, bytes.len() - 1] {
            assert_eq!(Sums::from_bytes(&bytes[..cut]), None);
        }
        let mut lying = bytes;
        lying[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(Sums::from_bytes(&lying), None);
    }

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
