//! What all tiles must agree on, settled from a sample of them: size, shape, noise, prior.

use super::super::{Cell, Pixels, Window};
use super::atom::{Atom, Frame};
use super::background::Lattice;
use super::choices::Params;
use super::doubt::Doubt;
use super::family::Shape;
use super::field::Field;
use super::filter::{quantile, white_noise};
use super::group::Weigh;
use super::moves::Rules;
use super::prior::{Prior, median};
use super::scale::{Sizes, Typical};
use super::seeds::Seeds;
use super::shape::{Misfit, radius};
use super::tiles::{Flat, flat, read};
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::progress::Progress;

/// The width of typical blobs in the sample.
pub(super) fn typical(
    image: &dyn Pixels,
    windows: &[Window],
    progress: &dyn Progress,
) -> Result<Option<Typical>> {
    let size = image.size();
    let planes: Result<Vec<Sizes>> = windows
        .par_iter()
        .with_max_len(1)
        .map(|&window| {
            let mut sizes = Sizes::default();
            progress.check()?;
            sizes.add(&read(image, window)?, size.0 * size.1);
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
    pub doubt: Doubt,
}

/// Atoms that grow to this many times the size of their blobs follow the background.
const GROWN: f64 = 2.0;

impl Settled {
    /// Whether a cell stands out of the noise as a whole, and is no wave of the ground.
    pub fn is_no_chance(&self, cell: &Cell) -> bool {
        let weigh = &self.rules.weigh;
        // The filter that fits a cell gathers Σ of its squared profile; chance reaches √(2 ln places) of its deviations. Fits choose
        // among shapes as well as places, for which a hundred shapes are allowed.
        let gathered = weigh.shape.energy((cell.r1 * cell.r2).sqrt());
        let least = (2.0 * (100.0 * self.rules.seeds.noise.1 as f64).ln()).sqrt();
        // Atoms that stop at the largest radius would grow on.
        cell.intensity * gathered.sqrt() >= least * self.noise && cell.r1.ln() < weigh.largest - 1e-3
    }
}

/// λ in units of half the logarithm of the pixels that a cell explains, for each of six marks: where all that is left is misfit of the shape,
/// and what is added where all of it is noise. The description length asks for 1 in noise, and misfit is none: .3 was chosen on ten images
/// of fluorescent cells, where noise is a hundredth to a quarter of what is left, the rest on generated tissue, where it is most of it.
const PRICE: (f64, f64) = (0.3, 0.42);

/// Settles everything for cells whose blobs have this Gaussian width; none where there is nothing but noise.
pub(super) fn settle(
    image: &dyn Pixels,
    windows: &[Window],
    width: f64,
    params: &Params,
    progress: &dyn Progress,
) -> Result<Option<Settled>> {
    let lattice = Lattice::new(radius(width, params.shape.unwrap_or(1.5)));
    let planes: Result<Vec<Flat>> = windows
        .par_iter()
        .with_max_len(1)
        .map(|&window| {
            progress.check()?;
            flat(image, window, &lattice)
        })
        .collect();
    let planes = planes?;
    let shape = params.shape.map(Shape::new).unwrap_or_else(|| {
        let mut misfit = Misfit::default();
        planes.iter().for_each(|plane| misfit.add(plane, width));
        misfit.best(width).unwrap_or_else(|| Shape::new(1.5))
    });
    let start = params.radius.unwrap_or_else(|| radius(width, shape.exponent));
    let noise = median(planes.iter().map(|flat| white_noise(&flat.plane)).collect()).max(rounding(&planes));
    let seeds = Seeds { width, least: 0.0, noise: (noise, image.size().0 * image.size().1) };
    let Some(height) = typical_height(&planes, seeds) else { return Ok(None) };
    progress.check()?;
    let doubt = Doubt::of(&planes, windows, seeds, height);
    let seeds = Seeds { least: params.faintest * height, ..seeds };
    let prior = Prior::wide(start, height);
    let weigh = Weigh { shape, prior, variance: noise * noise, largest: largest(image.size(), start) };
    let mut rules = Rules { weigh, price: 0.0, seeds };
    let mut fields: Vec<Field> =
        planes.into_par_iter().with_max_len(1).map(|plane| sown(plane, &rules)).collect();
    if fields.iter().all(|field| field.atoms.is_empty()) {
        return Ok(None);
    }
    rules.weigh.variance = Left::of(&fields, &rules.weigh).mean_square().max(noise * noise);
    for turn in 0..2 + params.max_rounds.min(2) {
        let frozen = turn >= 2;
        fields.par_iter_mut().with_max_len(1).try_for_each(|field| {
            if frozen {
                field.round(&rules, turn - 1, progress)?;
            }
            field.sweep(&rules.weigh, if frozen { 3 } else { 4 }, progress)
        })?;
        learn(&mut rules, &fields, noise, frozen);
        if rules.weigh.prior.radius() > GROWN * start {
            return Ok(None);
        }
    }
    Ok(Some(Settled { rules, lattice, noise, doubt }))
}

/// What single precision leaves of even ground: noise that every image has, if it was drawn without any.
fn rounding(planes: &[Flat]) -> f64 {
    let ground =
        planes.iter().flat_map(|flat| [flat.ground.0.abs(), flat.ground.1.abs()]).fold(0.0, f32::max);
    16.0 * f64::from(f32::EPSILON * ground)
}

/// A field with an atom on every seed.
pub(super) fn sown(flat: Flat, rules: &Rules) -> Field {
    let seeds = rules.seeds.find_sizes(&flat.plane);
    let mut field = Field::new(flat);
    for (x, y, height, size) in seeds {
        field.add(Atom::round(x, y, size * rules.weigh.prior.radius(), height), &rules.weigh, 0);
    }
    field
}

/// ln of the largest radius that an atom may have. The ground is a percentile of what lies within four typical radii, so wider atoms
/// are ground; and an image that holds fewer than two and a half of them side by side shows no tissue.
fn largest(size: (usize, usize), radius: f64) -> f64 {
    let share = 0.2 * ((size.0 * size.1) as f64).sqrt();
    (4.0 * radius).min(share.max(radius)).ln()
}

/// The median height of blobs that are neither noise nor faint beside the brightest.
fn typical_height(planes: &[Flat], seeds: Seeds) -> Option<f64> {
    let mut heights: Vec<f32> =
        planes.iter().flat_map(|flat| seeds.find(&flat.plane, 1.0)).map(|seed| seed.2 as f32).collect();
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
        let share = noise * noise / rules.weigh.variance;
        rules.price = (PRICE.0 + PRICE.1 * share) * 3.0 * pixels.max(20.0).ln();
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
        let unexplained = field.unexplained();
        let left = unexplained.values();
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
