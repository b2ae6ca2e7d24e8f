//! Phrase templates: patterns over a few neighbouring words, in all dimensions of their vectors.
//!
//! A patch x of q neighbouring words is modelled as x = mean + Σ_l f_l a_l with independent activations a_l: the multichannel
//! form of the thesis's convolutional model, equation (gen), whose single coordinates cannot see which words stand
//! together. Whitening and the decomposition of the third or fourth cumulant of the patches give the templates f_l; decoding
//! is a = F⁺(x − mean). A sentence keeps the largest activations of every template (max-k pooling).

use super::coordinates::{self, Coordinate};
use super::data::Numbered;
use crate::error::Result;
use crate::ica::{self, Contrast, Polish};
use rand::RngExt;
use std::ops::Range;
use tenfold_engine::decompose::{Polar, Solver};
use tenfold_engine::linalg::{Mat, orthonormalise, random};
use tenfold_engine::progress::Progress;

/// Patches that templates are learned from, at most: beyond, the estimate hardly moves and only takes longer.
pub(super) const ENOUGH: usize = 40_000;
/// Iterations of a start, and the change of the fit below which it stands still: cumulants of some ten thousand patches carry
/// noise of a percent, so that further digits are only its own.
const ITERATIONS: usize = 60;
const FIT_TOLERANCE: f64 = 1e-5;

/// What tells templates apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learner {
    /// The third cumulant of patches: skewed activations.
    Third,
    /// The fourth cumulant: activations of either kurtosis sign.
    Fourth,
    /// Nothing: random directions of the whitened patches, to compare with.
    Random,
    /// The thesis's way: both cumulants of every coordinate of the vectors by itself, which is a signal over the words.
    Motifs,
}

impl Learner {
    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Third => "third",
            Self::Fourth => "fourth",
            Self::Random => "random",
            Self::Motifs => "motifs",
        }
    }

    /// From [`Learner::name`].
    pub fn named(name: &str) -> Option<Self> {
        [Self::Third, Self::Fourth, Self::Random, Self::Motifs]
            .into_iter()
            .find(|learner| learner.name() == name)
    }
}

/// How templates are learned and read off.
///
/// # Example
/// ```
/// use tenfold::sentences::{Learner, Search};
/// let search = Search { learner: Learner::Third, ..Search::default() };
/// assert_eq!((search.length, search.count, search.pool), (4, 128, 1));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// How many.
    pub count: usize,
    /// Words of a template.
    pub length: usize,
    /// Leading dimensions of the word vectors that a template sees; `None` sees all, or half as many as there are templates
    /// where each has its own motifs.
    pub channels: Option<usize>,
    /// What tells them apart.
    pub learner: Learner,
    /// Activations of a template that a sentence keeps, the largest first.
    pub pool: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self { count: 128, length: 4, channels: None, learner: Learner::Fourth, pool: 1 }
    }
}

/// How activations are read off.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Decode {
    /// a = decode · (x − mean) at every place: templates × (length · channels).
    Patches(Mat),
    /// Motifs of single coordinates, least squares over the whole sentence.
    Coordinates(Vec<Coordinate>),
}

/// Learned templates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Templates {
    pub(super) decode: Decode,
    /// (length · channels) × templates: what an activation adds to a patch.
    pub(super) shapes: Mat,
    /// Of the patches.
    pub(super) mean: Vec<f64>,
    /// Words of a template.
    pub(super) length: usize,
    pub(super) pool: usize,
}

/// How learning went.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Learning {
    pub(super) patches: usize,
    pub(super) learned_from: usize,
    pub(super) skewness: Vec<f64>,
    pub(super) kurtosis: Vec<f64>,
    pub(super) converged: bool,
    pub(super) iterations: usize,
    /// The part of the patches' variance that the templates span.
    pub(super) explained: f64,
    /// Coordinates whose cumulants do not stand out from their noise; 0 for templates of all coordinates.
    pub(super) weak: usize,
}

