//! Places for cells that have all their other features.

use super::types::TypeTruth;
use crate::cells::data::Cell;
use rand::RngExt;
use tenfold_engine::linalg::random::{self, Rng};

/// Throws before a cell is put wherever it fell: a few in a crowded image touch, as they do in tissue.
const THROWS: usize = 100;

/// The standard deviation of the depth of a type, a share of the height.
const LAYER: f64 = 0.15;

/// Gives every cell a place at about the depth of its type that keeps the type's distance from those before.
pub(super) fn place(cells: &mut [Cell], of: impl Fn(usize) -> TypeTruth, side: f64, rng: &mut Rng) {
    let mut grid = Grid::new(side, 40.0);
    for i in 0..cells.len() {
        let truth = of(i);
        for throw in 0..THROWS {
            let x = rng.random::<f64>() * side;
            let y = side * (truth.depth + LAYER * random::normal(rng));
            if !(0.0..side).contains(&y) {
                continue;
            }
            let free = |other: &Cell| {
                let least = truth.spacing * (cells[i].r1 + other.r1);
                (x - other.x).powi(2) + (y - other.y).powi(2) >= least * least
            };
            if throw == THROWS - 1 || grid.near(x, y, 80.0).all(|j| free(&cells[j])) {
                (cells[i].x, cells[i].y) = (x, y);
                break;
            }
            // In case all further throws fall outside.
            (cells[i].x, cells[i].y) = (x, y);
        }
        grid.add(i, cells[i].x, cells[i].y);
    }
}

/// Places in squares.
struct Grid {
    square: f64,
    across: usize,
    squares: Vec<Vec<usize>>,
}

impl Grid {
    fn new(side: f64, square: f64) -> Self {
        let across = (side / square).ceil().max(1.0) as usize;
        Self { square, across, squares: vec![Vec::new(); across * across] }
    }

    fn at(&self, x: f64) -> usize {
        ((x.max(0.0) / self.square) as usize).min(self.across - 1)
    }

    fn add(&mut self, i: usize, x: f64, y: f64) {
        let square = self.at(y) * self.across + self.at(x);
        self.squares[square].push(i);
    }

    /// All in the squares that come within `reach`.
    fn near(&self, x: f64, y: f64, reach: f64) -> impl Iterator<Item = usize> {
        let columns = self.at(x - reach)..=self.at(x + reach);
        let rows = self.at(y - reach)..=self.at(y + reach);
        rows.flat_map(move |row| columns.clone().map(move |column| row * self.across + column))
            .flat_map(|square| self.squares[square].iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_distance_and_their_depth() {
        let mut rng = random::rng(1, 0);
        let blank =
            Cell { x: 0.0, y: 0.0, r1: 6.0, r2: 5.0, orientation: 0.0, intensity: 1.0, neighbours: 0.0 };
        let truth = TypeTruth {
            weight: 1.0,
            size: 5.5,
            aspect: 1.2,
            orientation: 0.0,
            intensity: 1.0,
            depth: 0.4,
            spacing: 1.5,
        };
        let mut cells = vec![blank; 300];
        place(&mut cells, |_| truth, 1000.0, &mut rng);
        for i in 0..300 {
            for j in 0..i {
                assert!((cells[i].x - cells[j].x).hypot(cells[i].y - cells[j].y) >= 1.5 * 12.0);
            }
        }
        let depth = cells.iter().map(|c| c.y / 1000.0).sum::<f64>() / 300.0;
        // Five standard errors, and a little for the edges.
        assert!((depth - 0.4).abs() < 5.0 * LAYER / 300f64.sqrt() + 0.01, "{depth}");
    }
}
