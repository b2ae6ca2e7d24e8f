//! How many cells are near a cell.

use super::data::Cell;
use rayon::prelude::*;

/// Boxes along the radius: the more there are, the more of the disc is counted by boxes that lie in it as a whole.
const ALONG: f64 = 4.0;

/// Cells that lie in one box of the grid, and how far they reach.
struct Bin {
    cells: std::ops::Range<usize>,
    low: [f64; 2],
    high: [f64; 2],
}

/// Sets the number of other cells within `radius` pixels of every cell, the distance itself included. The cells are those of one
/// image.
///
/// Cells are sorted into boxes. A box that lies as a whole inside the disc is counted without looking at its cells, one outside is
/// passed over; rounding changes none of it, because differences, squares and sums of floating-point numbers keep their order.
///
/// # Complexity
/// O(n) for cells that are spread out, and 1/4 of the radius or less is the width of the ring in which cells are looked at one by one.
///
/// # Panics
/// When a place is not finite.
///
/// # Example
/// ```
/// use tenfold::cells::{Cell, count_neighbours};
/// let at = |x, y| Cell { x, y, r1: 4.0, r2: 3.0, orientation: 0.0, intensity: 1.0, neighbours: 0.0 };
/// let mut cells = vec![at(0.0, 0.0), at(3.0, 4.0), at(100.0, 0.0)];
/// count_neighbours(&mut cells, 5.0);
/// assert_eq!(cells.iter().map(|c| c.neighbours).collect::<Vec<_>>(), [1.0, 1.0, 0.0]);
/// ```
pub fn count_neighbours(cells: &mut [Cell], radius: f64) {
    assert!(cells.iter().all(|c| c.x.is_finite() && c.y.is_finite()), "places are finite");
    let Some(first) = cells.first() else { return };
    if radius.is_nan() || radius < 0.0 {
        cells.iter_mut().for_each(|cell| cell.neighbours = 0.0);
        return;
    }
    let (mut low, mut high) = ([first.x, first.y], [first.x, first.y]);
    for cell in cells.iter() {
        low = [low[0].min(cell.x), low[1].min(cell.y)];
        high = [high[0].max(cell.x), high[1].max(cell.y)];
    }
    // No more boxes than about one for a cell, however small the radius.
    let across = (high[0] - low[0]).max(high[1] - low[1]);
    let side = (radius / ALONG).max(across / (cells.len() as f64).sqrt()).max(f64::MIN_POSITIVE);
    let grid = Grid::new(cells, low, high, side);
    let counts: Vec<usize> = cells.par_iter().map(|cell| grid.within([cell.x, cell.y], radius)).collect();
    // The cell itself is among those that were counted.
    cells.iter_mut().zip(counts).for_each(|(cell, count)| cell.neighbours = (count - 1) as f64);
}

struct Grid {
    low: [f64; 2],
    side: f64,
    columns: usize,
    rows: usize,
    bins: Vec<Bin>,
    /// Places of the cells, bin after bin.
    places: Vec<[f64; 2]>,
}

impl Grid {
    fn new(cells: &[Cell], low: [f64; 2], high: [f64; 2], side: f64) -> Self {
        let count = |i: usize| ((high[i] - low[i]) / side) as usize + 1;
        let (columns, rows) = (count(0), count(1));
        let mut grid = Self { low, side, columns, rows, bins: Vec::new(), places: Vec::new() };
        let of: Vec<usize> = cells.iter().map(|c| grid.row(c.y) * columns + grid.column(c.x)).collect();
        let mut ends = vec![0; columns * rows + 1];
        of.iter().for_each(|&bin| ends[bin + 1] += 1);
        for bin in 0..columns * rows {
            ends[bin + 1] += ends[bin];
        }
        let mut next = ends.clone();
        grid.places = vec![[0.0; 2]; cells.len()];
        for (cell, &bin) in cells.iter().zip(&of) {
            grid.places[next[bin]] = [cell.x, cell.y];
            next[bin] += 1;
        }
        grid.bins = (0..columns * rows).map(|bin| Bin::new(ends[bin]..ends[bin + 1], &grid.places)).collect();
        grid
    }

