//! The alternation: one step of every window's coding, one step of the consensus.

use super::settle::settle;
use super::windows::Windows;
use super::{Refined, Refinement};
use crate::error::Result;
use crate::motifs::decode::bank::{Bank, Ridge};
use crate::motifs::decode::deviation;
use crate::motifs::decode::pursuit::{Given, Norms, Shrink, State, Work};
use crate::motifs::{Extent, Filters};
use rayon::prelude::*;
use tenfold_engine::linalg::Complex64;
use tenfold_engine::progress::Progress;

/// Rounds of one phase; at its beginning the penalty is weighed anew and its size estimated again.
const PHASE: usize = 20;
/// Phases before the motifs may move, so that they do not follow unfinished activations.
const SETTLE: usize = 3;
/// Phases that begin with a new penalty; then it stays, and the motifs come to rest.
const REWEIGHINGS: usize = 12;
/// Windows that one thread takes at a time; sums over them are added in order.
const BLOCK: usize = 16;
/// What an activation costs in the length of a description: about half for its place and half for its amplitude. Three would
/// take noise for firings, ten would take dense firings for noise (measured at rates .02 and .1).
const NATS: f64 = 5.0;
/// Rounds between two looks at the penalty and the objective.
const LOOK: usize = 10;
/// Where the penalty begins to level off, in usual amplitudes.
const KNEE: f64 = 0.1;
/// Over-relaxation of the consensus, as of the coding.
const RELAX: f64 = 1.8;

/// One window: its spectra, its activations, and the multipliers of its copy of the motifs (spectra, motif after motif,
/// channel after channel).
struct Window {
    spectra: Vec<Complex64>,
    state: State,
    multipliers: Vec<Complex64>,
}

/// How large λ is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Penalty {
    pub(super) first: f64,
    pub(super) least: f64,
    /// In units of noise, which is estimated again at every phase; λ only falls.
    pub(super) noises: f64,
}

/// Alternates one step of coding and one of the consensus until the motifs are at rest; also the length of the description.
pub(super) fn learn(
    start: &Filters,
    given: &Windows,
    penalty: Penalty,
    refinement: &Refinement,
    progress: &dyn Progress,
) -> Result<(Refined, f64)> {
    let mut lambda = penalty.first;
    let mut filters = start.clone();
    normalise(&mut filters);
    let mut bank = Bank::new(&filters, given.grid);
    let observed = given.observed.as_deref();
    let mut windows = prepare(&bank, given);
    let (mut rho, mut sigma) = (50.0 * lambda / given.scale().max(f64::MIN_POSITIVE) + 1.0, None);
    let (mut objective, mut converged, mut iterations) = (Vec::new(), false, 0);
    progress.stage("refining motifs", refinement.max_iterations as u64);
    while iterations < refinement.max_iterations && !converged {
        progress.check()?;
        let phase = iterations / PHASE;
        if iterations % PHASE == 0 && (1..=REWEIGHINGS).contains(&phase) {
            let knee = KNEE * size(&windows, &bank);
            windows.par_iter_mut().for_each(|window| window.state.reweigh(knee));
            lambda = lambda.min((penalty.noises * noise(&windows, &bank, observed)).max(penalty.least));
        }
        if phase >= SETTLE && sigma.is_none() {
            sigma = Some(activity(&windows, &bank));
        }
        iterations += 1;
        let ridge = Ridge::new(&bank, rho + if observed.is_some() { 1.0 } else { 0.0 });
        let step = Step { bank: &bank, ridge: &ridge, observed, sigma };
        let shrink = Shrink { threshold: lambda / rho, signed: refinement.signed };
        let (norms, copies) = step.all(&mut windows, shrink);
        if sigma.is_some() {
            let moved = agree(&filters, &bank, &copies, windows.len());
            bank = Bank::new(&moved, given.grid);
            windows.par_iter_mut().for_each(|window| {
                window.multipliers.iter_mut().zip(bank.all()).for_each(|(v, y)| *v -= y);
            });
            converged = phase > REWEIGHINGS && change(&filters, &moved) <= refinement.tolerance;
            filters = moved;
        }
        if iterations % LOOK == 0 {
            objective.push(cost(&windows, &bank, lambda));
            let factor = norms.balance();
            if factor != 1.0 && phase <= REWEIGHINGS {
                rho *= factor;
                windows.par_iter_mut().for_each(|window| window.state.rescale(factor));
            }
        }
        progress.advance(1);
    }
    let length = length(&windows, &bank, observed);
    let y: Vec<Vec<f64>> = windows.into_iter().map(|window| window.state.y).collect();
    let filters = settle(&filters, given, &y, refinement.signed).unwrap_or(filters);
    Ok((Refined { filters, objective, lambda, iterations, converged }, length))
}

