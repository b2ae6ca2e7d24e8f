//! Cells with their marks: what detection gives and what a fit reads.

use crate::checkpoint::Digest;
use crate::error::Result;

/// One cell: an ellipse with an intensity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The centre in pixels, to the right; the centre of the first pixel is 0.
    pub x: f64,
    /// The centre in pixels, downwards.
    pub y: f64,
    /// The longer radius in pixels: where the intensity has fallen to half.
    pub r1: f64,
    /// The shorter radius.
    pub r2: f64,
    /// The direction of the longer radius in radians, from the x axis towards the y axis, in [0, π).
    pub orientation: f64,
    /// The height above the background.
    pub intensity: f64,
    /// Other cells of the same image within the stated radius.
    pub neighbours: f64,
}

crate::checkpoint::keep! { Cell { x, y, r1, r2, orientation, intensity, neighbours } }

/// The cells of one image, which shows one gene.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The image's name.
    pub image: String,
    /// The gene that it shows.
    pub gene: String,
    /// Its cells.
    pub cells: Vec<Cell>,
}

/// Cells of many images; several images may show one gene.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tissue {
    /// One for each image.
    pub sections: Vec<Section>,
}

impl Tissue {
    /// What tells this tissue from another.
    pub(super) fn identify(&self, digest: &mut Digest) -> Result<()> {
        for section in &self.sections {
            digest.texts([&section.image, &section.gene]);
            for cell in &section.cells {
                let Cell { x, y, r1, r2, orientation, intensity, neighbours } = *cell;
                digest.doubles(&[x, y, r1, r2, orientation, intensity, neighbours]);
            }
        }
        Ok(())
    }

    /// The genes, each once, in the order of their first image.
    pub fn genes(&self) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        let genes = self.sections.iter().map(|section| &section.gene);
        genes.filter(|gene| seen.insert(gene.as_str())).cloned().collect()
    }

    /// How many cells there are in all.
    pub fn len(&self) -> usize {
        self.sections.iter().map(|section| section.cells.len()).sum()
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
