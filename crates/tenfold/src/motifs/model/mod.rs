//! What was learned: motifs, what the moments say of their activations, and how far to trust them.

mod diagnostics;
mod few;
mod firing;
mod stored;

pub use diagnostics::Diagnostics;

use super::choices::Params;
use super::data::{Signals, Stretch};
use super::decode::{Decoded, Decoding, Part, decode_each};
use super::filters::Filters;
use super::learn::Learned;
use super::moments::centres;
use super::picture::Picture;
use super::sparse::{Refinement, refine};
use crate::checkpoint::stage;
use crate::error::{Error, Result, check_range};
use crate::verdict::Verdict;
use few::few_firings;
use firing::Habits;
use serde_json::Value;
use tenfold_engine::progress::Progress;

/// Motifs f_l of unit norm, x = Σ f_l ⋆ w_l + noise, in the order of their weights.
///
/// The weight is √|κ_l| (|λ_l|^(2/3) where only the third cumulant was used): the size of a motif's activations in units of
/// variance. A motif's sign is that of positive skewness where its activations are skewed, otherwise its largest entry
/// is positive.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    filters: Filters,
    weights: Vec<f64>,
    /// λ_l and κ_l.
    third: Vec<f64>,
    fourth: Vec<f64>,
    channels: Vec<String>,
    rate: Option<f64>,
    /// Whether motifs fire upside down as well.
    signed: bool,
    cyclic: bool,
    /// The mean of every channel, which motifs do not explain.
    centres: Vec<f64>,
    habits: Habits,
    params: Value,
    diagnostics: Diagnostics,
    verdict: Verdict,
    picture: Picture,
}

/// The misfit is 1 at the truth, in the mean; of drawn motifs that were found exactly none had more than this. Where the model fits
/// worse from the beginning, refined motifs may fit this much worse than those of the moments.
const CREDIBLE: f64 = 1.25;
const WORSE: f64 = 1.1;

/// The largest misfit at which the model is taken at its word, so that all of a signal is looked upon as firings and noise. Drawn
/// signals have about 1; recordings of heartbeats, whose beats keep time, hundreds.
const BELIEVED: f64 = 2.0;

/// A part of the mean that is less than this share of the noise is not looked into.
const NOTICED: f64 = 0.1;

/// Means that are tried, and the share of the unexplained variance that the next may leave at most.
const BASELINES: usize = 3;
const CLEARLY: f64 = 0.9;

impl Model {
    /// Puts motifs into canonical order and sign.
    pub(super) fn assemble(
        filters: Filters,
        learned: &Learned,
        signals: &Signals,
        params: &Params,
        diagnostics: Diagnostics,
        verdict: Verdict,
    ) -> Self {
        let count = filters.count();
        let weight = |l: usize| match diagnostics.orders[1] {
            true => learned.fourth[l].abs().sqrt(),
            false => learned.third[l].abs().powf(2.0 / 3.0),
        };
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
        // Where the third cumulant is not used, activations of either sign are expected.
        let signed = !diagnostics.orders[0];
        let sign = |l: usize| {
            let largest = filters.motif(l).iter().fold(0.0f64, |m, x| if x.abs() > m.abs() { *x } else { m });
            let lead = if signed { largest } else { learned.third[l] };
            if lead < 0.0 { -1.0 } else { 1.0 }
        };
        let mut values = Vec::with_capacity(filters.values.len());
        for &l in &order {
            values.extend(filters.motif(l).iter().map(|value| sign(l) * value));
        }
        Self {
            weights: order.iter().map(|&l| weight(l)).collect(),
            third: order.iter().map(|&l| sign(l) * learned.third[l]).collect(),
            fourth: order.iter().map(|&l| learned.fourth[l]).collect(),
            filters: Filters::new(values, filters.channels, filters.extent),
            channels: signals.channels().to_vec(),
            rate: signals.rate(),
            signed,
            cyclic: signals.is_cyclic(),
            centres: centres(signals),
            habits: Habits::default(),
            params: stored::params_json(params),
            diagnostics,
            verdict,
            picture: Picture::default(),
        }
    }

