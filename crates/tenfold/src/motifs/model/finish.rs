//! What follows when motifs are found: their refinement, and a last look at the signals.

use super::super::data::Signals;
use super::super::filters::Filters;
use super::super::picture::Picture;
use super::super::sparse::{Refinement, refine};
use super::Model;
use super::few::few_firings;
use super::firing::Habits;
use crate::checkpoint::stage;
use crate::error::Result;
use tenfold_engine::progress::Progress;

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
    /// Refines the motifs on the signals, unless the cumulants then speak against them; `judge` is their misfit, where it can be told.
    pub(in crate::motifs) fn refine(
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
    pub(in crate::motifs) fn finish(&mut self, signals: &Signals, progress: &dyn Progress) -> Result<()> {
        let closed = self.cyclic && signals.stretches()[0].extent == self.filters.extent;
        self.diagnostics.likeness = likeness(&self.filters, closed);
        for (l, firings) in few_firings(&self.filters, signals, &self.centres, progress)? {
            let count = firings.round().max(1.0);
            self.verdict.warn(format!(
                "motif {l} rests on about {count} firing{}: look for outliers, or give longer signals",
                if count == 1.0 { "" } else { "s" }
            ));
        }
        self.judge_single(signals, progress)?;
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
    pub(super) fn is_believed(&self) -> bool {
        self.diagnostics.misfit <= BELIEVED
    }
}

/// The two motifs that are most alike, and how much: |correlation| at the best shift.
fn likeness(filters: &Filters, closed: bool) -> Option<(usize, usize, f64)> {
    let mut most: Option<(usize, usize, f64)> = None;
    for a in 0..filters.count() {
        for b in 0..a {
            let alike = super::super::learn::likeness(
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
