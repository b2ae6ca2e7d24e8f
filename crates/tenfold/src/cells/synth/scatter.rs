//! Cells thrown on an area so that they keep their distance, except for a share of touching pairs.

use super::super::Cell;
use crate::error::{Error, Result};
use rand::RngExt;
use std::f64::consts::{PI, TAU};
use std::ops::Range;
use tenfold_engine::linalg::random::{self, Rng};

/// The random stream of placement.
const PLACES: u64 = 800;

/// Throws in a row that may fail before the area counts as full. Random placement jams near half of the area; a free spot of
/// a thousandth of the area is then missed with probability (1 − 1/1000)^20000 < 1e-8.
const THROWS: usize = 20_000;

/// What cells of one kind look like; every mark is drawn on its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// How many cells are of this kind, relative to the others.
    pub share: f64,
    /// The longer half-maximum radius in pixels, evenly from this range.
    pub radius: Range<f64>,
    /// The shorter radius over the longer one, evenly from this range within (0, 1].
    pub aspect: Range<f64>,
    /// The direction of the longer radius, evenly from this range; taken modulo π.
    pub orientation: Range<f64>,
    /// The median intensity.
    pub intensity: f64,
    /// The standard deviation of the logarithm of the intensity.
    pub contrast: f64,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            share: 1.0,
            radius: 5.0..9.0,
            aspect: 0.55..1.0,
            orientation: 0.0..PI,
            intensity: 100.0,
            contrast: 0.25,
        }
    }
}

/// A hard-core pattern: centres of two cells are at least `spacing` times the sum of their longer radii apart, except for
/// touching pairs, whose centres are `touch` times that sum apart.
///
/// # Complexity
/// O(cells) while the area is not near full, by a grid of buckets.
///
/// # Example
/// ```
/// use tenfold::cells::synth::Scatter;
/// let drawn = Scatter { cells: 200, seed: 3, ..Scatter::default() }.draw()?;
/// assert_eq!(drawn.cells.len(), 200);
/// assert!(drawn.cells.iter().all(|cell| cell.r1 >= cell.r2 && cell.x < 1000.0));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// The area to the right, in pixels.
    pub width: f64,
    /// The area downwards.
    pub height: f64,
    /// How many cells.
    pub cells: usize,
    /// The share of cells that stand in touching pairs.
    pub touching: f64,
    /// How far apart touching cells are, in sums of longer radii, evenly from this range.
    pub touch: Range<f64>,
    /// How far apart all others are, in sums of longer radii, at least.
    pub spacing: f64,
    /// Centres keep this distance from the edge.
    pub margin: f64,
    /// The kinds of cells.
    pub looks: Vec<Look>,
    /// The seed.
    pub seed: u64,
}

impl Default for Scatter {
    fn default() -> Self {
        Self {
            width: 1000.0,
            height: 1000.0,
            cells: 500,
            touching: 0.15,
            touch: 0.7..0.95,
            spacing: 1.3,
            margin: 12.0,
            looks: vec![Look::default()],
            seed: 0,
        }
    }
}

/// Cells that were drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Scattered {
    /// The cells, without their neighbours counted.
    pub cells: Vec<Cell>,
    /// The place of each cell's kind among the looks.
    pub kinds: Vec<usize>,
}

impl Scatter {
    /// Draws.
    ///
    /// # Errors
    /// When a choice is out of range, or the area cannot hold so many cells.
    pub fn draw(&self) -> Result<Scattered> {
        self.check()?;
        let mut rng = random::rng(self.seed, PLACES);
        let mut placed = Placed::new(self);
        let pairs = (self.cells as f64 * self.touching / 2.0).round() as usize;
        let (mut paired, mut failures) = (0, 0);
        while placed.cells.len() < self.cells {
            if failures > THROWS {
                return Err(self.full(placed.cells.len()));
            }
            let x = rng.random_range(self.margin..self.width - self.margin);
            let y = rng.random_range(self.margin..self.height - self.margin);
            let (cell, kind) = self.cell(x, y, &mut rng);
            if !placed.is_free(&cell, self.spacing, None) {
                failures += 1;
                continue;
            }
            failures = 0;
            let first = placed.add(cell, kind);
            if paired < pairs && placed.cells.len() < self.cells {
                paired += usize::from(self.join(first, &mut placed, &mut rng));
            }
        }
        Ok(Scattered { cells: placed.cells, kinds: placed.kinds })
    }

