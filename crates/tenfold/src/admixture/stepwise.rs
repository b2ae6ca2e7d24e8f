//! The polish `predict`: stepwise EM on the raw counts, some blocks of documents at a time.

mod step;

pub(crate) use step::Step;

use super::aside::HeldOut;
use super::table::{Reading, Table, pad_alpha, smoothed};
use super::training::{Guard, Look, Polished, Seen, Start, Training};
use crate::checkpoint::{Keep, Rounds, keep};
use crate::error::Result;
use rayon::prelude::*;
use std::borrow::Cow;
use tenfold_engine::linalg::counts::sum;
use tenfold_engine::linalg::{Counts, Mat, random};
use tenfold_engine::progress::Progress;

/// Words that one task of an update owns.
const WORDS_A_TASK: usize = 512;

/// Most steps of an epoch. A step takes some blocks at once where there are more, so that machines that share the documents
/// need not talk after each of them.
const MOST_STEPS: usize = 32;

/// How much the start weighs, in shares of the corpus: it is forgotten as if so many documents had been seen before.
/// The first was best on real text, where a start is far from the best (KOS), and on drawn corpora whose start is poor.
/// Where it makes held-out documents less probable at once, the start is already good, and the second is tried.
const START_WEIGHTS: [f64; 2] = [0.1, 1.0];

/// Corpora with more documents are large: they are looked at four times an epoch.
const SMALL: usize = 32_768;

/// Stepwise EM. A few blocks of documents give the expected counts of words in topics, N_step, and
///
///   N ← (1 − ρ) N + ρ · (tokens / tokens of the step) · N_step,   B = (N + η) / Σ_w (N + η).
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
        held_out: HeldOut,
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
        let mut rounds = Rounds::new(progress, "stepwise");
        let mut from = At::default();
        let mut guard = match rounds.taken::<Stand>().filter(|stand| stand.fits(&state)) {
            Some(Stand { at, table, scale, sums, watched }) => {
                from = at;
                state = Expected { table, scale, sums, ..state };
                Guard::resumed(&training, watched)
            }
            None => Guard::new(&training, &begin.reading(&state.table, training.tokens)),
        };
        let windows = match begin.continues() {
            false => START_WEIGHTS.map(|weight| Window::new(counts.rows(), weight)).to_vec(),
            true => vec![Window::after(self.before.iter().sum(), training.tokens)],
        };
        let first = from.attempt;
        for (attempt, window) in windows.into_iter().enumerate().skip(first) {
            if attempt > first {
                state = Expected::new(&begin, training.tokens);
                from = At { attempt, ..At::default() };
            }
            progress.stage("polishing", (self.epochs * counts.blocks()) as u64);
            let pass = Epochs { settings: self, training: &training, alpha: &pad_alpha(alpha), progress };
            if pass.run(&mut state, window, &mut guard, (&from, &mut rounds))? {
                break;
            }
        }
        let (topics, curve, chosen) = guard.finish();
        let topics = topics.unwrap_or_else(|| start.clone());
        Ok(Polished { topics, alpha: alpha.to_vec(), curve, chosen })
    }
}

/// What the passes over the corpus read.
struct Epochs<'a> {
    settings: &'a Stepwise,
    training: &'a Training<'a>,
    alpha: &'a [f32],
    progress: &'a dyn Progress,
}

