//! How a fit went, in numbers and in words.

use super::super::choose::Choice;
use super::super::fit::Params;
use super::super::spectral::Estimate;
use crate::admixture::Polished;
use crate::verdict::Verdict;

/// Stability below which a topic does not come back. On documents drawn from 20 topics and fitted with 30 (three seeds) the true
/// ones had .93 to .98 and the others 0 to .59; from 10 fitted with 15, all but the worst of the true ones had .76 to .98.
const UNSTABLE: f64 = 0.7;

/// Ratio of two eigenvalues from which there is a gap between them.
const GAP: f64 = 1.5;

/// What is known about a fit. Lists run over topics in the model's order unless said otherwise.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Diagnostics {
    /// Eigenvalues of the second moment inside the subspace that was found, largest first.
    pub spectrum: Vec<f64>,
    /// The interval that k was chosen from, when it was chosen.
    pub interval: Option<(usize, usize)>,
    /// Unpolished held-out perplexity of the k that were tried.
    pub tried: Vec<(usize, f64)>,
    /// λ of every component of the whitened tensor.
    pub weights: Vec<f64>,
    /// Largest over smallest eigenvalue that was whitened.
    pub condition: f64,
    /// Eigenvalue k over eigenvalue k + 1; infinite when that is not positive.
    pub eigengap: f64,
    /// Share of each topic's mass that the moments put below zero.
    pub negative: Vec<f64>,
    /// Σα that follows from the weights; α0 was assumed.
    pub alpha_sum: f64,
    /// Σα that the moments assumed.
    pub alpha0: f64,
    /// How surely each topic comes back from other documents: 0 no better than chance, 1 every time; empty when it was
    /// not measured.
    pub stability: Vec<f64>,
    /// How many documents carry each topic, as an effective number (Σ_d s_d²)² / Σ_d s_d⁴ over the topic's shares s_d of their
    /// tokens, the prior's part taken off. Among very many documents it is estimated from [`Diagnostics::looked_at`] of
    /// them.
    pub carriers: Vec<f64>,
    /// Documents whose mixtures were inferred for shares, correlations, carriers and typical documents: all up to 20,000,
    /// about so many of more.
    pub looked_at: usize,
    /// Held-out perplexity along the polish: (passes over the documents, perplexity), the unpolished first.
    pub curve: Vec<(f64, f64)>,
    /// Which point of the curve is the model.
    pub chosen: usize,
    /// Iterations of the decomposition.
    pub iterations: usize,
    /// Whether it converged.
    pub converged: bool,
    /// ‖T(I, v, v) − λ v‖ / max λ at its end.
    pub residual: f64,
    /// Share of the whitened tensor that the components explain, where its norm is known.
    pub fit: Option<f64>,
    /// Share of starts that came to the same answer.
    pub agreement: Option<f64>,
    /// Seconds by stage; not kept in the model file, whose bytes depend on data and parameters only.
    pub seconds: Vec<(String, f64)>,
}

impl Diagnostics {
    pub(in super::super) fn new(
        estimate: &Estimate,
        choice: &Choice,
        stability: Vec<f64>,
        polished: &Polished,
        params: &Params,
    ) -> Self {
        let mut diagnostics = Self {
            interval: choice.interval,
            tried: choice.tried.clone(),
            alpha0: params.alpha0,
            stability,
            curve: polished.curve.iter().map(|c| (c.epoch, c.perplexity)).collect(),
            chosen: polished.chosen,
            ..Self::default()
        };
        let all: Vec<Option<usize>> = (0..estimate.topics.rows()).map(Some).collect();
        diagnostics.weights = vec![0.0; all.len()];
        diagnostics.negative = vec![0.0; all.len()];
        diagnostics.refresh(estimate, &all);
        diagnostics
    }

    /// What an estimate says of itself; `partners` gives the number of every topic in it. Topics that it does not have
    /// keep what was known of them.
    pub(super) fn refresh(&mut self, estimate: &Estimate, partners: &[Option<usize>]) {
        let (spectrum, k) = (&estimate.white.spectrum, estimate.white.k());
        let next = spectrum.get(k).copied().unwrap_or(0.0);
        let shares: f64 = estimate.shares.iter().sum();
        for (list, found) in
            [(&mut self.weights, &estimate.found.cp.weights), (&mut self.negative, &estimate.negative)]
        {
            let pairs = list.iter_mut().zip(partners).filter_map(|(x, p)| Some((x, (*p)?)));
            pairs.for_each(|(x, p)| *x = found[p]);
        }
        self.spectrum.clone_from(spectrum);
        self.condition = if k > 0 { spectrum[0] / spectrum[k - 1] } else { f64::NAN };
        self.eigengap = if next > 0.0 && k > 0 { spectrum[k - 1] / next } else { f64::INFINITY };
        self.alpha_sum = if self.alpha0 > 0.0 { self.alpha0 * shares } else { shares };
        self.iterations = estimate.found.trace.iterations;
        self.converged = estimate.found.trace.converged;
        self.residual = estimate.found.trace.residual();
        self.fit = estimate.found.fit;
        self.agreement = estimate.found.trace.agreement();
    }

