//! Topics and mixtures together, by expectation maximisation over counts that are held in memory.

use super::infer::finite;
use crate::checkpoint::{Keep, Rounds, keep};
use crate::error::{Error, Result};
use rayon::prelude::*;
use tenfold_engine::linalg::{Csr, Kernel, Mat, vectorised};
use tenfold_engine::progress::Progress;

/// Steps between two looks at the likelihood: its logarithms cost about as much as a step.
const LOOK: usize = 10;

/// Rows are padded with zeros to a multiple of this many numbers: one AVX register of f64.
const LANES: usize = 4;

/// Rows of one task. Every row is made by one task alone, so the size changes no number.
const ROWS_A_TASK: usize = 16;

/// Added to a probability before it divides, so that a word that no topic knows gives no weight instead of a NaN.
const TINY: f64 = 1e-300;

/// How topics and mixtures are fitted together: the mixtures are kept from step to step, where [`Stepwise`](super::Stepwise)
/// infers them anew. That is the way for few rows of many tokens, such as the bins of a histogram; it is also KL-NMF.
///
/// A step moves the mixtures with the topics at rest, and then the topics with the mixtures at rest,
///
///   θ_dt ∝ θ_dt Σ_w x_dw B_tw / p_dw,   B_tw ∝ B_tw Σ_d x_dw θ_dt / p_dw + η,   p_dw = Σ_t θ_dt B_tw,
///
/// and neither lowers Σ x ln p + η Σ ln B.
///
/// # Complexity
/// 8·entries·k operations a step.
///
/// # Example
/// ```
/// use tenfold::admixture::Joint;
/// use tenfold::engine::linalg::{Csr, Mat};
/// use tenfold::engine::progress::Silent;
/// let counts = Csr::from_triplets(2, 2, &[(0, 0, 9.0), (1, 1, 5.0)]);
/// let topics = Mat::from_vec(2, 2, vec![0.6, 0.4, 0.4, 0.6]);
/// let mixtures = Mat::from_vec(2, 2, vec![0.5; 4]);
/// let found = Joint { smoothing: 0.0, ..Joint::default() }.run(&counts, &topics, &mixtures, &Silent)?;
/// assert!(found.topics[(0, 0)] > 0.999 && found.mixtures[(1, 1)] > 0.999 && found.log_likelihood > -1e-3);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// η: tokens added to every word of every topic.
    pub smoothing: f64,
    /// Most steps.
    pub steps: usize,
    /// Ends when ten steps gain less than this many nats a token.
    pub tolerance: f64,
}

impl Default for Joint {
    fn default() -> Self {
        Self { smoothing: 0.1, steps: 500, tolerance: 5e-7 }
    }
}

/// What [`Joint::run`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// k × words, rows sum to 1.
    pub topics: Mat,
    /// Rows × k; a row without tokens keeps its start.
    pub mixtures: Mat,
    /// Σ x ln p / Σ x: nats a token.
    pub log_likelihood: f64,
    /// Steps taken.
    pub steps: usize,
    /// Whether the likelihood had come to rest.
    pub converged: bool,
}

