//! A first look at an image: pixels from all over it, averaged over small blocks against noise.

use super::raw::{Raw, Shape};
use crate::cells::plane::Window;
use crate::error::Result;

/// Windows on a side, and their side: 1.6 megapixels are enough to know what an image shows, and 25 places to meet tissue in.
const WINDOWS: usize = 5;
const SIDE: usize = 256;

/// The side of a block whose pixels are averaged: noise falls to a quarter, and cells of a few pixels are still seen.
const BLOCK: usize = 4;

/// Averaged pixels, all colours of one side by side.
pub(super) struct Look {
    pub(super) colours: usize,
    pub(super) values: Vec<f64>,
}

impl Look {
    /// Looks at the same places of an image every time.
    pub(super) fn at(raw: &dyn Raw) -> Result<Self> {
        let Shape { width, height, colours, channels, .. } = raw.shape();
        let mut values = Vec::new();
        for top in starts(height) {
            for left in starts(width) {
                let window = Window { x: left, y: top, width: SIDE.min(width), height: SIDE.min(height) };
                // In an image narrower than a block there is one block, of what there is.
                let across = (window.width / BLOCK).max(1);
                let block = (BLOCK.min(window.width), BLOCK.min(window.height));
                let (mut sums, mut rows) = (vec![0.0; across * colours], 0);
                raw.rows(window, &mut |row| {
                    for (x, pixel) in row.chunks_exact(channels).enumerate().take(across * block.0) {
                        let place = x / block.0 * colours;
                        sums[place..place + colours].iter_mut().zip(pixel).for_each(|(sum, v)| *sum += v);
                    }
                    rows += 1;
                    if rows == block.1 {
                        values.extend(sums.iter().map(|sum| sum / (block.0 * block.1) as f64));
                        sums.fill(0.0);
                        rows = 0;
                    }
                    Ok(())
                })?;
            }
        }
        Ok(Self { colours, values })
    }

    /// One number for every pixel.
    pub(super) fn seen(&self, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        self.values.chunks_exact(self.colours).map(of).collect()
    }

    /// The values of one colour.
    pub(super) fn channel(&self, c: usize) -> Vec<f64> {
        self.seen(|pixel| pixel[c])
    }
}

/// Where windows begin along one side: spread evenly, without overlap where there is room.
fn starts(side: usize) -> Vec<usize> {
    let room = side.saturating_sub(SIDE);
    let count = side.div_ceil(SIDE).clamp(1, WINDOWS);
    (0..count).map(|i| if count == 1 { 0 } else { room * i / (count - 1) }).collect()
}

/// The value below which this share lies.
pub(super) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut values = values.to_vec();
    let at = ((values.len() - 1) as f64 * share) as usize;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

/// Whether values lie mostly above their most frequent one: then what is shown is light on dark ground. Measured by the third
/// moment about the mode, without the outermost hundredth on either side, where dust and reflections are.
pub(super) fn leans_up(values: &[f64]) -> bool {
    const BINS: usize = 64;
    let (low, high) = (quantile(values, 0.01), quantile(values, 0.99));
    if high <= low {
        // Nearly everything is of one value; the few others decide.
        return values.iter().map(|x| x - low).sum::<f64>() >= 0.0;
    }
    let width = (high - low) / BINS as f64;
    let mut counts = [0usize; BINS + 2];
    for x in values.iter().filter(|x| (low..=high).contains(*x)) {
        counts[1 + (((x - low) / width) as usize).min(BINS - 1)] += 1;
    }
    // Neighbours are added, because the bins of noisy counts have no clear winner.
    let smooth = |bin: usize| counts[bin - 1] + 2 * counts[bin] + counts[bin + 1];
    let best = (1..=BINS).max_by_key(|&bin| (smooth(bin), BINS - bin)).unwrap_or(1);
    let mode = low + (best as f64 - 0.5) * width;
    values.iter().map(|x| (x.clamp(low, high) - mode).powi(3)).sum::<f64>() >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rare_decides() {
        let light: Vec<f64> =
            (0..1000).map(|i| if i % 10 == 0 { 200.0 } else { 20.0 + (i % 7) as f64 }).collect();
        let dark: Vec<f64> = light.iter().map(|x| 255.0 - x).collect();
        assert!(leans_up(&light) && !leans_up(&dark));
        // One pixel in a thousand.
        let mut flat = vec![7.0; 1000];
        flat[3] = 9.0;
        assert!(leans_up(&flat));
        flat[3] = 5.0;
        assert!(!leans_up(&flat));
        // Dust on a bright slide is darker or lighter than anything else, but rare.
        let mut dusty = dark;
        dusty[5] = 1e5;
        assert!(!leans_up(&dusty));
    }

    #[test]
    fn windows_cover_small_images_and_are_spread_over_large_ones() {
        assert_eq!(starts(1), [0]);
        assert_eq!(starts(256), [0]);
        assert_eq!(starts(300), [0, 44]);
        assert_eq!(starts(10_000), [0, 2436, 4872, 7308, 9744]);
    }
}
