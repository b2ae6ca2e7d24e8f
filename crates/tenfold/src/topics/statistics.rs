//! What a finished model says about its documents.

use super::data::Corpus;
use crate::admixture::Inference;
use crate::checkpoint::keep;
use crate::error::Result;
use std::borrow::Cow;
use tenfold_engine::linalg::{CountBlock, Counts, Mat};
use tenfold_engine::progress::Progress;

/// Most documents whose mixtures are inferred for the statistics.
const SAMPLE: usize = 20_000;
/// Documents kept for each topic.
pub(super) const REPRESENTATIVES: usize = 10;
/// A document that stands for a topic has at least this many tokens: short ones are pure by accident.
const SHORTEST: f64 = 20.0;

/// Shares, correlations and typical documents of topics.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statistics {
    /// Share of the tokens.
    pub shares: Vec<f64>,
    /// Correlations of mixtures over documents.
    pub correlations: Mat,
    /// (document, share) for every topic, largest first.
    pub representatives: Vec<Vec<(usize, f64)>>,
    /// For every topic, how many documents of the corpus carry it, as an effective number: (Σs²)²/Σs⁴.
    pub carriers: Vec<f64>,
    /// Documents that were looked at.
    pub documents: usize,
}

keep! { Statistics { shares, correlations, representatives, carriers, documents } }

/// Every s-th block of a corpus: a random sample, because documents are shuffled.
struct Sampled<'a> {
    corpus: &'a Corpus,
    stride: usize,
}

impl Counts for Sampled<'_> {
    fn rows(&self) -> usize {
        self.corpus.documents()
    }
    fn cols(&self) -> usize {
        self.corpus.words()
    }
    fn entries(&self) -> u64 {
        self.corpus.entries() / self.stride as u64
    }
    fn blocks(&self) -> usize {
        self.corpus.counts().blocks().div_ceil(self.stride)
    }
    fn block(&self, b: usize) -> tenfold_engine::error::Result<Cow<'_, CountBlock>> {
        self.corpus.counts().block(b * self.stride)
    }
    fn fetch(&self, blocks: &[usize]) -> tenfold_engine::error::Result<()> {
        self.corpus.counts().fetch(&blocks.iter().map(|b| b * self.stride).collect::<Vec<_>>())
    }
}

impl Statistics {
    pub fn gather(corpus: &Corpus, topics: &Mat, alpha: &[f64], progress: &dyn Progress) -> Result<Self> {
        let k = topics.rows();
        let stride = corpus.documents().div_ceil(SAMPLE).max(1);
        let mut shares = vec![0.0; k];
        let mut products = Mat::zeros(k, k);
        let (mut sums, mut seen, mut visited) = (vec![0.0; k], 0.0, 0);
        let mut powers = vec![[0.0; 2]; k];
        let prior: f64 = alpha.iter().sum();
        let mut representatives: Vec<Vec<(usize, f64)>> = vec![Vec::new(); k];
        let inference = Inference { steps: 10, tolerance: 1e-2 };
        inference.visit(&Sampled { corpus, stride }, topics, alpha, progress, &mut |block, mixtures| {
            visited += block.rows();
            let mut rows = Mat::zeros(block.rows(), k);
            for i in 0..block.rows() {
                let tokens: f64 = block.row_counts(i).map(|(_, c)| f64::from(c)).sum();
                if tokens == 0.0 {
                    continue;
                }
                seen += 1.0;
                let row = rows.row_mut(i);
                row.iter_mut().zip(mixtures.row(i)).for_each(|(x, m)| *x = f64::from(*m));
                for (t, &share) in row.iter().enumerate() {
                    shares[t] += tokens * share;
                    sums[t] += share;
                    // θ = (n + α)/(ℓ + Σα): without the prior's part, which every document has, s = n/ℓ. The squares
                    // make little of stray tokens, of which there are many.
                    let own = ((share * (tokens + prior) - alpha[t]) / tokens).max(0.0);
                    powers[t][0] += own.powi(2);
                    powers[t][1] += own.powi(4);
                    if tokens >= SHORTEST {
                        keep(&mut representatives[t], (block.documents()[i] as usize, share));
                    }
                }
            }
            products.add_scaled(1.0, &rows.tr_matmul(&rows));
            Ok(())
        })?;
        let total: f64 = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        shares.iter_mut().for_each(|s| *s /= total);
        let covariance = |i: usize, j: usize| products[(i, j)] - sums[i] * sums[j] / f64::max(seen, 1.0);
        let correlations = Mat::from_fn(k, k, |i, j| {
            if i == j {
                return 1.0;
            }
            let scale = (covariance(i, i) * covariance(j, j)).sqrt();
            if scale > 0.0 { (covariance(i, j) / scale).clamp(-1.0, 1.0) } else { 0.0 }
        });
        // Blocks are random samples: what is in a part of them is in all in proportion.
        let scale = corpus.documents() as f64 / visited.max(1) as f64;
        let carriers = powers.iter().map(|[s, q]| scale * s * s / q.max(f64::MIN_POSITIVE)).collect();
        Ok(Self { shares, correlations, representatives, carriers, documents: seen as usize })
    }

    /// The statistics of topics in another order.
    pub fn ordered(self, order: &[usize]) -> Self {
        let pick = |v: &[f64]| order.iter().map(|&t| v[t]).collect::<Vec<f64>>();
        Self {
            shares: pick(&self.shares),
            carriers: pick(&self.carriers),
            correlations: Mat::from_fn(order.len(), order.len(), |i, j| {
                self.correlations[(order[i], order[j])]
            }),
            representatives: order.iter().map(|&t| self.representatives[t].clone()).collect(),
            documents: self.documents,
        }
    }
}

/// Keeps the largest shares, the earlier document first among equals.
fn keep(best: &mut Vec<(usize, f64)>, new: (usize, f64)) {
    let after = |old: &(usize, f64)| old.1 > new.1 || (old.1 == new.1 && old.0 < new.0);
    let place = best.partition_point(after);
    if place < REPRESENTATIVES {
        best.insert(place, new);
        best.truncate(REPRESENTATIVES);
    }
}