    /// Gives cell `first` a touching mate where one fits; the mate may come as near to third cells as touching cells do.
    fn join(&self, first: usize, placed: &mut Placed, rng: &mut Rng) -> bool {
        for _ in 0..20 {
            let Cell { x, y, r1, .. } = placed.cells[first];
            let (mut cell, kind) = self.cell(0.0, 0.0, rng);
            let (angle, near) = (rng.random_range(0.0..TAU), between(&self.touch, rng));
            let distance = near * (r1 + cell.r1);
            (cell.x, cell.y) = (x + distance * angle.cos(), y + distance * angle.sin());
            let inside = |at: f64, end: f64| at >= self.margin && at < end - self.margin;
            let stays = inside(cell.x, self.width) && inside(cell.y, self.height);
            if stays && placed.is_free(&cell, self.touch.start, Some(first)) {
                placed.add(cell, kind);
                return true;
            }
        }
        false
    }

    fn cell(&self, x: f64, y: f64, rng: &mut Rng) -> (Cell, usize) {
        let total: f64 = self.looks.iter().map(|look| look.share).sum();
        let mut at = rng.random::<f64>() * total;
        let kind = self.looks.iter().position(|look| {
            at -= look.share;
            at < 0.0
        });
        let kind = kind.unwrap_or(self.looks.len() - 1);
        let look = &self.looks[kind];
        let r1 = between(&look.radius, rng);
        let cell = Cell {
            x,
            y,
            r1,
            r2: r1 * between(&look.aspect, rng),
            orientation: between(&look.orientation, rng).rem_euclid(PI),
            intensity: look.intensity * (look.contrast * random::normal(rng)).exp(),
            neighbours: 0.0,
        };
        (cell, kind)
    }

    fn check(&self) -> Result<()> {
        let wrong = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        let inner = self.width.min(self.height) - 2.0 * self.margin;
        if !(self.margin >= 0.0 && inner > 0.0 && self.width.max(self.height).is_finite()) {
            return wrong("margin", self.margin.to_string(), "less than half the area's shorter side");
        }
        if self.looks.is_empty() || !self.looks.iter().all(|look| look.share > 0.0) {
            return wrong("looks", self.looks.len().to_string(), "at least one, with positive shares");
        }
        for Look { radius, aspect, .. } in &self.looks {
            if !(radius.start > 0.0 && radius.end >= radius.start && radius.end.is_finite()) {
                return wrong("radius", format!("{radius:?}"), "a range of positive numbers");
            }
            if !(aspect.start > 0.0 && aspect.end >= aspect.start && aspect.end <= 1.0) {
                return wrong("aspect", format!("{aspect:?}"), "a range within (0, 1]");
            }
        }
        if !(0.0..=1.0).contains(&self.touching) {
            return wrong("touching", self.touching.to_string(), "a share between 0 and 1");
        }
        if !(self.touch.start >= 0.0 && self.touch.end >= self.touch.start && self.spacing >= self.touch.end)
        {
            return wrong("touch", format!("{:?}", self.touch), "a range of numbers up to the spacing");
        }
        Ok(())
    }

    fn full(&self, placed: usize) -> Error {
        Error::Unfit {
            problem: format!(
                "{} × {} pixels are full with {placed} of {} cells",
                self.width, self.height, self.cells
            ),
            remedy: "ask for fewer or smaller cells, or a larger area".into(),
        }
    }
}

/// A number evenly from a range that may be one point.
fn between(range: &Range<f64>, rng: &mut Rng) -> f64 {
    range.start + (range.end - range.start) * rng.random::<f64>()
}

/// Cells in buckets as wide as the largest distance that can matter, so that nine of them hold all that is near.
struct Placed {
    cells: Vec<Cell>,
    kinds: Vec<usize>,
    side: f64,
    columns: usize,
    buckets: Vec<Vec<u32>>,
}

