//! What all tiles must agree on, settled from a sample of them: size, shape, noise, prior.

use super::super::{Pixels, Plane, Window};
use super::atom::{Atom, Frame, Shape};
use super::background::Lattice;
use super::choices::Params;
use super::field::Field;
use super::filter::{quantile, white_noise};
use super::group::Weigh;
use super::moves::Rules;
use super::prior::{Prior, median};
use super::scale::{Sizes, Typical};
use super::seeds::Seeds;
use super::shape::{Misfit, radius};
use super::tiles::{flat, read};
use crate::error::Result;
use rayon::prelude::*;

/// The width of typical blobs in the sample.
pub(super) fn typical(image: &dyn Pixels, windows: &[Window]) -> Result<Option<Typical>> {
    let planes: Result<Vec<Sizes>> = windows
        .par_iter()
        .with_max_len(1)
        .map(|&window| {
            let mut sizes = Sizes::default();
            sizes.add(&read(image, window)?);
            Ok(sizes)
        })
        .collect();
    Ok(Sizes::merged(planes?).typical())
}

/// What was settled.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    pub rules: Rules,
    pub lattice: Lattice,
    /// The noise of a pixel.
    pub noise: f64,
}

/// λ in units of half the logarithm of the pixels that a cell explains, for each of six marks: the description length asks for one, but misfit
/// of the shape is not noise; chosen on generated tissue and on the first five fluorescence images.
const PRICE: f64 = 0.3;

/// Settles everything for cells whose blobs have this Gaussian width; none where there is nothing but noise.
pub(super) fn settle(
    image: &dyn Pixels,
    windows: &[Window],
    width: f64,
    params: &Params,
) -> Result<Option<Settled>> {
    let lattice = Lattice::new(radius(width, params.shape.unwrap_or(1.5)));
    let planes: Result<Vec<Plane>> =
        windows.par_iter().with_max_len(1).map(|&window| Ok(flat(image, window, &lattice)?.0)).collect();
    let planes = planes?;
    let exponent = params.shape.unwrap_or_else(|| {
        let mut misfit = Misfit::default();
        planes.iter().for_each(|plane| misfit.add(plane, width));
        misfit.best().unwrap_or(1.5)
    });
    let shape = Shape::new(exponent);
    let radius = params.radius.unwrap_or_else(|| radius(width, exponent));
    let noise = median(planes.iter().map(white_noise).collect());
    let Some(height) = typical_height(&planes, width, noise) else { return Ok(None) };
    // White noise alone reaches √(2 ln pixels) deviations of a matched filter; a cell must do better.
    let (size, energy) = (image.size(), shape.energy(radius));
    let chance = noise * (4.0 * ((size.0 * size.1) as f64).ln() / energy).sqrt();
    let seeds = Seeds { width, least: (params.faintest * height).max(chance) };
    let prior = Prior::wide(radius, height);
    let weigh = Weigh { shape, prior, variance: noise * noise };
    let mut rules = Rules { weigh, price: 0.0, seeds };
    let mut fields: Vec<Field> =
        planes.into_par_iter().with_max_len(1).map(|plane| sown(plane, &rules)).collect();
    if fields.iter().all(|field| field.atoms.is_empty()) {
        return Ok(None);
    }
    rules.weigh.variance = Left::of(&fields, &rules.weigh).mean_square().max(noise * noise);
    for turn in 0..2 + params.max_rounds.min(2) {
        let frozen = turn >= 2;
        fields.par_iter_mut().with_max_len(1).for_each(|field| {
            if frozen {
                field.round(&rules, turn - 1);
            }
            field.sweep(&rules.weigh, if frozen { 3 } else { 4 });
        });
        learn(&mut rules, &fields, noise, frozen);
    }
    Ok(Some(Settled { rules, lattice, noise }))
}

/// A field with an atom on every seed.
pub(super) fn sown(plane: Plane, rules: &Rules) -> Field {
    let seeds = rules.seeds.find(&plane, 1.0);
    let mut field = Field::new(plane);
    for (x, y, height) in seeds {
        field.add(Atom::round(x, y, rules.weigh.prior.radius(), height), &rules.weigh, 0);
    }
    field
}

