//! The protocol by which topic models are compared, shared by the benches and the experiments: which documents are
//! held out, how topics are scored, and what a second of work is. Every method's topics go through this code.

#![forbid(unsafe_code)]

mod corpora;
mod seconds;

pub use corpora::{Bag, Shared, shared_data};
pub use seconds::{cpu_seconds, memory_rate, peak_memory_mb};

use tenfold::Result;
use tenfold::admixture::Completion;
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Silent;
use tenfold::evaluate::{Coherence, Cooccurrence, top_words};
use tenfold::topics::Corpus;

/// Every so many documents one is held out.
pub const HOLD_OUT: usize = 5;

/// Added to the training count of each word, so that one that only held-out documents have is not impossible.
const FLOOR: f64 = 0.01;

/// Words of a topic that its coherence looks at.
const TOP: usize = 10;

/// A corpus cut into training and held-out documents.
pub struct Split {
    /// Documents whose place in the corpus does not divide by five.
    pub training: Corpus,
    held_out: Corpus,
    unigram: Vec<f64>,
}

impl Split {
    /// Cuts `corpus`.
    pub fn new(corpus: &Corpus) -> Result<Self> {
        let training = corpus.select(|i| i % HOLD_OUT != 0)?;
        let held_out = corpus.select(|i| i % HOLD_OUT == 0)?;
        let mut counts = vec![FLOOR; corpus.words()];
        for b in 0..training.counts().blocks() {
            let block = training.counts().block(b)?;
            for i in 0..block.rows() {
                block.row_counts(i).for_each(|(word, count)| counts[word as usize] += f64::from(count));
            }
        }
        let all: f64 = counts.iter().sum();
        Ok(Self { training, held_out, unigram: counts.iter().map(|c| c / all).collect() })
    }

    /// Perplexity by document completion: of the tokens of a held-out document, in the order of word numbers, the first,
    /// third, fifth… give its mixture in 50 steps of θ ∝ n + 0.1 from uniform, the others are scored under
    /// 0.99 B + 0.01 unigram.
    pub fn perplexity(&self, topics: &Mat) -> Result<f64> {
        let protocol = Completion { alpha: 0.1, smoothing: 0.01, steps: 50 };
        protocol.perplexity(self.held_out.counts(), topics, &self.unigram, &Silent)
    }

    /// Mean NPMI of ten top words over training documents.
    pub fn npmi(&self, topics: &Mat) -> Result<f64> {
        npmi(&self.training, topics)
    }
}

/// Mean NPMI of ten top words over the documents of `corpus`.
pub fn npmi(corpus: &Corpus, topics: &Mat) -> Result<f64> {
    let seen = Cooccurrence::in_documents(corpus.counts(), &top_words(topics, TOP))?;
    let each = Coherence::Npmi.of(&seen);
    Ok(each.iter().sum::<f64>() / each.len() as f64)
}
