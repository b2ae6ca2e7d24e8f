//! What a model makes of the sentences it was learned from: sizes of its features, and phrases that templates stand for.

use super::data::Numbered;
use super::features::{Sizes, mean};
use super::templates::Templates;
use crate::error::Result;
use std::cmp::Ordering;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::{BLOCK, add_assign, sum_blocks};
use tenfold_engine::progress::Progress;

/// Phrases that are kept of a template.
const PHRASES: usize = 8;

/// A phrase by the numbers of its words, and how strongly its template fires there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) activation: f64,
    pub(super) words: Vec<u32>,
}

crate::checkpoint::keep! { Found { activation, words } }

/// Sums over sentences.
pub(super) struct Gathered {
    pub(super) sizes: Sizes,
    /// The phrases of every template, the strongest first.
    pub(super) phrases: Vec<Vec<Found>>,
}

crate::checkpoint::keep! { Gathered { sizes, phrases } }

struct Sums {
    sentences: f64,
    mean: f64,
    pooled: Vec<f64>,
    squares: f64,
    phrases: Vec<Vec<Found>>,
}

impl Gathered {
    pub(super) fn of(
        sentences: &Numbered,
        vectors: &Mat,
        templates: Option<&Templates>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let (width, count) = templates.map_or((0, 0), |t| (t.width(), t.count()));
        let zero = || Sums {
            sentences: 0.0,
            mean: 0.0,
            pooled: vec![0.0; width],
            squares: 0.0,
            phrases: vec![Vec::new(); count],
        };
        let add = |sums: &mut Sums, range: std::ops::Range<usize>| {
            progress.check()?;
            let (mut row, mut pooled) = (vec![0.0; vectors.cols()], vec![0.0; width]);
            for i in range.clone() {
                let sentence = sentences.sentence(i);
                if sentence.is_empty() {
                    continue;
                }
                sums.sentences += 1.0;
                mean(sentence, vectors, None, &mut row);
                sums.mean += row.iter().map(|x| x * x).sum::<f64>();
                if let Some(templates) = templates {
                    let activations = templates.activations(sentence, vectors);
                    templates.pool(&activations, &mut pooled);
                    add_assign(&mut sums.pooled, &pooled);
                    sums.squares += pooled.iter().map(|x| x * x).sum::<f64>();
                    sums.look(sentence, templates, &activations);
                }
            }
            progress.advance(range.len() as u64);
            Ok(())
        };
        let sums = sum_blocks(sentences.len(), BLOCK, zero, add, Sums::merge)?;
        let n = sums.sentences.max(1.0);
        let centre: Vec<f64> = sums.pooled.iter().map(|x| x / n).collect();
        let around = sums.squares / n - centre.iter().map(|x| x * x).sum::<f64>();
        let over = |square: f64| if square > 1e-12 { 1.0 / square.sqrt() } else { 1.0 };
        let sizes = Sizes { centre, templates: over(around), mean: over(sums.mean / n) };
        Ok(Self { sizes, phrases: sums.phrases })
    }
}

impl Sums {
    fn look(&mut self, sentence: &[u32], templates: &Templates, activations: &Mat) {
        for i in 0..activations.rows() {
            let words = templates.words(sentence, i);
            for (kept, &activation) in self.phrases.iter_mut().zip(activations.row(i)) {
                keep(kept, activation, words);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.sentences += other.sentences;
        self.mean += other.mean;
        self.squares += other.squares;
        add_assign(&mut self.pooled, &other.pooled);
        for (kept, more) in self.phrases.iter_mut().zip(other.phrases) {
            more.into_iter().for_each(|found| keep(kept, found.activation, &found.words));
        }
    }
}

/// Keeps the strongest different phrases, in one order whatever came first.
fn keep(kept: &mut Vec<Found>, activation: f64, words: &[u32]) {
    let order = |found: &Found| {
        activation.total_cmp(&found.activation).then_with(|| found.words.as_slice().cmp(words))
    };
    if kept.len() == PHRASES && kept.last().is_some_and(|last| order(last) != Ordering::Greater) {
        return;
    }
    if kept.iter().any(|found| found.words == words) {
        return;
    }
    let at = kept.iter().position(|found| order(found) == Ordering::Greater).unwrap_or(kept.len());
    kept.insert(at, Found { activation, words: words.to_vec() });
    kept.truncate(PHRASES);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_phrases_are_kept_in_any_order_of_coming() {
        let all: Vec<(f64, [u32; 1])> = (0..40u32).map(|i| (f64::from(i * 7 % 13), [i % 20])).collect();
        // A phrase has one activation; here its number decides.
        let all: Vec<(f64, [u32; 1])> = all.iter().map(|(_, w)| (f64::from(w[0] * 7 % 13), *w)).collect();
        let of = |items: &mut dyn Iterator<Item = &(f64, [u32; 1])>| {
            let mut kept = Vec::new();
            items.for_each(|(a, w)| keep(&mut kept, *a, w));
            kept
        };
        let (one, other) = (of(&mut all.iter()), of(&mut all.iter().rev()));
        assert_eq!(one, other);
        assert_eq!(one.len(), PHRASES);
        assert!(one.windows(2).all(|pair| pair[0].activation >= pair[1].activation));
        assert_eq!(one[0].activation, 12.0);
    }
}
