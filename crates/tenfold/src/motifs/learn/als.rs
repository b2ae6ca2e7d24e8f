//! The thesis's alternating least squares on the third cumulant, as n separate systems of L equations.

use super::super::choices::Solver;
use super::super::moments::{Lattice, Target};
use super::joint::Joint;
use super::subspace::{Found, unit};
use super::{FINAL, Learned, Learner};
use crate::error::{Error, Result};
use rayon::prelude::*;
use tenfold_engine::linalg::{Complex64, Fourier, Mat, random, solve};

/// Rounds over the three modes at most, and the change of the fit at which they end.
const ROUNDS: usize = 300;
const TOLERANCE: f64 = 1e-7;

/// The bispectrum of one channel, by both frequencies.
struct Bispectrum {
    lattice: Lattice,
    plan: Fourier,
    values: Vec<Complex64>,
}

/// Three modes of L filters each, by frequency; one motif's three modes are the same up to shifts.
type Modes = [Vec<Vec<Complex64>>; 3];

impl Learner<'_> {
    /// Motifs from the third cumulant alone, all together or one after the other.
    pub fn als(&self, count: usize, solver: Solver) -> Result<Learned> {
        if self.channels() != 1 {
            return Err(Error::Unfit {
                problem: format!(
                    "the solver {} knows one channel, and there are {}",
                    solver.name(),
                    self.channels()
                ),
                remedy: "choose one with --channels, or take --solver subspace".into(),
            });
        }
        let joint = Joint { weights: [1.0 / self.target.noise[0].max(1e-300), 0.0], ..self.joint() };
        let bispectrum = Bispectrum::of(self.target);
        let tries = (0..self.starts)
            .into_par_iter()
            .map(|start| {
                self.progress.check()?;
                let filters = match solver {
                    Solver::Deflation => self.deflated(&bispectrum, count, start),
                    _ => self.together(&bispectrum, count, start as u64),
                };
                Ok(match solver {
                    // The thesis takes what the deflation gives.
                    Solver::Deflation => joint.describe(filters, true),
                    _ => joint.refine(&filters, FINAL),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let lowest = tries.iter().map(|t| t.objective).fold(f64::INFINITY, f64::min);
        let agreeing = tries.iter().filter(|t| t.objective <= 1.01 * lowest + 1e-12).count();
        let best =
            tries.into_iter().min_by(|a, b| a.objective.total_cmp(&b.objective)).expect("there is a start");
        Ok(Learned {
            misfit: best.objective,
            filters: best.filters,
            third: best.third,
            fourth: vec![0.0; count],
            certificates: Vec::new(),
            agreement: agreeing as f64 / self.starts as f64,
            converged: best.converged,
        })
    }

    fn together(&self, bispectrum: &Bispectrum, count: usize, stream: u64) -> Vec<Vec<f64>> {
        let (modes, _) = bispectrum.alternate(bispectrum.start(count, self.seed, 300 + stream));
        (0..count).map(|l| self.merged(bispectrum, &modes, l)).collect()
    }

    /// One motif at a time; each is taken away from the bispectrum before the next.
    fn deflated(&self, bispectrum: &Bispectrum, count: usize, start: usize) -> Vec<Vec<f64>> {
        let mut rest =
            Bispectrum { values: bispectrum.values.clone(), plan: bispectrum.plan.clone(), ..*bispectrum };
        (0..count)
            .map(|l| {
                let stream = 10_000 + (start * count + l) as u64;
                let (modes, weights) = rest.alternate(rest.start(1, self.seed, stream));
                let filter = self.merged(&rest, &modes, 0);
                rest.take_away(&modes, weights[0]);
                filter
            })
            .collect()
    }

    /// The mean of a motif's three modes at their best shifts and signs, within the support.
    fn merged(&self, bispectrum: &Bispectrum, modes: &Modes, l: usize) -> Vec<f64> {
        let plan = &bispectrum.plan;
        let real = |mode: &[Complex64]| {
            let mut field = mode.to_vec();
            plan.complex_inverse(&mut field);
            field.iter().map(|value| value.re).collect::<Vec<f64>>()
        };
        let first = real(&modes[0][l]);
        let mut sum = first.clone();
        for mode in &modes[1..] {
            let mut correlation: Vec<Complex64> =
                modes[0][l].iter().zip(&mode[l]).map(|(a, b)| a * b.conj()).collect();
            plan.complex_inverse(&mut correlation);
            let best = (0..correlation.len()).fold(0, |best, at| {
                if correlation[at].re.abs() > correlation[best].re.abs() { at } else { best }
            });
            let other = real(&mode[l]);
            for (at, value) in sum.iter_mut().enumerate() {
                *value += correlation[best].re.signum() * other[bispectrum.lattice.subtract(at, best)];
            }
        }
        self.unwhitened(&Found { filter: unit(sum), certificate: 0.0 })
    }
}

impl Bispectrum {
    fn of(target: &Target) -> Self {
        let lattice = target.pairs.lattice;
        let n = lattice.len();
        let mut values = vec![Complex64::default(); n * n];
        for (sum, third) in target.pairs.sums.iter().zip(&target.third) {
            for (i, (&(p, q), weight)) in sum.pairs.iter().zip(&sum.weights).enumerate() {
                let value = third[(i, 0)] / weight;
                for (a, b) in [(p, q), (q, p)] {
                    values[a * n + b] = value;
                    values[lattice.negate(a) * n + lattice.negate(b)] = value.conj();
                }
            }
        }
        Self { lattice, plan: Fourier::new(lattice.period.rows, lattice.period.columns), values }
    }

    fn start(&self, count: usize, seed: u64, stream: u64) -> Modes {
        let mut rng = random::rng(seed, stream);
        [0, 1, 2].map(|_| {
            (0..count).map(|_| self.plan.whole(&random::sphere(self.lattice.len(), &mut rng))).collect()
        })
    }

    /// Alternates over the modes until the weights settle; the modes have unit norm, the weights are those of the last.
    fn alternate(&self, mut modes: Modes) -> (Modes, Vec<f64>) {
        let mut weights = Vec::new();
        for _ in 0..ROUNDS {
            let before = weights.clone();
            for _ in 0..3 {
                let [_, second, third] = &modes;
                let mut first = self.mode(second, third);
                weights = first.iter_mut().map(|filter| normalise(filter)).collect();
                let [_, second, third] = modes;
                // The next mode to be solved for comes to the front.
                modes = [second, third, first];
            }
            let change = weights.iter().zip(&before).map(|(a, b)| (a - b).abs() / a.abs().max(1e-300));
            if !before.is_empty() && change.fold(0.0, f64::max) < TOLERANCE {
                break;
            }
        }
        (modes, weights)
    }

    /// The least-squares first mode for given others: at every frequency a an L × L system,
    /// Σ_l Ψ_jl(a) F_l(a) = Σ_b B(a, b) G_j*(b) H_j(a+b), Ψ_jl(a) = Σ_b G_j*(b) G_l(b) H_j(a+b) H_l*(a+b).
    fn mode(&self, second: &[Vec<Complex64>], third: &[Vec<Complex64>]) -> Vec<Vec<Complex64>> {
        let (n, count) = (self.lattice.len(), second.len());
        let mut left = vec![Vec::new(); count * count];
        for j in 0..count {
            for l in 0..=j {
                let u: Vec<Complex64> = second[j].iter().zip(&second[l]).map(|(a, b)| a.conj() * b).collect();
                let v: Vec<Complex64> = third[j].iter().zip(&third[l]).map(|(a, b)| a * b.conj()).collect();
                let both = self.correlate(u, v);
                left[l * count + j] = both.iter().map(Complex64::conj).collect();
                left[j * count + l] = both;
            }
        }
        let right = |j: usize, a: usize| -> Complex64 {
            let row = &self.values[a * n..(a + 1) * n];
            (0..n).map(|b| row[b] * second[j][b].conj() * third[j][self.lattice.add(a, b)]).sum()
        };
        let mut mode = vec![vec![Complex64::default(); n]; count];
        let trace = (0..n)
            .map(|a| (0..count).map(|j| left[j * count + j][a].re).sum::<f64>() / count as f64)
            .fold(0.0, f64::max);
        for a in 0..n {
            let entry = |j: usize, l: usize| left[j * count + l][a];
            // A complex system as a real one of twice the size.
            let matrix = Mat::from_fn(2 * count, 2 * count, |i, j| {
                let value = entry(i % count, j % count);
                let ridge = if i == j { 1e-9 * trace + 1e-300 } else { 0.0 };
                match (i < count, j < count) {
                    (true, true) | (false, false) => value.re + ridge,
                    (true, false) => -value.im,
                    (false, true) => value.im,
                }
            });
            let rights: Vec<Complex64> = (0..count).map(|j| right(j, a)).collect();
            let rhs = Mat::from_fn(
                2 * count,
                1,
                |i, _| if i < count { rights[i].re } else { rights[i - count].im },
            );
            let solution = solve(&matrix, &rhs);
            for (l, filter) in mode.iter_mut().enumerate() {
                filter[a] = Complex64::new(solution[(l, 0)], solution[(count + l, 0)]);
            }
        }
        mode
    }

    /// Σ_b u(b) v(a + b), for every a.
    fn correlate(&self, mut u: Vec<Complex64>, mut v: Vec<Complex64>) -> Vec<Complex64> {
        self.plan.complex_forward(&mut u);
        self.plan.complex_forward(&mut v);
        let mut product: Vec<Complex64> = (0..v.len()).map(|k| v[k] * u[self.lattice.negate(k)]).collect();
        self.plan.complex_inverse(&mut product);
        product
    }

    /// B(a, b) − weight · F(a) G(b) H*(a+b) for the last motif found, whose modes stand in the order of the alternation.
    fn take_away(&mut self, modes: &Modes, weight: f64) {
        let n = self.lattice.len();
        let [f, g, h] = [&modes[0][0], &modes[1][0], &modes[2][0]];
        for a in 0..n {
            for b in 0..n {
                let sum = self.lattice.add(a, b);
                self.values[a * n + b] -= f[a] * g[b] * h[sum].conj() * weight;
            }
        }
    }
}

fn normalise(filter: &mut [Complex64]) -> f64 {
    let norm = (filter.iter().map(|value| value.norm_sqr()).sum::<f64>() / filter.len() as f64).sqrt();
    filter.iter_mut().for_each(|value| *value /= norm.max(1e-300));
    norm
}
