//! The baseline: average expression in voxels.

use crate::cells::counts::GeneCounts;
use crate::cells::data::Tissue;
use std::collections::HashMap;
use tenfold_engine::linalg::Csr;

/// Average expression of every gene in every voxel of a grid × grid over the images' common area: the sum of the intensities of
/// the cells there over the number of the gene's images, in units of the mean intensity of a cell. Rows are voxels.
///
/// That is what atlases give and what the thesis compares with: it forgets which cell a signal came from. Images must be aligned.
/// Cells without a place or an intensity are left out; grid 1 gives one average for every gene.
pub fn voxels(tissue: &Tissue, grid: usize) -> GeneCounts {
    let grid = grid.max(1);
    let genes = tissue.genes();
    let places: HashMap<&str, usize> = genes.iter().enumerate().map(|(i, g)| (g.as_str(), i)).collect();
    let known = |c: &&crate::cells::Cell| c.x.is_finite() && c.y.is_finite() && c.intensity.is_finite();
    let cells = || tissue.sections.iter().flat_map(|s| s.cells.iter()).filter(known);
    let bound = |of: fn(&crate::cells::Cell) -> f64| {
        let (low, high) =
            cells().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        (low, (high - low).max(f64::MIN_POSITIVE))
    };
    let ((left, width), (top, height)) = (bound(|c| c.x), bound(|c| c.y));
    let (sum, count) = cells().fold((0.0, 0.0), |(s, n), c| (s + c.intensity.max(0.0), n + 1.0));
    let unit = if sum > 0.0 { sum / count } else { 1.0 };
    let mut images = vec![0.0; genes.len()];
    tissue.sections.iter().for_each(|s| images[places[s.gene.as_str()]] += 1.0);
    let at = |x: f64, low: f64, size: f64| (((x - low) / size * grid as f64) as usize).min(grid - 1);
    let mut entries = Vec::new();
    for section in &tissue.sections {
        let g = places[section.gene.as_str()];
        for cell in section.cells.iter().filter(known) {
            let voxel = at(cell.y, top, height) * grid + at(cell.x, left, width);
            entries.push((voxel, g, cell.intensity.max(0.0) / unit / images[g]));
        }
    }
    let matrix = Csr::from_triplets(grid * grid, genes.len(), &entries);
    GeneCounts::new(genes, matrix).expect("intensities are finite and not negative")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Cell, Section};

    #[test]
    fn a_voxel_holds_the_mean_of_the_images() {
        let cell = |x: f64, y: f64, intensity: f64| Cell {
            x,
            y,
            r1: 5.0,
            r2: 5.0,
            orientation: 0.0,
            intensity,
            neighbours: 0.0,
        };
        let section = |gene: &str, cells: Vec<Cell>| Section { image: gene.into(), gene: gene.into(), cells };
        let tissue = Tissue {
            sections: vec![
                section("a", vec![cell(0.0, 0.0, 1.0), cell(10.0, 10.0, 3.0), cell(1.0, f64::NAN, 9.0)]),
                section("a", vec![cell(1.0, 1.0, 2.0)]),
                section("b", vec![cell(9.0, 1.0, 2.0)]),
            ],
        };
        let found = voxels(&tissue, 2).matrix().to_dense();
        // The mean intensity is 2.
        assert_eq!(found.as_slice(), [0.75, 0.0, 0.0, 1.0, 0.0, 0.0, 0.75, 0.0]);
        assert_eq!(voxels(&tissue, 1).rows(), 1);
        assert_eq!(voxels(&Tissue::default(), 3).total(), 0.0);
    }
}