impl Joint {
    /// Runs from a start: topics (k × words) and mixtures (rows × k).
    ///
    /// # Errors
    /// [`Error::WrongShape`] for starts of other counts, [`Error::BadParameter`], and what the listener says.
    pub fn run(&self, counts: &Csr, topics: &Mat, mixtures: &Mat, progress: &dyn Progress) -> Result<Fitted> {
        finite("smoothing", self.smoothing)?;
        let shape = [
            ("words", topics.cols(), counts.cols()),
            ("rows", mixtures.rows(), counts.rows()),
            ("topics", mixtures.cols(), topics.rows()),
        ];
        if let Some(&(what, found, expected)) = shape.iter().find(|(_, found, expected)| found != expected) {
            return Err(Error::WrongShape { what, found, expected });
        }
        let (k, by_word) = (topics.rows(), counts.transpose());
        let width = k.next_multiple_of(LANES);
        let mut theta = padded(mixtures, width);
        let mut words = padded(&topics.transpose(), width);
        let tokens = (0..counts.rows()).map(|d| counts.row(d).1.iter().sum::<f64>()).sum::<f64>().max(1e-300);
        let (mut steps, mut converged) = (0, false);
        let mut rounds = Rounds::new(progress, "joint");
        let mut last;
        match rounds.taken::<Stand>().filter(|s| [s.theta.len(), s.words.len()] == [theta.len(), words.len()])
        {
            Some(stand) => Stand { steps, converged, last, theta, words } = stand,
            None => last = likelihood(counts, &theta, &words, width) / tokens,
        }
        while steps < self.steps && !converged {
            progress.check()?;
            let more = LOOK.min(self.steps - steps);
            for _ in 0..more {
                sweep(counts, &words, &mut theta, width, Finish::Normalise);
                sweep(&by_word, &theta, &mut words, width, Finish::Keep);
                normalise_topics(&mut words, (k, width), self.smoothing);
            }
            steps += more;
            progress.advance(more as u64);
            let now = likelihood(counts, &theta, &words, width) / tokens;
            converged = more == LOOK && now - last < self.tolerance;
            last = now;
            rounds.keep(|parcel| {
                (steps, converged, last).put(parcel);
                theta.put(parcel);
                words.put(parcel);
            });
        }
        let topics = Mat::from_fn(k, counts.cols(), |t, w| words[w * width + t]);
        let mixtures = Mat::from_fn(counts.rows(), k, |d, t| theta[d * width + t]);
        Ok(Fitted { topics, mixtures, log_likelihood: last, steps, converged })
    }
}

/// All that the next steps need besides the settings.
struct Stand {
    steps: usize,
    converged: bool,
    last: f64,
    theta: Vec<f64>,
    words: Vec<f64>,
}

keep! {
    Stand { steps, converged, last, theta, words }
    Fitted { topics, mixtures, log_likelihood, steps, converged }
}

/// Rows padded with zeros, which stay zero: every update multiplies them.
fn padded(m: &Mat, width: usize) -> Vec<f64> {
    let mut out = vec![0.0; m.rows() * width];
    for (i, row) in out.chunks_exact_mut(width.max(1)).enumerate() {
        row[..m.cols()].copy_from_slice(m.row(i));
    }
    out
}

/// Columns sum to 1 after `smoothing` is added; sums run over words in order.
fn normalise_topics(words: &mut [f64], (k, width): (usize, usize), smoothing: f64) {
    let mut sums = vec![0.0; k];
    for row in words.chunks_exact_mut(width) {
        for (x, sum) in row[..k].iter_mut().zip(&mut sums) {
            *x += smoothing;
            *sum += *x;
        }
    }
    for row in words.chunks_exact_mut(width) {
        for (x, sum) in row[..k].iter_mut().zip(&sums) {
            *x /= sum.max(TINY);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Finish {
    Normalise,
    Keep,
}

/// x_r ← x_r ∘ Σ_e c_e / (x_r · o_e) o_e for every row r of `entries`, where o_e are rows of `others`.
fn sweep(entries: &Csr, others: &[f64], rows: &mut [f64], width: usize, finish: Finish) {
    if width == 0 {
        return;
    }
    rows.par_chunks_mut(ROWS_A_TASK * width).enumerate().for_each(|(task, rows)| {
        vectorised(Sweep { entries, first: task * ROWS_A_TASK, others, rows, width, finish });
    });
}

struct Sweep<'a> {
    entries: &'a Csr,
    first: usize,
    others: &'a [f64],
    rows: &'a mut [f64],
    width: usize,
    finish: Finish,
}

impl Kernel for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // Widths whose sums fit into registers are compiled on their own: twice as fast at k = 10.
        match self.width {
            4 => self.fixed::<1>(),
            8 => self.fixed::<2>(),
            12 => self.fixed::<3>(),
            16 => self.fixed::<4>(),
            20 => self.fixed::<5>(),
            24 => self.fixed::<6>(),
            _ => self.any(),
        }
    }
}

