//! Pictures of images with their cells drawn on them.

use super::data::Cell;
use super::images::{Image, png_bytes};
use super::plane::{Pixels, Window};
use crate::error::Result;
use std::collections::BTreeMap;

/// A picture of an image in red, green and blue, smaller or larger than it.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Pixels to the right.
    pub width: usize,
    /// Pixels downwards.
    pub height: usize,
    /// Three bytes for every pixel, row after row.
    pub colours: Vec<u8>,
    /// Pixels of the picture for one of the image.
    pub scale: f64,
}

/// Colours of types, the same as on pages: middle tones, which stand on light and dark ground.
pub const PALETTE: [[u8; 3]; 12] = [
    [61, 133, 198],
    [224, 138, 46],
    [60, 157, 96],
    [207, 79, 69],
    [144, 112, 196],
    [169, 118, 74],
    [217, 119, 176],
    [37, 162, 168],
    [179, 160, 42],
    [124, 143, 217],
    [120, 200, 60],
    [150, 150, 150],
];

/// Small images are enlarged to about this, so that outlines of cells do not hide them; at most four times.
const SMALL: usize = 768;

/// Shares of the darkest and brightest pixels that may become black and white.
const CUT: f64 = 0.005;

impl Picture {
    /// The image in its own colours, no side longer than `most`.
    ///
    /// # Errors
    /// When the file behind it cannot be read.
    pub fn of(image: &Image, most: usize) -> Result<Self> {
        let shape = image.raw().shape();
        match shape.colours {
            3 => shrunk((shape.width, shape.height), most, (shape.channels, 3), &|window, take| {
                image.raw().rows(window, take)
            }),
            _ => Self::of_pixels(image, most),
        }
    }

    /// One channel in grey, no side longer than `most`.
    ///
    /// # Errors
    /// When the file behind it cannot be read.
    pub fn of_pixels(pixels: &dyn Pixels, most: usize) -> Result<Self> {
        shrunk(pixels.size(), most, (1, 1), &|window, take| {
            let plane = pixels.window(window)?;
            (0..plane.height()).try_for_each(|y| {
                let row: Vec<f64> = plane.row(y).iter().map(|&x| f64::from(x)).collect();
                take(&row)
            })
        })
    }

    /// A colour that is seen on this picture.
    pub fn ink(&self) -> [u8; 3] {
        let sum: u64 = self.colours.iter().map(|&x| u64::from(x)).sum();
        if sum > 128 * self.colours.len() as u64 { [0, 130, 30] } else { [255, 210, 0] }
    }

    /// Draws the outlines of cells, the i-th in the colour `colour(i)`. Cells of unknown size are small circles.
    pub fn draw(&mut self, cells: &[Cell], colour: impl Fn(usize) -> [u8; 3]) {
        for (i, cell) in cells.iter().enumerate() {
            let radius = |r: f64| if r.is_finite() { (r * self.scale).max(1.5) } else { 3.0 };
            // The centre of the first pixel is 0 in both, so half a pixel is added and taken away.
            let place = |x: f64| (x + 0.5) * self.scale - 0.5;
            let turn = if cell.orientation.is_finite() { cell.orientation } else { 0.0 };
            self.outline([place(cell.x), place(cell.y)], [radius(cell.r1), radius(cell.r2)], turn, colour(i));
        }
    }

    fn outline(&mut self, [x, y]: [f64; 2], [r1, r2]: [f64; 2], turn: f64, colour: [u8; 3]) {
        let (cos, sin) = (turn.cos(), turn.sin());
        let range = |at: f64, side: usize| {
            let (from, to) = ((at - r1 - 2.0).max(0.0) as usize, (at + r1 + 3.0).max(0.0) as usize);
            from.min(side)..to.min(side)
        };
        for row in range(y, self.height) {
            for column in range(x, self.width) {
                let (dx, dy) = (column as f64 - x, row as f64 - y);
                let (u, v) = (dx * cos + dy * sin, dy * cos - dx * sin);
                let q = (u / r1).hypot(v / r2);
                let slope = (u / (r1 * r1)).hypot(v / (r2 * r2));
                // The distance from the ellipse to first order; from the centre it is the shorter radius.
                let distance = if slope > 0.0 { (q * (q - 1.0) / slope).abs() } else { r2 };
                let cover = (1.2 - distance).clamp(0.0, 1.0);
                let at = 3 * (row * self.width + column);
                for (old, new) in self.colours[at..at + 3].iter_mut().zip(colour) {
                    *old = (f64::from(*old) * (1.0 - cover) + f64::from(new) * cover).round() as u8;
                }
            }
        }
    }

    /// As the bytes of a PNG file.
    pub fn png(&self) -> Vec<u8> {
        png_bytes(self.width, self.height, &self.colours)
    }
}

type Take<'a> = &'a mut dyn FnMut(&[f64]) -> Result<()>;

