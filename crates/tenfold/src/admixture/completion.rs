//! Perplexity by document completion: half of a document's tokens give its mixture, the other half is scored.

use super::infer::{Inference, check, check_tokens};
use super::kernel::{TINY, dot};
use super::table::{Reading, Rows, Table, pad_alpha};
use crate::error::{Error, Result};
use rayon::prelude::*;
use tenfold_engine::linalg::counts::{all_blocks, for_each_group};
use tenfold_engine::linalg::{CountBlock, Counts, Kernel, Mat, vectorised};
use tenfold_engine::progress::Progress;

/// A block's tokens in two halves.
#[derive(Debug, Clone)]
pub struct Halves {
    /// Tokens 0, 2, 4, … of every document: they give its mixture.
    pub estimate: CountBlock,
    /// Tokens 1, 3, 5, …: they are scored.
    pub score: CountBlock,
}

/// Deals the tokens of the rows of `block` in turn, words ascending and counts expanded; only rows that `keep` wants.
///
/// They come together, as far as a block can hold them: a count becomes one of two in a half, so a block with more than
/// 32,768 distinct ones is dealt row by row.
///
/// # Example
/// ```
/// use tenfold::admixture::split_tokens;
/// use tenfold::engine::linalg::CountBlock;
/// let block = CountBlock::new(&[0], &[0, 2], &[4, 8], &[3.0, 2.0]); // tokens 4 4 4 8 8
/// let halves = &split_tokens(&block, |_| true)[0];
/// assert_eq!(halves.estimate.row_counts(0).collect::<Vec<_>>(), [(4, 2.0), (8, 1.0)]);
/// assert_eq!(halves.score.row_counts(0).collect::<Vec<_>>(), [(4, 1.0), (8, 1.0)]);
/// ```
pub fn split_tokens(block: &CountBlock, keep: impl Fn(usize) -> bool) -> Vec<Halves> {
    let rows: Vec<usize> = (0..block.rows()).filter(|&i| keep(i)).collect();
    let together = if block.levels().len() > CountBlock::MOST / 2 { 1 } else { rows.len().max(1) };
    rows.chunks(together).map(|rows| halves(block, rows)).collect()
}

fn halves(block: &CountBlock, rows: &[usize]) -> Halves {
    let (mut even, mut odd) = (Rebuilt::default(), Rebuilt::default());
    for &i in rows {
        let mut before = 0u64;
        for (word, count) in block.row_counts(i) {
            let after = before + count as u64;
            // Tokens with an even number below x: ⌈x / 2⌉.
            let first = after.div_ceil(2) - before.div_ceil(2);
            even.push(word, first as f32);
            odd.push(word, (after - before - first) as f32);
            before = after;
        }
        even.end(block.documents()[i]);
        odd.end(block.documents()[i]);
    }
    Halves { estimate: even.finish(), score: odd.finish() }
}

/// A block that grows row by row.
#[derive(Default)]
struct Rebuilt {
    documents: Vec<u32>,
    ends: Vec<u32>,
    words: Vec<u32>,
    counts: Vec<f32>,
}

impl Rebuilt {
    fn push(&mut self, word: u32, count: f32) {
        if count > 0.0 {
            self.words.push(word);
            self.counts.push(count);
        }
    }

    fn end(&mut self, document: u32) {
        self.documents.push(document);
        self.ends.push(self.words.len() as u32);
    }

    fn finish(self) -> CountBlock {
        let starts: Vec<u32> = std::iter::once(0).chain(self.ends).collect();
        CountBlock::new(&self.documents, &starts, &self.words, &self.counts)
    }
}

/// How document completion is measured; the default is the protocol of the project's comparisons.
///
/// With B̃ = (1 − ε) B + ε · unigram and θ from the first half by θ_t ∝ n_t + α,
///
///   perplexity = exp(−Σ_w c_w ln(θ · B̃_w) / Σ_w c_w)   over the second halves.
///
/// A token of probability zero is never skipped: it counts as probability 1e-30.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Completion {
    /// Counts added for each topic.
    pub alpha: f64,
    /// ε.
    pub smoothing: f64,
    /// Steps of the inference.
    pub steps: usize,
}

