//! What motifs were sought by before, kept for comparison: alternating minimisation.
//!
//! Least squares for the activations of all windows, then least squares for the motifs, in turn (the thesis's comparison).
//! Every round reads all samples, so the time grows with their number, and for two or more motifs the reconstruction is
//! perfect whatever the motifs are: it does not find them. [`sparse_from_random`] is the same with a sparse penalty.

mod theorem;

pub use theorem::normalised_average;

use super::decode::bank::{Bank, Ridge};
use super::sparse::{Refined, Refinement, refine};
use super::{Extent, Filters, Signals};
use crate::error::{Error, Result};
use tenfold_engine::linalg::{Complex64, parallel, random};
use tenfold_engine::progress::Progress;

/// Regularises both steps, as a share of the largest power.
const RIDGE: f64 = 1e-6;

/// Motifs of alternating minimisation, and how well they reconstruct.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternated {
    /// Motifs of unit norm.
    pub filters: Filters,
    /// ‖x − Σ f ⋆ w‖ / ‖x‖ after every round.
    pub residuals: Vec<f64>,
}

/// Motifs drawn at random, of unit norm.
pub fn random_start(motifs: usize, channels: usize, extent: Extent, seed: u64) -> Filters {
    let mut rng = random::rng(seed, 0xba5e);
    let values = (0..motifs).flat_map(|_| random::sphere(channels * extent.len(), &mut rng)).collect();
    Filters::new(values, channels, extent)
}

/// `rounds` of w ← F⁺x and f ← argmin Σ_k ‖x_k − Σ_l f_l ⋆ w_kl‖², cut to the motifs' length and brought to unit norm.
///
/// # Errors
/// Windows that are not circles of one size, or a caller that stops the run.
pub fn alternate(
    start: &Filters,
    signals: &Signals,
    rounds: usize,
    progress: &dyn Progress,
) -> Result<Alternated> {
    let all = signals.stretches();
    let Some(grid) = all.first().map(|s| s.extent).filter(|grid| {
        signals.is_cyclic()
            && all.iter().all(|s| s.extent == *grid)
            && signals.channels().len() == start.channels
    }) else {
        let problem =
            "alternating minimisation needs cyclic windows of one size, with the motifs' channels".into();
        return Err(Error::Unfit { problem, remedy: "cut the signals into windows".into() });
    };
    let mut filters = start.clone();
    let mut residuals = Vec::with_capacity(rounds);
    progress.stage("alternating", rounds as u64);
    for _ in 0..rounds {
        progress.check()?;
        let bank = Bank::new(&filters, grid);
        let sums = gather(&bank, signals);
        residuals.push((sums.rest / sums.total.max(f64::MIN_POSITIVE)).sqrt());
        filters = solve(&filters, &bank, &sums);
        progress.advance(1);
    }
    Ok(Alternated { filters, residuals })
}

/// [`refine`] from random motifs.
///
/// # Errors
/// Those of [`refine`].
pub fn sparse_from_random(
    motifs: usize,
    extent: Extent,
    signals: &Signals,
    refinement: &Refinement,
    progress: &dyn Progress,
) -> Result<Refined> {
    let start = random_start(motifs, signals.channels().len(), extent, refinement.seed);
    refine(&start, signals, refinement, progress)
}

/// Σ_k w w ᴴ and Σ_k x wᴴ at every frequency.
struct Sums {
    gram: Vec<Complex64>,
    cross: Vec<Complex64>,
    rest: f64,
    total: f64,
}

