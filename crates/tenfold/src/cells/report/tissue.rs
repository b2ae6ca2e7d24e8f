//! The images that are looked at: what their script is given.

use super::Backdrop;
use crate::cells::{Model, Pictured};
use crate::report::{Block, Section, base64, grouped, numbers};
use serde_json::{Value, json};

/// Pixels around the outermost cells where there is no image to tell the borders.
const BORDER: f64 = 2.0;

pub(super) fn section(model: &Model, backdrops: &[Backdrop]) -> Option<Section> {
    let pictured = &model.picture().images;
    if pictured.is_empty() {
        return None;
    }
    let images: Value = pictured
        .iter()
        .map(|image| {
            let behind = backdrops.iter().find(|b| b.image == image.image);
            about(image, behind)
        })
        .collect();
    let cut = pictured.iter().filter(|image| image.cells.len() < image.of).count();
    let mut section = Section::new("Tissue")
        .with(Block::text(
            "Cells of a few images, drawn as they were found and coloured by their most probable type. The wheel enlarges, dragging \
             moves; a click on a cell or a name keeps one type and fades the others.",
        ))
        .with(Block::Widget { name: "tissue", data: json!({ "types": model.k(), "images": images }) });
    if cut > 0 {
        let most = pictured.iter().map(|image| image.cells.len()).max().unwrap_or(0);
        section = section.with(Block::note(format!(
            "Of {cut} images only the {} cells around the middle are drawn.",
            grouped(most)
        )));
    }
    if pictured.iter().all(|image| backdrops.iter().all(|b| b.image != image.image)) {
        section = section.with(Block::note(
            "The images themselves are not part of the model; `tenfold report MODEL --images FILES…` puts them behind the cells.",
        ));
    }
    Some(section)
}

fn about(image: &Pictured, behind: Option<&Backdrop>) -> Value {
    let column = |of: fn(&crate::cells::Cell) -> f64| image.cells.iter().map(of).collect::<Vec<f64>>();
    let (mut x, mut y) = (column(|c| c.x), column(|c| c.y));
    let r1 = column(|c| c.r1);
    let (width, height) = match behind {
        Some(behind) => (behind.width as f64, behind.height as f64),
        None => (fit(&mut x, &r1), fit(&mut y, &r1)),
    };
    json!({
        "image": image.image, "gene": image.gene,
        "width": width, "height": height,
        "png": behind.map(|b| format!("data:image/png;base64,{}", base64(&b.png))),
        "x": numbers(&x), "y": numbers(&y), "r1": numbers(&r1), "r2": numbers(&column(|c| c.r2)),
        "orientation": numbers(&column(|c| c.orientation)),
        "intensity": numbers(&column(|c| c.intensity)),
        "type": image.types, "share": numbers(&image.shares),
    })
}

/// Moves places so that the first cell is near the border, and gives how far they reach.
fn fit(places: &mut [f64], radii: &[f64]) -> f64 {
    let low = places.iter().zip(radii).map(|(x, r)| x - r).fold(f64::INFINITY, f64::min) - BORDER;
    places.iter_mut().for_each(|x| *x -= low);
    places.iter().zip(radii).map(|(x, r)| x + r).fold(1.0, f64::max) + BORDER
}
