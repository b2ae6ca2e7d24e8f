//! What a model keeps of its tissue for the page: cells of a few images, with their types.

use super::data::{Cell, Tissue};
use super::model::{Model, Posteriors};
use std::collections::HashSet;

/// Images that are kept: a reader looks at a few, and every type has one that shows it.
const IMAGES: usize = 24;
/// Cells of an image that are kept, those nearest to its middle; more cannot be told apart on a screen.
const CELLS: usize = 2000;

/// Cells of a few images, to look at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picture {
    /// The images that show types best, a marker of each type first.
    pub images: Vec<Pictured>,
}

/// Cells of one image with their most probable types.
#[derive(Debug, Clone, PartialEq)]
pub struct Pictured {
    /// The image's name.
    pub image: String,
    /// The gene that it shows.
    pub gene: String,
    /// How many cells it has in all.
    pub of: usize,
    /// The cells that are kept; their neighbours are not.
    pub cells: Vec<Cell>,
    /// The most probable type of each.
    pub types: Vec<usize>,
    /// Its probability.
    pub shares: Vec<f64>,
}

impl Picture {
    /// Takes the cells that are kept.
    pub(super) fn new(model: &Model, tissue: &Tissue, posteriors: &Posteriors) -> Self {
        let images = chosen(model, tissue).into_iter().map(|section| {
            let own = &tissue.sections[section];
            let mut kept = Pictured {
                image: own.image.clone(),
                gene: own.gene.clone(),
                of: own.cells.len(),
                cells: Vec::new(),
                types: Vec::new(),
                shares: Vec::new(),
            };
            for place in middle(&own.cells) {
                let row = posteriors.sections[section].row(place);
                let (best, share) = row
                    .iter()
                    .enumerate()
                    .fold((0, f64::NEG_INFINITY), |best, (t, &p)| if p > best.1 { (t, p) } else { best });
                // What is missing is drawn as a point without a height.
                let known = |x: f64| if x.is_finite() { x } else { 0.0 };
                let cell = own.cells[place];
                kept.cells.push(Cell {
                    r1: known(cell.r1),
                    r2: known(cell.r2),
                    orientation: known(cell.orientation),
                    intensity: known(cell.intensity),
                    neighbours: 0.0,
                    ..cell
                });
                kept.types.push(best);
                kept.shares.push(share);
            }
            kept
        });
        Self { images: images.collect() }
    }
}

/// Sections by turns: of every type the largest image of its first marker, then of its second, and so on; the largest images of
/// all where markers run out.
fn chosen(model: &Model, tissue: &Tissue) -> Vec<usize> {
    let mut by_size: Vec<usize> =
        (0..tissue.sections.len()).filter(|&s| !tissue.sections[s].cells.is_empty()).collect();
    by_size.sort_by_key(|&s| (std::cmp::Reverse(tissue.sections[s].cells.len()), s));
    let largest = |gene: &str| by_size.iter().copied().find(|&s| tissue.sections[s].gene == gene);
    let markers: Vec<_> = (0..model.k()).map(|t| model.markers(t, IMAGES)).collect();
    let turns = (0..IMAGES).flat_map(|turn| markers.iter().filter_map(move |list| list.get(turn)));
    let shown = turns.filter_map(|marker| largest(&model.genes()[marker.gene]));
    let mut seen = HashSet::new();
    shown.chain(by_size.iter().copied()).filter(|s| seen.insert(*s)).take(IMAGES).collect()
}

/// The places of the cells that are kept, in their order: the square around the middle of the image that holds so many.
fn middle(cells: &[Cell]) -> Vec<usize> {
    let mut placed: Vec<usize> =
        (0..cells.len()).filter(|&i| cells[i].x.is_finite() && cells[i].y.is_finite()).collect();
    if placed.len() > CELLS {
        let centre = |of: fn(&Cell) -> f64| {
            let values = placed.iter().map(|&i| of(&cells[i]));
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
            (low + high) / 2.0
        };
        let (x, y) = (centre(|c| c.x), centre(|c| c.y));
        let away = |i: &usize| (cells[*i].x - x).abs().max((cells[*i].y - y).abs());
        placed.sort_by(|a, b| away(a).total_cmp(&away(b)).then(a.cmp(b)));
        placed.truncate(CELLS);
        placed.sort_unstable();
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Params, Synth};

    #[test]
    fn every_type_has_an_image_and_images_stay_small() {
        let drawn = Synth { types: 3, genes: 30, cells: 9000, ..Synth::default() }.draw().unwrap();
        let model = Params { restarts: 1, ..Params::new(3) }.fit(&drawn.tissue).unwrap();
        let posteriors = model.infer(&drawn.tissue).unwrap();
        let picture = Picture::new(&model, &drawn.tissue, &posteriors);
        assert_eq!(picture.images.len(), IMAGES.min(drawn.tissue.sections.len()));
        let genes: Vec<&str> = picture.images.iter().map(|image| image.gene.as_str()).collect();
        for t in 0..3 {
            let first = &model.genes()[model.markers(t, 1)[0].gene];
            assert!(genes.contains(&first.as_str()), "type {t}: {first}");
        }
        for image in &picture.images {
            assert!(image.cells.len() <= CELLS && image.cells.len() <= image.of);
            assert!(image.shares.iter().all(|p| *p >= 1.0 / 3.0 - 1e-9), "the largest of three");
        }
    }

    #[test]
    fn the_middle_of_a_large_image_is_kept() {
        let cell = |i: usize| Cell {
            x: (i % 100) as f64,
            y: (i / 100) as f64,
            r1: 1.0,
            r2: 1.0,
            orientation: 0.0,
            intensity: 1.0,
            neighbours: 0.0,
        };
        let cells: Vec<Cell> = (0..10_000).map(cell).collect();
        let kept = middle(&cells);
        assert_eq!(kept.len(), CELLS);
        assert!(kept.windows(2).all(|w| w[0] < w[1]));
        let far = kept.iter().map(|&i| (cells[i].x - 49.5).abs().max((cells[i].y - 49.5).abs()));
        assert!(far.fold(0.0, f64::max) < 23.0);
        assert_eq!(middle(&cells[..5]), [0, 1, 2, 3, 4]);
    }
}
