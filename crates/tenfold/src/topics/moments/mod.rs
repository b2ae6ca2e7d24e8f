//! The moments of latent Dirichlet allocation, gathered from blocks of counts.
//!
//! For a document with counts c and length ℓ the unbiased estimates of E[x₁⊗x₂] and E[x₁⊗x₂⊗x₃] of its words are
//!
//! pairs = (c cᵀ − diag c) / (ℓ(ℓ−1)),
//! triples = [c⊗c⊗c − Σ_ij c_i c_j (e_i e_i e_j + e_i e_j e_i + e_j e_i e_i) + 2 Σ_i c_i e_i⊗³] / (ℓ(ℓ−1)(ℓ−2)).
//!
//! (The thesis prints them without the normalisation.) Over documents they are averaged with weights p, and
//!
//! M2 = E[pairs] − α0/(α0+1) M1 M1ᵀ = Σ_i α_i/(α0(α0+1)) μ_i μ_iᵀ,
//! M3 = E[triples] − α0/(α0+2) sym(E[pairs]⊗M1) + 2α0²/((α0+1)(α0+2)) M1⊗³ = Σ_i 2α_i/(α0(α0+1)(α0+2)) μ_i⊗³.
//!
//! Three choices decide between poor and excellent on real text: counts are damped to ⌈√c⌉ (words are bursty),
//! documents weigh min(ℓ, 3·median), and words are scaled by (M1 + 0.1/d)^(−1/4) before whitening.

mod project;
mod second;
#[cfg(test)]
mod tests;
mod third;

pub(super) use project::{Projected, project};
pub(super) use second::SecondMoment;
pub(super) use third::{Whitened, whiten, whitened_part};

use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::counts::for_each_group;
use tenfold_engine::linalg::{CountBlock, Counts};

/// How a count enters the moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damping {
    /// As ⌈√c⌉: on real text raw counts spend components on single bursty documents.
    Root,
    /// As it is: unbiased where documents really are drawn from the model.
    None,
}

impl Damping {
    pub fn of(self, count: f32) -> f32 {
        match self {
            Self::Root => count.sqrt().ceil(),
            Self::None => count,
        }
    }

    /// The levels of a block as they enter the moments.
    pub fn levels(self, block: &CountBlock) -> Vec<f32> {
        block.levels().iter().map(|&l| self.of(l)).collect()
    }
}

/// Weights of the documents of some blocks, and sums over them for every word.
pub(super) struct Weighted<'a> {
    pub counts: &'a dyn Counts,
    pub damping: Damping,
    /// The blocks that take part.
    pub chosen: Vec<usize>,
    /// Damped length of every row of every chosen block, of words that take part; 0 for a document that does not.
    pub lengths: Vec<Vec<f32>>,
    pub cap: f64,
    /// Σ p.
    pub total: f64,
    /// Documents that take part.
    pub documents: usize,
    /// Σ_t p_t c_tw/ℓ_t, and with /(ℓ(ℓ−1)) and /(ℓ(ℓ−1)(ℓ−2)).
    pub sums: [Vec<f64>; 3],
}

/// A document that takes part has at least three tokens: fewer carry no third moment.
const SHORTEST: f32 = 3.0;

/// Blocks from which halves by blocks are alike: a last block that is not full then makes them differ by a few per cent.
const MANY_BLOCKS: usize = 32;

impl<'a> Weighted<'a> {
    /// Lengths of the documents of `chosen` blocks over the `active` words; `left_out` documents count as empty.
    pub fn new(
        counts: &'a dyn Counts,
        damping: Damping,
        chosen: Vec<usize>,
        active: &[bool],
        left_out: &(dyn Fn(usize) -> bool + Sync),
    ) -> Result<Self> {
        let mut lengths = Vec::with_capacity(chosen.len());
        for_each_group(counts, &chosen, |_, blocks| {
            lengths.par_extend(blocks.par_iter().map(|block| row_lengths(block, damping, active, left_out)));
            Ok(())
        })?;
        let documents = lengths.iter().flatten().filter(|l| **l >= SHORTEST).count();
        Ok(Self {
            counts,
            damping,
            chosen,
            lengths,
            cap: f64::INFINITY,
            total: 0.0,
            documents,
            sums: Default::default(),
        })
    }

    /// The documents that `wanted` picks by the place of their block among the chosen and their row in it, weighed as
    /// here. Documents lie in shuffled order, so that any rule by places gives a random part.
    pub fn part(&self, wanted: impl Fn(usize, usize) -> bool) -> Result<Self> {
        let (mut chosen, mut lengths) = (Vec::new(), Vec::new());
        for (i, rows) in self.lengths.iter().enumerate() {
            let own: Vec<f32> =
                rows.iter().enumerate().map(|(r, l)| if wanted(i, r) { *l } else { 0.0 }).collect();
            if own.iter().any(|l| *l > 0.0) {
                chosen.push(self.chosen[i]);
                lengths.push(own);
            }
        }
        let documents = lengths.iter().flatten().filter(|l| **l >= SHORTEST).count();
        let (counts, damping, cap) = (self.counts, self.damping, self.cap);
        let part =
            Self { counts, damping, chosen, lengths, cap, total: 0.0, documents, sums: Default::default() };
        part.weigh(cap)
    }