    /// For topics in another order.
    pub(super) fn ordered(mut self, order: &[usize]) -> Self {
        for list in [&mut self.weights, &mut self.negative, &mut self.stability] {
            if list.len() == order.len() {
                *list = order.iter().map(|&t| list[t]).collect();
            }
        }
        self
    }

    pub(super) fn report(&self, verdict: &mut Verdict) {
        self.report_topics(verdict);
        self.report_k(verdict);
        self.report_model(verdict);
        self.report_polish(verdict);
    }

    fn report_topics(&self, verdict: &mut Verdict) {
        let few = self.which(&self.carriers, |c| c < 5.0);
        if !few.is_empty() {
            verdict.warn(format!(
                "{} a handful of documents: {} probably copies or lists rather than themes",
                rest(&few),
                if few.len() == 1 { "it is" } else { "they are" }
            ));
        }
        let mut sorted = self.weights.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let heavy = self.which(&self.weights, |w| w > 5.0 * median);
        if !heavy.is_empty() {
            verdict.note(format!(
                "the moments give {} a weight more than five times the median: {} rare and bursty words",
                topics(&heavy),
                if heavy.len() == 1 { "it rests on" } else { "they rest on" }
            ));
        }
        let negative = self.which(&self.negative, |n| n > 0.5);
        if negative.len() * 4 > self.negative.len() {
            verdict.warn(format!(
                "in {} of {} topics the moments put more than half of the mass below zero: there are too few documents \
                 for so many topics, or alpha0 is far off",
                negative.len(),
                self.negative.len()
            ));
        }
    }

    fn report_k(&self, verdict: &mut Verdict) {
        let k = self.weights.len();
        let unstable = self.which(&self.stability, |s| s < UNSTABLE);
        let many = unstable.len() * 5 > k;
        if many {
            // Noise has no gap inside it, but where it falls to zero: a gap beyond k, after directions that are about as
            // strong as the k-th, has topics before it. The first direction is that of the mean, which α0 leaves more or
            // less of.
            let strong = |i: usize| self.spectrum[i - 1] > 0.5 * self.spectrum[k - 1];
            let above = (k + 1..self.spectrum.len()).rfind(|&i| strong(i) && self.gap(i) > GAP);
            let below = (k.min(3) - 1..k).any(|i| self.gap(i) > GAP);
            let why = match above {
                Some(all) => format!("there are about {all} of equal strength"),
                None if below => "k is too large for these documents".to_owned(),
                None => {
                    "k is too large for these documents, or picks some of many of equal strength".to_owned()
                }
            };
            // What is left without the weak ones is no better known than k was: other topics may then come and go. So a number is
            // recommended only where the spectrum shows it, and a search for one never, as nobody knows what it would find.
            let advice = match (above, k - unstable.len()) {
                (Some(all), _) => format!("; try {all}"),
                (None, 0) => ". None of them can be trusted, and nothing here shows a better k".to_owned(),
                (None, left) => {
                    format!(
                        ". k = {left} would be without {}, and must be checked again",
                        weak(unstable.len())
                    )
                }
            };
            let doubt =
                if above.is_some() && unstable.len() == k { ". None of them can be trusted" } else { "" };
            verdict.warn(format!(
                "{} of {k} topics do not come back from one half of the documents to the other: {why}{advice}{doubt}",
                unstable.len()
            ));
        } else if !unstable.is_empty() {
            verdict.note(format!("{} not come back surely from other documents", does(&unstable)));
        }
        if self.interval.is_none() && self.eigengap < GAP && !many {
            verdict.note(format!(
                "the spectrum goes on beyond k = {k} without a gap: there may be more topics; -k auto looks for them"
            ));
        }
    }

    /// Eigenvalue i, counted from 1, over the next.
    fn gap(&self, i: usize) -> f64 {
        match (self.spectrum.get(i.wrapping_sub(1)), self.spectrum.get(i)) {
            (Some(this), Some(next)) if *next > 0.0 => this / next,
            (Some(this), Some(_)) if *this > 0.0 => f64::INFINITY,
            _ => 0.0,
        }
    }

