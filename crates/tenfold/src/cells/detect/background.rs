//! The uneven ground that cells stand on.
//!
//! A low percentile of the pixels around a place is ground wherever less than nearly all of them are cell. It is taken on a coarse
//! lattice that lies at fixed places of the image, smoothed there, and interpolated; so a tile sees the same ground as the whole image.

use super::super::{Plane, Window};
use super::filter::{mirror, quantile, smooth};

/// The share of pixels around a place that are darker than its ground.
const PERCENTILE: f64 = 0.12;

/// Half the side of the window that is looked at, in typical radii: wide enough to hold ground between cells that touch.
const AROUND: f64 = 4.0;

/// The width of the smoothing, in lattice steps.
const SMOOTHING: f64 = 2.0;

/// The lattice on which the ground is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lattice {
    /// Pixels between lattice places.
    step: usize,
    /// Lattice steps that the window reaches to each side.
    around: usize,
    /// Pixels between those that are looked at.
    stride: usize,
    /// The smoothing of the image before the percentile, in pixels, so that noise does not pull it down.
    before: f64,
}

impl Lattice {
    /// For cells of this typical half-maximum radius.
    pub fn new(radius: f64) -> Self {
        let step = (1.1 * radius).round().max(1.0) as usize;
        let stride = (step / 2).max(1);
        let around = (AROUND * radius / step as f64).ceil() as usize;
        Self { step, around, stride, before: 0.35 * radius }
    }

    /// Pixels beyond a window that its ground depends on.
    pub fn margin(&self) -> usize {
        let smoothing = (3.5 * SMOOTHING).ceil() as usize;
        (self.around + smoothing + 2) * self.step + (3.5 * self.before).ceil() as usize
    }

    /// The ground of `image`, which lies at `place` of a larger image.
    pub fn ground(&self, image: &Plane, place: Window) -> Plane {
        let smoothed = smooth(image, self.before);
        // The first lattice place is at or before the first pixel, so that interpolation finds it on both sides.
        let first = (place.x / self.step, place.y / self.step);
        let columns = (place.x + place.width - 1) / self.step + 2 - first.0;
        let rows = (place.y + place.height - 1) / self.step + 2 - first.1;
        let mut coarse = Plane::zeros(columns, rows);
        let mut seen = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let x = ((first.0 + column) * self.step) as isize - place.x as isize;
                let y = ((first.1 + row) * self.step) as isize - place.y as isize;
                self.look(&smoothed, x, y, &mut seen);
                coarse.values_mut()[row * columns + column] = quantile(&mut seen, PERCENTILE);
            }
        }
        let coarse = smooth(&coarse, SMOOTHING);
        self.interpolate(&coarse, (place.x - first.0 * self.step, place.y - first.1 * self.step), image)
    }

    /// Every `stride`-th pixel around (x, y), mirrored at the edges.
    fn look(&self, image: &Plane, x: isize, y: isize, seen: &mut Vec<f32>) {
        seen.clear();
        let reach = (self.around * self.step / self.stride) as isize;
        for j in -reach..=reach {
            let row = image.row(mirror(y + j * self.stride as isize, image.height()));
            let place = |i: isize| mirror(x + i * self.stride as isize, image.width());
            seen.extend((-reach..=reach).map(|i| row[place(i)]));
        }
    }

    fn interpolate(&self, coarse: &Plane, offset: (usize, usize), image: &Plane) -> Plane {
        let (width, height) = (image.width(), image.height());
        let part = |at: usize| (at / self.step, (at % self.step) as f32 / self.step as f32);
        let columns: Vec<(usize, f32)> = (0..width).map(|x| part(x + offset.0)).collect();
        let mut out = Plane::zeros(width, height);
        for (y, row) in out.values_mut().chunks_exact_mut(width).enumerate() {
            let (j, down) = part(y + offset.1);
            let (above, below) = (coarse.row(j), coarse.row(j + 1));
            for (value, &(i, right)) in row.iter_mut().zip(&columns) {
                let upper = above[i] + right * (above[i + 1] - above[i]);
                let lower = below[i] + right * (below[i + 1] - below[i]);
                *value = upper + down * (lower - upper);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Pixels;
    use crate::cells::synth::{Scatter, Scene};

    fn drawn() -> Plane {
        let cells = Scatter { cells: 180, width: 600.0, height: 600.0, ..Scatter::default() }.draw().unwrap();
        Scene { width: 600, height: 600, ..Scene::default() }.draw(&cells.cells)
    }

    #[test]
    fn waves_under_cells_are_found() {
        let image = drawn();
        let ground = Lattice::new(6.0).ground(&image, Window { x: 0, y: 0, width: 600, height: 600 });
        let mut squares = 0.0;
        for y in 0..600 {
            for x in 0..600 {
                let truth = 30.0 * (x as f64 / 180.0).sin() + 0.02 * y as f64;
                squares += (f64::from(ground.at(x, y)) - truth).powi(2);
            }
        }
        // A tenth of the wave's height, a twentieth of the noise-free cells' height.
        assert!((squares / 360_000.0).sqrt() < 5.0, "{}", (squares / 360_000.0).sqrt());
    }

    #[test]
    fn a_part_has_the_ground_of_the_whole() {
        let image = drawn();
        let lattice = Lattice::new(6.0);
        let whole = lattice.ground(&image, Window { x: 0, y: 0, width: 600, height: 600 });
        let margin = lattice.margin();
        let part =
            Window { x: 211 - margin, y: 283 - margin, width: 40 + 2 * margin, height: 30 + 2 * margin };
        let ground = lattice.ground(&image.window(part).unwrap(), part);
        for y in 0..30 {
            for x in 0..40 {
                let (a, b) = (ground.at(margin + x, margin + y), whole.at(211 + x, 283 + y));
                assert!((a - b).abs() < 0.02, "({x}, {y}): {a} {b}");
            }
        }
    }
}
