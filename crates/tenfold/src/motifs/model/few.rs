//! Motifs that rest on a handful of firings, as outliers make them.

use super::super::data::{Signals, Stretch};
use super::super::extent::Extent;
use super::super::filters::Filters;
use crate::error::Result;
use std::ops::Range;
use tenfold_engine::linalg::parallel::{BLOCK, sum_blocks};
use tenfold_engine::progress::{Progress, Silent};

/// Fewer firings are a handful. Sources of `ica` are doubted below the same number.
const FEW: f64 = 4.0;

/// Of the largest: smaller answers have less than 1/256 of its weight in a fourth moment.
const LARGE: f64 = 0.25;

/// A handful that carries no more of the cumulant than this is not what the motif rests on.
const MOST: f64 = 0.5;

/// Motifs that rest on fewer than four firings, with about how many these are.
///
/// y is what a motif answers at every place of the signals, Σ_t f(t) x(t + place). The answers that reach a quarter of the largest are
/// as many as (Σ y²)²/Σ y⁴ of one size. A firing makes more than one of them, as many as the motif answers to itself. Noise alone, and
/// firings by the dozen, make hundreds of answers of that size; what is left are a few that stand far above all others. They are what
/// the motif rests on when they carry most of the fourth cumulant, Σ y⁴ − 3 (Σ y²)²/n.
pub(super) fn few_firings(
    filters: &Filters,
    signals: &Signals,
    centres: &[f64],
    progress: &dyn Progress,
) -> Result<Vec<(usize, f64)>> {
    let answers = Answers::new(filters, signals, centres).gather(progress)?;
    let mut few = Vec::new();
    for (l, one) in answers.iter().enumerate() {
        let motif = Filters::new(filters.motif(l).to_vec(), filters.channels, filters.extent);
        let itself = Stretch { values: motif.values.clone(), extent: filters.extent, trial: 0, offset: 0 };
        let itself = Signals::new(vec![itself], signals.channels().to_vec(), None, false);
        let zero = vec![0.0; filters.channels];
        let alone = Answers::new(&motif, &itself, &zero).gather(&Silent)?[0].effective();
        let firings = one.effective() / alone;
        if firings < FEW && one.large.1 > MOST * one.cumulant().abs() {
            few.push((l, firings));
        }
    }
    Ok(few)
}

/// Moments of one motif's answers, in units of the largest.
#[derive(Clone, Default)]
struct Moments {
    places: f64,
    /// Σ y² and Σ y⁴, and those of large answers.
    all: (f64, f64),
    large: (f64, f64),
}

impl Moments {
    fn effective(&self) -> f64 {
        self.large.0 * self.large.0 / self.large.1
    }

    fn cumulant(&self) -> f64 {
        self.all.1 - 3.0 * self.all.0 * self.all.0 / self.places
    }
}

/// What motifs answer to signals less their centres.
struct Answers<'a> {
    filters: &'a Filters,
    signals: &'a Signals,
    centres: &'a [f64],
    /// How far before a stretch a motif may begin.
    beyond: Extent,
    /// Places up to the end of every stretch.
    ends: Vec<usize>,
}

impl<'a> Answers<'a> {
    fn new(filters: &'a Filters, signals: &'a Signals, centres: &'a [f64]) -> Self {
        let beyond = match signals.is_cyclic() {
            true => Extent::plane(0, 0),
            false => Extent::plane(filters.extent.rows - 1, filters.extent.columns - 1),
        };
        let mut ends = Vec::with_capacity(signals.stretches().len());
        let mut end = 0;
        for stretch in signals.stretches() {
            end += (stretch.extent.rows + beyond.rows) * (stretch.extent.columns + beyond.columns);
            ends.push(end);
        }
        Self { filters, signals, centres, beyond, ends }
    }

    /// One pass for the largest answers, one for the moments.
    fn gather(&self, progress: &dyn Progress) -> Result<Vec<Moments>> {
        let motifs = self.filters.count();
        let places = self.ends.last().copied().unwrap_or(0);
        let largest = sum_blocks(
            places,
            BLOCK,
            || vec![0.0f64; motifs],
            |most, range| {
                progress.check()?;
                self.each(range, |l, y| most[l] = most[l].max(y.abs()));
                Ok(())
            },
            |total, lane| total.iter_mut().zip(lane).for_each(|(a, b)| *a = a.max(b)),
        )?;
        Ok(sum_blocks(
            places,
            BLOCK,
            || vec![Moments::default(); motifs],
            |sums, range| {
                progress.check()?;
                self.each(range, |l, y| {
                    let y = (y / largest[l].max(f64::MIN_POSITIVE)).abs();
                    let (square, sum) = (y * y, &mut sums[l]);
                    sum.places += 1.0;
                    sum.all = (sum.all.0 + square, sum.all.1 + square * square);
                    if y >= LARGE {
                        sum.large = (sum.large.0 + square, sum.large.1 + square * square);
                    }
                });
                Ok(())
            },
            |total, lane| {
                for (a, b) in total.iter_mut().zip(lane) {
                    a.places += b.places;
                    a.all = (a.all.0 + b.all.0, a.all.1 + b.all.1);
                    a.large = (a.large.0 + b.large.0, a.large.1 + b.large.1);
                }
            },
        )?)
    }

