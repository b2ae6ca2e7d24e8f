//! The polish `predict`: stepwise EM on the raw counts, one block of documents at a time.

use super::alpha::estimate_alpha;
use super::infer::{Inference, check};
use super::kernel::{RowsRef, weigh};
use super::table::{Reading, Rows, Table, pad, pad_alpha};
use super::training::{Guard, HeldOut, Polished, Training};
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::parallel::add_assign;
use tenfold_engine::linalg::{CountBlock, Counts, Kernel, Mat, random, vectorised};
use tenfold_engine::progress::Progress;

/// Words that one task of an update owns.
const WORDS_A_TASK: usize = 512;

/// Stepwise EM. A block of documents gives the expected counts of words in topics, N_block, and
///
///   N ← (1 − ρ) N + ρ · (tokens / tokens of the block) · N_block,   B = (N + η) / Σ_w (N + η).
///
/// # Complexity
/// 4·entries·k operations for each inner step and for the update; two tables of words × k numbers of four bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Stepwise {
    /// Passes over the corpus.
    pub epochs: usize,
    /// Steps of a document's mixture in the first epoch.
    pub inner: usize,
    /// Steps of a document's mixture afterwards, when the topics have settled.
    pub later_inner: usize,
    /// Counts added to every word of every topic.
    pub eta: f64,
    /// Tokens that the start already stands for. When there are any, every token weighs the same, old or new, and the
    /// start is not forgotten; 0 takes the start for a first guess.
    pub before: f64,
    /// Gives the order of the blocks.
    pub seed: u64,
}

impl Default for Stepwise {
    fn default() -> Self {
        Self { epochs: 2, inner: 5, later_inner: 3, eta: 0.01, before: 0.0, seed: 0 }
    }
}

impl Stepwise {
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
        let mut state = Expected::new(start, training.tokens, self.eta);
        let mut guard = Guard::new(&training, &state.start());
        let mut schedule = Schedule::new(counts.rows(), self.before);
        let prior = pad_alpha(alpha);
        progress.stage("polishing", (self.epochs * counts.blocks()) as u64);
        for epoch in 0..self.epochs {
            let steps = if epoch == 0 { self.inner } else { self.later_inner };
            let order = random::permutation(counts.blocks(), &mut random::rng(self.seed, 700 + epoch as u64));
            let mut next = order.first().map(|&b| counts.block(b)).transpose()?;
            for i in 0..order.len() {
                progress.check()?;
                let block = next.take().expect("every block was asked for");
                let coming = order.get(i + 1);
                // The next block comes from disk while this one is worked on.
                let ((), read) = rayon::join(
                    || state.step(&block, &training, &mut schedule, (&prior, steps)),
                    || coming.map(|&b| counts.block(b)).transpose(),
                );
                next = read?;
                progress.advance(1);
            }
            if !guard.look(epoch as f64 + 1.0, &state.reading()) {
                break;
            }
        }
        let (topics, curve, chosen) = guard.finish();
        Ok(match topics {
            None => Polished { topics: start.clone(), alpha: alpha.to_vec(), curve, chosen },
            Some(topics) => {
                let alpha = estimate_alpha(counts, &topics, alpha, progress)?;
                Polished { topics, alpha, curve, chosen }
            }
        })
    }
}

/// How fast the past is forgotten.
struct Schedule {
    steps: f64,
    /// Tokens that the start and the blocks so far stand for, when all weigh the same.
    before: f64,
}

impl Schedule {
    fn new(_documents: usize, before: f64) -> Self {
        Self { steps: 0.0, before }
    }

    /// 1 − ρ for a block of this many documents: a block counts as merged steps of 64 documents.
    fn keep(&mut self, documents: usize, tokens: f64) -> f64 {
        if self.before > 0.0 {
            let keep = self.before / (self.before + tokens);
            self.before += tokens;
            return keep;
        }
        let merged = (documents as f64 / 64.0).round().max(1.0) as usize;
        let mut keep = 1.0;
        for _ in 0..merged {
            keep *= 1.0 - (10.0 + self.steps).powf(-0.6);
            self.steps += 1.0;
        }
        keep
    }
}

/// Expected counts of words in topics: `scale` · `table`, so that forgetting is one multiplication.
struct Expected {
    table: Table,
    scale: f64,
    /// Sums of the table over words, padded.
    sums: Vec<f64>,
    eta: f64,
    tokens: f64,
    rows: Rows,
    theta: Vec<f32>,
}