impl Default for Completion {
    fn default() -> Self {
        Self { alpha: 0.1, smoothing: 0.01, steps: 50 }
    }
}

/// Sums that blocks add up to.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    log_likelihood: f64,
    tokens: f64,
}

impl Score {
    fn add(self, other: Self) -> Self {
        Self {
            log_likelihood: self.log_likelihood + other.log_likelihood,
            tokens: self.tokens + other.tokens,
        }
    }

    /// Infinite when no token was scored.
    fn perplexity(self) -> f64 {
        if self.tokens > 0.0 { (-self.log_likelihood / self.tokens).exp() } else { f64::INFINITY }
    }
}

impl Completion {
    /// The perplexity of the documents of `counts`, all of them held out.
    ///
    /// # Errors
    /// Topics or word frequencies of another vocabulary, no token to score; what the counts or the listener say.
    pub fn perplexity(
        &self,
        counts: &dyn Counts,
        topics: &Mat,
        unigram: &[f64],
        progress: &dyn Progress,
    ) -> Result<f64> {
        check(counts, topics, &vec![self.alpha; topics.rows()])?;
        if unigram.len() != topics.cols() {
            return Err(Error::WrongShape { what: "words", found: unigram.len(), expected: topics.cols() });
        }
        let background: Vec<f32> = unigram.iter().map(|x| *x as f32).collect();
        let table = Table::from_topics(topics, 1.0);
        let reading = Reading::plain(&table).blended(self.smoothing, &background);
        progress.stage("completing documents", counts.rows() as u64);
        let mut total = Score::default();
        for_each_group(counts, &all_blocks(counts), |_, blocks| {
            progress.check()?;
            blocks.iter().try_for_each(|block| check_tokens(block))?;
            let score = |block: &CountBlock| {
                let halves = split_tokens(block, |_| true);
                halves.iter().map(|half| self.score(half, &reading)).fold(Score::default(), Score::add)
            };
            let scores: Vec<Score> = blocks.par_iter().map(|block| score(block)).collect();
            total = scores.into_iter().fold(total, Score::add);
            progress.advance(blocks.iter().map(|b| b.rows() as u64).sum());
            Ok(())
        })?;
        if total.tokens == 0.0 {
            let message =
                "no held-out document has two tokens, so none can be completed; give longer documents";
            return Err(tenfold_engine::Error::TooLittleData(message.into()).into());
        }
        Ok(total.perplexity())
    }

    /// The perplexity of halves that were made before; `reading` is smoothed already.
    pub(super) fn of_halves(&self, halves: &[Halves], reading: &Reading<'_>) -> f64 {
        let scores: Vec<Score> = halves.par_iter().map(|half| self.score(half, reading)).collect();
        scores.into_iter().fold(Score::default(), Score::add).perplexity()
    }

    fn score(&self, halves: &Halves, reading: &Reading<'_>) -> Score {
        let table = reading.table;
        let mut rows = Rows::default();
        rows.gather(reading, halves.estimate.words());
        let mut theta = vec![0.0; halves.estimate.rows() * table.width];
        let inference = Inference { steps: self.steps, tolerance: 0.0 };
        let alpha = pad_alpha(&vec![self.alpha; table.k]);
        let all = vec![true; halves.estimate.rows()];
        inference.infer(&halves.estimate, &all, rows.as_ref(), &alpha, &mut theta);
        rows.gather(reading, halves.score.words());
        vectorised(LogLikelihood { block: &halves.score, rows: &rows, theta: &theta })
    }
}

struct LogLikelihood<'a> {
    block: &'a CountBlock,
    rows: &'a Rows,
    theta: &'a [f32],
}

