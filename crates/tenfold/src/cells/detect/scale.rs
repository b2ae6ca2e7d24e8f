//! The typical size of cells, from blobs of all sizes.

use super::super::Plane;
use super::chance::{deviation, level};
use super::filter::{blobs, dilate, halve, white_noise};

/// Gaussian widths that are tried, in pixels: from what pixels can still show, in steps of a sixth.
const SMALLEST: f64 = 1.3;
const STEP: f64 = 1.16;
const STEPS: usize = 24;

/// Widths from here on are looked at with half the pixels.
const HALVED: f64 = 4.4;

/// The share of blobs, weighted, that is many.
const EDGE: f64 = 0.3;

/// Blobs of each width, by how clearly they stand out.
#[derive(Debug, Clone, Default)]
pub(super) struct Sizes {
    /// The place of the width, and the answer of the filter.
    blobs: Vec<(usize, f32)>,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Typical {
    /// The Gaussian width in pixels.
    pub width: f64,
    /// Whether many blobs are at the lower end of the range.
    pub too_small: bool,
    /// Whether many are at its upper end: waves of the background.
    pub too_large: bool,
    /// The standard deviation of ln of the width, over blobs.
    pub spread: f64,
}

fn width(step: usize) -> f64 {
    SMALLEST * STEP.powi(step as i32)
}

impl Sizes {
    /// Adds the blobs of a plane: maxima over places and widths of −σ²ΔG_σ that chance does not give in an image of `pixels`.
    pub fn add(&mut self, image: &Plane, pixels: usize) {
        let noise = white_noise(image);
        let (mut plane, mut factor) = (image.clone(), 1.0);
        let mut layers: Vec<(Plane, Plane, f64)> = Vec::new();
        for step in 0..STEPS {
            while width(step) / factor >= HALVED && plane.width().min(plane.height()) >= 32 {
                plane = halve(&plane);
                factor *= 2.0;
            }
            let answer = blobs(&plane, width(step) / factor);
            let largest = dilate(&answer, 3);
            layers.push((answer, largest, factor));
        }
        // What grows up to the last width is counted there: it is wider still.
        for step in 1..STEPS {
            let (answer, largest, factor) = &layers[step];
            // Noise must not show in any of the widths.
            let chance = level(STEPS * pixels, width(step)) * deviation(width(step));
            let least = (noise * chance) as f32;
            for y in 0..answer.height() {
                for x in 0..answer.width() {
                    let value = answer.at(x, y);
                    if value > least && value == largest.at(x, y) {
                        let at = |layer: &(Plane, Plane, f64)| {
                            let place = |v: usize, most: usize| {
                                (((v as f64 + 0.5) * factor / layer.2) as usize).min(most - 1)
                            };
                            layer.1.at(place(x, layer.1.width()), place(y, layer.1.height()))
                        };
                        if value >= at(&layers[step - 1])
                            && layers.get(step + 1).is_none_or(|wider| value >= at(wider))
                        {
                            self.blobs.push((step, value));
                        }
                    }
                }
            }
        }
    }

    /// The blobs of several planes.
    pub fn merged(parts: Vec<Self>) -> Self {
        Self { blobs: parts.into_iter().flat_map(|part| part.blobs).collect() }
    }

    /// The mean logarithm of the width, weighted by the answers; none without blobs.
    pub fn typical(&self) -> Option<Typical> {
        let mut answers: Vec<f32> = self.blobs.iter().map(|blob| blob.1).collect();
        if answers.is_empty() {
            return None;
        }
        // Faint ones are texture and noise.
        let least = 0.25 * super::filter::quantile(&mut answers, 0.98);
        let (mut sum, mut squares, mut weights, mut low, mut high) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for &(step, value) in self.blobs.iter().filter(|blob| blob.1 > least) {
            let weight = f64::from(value);
            sum += weight * width(step).ln();
            squares += weight * width(step).ln().powi(2);
            weights += weight;
            low += if step <= 1 { weight } else { 0.0 };
            high += if step + 2 >= STEPS { weight } else { 0.0 };
        }
        let mean = sum / weights;
        let spread = (squares / weights - mean * mean).max(0.0).sqrt();
        Some(Typical {
            width: mean.exp(),
            too_small: low > EDGE * weights,
            too_large: high > EDGE * weights,
            spread,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::synth::{Look, Profile, Scatter, Scene};

    #[test]
    fn sizes_come_back_from_small_to_large() {
        for radius in [3.0, 7.0, 15.0, 30.0] {
            let looks = vec![Look { radius: radius..radius, aspect: 0.8..1.0, ..Look::default() }];
            let (margin, width) = (3.0 * radius, 60.0 * radius);
            let scatter = Scatter { looks, margin, width, height: width, cells: 80, ..Scatter::default() };
            let side = width as usize;
            let scene = Scene { width: side, height: side, noise: 10.0, ..Scene::default() };
            for (profile, factor) in [(Profile::Gaussian, 1.18), (Profile::Soft(radius / 6.0), 1.41)] {
                let image = Scene { profile, ..scene.clone() }.draw(&scatter.draw().unwrap().cells);
                let mut sizes = Sizes::default();
                sizes.add(&image, side * side);
                let found = sizes.typical().unwrap();
                let ratio = found.width * factor / (radius * 0.95);
                // A start for the prior, which learns the size itself: a third is near enough.
                assert!((0.75..1.33).contains(&ratio), "{radius} {profile:?}: {found:?} {ratio}");
                assert!(!found.too_small && !found.too_large);
            }
        }
    }

    #[test]
    fn noise_has_no_blobs() {
        let scene = Scene { width: 200, height: 200, ..Scene::default() };
        let mut sizes = Sizes::default();
        sizes.add(&scene.draw(&[]), 40_000);
        assert!(sizes.blobs.len() < 10, "{}", sizes.blobs.len());
    }
}
