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

/// Pixels of the image for every byte of the cells that are found: a crowded slide has one in 2,000 pixels, and its fit, its tile's claim
/// on it and its line in the table take some 330 bytes. Measured: 262 a cell in 100 megapixels, 330 in 400.
const PIXELS_A_BYTE: u64 = 6;

impl Params {
    /// What of so many bytes an image of this size may take for its pixels, so that tiles and cells find room beside them.
    pub fn left_for_pixels(&self, size: (usize, usize), bytes: u64) -> u64 {
        bytes.saturating_sub(self.needs(size, 0).work())
    }

    /// What the search for cells in an image of this size will hold, before it begins: beside pixels of `held` bytes the tiles of the
    /// first look, or one in work for every thread, which beyond some megapixels do not depend on the size of the image, and cells.
    pub fn needs(&self, size: (usize, usize), held: u64) -> Estimate {
        let (stage, tiles) = self.tiles(size);
        let cells = size.0 as u64 * size.1 as u64 / PIXELS_A_BYTE;
        Estimate::beside("pixels", held).and(stage, tiles).and("cells", cells)
    }

    /// The larger of the two stages that hold tiles, and how much.
    fn tiles(&self, size: (usize, usize)) -> (&'static str, u64) {
        let tiles = Tiles::new(size, self.tile.max((24.0 * self.radius.unwrap_or(0.0)) as usize));
        let core = tiles.core(0);
        let (tiles, pixels) = (tiles.len() as u64, (core.width * core.height) as u64);
        let first = LOOKED_AT * tiles.min(SAMPLE as u64) * pixels;
        let in_work = IN_WORK * tiles.min(rayon::current_num_threads() as u64) * pixels;
        if first >= in_work { ("tiles of the first look", first) } else { ("tiles in work", in_work) }
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
        let tiles = |radius| with_threads(2, || Params { radius, ..Params::default() }.tiles(large).1);
        assert!(tiles(Some(64.0)) > 3 * tiles(None));
        // Tiles are no more than there are; an image of 400 megapixels needs more than one of 16 for its cells, and as far as sides of
        // 740 pixels are larger than of 666, into which the smaller one is cut.
        assert!(2 * work(None, (700, 700)) < work(None, (1500, 1500)));
        let more = work(None, large) - work(None, (4000, 4000));
        let tiles = work(None, (4000, 4000)) as f64 * ((740.0 * 740.0) / (666.0 * 666.0) - 1.0);
        assert!(((more as f64 - tiles) / (384e6 / 6.0) - 1.0).abs() < 0.05, "{more}");
        // What is left for pixels leaves room for tiles and cells, and a small image has more.
        let (bound, params) = (400_000_000, Params::default());
        let pixels = |size| with_threads(2, || params.left_for_pixels(size, bound));
        assert_eq!(pixels(large) + with_threads(2, || params.needs(large, 0)).work(), bound);
        assert!(pixels((500, 400)) > bound - bound / 20 && params.left_for_pixels(large, 1000) == 0);
    }
}