impl Epochs<'_> {
    /// All epochs, or fewer when the guard ends them; false when already the first look was worse than the start.
    fn run(
        &self,
        state: &mut Expected,
        mut window: Window,
        guard: &mut Guard<'_>,
        (from, rounds): (&At, &mut Rounds<'_>),
    ) -> Result<bool> {
        let &Stepwise { epochs, inner, later_inner, seed, .. } = self.settings;
        let counts = self.training.counts;
        let looks = if counts.rows() > SMALL { 4 } else { 1 };
        window.seen = from.seen.unwrap_or(window.seen);
        for epoch in from.epoch..epochs {
            let inner = if epoch == 0 { inner } else { later_inner };
            let order = random::permutation(counts.blocks(), &mut random::rng(seed, 700 + epoch as u64));
            let steps = chosen_by_step(&order);
            let done = if epoch == from.epoch { from.step } else { 0 };
            for (i, chosen) in steps.iter().enumerate().skip(done) {
                self.progress.check()?;
                state.step(chosen, self, &mut window, inner)?;
                let done = (i + 1) * looks;
                if done / steps.len() > i * looks / steps.len() {
                    let first = epoch == 0 && done / steps.len() == 1;
                    let passed = epoch as f64 + (i + 1) as f64 / steps.len() as f64;
                    match guard.look(passed, &state.reading()) {
                        Look::Worse if first => return Ok(false),
                        Look::WorseAgain => return Ok(true),
                        _ => {}
                    }
                }
                let at = At { attempt: from.attempt, epoch, step: i + 1, seen: Some(window.seen) };
                rounds.keep(|parcel| {
                    at.put(parcel);
                    state.table.put(parcel);
                    state.scale.put(parcel);
                    state.sums.put(parcel);
                    guard.seen().put(parcel);
                });
            }
        }
        Ok(true)
    }
}

/// How far a polish has come: the next step of an epoch, and what its window has seen.
#[derive(Default)]
struct At {
    attempt: usize,
    epoch: usize,
    step: usize,
    seen: Option<f64>,
}

/// All that the next step needs besides the settings.
struct Stand {
    at: At,
    table: Table,
    scale: f64,
    sums: Vec<f64>,
    watched: Seen,
}

keep! {
    At { attempt, epoch, step, seen }
    Stand { at, table, scale, sums, watched }
}

impl Stand {
    /// Whether it is of as many words and topics.
    fn fits(&self, other: &Expected) -> bool {
        let size = |table: &Table, sums: &[f64]| (table.k, table.data.len(), sums.len());
        size(&self.table, &self.sums) == size(&other.table, &other.sums)
    }
}

/// The blocks of every step of an epoch that takes them in this order; those of a step ascend.
fn chosen_by_step(order: &[usize]) -> Vec<Vec<usize>> {
    let size = order.len().div_ceil(MOST_STEPS).max(1);
    let ascending = |blocks: &[usize]| {
        let mut blocks = blocks.to_vec();
        blocks.sort_unstable();
        blocks
    };
    order.chunks(size).map(ascending).collect()
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
        Self { table, scale, sums, eta: start.eta, tokens }
    }

    fn reading(&self) -> Reading<'_> {
        smoothed(&self.table, self.scale, &self.sums, self.eta)
    }

    fn step(
        &mut self,
        chosen: &[usize],
        epochs: &Epochs<'_>,
        window: &mut Window,
        inner: usize,
    ) -> Result<()> {
        let Reading { slope, offset, .. } = self.reading();
        let (held_out, counts) = (epochs.training.held_out, epochs.training.counts);
        let step = Step {
            table: Cow::Borrowed(&self.table),
            slope,
            offset,
            alpha: epochs.alpha.to_vec(),
            inner,
            held_out,
        };
        let sums = sum(&step, counts, chosen, epochs.progress)?;
        let (documents, tokens) = (sums[1][0], sums[1][1]);
        if tokens == 0.0 {
            return Ok(());
        }
        let kept = window.keep(documents as usize, tokens);
        self.scale *= kept;
        self.update(&sums[0], (1.0 - kept) * self.tokens / tokens / self.scale);
        // Far from the smallest f32, and the table's numbers grow as the scale falls.
        if self.scale < 1e-12 {
            self.rescale();
        }
        Ok(())
    }

    /// Adds `weight` · the expected counts of a step to the table.
    fn update(&mut self, counts: &[f64], weight: f64) {
        let size = (WORDS_A_TASK * self.table.width).max(1);
        self.table.data.par_chunks_mut(size).zip(counts.par_chunks(size)).for_each(|(out, counts)| {
            out.iter_mut().zip(counts).for_each(|(x, n)| *x += (weight * n) as f32);
        });
        self.sums = self.table.sums();
    }

    fn rescale(&mut self) {
        let factor = self.scale;
        self.table.data.par_iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
        self.sums.iter_mut().for_each(|x| *x *= factor);
        self.scale = 1.0;
    }
}

#[cfg(test)]
mod tests;
