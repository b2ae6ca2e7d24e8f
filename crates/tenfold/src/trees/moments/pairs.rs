//! The canonical correlations of one variable with all that follow, from a strip of products.

use super::layout::{BLOCKS, Layout};
use super::own::Own;
use super::tiles::Strip;
use super::whiten::{Whitener, Work, all_whiteners, canonical, renewed};
use crate::error::{Error, Result};
use rayon::prelude::*;
use tenfold_engine::linalg::Mat;

/// All samples, and each block left out.
pub(super) const VERSIONS: usize = BLOCKS + 1;

/// Canonical correlations that are kept of a pair.
pub(super) const KEPT: usize = 16;

/// What belongs to the pairs (i, j) with j > i, in order.
pub(super) struct Line {
    /// Samples in which both are there.
    pub counts: Vec<f64>,
    /// The leading canonical correlations, min(16, width of i, width of j) of each pair, by version.
    pub values: [Vec<f64>; VERSIONS],
    /// The sum of the squares of all of them, by version.
    pub squares: [Vec<f64>; VERSIONS],
    /// W_i C_ij W_jᵀ of all samples, the narrower of the two in rows, where they are kept.
    pub whitened: Vec<f64>,
}

impl Line {
    /// Empty, with room for so many pairs of narrow variables.
    fn with_room(pairs: usize) -> Self {
        let room = || std::array::from_fn(|_| Vec::with_capacity(pairs));
        Self { counts: Vec::with_capacity(pairs), values: room(), squares: room(), whitened: Vec::new() }
    }
}

/// What all pairs need of single variables.
pub(super) struct Singles<'a> {
    layout: &'a Layout<'a>,
    own: Vec<Own>,
    whiteners: Vec<Vec<Whitener>>,
}

impl<'a> Singles<'a> {
    pub fn new(layout: &'a Layout<'a>) -> Result<Self> {
        let own = Own::versions(layout);
        let whiteners = all_whiteners(layout, &own)?;
        Ok(Self { layout, own, whiteners })
    }

    /// The effective widths.
    pub fn widths(&self) -> Vec<usize> {
        self.whiteners.iter().map(|versions| versions[0].rows()).collect()
    }

    /// Looks at variables through some of their directions: rows of whitened coordinates, none where all are used. With a block
    /// left out the same combinations of features are used, made to have variance 1 there.
    pub fn narrow(&mut self, directions: &[Option<Mat>]) -> Result<()> {
        let covariances: Vec<Vec<Mat>> =
            self.own.par_iter().map(|own| own.covariances(self.layout)).collect();
        let narrowed =
            self.whiteners.par_iter().zip(directions).enumerate().map(|(v, (whiteners, chosen))| {
                let Some(chosen) = chosen else { return Ok(whiteners.clone()) };
                let rows = chosen.matmul(&whiteners[0]);
                covariances.iter().map(|version| renewed(&rows, &version[v])).collect()
            });
        self.whiteners = narrowed.collect::<Result<_>>()?;
        Ok(())
    }

    /// # Errors
    /// When two variables are never there together.
    pub fn line(&self, strip: &Strip, i: usize, keep: bool) -> Result<Line> {
        let mut line = Line::with_room(self.layout.variables() - i - 1);
        let (mut sums, mut work) = (Sums::default(), Work::default());
        for j in i + 1..self.layout.variables() {
            let counts = self.counts(strip, i, j)?;
            line.counts.push(counts[0]);
            let single = self.layout.columns_of(i).len() == 1 && self.layout.columns_of(j).len() == 1;
            if single {
                self.correlate(strip, (i, j), &mut line, keep);
                continue;
            }
            self.pair(strip, (i, j), &counts, &mut sums);
            for (version, cross) in sums.cross.iter().enumerate() {
                canonical(&self.whiteners[i][version], &self.whiteners[j][version], cross, &mut work)?;
                line.squares[version].push(work.values.iter().map(|x| x * x).sum());
                line.values[version].extend(work.values.iter().take(KEPT));
                if keep && version == 0 {
                    line.whitened.extend(work.whitened());
                }
            }
        }
        Ok(line)
    }

    /// Two variables with one feature each: their correlation.
    fn correlate(&self, strip: &Strip, (i, j): (usize, usize), line: &mut Line, keep: bool) {
        let (a, b) = (self.layout.features_of(i).start, self.layout.features_of(j).start);
        let mut products = [0.0; VERSIONS];
        for block in 0..BLOCKS {
            products[block + 1] = strip.products(block, a, b..b + 1)[0];
            products[0] += products[block + 1];
        }
        let whole = products[0];
        products[1..].iter_mut().for_each(|block| *block = whole - *block);
        for version in 0..VERSIONS {
            let (own, n) = (&self.own[version], self.own[version].samples);
            let covariance = products[version] / n - own.sums[a] / n * (own.sums[b] / n);
            let (left, right) = (&self.whiteners[i][version], &self.whiteners[j][version]);
            if left.rows() == 0 || right.rows() == 0 {
                line.squares[version].push(0.0);
                continue;
            }
            let correlation = covariance * left[(0, 0)] * right[(0, 0)];
            if keep && version == 0 {
                line.whitened.push(correlation);
            }
            let value = correlation.abs().min(1.0);
            line.squares[version].push(value * value);
            line.values[version].push(value);
        }
    }

