//! Which words the page holds: those that some setting of the slider shows, and those worth searching.

use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tenfold_engine::linalg::Mat;

/// Words shown for a topic.
pub(super) const SHOWN: usize = 25;
/// Positions of the slider: λ = 0, 0.01, …, 1.
pub(super) const STEPS: usize = 100;
/// Words that can be searched, the most probable ones.
const SEARCHED: usize = 20_000;
/// Words of a topic that are sorted at once; the rest is sifted by them first.
const HEAD: usize = 1000;
/// Topics with a smaller share of a word are not told for it, in thousandths.
const LEAST: u32 = 10;

/// The words of the page.
pub(super) struct Words {
    /// Word ids, the searchable ones first by probability, then others that the slider can show.
    pub(super) held: Vec<usize>,
    /// For every topic, places in `held` of the words that the slider can show.
    pub(super) shown: Vec<Vec<usize>>,
    /// For every held word, topics with their share of its uses in thousandths.
    pub(super) uses: Vec<Vec<(usize, u32)>>,
}

/// Picks the words. `shares` are those of the topics, `unigram` the words' own probabilities.
pub(super) fn pick(topics: &Mat, shares: &[f64], unigram: &[f64]) -> Words {
    let (k, words) = (topics.rows(), topics.cols());
    let by_topic: Vec<Vec<usize>> =
        (0..k).into_par_iter().map(|t| relevant(topics.row(t), unigram)).collect();
    let mut total = vec![0.0; words];
    for t in 0..k {
        topics.row(t).iter().zip(&mut total).for_each(|(p, sum)| *sum += shares[t] * p);
    }
    let mut held: Vec<usize> = (0..words).collect();
    held.sort_by(|&a, &b| total[b].total_cmp(&total[a]));
    let mut place = vec![usize::MAX; words];
    held.truncate(SEARCHED);
    held.iter().enumerate().for_each(|(at, &w)| place[w] = at);
    for &w in by_topic.iter().flatten() {
        if place[w] == usize::MAX {
            place[w] = held.len();
            held.push(w);
        }
    }
    let uses = |&w: &usize| {
        let share =
            |t: usize| (1000.0 * shares[t] * topics[(t, w)] / total[w].max(f64::MIN_POSITIVE)).round();
        let mut found: Vec<(usize, u32)> =
            (0..k).map(|t| (t, share(t) as u32)).filter(|(_, s)| *s >= LEAST).collect();
        found.sort_by_key(|&(t, s)| (Reverse(s), t));
        found
    };
    Words {
        uses: held.par_iter().map(uses).collect(),
        shown: by_topic.iter().map(|found| found.iter().map(|&w| place[w]).collect()).collect(),
        held,
    }
}

/// λ log p(w|t) + (1−λ) log(p(w|t)/p(w)), equation (1) of Sievert and Shirley (2014).
fn relevance(lambda: f64, p: f64, unigram: f64) -> f64 {
    p.ln() - (1.0 - lambda) * unigram.ln()
}

/// The words among the [`SHOWN`] most relevant ones of a topic for any position of the slider, most probable
/// first.
///
/// A word with `SHOWN` others at least as probable and with at least its lift is shown nowhere; one pass in the
/// order of probability, with the largest lifts so far in a heap, leaves a few hundred to try. The bulk of the
/// words falls to the heap of the most probable ones before it is sorted.
fn relevant(topic: &[f64], unigram: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..topic.len()).filter(|&w| topic[w] > 0.0 && unigram[w] > 0.0).collect();
    let by = |a: &usize, b: &usize| topic[*b].total_cmp(&topic[*a]).then(a.cmp(b));
    let mut rest = Vec::new();
    if order.len() > HEAD {
        order.select_nth_unstable_by(HEAD, by);
        rest = order.split_off(HEAD);
    }
    // Positive numbers sort like their bits.
    let lift = |w: usize| (topic[w] / unigram[w]).to_bits();
    let mut lifts: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut stays = |w: usize| {
        if lifts.len() == SHOWN {
            if lifts.peek().is_some_and(|least| lift(w) <= least.0) {
                return false;
            }
            lifts.pop();
        }
        lifts.push(Reverse(lift(w)));
        true
    };
    order.sort_unstable_by(by);
    order.retain(|&w| stays(w));
    // At least SHOWN of the head stay, so the heap is full by now; its least lift only rises.
    let mut found: Vec<u64> = order.iter().map(|&w| lift(w)).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    let least = found.get(SHOWN - 1).copied().unwrap_or(0);
    rest.retain(|&w| lift(w) > least);
    rest.sort_unstable_by(by);
    rest.retain(|&w| stays(w));
    order.extend(rest);
    let mut keep = vec![false; order.len()];
    for step in 0..=STEPS {
        let lambda = step as f64 / STEPS as f64;
        let mut scored: Vec<(f64, usize)> =
            order.iter().enumerate().map(|(at, &w)| (relevance(lambda, topic[w], unigram[w]), at)).collect();
        scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.iter().take(SHOWN).for_each(|&(_, at)| keep[at] = true);
    }
    let mut at = 0;
    order.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use tenfold_engine::linalg::random;

    fn drawn(k: usize, words: usize) -> (Mat, Vec<f64>, Vec<f64>) {
        let mut rng = random::rng(3, 0);
        let mut topics = Mat::from_fn(k, words, |_, w| rng.random::<f64>().powi(8) / (1.0 + w as f64));
        for t in 0..k {
            let sum: f64 = topics.row(t).iter().sum();
            topics.row_mut(t).iter_mut().for_each(|p| *p /= sum);
        }
        let shares = vec![1.0 / k as f64; k];
        let unigram = (0..words).map(|w| (0..k).map(|t| topics[(t, w)] / k as f64).sum()).collect();
        (topics, shares, unigram)
    }

    #[test]
    fn no_position_of_the_slider_needs_a_word_that_is_missing() {
        let (topics, _, unigram) = drawn(3, 2000);
        for t in 0..3 {
            let found = relevant(topics.row(t), &unigram);
            assert!(found.len() < 1000, "{}", found.len());
            for step in 0..=STEPS {
                let lambda = step as f64 / STEPS as f64;
                let mut all: Vec<usize> = (0..2000).collect();
                let score = |w: usize| relevance(lambda, topics[(t, w)], unigram[w]);
                all.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
                assert!(all[..SHOWN].iter().all(|w| found.contains(w)), "topic {t}, step {step}");
            }
        }
    }

    #[test]
    fn uses_of_a_word_are_its_shares_among_topics() {
        let (topics, shares, unigram) = drawn(4, 50);
        let words = pick(&topics, &shares, &unigram);
        assert_eq!(words.held.len(), 50, "a small vocabulary is held whole");
        for (at, &w) in words.held.iter().enumerate() {
            let total: f64 = (0..4).map(|t| topics[(t, w)]).sum();
            for &(t, s) in &words.uses[at] {
                assert!((f64::from(s) - 1000.0 * topics[(t, w)] / total).abs() <= 0.5001);
            }
        }
        assert!(words.held.windows(2).all(|p| unigram[p[0]] >= unigram[p[1]] - 1e-15));
    }
}