fn prepare(bank: &Bank, given: &Windows) -> Vec<Window> {
    let of = |x: &[f64]| {
        let mut spectra = vec![Complex64::default(); bank.channels * bank.half];
        bank.forward(x, &mut spectra);
        let multipliers = vec![Complex64::default(); bank.motifs * bank.channels * bank.half];
        Window { spectra, state: State::new(bank, given.observed.is_some()), multipliers }
    };
    given.values.par_chunks_exact(bank.channels * bank.grid.len()).map(of).collect()
}

/// What a round needs of all windows.
struct Step<'a> {
    bank: &'a Bank,
    ridge: &'a Ridge,
    observed: Option<&'a [bool]>,
    /// The penalty of the consensus; none while the motifs rest.
    sigma: Option<f64>,
}

impl Step<'_> {
    /// One step of every window; norms of the coding, and the sum of copies with their multipliers.
    fn all(&self, windows: &mut [Window], shrink: Shrink) -> (Norms, Vec<Complex64>) {
        let bank = self.bank;
        let blocks: Vec<(Norms, Vec<Complex64>)> = windows
            .par_chunks_mut(BLOCK)
            .map(|block| {
                let mut work = Work::new(bank, self.observed.is_some());
                let mut spectra =
                    vec![Complex64::default(); block[0].state.y.len() / bank.grid.len() * bank.half];
                let (mut norms, mut sum) = (Norms::default(), vec![Complex64::default(); bank.all().len()]);
                for window in block {
                    let given = Given { spectra: &window.spectra, observed: self.observed };
                    norms.add(window.state.iterate(bank, self.ridge, &given, shrink, &mut work));
                    if let Some(sigma) = self.sigma {
                        bank.forward(&window.state.y, &mut spectra);
                        copy(bank, window, &spectra, sigma);
                        sum.iter_mut().zip(&window.multipliers).for_each(|(s, v)| *s += v);
                    }
                }
                (norms, sum)
            })
            .collect();
        let (mut norms, mut sum) = (Norms::default(), vec![Complex64::default(); bank.all().len()]);
        for (one, part) in blocks {
            norms.add(one);
            sum.iter_mut().zip(&part).for_each(|(s, v)| *s += v);
        }
        (norms, sum)
    }
}

/// The window's copy D = Z + w*(s − wᵀZ)/(σ + ‖w‖²) at every frequency and channel, with Z = F − U and the activations'
/// spectra w (Sherman and Morrison); the multipliers become U + D, relaxed.
fn copy(bank: &Bank, window: &mut Window, spectra: &[Complex64], sigma: f64) {
    let (half, channels) = (bank.half, bank.channels);
    let (maps, absorbed) = spectra.split_at(bank.motifs * half);
    let mut scale = vec![sigma; half];
    for map in maps.chunks_exact(half) {
        scale.iter_mut().zip(map).for_each(|(s, w)| *s += w.norm_sqr());
    }
    let mut rest = vec![Complex64::default(); half];
    for c in 0..channels {
        rest.copy_from_slice(&window.spectra[c * half..(c + 1) * half]);
        if !absorbed.is_empty() {
            rest.iter_mut().zip(&absorbed[c * half..(c + 1) * half]).for_each(|(r, e)| *r -= e);
        }
        for (l, map) in maps.chunks_exact(half).enumerate() {
            let (f, at) = (bank.spectrum(l, c), (l * channels + c) * half);
            let u = &window.multipliers[at..at + half];
            for (((r, w), f), u) in rest.iter_mut().zip(map).zip(f).zip(u) {
                *r -= w * (f - u);
            }
        }
        rest.iter_mut().zip(&scale).for_each(|(r, s)| *r /= s);
        for (l, map) in maps.chunks_exact(half).enumerate() {
            let (f, at) = (bank.spectrum(l, c), (l * channels + c) * half);
            let u = &mut window.multipliers[at..at + half];
            for (((u, w), f), r) in u.iter_mut().zip(map).zip(f).zip(&rest) {
                let d = f - *u + w.conj() * r;
                *u += RELAX * d + (1.0 - RELAX) * f;
            }
        }
    }
}

/// The mean of the copies, cut to the motifs' length and brought to unit norm.
fn agree(filters: &Filters, bank: &Bank, copies: &[Complex64], count: usize) -> Filters {
    let mut mean: Vec<Complex64> = copies.iter().map(|v| v / count as f64).collect();
    let mut arrays = vec![0.0; bank.motifs * bank.channels * bank.grid.len()];
    bank.inverse(&mut mean, &mut arrays);
    cut_to_length(filters, bank.grid, &arrays)
}

