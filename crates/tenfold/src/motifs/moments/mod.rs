//! Cumulants of signals: what the sums over all stretches say about motifs.
//!
//! For x = Σ f_l ⋆ w_l + noise, with independent activations w_l whose third and fourth cumulants are λ_l and κ_l, and
//! for frequencies a, c and their sums ω,
//!
//! cum(X(a), X(ω−a), X*(ω)) = Σ_l λ_l u_lω(a) F_l*(ω),
//! cum(X(a), X(ω−a), X*(c), X*(ω−c)) = Σ_l κ_l u_lω(a) u_lω*(c), where u_lω(a) = F_l(a) F_l(ω−a):
//!
//! for every ω a Hermitian matrix M_ω of rank L. Shifting a motif changes u_lω by a phase only, so nothing here depends on
//! where motifs fire.

mod gather;
mod lags;
mod pairs;
mod tiles;

pub(crate) use gather::Sums;
pub(crate) use lags::Spectral;
pub(crate) use pairs::{Lattice, Pairs, Sum};
pub(crate) use tiles::Tiling;

use super::data::Signals;
use super::extent::Extent;
use crate::checkpoint::stage;
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::{CMat, Complex64};
use tenfold_engine::progress::Progress;

/// Cumulants of the two halves of the signals, at the folded period.
#[derive(Debug, Clone)]
pub(crate) struct Cumulants {
    pub pairs: Pairs,
    pub halves: [Spectral; 2],
}

/// Cumulants after whitening: what motifs are fitted to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub pairs: Pairs,
    /// Every variable's factor: a whitened motif is D(p) F(p).
    pub scale: Vec<f64>,
    /// For every sum ω, pairs × channels.
    pub third: Vec<CMat>,
    /// For every sum ω, pairs × pairs.
    pub fourth: Vec<CMat>,
    /// Expected squared norms of the noise in `third` and in `fourth`.
    pub noise: [f64; 2],
}

/// A variable's noise is taken to be at least this share of the mean: its estimate has an error of that order.
const RIDGE: f64 = 0.1;

/// Rounds of the proportional fitting; the factors are settled to a percent long before.
const NOISE_STEPS: usize = 30;

/// The mean of every channel over all samples.
pub(crate) fn centres(signals: &Signals) -> Vec<f64> {
    let samples = signals.samples() as f64;
    (0..signals.channels().len())
        .map(|channel| {
            let sums: Vec<f64> = signals
                .stretches()
                .par_iter()
                .map(|stretch| {
                    let one = stretch.extent.len();
                    stretch.values[channel * one..(channel + 1) * one].iter().sum()
                })
                .collect();
            sums.iter().sum::<f64>() / samples
        })
        .collect()
}

impl Cumulants {
    /// Gathers the cumulants that motifs of this extent are found from.
    pub fn of(signals: &Signals, support: Extent, progress: &dyn Progress) -> Result<Self> {
        let tiling = Tiling::new(signals, support);
        let pairs = Pairs::new(Lattice { period: tiling.folded(), channels: signals.channels().len() });
        let halves = stage(progress, "cumulants", |progress| {
            let sums = Sums::gather(signals, tiling, &centres(signals), progress)?;
            Ok(Self::from_sums(&sums).halves)
        })?;
        Ok(Self { pairs, halves })
    }

    /// The cumulants of sums.
    pub fn from_sums(sums: &Sums) -> Self {
        let lattice = Lattice { period: sums.tiling.folded(), channels: sums.pairs.lattice.channels };
        let pairs = Pairs::new(lattice);
        let halves = [0, 1].map(|half| sums.spectral(&sums.halves[half], &pairs));
        Self { pairs, halves }
    }

    /// Whitened by the noise that the halves show: every variable's v(p) such that the noise of the fourth cumulant at
    /// ((p, q), (r, s)) has variance v(p) v(q) v(r) v(s), by proportional fitting.
    ///
    /// The thesis and most others whiten by the power spectrum. That is the noise of an unmasked cumulant; once lags beyond
    /// the support are dropped, noise leaks into weak frequencies, and dividing by their power blows it up: of two smooth
    /// motifs none was found without a ridge chosen by hand.
    pub fn white(&self) -> Target {
        self.scaled(self.noise_scale())
    }

