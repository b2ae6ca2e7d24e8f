//! From parameters and a corpus to a model.

mod aside;

use super::data::Corpus;
use super::model::{Diagnostics, Model, Moments};
use super::moments::{Damping, Projected, Weighted};
use super::spectral::{
    Estimate, RAREST, Search, WIDEST_FORMED, active_words, basis_width, find_basis, gather, solve,
    usual_solver,
};
use super::statistics::Statistics;
use super::update::outside;
use super::{choose, stability};
use crate::admixture::{Cvb0, HeldOut, Polished, Stepwise, WordTotals, estimate_alpha};
use crate::checkpoint::{identify, stage, stage_on};
use crate::components::Components;
use crate::error::{Error, Result, check_fitted};
use crate::verdict::Verdict;
use aside::{FEWEST_WATCHED, judging, watched};
use std::time::Instant;
use tenfold_engine::decompose::Solver;
use tenfold_engine::device::Device;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::counts::{all_blocks, sum};
use tenfold_engine::progress::{Progress, Silent};

/// What follows the moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polish {
    /// Stepwise EM on the raw counts: predicts unseen documents best.
    Predict,
    /// Collapsed variational steps: stays nearest the truth where documents really are drawn from the model.
    Faithful,
    /// Nothing: the answer of the moments.
    None,
}

/// How to fit; all fields are public and have defaults.
///
/// # Example
/// ```
/// use tenfold::topics::{Params, Polish};
/// let params = Params { polish: Polish::Faithful, seed: 7, ..Params::new(20) };
/// assert_eq!(params.alpha0, 2.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Number of topics.
    pub k: Components,
    /// Σα that the moments assume: 0 for documents of a single topic, larger for more mixed ones. Too small hurts much
    /// more than too large.
    pub alpha0: f64,
    /// Whether counts enter the moments as ⌈√c⌉: better on real text, whose words are bursty, and biased on documents
    /// that really are drawn from the model. `None`: unless the polish is [`Polish::Faithful`].
    pub damp: Option<bool>,
    /// What follows the moments.
    pub polish: Polish,
    /// Most passes of the polish over the documents; `None` takes [`Polish`]'s usual number.
    pub epochs: Option<usize>,
    /// How the tensor is decomposed.
    pub solver: Solver,
    /// Whether the model keeps its moments, so that documents can be added later.
    pub keep_moments: bool,
    /// Who multiplies and contracts. A device that is required goes over the documents in every iteration instead of forming
    /// triples, so the model keeps no moments.
    pub device: Device,
    /// Same seed, same bytes.
    pub seed: u64,
}

impl Params {
    /// The defaults for `k` topics, or for [`Components::Auto`].
    pub fn new(k: impl Into<Components>) -> Self {
        Self {
            k: k.into(),
            alpha0: 2.0,
            damp: None,
            polish: Polish::Predict,
            epochs: None,
            solver: usual_solver(),
            keep_moments: true,
            device: Device::default(),
            seed: 0,
        }
    }

    /// Learns topics from a corpus.
    ///
    /// # Complexity
    /// With m = 1.125·k + 16 directions, three passes of 4·entries·m operations for them (less than two over a corpus of
    /// more than 262,144 documents, whose first passes take a part), one of 6·entries·m for the moments, and 24·entries·k an
    /// epoch of the polish; memory for a few matrices of words × m.
    ///
    /// # Errors
    /// No document of three tokens; what the source of the corpus says. Where words or documents do not carry as many
    /// topics as were asked for, the model has fewer and its verdict says so.
    pub fn fit(&self, corpus: &Corpus) -> Result<Model> {
        self.fit_with(corpus, &Silent)
    }

