//! The joint histogram of cells over their features.
//!
//! A cell falls into a bin by its size (the geometric mean of its radii), its shape (aspect and orientation together: a round cell
//! has no orientation, so all of them share one bin), its intensity and, if asked for, the density around it.
//!
//! # Density
//! Density is counted in an image that shows one gene. A cell's neighbours there are those that express the same gene, of whatever
//! type, so the number is a property of the gene and not of the type, and the mixture over types is no longer linear. Measured on
//! drawn tissue, raw density made the error of profiles seven times as large at four types; divided by the image's mean it
//! cost little. So it is left out unless asked for; [`Density::Raw`] is the thesis's choice.

mod bins;

pub use bins::{Bins, Histogram};
pub(super) use bins::{Crowding, mean_neighbours, orientation_of};

use super::data::{Cell, Tissue};
use crate::error::{Error, Result};

/// Where an axis of the histogram is cut.
#[derive(Debug, Clone, PartialEq)]
pub enum Edges {
    /// Into this many bins that hold equally many cells.
    Quantiles(usize),
    /// Here: values that rise; one bin more than there are of them.
    Fixed(Vec<f64>),
}

/// How the density around a cell is used.
#[derive(Debug, Clone, PartialEq)]
pub enum Density {
    /// Not at all.
    None,
    /// Neighbours divided by their mean over the image.
    Relative(Edges),
    /// Neighbours as counted, the thesis's way: it breaks the linear mixture.
    Raw(Edges),
}

impl Density {
    /// The choices by the names that the command line gives them, with the usual bins.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "none" => Some(Self::None),
            "relative" => Some(Self::Relative(Edges::Quantiles(4))),
            "raw" => Some(Self::Raw(Edges::Quantiles(4))),
            _ => None,
        }
    }

    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Relative(_) => "relative",
            Self::Raw(_) => "raw",
        }
    }
}

/// What the histogram is made of.
///
/// # Example
/// ```
/// use tenfold::cells::{Edges, Features};
/// let features = Features { size: Edges::Fixed(vec![5.0, 8.0, 12.0]), orientations: 6, ..Features::default() };
/// assert_eq!(features.round, 1.25);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Bins of the geometric mean radius, in pixels.
    pub size: Edges,
    /// Cells whose longer radius is less than this times the shorter one are round: they have one bin and no orientation.
    pub round: f64,
    /// Bins of the aspect, longer over shorter radius, of cells that are not round.
    pub aspect: Edges,
    /// Equal bins of the orientation of cells that are not round.
    pub orientations: usize,
    /// Bins of the intensity.
    pub intensity: Edges,
    /// Bins of the density.
    pub density: Density,
}

impl Default for Features {
    /// 6 sizes × (round + 2 aspects × 4 orientations) × 6 intensities = 324 bins.
    fn default() -> Self {
        Self {
            size: Edges::Quantiles(6),
            round: 1.25,
            aspect: Edges::Quantiles(2),
            orientations: 4,
            intensity: Edges::Quantiles(6),
            density: Density::None,
        }
    }
}

/// The most bins along one axis.
pub(super) const MOST_ALONG: usize = 1000;
/// The most bins in all.
const MOST: usize = 10_000_000;

impl Features {
    /// The bins for these cells: quantiles become edges.
    ///
    /// An axis whose feature no cell has gets one bin.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for no bins, too many, or edges that do not rise.
    pub fn bins(&self, tissue: &Tissue) -> Result<Bins> {
        if !(self.round.is_finite() && self.round >= 1.0) {
            return Err(bad("round", self.round, "an aspect of at least 1"));
        }
        if !(1..=MOST_ALONG).contains(&self.orientations) {
            return Err(bad("orientations", self.orientations, "from 1 to 1000 bins"));
        }
        let cells = || tissue.sections.iter().flat_map(|section| &section.cells);
        let size = edges("size", &self.size, || cells().map(size_of).collect())?;
        let aspects = || cells().map(aspect_of).filter(|a| *a >= self.round).collect();
        let aspect = edges("aspect", &self.aspect, aspects)?;
        let intensity = edges("intensity", &self.intensity, || cells().map(|c| c.intensity).collect())?;
        let (density, neighbours) = match &self.density {
            Density::None => (Crowding::Ignored, Vec::new()),
            Density::Raw(cut) => {
                (Crowding::Raw, edges("density", cut, || cells().map(|c| c.neighbours).collect())?)
            }
            Density::Relative(cut) => {
                let relative = || {
                    let section = |s: &super::Section| {
                        let mean = mean_neighbours(&s.cells);
                        s.cells.iter().map(|c| c.neighbours / mean).collect::<Vec<_>>()
                    };
                    tissue.sections.iter().flat_map(section).collect()
                };
                (Crowding::Relative, edges("density", cut, relative)?)
            }
        };
        // Without a single aspect there are no orientations either.
        let known = cells().any(|cell| aspect_of(cell).is_finite());
        let turned = known && cells().any(|cell| cell.orientation.is_finite());
        let round = if known { self.round } else { f64::INFINITY };
        let orientations = if turned { self.orientations } else { 1 };
        let bins = Bins { size, round, aspect, orientations, intensity, density, neighbours };
        match bins.checked_len() {
            Some(len) if len <= MOST => Ok(bins),
            _ => Err(bad("bins", "more than 10,000,000", "fewer bins along the axes")),
        }
    }
}

/// The geometric mean radius.
pub(super) fn size_of(cell: &Cell) -> f64 {
    let size = (cell.r1 * cell.r2).sqrt();
    if size > 0.0 { size } else { f64::NAN }
}

/// The longer over the shorter radius, at least 1.
pub(super) fn aspect_of(cell: &Cell) -> f64 {
    let (long, short) = (cell.r1.max(cell.r2), cell.r1.min(cell.r2));
    if short > 0.0 && long.is_finite() && !(cell.r1.is_nan() || cell.r2.is_nan()) {
        long / short
    } else {
        f64::NAN
    }
}

fn bad(name: &str, value: impl ToString, expected: &str) -> Error {
    Error::BadParameter { name: name.into(), value: value.to_string(), expected: expected.into() }
}

/// The inner edges of an axis.
fn edges(name: &str, wanted: &Edges, values: impl FnOnce() -> Vec<f64>) -> Result<Vec<f64>> {
    match wanted {
        Edges::Fixed(edges) => {
            let rise = edges.windows(2).all(|w| w[0] < w[1]) && edges.iter().all(|e| e.is_finite());
            if !rise || edges.len() >= MOST_ALONG {
                return Err(bad(name, format!("{edges:?}"), "fewer than 1000 finite edges that rise"));
            }
            Ok(edges.clone())
        }
        Edges::Quantiles(n) if !(1..=MOST_ALONG).contains(n) => Err(bad(name, n, "from 1 to 1000 bins")),
        Edges::Quantiles(n) => {
            let mut values: Vec<f64> = values().into_iter().filter(|v| v.is_finite()).collect();
            values.sort_unstable_by(f64::total_cmp);
            if values.is_empty() {
                return Ok(Vec::new());
            }
            let mut edges: Vec<f64> = (1..*n).map(|i| values[i * values.len() / n]).collect();
            // Values that come often would make bins that nothing can fall into.
            edges.dedup();
            edges.retain(|e| *e > values[0]);
            Ok(edges)
        }
    }
}

#[cfg(test)]
mod tests;