fn gather(bank: &Bank, signals: &Signals) -> Sums {
    let (l, c, half, n) = (bank.motifs, bank.channels, bank.half, bank.grid.len());
    let ridge = Ridge::new(bank, RIDGE * bank.peak().max(f64::MIN_POSITIVE));
    let zero = || Sums {
        gram: vec![Complex64::default(); l * l * half],
        cross: vec![Complex64::default(); c * l * half],
        rest: 0.0,
        total: 0.0,
    };
    let add = |sums: &mut Sums, range: std::ops::Range<usize>| {
        let (mut x, mut back) = (vec![Complex64::default(); c * half], vec![0.0; c * n]);
        for stretch in &signals.stretches()[range] {
            bank.forward(&stretch.values, &mut x);
            let mut w = vec![Complex64::default(); l * half];
            ridge.correct(bank, &mut x.clone(), &mut w);
            let mut left = x.clone();
            bank.subtract(&w, &mut left);
            bank.inverse(&mut left, &mut back);
            sums.rest += back.iter().map(|r| r * r).sum::<f64>();
            sums.total += stretch.values.iter().map(|r| r * r).sum::<f64>();
            for i in 0..l {
                for j in 0..l {
                    product(
                        &mut sums.gram[(i * l + j) * half..][..half],
                        &w[i * half..][..half],
                        &w[j * half..][..half],
                    );
                }
                for k in 0..c {
                    product(
                        &mut sums.cross[(k * l + i) * half..][..half],
                        &x[k * half..][..half],
                        &w[i * half..][..half],
                    );
                }
            }
        }
        Ok(())
    };
    let merge = |total: &mut Sums, lane: Sums| {
        total.gram.iter_mut().zip(&lane.gram).for_each(|(t, v)| *t += v);
        total.cross.iter_mut().zip(&lane.cross).for_each(|(t, v)| *t += v);
        total.rest += lane.rest;
        total.total += lane.total;
    };
    let sums = parallel::sum_blocks(signals.stretches().len(), parallel::BLOCK, zero, add, merge);
    sums.unwrap_or_else(|_| zero())
}

/// `sum` += a conj(b), frequency by frequency.
fn product(sum: &mut [Complex64], a: &[Complex64], b: &[Complex64]) {
    for ((s, a), b) in sum.iter_mut().zip(a).zip(b) {
        *s += a * b.conj();
    }
}

/// f(ω) = (Σ x wᴴ)(Σ w wᴴ + εI)⁻¹ for every channel, by Gauss and Jordan.
fn solve(filters: &Filters, bank: &Bank, sums: &Sums) -> Filters {
    let (l, c, half, n) = (bank.motifs, bank.channels, bank.half, bank.grid.len());
    let diagonal = |w: usize| (0..l).map(|i| sums.gram[(i * l + i) * half + w].re).sum::<f64>();
    let peak = (0..half).map(diagonal).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let mut spectra = vec![Complex64::default(); l * c * half];
    for w in 0..half {
        let mut gram: Vec<Complex64> = (0..l * l).map(|at| sums.gram[at * half + w]).collect();
        (0..l).for_each(|i| gram[i * l + i] += RIDGE * peak);
        super::decode::bank::invert(&mut gram, l);
        for k in 0..c {
            for j in 0..l {
                let sum: Complex64 =
                    (0..l).map(|i| sums.cross[(k * l + i) * half + w] * gram[i * l + j]).sum();
                spectra[(j * c + k) * half + w] = sum;
            }
        }
    }
    let mut arrays = vec![0.0; l * c * n];
    bank.inverse(&mut spectra, &mut arrays);
    super::sparse::cut_to_length(filters, bank.grid, &arrays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::progress::Silent;

    #[test]
    fn reconstructs_and_does_not_find() {
        let truth = random_start(2, 1, Extent::line(5), 1);
        let mut rng = random::rng(3, 3);
        let mut x = vec![0.0; 20 * 200];
        for row in x.chunks_exact_mut(20) {
            for l in 0..2 {
                let (at, size) = ((random::normal(&mut rng).abs() * 8.0) as usize, random::normal(&mut rng));
                (0..5).for_each(|i| row[(at + i) % 20] += size * truth.motif(l)[i]);
            }
        }
        let signals = Signals::windows(&x, 20, true);
        let found = alternate(&random_start(2, 1, Extent::line(5), 2), &signals, 30, &Silent).unwrap();
        assert!(found.residuals.last().unwrap() < &1e-2, "{:?}", found.residuals);
        let likeness = |l: usize| {
            (0..2)
                .map(|k| {
                    let products = (0..9).map(|s| {
                        (0..5)
                            .map(|t| {
                                let u = t as i64 + s as i64 - 4;
                                if (0..5).contains(&u) {
                                    truth.motif(l)[t] * found.filters.motif(k)[u as usize]
                                } else {
                                    0.0
                                }
                            })
                            .sum::<f64>()
                            .abs()
                    });
                    products.fold(0.0, f64::max)
                })
                .fold(0.0, f64::max)
        };
        assert!((0..2).map(likeness).fold(1.0, f64::min) < 0.99, "for this start it stays elsewhere");
        let open = Signals::windows(&x, 20, false);
        assert!(alternate(&truth, &open, 1, &Silent).unwrap_err().to_string().contains("windows"));
    }
}
