//! How a model's motifs are decoded: what a fit has seen of their firings.

use super::super::events::Event;
use super::super::filters::Filters;
use std::collections::BTreeMap;

/// What the firings of the fit say about those to come.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::motifs) struct Habits {
    /// For each motif the amplitude below which a firing is of another, lower kind; 0 where there is one kind only.
    pub floors: Vec<f64>,
    /// Samples that two firings of one motif are apart.
    pub refractory: usize,
}

/// Firings of a motif from which on its amplitudes are looked at.
const ENOUGH: usize = 40;

/// Bins of an octave, and how much higher both tops must be than the valley between them.
const BINS: f64 = 4.0;
const DEPTH: f64 = 4.0;

/// The least share of a motif's firings that the upper group has.
const OWN: f64 = 0.2;

/// A motif that fires less than this often within its own length hardly ever fires twice there.
const SELDOM: f64 = 0.25;

impl Habits {
    /// Looks at the firings of `samples` samples.
    ///
    /// Amplitudes of a motif may fall into two groups: the firings themselves, and whatever else resembles the motif a little
    /// (in an electrocardiogram the waves between the beats). Where a valley separates them, the lower group is left out.
    /// A motif that fires seldom is not expected again within half its length: there, one firing of a slightly other shape is
    /// decoded as two.
    pub fn of(events: &[Event], filters: &Filters, samples: usize, believed: bool) -> Self {
        let mut amplitudes = vec![Vec::new(); filters.count()];
        events.iter().for_each(|event| amplitudes[event.motif].push(event.amplitude.abs()));
        let floors: Vec<f64> = amplitudes.iter().map(|own| valley(own, believed).unwrap_or(0.0)).collect();
        let fired =
            amplitudes.iter().zip(&floors).map(|(own, floor)| own.iter().filter(|a| *a >= floor).count());
        let often = fired.max().unwrap_or(0) as f64 * filters.extent.len() as f64 / samples.max(1) as f64;
        let refractory = if often < SELDOM { filters.extent.columns / 2 } else { 0 };
        Self { floors, refractory }
    }

    /// Whether a firing is of its motif's own kind.
    pub fn keeps(&self, event: &Event) -> bool {
        self.floors.get(event.motif).is_none_or(|floor| event.amplitude.abs() >= *floor)
    }
}

/// The amplitude at the bottom of the valley between two groups, on a logarithmic scale; nothing where there is none.
fn valley(amplitudes: &[f64], believed: bool) -> Option<f64> {
    if amplitudes.len() < ENOUGH {
        return None;
    }
    let mut counts: BTreeMap<i64, f64> = BTreeMap::new();
    amplitudes
        .iter()
        .for_each(|a| *counts.entry((BINS * a.max(1e-300).log2()).floor() as i64).or_default() += 1.0);
    let (first, last) = (*counts.keys().next()?, *counts.keys().next_back()?);
    let at = |bin: i64| counts.get(&bin).copied().unwrap_or(0.0);
    // Neighbours count in, so that a bin that happens to be empty is no valley. Far bins are not walked one by one.
    let bins: Vec<f64> = (first..=last.min(first + 400))
        .map(|bin| (at(bin - 1) + 2.0 * at(bin) + at(bin + 1)) / 4.0)
        .collect();
    let top = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
    let total: f64 = bins.iter().sum();
    // A handful of outliers is no group; and a few above the many are firings that fell together, not the motif's own kind.
    let divides = |&bin: &usize| {
        let lower = top(&bins[..bin]).min(top(&bins[bin + 1..]));
        lower >= 0.01 * amplitudes.len() as f64
            && lower >= DEPTH * (bins[bin] + 0.5)
            && (!believed || bins[bin + 1..].iter().sum::<f64>() >= OWN * total)
    };
    if !believed {
        // Whatever is in the signals was told by firings: the deepest valley divides best.
        let depth = |bin: usize| top(&bins[..bin]).min(top(&bins[bin + 1..])) / (bins[bin] + 0.5);
        let deepest = (1..bins.len().saturating_sub(1))
            .max_by(|&a, &b| depth(a).total_cmp(&depth(b)).then(b.cmp(&a)))
            .filter(divides)?;
        return Some(((first + deepest as i64) as f64 / BINS + 0.5 / BINS).exp2());
    }
    // Of several valleys the highest: all that lies below it is of another kind.
    let valley = (1..bins.len().saturating_sub(1)).rev().skip_while(|bin| !divides(bin)).take_while(divides);
    let bottom = first + valley.min_by(|&a, &b| bins[a].total_cmp(&bins[b]))? as i64;
    Some((bottom as f64 / BINS + 0.5 / BINS).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motifs::Extent;
    use tenfold_engine::linalg::random;

    fn firings(amplitudes: impl IntoIterator<Item = f64>) -> Vec<Event> {
        let event = |(i, amplitude)| Event { trial: 0, row: 0, start: 50 * i as i64, motif: 0, amplitude };
        amplitudes.into_iter().enumerate().map(event).collect()
    }

    #[test]
    fn two_groups_are_told_from_one() {
        let filters = Filters::new(vec![1.0; 10], 1, Extent::line(10));
        let mut rng = random::rng(1, 1);
        let mut near = |middle: f64| middle * (0.15 * random::normal(&mut rng)).exp();
        let both: Vec<f64> = (0..600).map(|i| near(if i % 3 == 0 { 3.0 } else { 0.4 })).collect();
        let habits = Habits::of(&firings(both.clone()), &filters, 30_000, true);
        assert!(habits.floors[0] > 0.6 && habits.floors[0] < 2.2, "{habits:?}");
        assert_eq!(habits.refractory, 5);
        let one: Vec<f64> = (0..600).map(|_| near(1.0)).collect();
        assert_eq!(
            Habits::of(&firings(one), &filters, 1_000, true),
            Habits { floors: vec![0.0], refractory: 0 }
        );
        // One or two firings at a place (Poisson of mean 0.1): the ones are no lower kind.
        let counted = (0..600).map(|i| if i % 20 == 0 { 2.0 } else { 1.0 });
        assert_eq!(Habits::of(&firings(counted), &filters, 1_000, true).floors, [0.0]);
        // Exponential amplitudes are one group with a long tail.
        let exponential = (0..600).map(|i| -(1.0 - (i as f64 + 0.5) / 600.0).ln());
        assert_eq!(Habits::of(&firings(exponential), &filters, 30_000, true).floors, [0.0]);
    }
}
