//! Draws tissue of known cell types, and counts and single cells of the same truth.

use super::place::place;
use crate::cells::counts::GeneCounts;
use crate::cells::data::{Cell, Section, Tissue};
use crate::cells::features::Features;
use crate::cells::neighbours::count_neighbours;
use crate::error::{Error, Result};
use rand::RngExt;
use rand_distr::{Distribution, Gamma, Poisson};
use std::f64::consts::PI;
use tenfold_engine::linalg::random::{self, Rng};
use tenfold_engine::linalg::{Csr, Mat};

/// Random streams of the parts of a draw.
const TRUTH: u64 = 700;
const TISSUE: u64 = 701;
const COUNTS: u64 = 702;

/// Cells of every type by which the histogram of a type is found: its bins are known to a few per cent then.
const SAMPLED: usize = 20_000;

/// Tissue of known types.
///
/// A type has its own size, aspect, orientation, intensity, depth in the tissue and distance to neighbours; it expresses some genes,
/// drawn from a Dirichlet distribution. The image of a gene shows cells of all types that express it, in proportion.
///
/// # Example
/// ```
/// use tenfold::cells::Synth;
/// let drawn = Synth { types: 3, genes: 20, cells: 1000, ..Synth::default() }.draw()?;
/// assert_eq!((drawn.tissue.sections.len(), drawn.profiles.rows()), (20, 3));
/// assert_eq!(drawn.labels[0].len(), drawn.tissue.sections[0].cells.len());
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Synth {
    /// Cell types.
    pub types: usize,
    /// Genes, one image each.
    pub genes: usize,
    /// Cells in all images together, in the mean.
    pub cells: usize,
    /// The share of the types that express a gene, in the mean; every gene is expressed by one at least.
    pub expressed: f64,
    /// How widely the features of a type vary; 1 lets neighbouring types overlap, 0.5 hardly.
    pub spread: f64,
    /// The side of an image in pixels.
    pub side: f64,
    /// The distance in pixels within which neighbours are counted.
    pub reach: f64,
    /// Same seed, same tissue.
    pub seed: u64,
}

impl Default for Synth {
    fn default() -> Self {
        Self {
            types: 8,
            genes: 200,
            cells: 40_000,
            expressed: 0.35,
            spread: 1.0,
            side: 1000.0,
            reach: 100.0,
            seed: 0,
        }
    }
}

/// What is true of a type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TypeTruth {
    /// Its share of all cells.
    pub weight: f64,
    /// The median geometric mean radius, in pixels.
    pub size: f64,
    /// The median aspect.
    pub aspect: f64,
    /// The mean direction of the longer radius.
    pub orientation: f64,
    /// The median intensity.
    pub intensity: f64,
    /// The mean depth in the tissue, a share of the image's height.
    pub depth: f64,
    /// The distance to any other cell, at least, in sums of radii.
    pub spacing: f64,
}

/// Tissue with what is true of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The cells.
    pub tissue: Tissue,
    /// The type of every cell of every section.
    pub labels: Vec<Vec<usize>>,
    /// Types × genes.
    pub profiles: Mat,
    /// The types.
    pub types: Vec<TypeTruth>,
}

/// Single cells whose transcripts were counted.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleCells {
    /// Cells × genes.
    pub counts: GeneCounts,
    /// The type of every cell.
    pub labels: Vec<usize>,
}

/// Counts drawn from the histogram model itself.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnCounts {
    /// Bins × genes.
    pub counts: GeneCounts,
    /// Types × genes.
    pub profiles: Mat,
    /// P(bin | type), types × bins.
    pub histograms: Mat,
    /// The share of every type.
    pub weights: Vec<f64>,
}

impl Synth {
    /// Draws tissue: for every gene an image, with cells at places that keep their distance.
    ///
    /// # Errors
    /// [`Error::BadParameter`].
    pub fn draw(&self) -> Result<Drawn> {
        let (types, profiles) = self.truth()?;
        let mut rng = random::rng(self.seed, TISSUE);
        let (mut sections, mut labels) = (Vec::new(), Vec::new());
        for g in 0..self.genes {
            let mut kinds = Vec::new();
            for (t, own) in types.iter().enumerate() {
                let n = poisson(self.cells as f64 * own.weight * profiles[(t, g)], &mut rng);
                kinds.extend(std::iter::repeat_n(t, n));
            }
            // Whoever comes first finds room: all types have the same chance.
            let order = random::permutation(kinds.len(), &mut rng);
            let kinds: Vec<usize> = order.into_iter().map(|i| kinds[i]).collect();
            let mut cells: Vec<Cell> = kinds.iter().map(|&t| self.look(&types[t], &mut rng)).collect();
            place(&mut cells, |i| types[kinds[i]], self.side, &mut rng);
            count_neighbours(&mut cells, self.reach);
            let gene = name(g);
            sections.push(Section { image: format!("{gene}.png"), gene, cells });
            labels.push(kinds);
        }
        Ok(Drawn { tissue: Tissue { sections }, labels, profiles, types })
    }

