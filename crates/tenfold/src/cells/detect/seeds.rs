//! Where cells may stand: maxima of blobs of the typical size.

use super::super::Plane;
use super::chance::{deviation, level};
use super::filter::{blobs, maxima};

/// The filter's width in Gaussian widths of a cell: a little narrow, so that touching cells show two maxima.
const NARROW: f64 = 0.8;

/// Larger sizes that are tried, in typical ones.
const LARGER: [f64; 2] = [1.7, 2.8];

/// A large blob stands in place of the small ones inside it when it is this much higher: a flat cell answers a narrow filter at its
/// edges only, at half its height, while cells in a clump answer one by one.
const HIGHER: f64 = 1.4;

/// How blobs are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seeds {
    /// The Gaussian width of a typical cell.
    pub width: f64,
    /// Blobs of a smaller height are left out.
    pub least: f64,
    /// The deviation of the noise of a pixel, and the pixels of the image: what chance may give is left out as well.
    pub noise: (f64, usize),
}

impl Seeds {
    /// x, y and height of blobs of at least `share` of the least height, the highest first.
    pub fn find(&self, image: &Plane, share: f64) -> Vec<(f64, f64, f64)> {
        let sigma = NARROW * self.width;
        // The answer of −σ²ΔG_σ to a Gaussian of width s: 2 s²σ²/(s² + σ²)² of its height.
        let answer = 2.0 * NARROW.powi(2) / (1.0 + NARROW.powi(2)).powi(2);
        let floor = self.noise.0 * deviation(sigma) * level(self.noise.1, sigma);
        let reach = (0.7 * self.width).round().max(1.0) as usize;
        let mut found: Vec<(f64, f64, f64)> =
            maxima(&blobs(image, sigma), reach, (share * self.least * answer).max(floor) as f32)
                .into_iter()
                .map(|(x, y, value)| (x as f64, y as f64, f64::from(value) / answer))
                .collect();
        found.sort_by(|a, b| b.2.total_cmp(&a.2));
        found
    }

    /// As [`Seeds::find`], with cells much larger than the typical one as one blob each: x, y, height and size in typical ones.
    pub fn find_sizes(&self, image: &Plane) -> Vec<(f64, f64, f64, f64)> {
        let mut seeds: Vec<(f64, f64, f64, f64)> =
            self.find(image, 1.0).into_iter().map(|(x, y, height)| (x, y, height, 1.0)).collect();
        for size in LARGER {
            let wide = Self { width: size * self.width, ..*self };
            let reach = 1.1 * wide.width;
            seeds.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
            let mut gone = vec![false; seeds.len()];
            let mut large = Vec::new();
            for (x, y, height) in wide.find(image, 1.0) {
                let first = seeds.partition_point(|seed| seed.1 < y - reach);
                let last = seeds.partition_point(|seed| seed.1 <= y + reach);
                let inside: Vec<usize> = (first..last)
                    .filter(|&i| (seeds[i].0 - x).hypot(seeds[i].1 - y) < reach && !gone[i])
                    .collect();
                if !inside.is_empty() && inside.iter().all(|&i| HIGHER * seeds[i].2 < height) {
                    inside.iter().for_each(|&i| gone[i] = true);
                    large.push((x, y, height, size));
                }
            }
            let mut kept = gone.iter();
            seeds.retain(|_| !kept.next().expect("one for each"));
            seeds.extend(large);
        }
        seeds.sort_by(|a, b| b.2.total_cmp(&a.2));
        seeds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Cell;
    use crate::cells::synth::{Background, Profile, Scene};

    /// Cells that overlap more than these make one blob here; the moves split them, which the recovery tests show.
    #[test]
    fn a_large_flat_cell_is_one_blob_and_cells_side_by_side_are_two() {
        let cell = |x: f64, r: f64| Cell {
            x,
            y: 50.0,
            r1: r,
            r2: r,
            orientation: 0.0,
            intensity: 100.0,
            neighbours: 0.0,
        };
        let background = Background { wave: 0.0, slope: 0.0, ..Background::default() };
        let scene =
            Scene { width: 160, height: 100, profile: Profile::Soft(1.2), background, noise: 5.0, seed: 1 };
        let image = scene.draw(&[cell(30.0, 5.0), cell(41.0, 5.0), cell(100.0, 14.0)]);
        let seeds = Seeds { width: 3.6, least: 30.0, noise: (5.0, 16_000) }.find_sizes(&image);
        let large: Vec<_> = seeds.iter().filter(|seed| seed.3 > 1.0).collect();
        assert_eq!((seeds.len(), large.len()), (3, 1), "{seeds:?}");
        assert!((large[0].0 - 100.0).abs() < 2.0 && (large[0].1 - 50.0).abs() < 2.0);
    }
}
