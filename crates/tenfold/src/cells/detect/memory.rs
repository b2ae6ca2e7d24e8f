//! What detection holds at its peak beside the pixels of its image, by sizes alone.

use super::choices::Params;
use super::sample::SAMPLE;
use crate::memory::Estimate;

/// Bytes for every pixel of a tile that is looked at first: pixels, background, and the scales at which blobs are sought, in single
/// precision. Measured: 33 in images of 9 and of 36 megapixels.
const LOOKED_AT: u64 = 32;

/// Bytes for every pixel of a tile in work: pixels, background, residual, weights and four filtered fields, in single precision and
/// some of them in double, with a rim of neighbours around.
const IN_WORK: u64 = 56;

impl Params {
    /// What the search for cells will hold, before it begins: tiles of the first look, and one in work for every thread. It does not
    /// depend on the size of the image.
    pub fn needs(&self) -> Estimate {
        let side = self.tile.max((24.0 * self.radius.unwrap_or(0.0)) as usize) as u64;
        let threads = rayon::current_num_threads() as u64;
        let first = SAMPLE as u64 * LOOKED_AT * side * side;
        let in_work = threads * IN_WORK * side * side;
        Estimate::beside("pixels", 0)
            .and_largest(&[("tiles of the first look", first), ("tiles in work", in_work)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_cells_have_large_tiles() {
        let usual = Params::default();
        let large = Params { radius: Some(64.0), ..Params::default() };
        assert_eq!(large.needs().work(), 4 * usual.needs().work());
    }
}
