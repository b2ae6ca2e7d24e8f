//! The image cut into tiles at fixed places, each seen with what lies around it.

use super::super::{Pixels, Plane, Window};
use super::background::Lattice;
use crate::error::{Error, Result};

/// Tiles of an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tiles {
    size: (usize, usize),
    counts: (usize, usize),
}

impl Tiles {
    /// As few as can be with sides of at most `side` pixels, all nearly equal.
    pub fn new(size: (usize, usize), side: usize) -> Self {
        Self { size, counts: (size.0.div_ceil(side).max(1), size.1.div_ceil(side).max(1)) }
    }

    pub fn len(&self) -> usize {
        self.counts.0 * self.counts.1
    }

    /// The pixels of a tile: none is in two.
    pub fn core(&self, tile: usize) -> Window {
        let part = |i: usize, len: usize, count: usize| (i * len / count, (i + 1) * len / count);
        let (left, right) = part(tile % self.counts.0, self.size.0, self.counts.0);
        let (top, bottom) = part(tile / self.counts.0, self.size.1, self.counts.1);
        Window { x: left, y: top, width: right - left, height: bottom - top }
    }
}

/// A window with `margin` more pixels on all sides, where the image has them.
pub(super) fn widened(window: Window, margin: usize, size: (usize, usize)) -> Window {
    let (left, top) = (window.x.saturating_sub(margin), window.y.saturating_sub(margin));
    let right = (window.x + window.width + margin).min(size.0);
    let bottom = (window.y + window.height + margin).min(size.1);
    Window { x: left, y: top, width: right - left, height: bottom - top }
}

/// The pixels of a window, checked to be numbers.
///
/// # Errors
/// When they cannot be read, or one is not a number.
pub(super) fn read(image: &dyn Pixels, window: Window) -> Result<Plane> {
    let plane = image.window(window)?;
    match plane.values().iter().position(|value| !value.is_finite()) {
        None => Ok(plane),
        Some(i) => Err(Error::Unfit {
            problem: format!(
                "the pixel in column {} of row {} is not a number",
                window.x + i % window.width + 1,
                window.y + i / window.width + 1
            ),
            remedy: "give an image whose pixels are all finite".into(),
        }),
    }
}

/// The pixels of a window without their background.
#[derive(Debug, Clone)]
pub(super) struct Flat {
    pub plane: Plane,
    /// Which pixels are cut off at the top of the format's range; empty where none is.
    pub clipped: Vec<bool>,
    /// The lowest and highest background.
    pub ground: (f32, f32),
}

/// The share of the ceiling from which a pixel counts as cut off: half a step of 8 bits below it.
const CUT: f32 = 0.998;

/// Takes the background off the pixels of a window.
///
/// # Errors
/// Those of [`read`].
pub(super) fn flat(image: &dyn Pixels, window: Window, lattice: &Lattice) -> Result<Flat> {
    let around = widened(window, lattice.margin(), image.size());
    let pixels = read(image, around)?;
    let ground = lattice.ground(&pixels, around);
    let mut out = Plane::zeros(window.width, window.height);
    let (mut low, mut high) = (f32::MAX, f32::MIN);
    let ceiling = image.ceiling().map_or(f32::INFINITY, |ceiling| CUT * ceiling);
    let mut clipped = Vec::with_capacity(window.width * window.height);
    for (y, row) in out.values_mut().chunks_exact_mut(window.width).enumerate() {
        let (from, line) = (window.x - around.x, window.y - around.y + y);
        let (values, grounds) = (&pixels.row(line)[from..], &ground.row(line)[from..]);
        for (out, (value, ground)) in row.iter_mut().zip(values.iter().zip(grounds)) {
            *out = value - ground;
            clipped.push(*value >= ceiling);
            (low, high) = (low.min(*ground), high.max(*ground));
        }
    }
    if !clipped.contains(&true) {
        clipped.clear();
    }
    Ok(Flat { plane: out, clipped, ground: (low, high) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_pixel_once() {
        for (size, side) in [((1000, 700), 300), ((5, 7), 512), ((513, 1), 512)] {
            let tiles = Tiles::new(size, side);
            let mut seen = vec![0; size.0 * size.1];
            for tile in 0..tiles.len() {
                let core = tiles.core(tile);
                assert!(core.width.max(core.height) <= side);
                for y in core.y..core.y + core.height {
                    for x in core.x..core.x + core.width {
                        seen[y * size.0 + x] += 1;
                    }
                }
            }
            assert!(seen.iter().all(|&count| count == 1));
        }
    }

    #[test]
    fn what_is_not_a_number_is_named() {
        let mut image = Plane::zeros(20, 10);
        image.values_mut()[3 * 20 + 4] = f32::NAN;
        let message = read(&image, Window { x: 2, y: 1, width: 10, height: 9 }).unwrap_err().to_string();
        assert!(message.contains("column 5 of row 4"), "{message}");
    }
}
