//! What detection is asked for, and what it gives.

use super::super::Cell;
use crate::verdict::Verdict;

/// How to look for cells. The defaults choose everything from the image.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// The typical half-maximum radius of a cell in pixels; none finds it from blobs of all sizes.
    pub radius: Option<f64>,
    /// The shape exponent p of cells 2^(−q^p): 1 is Gaussian, 2 and 3 are flat with soft edges; none chooses it from blobs that stand
    /// alone.
    pub shape: Option<f64>,
    /// Cells fainter than this share of the typical intensity are not looked for.
    pub faintest: f64,
    /// Rounds of moves (death, split, birth), at most.
    pub max_rounds: usize,
    /// Pixels along the side of a tile; tiles lie at fixed places, so the cells hardly depend on it.
    pub tile: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self { radius: None, shape: None, faintest: 0.25, max_rounds: 3, tile: 768 }
    }
}

/// Cells that were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The cells, from the top down; their neighbours are not counted.
    pub cells: Vec<Cell>,
    /// How it went.
    pub diagnostics: Diagnostics,
}

crate::checkpoint::keep! { Found { cells, diagnostics } }

/// What detection chose and how it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostics {
    /// The typical half-maximum radius in pixels.
    pub radius: f64,
    /// The typical intensity of a cell.
    pub intensity: f64,
    /// The shape exponent p.
    pub shape: f64,
    /// The standard deviation of the noise of a pixel.
    pub noise: f64,
    /// The lowest and the highest background.
    pub background: (f64, f64),
    /// The most rounds of moves that a tile needed.
    pub rounds: usize,
    /// Tiles.
    pub tiles: usize,
    /// What speaks against the result.
    pub verdict: Verdict,
}

crate::checkpoint::keep! { Diagnostics { radius, intensity, shape, noise, background, rounds, tiles, verdict } }
