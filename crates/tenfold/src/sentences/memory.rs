//! What a fit of sentences holds at its peak, by sizes alone.

use super::data::Text;
use super::fit::{Params, Words};
use super::templates::ENOUGH;
use crate::ica;
use crate::memory::Estimate;

impl Params {
    /// What a fit of this text will hold, before it begins.
    pub fn needs(&self, text: &Text) -> Estimate {
        let (words, tokens) = (text.vocabulary().len() as u64, text.kept() as u64);
        let (width, pairs) = match &self.words {
            Words::Learned(how) => (how.dimensions as u64, distinct_pairs(text.counts(), how.window)),
            Words::Given(given) => (given.vectors().cols() as u64, 0),
        };
        let width = width.min(words.max(1));
        // A pair with its count (16 bytes) while it becomes two entries of the matrix (12 each), of which about seven in ten are above
        // zero; then the matrix with its transpose, and dense columns, half as many again as dimensions, of which five are held.
        let matrix = 12 * 14 * pairs / 10;
        let dense = 8 * words * (width + (width / 2).max(10));
        let vectors = (16 * pairs + matrix).max(2 * matrix + 5 * dense);
        Estimate::beside("text", 4 * tokens + 64 * words)
            .and("word vectors", 8 * words * width)
            .and_largest(&[("neighbours", vectors), ("templates", self.patches(tokens, width))])
    }

    /// Patches of the text, and what their decomposition takes.
    fn patches(&self, tokens: u64, width: u64) -> u64 {
        if !self.features.has_templates() {
            return 0;
        }
        let search = &self.templates;
        let channels = search.channels.map_or(width, |c| width.min(c as u64));
        let (rows, cols) = (tokens.min(ENOUGH as u64), search.length as u64 * channels);
        let held = 8 * rows * cols;
        held + ica::Params::new(search.count).needs(rows as usize, cols as usize, held).work()
    }
}

/// How many pairs of different words stand near each other somewhere, if words came independently of each other: of a pair of words
/// with counts a and b, T·2ab/N² are expected among T pairs, and it is there at least once with probability 1 − exp(−that). Words that
/// keep company come together more often, so this is rather too much.
fn distinct_pairs(counts: &[u64], window: usize) -> u64 {
    let tokens: f64 = counts.iter().map(|&c| c as f64).sum();
    if tokens == 0.0 {
        return 0;
    }
    // Words of about the same count are taken together: four classes to a factor of two, so that all pairs of classes are few.
    let mut classes: Vec<(f64, f64)> = Vec::new();
    for &count in counts.iter().filter(|c| **c > 0) {
        let class = (4.0 * (count as f64).log2()).round() as usize;
        classes.resize(classes.len().max(class + 1), (0.0, 0.0));
        classes[class].0 += 1.0;
        classes[class].1 += count as f64;
    }
    let all = tokens * window as f64;
    let classes: Vec<(f64, f64)> =
        classes.into_iter().filter(|c| c.0 > 0.0).map(|(words, sum)| (words, sum / words)).collect();
    let mut pairs = 0.0;
    for (i, &(words, count)) in classes.iter().enumerate() {
        for &(others, other) in &classes[i..] {
            let same = if other == count { 0.5 } else { 1.0 };
            pairs += same * words * others * -(-all * 2.0 * count * other / (tokens * tokens)).exp_m1();
        }
    }
    pairs.min(all) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_neither_more_than_there_is_room_for_nor_than_there_are() {
        // Ten words so often that every pair is there.
        let few = distinct_pairs(&[100_000; 10], 5);
        assert!((45..=55).contains(&few), "{few}");
        // A hundred thousand words once each: every neighbourhood is another pair.
        let rare = distinct_pairs(&vec![1; 100_000], 5);
        assert!((450_000..=500_000).contains(&rare), "{rare}");
        assert_eq!((distinct_pairs(&[], 5), distinct_pairs(&[0, 0], 5)), (0, 0));
    }
}