    /// Refines the motifs on the signals, unless the cumulants then speak against them; `judge` is their misfit, where it can be told.
    pub(super) fn refine(
        &mut self,
        signals: &Signals,
        seed: u64,
        judge: &dyn Fn(&Filters) -> Option<f64>,
        progress: &dyn Progress,
    ) -> Result<()> {
        let refinement = Refinement { signed: self.signed, seed, ..Refinement::default() };
        // Firings lift the mean of the signals. By how much is sure for Poisson firings only, so both are tried: signals lowered by
        // their mean, and by what firings leave of it.
        let lifts = self.lifts();
        let lowered: Vec<f64> = self.centres.iter().zip(&lifts).map(|(centre, lift)| centre - lift).collect();
        let mut best: Option<(Filters, f64)> = None;
        for centres in
            if lowered == self.centres { vec![lowered] } else { vec![lowered, self.centres.clone()] }
        {
            let refined = stage(progress, "refinement", |progress| {
                refine(&self.filters, &signals.less(&centres), &refinement, progress)
            })?;
            let misfit = judge(&refined.filters).unwrap_or(f64::INFINITY);
            if best.as_ref().is_none_or(|best| misfit < best.1) {
                self.diagnostics.refined = Some((refined.iterations, refined.converged));
                best = Some((refined.filters, misfit));
            }
            if misfit <= CREDIBLE {
                break;
            }
        }
        let (filters, after) = best.expect("one was tried");
        match judge(&self.filters) {
            Some(before) if after > CREDIBLE.max(WORSE * before) => self.verdict.note(format!(
                "the sparse refinement was put aside: its motifs contradict the cumulants (misfit {after:.3} after {before:.3}), \
                 as happens where firings are dense"
            )),
            _ => self.filters = filters,
        }
        Ok(())
    }

    /// What follows the motifs: a look at how much of a part of the signals they explain, and at how they fire.
    pub(super) fn finish(&mut self, signals: &Signals, progress: &dyn Progress) -> Result<()> {
        let closed = self.cyclic && signals.stretches()[0].extent == self.filters.extent;
        self.diagnostics.likeness = likeness(&self.filters, closed);
        for (l, firings) in few_firings(&self.filters, signals, &self.centres, progress)? {
            let count = firings.round().max(1.0);
            self.verdict.warn(format!(
                "motif {l} rests on about {count} firing{}: look for outliers, or give longer signals",
                if count == 1.0 { "" } else { "s" }
            ));
        }
        self.picture = self.pictured(signals, progress)?;
        self.habits =
            Habits::of(&self.picture.events, &self.filters, self.picture.samples, self.is_believed());
        if self.habits.floors.iter().any(|floor| *floor > 0.0) {
            self.verdict.note(format!(
                "amplitudes fall into two groups; the lower ones, which only resemble a motif, are left out (below {}): \
                 --threshold keeps them",
                self.habits.floors.iter().map(|floor| format!("{floor:.3}")).collect::<Vec<_>>().join(", ")
            ));
        }
        if self.habits != Habits::default() {
            // Once more, as the model will decode from now on.
            self.picture = Picture::of(signals, &self.centres, &self.filters, &self.decoding(), progress)?.0;
            self.picture.events.retain(|event| self.habits.keeps(event));
        }
        self.diagnostics.explained = Some(self.picture.explained);
        self.diagnostics.noise = Some(self.picture.noise);
        self.diagnostics.report(&mut self.verdict);
        Ok(())
    }