impl Expected {
    fn new(start: &Mat, tokens: f64, eta: f64) -> Self {
        let scale = tokens.max(1.0) / start.rows().max(1) as f64;
        let table = Table::from_topics(start, 1.0);
        let sums = table.sums();
        Self { table, scale, sums, eta, tokens, rows: Rows::default(), theta: Vec::new() }
    }

    /// The start as it was given, before anything is added to it.
    fn start(&self) -> Reading<'_> {
        Reading::plain(&self.table)
    }

    /// B_wt = (N_wt + η) / Σ_w (N_wt + η).
    fn reading(&self) -> Reading<'_> {
        let (mut slope, mut offset) = (pad(&self.table, 0.0), pad(&self.table, 0.0));
        for t in 0..self.table.k {
            let total = self.scale * self.sums[t] + self.eta * self.table.words() as f64;
            slope[t] = (self.scale / total) as f32;
            offset[t] = (self.eta / total) as f32;
        }
        Reading { table: &self.table, slope, offset, share: 0.0, background: &[] }
    }

    fn step(
        &mut self,
        block: &CountBlock,
        training: &Training<'_>,
        schedule: &mut Schedule,
        (alpha, steps): (&[f32], usize),
    ) {
        let keep = training.rows(block);
        let tokens: f64 = (0..block.rows()).filter(|&i| keep[i]).map(|i| length(block, i)).sum();
        if tokens == 0.0 {
            return;
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.gather(&self.reading(), block.words());
        self.theta.resize(block.rows() * self.table.width, 0.0);
        Inference { steps, tolerance: 0.0 }.infer(block, &keep, rows.as_ref(), alpha, &mut self.theta);
        let forgotten = schedule.keep(keep.iter().filter(|k| **k).count(), tokens);
        self.scale *= forgotten;
        self.update(block, &rows, (1.0 - forgotten) * self.tokens / tokens / self.scale);
        self.rows = rows;
        // Far from the smallest f32, and the table's numbers grow as the scale falls.
        if self.scale < 1e-12 * self.tokens {
            self.rescale();
        }
    }

    /// Adds `weight` · the block's expected counts to the table.
    fn update(&mut self, block: &CountBlock, rows: &Rows, weight: f64) {
        let width = self.table.width;
        let mixtures = RowsRef { width, data: &self.theta, inverse: &[] };
        let tasks = self.table.split(block.words(), WORDS_A_TASK);
        let parts: Vec<Vec<f64>> = tasks
            .into_par_iter()
            .map(|(first, words, out)| {
                vectorised(Update { block, first, words, rows, mixtures, weight: weight as f32, out })
            })
            .collect();
        parts.iter().for_each(|part| add_assign(&mut self.sums, part));
    }

    fn rescale(&mut self) {
        let factor = self.scale / self.tokens;
        self.table.data.par_iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
        self.sums.iter_mut().for_each(|x| *x *= factor);
        self.scale = self.tokens;
    }
}

fn length(block: &CountBlock, row: usize) -> f64 {
    block.row(row).iter().map(|e| f64::from(block.levels()[e.code as usize])).sum()
}

/// Expected counts of some words: out_w += weight · B_w ∘ Σ_d c_dw θ_d / (θ_d · B_w); returns their sums over words.
struct Update<'a> {
    block: &'a CountBlock,
    first: usize,
    words: &'a [u32],
    rows: &'a Rows,
    mixtures: RowsRef<'a>,
    weight: f32,
    out: &'a mut [f32],
}

impl Kernel for Update<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Vec<f64> {
        let width = self.mixtures.width;
        let (mut sum, mut total) = (vec![0.0f32; width], vec![0.0f64; width]);
        for (i, &word) in self.words.iter().enumerate() {
            let local = self.first + i;
            let row = &self.rows.data[local * width..][..width];
            sum.fill(0.0);
            weigh(row, self.block.column(local), self.block.levels(), self.mixtures, &mut sum);
            let out = &mut self.out[(word - self.words[0]) as usize * width..][..width];
            for j in 0..width {
                let added = self.weight * (sum[j] * row[j]);
                out[j] += added;
                total[j] += f64::from(added);
            }
        }
        total
    }
}
