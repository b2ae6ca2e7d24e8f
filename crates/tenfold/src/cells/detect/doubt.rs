//! Whether what stands out can be told from noise that hangs together, and from single bright pixels.
//!
//! The levels that blobs must exceed are those of white noise ([`chance`](super::chance)), and smoothed noise, stripes and blocks exceed them
//! everywhere. What tells cells apart is their sign: they are light on a quieter ground, while noise has as many dark blobs as light ones. So the third
//! moment of the blobs' filter over the image is zero for noise of any correlation and positive for cells. Its error comes from the
//! image itself, by leaving out one block, one row of blocks or one column of blocks after another; the largest error counts, since
//! stripes hang together along a row. Where that leaves it in doubt, light and dark blobs are counted.
//!
//! Noise of single pixels that is light only, such as salt, passes that, and chance puts some of its pixels side by side. There the ranks of
//! neighbouring pixels are no more alike than those of pixels far apart, which cells of some pixels would make them.

use super::super::{Cell, Plane, Window};
use super::filter::{blobs, halve};
use super::seeds::Seeds;
use super::tiles::Flat;
use crate::verdict::Verdict;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Standard errors of the third moment from which on light outweighs dark: chance passes them once in 700 times. Drawn tissue and real images
/// of a hundred cells have 7 to 30.
const LIGHT: f64 = 3.0;

/// Light blobs for every dark one of the same height, at least, where the third moment is in doubt: few cells give it no error, and rows of
/// an image are few. Of ten blobs of noise, as few are dark by chance once in 18 times; of thirty, once in 1,400.
const FAR_FEWER: usize = 4;

/// The row and the column of a block.
type Block = (usize, usize);

/// The side of a block in Gaussian widths of a cell: blocks farther apart than the filter reaches are independent.
const BLOCK: f64 = 6.0;

/// Widths from here on are looked at with half the pixels.
const HALVED: f64 = 4.4;

/// How far apart pixels share the ground but no cell, in Gaussian widths.
const APART: f64 = 4.0;

/// The share of the likeness of neighbours that cells would make, below which there is none: profiles and clumps move it by less.
const LIKENESS: f64 = 0.25;

/// Standard errors that this share must be worth, or the image is too small to tell. Cells would make more than twice the share, so that
/// chance does not bring them below it.
const TOLD: f64 = 2.0;

/// What speaks against what stands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Doubt {
    /// The third moment in its standard errors.
    lean: f64,
    /// Light and dark blobs as high as the typical cell.
    counts: (usize, usize),
    /// How much more the ranks of neighbours are alike than those of pixels apart, and the standard error if they are independent.
    likeness: (f64, f64),
    /// The height of typical cells over the noise of a pixel.
    clear: f64,
}

impl Doubt {
    /// Of the planes of these windows, with blobs of these widths and a typical height.
    pub fn of(planes: &[Flat], windows: &[Window], seeds: Seeds, height: f64) -> Self {
        let level = Seeds { least: height, ..seeds };
        let (mut light, mut dark) = (0, 0);
        for flat in planes {
            light += level.find(&flat.plane, 1.0).len();
            dark += level.find(&negative(&flat.plane), 1.0).len();
        }
        Self {
            lean: lean(planes, windows, seeds.width),
            counts: (light, dark),
            likeness: likeness(planes, seeds.width),
            clear: height / seeds.noise.0.max(f64::MIN_POSITIVE),
        }
    }

    /// Finds words for it, given the cells of an image of so many pixels.
    pub fn tell(&self, cells: &[Cell], pixels: usize, verdict: &mut Verdict) {
        if cells.is_empty() {
            return;
        }
        let (light, dark) = self.counts;
        if self.lean < LIGHT && FAR_FEWER * dark > light {
            verdict.warn(format!(
                "what was found cannot be told from noise that hangs together, or texture: {light} light blobs are as high as a typical \
                 cell, and {dark} dark ones as deep; do not count these cells unless you see them"
            ));
        }
        let share = (cells.iter().map(|cell| PI * cell.r1 * cell.r2).sum::<f64>() / pixels as f64).min(0.5);
        let least = LIKENESS * expected(share, self.clear);
        let (likeness, error) = self.likeness;
        if least > TOLD * error && likeness < least {
            verdict.warn(
                "neighbouring pixels are no more alike than pixels far apart, as in noise of single pixels: what was found are \
                 neighbours that are bright by chance, or cells no larger than a pixel",
            );
        }
    }
}

/// The correlation of neighbours' ranks where cells cover this share of the pixels and are `clear` times the noise high: a pixel of a cell
/// outranks one of the ground with probability Φ(.7 clear/√2), as within the half-maximum radius the mean of a Gaussian is .72 of its height.
fn expected(share: f64, clear: f64) -> f64 {
    // 2Φ(x) − 1 ≈ √(1 − e^(−2x²/π)) (Pólya), whose square is what counts.
    let x = 0.7 * clear / 2f64.sqrt();
    3.0 * share * (1.0 - share) * (1.0 - (-2.0 * x * x / PI).exp())
}