    /// The fourth cumulants of both halves, whitened by their noise.
    pub fn halves_by_noise(&self) -> [Vec<CMat>; 2] {
        let scale = self.noise_scale();
        [0, 1].map(|half| {
            let blocks = self.pairs.sums.iter().zip(&self.halves[half].fourth);
            blocks
                .map(|(sum, block)| {
                    let factor = |i: usize| scale[sum.pairs[i].0] * scale[sum.pairs[i].1];
                    CMat::from_fn(sum.len(), sum.len(), |i, j| block[(i, j)] * (factor(i) * factor(j)))
                })
                .collect()
        })
    }

    fn noise_scale(&self) -> Vec<f64> {
        let variables = self.pairs.lattice.variables();
        let [one, two] = &self.halves;
        let rows: Vec<Vec<f64>> = self
            .pairs
            .sums
            .iter()
            .zip(one.fourth.iter().zip(&two.fourth))
            .map(|(sum, (a, b))| {
                (0..sum.len())
                    .map(|i| {
                        let squared = |(x, y): (&Complex64, &Complex64)| (x - y).norm_sqr();
                        sum.multiplicity * a.row(i).iter().zip(b.row(i)).map(squared).sum::<f64>()
                    })
                    .collect()
            })
            .collect();
        let mut v = vec![1.0; variables];
        for _ in 0..NOISE_STEPS {
            let (mut found, mut told) = (vec![1e-300; variables], vec![1e-300; variables]);
            for (sum, row) in self.pairs.sums.iter().zip(&rows) {
                let g: Vec<f64> =
                    sum.pairs.iter().zip(&sum.weights).map(|(&(p, q), w)| w * w * v[p] * v[q]).collect();
                let total = sum.multiplicity * g.iter().sum::<f64>();
                for ((&(p, q), g), row) in sum.pairs.iter().zip(&g).zip(row) {
                    for variable in [p, q] {
                        found[variable] += row;
                        told[variable] += g * total;
                    }
                }
            }
            // A square root is taken because every entry is touched four times.
            for ((v, found), told) in v.iter_mut().zip(found).zip(told) {
                *v *= (found / told).sqrt();
            }
        }
        let mean = v.iter().sum::<f64>() / variables as f64;
        v.iter().map(|v| 1.0 / (v + RIDGE * mean).sqrt().max(1e-150)).collect()
    }

    fn scaled(&self, scale: Vec<f64>) -> Target {
        let n = self.pairs.lattice.len();
        let mut noise = [0.0; 2];
        let (mut third, mut fourth) = (Vec::new(), Vec::new());
        let [one, two] = &self.halves;
        for (number, sum) in self.pairs.sums.iter().enumerate() {
            let factors: Vec<f64> = sum.pairs.iter().map(|&(p, q)| scale[p] * scale[q]).collect();
            let (a, b) = (&one.third[number], &two.third[number]);
            let single = |c: usize| scale[c * n + sum.frequency];
            let whiten = |at: (usize, usize)| (a[at] + b[at]) * 0.5 * factors[at.0] * single(at.1);
            third.push(CMat::from_fn(sum.len(), a.cols(), |i, c| whiten((i, c))));
            noise[0] += half_difference(a, b, sum, |i, c| factors[i] * single(c));
            let (a, b) = (&one.fourth[number], &two.fourth[number]);
            fourth.push(CMat::from_fn(sum.len(), sum.len(), |i, j| {
                (a[(i, j)] + b[(i, j)]) * 0.5 * factors[i] * factors[j]
            }));
            noise[1] += half_difference(a, b, sum, |i, j| factors[i] * factors[j]);
        }
        Target { pairs: self.pairs.clone(), scale, third, fourth, noise }
    }
}

/// Σ |(a − b)/2|², the expected noise of (a + b)/2.
fn half_difference(a: &CMat, b: &CMat, sum: &Sum, factor: impl Fn(usize, usize) -> f64) -> f64 {
    let mut total = 0.0;
    for i in 0..a.rows() {
        for (j, (x, y)) in a.row(i).iter().zip(b.row(i)).enumerate() {
            let difference: Complex64 = (x - y) * (factor(i, j) / 2.0);
            total += difference.norm_sqr();
        }
    }
    sum.multiplicity * total
}