    /// [`Params::fit`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Params::fit`], and when the listener stops the run.
    pub fn fit_with(&self, corpus: &Corpus, progress: &dyn Progress) -> Result<Model> {
        self.check(corpus)?;
        identify(progress, "topics", self, |digest| corpus.identify(digest))?;
        let mut verdict = Verdict::default();
        corpus.notes().iter().for_each(|note| verdict.note(note.clone()));
        let mut stages = Stages::begin();
        let watched = if self.polish == Polish::None { 0.0 } else { watched(corpus.documents()) };
        let held_out = HeldOut::share(watched);
        let frequencies = corpus.document_frequencies()?;
        let asked = if let Components::Exactly(k) = self.k { k } else { 10 };
        let active = active_words(&frequencies, corpus.documents(), asked);
        let damping = self.damping();
        let lengths = Weighted::new(corpus, damping, &active, held_out, progress)?;
        let cap = lengths.usual_cap();
        let weighted = lengths.weigh(cap, progress)?;
        report_words(&active, &frequencies, corpus, &weighted, &mut verdict)?;
        let scale = weighted.usual_scale(&active);
        let (solver, device) = (&self.solver, &self.device);
        let search = Search { alpha0: self.alpha0, solver, seed: self.seed, device, progress };
        stages.end("weights");
        let choice = match self.k {
            Components::Exactly(k) => choose::Choice::given(k),
            Components::Auto => stage(progress, "k", |progress| {
                self.choose(corpus, &weighted, &Search { progress, ..search }, &active)
            })?,
        };
        choice.report(&mut verdict);
        let words = active.iter().filter(|a| **a).count();
        let k = choice.k.min(words).min(weighted.documents.max(1));
        let mut moments = stage_on(device, progress, "moments", |progress| {
            let search = Search { progress, ..search };
            let width = basis_width(k, words);
            let found = |progress: &dyn Progress| {
                find_basis(&weighted, &scale, width, &Search { progress, ..search })
            };
            let basis = stage(progress, "directions", found)?;
            stages.end("directions");
            gather(&weighted, basis, &search)
        })?;
        stages.end("moments");
        let estimate = solve(&moments, Some(&weighted), k, &search)?;
        report_fewer(choice.k, estimate.topics.rows(), &mut verdict);
        stages.end("decomposition");
        let stability = stage(progress, "stability", |progress| {
            stability::by_halves(&moments, &estimate, self.seed, progress)
        })?;
        self.report_limits(watched, &moments, &stability, &mut verdict);
        moments.shards = Vec::new();
        if moments.third.is_none() || !self.keep_moments {
            // Only a model that keeps them needs them from here on.
            moments.release();
        }
        stages.end("stability");
        drop(weighted);
        let unigram = unigram(corpus)?;
        let polished = stage(progress, "polish", |progress| {
            self.polish(corpus, &estimate, &unigram, held_out, progress)
        })?;
        stages.end("polish");
        let statistics = stage(progress, "statistics", |progress| {
            Statistics::gather(corpus, &polished.topics, &polished.alpha, progress)
        })?;
        stages.end("statistics");
        let kept = match self.keep_moments && moments.third.is_some() {
            true => {
                let (projected, alpha0) = (moments, self.alpha0);
                let kept = Moments { projected, cap, damping, scale, alpha0, outside: None };
                Some(Moments { outside: outside(corpus, &kept, &search)?, ..kept })
            }
            false => None,
        };
        stages.end("subspace");
        let mut diagnostics = Diagnostics::new(&estimate, &choice, stability, &polished, self);
        diagnostics.seconds = stages.seconds;
        let parts = Parts { polished, statistics, unigram, diagnostics, moments: kept, verdict };
        let model = Model::assemble(self, corpus, parts)?;
        check_fitted("topics", model.topics().as_slice().iter().chain(model.alpha()).copied())?;
        Ok(model)
    }

    /// k from the corpus. Some documents have no part in it, but see which number completes them best: those that watch the
    /// polish, or others, which come back afterwards.
    fn choose(
        &self,
        corpus: &Corpus,
        weighted: &Weighted<'_>,
        search: &Search<'_>,
        active: &[bool],
    ) -> Result<choose::Choice> {
        let documents = corpus.documents();
        let apart = HeldOut::share(judging(documents));
        let own = match self.polish != Polish::None && watched(documents) > 0.0 {
            true => None,
            false => {
                let lengths = Weighted::new(corpus, self.damping(), active, apart, search.progress)?;
                Some(lengths.weigh(weighted.weighing.cap, search.progress)?)
            }
        };
        let weighted = own.as_ref().unwrap_or(weighted);
        // Triples that are formed once serve every number that is tried.
        let search = &Search { device: &Device::default(), ..*search };
        choose::choose(corpus, weighted, &weighted.usual_scale(active), search, apart)
    }

