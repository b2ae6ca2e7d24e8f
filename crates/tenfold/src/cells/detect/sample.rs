//! Which tiles speak for the image.

use super::super::{Pixels, Window};
use super::filter::{halve, quantile};
use super::tiles::{Tiles, read};
use crate::error::Result;
use rayon::prelude::*;

/// Tiles in a sample, at most: some thousand cells of an ordinary section.
pub(super) const SAMPLE: usize = 6;

/// A sample of tiles in which something is to be seen, spread over the image: all where there are few.
///
/// # Errors
/// When the image cannot be read.
pub(super) fn sample(image: &dyn Pixels, tiles: &Tiles) -> Result<Vec<Window>> {
    if tiles.len() <= SAMPLE {
        return Ok((0..tiles.len()).map(|tile| tiles.core(tile)).collect());
    }
    let contrasts: Result<Vec<f32>> = (0..tiles.len())
        .into_par_iter()
        .with_max_len(1)
        .map(|tile| contrast(image, tiles.core(tile)))
        .collect();
    let contrasts = contrasts?;
    // Glass beside the tissue has little contrast.
    let least = 0.5 * quantile(&mut contrasts.clone(), 0.9);
    let full: Vec<usize> = (0..tiles.len()).filter(|&tile| contrasts[tile] >= least).collect();
    let count = full.len().min(SAMPLE);
    Ok((0..count).map(|i| tiles.core(full[(2 * i + 1) * full.len() / (2 * count)])).collect())
}

/// How far bright pixels stand above the middle, after some smoothing.
fn contrast(image: &dyn Pixels, window: Window) -> Result<f32> {
    let mut small = halve(&halve(&read(image, window)?));
    let values = small.values_mut();
    let middle = quantile(values, 0.5);
    Ok(quantile(values, 0.98) - middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Plane;

    #[test]
    fn glass_is_passed_over() {
        let value =
            |x: usize, y: usize| if x >= 600 && (x / 8 + y / 8).is_multiple_of(3) { 9.0 } else { 1.0 };
        let image = Plane::new(1200, 1000, (0..1_200_000).map(|i| value(i % 1200, i / 1200)).collect());
        let windows = sample(&image, &Tiles::new((1200, 1000), 100)).unwrap();
        assert_eq!(windows.len(), SAMPLE);
        assert!(windows.iter().all(|window| window.x >= 600));
    }
}
