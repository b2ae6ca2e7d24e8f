//! Bins with their edges, and the histogram of cells in them.

use super::{aspect_of, size_of};
use crate::cells::counts::GeneCounts;
use crate::cells::data::{Cell, Tissue};
use std::collections::HashMap;
use std::f64::consts::PI;
use tenfold_engine::linalg::Csr;

/// How neighbours are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cells) enum Crowding {
    Ignored,
    Relative,
    Raw,
}

/// Bins of a joint histogram, edges and all: a model keeps them, so that new cells fall where those of the fit did.
///
/// Bins are numbered with the size slowest, then the shape, the intensity and the density. Shape 0 is round; shape 1 + a·O + o is
/// the a-th aspect with the o-th of O orientations. A value at an edge belongs to the bin above it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    pub(in crate::cells) size: Vec<f64>,
    pub(in crate::cells) round: f64,
    pub(in crate::cells) aspect: Vec<f64>,
    pub(in crate::cells) orientations: usize,
    pub(in crate::cells) intensity: Vec<f64>,
    pub(in crate::cells) density: Crowding,
    pub(in crate::cells) neighbours: Vec<f64>,
}

/// Counts of genes in bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Bins × genes: cells of all images of a gene.
    pub counts: GeneCounts,
    /// Cells that lack a feature and are in no bin.
    pub missing: usize,
}

impl Bins {
    /// Bins along each axis: sizes, shapes, intensities, densities.
    pub fn shape(&self) -> [usize; 4] {
        let shapes = if self.round.is_finite() { 1 + (self.aspect.len() + 1) * self.orientations } else { 1 };
        [self.size.len() + 1, shapes, self.intensity.len() + 1, self.neighbours.len() + 1]
    }

    /// All bins.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    pub(in crate::cells) fn checked_len(&self) -> Option<usize> {
        self.shape().iter().try_fold(1usize, |all, n| all.checked_mul(*n))
    }

    /// Where a bin lies along each axis.
    pub fn parts(&self, bin: usize) -> [usize; 4] {
        let [_, b, c, d] = self.shape();
        [bin / (b * c * d), bin / (c * d) % b, bin / d % c, bin % d]
    }

    /// The inner edges of size, aspect, intensity and density.
    pub fn edges(&self) -> [(&'static str, &[f64]); 4] {
        [
            ("size", &self.size),
            ("aspect", &self.aspect),
            ("intensity", &self.intensity),
            ("density", &self.neighbours),
        ]
    }

    /// Bins of the orientation of cells that are not round.
    pub fn orientations(&self) -> usize {
        self.orientations
    }

    /// The aspect from which on cells are not round; infinite where no aspect is known.
    pub fn round(&self) -> f64 {
        self.round
    }

    /// The bin of a cell, whose image has so many neighbours in the mean; none when a feature is missing that the bins need.
    pub fn place(&self, cell: &Cell, mean_neighbours: f64) -> Option<usize> {
        let size = along(&self.size, size_of(cell))?;
        let shape = self.shape_of(cell)?;
        let intensity = along(&self.intensity, cell.intensity)?;
        let density = along(&self.neighbours, self.crowding(cell, mean_neighbours))?;
        let [_, b, c, d] = self.shape();
        Some(((size * b + shape) * c + intensity) * d + density)
    }

    /// The density of a cell as the bins read it.
    pub(in crate::cells) fn crowding(&self, cell: &Cell, mean_neighbours: f64) -> f64 {
        match self.density {
            Crowding::Relative => cell.neighbours / mean_neighbours,
            Crowding::Raw | Crowding::Ignored => cell.neighbours,
        }
    }

    fn shape_of(&self, cell: &Cell) -> Option<usize> {
        if self.round.is_infinite() {
            return Some(0);
        }
        let aspect = Some(aspect_of(cell)).filter(|a| a.is_finite())?;
        if aspect < self.round {
            return Some(0);
        }
        let direction = match self.orientations {
            1 => 0,
            n => {
                let angle = Some(orientation_of(cell)).filter(|o| o.is_finite())?;
                ((angle / PI * n as f64) as usize).min(n - 1)
            }
        };
        Some(1 + along(&self.aspect, aspect)? * self.orientations + direction)
    }

    /// Counts the cells of every gene in every bin.
    pub fn histogram(&self, tissue: &Tissue) -> Histogram {
        let genes = tissue.genes();
        let places: HashMap<&str, usize> = genes.iter().enumerate().map(|(i, g)| (g.as_str(), i)).collect();
        let (mut triplets, mut missing) = (Vec::with_capacity(tissue.len()), 0);
        for section in &tissue.sections {
            let (gene, mean) = (places[section.gene.as_str()], mean_neighbours(&section.cells));
            for cell in &section.cells {
                match self.place(cell, mean) {
                    Some(bin) => triplets.push((bin, gene, 1.0)),
                    None => missing += 1,
                }
            }
        }
        let counts = Csr::from_triplets(self.len(), genes.len(), &triplets);
        Histogram { counts: GeneCounts::new(genes, counts).expect("cells are counted"), missing }
    }
}

/// The direction of the longer radius in [0, π), whichever of the two is called the longer.
pub(in crate::cells) fn orientation_of(cell: &Cell) -> f64 {
    let turned = if cell.r1 >= cell.r2 { cell.orientation } else { cell.orientation + PI / 2.0 };
    turned.rem_euclid(PI)
}

/// The mean number of neighbours of an image's cells; 1 where none has any, because nothing is to be divided then.
pub(in crate::cells) fn mean_neighbours(cells: &[Cell]) -> f64 {
    let known = cells.iter().map(|c| c.neighbours).filter(|n| n.is_finite());
    let (sum, count) = known.fold((0.0, 0usize), |(sum, count), n| (sum + n, count + 1));
    if sum > 0.0 { sum / count as f64 } else { 1.0 }
}

/// The bin of a value; an axis that is not cut needs none.
fn along(edges: &[f64], value: f64) -> Option<usize> {
    if edges.is_empty() {
        return Some(0);
    }
    value.is_finite().then(|| edges.partition_point(|edge| *edge <= value))
}
