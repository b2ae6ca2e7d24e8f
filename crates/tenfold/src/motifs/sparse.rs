//! Refinement of motifs that were found: sparse coding and a consensus dictionary update in turn.
//!
//! Minimises Σ_k ½‖x_k − Σ_l f_l ⋆ w_kl‖² + λ‖w_k‖₁ over activations and over motifs of unit norm and given length. Each
//! window k holds its own copy of the motifs; the copies must agree with one set that keeps the constraints (consensus).
//! The penalty is reweighted, so that it comes nearer to counting firings: with the plain ‖w‖₁ dense firings (four motifs
//! at a rate of .1) pull even the true motifs away. At the end motifs and amplitudes are solved for by plain least squares
//! where the activations stand. From random starts this seldom finds the motifs; from the moments' estimate it makes them sharper.
//!
//! # References
//! Šorel and Šroubek, "Fast convolutional sparse coding using matrix inversion lemma", 2016; Garcia-Cardona and Wohlberg,
//! "Convolutional dictionary learning: a comparative review and new algorithms", 2018, section III.D; Candès, Wakin and
//! Boyd, "Enhancing sparsity by reweighted ℓ1 minimization", 2008.

mod learn;
mod settle;
mod windows;

pub(in crate::motifs) use learn::cut_to_length;

use super::decode::Decoding;
use super::{Filters, Signals};
use crate::checkpoint::stage;
use crate::error::{Error, Result};
use tenfold_engine::progress::Progress;

/// λ in units of noise: three where firings are sparse. Dense ones are hidden by that; the shorter description decides.
const NOISES: [f64; 2] = [3.0, 1.5];

/// How to refine.
#[derive(Debug, Clone, PartialEq)]
pub struct Refinement {
    /// Whether motifs also fire upside down.
    pub signed: bool,
    /// The penalty λ; else three times the noise, estimated by decoding with the start and then from what is left, and at
    /// least 1 % of the largest product of a motif with the data.
    pub lambda: Option<f64>,
    /// Windows that are used, at most; drawn by the seed where there are more.
    pub windows: usize,
    /// Rounds, each one step of coding and one of the dictionary.
    pub max_iterations: usize,
    /// The relative change of the motifs in a round at which they are at rest.
    pub tolerance: f64,
    /// Draws the windows.
    pub seed: u64,
}

impl Default for Refinement {
    fn default() -> Self {
        Self { signed: false, lambda: None, windows: 500, max_iterations: 500, tolerance: 1e-4, seed: 0 }
    }
}

/// Motifs after refinement, and how it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Refined {
    /// Motifs of unit norm.
    pub filters: Filters,
    /// ½‖x − Σ f ⋆ w‖² + λ‖w‖₁ a window at every tenth round, with the λ of that round.
    pub objective: Vec<f64>,
    /// The last penalty.
    pub lambda: f64,
    /// Rounds.
    pub iterations: usize,
    /// Whether the motifs came to rest.
    pub converged: bool,
}

crate::checkpoint::keep! { Refined { filters, objective, lambda, iterations, converged } }