    /// Decodes a part of the signals. Motifs that fire often lift the mean of the signals, and what is left without the whole mean is
    /// then no sum of firings: where lowering the signals by less explains clearly more, that is what they are lowered by.
    fn pictured(&mut self, signals: &Signals, progress: &dyn Progress) -> Result<Picture> {
        let of = |centres: &[f64]| Picture::of(signals, centres, &self.filters, &self.decoding(), progress);
        let (mut picture, _) = of(&self.centres)?;
        let (mut centres, mut known) = (self.centres.clone(), None);
        let lifts = self.lifts();
        if self.is_believed() && lifts.iter().any(|lift| lift.abs() > NOTICED * picture.noise) {
            centres.iter_mut().zip(&lifts).for_each(|(centre, lift)| *centre -= lift);
            for _ in 0..BASELINES {
                let (other, left) = of(&centres)?;
                if 1.0 - other.explained > CLEARLY * (1.0 - picture.explained) {
                    break;
                }
                (picture, known) = (other, Some(centres.clone()));
                centres.iter_mut().zip(&left).for_each(|(centre, left)| *centre += left);
            }
        }
        if let Some(known) = known {
            self.centres = known;
        }
        Ok(picture)
    }

    /// What firings add to the mean of every channel, were their numbers Poisson: a motif of rate r and amplitude a has the
    /// cumulants λ = r a³ and κ = r a⁴, so its mean activation is r a = λ³/κ².
    fn lifts(&self) -> Vec<f64> {
        let mut lifts = vec![0.0; self.filters.channels];
        for (l, (third, fourth)) in self.third.iter().zip(&self.fourth).enumerate() {
            if !self.signed && *third > 0.0 && *fourth > 0.0 {
                let mean = third.powi(3) / fourth.powi(2);
                for (c, lift) in lifts.iter_mut().enumerate() {
                    *lift += mean * self.filters.channel(l, c).iter().sum::<f64>();
                }
            }
        }
        lifts
    }

    /// Whether the signals are what the model says, firings that know nothing of each other and noise, as far as cumulants tell.
    fn is_believed(&self) -> bool {
        self.diagnostics.misfit <= BELIEVED
    }

    /// Number of motifs.
    pub fn count(&self) -> usize {
        self.filters.count()
    }

    /// The motifs, of unit norm.
    pub fn filters(&self) -> &Filters {
        &self.filters
    }

    /// The size of every motif's activations.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// λ_l, third cumulants of the activations; zeros where the third order was not used.
    pub fn third(&self) -> &[f64] {
        &self.third
    }

    /// κ_l, fourth cumulants of the activations; zeros where the fourth order was not used.
    pub fn fourth(&self) -> &[f64] {
        &self.fourth
    }

    /// Names of the channels.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// Samples a second of the signals of the fit, where it is known.
    pub fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// Whether motifs fire upside down as well.
    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// Whether stretches were closed to circles.
    pub fn is_cyclic(&self) -> bool {
        self.cyclic
    }

    /// The figures of the fit.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// What the figures mean.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The parameters of the fit, as JSON.
    pub fn params(&self) -> &Value {
        &self.params
    }

    /// What the model keeps of its signals, for the page.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// How this model's motifs are decoded unless somebody says otherwise.
    pub fn decoding(&self) -> Decoding {
        Decoding {
            signed: self.signed,
            refractory: self.habits.refractory,
            dense: self.is_believed(),
            ..Decoding::default()
        }
    }

    /// [`Model::decoding`] with the penalty and the least amplitude of the fit: what is found in a stretch then does not depend
    /// on the other stretches that are given with it.
    pub fn steady_decoding(&self) -> Decoding {
        let known = |value: f64| (value > 0.0).then_some(value);
        let Picture { lambda, threshold, .. } = self.picture;
        Decoding { lambda: known(lambda), threshold: known(threshold), ..self.decoding() }
    }

    /// Where the motifs fire in signals.
    ///
    /// # Errors
    /// Other channels than those of the fit, choices out of range, firings beyond the range of double precision, or a listener that
    /// stops the run.
    pub fn infer(&self, signals: &Signals, decoding: &Decoding, progress: &dyn Progress) -> Result<Decoded> {
        let mut events = Vec::new();
        let mut decoded = self.infer_each(signals, decoding, progress, &mut |_, part| {
            events.extend(part.events);
            Ok(())
        })?;
        decoded.events = events;
        Ok(decoded)
    }

