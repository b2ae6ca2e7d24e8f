//! The shape exponent, chosen from blobs that stand alone.

use super::atom::{Atom, Frame};
use super::family::Shape;
use super::filter::{maxima, quantile, smooth};
use super::group::{Weigh, Workshop};
use super::prior::Prior;
use super::tiles::Flat;

/// Exponents that are tried, with the half-maximum radius in Gaussian widths at which the blob filter answers most.
const TRIED: [(f64, f64); 5] = [(1.0, 1.18), (1.25, 1.31), (1.5, 1.34), (2.0, 1.41), (3.0, 1.48)];

/// How many hypotheses there are: one exponent for all sizes, or edges of one width that are no sharper than a Gaussian's in small cells.
const SHAPES: usize = 2 * TRIED.len() - 1;

/// Every hypothesis, for blobs of this width.
fn shapes(width: f64) -> Vec<(Shape, f64)> {
    let even = TRIED.iter().map(|&(exponent, factor)| (Shape::new(exponent), factor * width));
    let edged = TRIED[1..].iter().map(|&(exponent, factor)| {
        let radius = factor * width;
        (Shape::edged(exponent, radius), radius)
    });
    even.chain(edged).collect()
}

/// Blobs of a plane that are fitted, at most.
const BLOBS: usize = 40;

/// The half-maximum radius of a cell whose blob has this Gaussian width.
pub(super) fn radius(width: f64, exponent: f64) -> f64 {
    let nearest = TRIED.iter().min_by(|a, b| (a.0 - exponent).abs().total_cmp(&(b.0 - exponent).abs()));
    width * nearest.expect("exponents").1
}

/// How badly blobs are explained by each exponent.
#[derive(Debug, Clone, Default)]
pub(super) struct Misfit {
    sums: [f64; SHAPES],
    blobs: usize,
}

impl Misfit {
    /// Adds the blobs of a plane without background: Σ ln of the share of the squares that is left.
    pub fn add(&mut self, flat: &Flat, width: f64) {
        let image = &flat.plane;
        let shapes = shapes(width);
        let reach = (2.2 * width).ceil() as usize;
        for (x, y, height) in alone(flat, width) {
            let frame = Frame {
                x: (x.saturating_sub(reach), (x + reach + 1).min(image.width())),
                y: (y.saturating_sub(reach), (y + reach + 1).min(image.height())),
            };
            let mut shop = Workshop::default();
            shop.aim((image.values(), &flat.clipped), image.width(), frame);
            let flat =
                Weigh { shape: Shape::new(1.0), prior: Prior::wide(1.0, 1.0), variance: 0.5, largest: 0.0 };
            let whole = shop.energy(&[], &flat);
            for (sum, (shape, radius)) in self.sums.iter_mut().zip(&shapes) {
                let radius = *radius;
                let prior = Prior { size: (radius.ln(), 0.5), aspect: 0.7, height: (height.ln(), 1.0) };
                let variance = 0.1 * whole / frame.len() as f64;
                let largest = (4.0 * radius).ln();
                let weigh = Weigh { shape: shape.clone(), prior, variance, largest };
                let mut atom = [Atom::round(x as f64, y as f64, radius, height)];
                shop.refine(&mut atom, &weigh, 12, width);
                let left = shop.energy(&atom, &weigh) - prior.energy(&atom[0]);
                *sum += (2.0 * variance * left / whole + 1e-4).ln();
            }
            self.blobs += 1;
        }
    }

    /// The shape with the least misfit to blobs of this width; none where none stands alone.
    pub fn best(&self, width: f64) -> Option<Shape> {
        let least = (0..SHAPES).min_by(|&a, &b| self.sums[a].total_cmp(&self.sums[b]))?;
        (self.blobs >= 1).then(|| shapes(width).swap_remove(least).0)
    }
}

/// The maxima that stand farthest from others, the brighter first among those far enough: x, y and height.
fn alone(flat: &Flat, width: f64) -> Vec<(usize, usize, f64)> {
    let image = &flat.plane;
    let smoothed = smooth(image, 0.6 * width);
    let (edge, reach) = ((2.0 * width) as usize, width.round().max(1.0) as usize);
    let inside = |at: usize, len: usize| at >= edge && at + edge < len;
    let mut found = maxima(&smoothed, reach, 0.0);
    found.retain(|&(x, y, _)| inside(x, image.width()) && inside(y, image.height()));
    let least = 0.3 * quantile(&mut found.iter().map(|f| f.2).collect::<Vec<_>>(), 0.95);
    found.retain(|f| f.2 > least);
    let mut ranked: Vec<(f64, usize, usize, f64)> = (0..found.len())
        .map(|i| (nearest(&found, i, 6.0 * width), found[i].0, found[i].1, f64::from(found[i].2)))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.3.total_cmp(&a.3)));
    ranked.into_iter().take(BLOBS).map(|(_, x, y, height)| (x, y, height)).collect()
}

/// The distance from place `i` to the nearest other one, at most `most`. Places come in reading order, so only rows near are looked at.
fn nearest(places: &[(usize, usize, f32)], i: usize, most: f64) -> f64 {
    let down = |o: &&(usize, usize, f32)| (o.1 as f64 - places[i].1 as f64).abs() < most;
    let far =
        |o: &(usize, usize, f32)| (o.0 as f64 - places[i].0 as f64).hypot(o.1 as f64 - places[i].1 as f64);
    let before = places[..i].iter().rev().take_while(down);
    let after = places[i + 1..].iter().take_while(down);
    before.chain(after).map(far).fold(most, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::synth::{Background, Profile, Scatter, Scene};

    #[test]
    fn soft_edges_and_gaussians_are_told_apart() {
        let background = Background { wave: 0.0, slope: 0.0, ..Background::default() };
        for seed in 0..3 {
            let cells = Scatter { cells: 60, width: 400.0, height: 400.0, seed, ..Scatter::default() };
            let scene = Scene { width: 400, height: 400, background, seed, ..Scene::default() };
            let choose = |profile| {
                let mut misfit = Misfit::default();
                let plane = Scene { profile, ..scene.clone() }.draw(&cells.draw().unwrap().cells);
                misfit.add(&Flat { plane, clipped: Vec::new(), ground: (0.0, 0.0) }, 4.5);
                misfit.best(4.5).unwrap().exponent
            };
            let (gaussian, soft) = (choose(Profile::Gaussian), choose(Profile::Soft(1.2)));
            assert!(gaussian <= 1.25 && soft >= 1.5, "seed {seed}: {gaussian} {soft}");
        }
    }
}