/// Averages blocks of an image, or repeats its pixels, and stretches them to what a screen shows.
fn shrunk(
    (width, height): (usize, usize),
    most: usize,
    (channels, kept): (usize, usize),
    rows: &dyn Fn(Window, Take) -> Result<()>,
) -> Result<Picture> {
    let longest = width.max(height);
    let block = longest.div_ceil(most.max(1)).max(1);
    let times = (SMALL.min(most) / longest).clamp(1, 4);
    let (across, down) = (width.div_ceil(block), height.div_ceil(block));
    let mut means = Vec::with_capacity(across * down * kept);
    for top in (0..height).step_by(block) {
        let window = Window { x: 0, y: top, width, height: block.min(height - top) };
        let mut sums = vec![0.0; across * kept];
        rows(window, &mut |row| {
            for (x, pixel) in row.chunks_exact(channels).enumerate() {
                let at = x / block * kept;
                sums[at..at + kept].iter_mut().zip(pixel).for_each(|(sum, value)| *sum += value);
            }
            Ok(())
        })?;
        for (i, sum) in sums.iter().enumerate() {
            let columns = block.min(width - i / kept * block);
            means.push(sum / (columns * window.height) as f64);
        }
    }
    let (low, high) = extremes(&means);
    let byte = |x: f64| ((x - low) / (high - low) * 255.0).round().clamp(0.0, 255.0) as u8;
    let mut colours = Vec::with_capacity(3 * across * down * times * times);
    for row in means.chunks_exact(across * kept) {
        let line: Vec<u8> = row
            .chunks_exact(kept)
            .flat_map(|pixel| {
                let bytes = [0, 1, 2].map(|c| byte(pixel[c.min(kept - 1)]));
                std::iter::repeat_n(bytes, times).flatten()
            })
            .collect();
        (0..times).for_each(|_| colours.extend_from_slice(&line));
    }
    let scale = times as f64 / block as f64;
    Ok(Picture { width: across * times, height: down * times, colours, scale })
}

/// Values that become black and white; of few values, all are kept.
fn extremes(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let (low, high) = (at(CUT), at(1.0 - CUT));
    match high > low {
        true => (low, high),
        false => (sorted[0], sorted[sorted.len() - 1].max(sorted[0] + 1.0)),
    }
}

/// A colour for each of these names, the same whenever the names are the same.
pub fn colours_of<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, [u8; 3]> {
    let mut places: BTreeMap<&str, [u8; 3]> = names.map(|name| (name, [0; 3])).collect();
    places.values_mut().enumerate().for_each(|(i, colour)| *colour = PALETTE[i % PALETTE.len()]);
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::plane::Plane;

    #[test]
    fn large_images_shrink_and_small_ones_grow() {
        let plane = Plane::new(50, 20, (0..1000).map(|i| (i % 50) as f32).collect());
        let small = Picture::of_pixels(&plane, 10).unwrap();
        assert_eq!((small.width, small.height, small.scale), (10, 4, 0.2));
        assert!(small.colours.is_sorted_by(|a, b| a <= b) || small.colours[..30].is_sorted());
        let large = Picture::of_pixels(&plane, 1000).unwrap();
        assert_eq!((large.width, large.height, large.scale), (200, 80, 4.0));
        // Blocks at the edge are averages of what is there.
        let odd = Picture::of_pixels(&Plane::new(7, 3, vec![5.0; 21]), 3).unwrap();
        assert_eq!((odd.width, odd.height), (3, 1));
        assert!(odd.colours.iter().all(|x| *x == odd.colours[0]));
    }

    #[test]
    fn outlines_lie_where_the_cells_are() {
        let mut picture = Picture::of_pixels(&Plane::zeros(800, 800), 800).unwrap();
        assert_eq!(picture.scale, 1.0);
        let cell = Cell {
            x: 400.0,
            y: 300.0,
            r1: 50.0,
            r2: 20.0,
            orientation: 0.5,
            intensity: 1.0,
            neighbours: 0.0,
        };
        let unknown = Cell { x: 100.0, y: 100.0, r1: f64::NAN, r2: f64::NAN, orientation: f64::NAN, ..cell };
        let beyond = Cell { x: 1e12, y: -1e12, ..cell };
        picture.draw(&[cell, unknown, beyond], |i| [[255, 0, 0], [0, 255, 0], [0, 0, 255]][i]);
        let at = |x: f64, y: f64| {
            let place = 3 * (y.round() as usize * 800 + x.round() as usize);
            // Rounding the place moves it by up to .7 of a pixel from the line, which is 1.2 wide to either side.
            [picture.colours[place] >= 127, picture.colours[place + 1] >= 127]
        };
        assert_eq!(at(400.0 + 50.0 * 0.5f64.cos(), 300.0 + 50.0 * 0.5f64.sin()), [true, false]);
        assert_eq!(at(400.0 - 20.0 * 0.5f64.sin(), 300.0 + 20.0 * 0.5f64.cos()), [true, false]);
        assert_eq!(at(400.0, 300.0), [false, false], "inside");
        assert_eq!(at(103.0, 100.0), [false, true]);
        assert!(picture.png().starts_with(b"\x89PNG"));
    }
}
