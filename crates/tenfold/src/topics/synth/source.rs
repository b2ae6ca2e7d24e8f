//! Documents drawn batch by batch from known topics.

use super::super::data::{Builder, Corpus, Documents};
use super::alias::Alias;
use super::{Synth, dirichlet, themes};
use crate::error::Result;
use rand::RngExt;
use rand_distr::{Distribution, Poisson};
use rayon::prelude::*;
use std::ops::Range;
use tenfold_engine::linalg::parallel::block_range;
use tenfold_engine::linalg::random::{self, Rng};
use tenfold_engine::linalg::{Mat, Rows};
use tenfold_engine::progress::Progress;

/// The first streams of random numbers for mixtures and for words, so that mixtures can be drawn alone.
const MIXTURES: u64 = 2 << 40;
const WORDS: u64 = 3 << 40;

/// Documents yet to be drawn. They come in batches, each from random numbers of its own: in any order, on any thread,
/// as often as one likes, and always the same.
#[derive(Debug, Clone)]
pub struct Source {
    topics: Mat,
    alpha: Vec<f64>,
    shares: Vec<f64>,
    vocabulary: Vec<String>,
    tables: Vec<Alias>,
    synth: Synth,
}

impl Source {
    /// Documents in a batch.
    pub const BATCH: usize = 512;

    /// A source of given topics (k × words, rows of probabilities) and their shares, with the documents, lengths, α0
    /// and seed of `synth`.
    ///
    /// # Panics
    /// When there are no topics or no words, or not as many shares and words as the topics have rows and columns.
    pub fn new(topics: Mat, shares: Vec<f64>, vocabulary: Vec<String>, synth: &Synth) -> Self {
        assert!(topics.rows() > 0 && topics.cols() > 0, "at least one topic and one word");
        assert_eq!(
            (shares.len(), vocabulary.len()),
            (topics.rows(), topics.cols()),
            "a share, a name for each"
        );
        let tables = (0..topics.rows()).into_par_iter().map(|t| Alias::new(topics.row(t))).collect();
        let scale = if synth.alpha0 > 0.0 { synth.alpha0 } else { 1.0 };
        let alpha = shares.iter().map(|s| s * scale).collect();
        let synth = Synth { k: topics.rows(), words: topics.cols(), ..synth.clone() };
        Self { topics, alpha, shares, vocabulary, tables, synth }
    }

    /// English words of ten everyday themes, for demonstrations: some words belong to two themes, and a quarter of
    /// every text is words of no theme.
    pub fn themes(documents: usize, length: f64, seed: u64) -> Self {
        let (topics, vocabulary) = themes::topics();
        let shares = vec![1.0 / topics.rows() as f64; topics.rows()];
        let synth = Synth { documents, length, spread: 0.4, alpha0: 0.6, seed, ..Synth::default() };
        Self::new(topics, shares, vocabulary, &synth)
    }

    /// B, k × words.
    pub fn topics(&self) -> &Mat {
        &self.topics
    }

    /// α of every topic; with α0 = 0 the share of every topic.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// The words.
    pub fn vocabulary(&self) -> &[String] {
        &self.vocabulary
    }

    /// Number of documents.
    pub fn documents(&self) -> usize {
        self.synth.documents
    }

    /// Number of batches.
    pub fn batches(&self) -> usize {
        self.synth.documents.div_ceil(Self::BATCH)
    }

    /// The words of batch `b` in the order in which they were drawn, and where each document ends.
    pub fn tokens(&self, b: usize) -> (Vec<u32>, Vec<usize>) {
        let theta = self.mixtures_of(b);
        let mut rng = random::rng(self.synth.seed, WORDS + b as u64);
        let (mut words, mut ends) = (Vec::new(), Vec::new());
        let mut below = vec![0.0; theta.cols()];
        for i in 0..theta.rows() {
            let mut sum = 0.0;
            for (c, t) in below.iter_mut().zip(theta.row(i)) {
                sum += t;
                *c = sum;
            }
            for _ in 0..self.length(&mut rng) {
                let u = rng.random::<f64>() * sum;
                let topic = below.partition_point(|&c| c <= u).min(below.len() - 1);
                words.push(self.tables[topic].draw(&mut rng));
            }
            ends.push(words.len());
        }
        (words, ends)
    }

