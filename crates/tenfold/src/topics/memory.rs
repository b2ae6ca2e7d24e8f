//! What a fit of topics holds at its peak, by sizes alone.

use super::data::Corpus;
use super::fit::{Params, Polish};
use super::spectral::{OVERSAMPLE, WIDEST_FORMED, basis_width};
use crate::components::Components;
use crate::memory::Estimate;
use tenfold_engine::linalg::parallel::{BLOCK, lanes_held};

/// Topics that are reckoned with where their number is yet to be chosen: the most that the choice looks at in a usual corpus.
const CHOSEN: usize = 100;

/// Documents of a group that is projected at once, and entries of one that is read from disk, as the engine's `counts` has them.
const GROUP: (u64, u64) = (4096, 4 << 20);

/// Documents of a window, whose sums are added to those of the others with a number more.
const WINDOW: u64 = 32_768;

/// The sizes that decide.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    documents: u64,
    words: u64,
    entries: u64,
    k: u64,
    /// Directions of the basis.
    basis: u64,
    /// Bytes of the documents; none when they lie on disk.
    held: u64,
    on_disk: bool,
    polished: bool,
}

impl Params {
    /// What a fit of these documents will hold, before it begins.
    pub fn needs(&self, corpus: &Corpus) -> Estimate {
        let k = match self.k {
            Components::Exactly(k) => k,
            Components::Auto => CHOSEN,
        };
        let k = k.min(corpus.words().max(1));
        estimate(Sizes {
            documents: corpus.documents() as u64,
            words: corpus.words() as u64,
            entries: corpus.entries(),
            k: k as u64,
            basis: basis_width(k, corpus.words()) as u64,
            held: corpus.held_bytes(),
            on_disk: corpus.is_spilled(),
            polished: self.polish != Polish::None,
        })
    }
}

fn estimate(sizes: Sizes) -> Estimate {
    let Sizes { documents, words, k, basis, .. } = sizes;
    let (windows, threads) = (documents.div_ceil(WINDOW).max(1), rayon::current_num_threads() as u64);
    // The products of the directions: X and M2·X (8 bytes each), X in single precision and the sums of a window (4 each), sums of
    // windows in two numbers (16), and a copy while they are made orthonormal (8). Of a single window sums are no more than X, its
    // image and two copies.
    let wide = (basis + OVERSAMPLE as u64).next_multiple_of(8).min(words.max(basis));
    let directions = if windows > 1 { 48 } else { 32 } * words * wide;
    let formed = basis <= WIDEST_FORMED as u64;
    let tensor = basis * (basis + 1) * (basis + 2) / 6;
    let moments = match formed {
        // B (8 and 4), pairs and triples with one word free (each 4 a window and 16 in all), and products with B; eight shards of
        // the tensor with their sums.
        true => 52 * words * basis + 8 * 24 * tensor,
        // B, pairs, and second moments of eight shards; beyond that width documents are held in white directions, with those of the
        // words thrice.
        false => (16 * words + 64 * basis) * basis + 4 * documents * k + sizes.white(windows, threads),
    };
    // Topics in double precision before and after, and tables of single precision: counts, their mean, what is read; beside moments
    // that the model will keep.
    let kept = if formed { 16 * words * basis + 8 * 2 * tensor } else { 0 };
    let polish = kept + if sizes.polished { 36 } else { 24 } * words * k;
    // A group of documents through the basis: single precision twice and, of the eight shards that threads are at, double three times.
    let group = GROUP.0.min(documents) * wide * (8 + 3 * threads.min(8));
    let read = if sizes.on_disk { 16 * GROUP.1.min(sizes.entries) } else { 0 };
    Estimate::beside("documents", sizes.held)
        .and("lengths and weights", 12 * documents)
        .and("a group of documents", group + read)
        .and_largest(&[("directions", directions), ("moments", moments), ("polish", polish)])
}

impl Sizes {
    /// Words in white directions, in double and single precision, with what documents add to them: sums of windows, then the
    /// difference; and contractions, whose blocks are multiplied nine times for a start and whose sums are squares.
    fn white(&self, windows: u64, threads: u64) -> u64 {
        let (words, k) = (self.words, self.k);
        let gathered = if windows > 1 { 8 + 4 + 4 + 16 } else { 8 + 4 + 8 };
        let blocks = 8 * BLOCK as u64 * k * 9 * threads;
        let contracted = (8 + 4 + 8) * words * k + blocks + 8 * k * k * (lanes_held() as u64 + 4);
        ((gathered + 8) * words * k).max(contracted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(k: u64, words: u64) -> Sizes {
        let basis = basis_width(k as usize, words as usize) as u64;
        let (documents, entries, held) = (300_000, 70_000_000, 600 << 20);
        Sizes { documents, words, entries, k, basis, held, on_disk: false, polished: true }
    }

    #[test]
    fn more_topics_and_words_take_more() {
        let total = |k, words| estimate(sizes(k, words)).total();
        assert!(total(50, 100_000) < total(100, 100_000) && total(100, 100_000) < total(300, 100_000));
        assert!(total(100, 50_000) < total(100, 100_000));
    }

    /// Beside its documents: what it was when 1616 MB were told and 1660 taken of 300,000 documents, 102,000 words and a hundred topics.
    #[test]
    fn a_large_corpus_is_told_as_it_was_measured() {
        let work = estimate(sizes(100, 102_660)).work() as f64 / 1e6;
        assert!((640.0..690.0).contains(&work), "{work}");
    }

    #[test]
    fn a_corpus_on_disk_takes_its_groups_only() {
        let held = estimate(sizes(100, 100_000));
        let spilled = estimate(Sizes { held: 0, on_disk: true, ..sizes(100, 100_000) });
        assert!(spilled.total() < held.total());
        assert!(spilled.parts().all(|part| part.0 != "documents"));
    }
}
