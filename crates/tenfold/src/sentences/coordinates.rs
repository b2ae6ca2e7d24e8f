//! The thesis's templates: motifs of every coordinate of the word vectors by itself.
//!
//! Coordinate j of a sentence's vectors is a signal y over its words, y = Σ_l f_l ⋆ w_l, and [`crate::motifs`] learns the f_l from
//! all sentences. Decoding is w = F⁺y, a linear filter bank in the Fourier domain with a ridge at spectral zeros; outside of
//! the sentence stand zeros.

use super::data::Numbered;
use super::templates::{Decode, Learning, Search, Templates};
use crate::checkpoint::stage;
use crate::error::Result;
use crate::motifs::decode::Inverse;
use crate::motifs::{Extent, Filters, Length, Params, Signals, Stretch};
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::{BLOCK, add_assign, sum_blocks};
use tenfold_engine::progress::Progress;

/// Words that motifs of a coordinate are learned from, about: the fourth cumulant of so few lags is known to a percent then.
const ENOUGH: usize = 100_000;
/// An order's squared norm over that of its noise, below which it says nothing.
const STANDS_OUT: f64 = 1.5;

/// The motifs of one coordinate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coordinate {
    number: usize,
    mean: f64,
    /// Of unit norm.
    filters: Filters,
    /// What decoded activations are divided by, so that they have variance one.
    scales: Vec<f64>,
}

impl Search {
    /// Coordinates, and motifs of each: two unless somebody says how many coordinates, and no more than the third cumulant
    /// of so few words can tell apart.
    fn shared_out(&self, dimensions: usize) -> (usize, usize) {
        let coordinates = self.channels.unwrap_or(self.count.div_ceil(2)).min(dimensions).min(self.count);
        (coordinates, (self.count / coordinates.max(1)).clamp(1, self.length.div_ceil(2)))
    }