    /// Batch `b` as text: one document a line, words between spaces.
    pub fn text(&self, b: usize) -> String {
        let (words, ends) = self.tokens(b);
        let mut text = String::new();
        let mut start = 0;
        for end in ends {
            for &word in &words[start..end] {
                text += &self.vocabulary[word as usize];
                text.push(' ');
            }
            text.pop();
            text.push('\n');
            start = end;
        }
        text
    }

    /// Batch `b` as counts: in every document each word once, in ascending order.
    pub fn batch(&self, b: usize) -> Documents {
        let (mut tokens, ends) = self.tokens(b);
        let mut documents = Documents { ends: Vec::new(), words: Vec::new(), counts: Vec::new() };
        let mut start = 0;
        for end in ends {
            tokens[start..end].sort_unstable();
            for same in tokens[start..end].chunk_by(|a, b| a == b) {
                documents.words.push(same[0]);
                documents.counts.push(same.len() as u32);
            }
            documents.ends.push(documents.words.len() as u32);
            start = end;
        }
        documents
    }

    /// All documents, in at most about `memory` bytes; what does not fit goes to disk.
    ///
    /// # Errors
    /// When the listener stops it or the disk refuses.
    pub fn corpus(&self, memory: u64, progress: &dyn Progress) -> Result<Corpus> {
        progress.stage("drawing", self.batches() as u64);
        let mut builder = Builder::new(memory);
        let batches: Vec<usize> = (0..self.batches()).collect();
        // A few batches at a time: enough for every core, little enough to be held.
        for group in batches.chunks(16) {
            progress.check()?;
            let drawn: Vec<Documents> = group.par_iter().map(|&b| self.batch(b)).collect();
            drawn.into_iter().try_for_each(|documents| builder.push(documents))?;
            progress.advance(group.len() as u64);
        }
        builder.finish(self.vocabulary.clone())
    }

    /// θ of every document, drawn as it is read.
    pub fn mixtures(&self) -> Mixtures<'_> {
        Mixtures { source: self }
    }

    /// Topics and α alone.
    pub(super) fn into_truth(self) -> (Mat, Vec<f64>) {
        (self.topics, self.alpha)
    }

    fn mixtures_of(&self, b: usize) -> Mat {
        let range = block_range(b, self.synth.documents, Self::BATCH);
        let mut rng = random::rng(self.synth.seed, MIXTURES + b as u64);
        let mut theta = Mat::zeros(range.len(), self.alpha.len());
        for i in 0..range.len() {
            if self.synth.alpha0 > 0.0 {
                dirichlet(theta.row_mut(i), |t| self.alpha[t], &mut rng);
            } else {
                // The limit of the Dirichlet distribution: one topic, with the probability of its share.
                let mut rest = rng.random::<f64>();
                let topic = self.shares.iter().position(|s| {
                    rest -= s;
                    rest < 0.0
                });
                theta[(i, topic.unwrap_or(self.shares.len() - 1))] = 1.0;
            }
        }
        theta
    }

    fn length(&self, rng: &mut Rng) -> usize {
        let Synth { length, spread, .. } = self.synth;
        // The factor has mean 1, so that the mean length is what was asked for.
        let mean = length * (spread * random::normal(rng) - spread * spread / 2.0).exp();
        let drawn = Poisson::new(mean.max(f64::MIN_POSITIVE)).map_or(0.0, |poisson| poisson.sample(rng));
        (drawn as usize).max(3)
    }
}

