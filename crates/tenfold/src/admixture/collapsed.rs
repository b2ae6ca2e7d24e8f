//! The hot loops of collapsed variational Bayes.
//!
//! The responsibility of topic t for a word of a document, seen c times, leaves out what it gave itself:
//!
//!   γ_t ∝ (N_dt − γ_t + α_t) · (N_wt − c γ_t + η) / (N_t + V η).
//!
//! The source also takes γ_t out of N_t, the tokens of a whole topic; that moves the factor by one part in N_t, and leaving it
//! in saves a division for every number.

use super::kernel::{LANES, RowsRef, TINY, fused, sum_of};
use std::ops::Range;
use tenfold_engine::linalg::{CountBlock, Kernel};

/// What a pass over the documents reads.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub block: &'a CountBlock,
    /// Rows of the block that are learned from.
    pub keep: &'a [bool],
    /// (N_wt + η) of the block's words.
    pub words: RowsRef<'a>,
    /// Padded.
    pub alpha: &'a [f32],
    /// 1 / (N_t + V η), zero in the padding.
    pub inverse: &'a [f32],
    /// 1 when the table holds what these documents gave it, 0 when it does not.
    pub own: f32,
    /// No factor of a word falls below it.
    pub eta: f32,
}

/// The responsibilities of consecutive documents, and N_dt = Σ_w c_w γ_wt, after some steps from responsibilities that
/// know only the word.
pub(super) struct Responsibilities<'a> {
    pub given: Given<'a>,
    /// The first row; as many follow as `counts` has room for.
    pub first: usize,
    pub steps: usize,
    /// γ of every entry of these rows.
    pub gammas: &'a mut [f32],
    /// N_dt.
    pub counts: &'a mut [f32],
}

impl Kernel for Responsibilities<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let given = self.given;
        let width = given.words.width;
        let (mut free, mut sum) = (self.gammas, vec![0.0f32; width]);
        // Without documents the first factor is the prior's, equal for all topics: 0 − 0 + 1.
        let (zeros, ones) = (vec![0.0f32; width], vec![1.0f32; width]);
        for (i, counts) in self.counts.chunks_exact_mut(width).enumerate() {
            let entries = given.block.row(self.first + i);
            let (gammas, rest) = free.split_at_mut(entries.len() * width);
            free = rest;
            gammas.fill(0.0);
            counts.fill(0.0);
            if !given.keep[self.first + i] {
                continue;
            }
            for step in 0..=self.steps {
                sum.fill(0.0);
                for (e, gamma) in entries.iter().zip(gammas.chunks_exact_mut(width)) {
                    let count = given.block.levels()[e.code as usize];
                    let word = &given.words.data[e.at as usize * width..][..width];
                    let total = if step == 0 {
                        respond(gamma, word, &zeros, &ones, (given.inverse, 0.0, given.eta))
                    } else {
                        let own = given.own * count;
                        respond(gamma, word, counts, given.alpha, (given.inverse, own, given.eta))
                    };
                    normalise_and_add(gamma, total, count, &mut sum);
                }
                counts.copy_from_slice(&sum);
            }
        }
    }
}

/// Adds c γ_t of the documents in `rows` to `out`, for some words.
pub(super) struct WordCounts<'a> {
    pub block: &'a CountBlock,
    /// The documents; `gammas` holds γ of their entries.
    pub rows: Range<usize>,
    pub gammas: &'a [f32],
    /// The first local word.
    pub first: usize,
    /// The words, in the corpus's numbering.
    pub ids: &'a [u32],
    /// The rows from that of the first word on.
    pub out: &'a mut [f32],
    pub width: usize,
}

impl Kernel for WordCounts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (width, mut before) = (self.width, 0);
        for i in self.rows {
            let entries = self.block.row(i);
            let from = entries.partition_point(|e| (e.at as usize) < self.first);
            let to = entries.partition_point(|e| (e.at as usize) < self.first + self.ids.len());
            let gammas = &self.gammas[(before + from) * width..(before + to) * width];
            for (e, gamma) in entries[from..to].iter().zip(gammas.chunks_exact(width)) {
                let place = (self.ids[e.at as usize - self.first] - self.ids[0]) as usize * width;
                add(self.block.levels()[e.code as usize], gamma, &mut self.out[place..place + width]);
            }
            before += entries.len();
        }
    }
}

/// One step of γ, before it is divided by its sum, which is returned.
#[inline(always)]
fn respond(
    gamma: &mut [f32],
    word: &[f32],
    counts: &[f32],
    alpha: &[f32],
    (inverse, own, eta): (&[f32], f32, f32),
) -> f32 {
    let (gamma, _) = gamma.as_chunks_mut::<LANES>();
    let n = gamma.len();
    let (word, counts) = (&word.as_chunks::<LANES>().0[..n], &counts.as_chunks::<LANES>().0[..n]);
    let (alpha, inverse) = (&alpha.as_chunks::<LANES>().0[..n], &inverse.as_chunks::<LANES>().0[..n]);
    for j in 0..n {
        let (mut g, w, c, a, v) = (gamma[j], word[j], counts[j], alpha[j], inverse[j]);
        for l in 0..LANES {
            // `max` cannot be one instruction, because it must treat NaN; a comparison can.
            let document = c[l] - g[l];
            let document = if document > 0.0 { document } else { 0.0 } + a[l];
            let others = fused(-own, g[l], w[l]);
            let others = if others > eta { others } else { eta };
            g[l] = document * others * v[l];
        }
        gamma[j] = g;
    }
    // A loop of its own: together with the products the compiler keeps to narrow registers.
    sum_of(gamma.as_flattened())
}

/// γ ← γ / total, sum += count · γ.
#[inline(always)]
fn normalise_and_add(gamma: &mut [f32], total: f32, count: f32, sum: &mut [f32]) {
    let inverse = 1.0 / (total + TINY);
    let (gamma, _) = gamma.as_chunks_mut::<LANES>();
    let sum = &mut sum.as_chunks_mut::<LANES>().0[..gamma.len()];
    for j in 0..gamma.len() {
        let (mut g, mut s) = (gamma[j], sum[j]);
        for l in 0..LANES {
            g[l] *= inverse;
            s[l] = fused(count, g[l], s[l]);
        }
        gamma[j] = g;
        sum[j] = s;
    }
}

/// sum += count · γ.
#[inline(always)]
fn add(count: f32, gamma: &[f32], sum: &mut [f32]) {
    let (gamma, _) = gamma.as_chunks::<LANES>();
    let sum = &mut sum.as_chunks_mut::<LANES>().0[..gamma.len()];
    for j in 0..gamma.len() {
        let (g, mut s) = (gamma[j], sum[j]);
        for l in 0..LANES {
            s[l] = fused(count, g[l], s[l]);
        }
        sum[j] = s;
    }
}
