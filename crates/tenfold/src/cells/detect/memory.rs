//! What detection holds at its peak beside the pixels of its image, by sizes alone.

use super::choices::Params;
use super::sample::SAMPLE;
use super::tiles::Tiles;
use crate::memory::Estimate;

/// Bytes for every pixel of a tile that is looked at first: pixels, background, and the scales at which blobs are sought, in single
/// precision. Measured: 32 to 33 in images of 3, 9 and 36 megapixels.
const LOOKED_AT: u64 = 32;

/// Bytes for every pixel of a tile in work: pixels, background, residual, weights and four filtered fields, in single precision and
/// some of them in double, with a rim of neighbours around.
const IN_WORK: u64 = 56;

impl Params {
    /// What the search for cells in an image of this size will hold, before it begins: beside pixels of `held` bytes the tiles of the
    /// first look, or one in work for every thread. Beyond some megapixels it does not depend on the size of the image.
    pub fn needs(&self, size: (usize, usize), held: u64) -> Estimate {
        let tiles = Tiles::new(size, self.tile.max((24.0 * self.radius.unwrap_or(0.0)) as usize));
        let core = tiles.core(0);
        let (tiles, pixels) = (tiles.len() as u64, (core.width * core.height) as u64);
        let first = LOOKED_AT * tiles.min(SAMPLE as u64) * pixels;
        let in_work = IN_WORK * tiles.min(rayon::current_num_threads() as u64) * pixels;
        Estimate::beside("pixels", held)
            .and_largest(&[("tiles of the first look", first), ("tiles in work", in_work)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;

    #[test]
    fn large_cells_have_large_tiles() {
        let needs = |radius, size| Params { radius, ..Params::default() }.needs(size, 9);
        let work = |radius, size| with_threads(2, || needs(radius, size).work());
        let large = (20_000, 20_000);
        assert!(work(Some(64.0), large) > 3 * work(None, large));
        // Tiles are no more than there are, and an image of many megapixels needs little more than one of ten.
        assert!(2 * work(None, (700, 700)) < work(None, (1500, 1500)));
        assert!(work(None, large) < 2 * work(None, (4000, 4000)));
    }
}