impl Search {
    /// Learns templates from the patches of sentences; nothing when no patch varies.
    pub(super) fn learn(
        &self,
        sentences: &Numbered,
        vectors: &Mat,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Option<(Templates, Learning)>> {
        if self.learner == Learner::Motifs {
            return self.learn_coordinates(sentences, vectors, seed, progress);
        }
        let channels = self.channels.unwrap_or(vectors.cols()).min(vectors.cols());
        let places = places(sentences, self.length);
        let all = places.len();
        let chosen = some_of(places, seed);
        let patches = Patches { sentences, vectors, channels, length: self.length, places: chosen };
        let rank = patches.cols().min(patches.rows().saturating_sub(1));
        if rank == 0 {
            return Ok(None);
        }
        let max_iterations = if self.learner == Learner::Random { 1 } else { ITERATIONS };
        // One start: a second costs as much again, and on text every start finds its own neighbourhood of a broad optimum.
        let polar = Polar { max_iterations, tolerance: 1e-3, fit_tolerance: FIT_TOLERANCE, restarts: 1 };
        let params = ica::Params {
            contrast: if self.learner == Learner::Third { Contrast::Skewness } else { Contrast::Kurtosis },
            solver: Solver::Polar(polar),
            polish: Polish::None,
            seed,
            ..ica::Params::new(self.count.min(rank))
        };
        let held = patches.to_mat();
        let model = match params.fit_with(&held, progress) {
            Ok(model) => model,
            // Words that never vary have no phrases.
            Err(crate::Error::Engine(tenfold_engine::Error::TooLittleData(_))) => return Ok(None),
            Err(error) => return Err(error),
        };
        let (mut decode, mut shapes) = (model.unmixing().clone(), model.mixing().clone());
        let d = model.diagnostics();
        let used: f64 = d.spectrum.iter().take(model.k()).sum();
        let explained = used / d.spectrum.iter().filter(|x| **x > 0.0).sum::<f64>().max(f64::MIN_POSITIVE);
        if self.learner == Learner::Random {
            let mut rng = random::rng(seed, 0x7e3a);
            let turn = orthonormalise(&random::gaussian(model.k(), model.k(), &mut rng));
            (decode, shapes) = (turn.tr_matmul(&decode), shapes.matmul(&turn));
        } else {
            turn_to_the_heavier_side(&mut decode, &mut shapes, model.skewness());
        }
        let learning = Learning {
            patches: all,
            learned_from: held.rows(),
            skewness: model.skewness().iter().map(|s| s.abs()).collect(),
            kurtosis: model.kurtosis().to_vec(),
            converged: d.converged || self.learner == Learner::Random,
            iterations: d.iterations,
            explained,
            weak: 0,
        };
        let decode = Decode::Patches(decode);
        let mean = model.mean().to_vec();
        Ok(Some((Templates { decode, shapes, mean, length: self.length, pool: self.pool }, learning)))
    }
}

/// Positive activations are those with the heavier tail: they are the phrases that a template stands for.
fn turn_to_the_heavier_side(decode: &mut Mat, shapes: &mut Mat, skewness: &[f64]) {
    let signs: Vec<f64> = skewness.iter().map(|s| if *s < 0.0 { -1.0 } else { 1.0 }).collect();
    decode.scale_rows(&signs);
    shapes.scale_cols(&signs);
}

impl Templates {
    /// Number of templates.
    pub(super) fn count(&self) -> usize {
        self.shapes.cols()
    }

    /// Numbers that a sentence gets.
    pub(super) fn width(&self) -> usize {
        self.count() * self.pool
    }

    fn channels(&self) -> usize {
        self.shapes.rows() / self.length
    }

    /// The activations at every place of a sentence, places × templates; no places when it is empty.
    pub(super) fn activations(&self, sentence: &[u32], vectors: &Mat) -> Mat {
        let decode = match &self.decode {
            Decode::Patches(decode) => decode,
            Decode::Coordinates(all) => return coordinates::activations(all, sentence, vectors),
        };
        let (count, channels) = (sentence.len(), self.channels());
        let rows = places_of(count, self.length);
        let mut x = Mat::zeros(rows, decode.cols());
        for i in 0..rows {
            let row = x.row_mut(i);
            patch(&sentence[i..(i + self.length).min(count)], vectors, channels, row);
            row.iter_mut().zip(&self.mean).for_each(|(x, m)| *x -= m);
        }
        x.matmul_tr(decode)
    }

