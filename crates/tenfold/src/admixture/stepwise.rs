//! The polish `predict`: stepwise EM on the raw counts, one block of documents at a time.

use super::infer::Inference;
use super::kernel::{RowsRef, weigh};
use super::table::{Reading, Rows, Table, pad_alpha, smoothed};
use super::training::{Guard, HeldOut, Look, Polished, Start, Training};
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::parallel::add_assign;
use tenfold_engine::linalg::{CountBlock, Counts, Kernel, Mat, random, vectorised};
use tenfold_engine::progress::Progress;

/// Words that one task of an update owns.
const WORDS_A_TASK: usize = 512;

/// How much the start weighs, in shares of the corpus: it is forgotten as if so many documents had been seen before.
/// The first was best on real text, where a start is far from the best (KOS), and on drawn corpora whose start is poor.
/// Where it makes held-out documents less probable at once, the start is already good, and the second is tried.
const START_WEIGHTS: [f64; 2] = [0.1, 1.0];

/// Corpora with more documents are large: they are looked at four times an epoch.
const SMALL: usize = 32_768;

/// Stepwise EM. A block of documents gives the expected counts of words in topics, N_block, and
///
///   N ← (1 − ρ) N + ρ · (tokens / tokens of the block) · N_block,   B = (N + η) / Σ_w (N + η).
///
/// After n of the corpus's documents, a step over m more has ρ = m / (w·documents + n), where w is the weight of the start,
/// but never less than m / documents: the window grows until it covers the corpus. A window that
/// forgets sooner, such as (10 + t)^−0.6 in steps of 64 documents, made held-out text less probable on a large drawn corpus.
/// A start that stands for documents (`before`) is a sum of tokens like theirs, and so tokens are what the window counts.
///
/// # Complexity
/// 4·entries·k operations for each inner step and for the update; two tables of words × k numbers of four bytes.
///
/// # Example
/// ```
/// use tenfold::admixture::Stepwise;
/// let polish = Stepwise { seed: 7, ..Stepwise::for_documents(3_430) };
/// assert_eq!((polish.epochs, polish.inner), (2, 6));
/// ```
///
/// # References
/// Cappé and Moulines 2009, equations 12 and 13; the mixtures by Asuncion et al. 2009, equation 10.
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
    /// Tokens of every topic that the start already stands for. When there are any, each weighs as much as a token of the
    /// corpus and none is forgotten; empty when the start is a first guess.
    pub before: Vec<f64>,
    /// Gives the order of the blocks.
    pub seed: u64,
}

impl Stepwise {
    /// The defaults for a corpus of so many documents. On KOS five epochs of eight steps gain another half per cent and take three
    /// times as long.
    pub fn for_documents(documents: usize) -> Self {
        let (epochs, inner, later_inner) = if documents <= SMALL { (2, 6, 4) } else { (2, 5, 3) };
        Self { epochs, inner, later_inner, eta: 0.01, before: Vec::new(), seed: 0 }
    }

    /// Polishes the topics `start` (k × words). The best model by held-out perplexity is returned, the start included.
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
        let begin = Start { topics: start, before: &self.before, eta: self.eta };
        let training = begin.training(counts, held_out, alpha, progress)?;
        if training.tokens == 0.0 {
            return Ok(Polished::unchanged(start, alpha));
        }
        let mut state = Expected::new(&begin, training.tokens);
        let mut guard = Guard::new(&training, &begin.reading(&state.table, training.tokens));
        let windows = match begin.continues() {
            false => START_WEIGHTS.map(|weight| Window::new(counts.rows(), weight)).to_vec(),
            true => vec![Window::after(self.before.iter().sum(), training.tokens)],
        };
        for (attempt, window) in windows.into_iter().enumerate() {
            if attempt > 0 {
                state = Expected::new(&begin, training.tokens);
            }
            progress.stage("polishing", (self.epochs * counts.blocks()) as u64);
            let pass = Pass { settings: self, training: &training, alpha: &pad_alpha(alpha), progress };
            if pass.run(&mut state, window, &mut guard)? {
                break;
            }
        }
        let (topics, curve, chosen) = guard.finish();
        let topics = topics.unwrap_or_else(|| start.clone());
        Ok(Polished { topics, alpha: alpha.to_vec(), curve, chosen })
    }
}