    /// Shows every motif's answer at these places.
    fn each(&self, range: Range<usize>, mut show: impl FnMut(usize, f64)) {
        let mut number = self.ends.partition_point(|end| *end <= range.start);
        for place in range {
            while place >= self.ends[number] {
                number += 1;
            }
            let stretch = &self.signals.stretches()[number];
            let place = place - if number == 0 { 0 } else { self.ends[number - 1] };
            let columns = stretch.extent.columns + self.beyond.columns;
            let row = (place / columns) as i64 - self.beyond.rows as i64;
            let column = (place % columns) as i64 - self.beyond.columns as i64;
            (0..self.filters.count()).for_each(|l| show(l, self.answer(l, stretch, row, column)));
        }
    }

    fn answer(&self, l: usize, stretch: &Stretch, row: i64, column: i64) -> f64 {
        let (n, m) = (stretch.extent, self.filters.extent);
        let mut sum = 0.0;
        for (channel, (values, centre)) in stretch.values.chunks_exact(n.len()).zip(self.centres).enumerate()
        {
            for (i, taps) in self.filters.channel(l, channel).chunks_exact(m.columns).enumerate() {
                let at = row + i as i64;
                if self.signals.is_cyclic() {
                    let line = at.rem_euclid(n.rows as i64) as usize * n.columns;
                    let value = |j: usize| values[line + (column as usize + j) % n.columns];
                    sum += taps.iter().enumerate().map(|(j, f)| f * (value(j) - centre)).sum::<f64>();
                } else if (0..n.rows as i64).contains(&at) {
                    let line = &values[at as usize * n.columns..(at as usize + 1) * n.columns];
                    let (before, first) = ((-column).max(0) as usize, column.max(0) as usize);
                    let pairs = taps[before..].iter().zip(&line[first..]);
                    sum += pairs.map(|(f, x)| f * (x - centre)).sum::<f64>();
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Activation, Length, Params, Synth};
    use super::*;
    use tenfold_engine::linalg::random::{normal, rng};

    fn noise(seed: u64) -> Vec<f64> {
        let mut rng = rng(seed, 0);
        (0..30_000).map(|_| normal(&mut rng)).collect()
    }

    fn told(signals: &Signals, motifs: usize) -> Vec<String> {
        let params = Params { length: Length::Known(Extent::line(8)), ..Params::new(motifs) };
        let model = params.fit(signals).unwrap();
        let all = model.verdict().findings().iter().map(|(_, text)| text.clone());
        all.filter(|text| text.contains("look for outliers")).collect()
    }

    #[test]
    fn three_spikes_are_a_handful() {
        for seed in 0..10 {
            let mut x = noise(seed);
            for (at, spike) in [(2345, 30.0), (17_000, -40.0), (29_998, 50.0)] {
                x[(at + 611 * seed as usize) % 30_000] = spike;
            }
            let found = told(&Signals::windows(&x, 300, false), 1);
            assert!(
                found.len() == 1 && found[0].starts_with("motif 0 rests on about 3 firings"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn motifs_that_fire_often_are_no_handful() {
        let laws = [
            Activation::Poisson(0.1),
            Activation::Poisson(0.002),
            Activation::BernoulliExponential(0.02),
            Activation::BernoulliGaussian(0.02),
            Activation::Exponential,
        ];
        for seed in 0..20 {
            let activation = laws[seed as usize % laws.len()];
            let length = Extent::line(8);
            let noise = [0.0, 0.5, 1.0][seed as usize % 3];
            let synth =
                Synth { windows: 500, motifs: 2, length, activation, noise, seed, ..Synth::default() };
            let found = told(&synth.draw().unwrap().signals, 2);
            assert_eq!(found, Vec::<String>::new(), "seed {seed}");
        }
    }

    #[test]
    fn firings_are_counted_whatever_the_motif() {
        // Two firings of a long motif in an image, one of them across its edge; and around the end of a circle.
        let taps: Vec<f64> = (0..12).map(|i| (1.0 + i as f64).sin()).collect();
        let filters = Filters::new(taps.clone(), 1, Extent::plane(3, 4));
        let mut values = vec![0.0; 400];
        for (row, column) in [(3, 5), (11, 18)] {
            for (i, tap) in taps.iter().enumerate() {
                if column + i % 4 < 20 {
                    values[(row + i / 4) * 20 + column + i % 4] += tap;
                }
            }
        }
        let stretch = Stretch { values, extent: Extent::plane(20, 20), trial: 0, offset: 0 };
        let image = Signals::new(vec![stretch], vec!["0".into()], None, false);
        let few = few_firings(&filters, &image, &[0.0], &Silent).unwrap();
        assert!(few.len() == 1 && (1.0..2.5).contains(&few[0].1), "{few:?}");

        let filters = Filters::new(taps.clone(), 1, Extent::line(12));
        let mut x = vec![0.0; 600];
        for start in [95, 240, 595] {
            taps.iter().enumerate().for_each(|(i, tap)| x[(start + i) % 600] += tap);
        }
        let three = few_firings(&filters, &Signals::windows(&x, 600, true), &[0.0], &Silent).unwrap();
        assert!(three.len() == 1 && (three[0].1 - 3.0).abs() < 1e-9, "{three:?}");
        let mut one = vec![0.0; 600];
        taps.iter().enumerate().for_each(|(i, tap)| one[(595 + i) % 600] += tap);
        let alone = few_firings(&filters, &Signals::windows(&one, 600, true), &[0.0], &Silent).unwrap();
        assert!(alone.len() == 1 && (alone[0].1 - 1.0).abs() < 1e-9, "{alone:?}");
    }
}
