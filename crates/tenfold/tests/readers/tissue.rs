//! Readers of images, masks, regions, and tables of cells and genes.

use super::ROOM;
use std::path::Path;
use tenfold::cells::images::{Options, open};
use tenfold::cells::region::{Maps, Region};
use tenfold::cells::{GenesIn, Pixels, Window, masks, names, read_expression, read_labels};
use tenfold::engine::progress::Silent;

/// Whatever opens gives windows of the size that was asked for, or an error.
pub fn image(path: &Path) -> bool {
    let options = Options { memory: 4 * ROOM, ..Options::default() };
    let found = open(path, &options, &Silent);
    if let Ok(image) = &found {
        let (width, height) = image.size();
        let window =
            Window { x: width / 2, y: height / 2, width: 1.max(width / 3).min(width - width / 2), height: 1 };
        if let Ok(plane) = image.window(window) {
            assert!(plane.width() == window.width && plane.values().iter().all(|x| x.is_finite()));
        }
    }
    mask(path) | found.is_ok()
}

pub fn mask(path: &Path) -> bool {
    let found = masks::open(path, 4 * ROOM, None, &Silent).and_then(|mask| mask.cells(None, &Silent));
    if let Ok(found) = &found {
        let sound = |c: &tenfold::cells::Cell| {
            c.x.is_finite() && c.r1 >= c.r2 && (0.0..3.15).contains(&c.orientation)
        };
        assert!(found.cells.iter().all(sound));
    }
    found.is_ok()
}

/// Polygons; and what else stands in small tables beside images.
pub fn region(path: &Path) -> bool {
    let found = Region::read(path, 4 * ROOM, None, &Silent);
    if let Ok(region) = &found {
        region.contains(1.0, 1.0);
        assert!(!region.describe().is_empty());
    }
    found.is_ok() | Maps::read(path, Some(ROOM)).is_ok() | names::read_genes(path, Some(ROOM)).is_ok()
}

pub fn table(path: &Path) -> bool {
    use tenfold::cells::table;
    let options = table::Options { max_decompressed: ROOM, ..table::Options::default() };
    let found = table::read(path, &options, &Silent);
    if let Ok(read) = &found {
        assert!(!read.tissue.is_empty());
        let cells = read.tissue.sections.iter().flat_map(|s| &s.cells);
        assert!(cells.clone().all(|c| c.x.is_finite() && c.y.is_finite()));
        assert!(cells.clone().all(|c| c.r1.is_nan() || c.r2.is_nan() || c.r1 >= c.r2));
    }
    found.is_ok()
}

pub fn expression(path: &Path) -> bool {
    let mut found = false;
    let known = ["Gad1", "Sst"].map(String::from);
    for genes in [GenesIn::Guess, GenesIn::Rows, GenesIn::Columns] {
        if let Ok(read) = read_expression(path, genes, &known, Some(ROOM), &Silent) {
            found = true;
            let _ = read_labels(path, &read.cells, Some(ROOM), &Silent);
        }
    }
    found
}
