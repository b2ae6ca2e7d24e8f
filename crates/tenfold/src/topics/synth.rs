//! Draws documents from known topics.

mod alias;
mod source;
mod themes;

use super::data::Corpus;
use crate::error::Result;
use rand::RngExt;
use rand_distr::{Distribution, Gamma};
use rayon::prelude::*;
pub use source::{Mixtures, Source};
use tenfold_engine::linalg::random::{self, Rng};
use tenfold_engine::linalg::{Mat, Rows};
use tenfold_engine::progress::Silent;
pub use themes::THEMES;

/// The shape of drawn topics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Every topic from a symmetric Dirichlet distribution; 0.05 gives each a few per cent of the words.
    Dirichlet(f64),
    /// Frequencies as in text: word w has 1/(w + 10)^0.95 in every topic, times exp(1.8 g) with a Gaussian g of its own.
    Zipf,
}

/// What to draw: documents of the LDA model, θ ~ Dirichlet(α), every word from the topics B with probability θᵀB.
///
/// # Example
/// ```
/// use tenfold::topics::Synth;
/// let drawn = Synth { documents: 100, words: 50, k: 3, ..Default::default() }.draw()?;
/// assert_eq!((drawn.topics.rows(), drawn.topics.cols()), (3, 50));
/// assert_eq!((drawn.mixtures.rows(), drawn.corpus.documents()), (100, 100));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Synth {
    /// Documents.
    pub documents: usize,
    /// Words of the vocabulary.
    pub words: usize,
    /// Topics.
    pub k: usize,
    /// Mean length of a document; none is shorter than 3.
    pub length: f64,
    /// Deviation of the logarithm of the expected length: 0 for Poisson lengths, 0.5 as in news.
    pub spread: f64,
    /// Σα: 0 gives every document a single topic, large values mix them all.
    pub alpha0: f64,
    /// α_i ∝ (i + 1)^−skew: 0 for topics of equal share.
    pub skew: f64,
    /// Shape of the topics.
    pub shape: Shape,
    /// Seed.
    pub seed: u64,
}

impl Default for Synth {
    fn default() -> Self {
        Self {
            documents: 2000,
            words: 1000,
            k: 10,
            length: 100.0,
            spread: 0.0,
            alpha0: 1.0,
            skew: 0.0,
            shape: Shape::Dirichlet(0.05),
            seed: 0,
        }
    }
}

/// Documents with the truth behind them.
#[derive(Debug)]
pub struct Drawn {
    /// The documents.
    pub corpus: Corpus,
    /// B, k × words; rows sum to 1.
    pub topics: Mat,
    /// α of every topic; with α0 = 0 the share of every topic.
    pub alpha: Vec<f64>,
    /// θ, documents × k.
    pub mixtures: Mat,
}

/// The first stream of random numbers for topics; mixtures and words have others.
const TOPICS: u64 = 1 << 40;

impl Synth {
    /// The topics and their α, from which documents can be drawn batch by batch.
    ///
    /// # Panics
    /// When there are no topics or no words.
    pub fn source(&self) -> Source {
        let weights: Vec<f64> = (0..self.k).map(|i| (i as f64 + 1.0).powf(-self.skew)).collect();
        let total: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|w| w / total).collect();
        let mut topics = Mat::zeros(self.k, self.words);
        topics
            .as_mut_slice()
            .par_chunks_mut(self.words)
            .enumerate()
            .for_each(|(t, row)| self.shape.draw(row, &mut random::rng(self.seed, TOPICS + t as u64)));
        let digits = self.words.saturating_sub(1).to_string().len().max(5);
        let vocabulary = (0..self.words).map(|w| format!("w{w:0digits$}")).collect();
        Source::new(topics, shares, vocabulary, self)
    }

    /// Draws topics, mixtures and documents, all held in memory.
    ///
    /// # Errors
    /// A document of more different words than a corpus can hold.
    ///
    /// # Panics
    /// As [`Synth::source`].
    pub fn draw(&self) -> Result<Drawn> {
        let source = self.source();
        let corpus = source.corpus(u64::MAX, &Silent)?;
        let mut mixtures = Mat::zeros(self.documents, self.k);
        source.mixtures().read_rows(0, mixtures.as_mut_slice())?;
        let (topics, alpha) = source.into_truth();
        Ok(Drawn { corpus, topics, alpha, mixtures })
    }
}

impl Shape {
    fn draw(self, row: &mut [f64], rng: &mut Rng) {
        match self {
            Self::Dirichlet(concentration) => dirichlet(row, |_| concentration, rng),
            Self::Zipf => {
                for (w, x) in row.iter_mut().enumerate() {
                    *x = (w as f64 + 10.0).powf(-0.95) * (1.8 * random::normal(rng)).exp();
                }
                normalise(row);
            }
        }
    }
}

/// A draw from a Dirichlet distribution. Logarithms of gamma variables, because those of a small parameter are often
/// smaller than any floating-point number: with G ~ Gamma(a + 1), G·U^(1/a) ~ Gamma(a).
fn dirichlet(row: &mut [f64], alpha: impl Fn(usize) -> f64, rng: &mut Rng) {
    for (i, x) in row.iter_mut().enumerate() {
        let a = alpha(i);
        let gamma = Gamma::new(a + 1.0, 1.0).map_or(1.0, |gamma| gamma.sample(rng));
        *x = gamma.ln() + (1.0 - rng.random::<f64>()).ln() / a;
    }
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut().for_each(|x| *x = (*x - largest).exp());
    normalise(row);
}

fn normalise(row: &mut [f64]) {
    let total: f64 = row.iter().sum();
    row.iter_mut().for_each(|x| *x /= total);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_alpha_draws_numbers_and_unequal_shares_are_kept() {
        let synth = Synth { documents: 4000, k: 4, alpha0: 0.001, skew: 1.0, ..Default::default() };
        let source = synth.source();
        let mut theta = Mat::zeros(4000, 4);
        source.mixtures().read_rows(0, theta.as_mut_slice()).unwrap();
        for t in 0..4 {
            let share = source.alpha()[t] / 0.001;
            let mean = theta.col(t).iter().sum::<f64>() / 4000.0;
            assert!(
                (mean - share).abs() < 5.0 * (share * (1.0 - share) / 4000.0).sqrt(),
                "{t}: {mean} ≠ {share}"
            );
        }
        // Any piece of the mixtures is the same piece.
        let mut piece = vec![0.0; 4 * 600];
        source.mixtures().read_rows(500, &mut piece).unwrap();
        assert_eq!(piece, &theta.as_slice()[4 * 500..4 * 1100]);
    }
}
