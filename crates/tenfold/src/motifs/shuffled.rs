//! Whether samples know of each other: their cumulants at every lag, against those of the same samples in another order.

mod places;

use super::data::Signals;
use super::extent::Extent;
use super::moments::centres;
use crate::error::Result;
use places::{Lag, Piece, lags, overlaps, pieces};
use rand::RngExt;
use tenfold_engine::linalg::parallel::{add_assign, sum_blocks};
use tenfold_engine::linalg::random::rng;
use tenfold_engine::progress::Progress;

/// Orders that are drawn at most, in rounds. Of samples that are independent every order is as likely as the one they came in, so the
/// chance that they are taken for dependent because none of 200 other orders reaches their cumulants is 1 in 201, whatever their law.
const DRAWS: usize = 40;
const ROUNDS: usize = 5;

/// Standard deviations of the drawn orders beyond which no more are drawn. A sum of squares of standard normal numbers has a chance of
/// less than 1e-9 to come so far, already with one of them; only coincidences rarer than one in 40 orders could.
const FAR: f64 = 30.0;

/// Random streams, one for every piece.
const STREAM: u64 = 1 << 48;

/// Numbers that are summed for two channels at one lag, and those of one lane: as many orders as fit into them are drawn in one pass.
const SUMS: usize = 7;
const HELD: usize = 1 << 17;

/// One channel: where it is, and the moments of its samples in standard deviations from there.
pub(super) struct Scale {
    centre: f64,
    pub deviation: f64,
    /// The mean of x³, and the variances of x³ − 3x and of x².
    third: f64,
    pub cubes: f64,
    pub squares: f64,
}

/// x, and x³ − 3x and x² less their means, all of unit variance; channel after channel.
struct Features([Vec<f64>; 3]);

/// The lags of a motif's length, over all pieces.
pub(super) struct Shuffled<'a> {
    signals: &'a Signals,
    orders: [bool; 2],
    pub scales: Vec<Scale>,
    lags: Vec<Lag>,
    pieces: Vec<Piece>,
}

impl<'a> Shuffled<'a> {
    pub fn new(signals: &'a Signals, support: Extent, orders: [bool; 2]) -> Self {
        let scales = centres(signals).into_iter().enumerate();
        let scales = scales.map(|(channel, centre)| Scale::of(signals, channel, centre)).collect();
        let lags = lags(signals.channels().len(), support);
        Self { signals, orders, scales, lags, pieces: pieces(signals, support) }
    }

    /// Whether there is a lag at all: a motif of one sample in one channel has none.
    pub fn has_lags(&self) -> bool {
        !self.lags.is_empty()
    }

    /// Whether cumulants at lags are larger than those of shuffled samples.
    ///
    /// Motifs give cum(x_t, x_t, x_t, x_{t+j}) = Σ_l κ_l Σ_s f_l(s)³ f_l(s + j), likewise cum(x_t, x_t, x_{t+j}) = Σ_l λ_l Σ_s f_l(s)²
    /// f_l(s + j), and cum(x_t, x_t, x_{t+j}, x_{t+j}) = Σ_l κ_l Σ_s f_l(s)² f_l(s + j)², which two motifs cannot cancel when both have
    /// heavy tails. The first is zero at all lags only for motifs of a single sample: f³ times f backwards is a single power of z for
    /// those alone. Every cumulant counts in standard errors that independent samples have; the statistic is the sum of their squares.
    ///
    /// # Complexity
    /// O(samples × lags) for each of at most 201 orders; of motifs that are well seen, and of noise, mostly 41.
    pub fn is_exceeded(&self, progress: &dyn Progress) -> Result<bool> {
        let own = self.statistics(None, progress)?.first().copied().unwrap_or(0.0);
        let mut drawn: Vec<f64> = Vec::with_capacity(DRAWS * ROUNDS);
        for round in 0..ROUNDS {
            while drawn.len() < (round + 1) * DRAWS {
                let most = (HELD / (SUMS * self.lags.len())).clamp(1, (round + 1) * DRAWS - drawn.len());
                drawn.extend(self.statistics(Some((drawn.len(), most)), progress)?);
                if drawn.iter().any(|other| *other >= own) {
                    return Ok(false);
                }
            }
            let count = drawn.len() as f64;
            let mean = drawn.iter().sum::<f64>() / count;
            let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            if own > mean + FAR * variance.sqrt() {
                break;
            }
        }
        Ok(true)
    }

    /// The statistic of the samples as they are, or of so many orders from a first one on.
    fn statistics(&self, orders: Option<(usize, usize)>, progress: &dyn Progress) -> Result<Vec<f64>> {
        let width = SUMS * self.lags.len();
        let (first, draws) = orders.unwrap_or((0, 1));
        let sums = sum_blocks(
            self.pieces.len(),
            1,
            || vec![0.0; draws * width],
            |sums, range| {
                progress.check()?;
                for number in range {
                    let piece = &self.pieces[number];
                    let mut x = self.standard(piece);
                    let mut rng = rng(first as u64, STREAM + number as u64);
                    for sums in sums.chunks_exact_mut(width) {
                        if orders.is_some() {
                            for channel in x.chunks_exact_mut(piece.extent.len()) {
                                (1..channel.len())
                                    .rev()
                                    .for_each(|i| channel.swap(i, rng.random_range(0..=i)));
                            }
                        }
                        self.gather(piece, &x, sums);
                    }
                }
                Ok(())
            },
            |total, lane| add_assign(total, &lane),
        )?;
        Ok(sums.chunks_exact(width).map(|sums| self.statistic(sums)).collect())
    }