    /// In how many samples both are there.
    fn counts(&self, strip: &Strip, i: usize, j: usize) -> Result<[f64; VERSIONS]> {
        let (left, right) = (self.layout.flag_of(i), self.layout.flag_of(j));
        let mut counts = [0.0; VERSIONS];
        for version in 0..VERSIONS {
            let own = &self.own[version];
            let gone = [left, right].into_iter().flatten().map(|flag| own.sums[flag]).sum::<f64>();
            counts[version] = own.samples - gone;
        }
        if let (Some(a), Some(b)) = (left, right) {
            let both: Vec<f64> = (0..BLOCKS).map(|block| strip.products(block, a, b..b + 1)[0]).collect();
            let all: f64 = both.iter().sum();
            counts[0] += all;
            (0..BLOCKS).for_each(|block| counts[block + 1] += all - both[block]);
        }
        if counts.iter().any(|&count| count < 2.0) {
            let (a, b) = (self.layout.name(i), self.layout.name(j));
            return Err(Error::Unfit {
                problem: format!("{a} and {b} are both known in {} samples", counts[0]),
                remedy: format!("give samples that hold both, or leave out {a} or {b}"),
            });
        }
        Ok(counts)
    }

    /// The covariance over the samples in which both are there, by version.
    fn pair(&self, strip: &Strip, (i, j): (usize, usize), counts: &[f64; VERSIONS], sums: &mut Sums) {
        let (rows, cols) = (self.layout.features_of(i), self.layout.features_of(j));
        sums.reset(rows.len(), cols.len());
        for block in 0..BLOCKS {
            for (f, column) in rows.clone().enumerate() {
                let at = f * cols.len();
                sums.cross[block + 1][at..at + cols.len()].copy_from_slice(strip.products(
                    block,
                    column,
                    cols.clone(),
                ));
                if let Some(flag) = self.layout.flag_of(j) {
                    sums.left[block + 1][f] = strip.products(block, column, flag..flag + 1)[0];
                }
            }
            if let Some(flag) = self.layout.flag_of(i) {
                sums.right[block + 1].copy_from_slice(strip.products(block, flag, cols.clone()));
            }
        }
        [&mut sums.cross, &mut sums.left, &mut sums.right].into_iter().for_each(leave_out);
        for version in 0..VERSIONS {
            let (own, n) = (&self.own[version], counts[version]);
            let right: &mut Vec<f64> = &mut sums.right[version];
            right.iter_mut().zip(&own.sums[cols.clone()]).for_each(|(mean, sum)| *mean = (sum - *mean) / n);
            for (f, column) in rows.clone().enumerate() {
                let mean = (own.sums[column] - sums.left[version][f]) / n;
                let line = &mut sums.cross[version][f * cols.len()..(f + 1) * cols.len()];
                line.iter_mut().zip(&*right).for_each(|(x, other)| *x = *x / n - mean * other);
            }
        }
    }
}

/// Room for one pair after another, by version.
#[derive(Default)]
struct Sums {
    /// Products, then covariances.
    cross: [Vec<f64>; VERSIONS],
    /// Sums of the first variable over the samples that lack the second.
    left: [Vec<f64>; VERSIONS],
    /// Sums of the second over the samples that lack the first, then means over those that have both.
    right: [Vec<f64>; VERSIONS],
}

impl Sums {
    fn reset(&mut self, rows: usize, cols: usize) {
        let zero = |all: &mut [Vec<f64>; VERSIONS], len: usize| {
            for version in all {
                version.clear();
                version.resize(len, 0.0);
            }
        };
        zero(&mut self.cross, rows * cols);
        zero(&mut self.left, rows);
        zero(&mut self.right, cols);
    }
}

/// The first array becomes the sum of the others, and each of these what is left of it without itself.
fn leave_out(versions: &mut [Vec<f64>; VERSIONS]) {
    let (whole, blocks) = versions.split_first_mut().expect("there are versions");
    for block in blocks.iter() {
        whole.iter_mut().zip(block).for_each(|(w, b)| *w += b);
    }
    for block in blocks {
        block.iter_mut().zip(&*whole).for_each(|(b, w)| *b = w - *b);
    }
}