/// Arrays on the grid cut to the motifs' length and brought to unit norm.
pub(in crate::motifs) fn cut_to_length(filters: &Filters, grid: Extent, arrays: &[f64]) -> Filters {
    let extent = filters.extent;
    let mut cut = filters.clone();
    for (taps, array) in cut.values.chunks_exact_mut(extent.len()).zip(arrays.chunks_exact(grid.len())) {
        for (at, tap) in taps.iter_mut().enumerate() {
            let (row, column) = (at / extent.columns, at % extent.columns);
            let inside = row < grid.rows && column < grid.columns;
            *tap = if inside { array[row * grid.columns + column] } else { 0.0 };
        }
    }
    for l in 0..filters.count() {
        // A motif that no window uses would vanish: it stays what it was.
        if cut.motif(l).iter().all(|f| f.abs() < 1e-12) {
            let size = filters.size();
            cut.values[l * size..(l + 1) * size].copy_from_slice(filters.motif(l));
        }
    }
    normalise(&mut cut);
    cut
}

pub(super) fn normalise(filters: &mut Filters) {
    let size = filters.size();
    for motif in filters.values.chunks_exact_mut(size) {
        let norm = motif.iter().map(|f| f * f).sum::<f64>().sqrt();
        if norm > 0.0 {
            motif.iter_mut().for_each(|f| *f /= norm);
        }
    }
}

/// The largest change of a motif; all have unit norm.
fn change(before: &Filters, after: &Filters) -> f64 {
    let of =
        |l: usize| before.motif(l).iter().zip(after.motif(l)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    (0..before.count()).map(of).fold(0.0, f64::max).sqrt()
}

/// The mean power Σ_l |w_l(ω)|² of a window's activations: the scale of the consensus's penalty.
fn activity(windows: &[Window], bank: &Bank) -> f64 {
    let own = bank.motifs * bank.grid.len();
    let power = |window: &Window| window.state.y[..own].iter().map(|y| y * y).sum::<f64>();
    (windows.iter().map(power).sum::<f64>() / windows.len().max(1) as f64).max(f64::MIN_POSITIVE)
}

/// The usual amplitude of an activation, Σ w² / Σ |w|: small ones hardly count.
fn size(windows: &[Window], bank: &Bank) -> f64 {
    let own = bank.motifs * bank.grid.len();
    let (mut squares, mut sum) = (0.0, 0.0);
    for y in windows.iter().flat_map(|window| &window.state.y[..own]) {
        squares += y * y;
        sum += y.abs();
    }
    if sum > 0.0 { squares / sum } else { 1.0 }
}

/// What is left of a window, x − Σ f ⋆ w.
fn residual(window: &Window, bank: &Bank) -> Vec<f64> {
    let own = bank.motifs * bank.half;
    let mut maps = vec![Complex64::default(); window.state.y.len() / bank.grid.len() * bank.half];
    bank.forward(&window.state.y, &mut maps);
    let mut rest = window.spectra.clone();
    bank.subtract(&maps[..own], &mut rest);
    rest.iter_mut().zip(&maps[own..]).for_each(|(r, e)| *r -= e);
    let mut x = vec![0.0; bank.channels * bank.grid.len()];
    bank.inverse(&mut rest, &mut x);
    x
}

/// The noise by the median absolute deviation of what is left in observed samples.
fn noise(windows: &[Window], bank: &Bank, observed: Option<&[bool]>) -> f64 {
    let n = bank.grid.len();
    let seen = |at: usize| observed.is_none_or(|observed| observed[at % n]);
    let of = |window: &Window| -> Vec<f64> {
        residual(window, bank).into_iter().enumerate().filter(|(at, _)| seen(*at)).map(|(_, r)| r).collect()
    };
    deviation(&mut windows.par_iter().map(of).collect::<Vec<_>>().concat())
}

/// Nats by which N samples are told: N log σ for what is left and [`NATS`] for each activation (after Rissanen 1978).
/// Too large a penalty leaves much, too small a one needs many activations.
fn length(windows: &[Window], bank: &Bank, observed: Option<&[bool]>) -> f64 {
    let own = bank.motifs * bank.grid.len();
    let active = windows
        .iter()
        .map(|window| window.state.y[..own].iter().filter(|y| **y != 0.0).count())
        .sum::<usize>();
    let seen = observed.map_or(bank.grid.len(), |seen| seen.iter().filter(|seen| **seen).count());
    let samples = (windows.len() * bank.channels * seen) as f64;
    samples * noise(windows, bank, observed).max(f64::MIN_POSITIVE).ln() + NATS * active as f64
}

/// ½‖x − Σ f ⋆ w‖² + λ‖w‖₁, the mean over windows.
fn cost(windows: &[Window], bank: &Bank, lambda: f64) -> f64 {
    let own = bank.motifs * bank.grid.len();
    let of = |window: &Window| {
        let fit: f64 = residual(window, bank).iter().map(|r| r * r).sum();
        0.5 * fit + lambda * window.state.y[..own].iter().map(|y| y.abs()).sum::<f64>()
    };
    windows.par_iter().map(of).collect::<Vec<f64>>().iter().sum::<f64>() / windows.len().max(1) as f64
}
