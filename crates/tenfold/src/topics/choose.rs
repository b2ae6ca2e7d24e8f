//! How many topics a corpus can show.

use super::data::Corpus;
use super::fit::{smoothed, unigram};
use super::moments::{SecondMoment, Weighted};
use super::spectral::{Search, basis_width, find_basis, gather, solve};
use crate::admixture::{Completion, HeldOut};
use crate::checkpoint::keep;
use crate::error::Result;
use crate::verdict::Verdict;
use tenfold_engine::linalg::{RangeFinder, SymmetricOperator};

/// The number of topics and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub k: usize,
    /// Numbers of directions that hold at half and at a quarter of their size in the other half of the documents.
    pub interval: Option<(usize, usize)>,
    /// Held-out perplexity of the unpolished topics for the numbers that were tried.
    pub tried: Vec<(usize, f64)>,
    /// The most topics that were looked for.
    most: usize,
}

keep! { Choice { k, interval, tried, most } }

/// Most topics that are looked for.
const MOST: usize = 200;
/// Documents whose completion ranks the candidates.
const SCORED: usize = 1_000;

/// Chooses k from the corpus.
///
/// Directions u_i of M2 come from one half of the documents, and their eigenvalue is measured again in the other, as
/// u_iᵀ M2 u_i: noise does not come back. The numbers whose eigenvalue holds at more than half and at more than a quarter of
/// its size bound an interval; inside it the unpolished topics that complete held-out documents best win. (Polished
/// perplexity falls for ever and the largest gap of eigenvalues says 3 on news: neither chooses.)
pub(super) fn choose(
    corpus: &Corpus,
    weighted: &Weighted<'_>,
    scale: &[f64],
    search: &Search<'_>,
    held_out: HeldOut,
) -> Result<Choice> {
    let words = scale.iter().filter(|s| **s > 0.0).count();
    let most = MOST.min(words / 2).min(weighted.documents / 4).max(1);
    let (low, high) = interval(weighted, scale, most, search)?;
    let basis = find_basis(weighted, scale, basis_width(high, words), search)?;
    let moments = gather(weighted, basis, search)?;
    let unigram = unigram(corpus)?;
    let watchers = corpus.aside(held_out, SCORED, search.progress)?;
    if watchers.tokens() == 0 || low == high {
        return Ok(Choice { k: low, interval: Some((low, high)), tried: Vec::new(), most });
    }
    let mut tried = Vec::new();
    for k in candidates(low, high) {
        let estimate = solve(&moments, Some(weighted), k, search)?;
        let topics = smoothed(&estimate.topics, &unigram, 0.01);
        let measure = Completion { steps: 20, ..Completion::default() };
        tried.push((k, measure.perplexity(&watchers, &topics, &unigram, search.progress)?));
    }
    // Within a third of a percent of the best, fewer topics say the same.
    let best = tried.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
    let k = tried.iter().find(|t| t.1 <= best * 1.003).map_or(high, |t| t.0);
    Ok(Choice { k, interval: Some((low, high)), tried, most })
}

/// Up to seven numbers from low to high, in equal ratios.
fn candidates(low: usize, high: usize) -> Vec<usize> {
    let ratio = (high as f64 / low as f64).powf(1.0 / 6.0);
    let mut all: Vec<usize> = (0..7).map(|i| (low as f64 * ratio.powi(i)).round() as usize).collect();
    all.dedup();
    all
}

fn interval(
    weighted: &Weighted<'_>,
    scale: &[f64],
    most: usize,
    search: &Search<'_>,
) -> Result<(usize, usize)> {
    let halves = [weighted.half(0, search.progress)?, weighted.half(1, search.progress)?];
    let operators = halves.each_ref().map(|weighted| SecondMoment {
        weighted,
        scale,
        alpha0: search.alpha0,
        progress: search.progress,
    });
    search.progress.stage("choosing k", 12 * weighted.chosen.len() as u64);
    let finder = RangeFinder { seed: search.seed, ..RangeFinder::default() };
    let mut own = vec![0.0; most];
    let mut again = vec![0.0; most];
    for (mine, other) in [(0, 1), (1, 0)] {
        let eigen = finder.eigen(&operators[mine], most)?;
        let u = eigen.vectors.first_cols(most);
        let measured = operators[other].apply(&u)?.col_dots(&u);
        for i in 0..most {
            own[i] += eigen.values[i];
            again[i] += measured[i];
        }
    }
    let count = |share: f64| (0..most).filter(|&i| own[i] > 0.0 && again[i] > share * own[i]).count().max(1);
    let low = count(0.5);
    Ok((low, count(0.25).max(low)))
}

impl Choice {
    pub fn given(k: usize) -> Self {
        Self { k, interval: None, tried: Vec::new(), most: k }
    }

    pub fn report(&self, verdict: &mut Verdict) {
        let Some((low, high)) = self.interval else { return };
        let how = match self.tried.len() {
            0 if low == high => String::new(),
            0 => "; there are too few documents to keep some aside and see which number completes them best, so the smaller \
                  is taken"
                .to_owned(),
            n => format!("; of {n} tried between them, {} completes held-out documents best", self.k),
        };
        verdict.note(format!(
            "k = {}: {low} directions keep more than half of their size in the other half of the documents, {high} more \
             than a quarter{how}",
            self.k
        ));
        if self.k == 1 {
            verdict.warn("one topic: nothing was found that tells these documents apart");
        }
        if high == self.most {
            verdict.note(format!(
                "no more than {} topics were looked for, and so many the documents may have: ask for a larger k to see",
                self.most
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_says_what_limited_it() {
        let told = |choice: Choice| {
            let mut verdict = Verdict::default();
            choice.report(&mut verdict);
            verdict.findings().iter().map(|f| f.1.clone()).collect::<Vec<_>>().join("\n")
        };
        let choice = Choice { k: 200, interval: Some((150, 200)), tried: vec![(200, 1.0)], most: MOST };
        assert!(told(choice.clone()).contains("no more than 200 topics"));
        assert!(!told(Choice { interval: Some((150, 199)), ..choice.clone() }).contains("no more than"));
        let told = told(Choice { k: 3, interval: Some((3, 5)), tried: Vec::new(), most: 9 });
        assert!(told.contains("too few documents to keep some aside"), "{told}");
    }
}
