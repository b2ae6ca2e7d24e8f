//! What a model keeps of its tissue for the page: cells of a few images, with their types.

use super::data::{Cell, Tissue};
use super::model::{Model, Posteriors};
use serde_json::{Value, json};
use std::collections::HashSet;
use tenfold_engine::linalg::Mat;

/// Images that are kept: a reader looks at a few, and every type has one that shows it.
const IMAGES: usize = 24;
/// Cells of an image that are kept, those nearest to its middle; more cannot be told apart on a screen.
const CELLS: usize = 2000;
/// Numbers of a cell in a model file.
const COLUMNS: usize = 9;

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
                // What is missing is drawn as a point without a height; single precision is what the file keeps.
                let known = |x: f64| if x.is_finite() { f64::from(x as f32) } else { 0.0 };
                let cell = own.cells[place];
                kept.cells.push(Cell {
                    x: known(cell.x),
                    y: known(cell.y),
                    r1: known(cell.r1),
                    r2: known(cell.r2),
                    orientation: known(cell.orientation),
                    intensity: known(cell.intensity),
                    neighbours: 0.0,
                });
                kept.types.push(best);
                kept.shares.push(known(share));
            }
            kept
        });
        Self { images: images.collect() }
    }

    /// For a model file: images with their genes and numbers of cells as JSON, and a row for each cell that is kept.
    pub(super) fn to_store(&self) -> (String, Mat) {
        let images: Value = self.images.iter().map(|i| json!([i.image, i.gene, i.of])).collect();
        let rows = self.images.iter().enumerate().flat_map(|(at, image)| {
            image.cells.iter().zip(&image.types).zip(&image.shares).flat_map(move |((cell, &t), &share)| {
                let Cell { x, y, r1, r2, orientation, intensity, .. } = *cell;
                [at as f64, x, y, r1, r2, orientation, intensity, t as f64, share]
            })
        });
        let rows: Vec<f64> = rows.collect();
        (images.to_string(), Mat::from_vec(rows.len() / COLUMNS, COLUMNS, rows))
    }

    /// From [`Picture::to_store`]; nothing where it does not fit together.
    pub(super) fn stored(images: &str, drawn: &Mat, k: usize) -> Option<Self> {
        let images: Vec<(String, String, usize)> = serde_json::from_str(images).ok()?;
        let whole =
            |x: f64, limit: usize| (x >= 0.0 && x.fract() == 0.0 && x < limit as f64).then_some(x as usize);
        let mut images: Vec<Pictured> = images
            .into_iter()
            .map(|(image, gene, of)| Pictured {
                image,
                gene,
                of,
                cells: Vec::new(),
                types: Vec::new(),
                shares: Vec::new(),
            })
            .collect();
        if drawn.rows() > 0 && drawn.cols() != COLUMNS {
            return None;
        }
        for row in 0..drawn.rows() {
            let [at, x, y, r1, r2, orientation, intensity, t, share] = *drawn.row(row) else { return None };
            let image = whole(at, images.len())?;
            images[image].cells.push(Cell { x, y, r1, r2, orientation, intensity, neighbours: 0.0 });
            images[image].types.push(whole(t, k)?);
            images[image].shares.push(share);
        }
        Some(Self { images })
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
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
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
            assert!(image.shares.iter().all(|p| *p >= 1.0 / 3.0 - 1e-6), "the largest of three");
        }
        let (images, drawn) = picture.to_store();
        assert_eq!(Picture::stored(&images, &drawn, 3), Some(picture));
        assert_eq!(Picture::stored(&images, &drawn, 2), None, "a type that does not exist");
        assert_eq!(Picture::stored("[]", &drawn, 3), None, "an image that does not exist");
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
