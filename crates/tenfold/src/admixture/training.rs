//! What both polishes share: the documents they learn from, those that watch, and the guard.

use super::aside::{HeldOut, documents_aside, training_rows};
use super::completion::{Completion, Halves, split_tokens};
use super::infer::check;
use super::table::{Reading, Table, pad, smoothed};
use crate::checkpoint::keep;
use crate::error::{Error, Result};
use rayon::prelude::*;
use tenfold_engine::linalg::counts::{Parcel, Part, Pass, Unpacked, all_blocks, for_each_group, sum};
use tenfold_engine::linalg::{CountBlock, Counts, Mat};
use tenfold_engine::progress::Progress;

/// Most held-out documents that the guard looks at: with a hundred tokens each the perplexity of two models that are 0.2 %
/// apart is told apart, and a look costs less than a tenth of an epoch over a large corpus.
const WATCHERS: usize = 2048;

/// What a polish begins with.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    /// k × words.
    pub topics: &'a Mat,
    /// Tokens of each topic that the topics stand for already; empty for a first guess.
    pub before: &'a [f64],
    /// Counts added to every word of every topic.
    pub eta: f64,
}

impl Start<'_> {
    /// Whether the topics stand for documents of their own, which must not be forgotten.
    pub fn continues(&self) -> bool {
        self.before.iter().sum::<f64>() > 0.0
    }

    /// Refuses what does not fit the corpus, then counts its words and sets the held-out documents aside.
    pub fn training<'a>(
        &self,
        counts: &'a dyn Counts,
        held_out: HeldOut,
        alpha: &[f64],
        progress: &dyn Progress,
    ) -> Result<Training<'a>> {
        check(counts, self.topics, alpha)?;
        if !self.before.is_empty() && self.before.len() != self.topics.rows() {
            let (found, expected) = (self.before.len(), self.topics.rows());
            return Err(Error::WrongShape { what: "topics", found, expected });
        }
        Training::gather(counts, held_out, progress)
    }

    /// Expected counts of words in topics. A first guess counts as much as the corpus, all topics alike. What stands for
    /// documents stands for their tokens, N_wt = B_wt (N_t + V η) − η, so that B comes back when nothing is added.
    pub fn counts(&self, tokens: f64) -> Table {
        let (k, words) = (self.topics.rows(), self.topics.cols());
        if !self.continues() {
            return Table::from_topics(self.topics, first_scale(tokens, k));
        }
        let whole = |t: usize| self.before[t] + self.eta * words as f64;
        let counted = |t, w| (self.topics[(t, w)] * whole(t) - self.eta).max(0.0);
        Table::from_topics(&Mat::from_fn(k, words, counted), 1.0)
    }

    /// The topics, read from their counts.
    pub fn reading<'t>(&self, table: &'t Table, tokens: f64) -> Reading<'t> {
        if self.continues() {
            return smoothed(table, 1.0, &table.sums(), self.eta);
        }
        Reading { slope: pad(table, (1.0 / first_scale(tokens, table.k)) as f32), ..Reading::plain(table) }
    }
}

fn first_scale(tokens: f64, k: usize) -> f64 {
    tokens.max(1.0) / k.max(1) as f64
}

/// A corpus with some of its documents held out.
pub(super) struct Training<'a> {
    pub counts: &'a dyn Counts,
    pub held_out: HeldOut,
    /// Share of every word among the tokens of the training documents.
    pub unigram: Vec<f32>,
    /// Tokens of the training documents.
    pub tokens: f64,
    halves: Vec<Halves>,
}

impl<'a> Training<'a> {
    /// Counts the words and sets the held-out documents aside.
    fn gather(counts: &'a dyn Counts, held_out: HeldOut, progress: &dyn Progress) -> Result<Self> {
        let totals = sum(&WordTotals { held_out }, counts, &all_blocks(counts), progress)?;
        let aside = documents_aside(counts, held_out, progress)?;
        let stride = aside.iter().map(CountBlock::rows).sum::<usize>().div_ceil(WATCHERS).max(1);
        let (mut halves, mut seen) = (Vec::new(), 0);
        for block in &aside {
            halves.extend(split_tokens(block, |i| (seen + i).is_multiple_of(stride)));
            seen += block.rows();
        }
        halves.retain(|half| half.estimate.rows() > 0);
        let tokens: f64 = totals[0].iter().sum();
        let unigram = totals[0].iter().map(|x| (x / tokens.max(1.0)) as f32).collect();
        Ok(Self { counts, held_out, unigram, tokens, halves })
    }

    /// Which rows of a block are learned from.
    pub fn rows(&self, block: &CountBlock) -> Vec<bool> {
        training_rows(block, self.held_out)
    }
}

/// The pass that counts the tokens of every word in the documents that are not held out.
pub(crate) struct WordTotals {
    pub held_out: HeldOut,
}

impl WordTotals {
    pub(crate) const TAG: u64 = 1;

    pub(crate) fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        Some(Self { held_out: HeldOut::from_limit(parcel.number()?)? })
    }
}