    /// [`Search::learn`] for [`super::Learner::Motifs`].
    pub(super) fn learn_coordinates(
        &self,
        sentences: &Numbered,
        vectors: &Mat,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Option<(Templates, Learning)>> {
        let (channels, motifs) = self.shared_out(vectors.cols());
        let chosen = some_of(sentences);
        if !chosen.iter().any(|&i| sentences.sentence(i).len() >= self.length) {
            return Ok(None);
        }
        progress.stage("motifs of coordinates", channels as u64);
        let quiet = Quiet(progress);
        let (mut found, mut weak, mut converged) = (Vec::new(), 0, true);
        for number in 0..channels {
            progress.check()?;
            let signals = signals(sentences, &chosen, vectors, number);
            if varies(&signals) {
                let length = Length::Known(Extent::line(self.length));
                let (filters, stands, settled) = stage(progress, &format!("coordinate {number}"), |_| {
                    let params = Params { length, seed, ..Params::new(motifs) };
                    let model = params.learn_with(&signals, &quiet)?;
                    let d = model.diagnostics();
                    let stands = d.strengths.iter().any(|s| *s > STANDS_OUT);
                    Ok((model.filters().clone(), stands, d.converged))
                })?;
                weak += usize::from(!stands);
                converged &= settled;
                found.push((number, filters));
            }
            progress.advance(1);
        }
        if found.is_empty() {
            return Ok(None);
        }
        let (mut shapes, mean) = laid_out(&found, sentences, vectors, channels);
        let decode = Decode::Coordinates(coordinates(&shapes, &mean, self.length));
        let mut templates = Templates { decode, shapes: shapes.clone(), mean, length: self.length, pool: 1 };
        let moments = Moments::of(&templates, sentences, &chosen, vectors, progress)?;
        shapes.scale_cols(&moments.deviations());
        templates.decode = Decode::Coordinates(coordinates(&shapes, &templates.mean, self.length));
        templates.shapes = shapes;
        templates.pool = self.pool;
        let used: usize = chosen.iter().map(|&i| sentences.sentence(i).len()).sum();
        let learning = Learning {
            patches: sentences.words.len(),
            learned_from: used,
            skewness: moments.standard(3).iter().map(|s| s.abs()).collect(),
            kurtosis: moments.standard(4).iter().map(|k| k - 3.0).collect(),
            converged,
            iterations: 0,
            explained: share(sentences, vectors, channels),
            weak,
        };
        Ok(Some((templates, learning)))
    }
}

/// Templates of whole patches, zero outside of their coordinate, and the mean of every patch.
fn laid_out(
    found: &[(usize, Filters)],
    sentences: &Numbered,
    vectors: &Mat,
    channels: usize,
) -> (Mat, Vec<f64>) {
    let length = found[0].1.extent.columns;
    let count = found.iter().map(|(_, filters)| filters.count()).sum();
    let mut shapes = Mat::zeros(length * channels, count);
    let mut column = 0;
    for (number, filters) in found {
        for l in 0..filters.count() {
            filters
                .motif(l)
                .iter()
                .enumerate()
                .for_each(|(t, value)| shapes[(t * channels + number, column)] = *value);
            column += 1;
        }
    }
    let mut centre = vec![0.0; channels];
    for &word in &sentences.words {
        add_assign(&mut centre, &vectors.row(word as usize)[..channels]);
    }
    centre.iter_mut().for_each(|c| *c /= sentences.words.len().max(1) as f64);
    (shapes, centre.repeat(length))
}

/// Motifs by coordinate from templates of whole patches; nothing when a template sees several coordinates or none.
pub(super) fn of_shapes(shapes: &Mat, mean: &[f64], length: usize) -> Option<Vec<Coordinate>> {
    let channels = shapes.rows() / length;
    let sees = |number: usize, l: usize| (0..length).any(|t| shapes[(t * channels + number, l)] != 0.0);
    let whole = (0..shapes.cols()).all(|l| (0..channels).filter(|&number| sees(number, l)).count() == 1);
    let found = whole.then(|| coordinates(shapes, mean, length))?;
    // Templates stand in the order of their coordinates, so that activations have the order of templates.
    let order: Vec<usize> =
        (0..shapes.cols()).filter_map(|l| (0..channels).find(|&number| sees(number, l))).collect();
    order.is_sorted().then_some(found)
}

fn coordinates(shapes: &Mat, mean: &[f64], length: usize) -> Vec<Coordinate> {
    let channels = shapes.rows() / length;
    let of = |number: usize| {
        let (mut values, mut scales) = (Vec::new(), Vec::new());
        for l in 0..shapes.cols() {
            let taps: Vec<f64> = (0..length).map(|t| shapes[(t * channels + number, l)]).collect();
            let norm = taps.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm > 0.0 {
                values.extend(taps.iter().map(|x| x / norm));
                scales.push(norm);
            }
        }
        let filters = Filters::new(values, 1, Extent::line(length));
        (!scales.is_empty()).then_some(Coordinate { number, mean: mean[number], filters, scales })
    };
    (0..channels).filter_map(of).collect()
}

/// The activations of a sentence, (words + length − 1) × templates: the first are those of templates that begin before it.
pub(super) fn activations(coordinates: &[Coordinate], sentence: &[u32], vectors: &Mat) -> Mat {
    let count = coordinates.iter().map(|c| c.scales.len()).sum();
    let length = coordinates.first().map_or(1, |c| c.filters.extent.columns);
    if sentence.is_empty() {
        return Mat::zeros(0, count);
    }
    let rows = sentence.len() + length - 1;
    let mut out = Mat::zeros(rows, count);
    let mut first = 0;
    let inverse = Inverse::new(Extent::line(sentence.len()), Extent::line(length), false);
    for coordinate in coordinates {
        let signal: Vec<f64> = sentence
            .iter()
            .map(|&word| vectors.row(word as usize)[coordinate.number] - coordinate.mean)
            .collect();
        let maps = inverse.of(&coordinate.filters, &signal);
        for (l, scale) in coordinate.scales.iter().enumerate() {
            for (i, w) in maps[l * rows..(l + 1) * rows].iter().enumerate() {
                out[(i, first + l)] = w / scale;
            }
        }
        first += coordinate.scales.len();
    }
    out
}

/// Sentences with [`ENOUGH`] words, evenly among all.
fn some_of(sentences: &Numbered) -> Vec<usize> {
    let words = sentences.words.len() as u128;
    let due = |i: usize| sentences.range(i).start as u128 * (ENOUGH as u128).min(words) / words.max(1);
    let mut taken = 0u128;
    let mut chosen = Vec::new();
    for i in 0..sentences.len() {
        let own = sentences.sentence(i).len() as u128;
        if own > 0 && taken <= due(i) {
            taken += own;
            chosen.push(i);
        }
    }
    chosen
}

fn signals(sentences: &Numbered, chosen: &[usize], vectors: &Mat, number: usize) -> Signals {
    let stretch = |(trial, &i): (usize, &usize)| {
        let words = sentences.sentence(i);
        let values = words.iter().map(|&word| vectors.row(word as usize)[number]).collect();
        Stretch { values, extent: Extent::line(words.len()), trial, offset: 0 }
    };
    Signals::new(chosen.iter().enumerate().map(stretch).collect(), vec!["0".into()], None, false)
}

fn varies(signals: &Signals) -> bool {
    let mut values = signals.stretches().iter().flat_map(|s| s.values.iter());
    values.next().is_some_and(|first| values.any(|value| value != first))
}

/// The share of the vectors' variance in their leading coordinates.
fn share(sentences: &Numbered, vectors: &Mat, channels: usize) -> f64 {
    let width = vectors.cols();
    let (mut sum, mut squares) = (vec![0.0; width], vec![0.0; width]);
    for &word in &sentences.words {
        for (j, x) in vectors.row(word as usize).iter().enumerate() {
            sum[j] += x;
            squares[j] += x * x;
        }
    }
    let n = sentences.words.len().max(1) as f64;
    let variance: Vec<f64> = sum.iter().zip(&squares).map(|(s, q)| q / n - (s / n) * (s / n)).collect();
    variance[..channels].iter().sum::<f64>() / variance.iter().sum::<f64>().max(f64::MIN_POSITIVE)
}

/// Sums of the powers of every template's activations.
struct Moments {
    places: f64,
    powers: [Vec<f64>; 4],
}

impl Moments {
    fn of(
        templates: &Templates,
        sentences: &Numbered,
        chosen: &[usize],
        vectors: &Mat,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let zero = || Self { places: 0.0, powers: [(); 4].map(|()| vec![0.0; templates.count()]) };
        let add = |sums: &mut Self, range: std::ops::Range<usize>| {
            progress.check()?;
            for &i in &chosen[range] {
                let activations = templates.activations(sentences.sentence(i), vectors);
                sums.places += activations.rows() as f64;
                for row in 0..activations.rows() {
                    for (l, &a) in activations.row(row).iter().enumerate() {
                        let mut power = 1.0;
                        for sum in &mut sums.powers {
                            power *= a;
                            sum[l] += power;
                        }
                    }
                }
            }
            Ok(())
        };
        let merge = |total: &mut Self, lane: Self| {
            total.places += lane.places;
            total.powers.iter_mut().zip(&lane.powers).for_each(|(a, b)| add_assign(a, b));
        };
        Ok(sum_blocks(chosen.len(), BLOCK, zero, add, merge)?)
    }

