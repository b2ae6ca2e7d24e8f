//! The polish `faithful`: collapsed variational Bayes of order zero, one block of documents at a time.

use super::alpha::{MOST_DOCUMENTS, fixed_point};
use super::aside::HeldOut;
use super::collapsed::{Given, Responsibilities, WordCounts};
use super::table::{Reading, Rows, Table, pad, pad_alpha, smoothed};
use super::training::{Guard, Look, Polished, Seen, Start, Training};
use crate::checkpoint::{Keep, Rounds, keep, stage};
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

/// Steps of the Dirichlet parameters after a sweep: they settle over the sweeps.
const ALPHA_STEPS: usize = 3;

/// Collapsed variational Bayes. Mixtures and topics are integrated out; what remains is the responsibility of each topic for
/// each word of each document, which leaves out what it gave itself:
///
///   γ_dwt ∝ (N_dt − γ_dwt + α_t) · (N_wt − c γ_dwt + η) / (N_t + V η),
///
/// with N_dt = Σ_w c γ_dwt over the document and N_wt = Σ_d c γ_dwt of the last sweep. Responsibilities of a
/// document are found anew in every sweep, so nothing of the size of the corpus is held.
///
/// # Complexity
/// About 8·entries·k operations for each inner step; two tables of words × k numbers of four bytes, and the
/// responsibilities of 64 documents.
///
/// # Example
/// ```
/// use tenfold::admixture::Cvb0;
/// assert_eq!(Cvb0 { sweeps: 10, ..Cvb0::default() }.inner, 10);
/// ```
///
/// # References
/// Asuncion, Welling, Smyth and Teh 2009, equation 6, there updated one entry after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Cvb0 {
    /// Passes over the corpus.
    pub sweeps: usize,
    /// Steps of a document's responsibilities in each of them.
    pub inner: usize,
    /// Counts added to every word of every topic.
    pub eta: f64,
    /// Estimate the Dirichlet parameters after every sweep, as [`estimate_alpha`](super::estimate_alpha) does, with its
    /// limits. Otherwise they stay as given, which is better where they come from the moments of the corpus.
    pub learn_alpha: bool,
    /// Tokens of every topic that the start already stands for; they stay in all counts beside those of the corpus. Empty when
    /// the start is a first guess, which the first sweep replaces.
    pub before: Vec<f64>,
}

impl Default for Cvb0 {
    fn default() -> Self {
        Self { sweeps: 5, inner: 10, eta: 0.01, learn_alpha: false, before: Vec::new() }
    }
}

impl Cvb0 {
    /// Polishes the topics `start` (k × words). The best model by held-out perplexity is returned, the start included; unless
    /// that is the best, two more passes take in the documents that were held out.
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
        let mut table = begin.counts(training.tokens);
        let mut rounds = Rounds::new(progress, "sweeps");
        let taken = rounds.taken::<Stand>().filter(|stand| stand.fits(&table));
        // What stays in the counts of every sweep.
        let base = || match begin.continues() {
            true => begin.counts(training.tokens),
            false => Table::zeros(start.cols(), start.rows()),
        };
        let (mut learned, mut best, mut kept) = (alpha.to_vec(), alpha.to_vec(), None);
        let mut done = 0;
        let mut guard = match taken {
            Some(stand) => {
                (done, table, learned, best, kept) =
                    (stand.done, stand.table, stand.learned, stand.best, stand.kept);
                Guard::resumed(&training, stand.watched)
            }
            None => Guard::new(&training, &begin.reading(&table, training.tokens)),
        };
        progress.stage("polishing", ((self.sweeps + 2) * counts.rows()) as u64);
        for sweep in done..self.sweeps {
            // The start is no sum over these documents: nothing of theirs can be taken out of it.
            let own = if sweep == 0 { 0.0 } else { 1.0 };
            let sampled;
            (table, sampled) = self.sweep(&training, (&table, &learned, own), base(), progress)?;
            if self.learn_alpha {
                learned = fixed_point(&sampled, &learned, ALPHA_STEPS);
            }
            let seen = guard.look(sweep as f64 + 1.0, &smoothed(&table, 1.0, &table.sums(), self.eta));
            if guard.holds_the_last() {
                best.clone_from(&learned);
                kept = Some(table.clone());
            }
            if seen == Look::WorseAgain {
                break;
            }
            rounds.keep(|parcel| {
                (sweep + 1).put(parcel);
                table.put(parcel);
                learned.put(parcel);
                best.put(parcel);
                kept.put(parcel);
                guard.seen().put(parcel);
            });
        }
        let (mut topics, curve, chosen) = guard.finish();
        if let Some(mut table) = kept.filter(|_| !curve.is_empty()) {
            // Those that watched have nothing left to decide: they are documents like the others.
            let everything = begin.training(counts, HeldOut::NONE, alpha, progress)?;
            for own in [0.0, 1.0] {
                table = stage(progress, "last sweep", |progress| {
                    Ok(self.sweep(&everything, (&table, &best, own), base(), progress)?.0)
                })?;
            }
            topics = Some(smoothed(&table, 1.0, &table.sums(), self.eta).topics());
        }
        Ok(Polished { topics: topics.unwrap_or_else(|| start.clone()), alpha: best, curve, chosen })
    }

    /// One pass over the documents: the counts of the next table, from `base` on, and some documents' counts of topics.
    fn sweep(
        &self,
        training: &Training<'_>,
        (table, alpha, own): (&Table, &[f64], f32),
        base: Table,
        progress: &dyn Progress,
    ) -> Result<(Table, Vec<f32>)> {
        let collapse = Collapse::new(table, alpha, self.eta, own);
        let mut pass = Sweep::new(training, collapse, base, self.inner);
        for_each_group(training.counts, &all_blocks(training.counts), |_, blocks| {
            progress.check()?;
            for block in blocks {
                pass.add(block);
                progress.advance(block.rows() as u64);
            }
            Ok(())
        })?;
        Ok((pass.next, pass.sampled))
    }
}

