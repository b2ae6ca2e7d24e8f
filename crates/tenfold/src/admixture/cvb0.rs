//! The polish `faithful`: collapsed variational Bayes of order zero, one block of documents at a time.

use super::alpha::{MOST_DOCUMENTS, fixed_point};
use super::collapsed::{Given, Responsibilities, WordCounts};
use super::infer::check;
use super::table::{Reading, Rows, Table, pad, pad_alpha};
use super::training::{Guard, HeldOut, Polished, Training};
use crate::error::Result;
use rayon::prelude::*;
use std::ops::Range;
use tenfold_engine::linalg::counts::{all_blocks, for_each_group};
use tenfold_engine::linalg::{CountBlock, Counts, Mat, vectorised};
use tenfold_engine::progress::Progress;

/// Documents whose responsibilities are held at once: with 200 words each and 100 topics they take 5 MB.
const DOCUMENTS_TOGETHER: usize = 64;
/// Documents that one task works on, and words that one task of an update owns.
const DOCUMENTS_A_TASK: usize = 16;
const WORDS_A_TASK: usize = 512;

/// x
#[derive(Debug, Clone, PartialEq)]
pub struct Cvb0 {
    /// Passes over the corpus.
    pub sweeps: usize,
    /// Steps of a document's responsibilities in each of them.
    pub inner: usize,
    /// Counts added to every word of every topic.
    pub eta: f64,
    /// Estimate the Dirichlet parameters after every sweep; otherwise they stay as given.
    pub learn_alpha: bool,
}

impl Default for Cvb0 {
    fn default() -> Self {
        Self { sweeps: 5, inner: 10, eta: 0.01, learn_alpha: true }
    }
}

impl Cvb0 {
    /// Polishes the topics `start` (k × words).
    ///
    /// # Errors
    /// Topics of another vocabulary, a prior of another k; what the counts or the listener say.
    pub fn run(
        &self,
        counts: &dyn Counts,
        held_out: HeldOut<'_>,
        start: &Mat,
        alpha: &[f64],
        progress: &dyn Progress,
    ) -> Result<Polished> {
        check(counts, start, alpha)?;
        let training = Training::gather(counts, held_out, progress)?;
        let mut table = Table::from_topics(start, training.tokens / start.rows().max(1) as f64);
        let mut sums = table.sums();
        let mut guard = Guard::new(&training, &Reading::plain(&Table::from_topics(start, 1.0)));
        let (mut learned, mut best) = (alpha.to_vec(), alpha.to_vec());
        progress.stage("polishing", (self.sweeps * counts.rows()) as u64);
        for sweep in 0..self.sweeps {
            // The start is no sum over these documents: nothing of theirs can be taken out of it.
            let own = if sweep == 0 { 0.0 } else { 1.0 };
            let mut pass = Sweep::new(self, &training, &table, &sums, &learned, own);
            for_each_group(counts, &all_blocks(counts), |_, blocks| {
                progress.check()?;
                for block in blocks {
                    pass.add(block);
                    progress.advance(block.rows() as u64);
                }
                Ok(())
            })?;
            let Sweep { next, sampled, .. } = pass;
            table = next;
            sums = table.sums();
            if self.learn_alpha {
                learned = fixed_point(&sampled, &learned, 3);
            }
            let before = guard.chosen();
            let go_on = guard.look(sweep as f64 + 1.0, &reading(&table, &sums, self.eta));
            if guard.chosen() != before || guard.blind() {
                best.clone_from(&learned);
            }
            if !go_on {
                break;
            }
        }
        let (topics, curve, chosen) = guard.finish();
        Ok(Polished { topics: topics.unwrap_or_else(|| start.clone()), alpha: best, curve, chosen })
    }
}

/// B_wt = (N_wt + η) / Σ_w (N_wt + η).
pub(super) fn reading<'a>(table: &'a Table, sums: &[f64], eta: f64) -> Reading<'a> {
    let (mut slope, mut offset) = (pad(table, 0.0), pad(table, 0.0));
    for t in 0..table.k {
        let total = sums[t] + eta * table.words() as f64;
        slope[t] = (1.0 / total) as f32;
        offset[t] = (eta / total) as f32;
    }
    Reading { table, slope, offset, share: 0.0, background: &[] }
}

