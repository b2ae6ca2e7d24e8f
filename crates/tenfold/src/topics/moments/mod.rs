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

mod offload;
mod project;
mod second;
#[cfg(test)]
mod tests;
mod third;
mod weigh;

pub(super) use offload::{Documents, Offloaded};
pub(super) use project::{Gathering, Projected, project};
pub(super) use second::{Product, SecondMoment};
pub(super) use third::{Whitened, whiten, whitened_part};
pub(super) use weigh::{Lengths, Tally, WeighedSums, Weighing};

use crate::admixture::HeldOut;
use crate::error::Result;
use std::borrow::Cow;
use tenfold_engine::linalg::counts::{all_blocks, sum};
use tenfold_engine::linalg::{CountBlock, Counts};
use tenfold_engine::progress::Progress;

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
    pub weighing: Weighing,
    /// The blocks that take part.
    pub chosen: Vec<usize>,
    /// Σ p.
    pub total: f64,
    /// Documents that take part.
    pub documents: usize,
    /// Σ_t p_t c_tw/ℓ_t, and with /(ℓ(ℓ−1)) and /(ℓ(ℓ−1)(ℓ−2)).
    pub sums: [Vec<f64>; 3],
    lengths: Tally,
}

/// Blocks from which halves by blocks are alike: a last block that is not full then makes them differ by a few per cent.
const MANY_BLOCKS: usize = 32;

impl<'a> Weighted<'a> {
    /// Lengths of the documents over the `active` words; those of `held_out` count as empty.
    pub fn new(
        counts: &'a dyn Counts,
        damping: Damping,
        active: &[bool],
        held_out: HeldOut,
        progress: &dyn Progress,
    ) -> Result<Self> {
        Self::of(counts, Weighing::new(damping, active, held_out), all_blocks(counts), progress)
    }

    fn of(
        counts: &'a dyn Counts,
        mut weighing: Weighing,
        chosen: Vec<usize>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let lengths = weighing.measure(counts, &chosen, progress)?;
        let documents = lengths.documents();
        Ok(Self { counts, weighing, chosen, total: 0.0, documents, sums: Default::default(), lengths })
    }

    /// The documents of the blocks that `wanted` picks, weighed as here. Documents lie in shuffled order, so that any rule
    /// by places gives a random part.
    pub fn part(&self, wanted: impl Fn(usize) -> bool, progress: &dyn Progress) -> Result<Self> {
        let chosen = self.chosen.iter().copied().filter(|&b| wanted(b)).collect();
        let part = Self::of(self.counts, self.weighing.clone(), chosen, progress)?;
        part.weigh(self.weighing.cap, progress)
    }

    /// One half of the documents, 0 or 1: every other block where there are many, so that none is read twice, else every
    /// other document.
    pub fn half(&self, which: usize, progress: &dyn Progress) -> Result<Self> {
        if self.chosen.len() >= MANY_BLOCKS {
            return self.part(|b| b % 2 == which, progress);
        }
        let weighing = self.weighing.half(which);
        Self::of(self.counts, weighing, self.chosen.clone(), progress)?.weigh(self.weighing.cap, progress)
    }

    /// Three times the median length: a few long bursty documents must not rule.
    pub fn usual_cap(&self) -> f64 {
        self.lengths.median().map_or(f64::INFINITY, |median| 3.0 * f64::from(median))
    }

    /// Fixes the largest weight and sums over documents.
    pub fn weigh(mut self, cap: f64, progress: &dyn Progress) -> Result<Self> {
        self.weighing.cap = cap;
        let pass = WeighedSums { weighing: Cow::Borrowed(&self.weighing) };
        let sums = sum(&pass, self.counts, &self.chosen, progress)?;
        let [total, all] = sums.try_into().expect("two arrays");
        self.total = total[0];
        self.sums = [0, 1, 2].map(|i| all[i..].iter().step_by(3).copied().collect());
        Ok(self)
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
