//! A handful of pixels that carry the range of the image: hot pixels, cosmic rays, numbers that stand for "nothing measured".
//!
//! A filter answers in proportion to what it sees, so one pixel that is a thousand times too high outshines every cell at every width, and the
//! others are then faint beside it. Of the pixels of a cell with a radius of 2.3 seventeen are above half of its height, so a handful of
//! sixteen beyond ten times the rest is no cell, unless it is the only one and as small as pixels show.

use super::super::{Pixels, Plane, Window};
use super::filter::quantile;
use super::tiles::widened;
use crate::error::Result;
use crate::verdict::Verdict;

/// Pixels of a tile, at most, that are not believed.
const HANDFUL: usize = 16;

/// How many times farther from the middle than all others.
const BEYOND: f32 = 10.0;

/// Which values are believed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    middle: f32,
    /// How far from the middle all but a handful of pixels of every tile are.
    reach: f32,
}

impl Range {
    /// That of the sampled windows: the farthest, so that a tile of cells speaks for tiles without.
    fn of(image: &dyn Pixels, windows: &[Window]) -> Result<Self> {
        let mut looks = Vec::new();
        for &window in windows {
            let mut values = image.window(window)?.values().to_vec();
            values.retain(|value| value.is_finite());
            let handful = HANDFUL.min(values.len().saturating_sub(1));
            let at = |values: &mut [f32], place: usize| match values.is_empty() {
                true => 0.0,
                false => *values.select_nth_unstable_by(place, f32::total_cmp).1,
            };
            let middle = quantile(&mut values, 0.5);
            let last = values.len().saturating_sub(1);
            looks.push((middle, at(&mut values, handful), at(&mut values, last - handful)));
        }
        let middle = quantile(&mut looks.iter().map(|look| look.0).collect::<Vec<_>>(), 0.5);
        let reach = looks.iter().map(|look| (middle - look.1).max(look.2 - middle)).fold(0.0, f32::max);
        Ok(Self { middle, reach })
    }

    /// Whether a value is beyond belief; what is not a number is told of elsewhere.
    fn excludes(&self, value: f32) -> bool {
        self.reach > 0.0 && value.is_finite() && (value - self.middle).abs() > BEYOND * self.reach
    }
}

/// Pixels beyond belief: how many, and the column and row of the first.
pub(super) type Spoilt = (usize, usize, usize);

/// An image whose unbelievable pixels are taken for the median of their neighbours.
pub(super) struct Believed<'a> {
    image: &'a dyn Pixels,
    range: Range,
}

impl<'a> Believed<'a> {
    pub fn new(image: &'a dyn Pixels, windows: &[Window]) -> Result<Self> {
        Ok(Self { image, range: Range::of(image, windows)? })
    }

    /// What is beyond belief within a window.
    pub fn spoilt(&self, window: Window) -> Result<Spoilt> {
        let plane = self.image.window(window)?;
        let mut places = plane.values().iter().enumerate().filter(|(_, value)| self.range.excludes(**value));
        let Some((first, _)) = places.next() else { return Ok((0, 0, 0)) };
        Ok((1 + places.count(), window.x + first % window.width, window.y + first / window.width))
    }

    /// Says what was found in all windows.
    pub fn tell(&self, parts: impl Iterator<Item = Spoilt>, verdict: &mut Verdict) {
        let parts: Vec<Spoilt> = parts.filter(|part| part.0 > 0).collect();
        let Some(first) = parts.iter().min_by_key(|part| (part.2, part.1)) else { return };
        let count: usize = parts.iter().map(|part| part.0).sum();
        let (what, verb) = if count == 1 { ("pixel", "is") } else { ("pixels", "are") };
        verdict.warn(format!(
            "{count} {what}, the first in column {} of row {}, {verb} more than {BEYOND} times as far from the middle as all but a handful \
             of the others and would hide the cells; taken for their neighbours: mend them, or cut the image off at {} if they are right",
            first.1 + 1,
            first.2 + 1,
            self.range.middle + self.range.reach,
        ));
    }
}

impl Pixels for Believed<'_> {
    fn size(&self) -> (usize, usize) {
        self.image.size()
    }

    fn window(&self, window: Window) -> Result<Plane> {
        let mut plane = self.image.window(window)?;
        let places: Vec<usize> =
            (0..plane.values().len()).filter(|&at| self.range.excludes(plane.values()[at])).collect();
        if places.is_empty() {
            return Ok(plane);
        }
        // The same neighbours whatever the window.
        let around = widened(window, 1, self.size());
        let wide = self.image.window(around)?;
        for at in places {
            let (x, y) = (window.x - around.x + at % window.width, window.y - around.y + at / window.width);
            let beside = |at: usize, len: usize| at.saturating_sub(1)..(at + 2).min(len);
            let mut near: Vec<f32> = beside(y, wide.height())
                .flat_map(|row| &wide.row(row)[beside(x, wide.width())])
                .copied()
                .filter(|value| value.is_finite() && !self.range.excludes(*value))
                .collect();
            plane.values_mut()[at] =
                if near.is_empty() { self.range.middle } else { quantile(&mut near, 0.5) };
        }
        Ok(plane)
    }

    fn ceiling(&self) -> Option<f32> {
        self.image.ceiling()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn striped() -> Plane {
        Plane::new(40, 30, (0..1200).map(|i| (i % 7) as f32).collect())
    }

    const WHOLE: Window = Window { x: 0, y: 0, width: 40, height: 30 };

    #[test]
    fn a_handful_far_off_is_mended_and_named() {
        let mut image = striped();
        image.values_mut()[40 * 5 + 3] = 1e6;
        image.values_mut()[40 * 9 + 1] = -9999.0;
        let believed = Believed::new(&image, &[WHOLE]).unwrap();
        assert_eq!(believed.spoilt(WHOLE).unwrap(), (2, 3, 5));
        let plane = believed.window(WHOLE).unwrap();
        // The pixels around are those of columns 2 to 4 in rows 4 to 6, and of 0 to 2 in rows 8 to 10, without the one itself.
        let expected = |places: [usize; 8]| {
            let mut values = places.map(|at| (at % 7) as f32);
            quantile(&mut values, 0.5)
        };
        assert_eq!(plane.at(3, 5), expected([162, 163, 164, 202, 204, 242, 243, 244]));
        assert_eq!(plane.at(1, 9), expected([320, 321, 322, 360, 362, 400, 401, 402]));
        let part = Window { x: 3, y: 5, width: 5, height: 5 };
        assert_eq!(believed.window(part).unwrap().at(0, 0), plane.at(3, 5));
        let mut verdict = Verdict::default();
        believed.tell([(0, 0, 0), (2, 3, 5)].into_iter(), &mut verdict);
        assert!(format!("{verdict:?}").contains("2 pixels, the first in column 4 of row 6"), "{verdict:?}");
    }

    #[test]
    fn what_is_more_than_a_handful_or_not_far_off_stays() {
        let mut many = striped();
        many.values_mut()[..17].fill(1e6);
        let mut near = striped();
        near.values_mut()[50] = 30.0;
        let flat = Plane::zeros(40, 30);
        let mut dot = flat.clone();
        dot.values_mut()[50] = 1.0;
        for image in [many, near, flat, dot] {
            let believed = Believed::new(&image, &[WHOLE]).unwrap();
            assert_eq!(believed.spoilt(WHOLE).unwrap().0, 0);
            assert_eq!(believed.window(WHOLE).unwrap(), image);
        }
    }
}
