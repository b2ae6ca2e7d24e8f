//! From sums over frequencies to cumulants by lags, and back to frequencies at twice a motif's length.

use super::super::extent::Extent;
use super::gather::{Half, Sums};
use super::pairs::{Lattice, Pairs};
use rayon::prelude::*;
use tenfold_engine::linalg::{CMat, Complex64, Fourier};

/// Cumulants of orders three and four per sample, at frequencies of the folded period.
#[derive(Debug, Clone)]
pub(crate) struct Spectral {
    /// For every sum ω: E[X(p) X(q) X*(ω)], pairs × channels.
    pub third: Vec<CMat>,
    /// For every sum ω: the fourth cumulant, pairs × pairs.
    pub fourth: Vec<CMat>,
}

crate::checkpoint::keep! { Spectral { third, fourth } }

/// A signed lag, row and column.
type Lag = (i64, i64);

impl Sums {
    /// The cumulants that one half of the tiles shows, with the pairs of the folded period.
    ///
    /// Moments by lags are sums divided by their places; the fourth loses its Gaussian part,
    /// r(t₁−t₃)r(t₂−t₄) + r(t₁−t₄)r(t₂−t₃) + r(t₁−t₂)r(t₃−t₄), and with it all stationary Gaussian noise; lags of spread ≥ the
    /// support are zero in the model and are set so. What remains fits into a period of twice the support.
    pub fn spectral(&self, half: &Half, folded: &Pairs) -> Spectral {
        let reach = self.tiling.support.unwrap_or(Extent::line(1));
        let shares = (0..reach.len())
            .map(|at| {
                let spread = Extent::plane(at / reach.columns, at % reach.columns);
                let places = self.tiling.places(&half.tiles, spread);
                if places > 0.0 { 1.0 / places } else { 0.0 }
            })
            .collect();
        let view = Lags { sums: self, half, folded, shares };
        let covariance = view.covariance();
        Spectral { third: view.third(), fourth: view.fourth(&covariance) }
    }
}

struct Lags<'a> {
    sums: &'a Sums,
    half: &'a Half,
    folded: &'a Pairs,
    /// 1 / places of a product, by its spread; one number on whole circles.
    shares: Vec<f64>,
}