    /// Draws counts from the histogram model: x_mn ~ Poisson(cells · Σ_t w_t P(m | t) β_tn), with the bins of `features`.
    ///
    /// # Errors
    /// [`Error::BadParameter`].
    pub fn draw_counts(&self, features: &Features) -> Result<DrawnCounts> {
        let (types, profiles) = self.truth()?;
        let mut rng = random::rng(self.seed, COUNTS);
        let sampled =
            |t: &TypeTruth, n: usize, rng: &mut Rng| (0..n).map(|_| self.look(t, rng)).collect::<Vec<_>>();
        // Bins as they would come out of tissue: each type by its share.
        let pooled =
            types.iter().flat_map(|t| sampled(t, (t.weight * SAMPLED as f64) as usize + 1, &mut rng));
        let pooled = Section { image: "pooled".into(), gene: "all".into(), cells: pooled.collect() };
        let bins = features.bins(&Tissue { sections: vec![pooled] })?;
        let mut histograms = Mat::zeros(self.types, bins.len());
        for (t, own) in types.iter().enumerate() {
            for cell in sampled(own, SAMPLED, &mut rng) {
                let bin = bins.place(&cell, 1.0).expect("drawn cells have all features");
                histograms[(t, bin)] += 1.0 / SAMPLED as f64;
            }
        }
        let mut entries = Vec::new();
        for m in 0..bins.len() {
            for g in 0..self.genes {
                let rate: f64 =
                    (0..self.types).map(|t| types[t].weight * histograms[(t, m)] * profiles[(t, g)]).sum();
                let n = poisson(self.cells as f64 * rate, &mut rng);
                if n > 0 {
                    entries.push((m, g, n as f64));
                }
            }
        }
        let genes = (0..self.genes).map(name).collect();
        let counts = GeneCounts::new(genes, Csr::from_triplets(bins.len(), self.genes, &entries))?;
        Ok(DrawnCounts { counts, profiles, histograms, weights: types.iter().map(|t| t.weight).collect() })
    }

    /// The types and their profiles.
    fn truth(&self) -> Result<(Vec<TypeTruth>, Mat)> {
        self.check()?;
        let mut rng = random::rng(self.seed, TRUTH);
        let mut profiles = Mat::zeros(self.types, self.genes);
        let amount = Gamma::new(0.8, 1.0).expect("a shape and a scale");
        for g in 0..self.genes {
            let always = rng.random_range(0..self.types);
            for t in 0..self.types {
                if t == always || rng.random::<f64>() < self.expressed {
                    profiles[(t, g)] = amount.sample(&mut rng);
                }
            }
        }
        for t in 0..self.types {
            let sum = profiles.row(t).iter().sum::<f64>();
            let own = profiles.row_mut(t);
            if sum > 0.0 {
                own.iter_mut().for_each(|x| *x /= sum);
            } else {
                own[t % self.genes] = 1.0;
            }
        }
        // Dirichlet(5): the rarest of eight types is about a quarter of an average one.
        let share = Gamma::new(5.0, 1.0).expect("a shape and a scale");
        let raw: Vec<f64> = (0..self.types).map(|_| share.sample(&mut rng)).collect();
        let all: f64 = raw.iter().sum();
        let types = raw.iter().map(|w| TypeTruth {
            weight: w / all,
            size: 5.0 * (rng.random::<f64>() * 2.4f64.ln()).exp(),
            aspect: rng.random_range(1.05..2.2),
            orientation: rng.random_range(0.0..PI),
            intensity: 50.0 * (1.2 * rng.random::<f64>()).exp(),
            depth: rng.random_range(0.1..0.9),
            spacing: rng.random_range(1.0..2.0),
        });
        Ok((types.collect(), profiles))
    }

    /// A cell of a type, without a place.
    fn look(&self, t: &TypeTruth, rng: &mut Rng) -> Cell {
        let size = t.size * (0.12 * self.spread * random::normal(rng)).exp();
        let root = (1.0 + (t.aspect - 1.0) * (0.15 * self.spread * random::normal(rng)).exp()).sqrt();
        Cell {
            x: 0.0,
            y: 0.0,
            r1: size * root,
            r2: size / root,
            orientation: (t.orientation + 0.35 * self.spread * random::normal(rng)).rem_euclid(PI),
            intensity: t.intensity * (0.25 * self.spread * random::normal(rng)).exp(),
            neighbours: 0.0,
        }
    }

