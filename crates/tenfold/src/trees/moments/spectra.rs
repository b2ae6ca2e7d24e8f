//! What all pairs of variables have in common, in numbers.

use super::layout::BLOCKS;
use super::pairs::{KEPT, Line, VERSIONS};
use super::whiten::{Work, canonical, whiteners};
use crate::error::Result;
use crate::trees::distances::Distances;
use tenfold_engine::linalg::Mat;

/// From here on two variables are the same up to rounding.
const SAME: f64 = 1.0 - 1e-9;

/// A canonical correlation is taken to be at least this: distances stay finite.
const FLOOR: f64 = 1e-9;

/// The leading canonical correlations of all pairs of variables, from all samples and with each of eight blocks left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectra {
    widths: Vec<usize>,
    samples: f64,
    /// Where the values of each pair i < j begin, row by row, and their number.
    starts: Vec<usize>,
    counts: Vec<f64>,
    /// By version: all samples, then each block left out; one version alone where the covariances are exact.
    values: Vec<Vec<f64>>,
    squares: Vec<Vec<f64>>,
}

crate::checkpoint::keep! { Spectra { widths, samples, starts, counts, values, squares } }

impl Spectra {
    pub(super) fn from_lines(widths: Vec<usize>, samples: f64, lines: impl Iterator<Item = Line>) -> Self {
        let starts = starts(&widths);
        // Room for exactly these: arrays that grow by doubling are held up to three times over while they are moved.
        let (pairs, all) = (starts.len() - 1, starts[starts.len() - 1]);
        let room = |length: usize| (0..VERSIONS).map(|_| Vec::with_capacity(length)).collect();
        let mut spectra = Self {
            starts,
            widths,
            samples,
            counts: Vec::with_capacity(pairs),
            values: room(all),
            squares: room(pairs),
        };
        for line in lines {
            spectra.counts.extend(line.counts);
            for version in 0..VERSIONS {
                spectra.values[version].extend(&line.values[version]);
                spectra.squares[version].extend(&line.squares[version]);
            }
        }
        spectra
    }

    /// From known covariances, as a model has them: of every variable, and of every pair i < j; `samples` is what tests
    /// take as the number of samples. There are no blocks to leave out.
    ///
    /// # Errors
    /// When a covariance is not finite.
    pub fn exact(own: &[Mat], cross: impl Fn(usize, usize) -> Mat, samples: f64) -> Result<Self> {
        let whiten = |c: &Mat| {
            let used: Vec<bool> = (0..c.rows()).map(|f| c[(f, f)] > 0.0).collect();
            Ok(whiteners(&[c], &used)?.remove(0))
        };
        let whitened: Vec<Mat> = own.iter().map(whiten).collect::<Result<_>>()?;
        let widths: Vec<usize> = whitened.iter().map(Mat::rows).collect();
        let (mut all, mut squares, mut work) = (Vec::new(), Vec::new(), Work::default());
        for i in 0..own.len() {
            for j in i + 1..own.len() {
                canonical(&whitened[i], &whitened[j], cross(i, j).as_slice(), &mut work)?;
                squares.push(work.values.iter().map(|x| x * x).sum());
                all.extend(work.values.iter().take(KEPT));
            }
        }
        let counts = vec![samples; squares.len()];
        let starts = starts(&widths);
        Ok(Self { widths, samples, starts, counts, values: vec![all], squares: vec![squares] })
    }

    /// How many variables.
    pub fn variables(&self) -> usize {
        self.widths.len()
    }

    /// How many blocks were left out in turn.
    pub fn blocks(&self) -> usize {
        self.values.len() - 1
    }

    /// The effective width of a variable: directions in which it varies. A category has at most one fewer than levels.
    pub fn width(&self, variable: usize) -> usize {
        self.widths[variable]
    }

    pub(super) fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// Samples that have both variables.
    pub fn samples(&self, i: usize, j: usize) -> f64 {
        self.counts[self.pair(i, j)]
    }

    fn pair(&self, i: usize, j: usize) -> usize {
        let (i, j) = (i.min(j), i.max(j));
        i * self.variables() - i * (i + 1) / 2 + (j - i - 1)
    }