impl Pass for WordTotals {
    fn window(
        &self,
        counts: &dyn Counts,
        chosen: &[usize],
        progress: &dyn Progress,
    ) -> tenfold_engine::error::Result<Vec<Part>> {
        let mut totals = vec![0.0f64; counts.cols()];
        for_each_group(counts, chosen, |_, blocks| {
            progress.check()?;
            let parts: Vec<Vec<f64>> = (blocks.par_iter())
                .map(|block| word_totals(block, &training_rows(block, self.held_out)))
                .collect();
            for (block, part) in blocks.iter().zip(&parts) {
                block.words().iter().zip(part).for_each(|(&word, x)| totals[word as usize] += x);
            }
            Ok(())
        })?;
        Ok(vec![Part::Double(totals)])
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        parcel.number(self.held_out.limit());
        parcel.0
    }
}

fn word_totals(block: &CountBlock, training: &[bool]) -> Vec<f64> {
    let levels = block.levels();
    let total = |w: usize| {
        let own = block.column(w).iter().filter(|e| training[e.at as usize]);
        own.map(|e| f64::from(levels[e.code as usize])).sum()
    };
    (0..block.words().len()).map(total).collect()
}

/// Held-out perplexity at one moment of a polish.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checkpoint {
    /// Passes over the corpus so far.
    pub epoch: f64,
    /// By document completion ([`Completion`]).
    pub perplexity: f64,
}

/// What a polish found.
#[derive(Debug, Clone, PartialEq)]
pub struct Polished {
    /// k × words, rows sum to 1.
    pub topics: Mat,
    /// Dirichlet parameters: those given, or, where the polish learns them and did better than the start, learned.
    pub alpha: Vec<f64>,
    /// Held-out perplexity, the start's first; empty when nothing was held out.
    pub curve: Vec<Checkpoint>,
    /// Which point of the curve the topics belong to; 0 is the start.
    pub chosen: usize,
}

impl Polished {
    /// The start: there was nothing to learn from.
    pub(super) fn unchanged(start: &Mat, alpha: &[f64]) -> Self {
        Self { topics: start.clone(), alpha: alpha.to_vec(), curve: Vec::new(), chosen: 0 }
    }
}

/// What the guard saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Held-out perplexity fell, or nobody watches.
    Better,
    /// It rose.
    Worse,
    /// It rose twice in a row: the polish should end.
    WorseAgain,
}

/// Keeps the best model that was seen, the start included.
pub(super) struct Guard<'a> {
    training: &'a Training<'a>,
    seen: Seen,
}

/// What the guard has seen so far.
#[derive(Default)]
pub(super) struct Seen {
    curve: Vec<Checkpoint>,
    /// Table, slope and offset of the best point; `None` while that is the start, which the caller still has.
    best: Option<(Table, Vec<f32>, Vec<f32>)>,
    chosen: usize,
    rises: usize,
}

keep! {
    Checkpoint { epoch, perplexity }
    Polished { topics, alpha, curve, chosen }
    Seen { curve, best, chosen, rises }
}

impl<'a> Guard<'a> {
    /// Looks at the start.
    pub fn new(training: &'a Training<'a>, start: &Reading<'_>) -> Self {
        let mut guard = Self { training, seen: Seen::default() };
        if !training.halves.is_empty() {
            let perplexity = guard.measure(start.clone());
            guard.seen.curve.push(Checkpoint { epoch: 0.0, perplexity });
        }
        guard
    }

    /// Goes on from what was seen before.
    pub fn resumed(training: &'a Training<'a>, seen: Seen) -> Self {
        Self { training, seen }
    }

    /// What was seen so far.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Looks at the model after `epoch` passes over the corpus.
    pub fn look(&mut self, epoch: f64, reading: &Reading<'_>) -> Look {
        let Some(&last) = self.seen.curve.last() else {
            // Nothing watches: the last word counts.
            self.keep(reading);
            return Look::Better;
        };
        let perplexity = self.measure(reading.clone());
        let seen = &mut self.seen;
        seen.curve.push(Checkpoint { epoch, perplexity });
        // A second attempt begins at the start again, so its first look is compared with that.
        let last = if seen.rises == 1 && epoch <= last.epoch { seen.curve[0] } else { last };
        seen.rises = if perplexity > last.perplexity { seen.rises + 1 } else { 0 };
        if perplexity < seen.curve[seen.chosen].perplexity {
            seen.chosen = seen.curve.len() - 1;
            self.keep(reading);
        }
        match self.seen.rises {
            0 => Look::Better,
            1 => Look::Worse,
            _ => Look::WorseAgain,
        }
    }

    /// True when the last model that was looked at is the best so far.
    pub fn holds_the_last(&self) -> bool {
        self.seen.curve.is_empty() || self.seen.chosen + 1 == self.seen.curve.len()
    }

    fn keep(&mut self, reading: &Reading<'_>) {
        self.seen.best = Some((reading.table.clone(), reading.slope.clone(), reading.offset.clone()));
    }

    /// The best of all: its topics, or `None` for the start; the curve; and which of its points that is.
    pub fn finish(self) -> (Option<Mat>, Vec<Checkpoint>, usize) {
        let topics = self.seen.best.map(|(table, slope, offset)| {
            Reading { table: &table, slope, offset, share: 0.0, background: &[] }.topics()
        });
        (topics, self.seen.curve, self.seen.chosen)
    }

    fn measure(&self, reading: Reading<'_>) -> f64 {
        let completion = Completion { steps: 20, ..Completion::default() };
        let smoothed = reading.blended(completion.smoothing, &self.training.unigram);
        completion.of_halves(&self.training.halves, &smoothed)
    }
}