impl Lags<'_> {
    fn channels(&self) -> usize {
        self.folded.lattice.channels
    }

    fn source(&self) -> Lattice {
        self.sums.pairs.lattice
    }

    /// The lags that are kept, with their places in the two periods: signed, in order, for one difference of times.
    fn kept(&self) -> Vec<(Lag, usize, usize)> {
        let along = |support: Option<usize>, period: usize| -> Vec<i64> {
            match support {
                Some(m) => (1 - m as i64..m as i64).collect(),
                None => (0..period as i64).collect(),
            }
        };
        let (period, folded) = (self.source().period, self.folded.lattice.period);
        let support = self.sums.tiling.support;
        let place = |extent: Extent, (row, column): Lag| {
            let row = row.rem_euclid(extent.rows as i64) as usize;
            row * extent.columns + column.rem_euclid(extent.columns as i64) as usize
        };
        let mut lags = Vec::new();
        for row in along(support.map(|s| s.rows), period.rows) {
            for column in along(support.map(|s| s.columns), period.columns) {
                let lag = (row, column);
                lags.push((lag, place(period, lag), place(folded, lag)));
            }
        }
        lags
    }

    /// 1 / places of a product at these times, 0 where it is not kept.
    fn share(&self, times: &[Lag]) -> f64 {
        let Some(support) = self.sums.tiling.support else { return self.shares[0] };
        let (mut low, mut high) = (times[0], times[0]);
        for t in &times[1..] {
            low = (low.0.min(t.0), low.1.min(t.1));
            high = (high.0.max(t.0), high.1.max(t.1));
        }
        let (rows, columns) = ((high.0 - low.0) as usize, (high.1 - low.1) as usize);
        match rows < support.rows && columns < support.columns {
            true => self.shares[rows * support.columns + columns],
            false => 0.0,
        }
    }

    /// r(c, c')(τ) = E[x_c(t+τ) x_c'(t)] by places of the folded period.
    fn covariance(&self) -> Vec<Vec<f64>> {
        let (source, folded, channels) = (self.source(), self.folded.lattice, self.channels());
        let plan = Fourier::new(source.period.rows, source.period.columns);
        let kept = self.kept();
        let mut out = vec![vec![0.0; folded.len()]; channels * channels];
        let mut spectra = vec![vec![Complex64::default(); source.len()]; channels * channels];
        for (number, sum) in self.sums.pairs.sums.iter().enumerate() {
            let (block, first) = (self.half.block(number), sum.len());
            for c in 0..channels {
                for d in 0..channels {
                    let value = block[(first + c, first + d)];
                    spectra[c * channels + d][sum.frequency] = value;
                    spectra[c * channels + d][source.negate(sum.frequency)] = value.conj();
                }
            }
        }
        for (out, spectrum) in out.iter_mut().zip(&mut spectra) {
            plan.complex_inverse(spectrum);
            for &(lag, from, to) in &kept {
                out[to] += spectrum[from].re * self.share(&[lag, (0, 0)]);
            }
        }
        out
    }

    /// Third moments, which are cumulants since the means are zero: the columns of X*(ω), by lags and back.
    fn third(&self) -> Vec<CMat> {
        let (source, folded, channels) = (self.source(), self.folded.lattice, self.channels());
        let (n, m) = (source.len(), folded.len());
        let plans = [source, folded].map(|l| Fourier::new(l.period.rows, l.period.columns));
        let kept = self.kept();
        let mut out: Vec<CMat> =
            self.folded.sums.iter().map(|sum| CMat::zeros(sum.len(), channels)).collect();
        for e in 0..channels {
            let mut planes = vec![vec![Complex64::default(); n * n]; channels * channels];
            for (number, sum) in self.sums.pairs.sums.iter().enumerate() {
                let block = self.half.block(number);
                let mirror = source.negate(sum.frequency);
                for (i, (&(p, q), &weight)) in sum.pairs.iter().zip(&sum.weights).enumerate() {
                    let value = block[(i, sum.len() + e)] / weight;
                    for (p, q) in [(p, q), (q, p)] {
                        let plane = &mut planes[(p / n) * channels + q / n];
                        plane[sum.frequency * n + p % n] = value;
                        plane[mirror * n + source.negate(p % n)] = value.conj();
                    }
                }
            }
            // By ω and a to τ_ω = t₂ − t₃ and τ_a = t₁ − t₂, and back at the folded period.
            for (pair, plane) in planes.iter_mut().enumerate() {
                both(plane, n, |row| plans[0].complex_inverse(row));
                let mut small = vec![Complex64::default(); m * m];
                for &(w, from_w, to_w) in &kept {
                    for &(a, from_a, to_a) in &kept {
                        let share = self.share(&[(a.0 + w.0, a.1 + w.1), w, (0, 0)]);
                        if share > 0.0 {
                            small[to_w * m + to_a].re = plane[from_w * n + from_a].re * share;
                        }
                    }
                }
                both(&mut small, m, |row| plans[1].complex_forward(row));
                for (sum, third) in self.folded.sums.iter().zip(&mut out) {
                    for (i, (&(p, q), &weight)) in sum.pairs.iter().zip(&sum.weights).enumerate() {
                        if (p / m) * channels + q / m == pair {
                            third[(i, e)] = weight * small[sum.frequency * m + p % m];
                        }
                    }
                }
            }
        }
        out
    }

    fn fourth(&self, covariance: &[Vec<f64>]) -> Vec<CMat> {
        let channels = self.channels();
        let mut out: Vec<CMat> =
            self.folded.sums.iter().map(|sum| CMat::zeros(sum.len(), sum.len())).collect();
        for quadruple in 0..channels.pow(4) {
            let at = |power: u32| quadruple / channels.pow(power) % channels;
            let own = [at(3), at(2), at(1), at(0)];
            let cube = self.folded_cube(self.cube(own), own, covariance);
            self.back(cube, own, &mut out);
        }
        out
    }

    /// The fourth moment of four channels by lags, times places: entry (τ_a · n + τ_c) · n + τ_ω, with τ_ω = t₂ − t₄,
    /// τ_a = t₁ − t₂ and τ_c = t₄ − t₃.
    fn cube(&self, own: [usize; 4]) -> Vec<f64> {
        let (source, n) = (self.source(), self.source().len());
        let plan = Fourier::new(source.period.rows, source.period.columns);
        let half = plan.half() * source.period.rows;
        // For every ω of the half spectrum a plane by a and c, brought to lags.
        let mut planes = vec![Complex64::default(); half * n * n];
        let of = |omega: usize| (omega / plan.half()) * source.period.columns + omega % plan.half();
        planes.par_chunks_mut(n * n).enumerate().for_each(|(omega, plane)| {
            let frequency = of(omega);
            let mirrored = frequency > source.negate(frequency);
            let held = if mirrored { source.negate(frequency) } else { frequency };
            let number = self.sums.pairs.sums.iter().position(|sum| sum.frequency == held).expect("held");
            let (sum, block) = (&self.sums.pairs.sums[number], self.half.block(number));
            let sides = |first: usize, second: usize| sides(sum, n, first, second);
            for (i, a, wa) in sides(own[0], own[1]) {
                for &(j, c, wc) in &sides(own[2], own[3]) {
                    let value = block[(i, j)] / (wa * wc);
                    match mirrored {
                        false => plane[a * n + c] = value,
                        true => plane[source.negate(a) * n + source.negate(c)] = value.conj(),
                    }
                }
            }
            both(plane, n, |row| plan.complex_inverse(row));
        });
        let mut cube = vec![0.0; n * n * n];
        cube.par_chunks_mut(n * n).enumerate().for_each(|(a, slab)| {
            let mut spectrum = vec![Complex64::default(); half];
            for (c, line) in slab.chunks_exact_mut(n).enumerate() {
                for (omega, value) in spectrum.iter_mut().enumerate() {
                    *value = planes[omega * n * n + a * n + c];
                }
                plan.inverse_into(&mut spectrum, line);
            }
        });
        cube
    }

    /// The fourth cumulant of four channels by lags of the folded period, in the order of [`Lags::cube`].
    fn folded_cube(&self, cube: Vec<f64>, own: [usize; 4], covariance: &[Vec<f64>]) -> Vec<f64> {
        let (n, m, channels) = (self.source().len(), self.folded.lattice.len(), self.channels());
        let kept = self.kept();
        let period = self.folded.lattice.period;
        let r = |c: usize, d: usize, t: Lag, s: Lag| {
            let row = (t.0 - s.0).rem_euclid(period.rows as i64) as usize;
            let column = (t.1 - s.1).rem_euclid(period.columns as i64) as usize;
            covariance[own[c] * channels + own[d]][row * period.columns + column]
        };
        let mut small = vec![0.0; m * m * m];
        let slabs: Vec<(usize, Vec<f64>)> = kept
            .par_iter()
            .map(|&(a, from_a, to_a)| {
                let mut slab = vec![0.0; m * m];
                for &(c, from_c, to_c) in &kept {
                    for &(w, from_w, to_w) in &kept {
                        let (t1, t2, t3) = ((a.0 + w.0, a.1 + w.1), w, (-c.0, -c.1));
                        let share = self.share(&[t1, t2, t3, (0, 0)]);
                        if share > 0.0 {
                            let zero = (0, 0);
                            let gaussian = r(0, 2, t1, t3) * r(1, 3, t2, zero)
                                + r(0, 3, t1, zero) * r(1, 2, t2, t3)
                                + r(0, 1, t1, t2) * r(2, 3, t3, zero);
                            slab[to_c * m + to_w] =
                                cube[(from_a * n + from_c) * n + from_w] * share - gaussian;
                        }
                    }
                }
                (to_a, slab)
            })
            .collect();
        for (a, slab) in slabs {
            small[a * m * m..(a + 1) * m * m].copy_from_slice(&slab);
        }
        small
    }

    /// Brings a folded cube to frequencies and puts it where its channels stand in the blocks.
    fn back(&self, cube: Vec<f64>, own: [usize; 4], out: &mut [CMat]) {
        let (folded, m) = (self.folded.lattice, self.folded.lattice.len());
        let plan = Fourier::new(folded.period.rows, folded.period.columns);
        let half = plan.half() * folded.period.rows;
        let mut lines = vec![Complex64::default(); m * m * half];
        lines
            .par_chunks_mut(half)
            .zip(cube.par_chunks(m))
            .for_each(|(line, values)| plan.forward_into(values, line));
        let of = |frequency: usize| {
            (frequency / folded.period.columns) * plan.half() + frequency % folded.period.columns
        };
        out.par_iter_mut().zip(&self.folded.sums).for_each(|(block, sum)| {
            // The half spectrum holds columns up to the middle; beyond, the conjugate at the mirrored place.
            let mirrored = sum.frequency % folded.period.columns >= plan.half();
            let held = of(if mirrored { folded.negate(sum.frequency) } else { sum.frequency });
            let mut plane: Vec<Complex64> = (0..m * m).map(|line| lines[line * half + held]).collect();
            if mirrored {
                plane.iter_mut().for_each(|value| *value = value.conj());
            }
            both(&mut plane, m, |row| plan.complex_forward(row));
            for (i, a, wa) in sides(sum, m, own[0], own[1]) {
                for &(j, c, wc) in &sides(sum, m, own[2], own[3]) {
                    block[(i, j)] = plane[a * m + c] * (wa * wc);
                }
            }
        });
    }
}

/// The pairs of a sum whose variables stand in these channels, either way round: number, frequency of the first, weight.
fn sides(sum: &super::pairs::Sum, n: usize, first: usize, second: usize) -> Vec<(usize, usize, f64)> {
    let mut found = Vec::new();
    for (i, (&(p, q), &weight)) in sum.pairs.iter().zip(&sum.weights).enumerate() {
        if p / n == first && q / n == second {
            found.push((i, p % n, weight));
        }
        if p != q && q / n == first && p / n == second {
            found.push((i, q % n, weight));
        }
    }
    found
}

/// Transforms a square array of n × n along both sides; lines of n are arrays of the plan.
fn both(array: &mut [Complex64], n: usize, transform: impl Fn(&mut [Complex64])) {
    for _ in 0..2 {
        array.chunks_exact_mut(n).for_each(&transform);
        for i in 0..n {
            for j in 0..i {
                array.swap(i * n + j, j * n + i);
            }
        }
    }
}
