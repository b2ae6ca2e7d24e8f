//! What noise alone would give: heights that a cell must exceed.
//!
//! White noise of deviation s answers −σ²ΔG_σ with a smooth normal field of deviation s/(σ√(2π)), whose slope has 3/(2σ²) of its variance in
//! each direction. Such a field has about 3/(2σ²) · u e^(−u²/2) / (2π)^(3/2) maxima a pixel above u deviations (Adler, "The Geometry of
//! Random Fields", 1981, theorem 6.3.1). The level here is the u above which a whole image has few of them.

use std::f64::consts::PI;

/// Maxima of noise that a whole image may show on average: one image in a hundred has one.
const EXPECTED: f64 = 0.01;

/// The deviation of the answer of −σ²ΔG_σ to white noise of deviation 1.
pub(super) fn deviation(sigma: f64) -> f64 {
    1.0 / (sigma * (2.0 * PI).sqrt())
}

/// Deviations that maxima of the filter of width σ do not reach by chance in an image of so many pixels.
pub(super) fn level(pixels: usize, sigma: f64) -> f64 {
    let rate = pixels as f64 * 1.5 / (sigma * sigma) / (2.0 * PI).powf(1.5) / EXPECTED;
    // u² = 2 ln(rate · u), by a few rounds from u = 5. An image smaller than the filter has at least one independent place.
    (0..4).fold(5.0, |u: f64, _| (2.0 * (rate * u).max(1.0 / EXPECTED).ln()).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::super::Plane;
    use super::super::filter::{blobs, maxima};
    use super::*;
    use tenfold_engine::linalg::random;

    /// At 3 deviations there are enough maxima to count. The formula is that of a field without pixels: on pixels the filter answers noise
    /// a few per cent less, which at this height are a third of the maxima. It must bound them, and within a factor of 2.5, of
    /// which the level takes the logarithm's root.
    #[test]
    fn the_formula_bounds_the_maxima_of_noise() {
        let (sigma, side) = (2.0, 800);
        let mut rng = random::rng(3, 0);
        let values = (0..side * side).map(|_| random::normal(&mut rng) as f32).collect();
        let answer = blobs(&Plane::new(side, side, values), sigma);
        let count = |u: f64| maxima(&answer, 1, (u * deviation(sigma)) as f32).len() as f64;
        let formula = |u: f64| {
            let rate = (side * side) as f64 * 1.5 / (sigma * sigma) / (2.0 * PI).powf(1.5);
            rate * u * (-0.5 * u * u).exp()
        };
        let share = count(3.0) / formula(3.0);
        assert!((0.4..1.1).contains(&share), "{} {}", count(3.0), formula(3.0));
        let level = level(side * side, sigma);
        assert!((formula(level) / EXPECTED - 1.0).abs() < 0.01 && count(level) == 0.0, "{level}");
    }
}
