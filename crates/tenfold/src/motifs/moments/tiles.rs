//! How signals are cut for the sums: into tiles that overlap, or not at all.

use super::super::data::{Signals, Stretch};
use super::super::extent::Extent;
use std::collections::BTreeMap;

/// The cut.
///
/// A product x(t₁)x(t₂)x(t₃)x(t₄) is of use only when its times lie less than a motif's length apart. Tiles of twice that
/// length, moved on by one length, hold every such product; padded with zeros to three lengths, no product wraps
/// around into another's place. So a recording of any length costs the same per sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tiling {
    /// How far a tile reaches.
    pub tile: Extent,
    /// From one tile to the next.
    pub hop: Extent,
    /// The period of the transform; beyond the tile there are zeros.
    pub period: Extent,
    /// Lags from here on are not used; `None` on whole circles, where all are.
    pub support: Option<Extent>,
    /// Whether tiles go around the ends of a stretch.
    pub cyclic: bool,
}

/// One tile of one stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tile {
    pub stretch: usize,
    pub row: usize,
    pub column: usize,
    pub extent: Extent,
}

/// A whole circle is cheaper than its tiles up to this many supports: (n/2)³ against (n/m)·(3m/2)³ products.
const WHOLE: usize = 5;

impl Tiling {
    /// How to cut `signals` for motifs of this extent. Stretches that are closed to circles, all of one size and not
    /// many times longer than a motif, stay whole.
    pub fn new(signals: &Signals, support: Extent) -> Self {
        let size = signals.stretches()[0].extent;
        let even = signals.stretches().iter().all(|stretch| stretch.extent == size);
        let whole = |size: usize, support: usize| size == 1 || size <= WHOLE * support;
        if signals.is_cyclic()
            && even
            && whole(size.rows, support.rows)
            && whole(size.columns, support.columns)
        {
            // Lags up to the support must have their own places on the circle; otherwise all lags are used.
            let fits = |size: usize, support: usize| size == 1 || 2 * support <= size;
            let support = Some(support).filter(|s| fits(size.rows, s.rows) && fits(size.columns, s.columns));
            return Self { tile: size, hop: size, period: size, support, cyclic: true };
        }
        let plane = support.is_plane();
        // An image has the square of a signal's frequencies: tiles of one length, half overlapping, lose the products
        // near the length's limit in most places but cost ten times less.
        let along = |m: usize| match (m, plane) {
            (1, _) => (1, 1, 1),
            (m, false) => (2 * m, m, 3 * m),
            (m, true) => (m, m.div_ceil(2), 2 * m),
        };
        let (rows, columns) = (along(support.rows), along(support.columns));
        Self {
            tile: Extent::plane(rows.0, columns.0),
            hop: Extent::plane(rows.1, columns.1),
            period: Extent::plane(rows.2, columns.2),
            support: Some(support),
            cyclic: signals.is_cyclic(),
        }
    }

    /// The period at which motifs are sought: twice the support, where lags −m < τ < m all have their own place.
    pub fn folded(&self) -> Extent {
        let twice = |m: usize| if m == 1 { 1 } else { 2 * m };
        match self.support {
            None => self.period,
            Some(support) => Extent::plane(twice(support.rows), twice(support.columns)),
        }
    }

    /// All tiles, stretch after stretch.
    pub fn tiles(&self, signals: &Signals) -> Vec<Tile> {
        let mut tiles = Vec::new();
        for (stretch, part) in signals.stretches().iter().enumerate() {
            for (row, rows) in self.cuts(part.extent.rows, self.tile.rows, self.hop.rows) {
                for (column, columns) in self.cuts(part.extent.columns, self.tile.columns, self.hop.columns) {
                    tiles.push(Tile { stretch, row, column, extent: Extent::plane(rows, columns) });
                }
            }
        }
        tiles
    }

    /// Begin and size of the tiles along one side of a stretch.
    fn cuts(&self, size: usize, tile: usize, hop: usize) -> Vec<(usize, usize)> {
        if self.cyclic {
            return (0..size).step_by(hop.min(size)).map(|begin| (begin, tile.min(size))).collect();
        }
        // The last tile is the first that reaches the end.
        let last = size.saturating_sub(tile).div_ceil(hop) * hop;
        (0..=last).step_by(hop).map(|begin| (begin, tile.min(size - begin))).collect()
    }

    /// How many places a product of this spread has in the tiles that were summed, by the tiles' sizes.
    pub fn places(&self, tiles: &BTreeMap<(usize, usize), u64>, spread: Extent) -> f64 {
        tiles
            .iter()
            .map(|(&(rows, columns), &count)| {
                let one = match self.support {
                    None => rows * columns,
                    // A whole circle has a place for every lag.
                    Some(_) if self.tile == self.period => rows * columns,
                    Some(_) => rows.saturating_sub(spread.rows) * columns.saturating_sub(spread.columns),
                };
                count as f64 * one as f64
            })
            .sum()
    }
}

impl Tile {
    /// The tile's numbers in one channel, less `centre`, in a field of zeros of the period.
    pub fn cut(&self, stretch: &Stretch, channel: usize, centre: f64, period: Extent, out: &mut [f64]) {
        out.fill(0.0);
        let size = stretch.extent;
        let values = &stretch.values[channel * size.len()..(channel + 1) * size.len()];
        for row in 0..self.extent.rows {
            let from = ((self.row + row) % size.rows) * size.columns;
            for column in 0..self.extent.columns {
                let value = values[from + (self.column + column) % size.columns];
                out[row * period.columns + column] = value - centre;
            }
        }
    }
}