    /// [`Model::infer`] that hands over the parts, stretch after stretch, and holds none.
    ///
    /// # Errors
    /// As [`Model::infer`], and what `each` returns.
    pub fn infer_each(
        &self,
        signals: &Signals,
        decoding: &Decoding,
        progress: &dyn Progress,
        each: &mut dyn FnMut(&Stretch, Part) -> Result<()>,
    ) -> Result<Decoded> {
        self.check_signals(signals)?;
        let centred = signals.less(&self.centres);
        let mut number = 0;
        let decoded = decode_each(&self.filters, &centred, decoding, progress, &mut |_, mut part| {
            let stretch = &signals.stretches()[number];
            number += 1;
            // A threshold that somebody gives is the only one; that of the fit goes with the groups of the fit.
            if decoding.threshold.is_none_or(|given| given == self.picture.threshold) {
                part.events.retain(|event| self.habits.keeps(event));
            }
            for (channel, centre) in
                part.reconstruction.chunks_exact_mut(stretch.extent.len()).zip(&self.centres)
            {
                channel.iter_mut().for_each(|value| *value += centre);
            }
            check_range("firings", part.events.iter().map(|event| event.amplitude))?;
            check_range("what firings add up to", part.reconstruction.iter().copied())?;
            each(stretch, part)
        })?;
        let told = [decoded.noise, decoded.residual_sd, decoded.explained, decoded.lambda, decoded.threshold];
        check_range("noise, penalties and explained variance", told)?;
        Ok(decoded)
    }

    fn check_signals(&self, signals: &Signals) -> Result<()> {
        let (found, expected) = (signals.channels().len(), self.channels.len());
        if found != expected {
            return Err(Error::WrongShape { what: "channels", found, expected });
        }
        let planes = |plane: bool| if plane { "images" } else { "signals" };
        let plane = self.filters.extent.is_plane();
        if signals.stretches().iter().any(|stretch| stretch.extent.is_plane() != plane) {
            return Err(Error::Unfit {
                problem: format!(
                    "the model knows motifs of {}, and these are {}",
                    planes(plane),
                    planes(!plane)
                ),
                remedy: format!("give {}", planes(plane)),
            });
        }
        Ok(())
    }

    /// A few lines for people.
    pub fn summary(&self) -> String {
        let d = &self.diagnostics;
        let length = match (self.rate, self.filters.extent.is_plane()) {
            (Some(rate), false) => format!(
                "{} samples ({:.3} s)",
                self.filters.extent,
                self.filters.extent.columns as f64 / rate
            ),
            _ => format!("{} samples", self.filters.extent),
        };
        let plural = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let mut text = format!(
            "{} of {length} from {} in {}, {}\nverdict: {}\n",
            plural(self.count(), "motif"),
            plural(d.samples, "sample"),
            plural(d.stretches, "stretch").replace("stretchs", "stretches"),
            plural(self.channels.len(), "channel"),
            self.verdict.headline()
        );
        for (level, message) in self.verdict.findings() {
            let level = if *level == crate::verdict::Level::Warning { "warning" } else { "note" };
            text += &format!("  {level}: {message}\n");
        }
        text += "motif    weight   skewness λ   kurtosis κ    firings\n";
        let firings = self.picture.firings(self.count());
        for l in 0..self.count() {
            let seen = match firings[l] {
                Some(rate) => match self.rate {
                    Some(hertz) => format!("{:.3} a second", rate * hertz),
                    None => format!("{:.3} per 1,000 samples", 1000.0 * rate),
                },
                None => "-".into(),
            };
            text += &format!(
                "{:>5}  {:>8.3}  {:>11.3}  {:>11.3}    {seen}\n",
                l, self.weights[l], self.third[l], self.fourth[l]
            );
        }
        text
    }
}

/// The two motifs that are most alike, and how much: |correlation| at the best shift.
fn likeness(filters: &Filters, closed: bool) -> Option<(usize, usize, f64)> {
    let mut most: Option<(usize, usize, f64)> = None;
    for a in 0..filters.count() {
        for b in 0..a {
            let alike = super::learn::likeness(
                filters.motif(a),
                filters.motif(b),
                filters.channels,
                filters.extent,
                closed,
            );
            if most.is_none_or(|(_, _, best)| alike > best) {
                most = Some((b, a, alike));
            }
        }
    }
    most
}