/// The median height of blobs that are neither noise nor faint beside the brightest.
fn typical_height(planes: &[Plane], width: f64, noise: f64) -> Option<f64> {
    let seeds = Seeds { width, least: 4.0 * noise / width.max(1.0) };
    let mut heights: Vec<f32> =
        planes.iter().flat_map(|plane| seeds.find(plane, 1.0)).map(|seed| seed.2 as f32).collect();
    let least = 0.2 * quantile(&mut heights, 0.95);
    heights.retain(|&height| height > least);
    (!heights.is_empty()).then(|| f64::from(quantile(&mut heights, 0.5)))
}

/// Learns the prior from the atoms, and the variance from what is left where cells stand, unless it is frozen: cells that come and go by
/// it must not move it.
fn learn(rules: &mut Rules, fields: &[Field], noise: f64, frozen: bool) {
    if !frozen {
        let left = Left::of(fields, &rules.weigh);
        let (variance, area) = (left.variance().max(noise * noise), left.area());
        rules.weigh.variance = variance * area;
        let pixels = 16.0 * std::f64::consts::PI * rules.weigh.prior.radius().powi(2) / area;
        rules.price = PRICE * 3.0 * pixels.max(20.0).ln();
    }
    let mut atoms = Vec::new();
    for field in fields {
        for atom in field.living() {
            let near = field.beside(atom, None);
            let alone = near.iter().all(|&(_, o)| {
                let far = field.atoms[o].distance(atom);
                far == 0.0 || far > 1.5 * rules.weigh.prior.radius()
            });
            atoms.push((*atom, alone));
        }
    }
    rules.weigh.prior = rules.weigh.prior.update(&atoms);
}

/// Lags at which what is left is compared with itself, and how many like them there are around a pixel.
const LAGS: [(usize, usize, f64); 5] = [(1, 0, 4.0), (1, 1, 4.0), (2, 0, 4.0), (2, 1, 8.0), (2, 2, 4.0)];

/// What is left where cells stand.
struct Left {
    sizes: Vec<f32>,
    squares: f64,
    products: [f64; LAGS.len()],
}

impl Left {
    fn of(fields: &[Field], weigh: &Weigh) -> Self {
        let parts: Vec<Self> =
            fields.par_iter().with_max_len(1).map(|field| Self::of_one(field, weigh)).collect();
        let mut all = Self { sizes: Vec::new(), squares: 0.0, products: [0.0; LAGS.len()] };
        for part in parts {
            all.sizes.extend(part.sizes);
            all.squares += part.squares;
            all.products.iter_mut().zip(part.products).for_each(|(sum, product)| *sum += product);
        }
        all
    }

    fn of_one(field: &Field, weigh: &Weigh) -> Self {
        let (width, height) = field.size();
        let frame = Frame { x: (0, width), y: (0, height) };
        let mut mask = vec![0f32; frame.len()];
        for atom in field.living() {
            let mut unit = *atom;
            unit.0[5] = 0.0;
            weigh.shape.add(&unit, 1.0, &mut mask, &frame);
        }
        let left = field.left.values();
        let masked: Vec<f32> =
            mask.iter().zip(left).map(|(&m, &value)| if m > 0.2 { value } else { 0.0 }).collect();
        let sizes: Vec<f32> =
            mask.iter().zip(left).filter(|(m, _)| **m > 0.2).map(|(_, value)| value.abs()).collect();
        let squares = masked.iter().map(|&v| f64::from(v).powi(2)).sum();
        let product = |(dx, dy, _): (usize, usize, f64)| {
            let mut sum = 0.0;
            for y in 0..height.saturating_sub(dy) {
                let (row, below) = (&masked[y * width..(y + 1) * width], &masked[(y + dy) * width..]);
                let pairs = row.iter().zip(&below[dx.min(width)..width]);
                sum += pairs.map(|(a, b)| f64::from(a * b)).sum::<f64>();
            }
            sum
        };
        Self { sizes, squares, products: LAGS.map(product) }
    }

    fn mean_square(&self) -> f64 {
        self.squares / self.sizes.len().max(1) as f64
    }

    /// The variance, by the median, but not less than a quarter of the mean square.
    fn variance(&self) -> f64 {
        let middle = 1.4826 * f64::from(quantile(&mut self.sizes.clone(), 0.5));
        (middle * middle).max(0.25 * self.mean_square())
    }

    /// The area over which it hangs together, in pixels: Σ of the autocorrelation.
    fn area(&self) -> f64 {
        let lags = LAGS.iter().zip(self.products);
        1.0 + lags.map(|(lag, product)| lag.2 * (product / self.squares.max(1e-300)).max(0.0)).sum::<f64>()
    }
}
