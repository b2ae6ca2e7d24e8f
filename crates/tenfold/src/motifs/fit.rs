//! From parameters and signals to a model.

use super::baseline;
use super::channels::Reduced;
use super::choices::{Length, Orders, Params, Solver};
use super::choose;
use super::data::Signals;
use super::extent::Extent;
use super::filters::Filters;
use super::learn::{Learned, Learner};
use super::memory::cumulants;
use super::model::{Diagnostics, Model};
use super::moments::{Cumulants, Target};
use crate::checkpoint::{identify, stage};
use crate::components::Components;
use crate::error::{Error, Result, check_fitted};
use crate::verdict::Verdict;
use tenfold_engine::progress::{Progress, Silent};

/// An order is used when its squared norm is this many times that of its noise.
pub(super) const STANDS_OUT: f64 = 1.5;

/// Motifs that are sought at most when nobody says how many: more must be asked for.
const MOST_CHOSEN: usize = 12;

/// Motifs that are sought when more directions repeat than that: their number is then no more than a guess, and many would take
/// minutes.
const GUESSED: usize = 4;

/// Rounds of the alternating minimisation.
const ALTERNATIONS: usize = 100;

impl Params {
    /// Learns motifs from signals.
    ///
    /// # Complexity
    /// One pass for the moments: 4 (3m)³ operations for every m samples, for motifs of m samples, at matrix-multiply speed.
    /// What follows does not depend on how many samples there are.
    ///
    /// # Errors
    /// Signals shorter than a motif, signals that do not vary, more motifs than the moments can tell apart, sums beyond the
    /// memory; and when the listener stops the run.
    ///
    /// # Example
    /// ```
    /// use tenfold::motifs::{Extent, Length, Params, Signals};
    /// // Two shapes that fire at places drawn by a small generator.
    /// let shapes = [[3.0, -1.0, 2.0, 0.5], [1.0, 2.0, -2.0, 1.0]];
    /// let (mut x, mut state) = (vec![0.0; 40_000], 7u64);
    /// for t in 0..40_000 - 4 {
    ///     for shape in &shapes {
    ///         state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    ///         if state >> 33 < 1 << 27 { // one in sixteen
    ///             shape.iter().enumerate().for_each(|(i, s)| x[t + i] += s);
    ///         }
    ///     }
    /// }
    /// let signals = Signals::windows(&x, 40_000, false);
    /// let params = Params { length: Length::Known(Extent::line(4)), ..Params::new(2) };
    /// let model = params.fit(&signals)?;
    /// let like = |a: &[f64], b: &[f64]| {
    ///     let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    ///     dot(a, b).abs() / (dot(a, a) * dot(b, b)).sqrt()
    /// };
    /// for shape in &shapes {
    ///     assert!((0..2).any(|l| like(model.filters().motif(l), shape) > 0.99));
    /// }
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn fit(&self, signals: &Signals) -> Result<Model> {
        self.fit_with(signals, &Silent)
    }

    /// [`Params::fit`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Params::fit`].
    pub fn fit_with(&self, signals: &Signals, progress: &dyn Progress) -> Result<Model> {
        let mut model = self.learn_with(signals, progress)?;
        model.finish(signals, progress)?;
        Ok(model)
    }

    /// [`Params::fit_with`] without the last look at the signals: its model has motifs but no picture and no habits of firing.
    pub(crate) fn learn_with(&self, signals: &Signals, progress: &dyn Progress) -> Result<Model> {
        self.check()?;
        check_signals(signals)?;
        identify(progress, "motifs", self, |digest| signals.identify(digest))?;
        let mut verdict = Verdict::default();
        let support = self.support(signals, &mut verdict)?;
        let reduced = Reduced::of(signals)?;
        if let Some(reduced) = &reduced {
            verdict.note(format!(
                "{} channels were seen through their {} leading directions, which hold {:.1} % of the variance",
                signals.channels().len(),
                super::channels::MOST,
                100.0 * reduced.kept
            ));
        }
        let seen = reduced.as_ref().map_or(signals, |reduced| &reduced.signals);
        self.check_memory(seen, support)?;
        let cumulants = Cumulants::of(seen, support, progress)?;
        let target = cumulants.white();
        let strengths = [&target.third, &target.fourth].map(|blocks| target.squared_norm(blocks));
        let strengths = [0, 1].map(|order| strengths[order] / target.noise[order].max(1e-300));
        let orders = self.orders_used(strengths, &mut verdict);
        progress.stage("finding motifs", 0);
        let repeats = choose::repeats(&cumulants)?;
        let count = self.count(&repeats, support, orders, &mut verdict)?;
        let learner =
            Learner { target: &target, support, orders, starts: self.starts, seed: self.seed, progress };
        let learned = stage(progress, "motifs", |progress| {
            let learner = Learner { progress, ..learner };
            match self.solver {
                Solver::Subspace if orders[1] => learner.learn(count),
                Solver::Alternating => self.alternated(&learner, seen, count, progress),
                Solver::Average => {
                    let found = baseline::normalised_average(count, seen, self.seed, progress)?;
                    Ok(learner.within_support(&found))
                }
                solver => learner.als(count, solver),
            }
        })?;
        let filters = to_filters(&learned, &target, support);
        let filters = reduced.as_ref().map_or_else(|| filters.clone(), |reduced| reduced.back(&filters));
        let diagnostics = Diagnostics {
            samples: signals.samples(),
            stretches: signals.stretches().len(),
            strengths,
            orders,
            misfit: learned.misfit,
            agreement: learned.agreement,
            certificates: learned.certificates.clone(),
            converged: learned.converged,
            repeats: repeats.into_iter().take(2 * count + 8).collect(),
            likeness: None,
            explained: None,
            noise: None,
            refined: None,
        };
        let mut model = Model::assemble(filters, &learned, signals, self, diagnostics, verdict);
        if self.sparse {
            let judge = |filters: &Filters| {
                let split = || (0..filters.count()).map(|l| filters.motif(l).to_vec()).collect();
                reduced.is_none().then(|| learner.described(split()).misfit)
            };
            model.refine(signals, self.seed, &judge, progress)?;
        }
        let motifs = model.filters().values.iter().chain(model.weights());
        check_fitted("motifs", motifs.copied())?;
        Ok(model)
    }