impl Target {
    /// Σ over all sums of the squared norm of a family of blocks.
    pub fn squared_norm(&self, blocks: &[CMat]) -> f64 {
        self.pairs.sums.iter().zip(blocks).map(|(sum, block)| sum.multiplicity * block.squared_norm()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Stretch;
    use super::*;
    use tenfold_engine::linalg::random;
    use tenfold_engine::progress::Silent;

    fn noise_signals(extents: &[Extent], channels: usize, cyclic: bool) -> Signals {
        let mut rng = random::rng(11, 5);
        let stretches = extents
            .iter()
            .enumerate()
            .map(|(trial, &extent)| {
                let values = (0..channels * extent.len()).map(|_| random::normal(&mut rng).powi(2)).collect();
                Stretch { values, extent, trial, offset: 0 }
            })
            .collect();
        Signals::new(stretches, (0..channels).map(|c| c.to_string()).collect(), None, cyclic)
    }

    type Lag = [i64; 2];

    /// The moment of `channels` at these times (the last is 0) over all tiles of one half, by its definition.
    fn moment(fields: &[(Vec<Vec<f64>>, Extent)], channels: &[usize], times: &[Lag], circle: bool) -> f64 {
        let (mut sum, mut places) = (0.0, 0.0);
        for (field, size) in fields {
            for row in 0..size.rows as i64 {
                for column in 0..size.columns as i64 {
                    let mut product = Some(1.0);
                    for (&channel, t) in channels.iter().zip(times) {
                        let (mut r, mut c) = (row + t[0], column + t[1]);
                        if circle {
                            (r, c) = (r.rem_euclid(size.rows as i64), c.rem_euclid(size.columns as i64));
                        }
                        let inside =
                            (0..size.rows as i64).contains(&r) && (0..size.columns as i64).contains(&c);
                        product = product
                            .filter(|_| inside)
                            .map(|p: f64| p * field[channel][(r * size.columns as i64 + c) as usize]);
                    }
                    if let Some(product) = product {
                        sum += product;
                        places += 1.0;
                    }
                }
            }
        }
        if places > 0.0 { sum / places } else { 0.0 }
    }

    fn spread_below(times: &[Lag], support: Option<Extent>) -> bool {
        let Some(support) = support else { return true };
        (0..2).all(|d| {
            let low = times.iter().map(|t| t[d]).min().unwrap();
            let high = times.iter().map(|t| t[d]).max().unwrap();
            high - low < [support.rows, support.columns][d] as i64
        })
    }

    fn turn(period: Extent, frequency: usize, lag: Lag) -> f64 {
        let (a, b) = (frequency / period.columns, frequency % period.columns);
        -std::f64::consts::TAU
            * (a as f64 * lag[0] as f64 / period.rows as f64
                + b as f64 * lag[1] as f64 / period.columns as f64)
    }

    /// Every cumulant at every frequency equals the sum over lags of what the definition gives.
    fn agrees_with_brute_force(signals: &Signals, support: Extent) {
        let tiling = Tiling::new(signals, support);
        let centre = centres(signals);
        let sums = Sums::gather(signals, tiling, &centre, &Silent).unwrap();
        let cumulants = Cumulants::from_sums(&sums);
        let lattice = cumulants.pairs.lattice;
        let (n, channels, period) = (lattice.len(), lattice.channels, lattice.period);
        // The tiles of the first half, as the sums deal them.
        let tiles = tiling.tiles(signals);
        let chunk = tiles.len().div_ceil(8).clamp(1, 512);
        let fields: Vec<(Vec<Vec<f64>>, Extent)> = tiles
            .chunks(chunk)
            .step_by(2)
            .flatten()
            .map(|tile| {
                let cut = |c: usize| {
                    let mut field = vec![0.0; tile.extent.len()];
                    tile.cut(&signals.stretches()[tile.stretch], c, centre[c], tile.extent, &mut field);
                    field
                };
                ((0..channels).map(cut).collect(), tile.extent)
            })
            .collect();
        let circle = tiling.tile == tiling.period;
        let reach = tiling.support.map_or((period.rows as i64 - 1, period.columns as i64 - 1), |s| {
            (s.rows as i64 - 1, s.columns as i64 - 1)
        });
        let low = if tiling.support.is_some() { (-reach.0, -reach.1) } else { (0, 0) };
        let lags: Vec<Lag> = (low.0..=reach.0).flat_map(|r| (low.1..=reach.1).map(move |c| [r, c])).collect();
        let difference = |t: Lag, s: Lag| [t[0] - s[0], t[1] - s[1]];
        let r = |c: usize, d: usize, t: Lag, s: Lag| {
            moment(&fields, &[c, d], &[difference(t, s), [0, 0]], circle)
        };
        let spectral = &cumulants.halves[0];
        for (number, sum) in cumulants.pairs.sums.iter().enumerate() {
            for (i, (&(p, q), &wp)) in sum.pairs.iter().zip(&sum.weights).enumerate() {
                let c3 = i % channels;
                let mut third = Complex64::default();
                for &t1 in &lags {
                    for &t2 in &lags {
                        if spread_below(&[t1, t2, [0, 0]], tiling.support) {
                            let value = moment(&fields, &[p / n, q / n, c3], &[t1, t2, [0, 0]], circle);
                            let phase = turn(period, p % n, t1) + turn(period, q % n, t2);
                            third += value * wp * Complex64::from_polar(1.0, phase);
                        }
                    }
                }
                assert!((third - spectral.third[number][(i, c3)]).norm() < 1e-8 * (1.0 + third.norm()));
                // One column of every block is enough: another one for every row.
                let j = (3 * i + number) % sum.len();
                let ((s, u), ws) = (sum.pairs[j], sum.weights[j]);
                let own = [p / n, q / n, s / n, u / n];
                let mut fourth = Complex64::default();
                for &t1 in &lags {
                    for &t2 in &lags {
                        for &t3 in &lags {
                            let times = [t1, t2, t3, [0, 0]];
                            if !spread_below(&times, tiling.support) {
                                continue;
                            }
                            let zero = [0, 0];
                            let gaussian = r(own[0], own[2], t1, t3) * r(own[1], own[3], t2, zero)
                                + r(own[0], own[3], t1, zero) * r(own[1], own[2], t2, t3)
                                + r(own[0], own[1], t1, t2) * r(own[2], own[3], t3, zero);
                            let value = moment(&fields, &own, &times, circle) - gaussian;
                            let phase =
                                turn(period, p % n, t1) + turn(period, q % n, t2) - turn(period, s % n, t3);
                            fourth += value * wp * ws * Complex64::from_polar(1.0, phase);
                        }
                    }
                }
                let error = (fourth - spectral.fourth[number][(i, j)]).norm();
                assert!(error < 1e-8 * (1.0 + fourth.norm()), "{number} {i} {j}: {error} of {fourth}");
            }
        }
    }

    #[test]
    fn whole_circles_agree_with_brute_force() {
        agrees_with_brute_force(&noise_signals(&[Extent::line(5); 3], 1, true), Extent::line(5));
        agrees_with_brute_force(&noise_signals(&[Extent::line(8); 3], 1, true), Extent::line(3));
        agrees_with_brute_force(&noise_signals(&[Extent::line(4); 2], 2, true), Extent::line(2));
    }

    #[test]
    fn recordings_in_tiles_agree_with_brute_force() {
        let lines = [Extent::line(11), Extent::line(2), Extent::line(7)];
        agrees_with_brute_force(&noise_signals(&lines, 1, false), Extent::line(3));
        agrees_with_brute_force(&noise_signals(&[Extent::line(9); 2], 2, false), Extent::line(2));
        agrees_with_brute_force(&noise_signals(&[Extent::line(17); 2], 1, true), Extent::line(3));
    }

    #[test]
    fn images_agree_with_brute_force() {
        agrees_with_brute_force(&noise_signals(&[Extent::plane(5, 4); 2], 1, false), Extent::plane(2, 2));
        agrees_with_brute_force(&noise_signals(&[Extent::plane(3, 4); 2], 1, true), Extent::plane(3, 4));
    }

    #[test]
    fn threads_change_no_byte() {
        let signals = noise_signals(&[Extent::line(40); 30], 1, false);
        let run = |threads| {
            tenfold_engine::linalg::parallel::with_threads(threads, || {
                Cumulants::of(&signals, Extent::line(4), &Silent).unwrap().white().fourth
            })
        };
        assert_eq!(run(1), run(3));
    }
}