    /// The leading canonical correlations of two variables, largest first: at most 16, and not more than either is wide.
    pub fn values(&self, i: usize, j: usize) -> &[f64] {
        self.version(0, self.pair(i, j))
    }

    /// The same with a block left out.
    pub fn without(&self, block: usize, i: usize, j: usize) -> &[f64] {
        self.version(block + 1, self.pair(i, j))
    }

    fn version(&self, version: usize, pair: usize) -> &[f64] {
        &self.values[version][self.starts[pair]..self.starts[pair + 1]]
    }

    /// The sum of the squares of all canonical correlations of two variables.
    pub fn square(&self, i: usize, j: usize) -> f64 {
        self.squares[0][self.pair(i, j)]
    }

    /// The smallest such sum, times samples, when each block is left out in turn: what does not hang on few samples.
    pub(in crate::trees) fn least(&self, i: usize, j: usize) -> f64 {
        let (pair, left) = (self.pair(i, j), 1.0 - 1.0 / BLOCKS as f64);
        let without = self.squares[1..].iter().map(|version| left * version[pair]);
        self.counts[pair] * without.fold(self.squares[0][pair], f64::min)
    }

    /// Distances −Σ_{l ≤ r} log σ_l of all pairs, which add up along the paths of a tree whose hidden nodes have r + 1 states.
    ///
    /// A pair with m < r values, because one of the two is narrower, has (r/m) −Σ_{l ≤ m} log σ_l: what it would be if the
    /// values that it cannot have were like those it has. These distances add up when the centred tables are all multiples
    /// of the identity, and nearly so otherwise; no distance of a narrow variable adds up in general. A variable that does not
    /// vary is as far as can be from all.
    pub fn distances(&self, r: usize) -> Distances {
        let far = -(r as f64) * FLOOR.ln();
        let of = |version: usize| -> Vec<f64> {
            let one = |pair: usize| {
                let values = self.version(version, pair);
                let used = &values[..values.len().min(r)];
                let sum: f64 = used.iter().map(|&x| -x.max(FLOOR).ln()).sum();
                if used.is_empty() { far } else { sum * r as f64 / used.len() as f64 }
            };
            (0..self.counts.len()).map(one).collect()
        };
        Distances::new(self.variables(), of(0), (1..self.values.len()).map(of).collect())
    }

    /// Variables that do not vary.
    pub fn constants(&self) -> Vec<usize> {
        (0..self.variables()).filter(|&v| self.widths[v] == 0).collect()
    }

    /// Pairs i < j of which something in one is told exactly by the other: σ₁ = 1 up to rounding, over ten samples for every
    /// direction of both; fewer are told exactly by chance.
    pub fn duplicates(&self) -> Vec<(usize, usize)> {
        let pairs = (0..self.variables()).flat_map(|i| (i + 1..self.variables()).map(move |j| (i, j)));
        let enough = |i, j| self.samples(i, j) >= 10.0 * (self.width(i) + self.width(j)) as f64;
        let same = |i, j| self.values(i, j).first().is_some_and(|&x| x >= SAME);
        pairs.filter(|&(i, j)| same(i, j) && enough(i, j)).collect()
    }

    /// How many samples would be needed, when there are fewer: ten for every direction of the two widest variables together,
    /// below which chance alone makes canonical correlations of about (√d_i + √d_j)/√N > .4, and at least 100.
    pub fn too_few(&self) -> Option<usize> {
        let mut widths = self.widths.clone();
        widths.sort_unstable_by(|a, b| b.cmp(a));
        let needed = (10 * widths.iter().take(2).sum::<usize>()).max(100);
        ((self.samples as usize) < needed).then_some(needed)
    }
}

fn starts(widths: &[usize]) -> Vec<usize> {
    let mut starts = vec![0];
    for i in 0..widths.len() {
        for j in i + 1..widths.len() {
            starts.push(starts[starts.len() - 1] + widths[i].min(widths[j]).min(KEPT));
        }
    }
    starts
}