    fn check(&self) -> Result<()> {
        let bad = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if self.types == 0 || self.genes == 0 {
            return bad(
                "types and genes",
                format!("{} and {}", self.types, self.genes),
                "at least one of each",
            );
        }
        if !(0.0..=1.0).contains(&self.expressed) {
            return bad("expressed", self.expressed.to_string(), "a share between 0 and 1");
        }
        for (name, value) in [("spread", self.spread), ("reach", self.reach)] {
            if !(value.is_finite() && value >= 0.0) {
                return bad(name, value.to_string(), "a finite number that is not negative");
            }
        }
        if !(self.side.is_finite() && self.side >= 100.0) {
            return bad("side", self.side.to_string(), "at least 100 pixels");
        }
        Ok(())
    }
}

impl Drawn {
    /// Single cells of the same types: each of one type, with about `depth` transcripts.
    pub fn single_cells(&self, cells: usize, depth: f64, seed: u64) -> SingleCells {
        let mut rng = random::rng(seed, TRUTH);
        let genes = self.profiles.cols();
        let (mut labels, mut entries) = (Vec::with_capacity(cells), Vec::new());
        for c in 0..cells {
            let mut at = rng.random::<f64>();
            let t = self.types.iter().position(|t| {
                at -= t.weight;
                at < 0.0
            });
            let t = t.unwrap_or(self.types.len() - 1);
            labels.push(t);
            for g in 0..genes {
                let n = poisson(depth * self.profiles[(t, g)], &mut rng);
                if n > 0 {
                    entries.push((c, g, n as f64));
                }
            }
        }
        let names = (0..genes).map(name).collect();
        let counts = Csr::from_triplets(cells, genes, &entries);
        SingleCells { counts: GeneCounts::new(names, counts).expect("drawn counts are counts"), labels }
    }
}

fn name(g: usize) -> String {
    format!("gene{:04}", g + 1)
}

fn poisson(rate: f64, rng: &mut Rng) -> usize {
    if rate > 0.0 { Poisson::new(rate).map_or(0, |p| p.sample(rng) as usize) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tissue_is_that_of_the_truth() {
        let drawn = Synth { types: 4, genes: 50, cells: 20_000, seed: 3, ..Synth::default() }.draw().unwrap();
        let n = drawn.tissue.len() as f64;
        // Five standard deviations of Poisson counts.
        assert!((n - 20_000.0).abs() < 5.0 * 20_000f64.sqrt(), "{n}");
        let mut counts = Mat::zeros(4, 50);
        for (g, labels) in drawn.labels.iter().enumerate() {
            assert_eq!(labels.len(), drawn.tissue.sections[g].cells.len());
            labels.iter().for_each(|&t| counts[(t, g)] += 1.0);
        }
        for t in 0..4 {
            let own = 20_000.0 * drawn.types[t].weight;
            for g in 0..50 {
                let rate = own * drawn.profiles[(t, g)];
                assert!((counts[(t, g)] - rate).abs() <= 5.0 * rate.sqrt() + 3.0, "{t} {g}");
            }
        }
        assert!((drawn.types.iter().map(|t| t.weight).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((0..50).all(|g| (0..4).any(|t| drawn.profiles[(t, g)] > 0.0)), "every gene is expressed");
    }

    #[test]
    fn counts_follow_the_histogram_model() {
        let synth = Synth { types: 3, genes: 20, cells: 50_000, seed: 1, ..Synth::default() };
        let drawn = synth.draw_counts(&Features::default()).unwrap();
        let x = drawn.counts.matrix().to_dense();
        let mut chi = 0.0;
        let mut entries = 0.0;
        for m in 0..x.rows() {
            for g in 0..20 {
                let rate: f64 = (0..3)
                    .map(|t| 50_000.0 * drawn.weights[t] * drawn.histograms[(t, m)] * drawn.profiles[(t, g)])
                    .sum();
                if rate > 1.0 {
                    chi += (x[(m, g)] - rate).powi(2) / rate;
                    entries += 1.0;
                }
            }
        }
        // χ² over its degrees of freedom, within five standard deviations.
        assert!((chi / entries - 1.0).abs() < 5.0 * (2.0f64 / entries).sqrt(), "{}", chi / entries);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for synth in [
            Synth { types: 0, ..Synth::default() },
            Synth { genes: 0, ..Synth::default() },
            Synth { expressed: 1.5, ..Synth::default() },
            Synth { spread: f64::NAN, ..Synth::default() },
            Synth { side: 5.0, ..Synth::default() },
        ] {
            assert!(matches!(synth.draw(), Err(Error::BadParameter { .. })));
        }
        assert!(Synth { cells: 0, types: 2, genes: 3, ..Synth::default() }.draw().unwrap().tissue.is_empty());
    }
}
