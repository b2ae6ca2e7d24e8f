//! One pass over the signals: everything of orders two, three and four, as one product per sum of frequencies.

use super::super::data::Signals;
use super::pairs::{Lattice, Pairs};
use super::tiles::{Tile, Tiling};
use crate::error::Result;
use rayon::prelude::*;
use std::collections::BTreeMap;
use tenfold_engine::linalg::{CMat, Complex64, Fourier, add_gram};
use tenfold_engine::progress::Progress;

/// Tiles whose spectra are held at a time. At 64 frequencies and 2 × 35 rows of products that is half a megabyte: it
/// stays in the second-level cache.
const CHUNK: usize = 512;

/// Σ z zᴴ over tiles, for every sum ω of two frequencies, with z = [u_ω(X); X(ω)].
///
/// u_ω(X)(a) = X(a) X(ω − a), so the first rows and columns hold the fourth order, E[X(a) X(ω−a) X*(c) X*(ω−c)]; the last
/// ones, one for each channel, hold the third, E[X(a) X(ω−a) X*(ω)] (the bispectrum), and the second, E|X(ω)|² (the power
/// spectrum). Sums merge. Tiles go to two halves in turn: their difference tells the noise of the sums.
#[derive(Debug, Clone)]
pub(crate) struct Sums {
    pub tiling: Tiling,
    pub pairs: Pairs,
    pub halves: [Half; 2],
}

/// Half of the tiles.
#[derive(Debug, Clone)]
pub(crate) struct Half {
    /// For every ω: the products of real and imaginary parts of z, (2 · size)² numbers.
    grams: Vec<Vec<f64>>,
    /// Tiles by their size.
    pub tiles: BTreeMap<(usize, usize), u64>,
}

impl Sums {
    /// Bytes that the sums take.
    pub fn bytes(pairs: &Pairs) -> u64 {
        let channels = pairs.lattice.channels;
        pairs.sums.iter().map(|sum| 2 * 8 * (2 * (sum.len() + channels) as u64).pow(2)).sum()
    }

    /// Sums over all tiles of `signals`, whose channels are lowered by `centres` first.
    ///
    /// # Complexity
    /// n/2 products of n × samples per tile: 4n³ operations a tile at matrix-multiply speed, at the tile's period n.
    pub fn gather(
        signals: &Signals,
        tiling: Tiling,
        centres: &[f64],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let channels = signals.channels().len();
        let pairs = Pairs::new(Lattice { period: tiling.period, channels });
        let sizes: Vec<usize> = pairs.sums.iter().map(|sum| 2 * (sum.len() + channels)).collect();
        let empty = || Half {
            grams: sizes.iter().map(|size| vec![0.0; size * size]).collect(),
            tiles: BTreeMap::new(),
        };
        let mut halves = [empty(), empty()];
        let tiles = tiling.tiles(signals);
        progress.stage("gathering moments", tiles.len() as u64);
        // Few tiles are still dealt to both halves.
        let chunk = tiles.len().div_ceil(8).clamp(1, CHUNK);
        for (number, part) in tiles.chunks(chunk).enumerate() {
            progress.check()?;
            let half = &mut halves[number % 2];
            let spectra = Spectra::of(signals, part, &pairs.lattice, centres);
            half.grams.par_iter_mut().zip(&pairs.sums).for_each_init(Vec::new, |z, (gram, sum)| {
                spectra.products(sum, channels, z);
                add_gram(gram, z, 2 * (sum.len() + channels));
            });
            for tile in part {
                *half.tiles.entry((tile.extent.rows, tile.extent.columns)).or_default() += 1;
            }
            progress.advance(part.len() as u64);
        }
        Ok(Self { tiling, pairs, halves })
    }
}

impl Half {
    /// Σ z zᴴ for sum number `omega`.
    pub fn block(&self, omega: usize) -> CMat {
        let gram = &self.grams[omega];
        let twice = (gram.len() as f64).sqrt().round() as usize;
        let size = twice / 2;
        CMat::from_fn(size, size, |i, j| {
            let at = |i: usize, j: usize| gram[i * twice + j];
            Complex64::new(at(i, j) + at(size + i, size + j), at(size + i, j) - at(i, size + j))
        })
    }
}

/// The spectra of some tiles, variable by variable: real parts of all tiles, then imaginary parts.
struct Spectra {
    tiles: usize,
    values: Vec<f64>,
    n: usize,
}

impl Spectra {
    fn of(signals: &Signals, tiles: &[Tile], lattice: &Lattice, centres: &[f64]) -> Self {
        let (n, variables) = (lattice.len(), lattice.variables());
        let plan = Fourier::new(lattice.period.rows, lattice.period.columns);
        let spectra: Vec<Vec<Complex64>> = tiles
            .par_iter()
            .map_init(
                || vec![0.0; n],
                |field, tile| {
                    let stretch = &signals.stretches()[tile.stretch];
                    let mut spectrum = Vec::with_capacity(variables);
                    for (channel, &centre) in centres.iter().enumerate() {
                        tile.cut(stretch, channel, centre, lattice.period, field);
                        spectrum.extend(plan.whole(field));
                    }
                    spectrum
                },
            )
            .collect();
        let count = tiles.len();
        let mut values = vec![0.0; 2 * variables * count];
        values.par_chunks_mut(2 * count).enumerate().for_each(|(variable, out)| {
            let (re, im) = out.split_at_mut(count);
            for ((re, im), spectrum) in re.iter_mut().zip(im).zip(&spectra) {
                (*re, *im) = (spectrum[variable].re, spectrum[variable].im);
            }
        });
        Self { tiles: count, values, n }
    }

    fn variable(&self, p: usize) -> (&[f64], &[f64]) {
        self.values[2 * p * self.tiles..2 * (p + 1) * self.tiles].split_at(self.tiles)
    }

    /// z of every tile: real parts of [u_ω; X(ω)] in the first rows, imaginary parts in the last.
    fn products(&self, sum: &super::pairs::Sum, channels: usize, z: &mut Vec<f64>) {
        let size = sum.len() + channels;
        z.resize(2 * size * self.tiles, 0.0);
        let (real, imaginary) = z.split_at_mut(size * self.tiles);
        let mut rows = real.chunks_exact_mut(self.tiles).zip(imaginary.chunks_exact_mut(self.tiles));
        for (&(p, q), &weight) in sum.pairs.iter().zip(&sum.weights) {
            let ((pr, pi), (qr, qi)) = (self.variable(p), self.variable(q));
            let (re, im) = rows.next().expect("a row for every pair");
            for s in 0..self.tiles {
                re[s] = weight * (pr[s] * qr[s] - pi[s] * qi[s]);
                im[s] = weight * (pr[s] * qi[s] + pi[s] * qr[s]);
            }
        }
        for ((re, im), channel) in rows.zip(0..channels) {
            let (xr, xi) = self.variable(channel * self.n + sum.frequency);
            re.copy_from_slice(xr);
            im.copy_from_slice(xi);
        }
    }
}
