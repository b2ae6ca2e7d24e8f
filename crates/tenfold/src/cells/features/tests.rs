use super::*;
use crate::cells::Section;
use std::f64::consts::PI;

fn cell(r1: f64, r2: f64, orientation: f64, intensity: f64) -> Cell {
    Cell { x: 0.0, y: 0.0, r1, r2, orientation, intensity, neighbours: 2.0 }
}

fn tissue(cells: Vec<Cell>) -> Tissue {
    Tissue { sections: vec![Section { image: "i".into(), gene: "g".into(), cells }] }
}

fn fixed() -> Features {
    Features {
        size: Edges::Fixed(vec![4.0, 8.0]),
        aspect: Edges::Fixed(vec![2.0]),
        orientations: 2,
        intensity: Edges::Fixed(vec![1.0]),
        ..Features::default()
    }
}

#[test]
fn every_bin_is_reached_by_the_cells_that_belong_to_it() {
    let bins = fixed().bins(&tissue(vec![cell(5.0, 5.0, 0.0, 1.0)])).unwrap();
    assert_eq!((bins.shape(), bins.len()), ([3, 5, 2, 1], 30));
    let mut reached = vec![0; 30];
    for (s, size) in [3.0, 5.0, 10.0].into_iter().enumerate() {
        for (shape, (aspect, angle)) in
            [(1.1, 3.0), (1.5, 0.2), (1.5, 2.0), (3.0, 0.2), (3.0, 2.0)].into_iter().enumerate()
        {
            for (i, intensity) in [0.5, 1.0].into_iter().enumerate() {
                let root = f64::sqrt(aspect);
                let bin = bins.place(&cell(size * root, size / root, angle, intensity), 1.0).unwrap();
                assert_eq!(bins.parts(bin), [s, shape, i, 0]);
                reached[bin] += 1;
            }
        }
    }
    assert_eq!(reached, [1; 30]);
}

#[test]
fn quantiles_share_the_cells_out_evenly() {
    let cells = (0..600).map(|i| cell(1.0 + i as f64, 1.0 + i as f64, 0.0, ((i * 7) % 600) as f64)).collect();
    let tissue = tissue(cells);
    let bins = Features::default().bins(&tissue).unwrap();
    let counts = bins.histogram(&tissue).counts;
    let mut sizes = [0.0; 6];
    counts.row_totals().iter().enumerate().for_each(|(bin, n)| sizes[bins.parts(bin)[0]] += n);
    assert_eq!(sizes, [100.0; 6]);
}

#[test]
fn the_longer_radius_decides_the_direction() {
    let bins = fixed().bins(&tissue(vec![cell(5.0, 5.0, 0.0, 1.0)])).unwrap();
    let upright = bins.place(&cell(9.0, 3.0, PI / 2.0 + 0.3, 1.0), 1.0);
    assert_eq!(upright, bins.place(&cell(3.0, 9.0, 0.3, 1.0), 1.0));
    assert_eq!(upright, bins.place(&cell(9.0, 3.0, 0.3 - PI / 2.0, 1.0), 1.0));
}

#[test]
fn cells_without_a_feature_are_counted_apart() {
    let nan = f64::NAN;
    let mut cells = vec![cell(5.0, 5.0, nan, 1.0), cell(9.0, 5.0, nan, 1.0), cell(nan, 5.0, 0.0, 1.0)];
    cells.extend([cell(5.0, 0.0, 0.0, 1.0), cell(5.0, 5.0, 0.0, nan)]);
    let histogram = fixed().bins(&tissue(cells.clone())).unwrap().histogram(&tissue(cells));
    // A round cell needs no orientation.
    assert_eq!((histogram.missing, histogram.counts.total()), (4, 1.0));
    // Points without radii and intensities: one bin for all.
    let points: Vec<Cell> = (0..5).map(|_| cell(nan, nan, nan, nan)).collect();
    let bins = Features::default().bins(&tissue(points.clone())).unwrap();
    let histogram = bins.histogram(&tissue(points));
    assert_eq!((bins.len(), histogram.missing, histogram.counts.total()), (1, 0, 5.0));
    // A table without orientations keeps its elongated cells.
    let long = vec![cell(9.0, 5.0, nan, 1.0), cell(5.0, 5.0, nan, 2.0)];
    let histogram = fixed().bins(&tissue(long.clone())).unwrap().histogram(&tissue(long));
    assert_eq!((histogram.missing, histogram.counts.total()), (0, 2.0));
}

#[test]
fn relative_density_forgets_how_crowded_an_image_is() {
    let section = |gene: &str, scale: f64| Section {
        image: gene.into(),
        gene: gene.into(),
        cells: (1..=4)
            .map(|n| Cell { neighbours: scale * f64::from(n), ..cell(5.0, 5.0, 0.0, 1.0) })
            .collect(),
    };
    let tissue = Tissue { sections: vec![section("a", 1.0), section("b", 10.0)] };
    let by = |density| {
        let features = Features { density, ..fixed() };
        features.bins(&tissue).unwrap().histogram(&tissue).counts.matrix().transpose().to_dense()
    };
    let relative = by(Density::Relative(Edges::Quantiles(4)));
    assert_eq!(relative.row(0), relative.row(1));
    let raw = by(Density::Raw(Edges::Quantiles(2)));
    assert_eq!(raw.row(0).iter().zip(raw.row(1)).filter(|(a, b)| **a > 0.0 && **b > 0.0).count(), 0);
}

#[test]
fn two_images_of_a_gene_add_up() {
    let mut both = tissue(vec![cell(5.0, 5.0, 0.0, 1.0)]);
    both.sections.push(both.sections[0].clone());
    let counts = fixed().bins(&both).unwrap().histogram(&both).counts;
    assert_eq!((counts.genes().len(), counts.total(), counts.matrix().entries()), (1, 2.0, 1));
}

#[test]
fn bins_that_cannot_be_are_refused() {
    let tissue = tissue(vec![cell(5.0, 5.0, 0.0, 1.0)]);
    for features in [
        Features { size: Edges::Quantiles(0), ..Features::default() },
        Features { size: Edges::Fixed(vec![2.0, 1.0]), ..Features::default() },
        Features { intensity: Edges::Fixed(vec![f64::NAN]), ..Features::default() },
        Features { round: 0.5, ..Features::default() },
        Features { orientations: 0, ..Features::default() },
        Features {
            orientations: 1000,
            size: Edges::Fixed((0..900).map(f64::from).collect()),
            intensity: Edges::Fixed((0..900).map(f64::from).collect()),
            ..Features::default()
        },
    ] {
        assert!(matches!(features.bins(&tissue), Err(Error::BadParameter { .. })), "{features:?}");
    }
}