/// One pass over the documents: reads the counts of the last one, gathers its own.
struct Sweep<'a> {
    settings: &'a Cvb0,
    training: &'a Training<'a>,
    table: &'a Table,
    alpha: Vec<f32>,
    /// 1 / Σ_w (N_wt + η), zero in the padding.
    inverse: Vec<f32>,
    own: f32,
    next: Table,
    /// Expected counts of topics in every `stride`-th document.
    sampled: Vec<f32>,
    stride: usize,
    seen: usize,
    rows: Rows,
    gammas: Vec<f32>,
    counts: Vec<f32>,
}

impl<'a> Sweep<'a> {
    fn new(
        settings: &'a Cvb0,
        training: &'a Training<'a>,
        table: &'a Table,
        sums: &[f64],
        alpha: &[f64],
        own: f32,
    ) -> Self {
        let inverse = reading(table, sums, settings.eta).slope;
        let next = Table::zeros(table.words(), table.k);
        Self {
            settings,
            training,
            table,
            alpha: pad_alpha(alpha),
            inverse,
            own,
            next,
            sampled: Vec::new(),
            stride: training.counts.rows().div_ceil(MOST_DOCUMENTS).max(1),
            seen: 0,
            rows: Rows::default(),
            gammas: Vec::new(),
            counts: Vec::new(),
        }
    }

    fn add(&mut self, block: &CountBlock) {
        let keep = self.training.rows(block);
        let (width, k) = (self.table.width, self.table.k);
        let plain = Reading { offset: pad(self.table, self.settings.eta as f32), ..Reading::plain(self.table) };
        self.rows.gather(&plain, block.words());
        let given = Given {
            block,
            keep: &keep,
            words: self.rows.as_ref(),
            alpha: &self.alpha,
            inverse: &self.inverse,
            own: self.own,
            eta: self.settings.eta as f32,
        };
        for first in (0..block.rows()).step_by(DOCUMENTS_TOGETHER) {
            let rows = first..(first + DOCUMENTS_TOGETHER).min(block.rows());
            respond(given, rows.clone(), self.settings.inner, (&mut self.gammas, &mut self.counts));
            for (counts, _) in self.counts.chunks_exact(width).zip(&keep[rows.clone()]).filter(|(_, keep)| **keep) {
                if self.seen.is_multiple_of(self.stride) {
                    self.sampled.extend_from_slice(&counts[..k]);
                }
                self.seen += 1;
            }
            let gammas = self.gammas.as_slice();
            self.next.split(block.words(), WORDS_A_TASK).into_par_iter().for_each(|(first, ids, out)| {
                vectorised(WordCounts { block, rows: rows.clone(), gammas, first, ids, out, width });
            });
        }
    }
}

/// Responsibilities and topic counts of some documents, in tasks of a few.
fn respond(
    given: Given<'_>,
    rows: Range<usize>,
    steps: usize,
    (gammas, counts): (&mut Vec<f32>, &mut Vec<f32>),
) {
    let width = given.words.width;
    let entries = |rows: Range<usize>| rows.map(|i| given.block.row(i).len()).sum::<usize>();
    gammas.resize(entries(rows.clone()) * width, 0.0);
    counts.resize(rows.len() * width, 0.0);
    let mut tasks = Vec::new();
    let mut free = gammas.as_mut_slice();
    for (task, counts) in counts.chunks_mut(DOCUMENTS_A_TASK * width).enumerate() {
        let first = rows.start + task * DOCUMENTS_A_TASK;
        let (own, rest) = free.split_at_mut(entries(first..first + counts.len() / width) * width);
        tasks.push(Responsibilities { given, first, steps, gammas: own, counts });
        free = rest;
    }
    tasks.into_par_iter().for_each(vectorised);
}