/// θ of a [`Source`]'s documents, documents × k.
#[derive(Debug, Clone, Copy)]
pub struct Mixtures<'a> {
    source: &'a Source,
}

impl Rows for Mixtures<'_> {
    fn rows(&self) -> usize {
        self.source.documents()
    }
    fn cols(&self) -> usize {
        self.source.alpha.len()
    }
    fn read_rows(&self, start: usize, out: &mut [f64]) -> tenfold_engine::Result<()> {
        let k = self.cols();
        let wanted = start..start + out.len() / k.max(1);
        for b in wanted.start / Source::BATCH..wanted.end.div_ceil(Source::BATCH) {
            let theta = self.source.mixtures_of(b);
            let first = b * Source::BATCH;
            let shared: Range<usize> = wanted.start.max(first)..wanted.end.min(first + theta.rows());
            for i in shared {
                out[(i - wanted.start) * k..][..k].copy_from_slice(theta.row(i - first));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;

    #[test]
    fn the_same_documents_come_on_any_threads_and_in_any_order() {
        let synth =
            Synth { documents: 1300, words: 300, k: 4, shape: Shape::Zipf, seed: 5, ..Default::default() };
        let drawn = |threads| {
            with_threads(threads, || {
                let source = synth.source();
                let batches: Vec<_> =
                    (0..source.batches()).into_par_iter().map(|b| source.tokens(b)).collect();
                (source.topics().clone(), batches)
            })
        };
        let one = drawn(1);
        assert!(drawn(3) == one);
        let source = synth.source();
        assert!(source.tokens(2) == one.1[2] && source.tokens(0) == one.1[0]);
        assert_eq!((source.batches(), one.1[2].1.len()), (3, 1300 - 1024));
        // Counts are the tokens, gathered.
        let counts = source.batch(1);
        assert_eq!(counts.counts.iter().sum::<u32>() as usize, one.1[1].0.len());
        assert!(counts.words[..counts.ends[0] as usize].windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn lengths_and_words_have_the_means_that_were_asked_for() {
        for (spread, alpha0) in [(0.0, 1.0), (0.5, 0.0), (0.5, 30.0)] {
            let synth = Synth {
                documents: 5000,
                words: 40,
                k: 3,
                length: 60.0,
                spread,
                alpha0,
                ..Default::default()
            };
            let source = synth.source();
            let mut mixtures = Mat::zeros(5000, 3);
            source.mixtures().read_rows(0, mixtures.as_mut_slice()).unwrap();
            let (mut tokens, mut first) = (0, vec![0.0; 40]);
            let (mut expected, mut documents) = (vec![0.0; 40], 0);
            for b in 0..source.batches() {
                let (words, ends) = source.tokens(b);
                tokens += words.len();
                // The first word of every document: one draw each from θᵀB.
                for i in 0..ends.len() {
                    first[words[if i == 0 { 0 } else { ends[i - 1] }] as usize] += 1.0;
                    for (t, share) in mixtures.row(documents).iter().enumerate() {
                        (0..40).for_each(|w| expected[w] += share * source.topics()[(t, w)]);
                    }
                    documents += 1;
                }
            }
            // Log-normal lengths deviate by about their mean times √(e^{σ²} − 1); five standard errors.
            let error = 5.0 * 60.0 * ((spread * spread).exp_m1() + 1.0 / 60.0).sqrt() / 5000f64.sqrt();
            assert!((tokens as f64 / 5000.0 - 60.0).abs() < error, "{spread}: {tokens}");
            for w in 0..40 {
                assert!((first[w] - expected[w]).abs() <= 5.0 * expected[w].sqrt() + 1e-9, "word {w}");
            }
            let single = (0..5000).filter(|&i| mixtures.row(i).contains(&1.0)).count();
            assert!(if alpha0 == 0.0 { single == 5000 } else { single < 200 }, "α0 {alpha0}: {single}");
        }
    }
}