    /// The words of a sentence under a template at one of its places.
    pub(super) fn words<'s>(&self, sentence: &'s [u32], place: usize) -> &'s [u32] {
        // Motifs may begin before the sentence.
        let before = if matches!(self.decode, Decode::Patches(_)) { 0 } else { self.length - 1 };
        let end = (place + self.length).saturating_sub(before).min(sentence.len());
        &sentence[place.saturating_sub(before).min(end)..end]
    }

    /// Max-k pooling: the largest activations of every template, all of the first rank before those of the second. Where a
    /// sentence has fewer places than ranks, its smallest activation stands for the rest.
    pub(super) fn pooled(&self, sentence: &[u32], vectors: &Mat, out: &mut [f64]) {
        self.pool(&self.activations(sentence, vectors), out);
    }

    /// [`Templates::pooled`] of activations that are there already.
    pub(super) fn pool(&self, activations: &Mat, out: &mut [f64]) {
        if activations.rows() == 0 {
            return out.fill(0.0);
        }
        let mut column = vec![0.0; activations.rows()];
        for l in 0..self.count() {
            (0..column.len()).for_each(|i| column[i] = activations[(i, l)]);
            column.sort_unstable_by(|a, b| b.total_cmp(a));
            for rank in 0..self.pool {
                out[rank * self.count() + l] = column[rank.min(column.len() - 1)];
            }
        }
    }
}

/// Places where a template can stand: one when a sentence is shorter than it, none when it is empty.
fn places_of(words: usize, length: usize) -> usize {
    if words == 0 { 0 } else { words.saturating_sub(length) + 1 }
}

/// Where every patch begins and ends.
fn places(sentences: &Numbered, length: usize) -> Vec<Range<usize>> {
    let of = |i: usize| {
        let Range { start, end } = sentences.range(i);
        (0..places_of(end - start, length)).map(move |at| start + at..(start + at + length).min(end))
    };
    (0..sentences.len()).flat_map(of).collect()
}

/// One at random out of every so many neighbours, when there are more than enough.
fn some_of(places: Vec<Range<usize>>, seed: u64) -> Vec<Range<usize>> {
    if places.len() <= ENOUGH {
        return places;
    }
    let mut rng = random::rng(seed, 0x70c3);
    let edge = |i: usize| i * places.len() / ENOUGH;
    (0..ENOUGH).map(|i| places[rng.random_range(edge(i)..edge(i + 1))].clone()).collect()
}

/// The vectors of some words one after another; zeros where words are lacking.
fn patch(words: &[u32], vectors: &Mat, channels: usize, out: &mut [f64]) {
    out.fill(0.0);
    for (to, &word) in out.chunks_exact_mut(channels).zip(words) {
        to.copy_from_slice(&vectors.row(word as usize)[..channels]);
    }
}

/// Patches of sentences in rows.
struct Patches<'a> {
    sentences: &'a Numbered,
    vectors: &'a Mat,
    channels: usize,
    length: usize,
    places: Vec<Range<usize>>,
}