    fn column(&self, x: f64) -> usize {
        (((x - self.low[0]) / self.side).max(0.0) as usize).min(self.columns - 1)
    }

    fn row(&self, y: f64) -> usize {
        (((y - self.low[1]) / self.side).max(0.0) as usize).min(self.rows - 1)
    }

    fn within(&self, at: [f64; 2], radius: f64) -> usize {
        let most = radius * radius;
        // One box more on every side: where a box begins is rounded.
        let around = |from: usize, to: usize, last: usize| from.saturating_sub(1)..=(to + 1).min(last - 1);
        let mut count = 0;
        for row in around(self.row(at[1] - radius), self.row(at[1] + radius), self.rows) {
            for column in around(self.column(at[0] - radius), self.column(at[0] + radius), self.columns) {
                let bin = &self.bins[row * self.columns + column];
                if bin.cells.is_empty() || bin.nearest(at) > most {
                    continue;
                }
                count += match bin.farthest(at) <= most {
                    true => bin.cells.len(),
                    false => {
                        self.places[bin.cells.clone()].iter().filter(|p| square(at, **p) <= most).count()
                    }
                };
            }
        }
        count
    }
}

fn square(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
}

impl Bin {
    fn new(cells: std::ops::Range<usize>, places: &[[f64; 2]]) -> Self {
        let (mut low, mut high) = ([f64::MAX; 2], [f64::MIN; 2]);
        for place in &places[cells.clone()] {
            for i in 0..2 {
                (low[i], high[i]) = (low[i].min(place[i]), high[i].max(place[i]));
            }
        }
        Self { cells, low, high }
    }

    /// The square of the distance to the nearest place that a cell could have.
    fn nearest(&self, at: [f64; 2]) -> f64 {
        square(at, [at[0].clamp(self.low[0], self.high[0]), at[1].clamp(self.low[1], self.high[1])])
    }

    fn farthest(&self, at: [f64; 2]) -> f64 {
        let far = |i: usize| (at[i] - self.low[i]).abs().max((at[i] - self.high[i]).abs());
        far(0).powi(2) + far(1).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cell(x: f64, y: f64) -> Cell {
        Cell { x, y, r1: 1.0, r2: 1.0, orientation: 0.0, intensity: 1.0, neighbours: -1.0 }
    }

    fn brute(cells: &[Cell], radius: f64) -> Vec<f64> {
        let near = |a: &Cell, b: &Cell| square([a.x, a.y], [b.x, b.y]) <= radius * radius;
        cells.iter().map(|a| cells.iter().filter(|b| near(a, b)).count() as f64 - 1.0).collect()
    }

    fn counted(mut cells: Vec<Cell>, radius: f64) -> Vec<f64> {
        count_neighbours(&mut cells, radius);
        cells.iter().map(|c| c.neighbours).collect()
    }

    proptest! {
        #[test]
        fn counts_are_those_of_all_pairs(
            places in prop::collection::vec((0u32..300, 0u32..60), 1..200),
            radius in 0u32..80,
            scale in prop::sample::select(vec![1.0, 0.1, 1e-9, 1e9, 1.0 / 3.0]),
        ) {
            // Whole numbers put many pairs on the edge of the disc.
            let cells: Vec<Cell> =
                places.iter().map(|&(x, y)| cell(f64::from(x) * scale, f64::from(y) * scale)).collect();
            let radius = f64::from(radius) * scale;
            prop_assert_eq!(counted(cells.clone(), radius), brute(&cells, radius));
        }
    }

    #[test]
    fn one_cell_or_many_in_one_place_are_no_trouble() {
        assert!(counted(Vec::new(), 5.0).is_empty());
        assert_eq!(counted(vec![cell(3.0, 4.0)], 5.0), [0.0]);
        assert_eq!(counted(vec![cell(3.0, 4.0); 4], 0.0), [3.0; 4]);
        assert_eq!(counted(vec![cell(0.0, 0.0), cell(1e6, 0.0)], f64::INFINITY), [1.0; 2]);
        assert_eq!(counted(vec![cell(0.0, 0.0), cell(0.0, 0.0)], f64::NAN), [0.0; 2]);
    }
}
