//! Words that show what a topic is, and words between topics.

use super::Model;

/// A word of a topic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopWord {
    /// Its number in the vocabulary.
    pub word: usize,
    /// Its probability in the topic.
    pub probability: f64,
    /// λ·ln p(w|t) + (1 − λ)·ln lift.
    pub relevance: f64,
    /// p(w|t)/p(w): how much more often than in all documents.
    pub lift: f64,
}

/// A word that several topics share.
#[derive(Debug, Clone, PartialEq)]
pub struct Bridge {
    /// Its number in the vocabulary.
    pub word: usize,
    /// Bridgeness times the logarithm of the word's number of tokens.
    pub score: f64,
    /// The topics with a share of at least a tenth of the word's tokens, the largest first.
    pub topics: Vec<(usize, f64)>,
}

impl Model {
    /// The `n` words of largest relevance λ·ln p(w|t) + (1 − λ)·ln(p(w|t)/p(w)) to a topic: λ = 1 ranks by probability,
    /// smaller values favour words that are special to the topic (Sievert and Shirley, 2014).
    ///
    /// # Panics
    /// When there is no such topic.
    pub fn top_words(&self, topic: usize, n: usize, lambda: f64) -> Vec<TopWord> {
        let row = self.topics.row(topic);
        let mut all: Vec<TopWord> = (0..self.words())
            .filter(|&w| row[w] > 0.0 && self.unigram[w] > 0.0)
            .map(|word| {
                let (probability, lift) = (row[word], row[word] / self.unigram[word]);
                let relevance = lambda * probability.ln() + (1.0 - lambda) * lift.ln();
                TopWord { word, probability, relevance, lift }
            })
            .collect();
        let order = |a: &TopWord, b: &TopWord| b.relevance.total_cmp(&a.relevance).then(a.word.cmp(&b.word));
        if n < all.len() {
            all.select_nth_unstable_by(n, order);
            all.truncate(n);
        }
        all.sort_by(order);
        all
    }

    /// How a word's tokens divide between the topics: p(t|w) ∝ p(w|t) p(t).
    pub fn topics_of(&self, word: usize) -> Vec<f64> {
        let joint: Vec<f64> = (0..self.k()).map(|t| self.topics[(t, word)] * self.shares[t]).collect();
        let sum: f64 = joint.iter().sum();
        joint.iter().map(|j| if sum > 0.0 { j / sum } else { 1.0 / self.k() as f64 }).collect()
    }

    /// The `n` words that most belong to several topics at once.
    ///
    /// With p = p(t|w), the bridgeness of a word is 1 − √(k/(k−1) Σ_t (p_t − 1/k)²) (Nepusz et al., 2008; thesis, definition of
    /// bridgeness); it is 0 for a word of one topic and 1 for one that all share. The thesis corrects for the degree D of a node,
    /// B = D·b. A word's degree is its number of tokens, which spans five orders of magnitude where b spans one, so that
    /// D·b would list the most frequent words whatever their b. The logarithm is used instead: score = b·ln(1 + tokens).
    pub fn bridging_words(&self, n: usize) -> Vec<Bridge> {
        let k = self.k() as f64;
        if self.k() < 2 {
            return Vec::new();
        }
        let mut all: Vec<(usize, f64)> = (0..self.words())
            .filter(|&w| self.unigram[w] > 0.0)
            .map(|w| {
                let spread: f64 = self.topics_of(w).iter().map(|p| (p - 1.0 / k).powi(2)).sum();
                let bridgeness = 1.0 - (k / (k - 1.0) * spread).sqrt();
                (w, bridgeness * (1.0 + self.unigram[w] * self.tokens as f64).ln())
            })
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let bridge = |&(word, score): &(usize, f64)| {
            let mut topics: Vec<(usize, f64)> =
                self.topics_of(word).into_iter().enumerate().filter(|t| t.1 >= 0.1).collect();
            topics.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            Bridge { word, score, topics }
        };
        all.iter().take(n).map(bridge).collect()
    }
}
