//! Where cells may stand: maxima of blobs of the typical size.

use super::super::Plane;
use super::filter::{blobs, maxima};

/// The filter's width in Gaussian widths of a cell: a little narrow, so that touching cells show two maxima.
const NARROW: f64 = 0.8;

/// How blobs are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seeds {
    /// The Gaussian width of a typical cell.
    pub width: f64,
    /// Blobs of a smaller height are left out.
    pub least: f64,
}

impl Seeds {
    /// x, y and height of blobs of at least `share` of the least height, the highest first.
    pub fn find(&self, image: &Plane, share: f64) -> Vec<(f64, f64, f64)> {
        let sigma = NARROW * self.width;
        // The answer of −σ²ΔG_σ to a Gaussian of width s: 2 s²σ²/(s² + σ²)² of its height.
        let answer = 2.0 * NARROW.powi(2) / (1.0 + NARROW.powi(2)).powi(2);
        let reach = (0.7 * self.width).round().max(1.0) as usize;
        let mut found: Vec<(f64, f64, f64)> =
            maxima(&blobs(image, sigma), reach, (share * self.least * answer) as f32)
                .into_iter()
                .map(|(x, y, value)| (x as f64, y as f64, f64::from(value) / answer))
                .collect();
        found.sort_by(|a, b| b.2.total_cmp(&a.2));
        found
    }
}