impl Sweep<'_> {
    #[inline(always)]
    fn fixed<const N: usize>(self) {
        for (i, row) in self.rows.chunks_exact_mut(N * LANES).enumerate() {
            let (columns, counts) = self.entries.row(self.first + i);
            if columns.is_empty() {
                continue_empty(row, self.finish);
                continue;
            }
            let mut x = [[0.0; LANES]; N];
            x.as_flattened_mut().copy_from_slice(row);
            let mut sum = [[0.0; LANES]; N];
            for (at, count) in columns.iter().zip(counts) {
                let other = self.others[*at as usize * N * LANES..][..N * LANES].as_chunks::<LANES>().0;
                let mut dots = [0.0; LANES];
                for (x, o) in x.iter().zip(other) {
                    for l in 0..LANES {
                        dots[l] += x[l] * o[l];
                    }
                }
                let weight = count / (((dots[0] + dots[2]) + (dots[1] + dots[3])) + TINY);
                for (s, o) in sum.iter_mut().zip(other) {
                    for l in 0..LANES {
                        s[l] += weight * o[l];
                    }
                }
            }
            finish(row, sum.as_flattened(), self.finish);
        }
    }

    #[inline(always)]
    fn any(self) {
        let mut sum = vec![0.0; self.width];
        for (i, row) in self.rows.chunks_exact_mut(self.width).enumerate() {
            let (columns, counts) = self.entries.row(self.first + i);
            if columns.is_empty() {
                continue_empty(row, self.finish);
                continue;
            }
            sum.fill(0.0);
            for (at, count) in columns.iter().zip(counts) {
                let other = &self.others[*at as usize * self.width..][..self.width];
                let weight = count / (dot(row, other) + TINY);
                for (s, o) in sum.iter_mut().zip(other) {
                    *s += weight * o;
                }
            }
            finish(row, &sum, self.finish);
        }
    }
}

/// Without tokens a mixture stays what it was, and a word belongs to no topic.
#[inline(always)]
fn continue_empty(row: &mut [f64], finish: Finish) {
    if finish == Finish::Keep {
        row.fill(0.0);
    }
}

#[inline(always)]
fn finish(row: &mut [f64], sum: &[f64], finish: Finish) {
    let mut total = 0.0;
    for (x, s) in row.iter_mut().zip(sum) {
        *x *= s;
        total += *x;
    }
    if finish == Finish::Normalise && total > 0.0 {
        let by = 1.0 / total;
        row.iter_mut().for_each(|x| *x *= by);
    }
}

#[inline(always)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut dots = [0.0; LANES];
    for (x, y) in x.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
        for l in 0..LANES {
            dots[l] += x[l] * y[l];
        }
    }
    (dots[0] + dots[2]) + (dots[1] + dots[3])
}

/// Σ x ln p, summed over rows in order.
fn likelihood(counts: &Csr, theta: &[f64], words: &[f64], width: usize) -> f64 {
    let rows: Vec<f64> = (0..counts.rows())
        .into_par_iter()
        .map(|d| vectorised(LogLikelihood { counts, d, theta: &theta[d * width..][..width], words }))
        .collect();
    rows.iter().sum()
}

struct LogLikelihood<'a> {
    counts: &'a Csr,
    d: usize,
    theta: &'a [f64],
    words: &'a [f64],
}