/// Refines motifs on (some of) the signals they were found in.
///
/// # Errors
/// Channels that differ, no samples, or a caller that stops the run.
///
/// # Complexity
/// O(windows · L · n log n) a round.
pub fn refine(
    start: &Filters,
    signals: &Signals,
    refinement: &Refinement,
    progress: &dyn Progress,
) -> Result<Refined> {
    if signals.samples() == 0 {
        let (problem, remedy) = ("there are no samples".into(), "give signals that are not empty".into());
        return Err(Error::Unfit { problem, remedy });
    }
    let decoding = Decoding { signed: refinement.signed, lambda: refinement.lambda, ..Decoding::default() };
    let scale = super::decode::scale(start, signals, &decoding, progress)?;
    let windows = windows::choose(start, signals, refinement);
    // A penalty that was given stays; one that was estimated falls as the motifs become better.
    let least = refinement.lambda.unwrap_or(scale.least);
    let mut best: Option<(Refined, f64)> = None;
    for noises in NOISES {
        let penalty = learn::Penalty { first: scale.lambda, least, noises };
        let next = stage(progress, "penalty", |progress| {
            learn::learn(start, &windows, penalty, refinement, progress)
        })?;
        let done = next.0.lambda <= 2.0 * least;
        if best.as_ref().is_none_or(|best| next.1 < best.1) {
            best = Some(next);
        }
        if done {
            break;
        }
    }
    Ok(best.expect("one was tried").0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motifs::Extent;
    use rand_distr::{Distribution, Poisson};
    use tenfold_engine::linalg::{parallel, random};
    use tenfold_engine::progress::Silent;

    /// Windows of 64 samples that close to circles, motifs of 16 taps, and a start with a tenth of noise.
    fn drawn(motifs: usize, rate: f64, windows: usize, seed: u64) -> (Filters, Filters, Signals) {
        let mut rng = random::rng(seed, 9);
        let extent = Extent::line(16);
        let truth = Filters::new((0..motifs).flat_map(|_| random::sphere(16, &mut rng)).collect(), 1, extent);
        let firings = Poisson::new(rate).unwrap();
        let mut x = vec![0.0; 64 * windows];
        for row in x.chunks_exact_mut(64) {
            for l in 0..motifs {
                for t in 0..64 {
                    let count: f64 = firings.sample(&mut rng);
                    (0..16).for_each(|i| row[(t + i) % 64] += count * truth.motif(l)[i]);
                }
            }
        }
        let mut start = truth.clone();
        start.values.iter_mut().for_each(|f| *f += 0.1 / 4.0 * random::normal(&mut rng));
        (truth, start, Signals::windows(&x, 64, true))
    }

    /// The largest distance of a motif; the start has the order, signs and places of the truth.
    fn distance(truth: &Filters, found: &Filters) -> f64 {
        let of =
            |l: usize| truth.motif(l).iter().zip(found.motif(l)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        (0..truth.count()).map(of).fold(0.0, f64::max).sqrt()
    }

    #[test]
    fn a_start_from_moments_becomes_sharp() {
        // The bar of the refinement is .04; the start is .1 away.
        for (motifs, rate) in [(3, 0.02), (4, 0.1)] {
            let (truth, start, signals) = drawn(motifs, rate, 150, 1);
            let refined = refine(&start, &signals, &Refinement::default(), &Silent).unwrap();
            let error = distance(&truth, &refined.filters);
            assert!(error <= 0.04, "{motifs} motifs at {rate}: {error}, λ {}", refined.lambda);
        }
    }

    #[test]
    fn threads_and_windows_are_of_no_account() {
        let (_, start, signals) = drawn(2, 0.03, 80, 5);
        let refinement = Refinement { windows: 50, max_iterations: 80, ..Refinement::default() };
        let run = |threads| {
            parallel::with_threads(threads, || refine(&start, &signals, &refinement, &Silent).unwrap())
        };
        let one = run(1);
        assert_eq!(one, run(3));
        assert!(one.objective.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn long_recordings_and_several_channels_are_refined_too() {
        let mut rng = random::rng(2, 2);
        let extent = Extent::line(10);
        let truth = Filters::new((0..2).flat_map(|_| random::sphere(20, &mut rng)).collect(), 2, extent);
        let n = 6000;
        let mut values = vec![0.0; 2 * n];
        let firings = Poisson::new(0.02).unwrap();
        for l in 0..2 {
            for t in 0..n - 10 {
                let count: f64 = firings.sample(&mut rng);
                (0..2).for_each(|c| {
                    (0..10).for_each(|i| values[c * n + t + i] += count * truth.channel(l, c)[i])
                });
            }
        }
        let mut start = truth.clone();
        start.values.iter_mut().for_each(|f| *f += 0.02 * random::normal(&mut rng));
        let stretch = crate::motifs::Stretch { values, extent: Extent::line(n), trial: 0, offset: 0 };
        let signals = Signals::new(vec![stretch], vec!["a".into(), "b".into()], None, false);
        let refined =
            refine(&start, &signals, &Refinement { windows: 60, ..Refinement::default() }, &Silent).unwrap();
        assert!(distance(&truth, &refined.filters) < 0.04, "{}", distance(&truth, &refined.filters));
    }
}