    fn damping(&self) -> Damping {
        if self.damp.unwrap_or(self.polish != Polish::Faithful) { Damping::Root } else { Damping::None }
    }

    fn check(&self, corpus: &Corpus) -> Result<()> {
        let bad = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if let Components::Exactly(0) = self.k {
            return bad("k", "0".into(), "at least one topic");
        }
        if !(self.alpha0 >= 0.0 && self.alpha0.is_finite()) {
            return bad("alpha0", self.alpha0.to_string(), "a number from 0 on");
        }
        if self.epochs == Some(0) {
            return bad("epochs", "0".into(), "at least one, or no polish");
        }
        if corpus.tokens() == 0 {
            let message = format!(
                "{} documents hold no words of the vocabulary; check the text, the filters and the vocabulary",
                corpus.documents()
            );
            return Err(tenfold_engine::Error::TooLittleData(message).into());
        }
        Ok(())
    }

    /// What could not be done for so few documents or so many topics.
    fn report_limits(&self, watched: f64, moments: &Projected, stability: &[f64], verdict: &mut Verdict) {
        if self.polish != Polish::None && watched == 0.0 {
            verdict.note(format!(
                "fewer than {FEWEST_WATCHED} documents: none could be kept aside to see whether the polish helps"
            ));
        }
        self.device.take_notices().into_iter().for_each(|notice| verdict.note(notice));
        let wide = match self.device.is_required() {
            true => format!("{} goes over the documents instead of forming triples", self.device.name()),
            false => format!("for so many topics no triples are formed (beyond {WIDEST_FORMED} directions)"),
        };
        match (&moments.third, stability.is_empty()) {
            (None, _) => {
                verdict.note(format!(
                    "{wide}: how surely topics come back from other documents was not measured"
                ));
                if self.keep_moments {
                    verdict.note(format!(
                        "{wide}: the model keeps no moments, so update and merge cannot use it"
                    ));
                }
            }
            (Some(_), true) => {
                verdict.note("too few documents to measure how surely topics come back from other ones");
            }
            _ => {}
        }
    }

    /// The polish that was asked for, started a little away from zero: a word that the moments gave no share could
    /// otherwise never get one.
    fn polish(
        &self,
        corpus: &Corpus,
        estimate: &Estimate,
        unigram: &[f64],
        held_out: HeldOut,
        progress: &dyn Progress,
    ) -> Result<Polished> {
        let start = smoothed(&estimate.topics, unigram, 0.01);
        let alpha = dirichlet(&estimate.shares, self.alpha0);
        match self.polish {
            Polish::None => {
                Ok(Polished { topics: estimate.topics.clone(), alpha, curve: Vec::new(), chosen: 0 })
            }
            Polish::Predict => {
                let stepwise = Stepwise { seed: self.seed, ..Stepwise::for_documents(corpus.documents()) };
                let epochs = self.epochs.unwrap_or(stepwise.epochs);
                let prior = vec![PRIOR; alpha.len()];
                let polished =
                    Stepwise { epochs, ..stepwise }.run(corpus, held_out, &start, &prior, progress)?;
                let alpha = estimate_alpha(corpus, &polished.topics, &alpha, progress)?;
                Ok(Polished { alpha, ..polished })
            }
            Polish::Faithful => {
                let sweeps = self.epochs.unwrap_or(SWEEPS);
                let cvb0 = Cvb0 { sweeps, learn_alpha: true, ..Cvb0::default() };
                cvb0.run(corpus, held_out, &start, &alpha, progress)
            }
        }
    }
}