impl Kernel for LogLikelihood<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let (columns, counts) = self.counts.row(self.d);
        let width = self.theta.len();
        let mut sum = 0.0;
        for (w, x) in columns.iter().zip(counts) {
            if *x > 0.0 {
                sum += x * (dot(self.theta, &self.words[*w as usize * width..][..width]) + TINY).ln();
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::linalg::random;
    use tenfold_engine::progress::Silent;

    fn drawn(rows: usize, words: usize, k: usize) -> (Csr, Mat, Mat) {
        let mut rng = random::rng(5, k as u64);
        let mut triplets = Vec::new();
        for d in 0..rows {
            for w in 0..words {
                let x = rng.random_range(0..4u32);
                if x > 0 && d != 3 {
                    triplets.push((d, w, f64::from(x)));
                }
            }
        }
        let mut simplex = |rows: usize, cols: usize| {
            let raw = Mat::from_fn(rows, cols, |_, _| 0.1 + rng.random::<f64>());
            Mat::from_fn(rows, cols, |i, j| raw[(i, j)] / raw.row(i).iter().sum::<f64>())
        };
        (Csr::from_triplets(rows, words, &triplets), simplex(k, words), simplex(rows, k))
    }

    /// One step by the equations, entry by entry.
    fn naive(x: &Csr, b: &Mat, theta: &Mat, eta: f64) -> (Mat, Mat) {
        let (x, k) = (x.to_dense(), b.rows());
        let p = |theta: &Mat, d, w| (0..k).map(|t| theta[(d, t)] * b[(t, w)]).sum::<f64>();
        let part = |d: usize, t: usize| -> f64 {
            (0..b.cols()).map(|w| x[(d, w)] * theta[(d, t)] * b[(t, w)] / p(theta, d, w)).sum()
        };
        let length = |d: usize| x.row(d).iter().sum::<f64>();
        let mixed = Mat::from_fn(theta.rows(), k, |d, t| match length(d) {
            0.0 => theta[(d, t)],
            length => part(d, t) / length,
        });
        let raw = Mat::from_fn(k, b.cols(), |t, w| {
            let share = |d: usize| x[(d, w)] * mixed[(d, t)] * b[(t, w)] / p(&mixed, d, w);
            (0..x.rows()).map(share).sum::<f64>() + eta
        });
        (Mat::from_fn(k, b.cols(), |t, w| raw[(t, w)] / raw.row(t).iter().sum::<f64>()), mixed)
    }

    #[test]
    fn a_step_is_the_equation_for_every_width() {
        for k in [1, 3, 4, 7, 10, 14, 20, 23, 30] {
            let (counts, mut topics, mut mixtures) = drawn(12, 9, k);
            let run = Joint { smoothing: 0.1, steps: 3, tolerance: 0.0 };
            let found = run.run(&counts, &topics, &mixtures, &Silent).unwrap();
            for _ in 0..3 {
                (topics, mixtures) = naive(&counts, &topics, &mixtures, 0.1);
            }
            for (found, expected) in [(&found.topics, &topics), (&found.mixtures, &mixtures)] {
                let mut far = found.clone();
                far.add_scaled(-1.0, expected);
                assert!(far.max_abs() < 1e-13, "k = {k}: {}", far.max_abs());
            }
            let x = counts.to_dense();
            let p = mixtures.matmul(&topics);
            let sum: f64 = x.as_slice().iter().zip(p.as_slice()).map(|(x, p)| x * p.ln()).sum();
            let expected = sum / x.as_slice().iter().sum::<f64>();
            assert!((found.log_likelihood - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn the_objective_never_falls() {
        let (counts, topics, mixtures) = drawn(30, 20, 5);
        let objective = |steps: usize| {
            let found = Joint { smoothing: 0.1, steps, tolerance: 0.0 };
            let found = found.run(&counts, &topics, &mixtures, &Silent).unwrap();
            let tokens: f64 = counts.to_dense().as_slice().iter().sum();
            tokens * found.log_likelihood + 0.1 * found.topics.as_slice().iter().map(|b| b.ln()).sum::<f64>()
        };
        let values: Vec<f64> = [1, 2, 3, 5, 8, 20, 50, 200].into_iter().map(objective).collect();
        assert!(values.windows(2).all(|w| w[1] >= w[0] - 1e-9), "{values:?}");
        assert!(values[7] > values[0] + 10.0, "it climbs: {values:?}");
    }

    #[test]
    fn same_bytes_on_any_number_of_threads() {
        let (counts, topics, mixtures) = drawn(100, 40, 6);
        let run = |threads| {
            with_threads(threads, || Joint::default().run(&counts, &topics, &mixtures, &Silent).unwrap())
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), one);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (counts, topics, mixtures) = drawn(12, 9, 3);
        let run = |t: &Mat, m: &Mat| Joint::default().run(&counts, t, m, &Silent).is_err();
        assert!(run(&Mat::zeros(3, 8), &mixtures) && run(&topics, &Mat::zeros(11, 3)));
        assert!(run(&topics, &Mat::zeros(12, 4)));
        let nan = Joint { smoothing: f64::NAN, ..Joint::default() };
        assert!(nan.run(&counts, &topics, &mixtures, &Silent).is_err());
    }
}