    /// One half of the documents, 0 or 1: every other block where there are many, so that none is read twice, else every
    /// other document.
    pub fn half(&self, which: usize) -> Result<Self> {
        let by_block = self.chosen.len() >= MANY_BLOCKS;
        self.part(|block, row| if by_block { block % 2 == which } else { row % 2 == which })
    }

    /// Three times the median length: a few long bursty documents must not rule.
    pub fn usual_cap(&self) -> f64 {
        let mut all: Vec<f32> = self.lengths.iter().flatten().copied().filter(|l| *l >= SHORTEST).collect();
        if all.is_empty() {
            return f64::INFINITY;
        }
        let middle = all.len() / 2;
        3.0 * f64::from(*all.select_nth_unstable_by(middle, f32::total_cmp).1)
    }

    /// Fixes the largest weight and sums over documents.
    pub fn weigh(mut self, cap: f64) -> Result<Self> {
        self.cap = cap;
        self.total = self.lengths.iter().flatten().map(|&l| self.weight(l)).sum();
        let words = self.counts.cols();
        let mut sums = vec![[0.0f64; 3]; words];
        for_each_group(self.counts, &self.chosen, |range, blocks| {
            let weights: Vec<Vec<[f64; 3]>> =
                range.map(|b| self.lengths[b].iter().map(|&l| self.divided(l)).collect()).collect();
            let task = 4096;
            sums.par_chunks_mut(task).enumerate().for_each(|(t, out)| {
                for (block, weights) in blocks.iter().zip(&weights) {
                    add_columns(block, self.damping, weights, (t * task, out));
                }
            });
            Ok(())
        })?;
        self.sums = [0, 1, 2].map(|i| sums.iter().map(|s| s[i]).collect());
        Ok(self)
    }

    fn weight(&self, length: f32) -> f64 {
        if length >= SHORTEST { f64::from(length).min(self.cap) } else { 0.0 }
    }

    /// p/ℓ, p/(ℓ(ℓ−1)) and p/(ℓ(ℓ−1)(ℓ−2)) of a document of this length.
    pub fn divided(&self, length: f32) -> [f64; 3] {
        let (p, l) = (self.weight(length), f64::from(length));
        if p == 0.0 {
            return [0.0; 3];
        }
        [p / l, p / (l * (l - 1.0)), p / (l * (l - 1.0) * (l - 2.0))]
    }

    /// M1, the average word frequencies, of all words.
    pub fn first(&self) -> Vec<f64> {
        self.sums[0].iter().map(|s| s / self.total.max(f64::MIN_POSITIVE)).collect()
    }

    /// The scale of every active word, (M1 + 0.1/d)^(−1/4); 0 for the others.
    pub fn usual_scale(&self, active: &[bool]) -> Vec<f64> {
        let d = active.iter().filter(|a| **a).count().max(1) as f64;
        let scale = |m: f64| (m + 0.1 / d).powf(-0.25);
        self.first().iter().zip(active).map(|(&m, &a)| if a { scale(m) } else { 0.0 }).collect()
    }
}

fn row_lengths(
    block: &CountBlock,
    damping: Damping,
    active: &[bool],
    left_out: &dyn Fn(usize) -> bool,
) -> Vec<f32> {
    let damped = damping.levels(block);
    let active: Vec<bool> = block.words().iter().map(|&w| active[w as usize]).collect();
    (0..block.rows())
        .map(|i| match left_out(block.documents()[i] as usize) {
            true => 0.0,
            false => {
                let words = block.row(i).iter().filter(|e| active[e.at as usize]);
                words.map(|e| damped[e.code as usize]).sum()
            }
        })
        .collect()
}

/// out[w] += Σ_t weights_t c_tw for the words from `first` on.
fn add_columns(
    block: &CountBlock,
    damping: Damping,
    weights: &[[f64; 3]],
    (first, out): (usize, &mut [[f64; 3]]),
) {
    let damped = damping.levels(block);
    let local = |word: usize| block.words().partition_point(|&w| (w as usize) < word);
    for at in local(first)..local(first + out.len()) {
        let mut sum = [0.0; 3];
        for e in block.column(at) {
            let (c, w) = (f64::from(damped[e.code as usize]), weights[e.at as usize]);
            (0..3).for_each(|i| sum[i] += c * w[i]);
        }
        let total = &mut out[block.words()[at] as usize - first];
        (0..3).for_each(|i| total[i] += sum[i]);
    }
}