/// All that the next sweep needs besides the settings.
struct Stand {
    done: usize,
    table: Table,
    learned: Vec<f64>,
    best: Vec<f64>,
    kept: Option<Table>,
    watched: Seen,
}

keep! { Stand { done, table, learned, best, kept, watched } }

impl Stand {
    /// Whether it is of as many words and topics.
    fn fits(&self, start: &Table) -> bool {
        let like = |table: &Table| (table.k, table.data.len()) == (start.k, start.data.len());
        like(&self.table)
            && self.kept.iter().all(like)
            && [&self.learned, &self.best].map(Vec::len) == [start.k; 2]
    }
}

/// The counts of the last sweep, as responsibilities read them.
pub(super) struct Collapse<'a> {
    /// N + η.
    reading: Reading<'a>,
    alpha: Vec<f32>,
    /// 1 / (N_t + V η), zero in the padding.
    inverse: Vec<f32>,
    own: f32,
    eta: f32,
    rows: Rows,
    gammas: Vec<f32>,
    counts: Vec<f32>,
}

impl<'a> Collapse<'a> {
    /// `own` is 1 when the table holds what the documents to come gave it, else 0.
    pub fn new(table: &'a Table, alpha: &[f64], eta: f64, own: f32) -> Self {
        Self {
            reading: Reading { offset: pad(table, eta as f32), ..Reading::plain(table) },
            alpha: pad_alpha(alpha),
            inverse: smoothed(table, 1.0, &table.sums(), eta).slope,
            own,
            eta: eta as f32,
            rows: Rows::default(),
            gammas: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Shows the documents of a block to `visit`, some rows at a time: γ of their entries, then N_dt, padded.
    pub fn visit(
        &mut self,
        block: &CountBlock,
        keep: &[bool],
        steps: usize,
        mut visit: impl FnMut(Range<usize>, &[f32], &[f32]),
    ) {
        self.rows.gather(&self.reading, block.words());
        let given = Given {
            block,
            keep,
            words: self.rows.as_ref(),
            alpha: &self.alpha,
            inverse: &self.inverse,
            own: self.own,
            eta: self.eta,
        };
        for first in (0..block.rows()).step_by(DOCUMENTS_TOGETHER) {
            let rows = first..(first + DOCUMENTS_TOGETHER).min(block.rows());
            respond(given, rows.clone(), steps, (&mut self.gammas, &mut self.counts));
            visit(rows, &self.gammas, &self.counts);
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

/// One pass over the documents: reads the counts of the last one, adds its own to those that stay.
struct Sweep<'a> {
    training: &'a Training<'a>,
    collapse: Collapse<'a>,
    steps: usize,
    next: Table,
    /// Expected counts of topics in every `stride`-th document.
    sampled: Vec<f32>,
    stride: usize,
    seen: usize,
}

impl<'a> Sweep<'a> {
    fn new(training: &'a Training<'a>, collapse: Collapse<'a>, next: Table, steps: usize) -> Self {
        let stride = training.counts.rows().div_ceil(MOST_DOCUMENTS).max(1);
        Self { training, collapse, steps, next, sampled: Vec::new(), stride, seen: 0 }
    }

    fn add(&mut self, block: &CountBlock) {
        let keep = self.training.rows(block);
        let Self { collapse, steps, next, sampled, stride, seen, .. } = self;
        let (width, k) = (next.width, next.k);
        collapse.visit(block, &keep, *steps, |rows, gammas, counts| {
            for (counts, _) in counts.chunks_exact(width).zip(&keep[rows.clone()]).filter(|(_, keep)| **keep)
            {
                if seen.is_multiple_of(*stride) {
                    sampled.extend_from_slice(&counts[..k]);
                }
                *seen += 1;
            }
            next.split(block.words(), WORDS_A_TASK).into_par_iter().for_each(|(first, ids, out)| {
                vectorised(WordCounts { block, rows: rows.clone(), gammas, first, ids, out, width });
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Drawn, close};
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::progress::Silent;

    /// One sweep as the equations stand, in double precision; `n` is words × k.
    fn naive(drawn: &Drawn, n: &Mat, alpha: &[f64], settings: &Cvb0, own: f64) -> Mat {
        let (k, v) = (n.cols(), n.rows());
        let totals: Vec<f64> =
            (0..k).map(|t| n.col(t).iter().sum::<f64>() + settings.eta * v as f64).collect();
        let normalise = |g: Vec<f64>| {
            let sum: f64 = g.iter().sum();
            g.into_iter().map(|x| x / sum).collect::<Vec<f64>>()
        };
        let mut next = Mat::zeros(v, k);
        for (_, document) in &drawn.documents {
            let word = |w: u32, t: usize| (n[(w as usize, t)] + settings.eta) / totals[t];
            let mut gammas: Vec<Vec<f64>> =
                document.iter().map(|&(w, _)| normalise((0..k).map(|t| word(w, t)).collect())).collect();
            for _ in 0..settings.inner {
                let sum = |t: usize| {
                    document.iter().zip(&gammas).map(|((_, c), g)| f64::from(*c) * g[t]).sum::<f64>()
                };
                let counts: Vec<f64> = (0..k).map(sum).collect();
                let step = |(w, c): &(u32, f32), g: &Vec<f64>| {
                    let factor = |t: usize| {
                        let others =
                            (n[(*w as usize, t)] - own * f64::from(*c) * g[t]).max(0.0) + settings.eta;
                        (counts[t] - g[t] + alpha[t]) * others / totals[t]
                    };
                    normalise((0..k).map(factor).collect())
                };
                gammas = document.iter().zip(&gammas).map(|(e, g)| step(e, g)).collect();
            }
            for ((w, c), g) in document.iter().zip(&gammas) {
                (0..k).for_each(|t| next[(*w as usize, t)] += f64::from(*c) * g[t]);
            }
        }
        next
    }

    #[test]
    fn sweeps_equal_the_equations() {
        for k in [3, 8, 11] {
            let drawn = Drawn::new(40, k, 90, 30.0, 1);
            let (counts, start) = (drawn.counts(16), drawn.start(0.3));
            let alpha: Vec<f64> = (0..k).map(|t| 0.05 + 0.02 * t as f64).collect();
            let settings = Cvb0 { sweeps: 2, inner: 4, ..Cvb0::default() };
            let found = settings.run(&counts, HeldOut::NONE, &start, &alpha, &Silent).unwrap();
            let tokens: f64 = drawn.documents.iter().flat_map(|d| &d.1).map(|(_, c)| f64::from(*c)).sum();
            let mut n = start.transpose().map(|x| x * tokens / k as f64);
            n = naive(&drawn, &n, &alpha, &settings, 0.0);
            n = naive(&drawn, &n, &alpha, &settings, 1.0);
            let mut expected = n.transpose().map(|x| x + settings.eta);
            let sums: Vec<f64> = (0..k).map(|t| 1.0 / expected.row(t).iter().sum::<f64>()).collect();
            expected.scale_rows(&sums);
            close(&found.topics, &expected, 1e-5);
        }
    }

    #[test]
    fn same_bytes_on_any_number_of_threads() {
        let drawn = Drawn::new(300, 10, 700, 50.0, 3);
        let (counts, start) = (drawn.counts(64), drawn.start(0.2));
        let settings = Cvb0 { sweeps: 2, learn_alpha: true, ..Cvb0::default() };
        let run = |threads| {
            with_threads(threads, || {
                settings.run(&counts, HeldOut::share(0.05), &start, &[0.1; 10], &Silent).unwrap()
            })
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), one, "{threads} threads");
        }
    }

    #[test]
    fn goes_towards_the_truth_and_never_away() {
        for seed in 0..3 {
            let drawn = Drawn::new(200, 5, 4000, 60.0, seed);
            let counts = drawn.counts(64);
            let start = drawn.start(0.15);
            let found =
                Cvb0::default().run(&counts, HeldOut::share(0.05), &start, &[0.2; 5], &Silent).unwrap();
            let (before, after) = (drawn.distance(&start), drawn.distance(&found.topics));
            // About 45,000 tokens a topic over 200 words: an estimate that knew every topic would be off by half of
            // Σ_w √(2 p_w / π 45,000) ≤ .026; mixtures that are not known cost somewhat more.
            assert!(after < 0.04 && after < before, "seed {seed}: {before} to {after}");
            let from_truth =
                Cvb0::default().run(&counts, HeldOut::NONE, &drawn.topics, &[0.2; 5], &Silent).unwrap();
            let moved = drawn.distance(&from_truth.topics);
            assert!(
                (moved - after).abs() < 0.005,
                "seed {seed}: {moved} from the truth, {after} from the start"
            );
        }
    }
}