/// Passes of the faithful polish. On drawn documents (k = 10, 20,000 of them, three seeds) the total variation was .0161, .0155 and
/// .0160 after five, .0151, .0145 and .0151 after eight, .0145, .0141 and .0146 after fifteen; .0145 is what is wanted.
const SWEEPS: usize = 15;

/// Counts added for each topic while mixtures are sought for prediction.
pub(super) const PRIOR: f64 = 0.1;

/// What the stages of a fit leave for the model.
pub(super) struct Parts {
    pub polished: Polished,
    pub statistics: Statistics,
    pub unigram: Vec<f64>,
    pub diagnostics: Diagnostics,
    pub moments: Option<Moments>,
    pub verdict: Verdict,
}

/// Seconds by stage.
pub(super) struct Stages {
    last: Instant,
    pub seconds: Vec<(String, f64)>,
}

impl Stages {
    pub fn begin() -> Self {
        Self { last: Instant::now(), seconds: Vec::new() }
    }

    pub fn end(&mut self, stage: &str) {
        self.seconds.push((stage.to_owned(), self.last.elapsed().as_secs_f64()));
        self.last = Instant::now();
    }
}

/// (1 − share)·topics + share·unigram.
pub(super) fn smoothed(topics: &Mat, unigram: &[f64], share: f64) -> Mat {
    let mut out = topics.clone();
    for t in 0..out.rows() {
        out.row_mut(t).iter_mut().zip(unigram).for_each(|(x, u)| *x = (1.0 - share) * *x + share * u);
    }
    out
}

/// α_i from α_i/α0. The single-topic model has no α: a small one stands in, so that mixtures can be inferred.
pub(super) fn dirichlet(shares: &[f64], alpha0: f64) -> Vec<f64> {
    let sum: f64 = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let scale = if alpha0 > 0.0 { alpha0 } else { 0.01 / sum };
    shares.iter().map(|s| scale * s).collect()
}

/// Every word's share of all tokens.
pub(super) fn unigram(corpus: &Corpus) -> Result<Vec<f64>> {
    let pass = WordTotals { held_out: HeldOut::NONE };
    let mut totals = sum(&pass, corpus, &all_blocks(corpus), &Silent)?.swap_remove(0);
    let all = totals.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    totals.iter_mut().for_each(|x| *x /= all);
    Ok(totals)
}

fn report_fewer(asked: usize, found: usize, verdict: &mut Verdict) {
    if found < asked {
        verdict.warn(format!(
            "{asked} topics were asked for, but the moments of these documents carry only {found}: the model has that many"
        ));
    }
}

fn report_words(
    active: &[bool],
    frequencies: &[u32],
    corpus: &Corpus,
    weighted: &Weighted<'_>,
    verdict: &mut Verdict,
) -> Result<()> {
    if weighted.documents == 0 {
        let n = corpus.documents();
        let message = match corpus.short_documents() < n {
            false => {
                format!(
                    "none of {n} documents holds 3 tokens, so there is no third moment; give longer documents"
                )
            }
            true => format!(
                "none of {n} documents holds 3 tokens for the moments, where a count c stands as ⌈√c⌉ and words in fewer \
                 than {RAREST} or more than half of the documents are left out; give longer documents, or the polish \
                 faithful, which takes counts as they are"
            ),
        };
        return Err(tenfold_engine::Error::TooLittleData(message).into());
    }
    let occurring = frequencies.iter().filter(|f| **f > 0).count();
    let kept = active.iter().filter(|a| **a).count();
    if kept < occurring {
        verdict.note(format!(
            "{} of {occurring} words are in fewer than 3 or more than half of the documents: they are left out of the \
             moments and have their place in the topics",
            occurring - kept
        ));
    }
    if corpus.short_documents() > 0 {
        verdict.note(format!(
            "{} of {} documents have fewer than 3 words: they are left out of the moments and kept for the rest",
            corpus.short_documents(),
            corpus.documents()
        ));
    }
    let short = corpus.documents() - weighted.documents;
    if short * 5 > corpus.documents() {
        verdict.note(format!(
            "{short} of {} documents are too short for the moments or kept aside to watch the polish",
            corpus.documents()
        ));
    }
    Ok(())
}