    fn report_model(&self, verdict: &mut Verdict) {
        if self.condition > 1e4 {
            verdict.warn(format!(
                "the weakest direction is {:.0} times weaker than the strongest: the smallest topics rest on little; ask \
                 for fewer",
                self.condition
            ));
        }
        let expected = if self.alpha0 > 0.0 { self.alpha0 } else { 1.0 };
        let ratio = self.alpha_sum / expected;
        if !(0.4..=2.5).contains(&ratio) {
            verdict.note(format!(
                "the weights of the topics add up to {ratio:.2} where 1 was expected: documents are {} than alpha0 = {} \
                 assumes",
                if ratio < 1.0 { "burstier" } else { "mixed otherwise" },
                self.alpha0
            ));
        }
        if !self.converged {
            verdict.warn(format!(
                "the decomposition did not settle in {} iterations: the last components are not determined",
                self.iterations
            ));
        }
        if let Some(agreement) = self.agreement.filter(|a| *a < 1.0) {
            verdict
                .note(format!("{:.0} % of the starts came to the answer that was kept", 100.0 * agreement));
        }
    }

    fn report_polish(&self, verdict: &mut Verdict) {
        let (Some(first), Some(kept)) = (self.curve.first(), self.curve.get(self.chosen)) else { return };
        if self.chosen == 0 && self.curve.len() > 1 {
            verdict.note(format!(
                "no polish: it made held-out perplexity worse than the moments' {:.1}, so their answer is kept",
                first.1
            ));
        } else if self.chosen > 0 {
            verdict.note(format!(
                "held-out perplexity {:.1} from the moments, {:.1} after the polish",
                first.1, kept.1
            ));
        }
    }

    fn which(&self, list: &[f64], is: impl Fn(f64) -> bool) -> Vec<usize> {
        (0..list.len()).filter(|&t| is(list[t])).collect()
    }
}

/// "topic 3" or "topics 3, 5 and 9".
fn topics(list: &[usize]) -> String {
    let numbers: Vec<String> = list.iter().take(10).map(usize::to_string).collect();
    match (list.len(), numbers.split_last()) {
        (1, _) => format!("topic {}", list[0]),
        (n, Some((last, others))) if n <= 10 => format!("topics {} and {last}", others.join(", ")),
        (n, _) => format!("topics {} and {} more", numbers.join(", "), n - 10),
    }
}

/// "the weak one" or "the 9 weak ones".
fn weak(count: usize) -> String {
    match count {
        1 => "the weak one".into(),
        n => format!("the {n} weak ones"),
    }
}

fn rest(list: &[usize]) -> String {
    format!("{} {} on", topics(list), if list.len() == 1 { "rests" } else { "rest" })
}

fn does(list: &[usize]) -> String {
    format!("{} {}", topics(list), if list.len() == 1 { "does" } else { "do" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of k topics of which so many come back, with a spectrum that falls evenly.
    fn told(k: usize, stable: usize, interval: Option<(usize, usize)>) -> String {
        let stability = (0..k).map(|t| if t < stable { 0.9 } else { 0.2 }).collect();
        let spectrum = (0..k + 10).map(|i| 0.9f64.powi(i as i32)).collect();
        let d =
            Diagnostics { stability, spectrum, interval, weights: vec![1.0; k], ..Diagnostics::default() };
        let mut verdict = Verdict::default();
        d.report_k(&mut verdict);
        verdict.findings().iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn advice_does_not_go_in_circles() {
        for interval in [None, Some((2, 50))] {
            for (k, stable) in [(41, 32), (32, 25), (14, 5), (5, 2), (2, 0), (1, 0)] {
                let told = told(k, stable, interval);
                assert!(!told.contains("auto") && !told.contains("try"), "{told}");
                assert!(told.contains(&format!("{} of {k} topics do not come back", k - stable)), "{told}");
                match stable {
                    0 => assert!(
                        told.contains("None of them can be trusted") && !told.contains("k = 0"),
                        "{told}"
                    ),
                    left => assert!(told.contains(&format!("k = {left} would be without the")), "{told}"),
                }
            }
        }
        // A gap that the spectrum shows is a reason to try a number.
        let mut d = Diagnostics { stability: vec![0.2; 6], weights: vec![1.0; 6], ..Diagnostics::default() };
        d.spectrum = (0..20).map(|i| if i < 12 { 1.0 } else { 0.1 }).collect();
        let mut verdict = Verdict::default();
        d.report_k(&mut verdict);
        assert!(verdict.findings()[0].1.contains("try 12"), "{verdict:?}");
    }
}