impl Patches<'_> {
    fn rows(&self) -> usize {
        self.places.len()
    }

    fn cols(&self) -> usize {
        self.length * self.channels
    }

    fn to_mat(&self) -> Mat {
        let mut out = Mat::zeros(self.rows(), self.cols());
        for (i, place) in self.places.iter().enumerate() {
            patch(&self.sentences.words[place.clone()], self.vectors, self.channels, out.row_mut(i));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::progress::Silent;

    /// Sentences of random words in which three-word phrases are planted.
    fn planted(seed: u64, phrases: &[[u32; 3]]) -> Numbered {
        let mut rng = random::rng(seed, 1);
        let mut out = Numbered::default();
        for _ in 0..4000 {
            let mut words: Vec<u32> = (0..7).map(|_| rng.random_range(0..20)).collect();
            if rng.random_range(0..10) < 3 {
                let phrase = phrases[rng.random_range(0..phrases.len())];
                let at = rng.random_range(0..5);
                words[at..at + 3].copy_from_slice(&phrase);
            }
            out.words.extend(words);
            out.ends.push(out.words.len());
        }
        out
    }

    /// A phrase stands at 2 % of the places. Were it an independent source, its activation would be √(0.98/0.02) = 7 there;
    /// patches that hold a part of it take some of that away. Random directions reach 7/√36, a little above 1. So for every
    /// phrase one template fires with more than 4, for both cumulants, over three seeds.
    #[test]
    fn planted_phrases_are_found() {
        let phrases = [[20, 21, 22], [23, 24, 25], [26, 27, 28]];
        for (seed, learner) in [(0, Learner::Fourth), (1, Learner::Fourth), (2, Learner::Third)] {
            let sentences = planted(seed, &phrases);
            let vectors = random::gaussian(29, 12, &mut random::rng(seed, 2));
            let search = Search { count: 36, length: 3, learner, ..Search::default() };
            let (templates, learning) = search.learn(&sentences, &vectors, 7, &Silent).unwrap().unwrap();
            assert_eq!((templates.count(), learning.patches), (36, 20_000));
            for phrase in &phrases {
                let best = templates.activations(phrase, &vectors).row(0).iter().copied().fold(0.0, f64::max);
                assert!(best > 4.0, "seed {seed} {phrase:?}: {best}");
            }
        }
    }

    #[test]
    fn sentences_of_any_length_are_pooled() {
        let sentences = planted(1, &[[20, 21, 22]]);
        let vectors = random::gaussian(29, 5, &mut random::rng(1, 2));
        let search = Search { count: 4, length: 3, pool: 2, channels: Some(3), ..Search::default() };
        let (templates, _) = search.learn(&sentences, &vectors, 7, &Silent).unwrap().unwrap();
        assert_eq!((templates.width(), templates.shapes.rows()), (8, 9));
        let pooled = |words: &[u32]| {
            let mut out = vec![f64::NAN; 8];
            templates.pooled(words, &vectors, &mut out);
            out
        };
        assert_eq!(pooled(&[]), [0.0; 8]);
        let short = pooled(&[3]);
        assert_eq!(short[..4], short[4..], "one place stands for both ranks");
        let long = pooled(&[3, 9, 4, 4, 1]);
        let activations = templates.activations(&[3, 9, 4, 4, 1], &vectors);
        for l in 0..4 {
            let mut column = activations.col(l);
            column.sort_by(|a, b| b.total_cmp(a));
            assert_eq!((long[l], long[4 + l]), (column[0], column[1]));
        }
    }

    /// Decoding undoes what templates add: decode · shapes is the identity.
    #[test]
    fn decoding_inverts_the_templates() {
        let sentences = planted(2, &[[20, 21, 22]]);
        let vectors = random::gaussian(29, 4, &mut random::rng(2, 2));
        for learner in [Learner::Third, Learner::Fourth, Learner::Random] {
            let search = Search { count: 6, learner, ..Search::default() };
            let (templates, _) = search.learn(&sentences, &vectors, 7, &Silent).unwrap().unwrap();
            let Decode::Patches(decode) = &templates.decode else { panic!("{learner:?}") };
            let mut product = decode.matmul(&templates.shapes);
            product.add_scaled(-1.0, &Mat::identity(6));
            assert!(product.max_abs() < 1e-8, "{learner:?} {}", product.max_abs());
        }
    }

    #[test]
    fn a_text_without_phrases_has_no_templates() {
        let one = Numbered { words: vec![0; 40], ends: vec![20, 40] };
        assert!(Search::default().learn(&one, &Mat::identity(1), 0, &Silent).unwrap().is_none());
        let none = Numbered { words: vec![], ends: vec![0, 0] };
        assert!(Search::default().learn(&none, &Mat::identity(1), 0, &Silent).unwrap().is_none());
    }
}
