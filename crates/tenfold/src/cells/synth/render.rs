//! Cells drawn as an image.

use super::super::{Cell, Pixels, Plane, Window};
use crate::error::Result;
use rayon::prelude::*;
use std::f64::consts::LN_2;
use tenfold_engine::linalg::random;

/// The first random stream of noise; every piece of a row has its own.
const NOISE: u64 = 1 << 32;

/// Pixels of a row that share a random stream: a stream costs as much to start as tens of numbers.
const PIECE: usize = 256;

/// Rows in a band: cells are listed by the bands they reach.
const BAND: usize = 64;

/// How the intensity of a cell falls from its centre; at the radii it has fallen to half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Profile {
    /// exp(−q ln 2), where q = 1 on the ellipse of the radii.
    Gaussian,
    /// Flat with an edge of this many pixels: 1 / (1 + exp((√q − 1)·√(r1 r2)/edge)).
    Soft(f64),
}

/// A background that is not even: level + wave·sin(x / length) + slope·y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Background {
    /// Everywhere.
    pub level: f64,
    /// The height of the waves that run to the right.
    pub wave: f64,
    /// Pixels in a radian of the wave.
    pub length: f64,
    /// What each row adds.
    pub slope: f64,
}

impl Default for Background {
    fn default() -> Self {
        Self { level: 0.0, wave: 30.0, length: 180.0, slope: 0.02 }
    }
}

/// How cells become an image.
///
/// # Example
/// ```
/// use tenfold::cells::synth::{Scatter, Scene};
/// let cells = Scatter { cells: 50, width: 300.0, height: 200.0, ..Scatter::default() }.draw()?.cells;
/// let image = Scene { width: 300, height: 200, ..Scene::default() }.draw(&cells);
/// assert_eq!((image.width(), image.height()), (300, 200));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Pixels to the right.
    pub width: usize,
    /// Pixels downwards.
    pub height: usize,
    /// The shape of a cell.
    pub profile: Profile,
    /// What lies under the cells.
    pub background: Background,
    /// The standard deviation of the noise of a pixel; a fifth of the default intensity.
    pub noise: f64,
    /// The seed of the noise.
    pub seed: u64,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            width: 1000,
            height: 1000,
            profile: Profile::Gaussian,
            background: Background::default(),
            noise: 20.0,
            seed: 0,
        }
    }
}

impl Scene {
    /// The whole image.
    pub fn draw(&self, cells: &[Cell]) -> Plane {
        Picture::new(self.clone(), cells.to_vec()).draw(Window {
            x: 0,
            y: 0,
            width: self.width,
            height: self.height,
        })
    }

    /// Beyond this many longer radii from its centre a cell is darker than 1e-4 of its intensity.
    fn reach(&self, cell: &Cell) -> f64 {
        match self.profile {
            Profile::Gaussian => (4.0 * std::f64::consts::LN_10 / LN_2).sqrt(),
            Profile::Soft(edge) => 1.0 + 4.0 * std::f64::consts::LN_10 * edge / (cell.r1 * cell.r2).sqrt(),
        }
    }

    /// The cell's brightness where q is the squared distance in units of its radii.
    fn brightness(&self, cell: &Cell, q: f64) -> f64 {
        match self.profile {
            Profile::Gaussian => cell.intensity * (-q * LN_2).exp(),
            Profile::Soft(edge) => {
                cell.intensity / (1.0 + ((q.sqrt() - 1.0) * (cell.r1 * cell.r2).sqrt() / edge).exp())
            }
        }
    }
}

/// A scene with its cells, drawn window by window; a pixel is the same in every window.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    scene: Scene,
    cells: Vec<Cell>,
    /// For every band of rows the cells that reach into it.
    bands: Vec<Vec<u32>>,
}

impl Picture {
    /// The cells of a scene.
    pub fn new(scene: Scene, cells: Vec<Cell>) -> Self {
        let mut bands = vec![Vec::new(); scene.height.div_ceil(BAND)];
        for (i, cell) in cells.iter().enumerate() {
            let reach = scene.reach(cell) * cell.r1;
            let last = (cell.y + reach).min(scene.height as f64 - 1.0);
            if last < 0.0 {
                continue;
            }
            let first = (cell.y - reach).max(0.0) as usize / BAND;
            for band in first..=last as usize / BAND {
                bands[band].push(i as u32);
            }
        }
        Self { scene, cells, bands }
    }

