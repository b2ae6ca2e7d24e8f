//! What the cells of a type look like.

use super::{Model, Posteriors};
use crate::cells::data::Tissue;
use crate::cells::features::{Bins, Crowding, aspect_of, mean_neighbours, orientation_of, size_of};
use std::f64::consts::PI;

/// A feature of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// The geometric mean radius in pixels.
    Size,
    /// The longer over the shorter radius.
    Aspect,
    /// The direction of the longer radius in radians, of cells that are not round.
    Orientation,
    /// The height above the background.
    Intensity,
    /// Neighbours as the bins read them.
    Density,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Size, Self::Aspect, Self::Orientation, Self::Intensity, Self::Density];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Aspect => "aspect",
            Self::Orientation => "orientation",
            Self::Intensity => "intensity",
            Self::Density => "density",
        }
    }
}

/// How a feature is distributed over the cells of a type, each cell counted by its probability of that type.
///
/// Directions have no smallest one: those of a type are unrolled around their mean, so that percentiles may lie outside [0, π).
#[derive(Debug, Clone, PartialEq)]
pub struct Trait {
    /// Which feature.
    pub feature: Feature,
    /// 5 % of the cells lie below.
    pub low: f64,
    /// The middle.
    pub median: f64,
    /// 95 % of the cells lie below.
    pub high: f64,
    /// The share of the cells in every bin of this feature alone. Of aspects the first bin holds round cells; of directions the
    /// shares are those of cells that are not round.
    pub histogram: Vec<f64>,
}

/// The traits of every type, from the cells of the fit.
pub(in crate::cells) fn traits(model: &Model, tissue: &Tissue, posteriors: &Posteriors) -> Vec<Vec<Trait>> {
    let bins = model.bins.as_ref().expect("cells were counted in bins");
    let mut all = vec![Vec::new(); model.k()];
    let wanted =
        Feature::ALL.into_iter().filter(|f| *f != Feature::Density || bins.density != Crowding::Ignored);
    // One feature after the other: marks of all of them would take twice as much as the cells.
    for feature in wanted {
        let mut known = marks(bins, tissue, feature);
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (t, list) in all.iter_mut().enumerate() {
            let weighted = known.iter().map(|&(x, s, c)| (x, posteriors.sections[s][(c, t)]));
            let [low, median, high] = match feature {
                Feature::Orientation => directions(weighted.collect()),
                _ => percentiles(&weighted.collect::<Vec<_>>()),
            };
            if low.is_finite() {
                list.push(Trait { feature, low, median, high, histogram: model.histogram(t, feature) });
            }
        }
    }
    all
}

/// A value with the section and the place of its cell.
type Mark = (f64, usize, usize);

/// The values of a feature; cells that lack it say nothing of it.
fn marks(bins: &Bins, tissue: &Tissue, feature: Feature) -> Vec<Mark> {
    let mut marks = Vec::with_capacity(tissue.len());
    for (s, section) in tissue.sections.iter().enumerate() {
        let mean = mean_neighbours(&section.cells);
        for (c, cell) in section.cells.iter().enumerate() {
            let value = match feature {
                Feature::Size => size_of(cell),
                Feature::Aspect => aspect_of(cell),
                Feature::Orientation if aspect_of(cell) < bins.round => f64::NAN,
                Feature::Orientation => orientation_of(cell),
                Feature::Intensity => cell.intensity,
                Feature::Density => bins.crowding(cell, mean),
            };
            if value.is_finite() {
                marks.push((value, s, c));
            }
        }
    }
    marks
}

impl Model {
    /// The share of a type's cells in every bin of one feature; empty where the model has no such bins.
    pub fn histogram(&self, t: usize, feature: Feature) -> Vec<f64> {
        let Some(bins) = &self.bins else { return Vec::new() };
        let shape = bins.shape();
        let turns = bins.orientations;
        let mut shares = vec![
            0.0;
            match feature {
                Feature::Size => shape[0],
                Feature::Aspect => 1 + (shape[1] - 1) / turns,
                Feature::Orientation if shape[1] == 1 => 0,
                Feature::Orientation => turns,
                Feature::Intensity => shape[2],
                Feature::Density => shape[3],
            }
        ];
        for (bin, total) in self.totals.iter().enumerate() {
            let [size, shape, intensity, density] = bins.parts(bin);
            let at = match feature {
                Feature::Size => Some(size),
                Feature::Aspect => Some(shape.checked_sub(1).map_or(0, |s| 1 + s / turns)),
                Feature::Orientation => shape.checked_sub(1).map(|s| s % turns),
                Feature::Intensity => Some(intensity),
                Feature::Density => Some(density),
            };
            if let Some(at) = at {
                shares[at] += total * self.memberships[(bin, t)];
            }
        }
        let sum = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        shares.iter_mut().for_each(|x| *x /= sum);
        shares
    }
}

/// The values below which 5 %, 50 % and 95 % of the weight lie; values rise.
fn percentiles(sorted: &[(f64, f64)]) -> [f64; 3] {
    let total: f64 = sorted.iter().map(|(_, w)| w).sum();
    [0.05, 0.5, 0.95].map(|share| {
        let (mut below, mut last) = (0.0, f64::NAN);
        for (x, w) in sorted {
            below += w;
            last = *x;
            if below >= share * total {
                break;
            }
        }
        if total > 0.0 { last } else { f64::NAN }
    })
}

/// [`percentiles`] of directions, unrolled to within a quarter turn of their mean direction.
fn directions(mut values: Vec<(f64, f64)>) -> [f64; 3] {
    let (sin, cos) =
        values.iter().fold((0.0, 0.0), |(s, c), (x, w)| (s + w * (2.0 * x).sin(), c + w * (2.0 * x).cos()));
    let mean = (sin.atan2(cos) / 2.0).rem_euclid(PI);
    for (x, _) in &mut values {
        *x = mean + (*x - mean + PI / 2.0).rem_euclid(PI) - PI / 2.0;
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    percentiles(&values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_repeated_values() {
        let weighted: Vec<(f64, f64)> = (1..=20).map(|x| (f64::from(x), f64::from(x % 4))).collect();
        let mut repeated: Vec<f64> =
            weighted.iter().flat_map(|(x, w)| std::iter::repeat_n(*x, *w as usize)).collect();
        repeated.sort_by(f64::total_cmp);
        let at = |share: f64| repeated[(share * repeated.len() as f64).ceil() as usize - 1];
        assert_eq!(percentiles(&weighted), [at(0.05), at(0.5), at(0.95)]);
        assert!(percentiles(&[]).iter().all(|x| x.is_nan()));
    }

    #[test]
    fn directions_around_zero_are_not_torn_apart() {
        let values: Vec<(f64, f64)> =
            (0..101).map(|i| ((f64::from(i) / 100.0 - 0.5).rem_euclid(PI), 1.0)).collect();
        let [low, median, high] = directions(values);
        let mean = (median + PI / 2.0).rem_euclid(PI) - PI / 2.0;
        assert!(mean.abs() < 1e-9 && (high - low - 0.9).abs() < 1e-9, "{low} {median} {high}");
    }
}