    /// The samples of a piece in standard deviations.
    fn standard(&self, piece: &Piece) -> Vec<f64> {
        let stretch = &self.signals.stretches()[piece.stretch];
        let (whole, own) = (stretch.extent.len(), piece.extent.len());
        let mut x = Vec::with_capacity(self.scales.len() * own);
        for (channel, scale) in stretch.values.chunks_exact(whole).zip(&self.scales) {
            let values = &channel[piece.begin..piece.begin + own];
            x.extend(values.iter().map(|value| (value - scale.centre) / scale.deviation));
        }
        x
    }

    fn gather(&self, piece: &Piece, x: &[f64], sums: &mut [f64]) {
        let n = piece.extent.len();
        let each = |of: &dyn Fn(&Scale, f64) -> f64| -> Vec<f64> {
            let channels = x.chunks_exact(n).zip(&self.scales);
            channels.flat_map(|(x, scale)| x.iter().map(|x| of(scale, *x))).collect()
        };
        // What does not vary says nothing: of ±1 the square does not.
        let unit = |variance: f64| if variance > f64::EPSILON { 1.0 / variance.sqrt() } else { 0.0 };
        let features = Features([
            x.to_vec(),
            each(&|scale, x| (x * x * x - 3.0 * x - scale.third) * unit(scale.cubes)),
            each(&|scale, x| (x * x - 1.0) * unit(scale.squares)),
        ]);
        for (lag, sums) in self.lags.iter().zip(sums.chunks_exact_mut(SUMS)) {
            let (a, b) = (lag.channels.0 * n, lag.channels.1 * n);
            overlaps(piece.extent, piece.cyclic, lag.by, |from, to, length| {
                features.add(a + from, b + to, length, sums);
            });
        }
    }

    /// Σ z² over lags and the cumulants that the fit uses.
    fn statistic(&self, sums: &[f64]) -> f64 {
        let mut total = 0.0;
        for (lag, sums) in self.lags.iter().zip(sums.chunks_exact(SUMS)) {
            let count = sums[6].max(1.0);
            let (a, b) = (&self.scales[lag.channels.0], &self.scales[lag.channels.1]);
            // cum(x, x, y, y) is the covariance of the squares less twice the square of the covariance.
            let spread = (a.squares * b.squares).sqrt().max(f64::EPSILON);
            let squares = sums[4] - 2.0 * sums[5] * sums[5] / (count * spread);
            let third = sums[2].powi(2) + sums[3].powi(2);
            let fourth = sums[0].powi(2) + sums[1].powi(2) + squares.powi(2);
            total += (f64::from(self.orders[0]) * third + f64::from(self.orders[1]) * fourth) / count;
        }
        total
    }
}

impl Scale {
    fn of(signals: &Signals, channel: usize, centre: f64) -> Self {
        let mean = |of: &dyn Fn(f64) -> f64| {
            let sums = signals.stretches().iter().map(|stretch| {
                let n = stretch.extent.len();
                let values = &stretch.values[channel * n..(channel + 1) * n];
                values.iter().map(|value| of(value - centre)).sum::<f64>()
            });
            sums.sum::<f64>() / signals.samples() as f64
        };
        let deviation = mean(&|x| x * x).sqrt().max(f64::MIN_POSITIVE);
        let power = |x: f64, p: i32| (x / deviation).powi(p);
        let third = mean(&|x| power(x, 3));
        let cubes = mean(&|x| (power(x, 3) - 3.0 * x / deviation - third).powi(2));
        let squares = mean(&|x| (power(x, 2) - 1.0).powi(2));
        Self { centre, deviation, third, cubes, squares }
    }
}

impl Features {
    /// Adds the products of so many samples of one channel with those of another.
    fn add(&self, from: usize, to: usize, length: usize, sums: &mut [f64]) {
        let [x, cubes, squares] = &self.0;
        let (xa, xb) = (&x[from..from + length], &x[to..to + length]);
        let (ca, cb) = (&cubes[from..from + length], &cubes[to..to + length]);
        let (sa, sb) = (&squares[from..from + length], &squares[to..to + length]);
        let mut own = [0.0; 6];
        for i in 0..length {
            own[0] += ca[i] * xb[i];
            own[1] += xa[i] * cb[i];
            own[2] += sa[i] * xb[i];
            own[3] += xa[i] * sb[i];
            own[4] += sa[i] * sb[i];
            own[5] += xa[i] * xb[i];
        }
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        sums[6] += length as f64;
    }
}