    /// The cells.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The pixels inside a window.
    pub fn draw(&self, window: Window) -> Plane {
        let mut plane = Plane::zeros(window.width, window.height);
        let rows = plane.values_mut().par_chunks_mut(window.width.max(1)).enumerate();
        rows.for_each(|(row, values)| self.row(window.y + row, window.x, values));
        plane
    }

    /// Fills `values` with row `y` from column `left` on.
    fn row(&self, y: usize, left: usize, values: &mut [f32]) {
        let Background { level, wave, length, slope } = self.scene.background;
        for (i, value) in values.iter_mut().enumerate() {
            *value = (level + wave * ((left + i) as f64 / length).sin() + slope * y as f64) as f32;
        }
        let end = left + values.len();
        for &cell in &self.bands[y / BAND] {
            let cell = &self.cells[cell as usize];
            let (sin, cos) = cell.orientation.sin_cos();
            let reach = self.scene.reach(cell);
            let first = (cell.x - reach * cell.r1).max(left as f64);
            let last = (cell.x + reach * cell.r1).min(end as f64 - 1.0);
            if last < first {
                continue;
            }
            let dy = y as f64 - cell.y;
            for x in first.ceil() as usize..=last as usize {
                let dx = x as f64 - cell.x;
                let (u, v) = ((dx * cos + dy * sin) / cell.r1, (dy * cos - dx * sin) / cell.r2);
                let q = u * u + v * v;
                if q < reach * reach {
                    values[x - left] += self.scene.brightness(cell, q) as f32;
                }
            }
        }
        self.noise(y, left, values);
    }

    fn noise(&self, y: usize, left: usize, values: &mut [f32]) {
        if self.scene.noise <= 0.0 || values.is_empty() {
            return;
        }
        let pieces = self.scene.width.div_ceil(PIECE);
        let end = left + values.len();
        for piece in left / PIECE..=(end - 1) / PIECE {
            let mut rng = random::rng(self.scene.seed, NOISE + (y * pieces + piece) as u64);
            for x in piece * PIECE..((piece + 1) * PIECE).min(end) {
                let noise = self.scene.noise * random::normal(&mut rng);
                if x >= left {
                    values[x - left] += noise as f32;
                }
            }
        }
    }
}

impl Pixels for Picture {
    fn size(&self) -> (usize, usize) {
        (self.scene.width, self.scene.height)
    }

    fn window(&self, window: Window) -> Result<Plane> {
        Ok(self.draw(window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::synth::Scatter;

    fn cell() -> Cell {
        Cell { x: 30.0, y: 20.0, r1: 8.0, r2: 4.0, orientation: 0.0, intensity: 50.0, neighbours: 0.0 }
    }

    #[test]
    fn intensity_is_the_height_and_radii_are_where_half_is_left() {
        let background = Background { level: 7.0, wave: 0.0, slope: 0.0, ..Background::default() };
        for (profile, top) in [(Profile::Gaussian, 50.0), (Profile::Soft(0.5), 50.0)] {
            let scene = Scene { width: 60, height: 40, profile, background, noise: 0.0, seed: 0 };
            let image = scene.draw(&[cell()]);
            assert!((image.at(30, 20) - 7.0 - top).abs() < 0.1, "{profile:?}: {}", image.at(30, 20));
            for (x, y) in [(38, 20), (22, 20), (30, 24), (30, 16)] {
                assert!((image.at(x, y) - 32.0).abs() < 1e-3, "{profile:?} ({x}, {y}): {}", image.at(x, y));
            }
            assert!((image.at(0, 39) - 7.0).abs() < 1e-3);
        }
    }

    #[test]
    fn windows_are_parts_of_the_whole() {
        let cells = Scatter { cells: 60, width: 700.0, height: 300.0, ..Scatter::default() }.draw().unwrap();
        let scene = Scene { width: 700, height: 300, ..Scene::default() };
        let whole = scene.draw(&cells.cells);
        let picture = Picture::new(scene, cells.cells);
        let window = Window { x: 250, y: 60, width: 290, height: 133 };
        assert_eq!(picture.window(window).unwrap(), whole.window(window).unwrap());
    }

    #[test]
    fn noise_has_the_deviation_that_was_asked_for() {
        let background = Background { wave: 0.0, slope: 0.0, ..Background::default() };
        let image = Scene { background, ..Scene::default() }.draw(&[]);
        let variance = image.values().iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / 1e6;
        // The standard error of the deviation of a million pixels is 20 / √2e6 = .014.
        assert!((variance.sqrt() - 20.0).abs() < 0.07, "{}", variance.sqrt());
    }
}