impl Placed {
    fn new(scatter: &Scatter) -> Self {
        let largest = scatter.looks.iter().fold(0.0, |most: f64, look| most.max(look.radius.end));
        // Never many more buckets than cells, however small the cells are.
        let area = scatter.width * scatter.height;
        let side = (2.0 * largest * scatter.spacing).max((area / (scatter.cells.max(16) as f64)).sqrt());
        let columns = (scatter.width / side) as usize + 1;
        let rows = (scatter.height / side) as usize + 1;
        let buckets = vec![Vec::new(); columns * rows];
        Self { cells: Vec::new(), kinds: Vec::new(), side, columns, buckets }
    }

    fn add(&mut self, cell: Cell, kind: usize) -> usize {
        let bucket = (cell.y / self.side) as usize * self.columns + (cell.x / self.side) as usize;
        self.buckets[bucket].push(self.cells.len() as u32);
        self.cells.push(cell);
        self.kinds.push(kind);
        self.cells.len() - 1
    }

    /// Whether `cell` keeps `spacing` from all but `mate`.
    fn is_free(&self, cell: &Cell, spacing: f64, mate: Option<usize>) -> bool {
        let (column, row) = ((cell.x / self.side) as usize, (cell.y / self.side) as usize);
        let rows = self.buckets.len() / self.columns;
        for y in row.saturating_sub(1)..(row + 2).min(rows) {
            for x in column.saturating_sub(1)..(column + 2).min(self.columns) {
                for &other in &self.buckets[y * self.columns + x] {
                    let Cell { x, y, r1, .. } = self.cells[other as usize];
                    let (dx, dy, least) = (cell.x - x, cell.y - y, spacing * (cell.r1 + r1));
                    if Some(other as usize) != mate && dx * dx + dy * dy < least * least {
                        return false;
                    }
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_distance_and_touch_as_often_as_asked() {
        for seed in 0..3 {
            let scatter = Scatter { seed, ..Scatter::default() };
            let cells = scatter.draw().unwrap().cells;
            let mut touching = vec![false; cells.len()];
            for i in 0..cells.len() {
                for j in 0..i {
                    let (a, b) = (&cells[i], &cells[j]);
                    let near = (a.x - b.x).hypot(a.y - b.y) / (a.r1 + b.r1);
                    assert!(near >= 0.7 - 1e-9, "seed {seed}: {near}");
                    if near < 0.95 {
                        (touching[i], touching[j]) = (true, true);
                    }
                }
            }
            let share = touching.iter().filter(|&&t| t).count() as f64 / 500.0;
            // A mate may also touch a third cell; one pair more or less is rounding.
            assert!((0.146..0.18).contains(&share), "seed {seed}: {share}");
        }
    }

    #[test]
    fn kinds_come_in_their_shares_and_looks() {
        let looks = vec![
            Look { share: 3.0, radius: 3.0..4.0, orientation: 3.0..3.5, ..Look::default() },
            Look { share: 1.0, radius: 6.0..6.0, aspect: 0.5..0.5, contrast: 0.0, ..Look::default() },
        ];
        let drawn = Scatter { looks, cells: 2000, width: 2000.0, height: 2000.0, ..Scatter::default() };
        let drawn = drawn.draw().unwrap();
        let second: Vec<&Cell> = drawn
            .cells
            .iter()
            .zip(&drawn.kinds)
            .filter(|(_, kind)| **kind == 1)
            .map(|(cell, _)| cell)
            .collect();
        // Binomial with standard deviation 19; larger cells are turned away a little more often.
        assert!((380..=580).contains(&second.len()), "{}", second.len());
        assert!(second.iter().all(|c| (c.r1, c.r2, c.intensity) == (6.0, 3.0, 100.0)));
        assert!(drawn.cells.iter().all(|c| (0.0..PI).contains(&c.orientation)));
    }

    #[test]
    fn a_full_area_says_so() {
        let crowded = Scatter { cells: 100_000, ..Scatter::default() };
        let message = crowded.draw().unwrap_err().to_string();
        assert!(message.contains("full"), "{message}");
        let upside = Scatter { margin: 600.0, ..Scatter::default() };
        assert!(upside.draw().is_err());
    }
}