impl Kernel for LogLikelihood<'_> {
    type Output = Score;

    #[inline(always)]
    fn run(self) -> Score {
        let width = self.rows.width;
        let mut score = Score::default();
        for (i, theta) in self.theta.chunks_exact(width).enumerate() {
            for e in self.block.row(i) {
                let probability = dot(theta, &self.rows.data[e.at as usize * width..][..width]);
                let count = f64::from(self.block.levels()[e.code as usize]);
                score.log_likelihood += count * f64::from(probability + TINY).ln();
                score.tokens += count;
            }
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Drawn, Held, block_of, naive_mixture};
    use super::*;
    use tenfold_engine::progress::Silent;

    fn naive(drawn: &Drawn, unigram: &[f64]) -> f64 {
        let smooth = Mat::from_fn(drawn.topics.rows(), unigram.len(), |t, w| {
            0.99 * drawn.topics[(t, w)] + 0.01 * unigram[w]
        });
        let (mut sum, mut tokens) = (0.0, 0.0);
        for (_, document) in &drawn.documents {
            let all: Vec<u32> =
                document.iter().flat_map(|(w, c)| std::iter::repeat_n(*w, *c as usize)).collect();
            let half =
                |first: usize| all.iter().skip(first).step_by(2).map(|w| (*w, 1.0f32)).collect::<Vec<_>>();
            let theta = naive_mixture(&half(0), &smooth, &vec![0.1; smooth.rows()], 50);
            for (w, _) in half(1) {
                let q: f64 = (0..smooth.rows()).map(|t| theta[t] * smooth[(t, w as usize)]).sum();
                sum += q.ln();
                tokens += 1.0;
            }
        }
        (-sum / tokens).exp()
    }

    #[test]
    fn perplexity_equals_the_protocol_token_by_token() {
        for seed in 0..3 {
            let drawn = Drawn::new(80, 7, 60, 30.0, seed);
            let unigram: Vec<f64> = (0..80).map(|w| (w + 1) as f64 / 3240.0).collect();
            let found = Completion::default()
                .perplexity(&drawn.counts(16), &drawn.topics, &unigram, &Silent)
                .unwrap();
            let expected = naive(&drawn, &unigram);
            assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
        }
    }

    #[test]
    fn impossible_tokens_are_not_skipped() {
        let counts = Held { cols: 2, blocks: vec![block_of(&[(0, vec![(0, 1.0), (1, 1.0)])])] };
        let topics = Mat::from_vec(1, 2, vec![1.0, 0.0]);
        let found = Completion::default().perplexity(&counts, &topics, &[1.0, 0.0], &Silent).unwrap();
        assert!((found / 1e30 - 1.0).abs() < 1e-3, "{found}");
    }

    #[test]
    fn a_block_of_many_counts_is_dealt_row_by_row() {
        // The same odd counts twice; a word before them turns their halves round: 40,000 counts become 80,000.
        let counts = |first: f32| [first].into_iter().chain((0..40_000u32).map(|w| (4 * w + 5) as f32));
        let words: Vec<(u32, f32)> = (0..).zip(counts(1.0)).collect();
        let other: Vec<(u32, f32)> = (0..).zip(counts(2.0)).collect();
        let block = block_of(&[(0, words), (1, other), (2, vec![])]);
        let halves = split_tokens(&block, |i| i != 2);
        assert_eq!(halves.len(), 2);
        let sum = |block: &CountBlock| block.row_counts(0).map(|(_, c)| c as u64).sum::<u64>();
        let all: u64 = halves.iter().map(|h| sum(&h.estimate) + sum(&h.score)).sum();
        assert_eq!(all, 3 + 2 * (0..40_000u64).map(|w| 4 * w + 5).sum::<u64>());
    }

    #[test]
    fn large_counts_are_scored_or_refused() {
        let topics = Mat::from_vec(1, 2, vec![0.5, 0.5]);
        let score = |count: f32| {
            let counts = Held { cols: 2, blocks: vec![block_of(&[(0, vec![(0, count), (1, count)])])] };
            Completion::default().perplexity(&counts, &topics, &[0.5, 0.5], &Silent)
        };
        assert!((score(1e17).unwrap() - 2.0).abs() < 1e-5);
        let error = score(1e30).unwrap_err().to_string();
        assert!(error.contains("1e18"), "{error}");
    }

    #[test]
    fn nothing_to_score_is_an_error() {
        let counts = Held { cols: 2, blocks: vec![block_of(&[(0, vec![(0, 1.0)]), (1, vec![])])] };
        let topics = Mat::from_vec(1, 2, vec![0.5, 0.5]);
        let error = Completion::default().perplexity(&counts, &topics, &[0.5, 0.5], &Silent).unwrap_err();
        assert!(error.to_string().contains("two tokens"), "{error}");
    }
}
