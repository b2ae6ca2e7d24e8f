//! What was learned: motifs, what the moments say of their activations, and how far to trust them.

mod diagnostics;
mod few;
mod finish;
mod firing;
mod single;
mod stored;

pub use diagnostics::Diagnostics;

use super::choices::Params;
use super::data::{Signals, Stretch};
use super::decode::{Decoded, Decoding, Part, decode_each};
use super::filters::Filters;
use super::learn::Learned;
use super::moments::centres;
use super::picture::Picture;
use crate::error::{Error, Result, check_range};
use crate::verdict::Verdict;
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