fn negative(plane: &Plane) -> Plane {
    Plane::new(plane.width(), plane.height(), plane.values().iter().map(|value| -value).collect())
}

/// The third moment of −σ²ΔG_σ over all windows, in standard errors by the jackknife over blocks, rows of blocks or columns of
/// them, whichever is largest.
fn lean(planes: &[Flat], windows: &[Window], width: f64) -> f64 {
    // Squares and cubes, by the place of the block in the image.
    let mut blocks: BTreeMap<Block, (f64, f64)> = BTreeMap::new();
    let side = BLOCK * width;
    for (flat, window) in planes.iter().zip(windows) {
        let (mut plane, mut factor) = (flat.plane.clone(), 1.0);
        while width / factor >= HALVED && plane.width().min(plane.height()) >= 32 {
            plane = halve(&plane);
            factor *= 2.0;
        }
        let answer = blobs(&plane, width / factor);
        for y in 0..answer.height() {
            let row = ((window.y as f64 + y as f64 * factor) / side) as usize;
            for (x, &value) in answer.row(y).iter().enumerate() {
                let column = ((window.x as f64 + x as f64 * factor) / side) as usize;
                let sums = blocks.entry((row, column)).or_default();
                let value = f64::from(value);
                sums.0 += value * value;
                sums.1 += value * value * value;
            }
        }
    }
    let grouped = |of: fn(Block) -> Block| {
        let mut groups: BTreeMap<Block, (f64, f64)> = BTreeMap::new();
        for (place, sums) in &blocks {
            let group = groups.entry(of(*place)).or_default();
            (group.0, group.1) = (group.0 + sums.0, group.1 + sums.1);
        }
        jackknife(&groups.into_values().collect::<Vec<_>>())
    };
    let ways: [fn(Block) -> Block; 3] = [|p| p, |p| (p.0, 0), |p| (0, p.1)];
    ways.into_iter().map(grouped).fold(f64::INFINITY, f64::min)
}

/// The skewness of groups of squares and cubes in its standard errors; infinite where there is but one group.
fn jackknife(groups: &[(f64, f64)]) -> f64 {
    if groups.len() < 2 {
        return f64::INFINITY;
    }
    let whole = groups.iter().fold((0.0, 0.0), |sum, group| (sum.0 + group.0, sum.1 + group.1));
    let skewness = |(squares, cubes): (f64, f64)| cubes / f64::max(squares, f64::MIN_POSITIVE).powf(1.5);
    let without: Vec<f64> =
        groups.iter().map(|group| skewness((whole.0 - group.0, whole.1 - group.1))).collect();
    let count = without.len() as f64;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|x| (x - mean).powi(2)).sum();
    let error = ((count - 1.0) / count * squares).sqrt();
    // Stripes are all alike across their direction: that way has no error, and says nothing.
    if error > 1e-9 * skewness(whole).abs() { skewness(whole) / error } else { f64::INFINITY }
}

/// How much more the ranks of neighbouring pixels correlate than those of pixels apart, and the error of that where all are independent.
fn likeness(planes: &[Flat], width: f64) -> (f64, f64) {
    let apart = (APART * width).ceil() as usize;
    let (mut sum, mut squares, mut count, mut places) = (0.0, 0.0, 0.0, 0.0);
    for flat in planes {
        let (wide, high) = (flat.plane.width(), flat.plane.height());
        if wide <= apart || high <= apart {
            continue;
        }
        let ranks = ranks(flat.plane.values());
        squares += ranks.iter().map(|rank| rank * rank).sum::<f64>();
        count += ranks.len() as f64;
        for y in 0..high - apart {
            for at in y * wide..(y + 1) * wide - apart {
                let (near, far) =
                    (ranks[at + 1] + ranks[at + wide], ranks[at + apart] + ranks[at + apart * wide]);
                sum += ranks[at] * (near - far) / 2.0;
            }
        }
        places += ((wide - apart) * (high - apart)) as f64;
    }
    // A product of independent ranks has the variance's square, and the mean of four of them a quarter of four.
    match squares > 0.0 && places > 0.0 {
        true => (sum / places / (squares / count), 1.0 / f64::sqrt(places)),
        false => (0.0, f64::INFINITY),
    }
}

/// Ranks from −½ to ½, equal values sharing theirs.
fn ranks(values: &[f32]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let rank = |value: &f32| {
        let (below, up_to) = (sorted.partition_point(|v| v < value), sorted.partition_point(|v| v <= value));
        (below + up_to) as f64 / (2 * sorted.len()) as f64 - 0.5
    };
    values.iter().map(rank).collect()
}