    fn variance(&self, l: usize) -> f64 {
        let mean = self.powers[0][l] / self.places;
        (self.powers[1][l] / self.places - mean * mean).max(0.0)
    }

    /// Standard deviations; 1 for activations that do not vary.
    fn deviations(&self) -> Vec<f64> {
        let one = |variance: f64| if variance > 0.0 { variance.sqrt() } else { 1.0 };
        (0..self.powers[0].len()).map(|l| one(self.variance(l))).collect()
    }

    /// E(a − mean)^k over the k-th power of the standard deviation, for k of 3 and 4.
    fn standard(&self, k: i32) -> Vec<f64> {
        let of = |l: usize| {
            let [m, m2, m3, m4] = [0, 1, 2, 3].map(|power| self.powers[power][l] / self.places);
            let central = match k {
                3 => m3 - 3.0 * m * m2 + 2.0 * m.powi(3),
                _ => m4 - 4.0 * m * m3 + 6.0 * m * m * m2 - 3.0 * m.powi(4),
            };
            let sd = self.variance(l).sqrt();
            if sd > 0.0 { central / sd.powi(k) } else { 0.0 }
        };
        (0..self.powers[0].len()).map(of).collect()
    }
}

/// Passes on nothing but the wish to stop: stages of every coordinate would be noise.
struct Quiet<'a>(&'a dyn Progress);

impl Progress for Quiet<'_> {
    fn stage(&self, _name: &str, _steps: u64) {}
    fn advance(&self, _by: u64) {}
    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

#[cfg(test)]
mod tests;