    /// Alternating minimisation over all samples; the cumulants only say how its motifs fit them.
    fn alternated(
        &self,
        learner: &Learner,
        signals: &Signals,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Learned> {
        let start = baseline::random_start(count, signals.channels().len(), learner.support, self.seed);
        let found = baseline::alternate(&start, signals, ALTERNATIONS, progress)?;
        Ok(learner.described((0..count).map(|l| found.filters.motif(l).to_vec()).collect()))
    }

    fn support(&self, signals: &Signals, verdict: &mut Verdict) -> Result<Extent> {
        let longest = signals.stretches().iter().map(|s| s.extent);
        let support = match self.length {
            Length::Known(extent) => extent,
            Length::Auto => {
                let found = choose::reach(signals);
                let text = found.extent.to_string();
                match found.ends {
                    true => verdict.note(format!("length {text} chosen: the autocovariance ends there")),
                    false => verdict.warn(format!(
                        "the autocovariance of the signals does not end, so their length is a guess ({text}): give --length"
                    )),
                }
                found.extent
            }
        };
        if !longest.clone().any(|extent| extent.holds(support)) {
            let most = longest.map(|e| e.columns).max().unwrap_or(0);
            let problem = format!(
                "no stretch of the signals is as long as a motif of {support} samples (the longest has {most})"
            );
            return Err(Error::Unfit { problem, remedy: "give a shorter --length or longer signals".into() });
        }
        let short = signals.stretches().iter().filter(|stretch| !stretch.extent.holds(support)).count();
        if short > 0 {
            verdict.note(format!(
                "{short} of {} stretches are shorter than a motif and say little",
                signals.stretches().len()
            ));
        }
        Ok(support)
    }

    /// Sums and the cube of lags must fit into the memory.
    fn check_memory(&self, signals: &Signals, support: Extent) -> Result<()> {
        let channels = signals.channels().len();
        let needed = cumulants(signals, support, channels);
        if needed <= self.memory {
            return Ok(());
        }
        let gigabytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        Err(Error::Unfit {
            problem: format!(
                "the cumulants of motifs of {support} samples in {channels} channels take {:.1} GB, and {:.1} GB are allowed",
                gigabytes(needed),
                gigabytes(self.memory)
            ),
            remedy:
                "give a shorter --length, take every second sample, choose fewer channels, or raise --memory"
                    .into(),
        })
    }

    fn orders_used(&self, strengths: [f64; 2], verdict: &mut Verdict) -> [bool; 2] {
        let stands = strengths.map(|strength| strength > STANDS_OUT);
        let used = match (self.solver, self.orders) {
            (Solver::Subspace, Orders::Auto) => [stands[0], stands[1] || !stands[0]],
            (Solver::Subspace, Orders::Both) => [true, true],
            (Solver::Subspace, Orders::Fourth) => [false, true],
            _ => [true, false],
        };
        if !stands[0] && !stands[1] {
            verdict.warn(format!(
                "neither the third nor the fourth cumulant stands out from its noise ({:.2} and {:.2} times it): \
                 the signals look Gaussian, and motifs found in them mean nothing",
                strengths[0], strengths[1]
            ));
            return used;
        }
        if self.orders == Orders::Auto && self.solver == Solver::Subspace {
            verdict.note(format!(
                "cumulants used: {} (the third is {:.1} times its noise, the fourth {:.1} times)",
                match used {
                    [true, true] => "third and fourth",
                    [true, false] => "third",
                    _ => "fourth",
                },
                strengths[0],
                strengths[1]
            ));
        }
        for (order, name) in ["third", "fourth"].iter().enumerate() {
            if used[order] && !stands[order] && self.orders != Orders::Auto {
                verdict.warn(format!(
                    "the {name} cumulant does not stand out from its noise: let --orders choose"
                ));
            }
        }
        used
    }

    fn count(
        &self,
        repeats: &[f64],
        support: Extent,
        orders: [bool; 2],
        verdict: &mut Verdict,
    ) -> Result<usize> {
        let taps = support.len();
        // Order three has m(m+1)/2 lags for m taps of every motif; order four has a matrix of m directions at every ω.
        let (most, why) = match orders {
            [true, false] => (taps.div_ceil(2), "(m + 1)/2 for the third cumulant alone"),
            _ => (repeats.len().min(taps), "m for the fourth cumulant"),
        };
        let advised = (taps * 3 / 4).max(1).min(most);
        match self.motifs {
            Components::Exactly(count) if count > most => Err(Error::BadParameter {
                name: "motifs".into(),
                value: count.to_string(),
                expected: format!(
                    "at most {most} motifs of m = {taps} samples can be told apart ({why}); ask for fewer or give a longer --length"
                ),
            }),
            Components::Exactly(count) => {
                if count > advised {
                    verdict.warn(format!(
                        "{count} motifs of {taps} samples are close to what the cumulants can tell apart: up to {advised} are advised"
                    ));
                }
                Ok(count)
            }
            Components::Auto => {
                let found = choose::count(repeats);
                let advised = match advised.min(MOST_CHOSEN) {
                    most if found > most => most.min(GUESSED),
                    most => most,
                };
                if found == 0 {
                    verdict.warn(
                        "nothing in the fourth cumulant repeats from one half of the signals to the other: one motif was sought",
                    );
                } else if found > advised {
                    verdict.note(format!(
                        "{found} directions of the fourth cumulant repeat; {advised} motifs were sought: firings that depend on each \
                         other, as heartbeats do, look like many motifs. -L asks for another number"
                    ));
                } else {
                    verdict.note(format!(
                        "{found} motifs chosen: so many directions of the fourth cumulant repeat from one half of the signals to the \
                         other"
                    ));
                }
                Ok(found.clamp(1, advised))
            }
        }
    }
}

fn check_signals(signals: &Signals) -> Result<()> {
    let unfit =
        |problem: &str, remedy: &str| Err(Error::Unfit { problem: problem.into(), remedy: remedy.into() });
    if signals.samples() == 0 || signals.channels().is_empty() {
        return unfit("the signals hold no samples", "give a file with at least one recording");
    }
    let varies = |channel: usize| {
        let mut values = signals.stretches().iter().flat_map(|stretch| {
            let n = stretch.extent.len();
            stretch.values[channel * n..(channel + 1) * n].iter()
        });
        let first = values.next();
        first.is_some_and(|first| values.any(|value| value != first))
    };
    let constant: Vec<&str> = (0..signals.channels().len())
        .filter(|&channel| !varies(channel))
        .map(|channel| signals.channels()[channel].as_str())
        .collect();
    match (constant.is_empty(), signals.channels().len()) {
        (true, _) => Ok(()),
        (false, 1) => unfit("the signal is constant", "there is nothing to find in it"),
        (false, _) => {
            unfit(&format!("channel {} is constant", constant.join(", ")), "leave it out with --channels")
        }
    }?;
    check_reach(signals)
}

/// The fourth cumulant adds up fourth powers, which must be numbers, and must not vanish.
fn check_reach(signals: &Signals) -> Result<()> {
    let (mut largest, mut place) = (0.0f64, (0, 0, 0));
    for (number, stretch) in signals.stretches().iter().enumerate() {
        for (at, x) in stretch.values.iter().enumerate() {
            if x.abs() > largest.abs() {
                (largest, place) = (*x, (number, at / stretch.extent.len(), at % stretch.extent.len()));
            }
        }
    }
    let most = (f64::MAX / signals.samples() as f64).powf(0.25);
    // Below this, powers are rounded to steps of 2⁻¹⁰⁷⁴ and lose their digits.
    let least = (f64::MIN_POSITIVE / f64::EPSILON).powf(0.25);
    if largest.abs() > most {
        let (number, channel, at) = place;
        let stretch = &signals.stretches()[number];
        let (channel, at) = (&signals.channels()[channel], stretch.offset + at);
        return Err(Error::Unfit {
            problem: format!(
                "the value {largest:e} in trial {}, channel {channel}, at sample {at} (counted from 0) is too large: its fourth power \
                 leaves the range of double precision",
                stretch.trial
            ),
            remedy: format!(
                "mend it; if it is right, divide the signals by a number that brings them below {most:.0e}"
            ),
        });
    }
    if largest.abs() < least {
        return Err(Error::Unfit {
            problem: format!(
                "the largest value of the signals is {largest:.1e}, whose fourth power leaves the range of double precision"
            ),
            remedy: format!(
                "multiply the signals by a number such as 1e{:.0}",
                (-largest.abs().log10().floor()).min(300.0)
            ),
        });
    }
    Ok(())
}

/// Motifs as arrays; their channels stand one after the other already.
fn to_filters(learned: &Learned, target: &Target, support: Extent) -> Filters {
    let values = learned.filters.iter().flatten().copied().collect();
    Filters::new(values, target.pairs.lattice.channels, support)
}
