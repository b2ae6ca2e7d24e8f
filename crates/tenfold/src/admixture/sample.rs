//! Drawn corpora for this module's tests.

use rand::RngExt;
use std::borrow::Cow;
use tenfold_engine::linalg::random::{Rng, normal, permutation, rng};
use tenfold_engine::linalg::{CountBlock, Counts, Mat};

/// Documents drawn from known topics with α = 0.2 for each; a document is its position and its counts.
pub(super) struct Drawn {
    pub topics: Mat,
    pub documents: Vec<(u32, Vec<(u32, f32)>)>,
    seed: u64,
}

impl Drawn {
    pub fn new(words: usize, k: usize, documents: usize, length: f64, seed: u64) -> Self {
        let mut rng = rng(seed, 900);
        let mut topics = Mat::zeros(k, words);
        for t in 0..k {
            topics.row_mut(t).copy_from_slice(&dirichlet(words, 0.1, &mut rng));
        }
        // The order of the blocks is not that of the positions.
        let order = permutation(documents, &mut rng);
        let documents = order.iter().map(|&d| (d as u32, document(&topics, length, &mut rng))).collect();
        Self { topics, documents, seed }
    }

    pub fn counts(&self, block: usize) -> Held {
        let blocks = self.documents.chunks(block).map(block_of).collect();
        Held { cols: self.topics.cols(), blocks }
    }

    /// The topics, each mixed with `share` of another random distribution.
    pub fn start(&self, share: f64) -> Mat {
        let mut rng = rng(self.seed, 901);
        let mut start = self.topics.clone();
        for t in 0..start.rows() {
            let other = dirichlet(start.cols(), 0.1, &mut rng);
            start.row_mut(t).iter_mut().zip(other).for_each(|(x, y)| *x = (1.0 - share) * *x + share * y);
        }
        start
    }

    /// Mean total variation, topic by topic.
    pub fn distance(&self, topics: &Mat) -> f64 {
        let pairs = self.topics.as_slice().iter().zip(topics.as_slice());
        pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0 / topics.rows() as f64
    }
}

/// Blocks in memory.
pub(super) struct Held {
    pub cols: usize,
    pub blocks: Vec<CountBlock>,
}

impl Counts for Held {
    fn rows(&self) -> usize {
        self.blocks.iter().map(CountBlock::rows).sum()
    }
    fn cols(&self) -> usize {
        self.cols
    }
    fn entries(&self) -> u64 {
        self.blocks.iter().map(|b| b.entries() as u64).sum()
    }
    fn blocks(&self) -> usize {
        self.blocks.len()
    }
    fn block(&self, b: usize) -> tenfold_engine::Result<Cow<'_, CountBlock>> {
        // As from disk.
        Ok(Cow::Owned(self.blocks[b].clone()))
    }
}

pub(super) fn block_of(documents: &[(u32, Vec<(u32, f32)>)]) -> CountBlock {
    let (mut starts, mut words, mut counts) = (vec![0], Vec::new(), Vec::new());
    for (_, document) in documents {
        words.extend(document.iter().map(|e| e.0));
        counts.extend(document.iter().map(|e| e.1));
        starts.push(words.len() as u32);
    }
    let positions: Vec<u32> = documents.iter().map(|d| d.0).collect();
    CountBlock::new(&positions, &starts, &words, &counts)
}

fn document(topics: &Mat, length: f64, rng: &mut Rng) -> Vec<(u32, f32)> {
    let mixture = dirichlet(topics.rows(), 0.2, rng);
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..(length * rng.random_range(0.5..1.5)) as usize {
        let topic = pick(&mixture, rng);
        *counts.entry(pick(topics.row(topic), rng) as u32).or_insert(0.0f32) += 1.0;
    }
    counts.into_iter().collect()
}

fn pick(weights: &[f64], rng: &mut Rng) -> usize {
    let mut left: f64 = rng.random();
    let found = weights.iter().position(|w| {
        left -= w;
        left < 0.0
    });
    found.unwrap_or(weights.len() - 1)
}

fn dirichlet(len: usize, alpha: f64, rng: &mut Rng) -> Vec<f64> {
    let mut x: Vec<f64> = (0..len).map(|_| gamma(alpha, rng)).collect();
    let sum: f64 = x.iter().sum();
    x.iter_mut().for_each(|x| *x /= sum);
    x
}

/// Marsaglia and Tsang's method, for a shape below one.
fn gamma(shape: f64, rng: &mut Rng) -> f64 {
    let d = shape + 2.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        let u: f64 = rng.random::<f64>().max(f64::MIN_POSITIVE);
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v * rng.random::<f64>().powf(1.0 / shape) + 1e-300;
        }
    }
}

/// Asserts that two matrices agree up to `tolerance`.
pub(super) fn close(found: &Mat, expected: &Mat, tolerance: f64) {
    assert_eq!((found.rows(), found.cols()), (expected.rows(), expected.cols()));
    for (i, (a, b)) in found.as_slice().iter().zip(expected.as_slice()).enumerate() {
        let place = (i / found.cols(), i % found.cols());
        assert!((a - b).abs() <= tolerance, "{place:?}: {a} where {b} was expected");
    }
}

/// θ by the steps as the equation stands, in double precision.
pub(super) fn naive_mixture(document: &[(u32, f32)], topics: &Mat, alpha: &[f64], steps: usize) -> Vec<f64> {
    let k = topics.rows();
    let mut theta = vec![1.0 / k as f64; k];
    for _ in 0..steps {
        let mut next = alpha.to_vec();
        for &(w, c) in document {
            let q: f64 = (0..k).map(|t| theta[t] * topics[(t, w as usize)]).sum();
            (0..k).for_each(|t| next[t] += f64::from(c) * theta[t] * topics[(t, w as usize)] / q);
        }
        let sum: f64 = next.iter().sum();
        theta = next.into_iter().map(|x| x / sum).collect();
    }
    theta
}