/// What the passes over the corpus read.
struct Pass<'a> {
    settings: &'a Stepwise,
    training: &'a Training<'a>,
    alpha: &'a [f32],
    progress: &'a dyn Progress,
}

impl Pass<'_> {
    /// All epochs, or fewer when the guard ends them; false when already the first look was worse than the start.
    fn run(&self, state: &mut Expected, mut window: Window, guard: &mut Guard<'_>) -> Result<bool> {
        let &Stepwise { epochs, inner, later_inner, seed, .. } = self.settings;
        let counts = self.training.counts;
        let looks = if counts.rows() > SMALL { 4 } else { 1 };
        for epoch in 0..epochs {
            let steps = if epoch == 0 { inner } else { later_inner };
            let order = random::permutation(counts.blocks(), &mut random::rng(seed, 700 + epoch as u64));
            let mut next = order.first().map(|&b| counts.block(b)).transpose()?;
            for i in 0..order.len() {
                self.progress.check()?;
                let block = next.take().expect("every block is asked for before its turn");
                // The next block comes from disk while this one is worked on.
                let ((), read) = rayon::join(
                    || state.step(&block, self.training, &mut window, (self.alpha, steps)),
                    || order.get(i + 1).map(|&b| counts.block(b)).transpose(),
                );
                next = read?;
                self.progress.advance(1);
                let done = (i + 1) * looks;
                if done / order.len() > i * looks / order.len() {
                    let first = epoch == 0 && done / order.len() == 1;
                    let verdict =
                        guard.look(epoch as f64 + (i + 1) as f64 / order.len() as f64, &state.reading());
                    match verdict {
                        Look::Worse if first => return Ok(false),
                        Look::WorseAgain => return Ok(true),
                        _ => {}
                    }
                }
            }
        }
        Ok(true)
    }
}

/// How much of the past a step keeps.
#[derive(Clone)]
struct Window {
    /// Documents or tokens that count as seen, the start's included.
    seen: f64,
    /// No more than this many are remembered.
    whole: f64,
    by_tokens: bool,
}

impl Window {
    fn new(documents: usize, weight: f64) -> Self {
        Self { seen: weight * documents as f64, whole: documents as f64, by_tokens: false }
    }

    /// A window that forgets neither the tokens before nor those to come.
    fn after(before: f64, tokens: f64) -> Self {
        Self { seen: before, whole: before + tokens, by_tokens: true }
    }

    /// 1 − ρ for a step over so many documents with so many tokens.
    fn keep(&mut self, documents: usize, tokens: f64) -> f64 {
        let before = self.seen.min(self.whole);
        self.seen = before + if self.by_tokens { tokens } else { documents as f64 };
        before / self.seen
    }
}

/// Expected counts of words in topics: `scale` · `table`, so that forgetting is one multiplication.
struct Expected {
    table: Table,
    scale: f64,
    /// Sums of the table over words, padded.
    sums: Vec<f64>,
    eta: f64,
    /// Tokens that all counts together stand for.
    tokens: f64,
    rows: Rows,
    theta: Vec<f32>,
}

impl Expected {
    /// The counts of the start, blown up to all tokens: as the window takes in those of the corpus, their part shrinks
    /// to what it was.
    fn new(start: &Start<'_>, tokens: f64) -> Self {
        let table = start.counts(tokens);
        let sums = table.sums();
        let before: f64 = start.before.iter().sum();
        let scale = if start.continues() { (before + tokens) / before } else { 1.0 };
        let tokens = before + tokens;
        Self { table, scale, sums, eta: start.eta, tokens, rows: Rows::default(), theta: Vec::new() }
    }

    fn reading(&self) -> Reading<'_> {
        smoothed(&self.table, self.scale, &self.sums, self.eta)
    }

    fn step(
        &mut self,
        block: &CountBlock,
        training: &Training<'_>,
        window: &mut Window,
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
        let kept = window.keep(keep.iter().filter(|k| **k).count(), tokens);
        self.scale *= kept;
        self.update(block, &rows, (1.0 - kept) * self.tokens / tokens / self.scale);
        self.rows = rows;
        // Far from the smallest f32, and the table's numbers grow as the scale falls.
        if self.scale < 1e-12 {
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
        let factor = self.scale;
        self.table.data.par_iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
        self.sums.iter_mut().for_each(|x| *x *= factor);
        self.scale = 1.0;
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

#[cfg(test)]
mod tests;
