//! A fitted topic model: what it holds, what it says, what it does with new documents.

mod diagnostics;
mod stored;
mod words;

pub use diagnostics::Diagnostics;
pub use words::{Bridge, TopWord};

use super::data::Corpus;
use super::fit::{Params, Parts, unigram};
use super::moments::{Damping, Projected};
use super::spectral::Estimate;
use super::statistics::Statistics;
use super::update::{Updated, match_rows};
use crate::admixture::Inference;
use crate::error::{Error, Result};
use crate::evaluate::{Coherence, Cooccurrence, top_words};
use crate::verdict::Verdict;
use serde_json::Value;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::Progress;

/// A document that shows a topic well.
#[derive(Debug, Clone, PartialEq)]
pub struct Representative {
    /// Its number in the corpus, from 0.
    pub document: usize,
    /// Its name, where the corpus has names.
    pub name: Option<String>,
    /// The topic's share of it.
    pub share: f64,
}

/// The moments a model keeps so that documents can be added later.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moments {
    pub projected: Projected,
    /// Weight that no document exceeds.
    pub cap: f64,
    pub damping: Damping,
    /// Scale of every word; 0 where it takes no part in the moments.
    pub scale: Vec<f64>,
    pub alpha0: f64,
    /// Share of the second moment of the fit's documents that lies outside the basis.
    pub outside: f64,
}

/// Topics learned from a corpus. Topics are numbered from 0 by their share of the tokens, the largest first, and keep
/// these numbers everywhere.
///
/// # Example
/// ```
/// use tenfold::topics::{Params, Synth};
/// let drawn = Synth { documents: 2000, words: 200, k: 4, ..Synth::default() }.draw()?;
/// let model = Params::new(4).fit(&drawn.corpus)?;
/// assert_eq!((model.k(), model.words()), (4, 200));
/// println!("{}", model.summary());
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    topics: Mat,
    alpha: Vec<f64>,
    vocabulary: Vec<String>,
    unigram: Vec<f64>,
    shares: Vec<f64>,
    correlations: Mat,
    coherence: Vec<f64>,
    representatives: Vec<Vec<Representative>>,
    documents: usize,
    tokens: u64,
    recipe: Value,
    params: Value,
    diagnostics: Diagnostics,
    verdict: Verdict,
    pub(super) moments: Option<Moments>,
}

impl Model {
    /// Puts a model together: topics in the order of their shares, and what speaks for or against them.
    pub(super) fn assemble(params: &Params, corpus: &Corpus, parts: Parts) -> Result<Self> {
        let Parts { polished, statistics, unigram, diagnostics, moments, mut verdict } = parts;
        let mut order: Vec<usize> = (0..statistics.shares.len()).collect();
        order.sort_by(|&a, &b| statistics.shares[b].total_cmp(&statistics.shares[a]).then(a.cmp(&b)));
        let topics = Mat::from_fn(order.len(), polished.topics.cols(), |t, w| polished.topics[(order[t], w)]);
        let statistics = statistics.ordered(&order);
        let diagnostics = diagnostics.ordered(&order, statistics.carriers.clone());
        diagnostics.report(&mut verdict);
        let seen = Cooccurrence::in_documents(corpus, &top_words(&topics, 10))?;
        let name = |document: usize| corpus.names().map(|names| names[document].clone());
        let named = |list: &Vec<(usize, f64)>| {
            list.iter()
                .map(|&(document, share)| Representative { document, name: name(document), share })
                .collect()
        };
        Ok(Self {
            coherence: Coherence::Npmi.of(&seen),
            topics,
            alpha: order.iter().map(|&t| polished.alpha[t]).collect(),
            vocabulary: corpus.vocabulary().to_vec(),
            unigram,
            representatives: statistics.representatives.iter().map(named).collect(),
            shares: statistics.shares,
            correlations: statistics.correlations,
            documents: corpus.documents(),
            tokens: corpus.tokens(),
            recipe: corpus.recipe().clone(),
            params: stored::params_json(params),
            diagnostics,
            verdict,
            moments,
        })
    }

    /// Topics.
    pub fn k(&self) -> usize {
        self.topics.rows()
    }

    /// Words of the vocabulary.
    pub fn words(&self) -> usize {
        self.vocabulary.len()
    }

    /// Documents that the model was learned from.
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// The topics' word distributions, k × words; rows sum to 1.
    pub fn topics(&self) -> &Mat {
        &self.topics
    }

    /// The Dirichlet parameters of the documents' mixtures.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// The words.
    pub fn vocabulary(&self) -> &[String] {
        &self.vocabulary
    }

    /// Eigenvalues of the second moment, largest first, beyond k as far as they are known.
    pub fn spectrum(&self) -> &[f64] {
        &self.diagnostics.spectrum
    }

    /// Every word's share of all tokens.
    pub fn unigram(&self) -> &[f64] {
        &self.unigram
    }

    /// Every topic's share of all tokens.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Correlations of the topics' shares over documents, k × k.
    pub fn correlations(&self) -> &Mat {
        &self.correlations
    }

    /// NPMI of the ten most probable words of every topic over the documents of the fit.
    pub fn coherence(&self) -> &[f64] {
        &self.coherence
    }

    /// For every topic the documents in which its share is largest.
    pub fn representatives(&self) -> &[Vec<Representative>] {
        &self.representatives
    }

    /// How text became words: what a reader needs to read other documents alike.
    pub fn recipe(&self) -> &Value {
        &self.recipe
    }

    /// The parameters of the fit, as JSON.
    pub fn parameters(&self) -> &Value {
        &self.params
    }

    /// How the fit went.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// What speaks for or against the model.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Whether documents can be added ([`Model::update`]).
    pub fn keeps_moments(&self) -> bool {
        self.moments.is_some()
    }

    /// The topics' shares of documents, documents × k in the corpus's order: θ_t ∝ n_t + α_t, 50 steps from the uniform
    /// mixture. The corpus has the model's vocabulary.
    ///
    /// # Errors
    /// [`Error::WrongShape`] for another vocabulary; what the corpus or the listener says.
    pub fn infer(&self, corpus: &Corpus, progress: &dyn Progress) -> Result<Mat> {
        if corpus.words() != self.words() {
            let (found, expected) = (corpus.words(), self.words());
            return Err(Error::WrongShape { what: "words", found, expected });
        }
        Inference::default().mixtures(corpus, &self.topics, &self.alpha, progress)
    }

    /// A table of the topics and the verdict, for people.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{} topics in {} documents of {} words\n\ntopic  share  alpha  coherence  stability  words\n",
            self.k(),
            self.documents,
            self.words()
        );
        for t in 0..self.k() {
            let words: Vec<&str> =
                self.top_words(t, 8, 1.0).iter().map(|w| self.vocabulary[w.word].as_str()).collect();
            let stability = self.diagnostics.stability.get(t).map_or("-".to_owned(), |s| format!("{s:.2}"));
            text += &format!(
                "{t:>5}  {:>4.1}%  {:>5.3}  {:>9.2}  {stability:>9}  {}\n",
                100.0 * self.shares[t],
                self.alpha[t],
                self.coherence[t],
                words.join(" ")
            );
        }
        text += &format!("\n{}\n", self.verdict.headline());
        for (level, message) in self.verdict.findings() {
            let mark = if *level == crate::verdict::Level::Warning { "!" } else { "-" };
            text += &format!("  {mark} {message}\n");
        }
        text
    }

    pub(super) fn seed(&self) -> u64 {
        self.params["seed"].as_u64().unwrap_or(0)
    }

    /// Whether the topics differ from what the moments say.
    pub(super) fn is_polished(&self) -> bool {
        self.params["polish"] != "none"
    }

    /// Words behind the known ones, with nothing in any topic yet.
    pub(super) fn widen(&mut self, vocabulary: &[String]) {
        let old = &self.topics;
        let wide = |t: usize, w: usize| if w < old.cols() { old[(t, w)] } else { 0.0 };
        self.topics = Mat::from_fn(old.rows(), vocabulary.len(), wide);
        self.unigram.resize(vocabulary.len(), 0.0);
        self.vocabulary = vocabulary.to_vec();
    }

    /// Takes in what an update found; topics keep their numbers.
    pub(super) fn absorb(
        &mut self,
        more: &Corpus,
        topics: Mat,
        statistics: Statistics,
        moments: Moments,
        updated: &Updated,
    ) -> Result<()> {
        let share = more.tokens() as f64 / (self.tokens + more.tokens()).max(1) as f64;
        let blend = |old: &mut [f64], new: &[f64]| {
            old.iter_mut().zip(new).for_each(|(o, n)| *o = (1.0 - share) * *o + share * n);
        };
        blend(&mut self.unigram, &unigram(more)?);
        blend(&mut self.shares, &statistics.shares);
        blend(self.correlations.as_mut_slice(), statistics.correlations.as_slice());
        let seen = Cooccurrence::in_documents(more, &top_words(&topics, 10))?;
        blend(&mut self.coherence, &Coherence::Npmi.of(&seen));
        for (old, new) in self.representatives.iter_mut().zip(&statistics.representatives) {
            let name = |document: usize| more.names().map(|names| names[document].clone());
            old.extend(new.iter().map(|&(d, share)| Representative {
                document: self.documents + d,
                name: name(d),
                share,
            }));
            old.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.document.cmp(&b.document)));
            old.truncate(10);
        }
        self.topics = topics;
        self.documents += more.documents();
        self.tokens += more.tokens();
        self.moments = Some(moments);
        updated.report(&mut self.verdict);
        Ok(())
    }

    /// Joins the other model's share of the documents; `after` is what the moments of both say.
    pub(super) fn unite(&mut self, other: &Self, after: &Estimate, moments: Moments) {
        let share = other.tokens as f64 / (self.tokens + other.tokens).max(1) as f64;
        let partners = match_rows(&self.topics, &other.topics);
        let fresh = match_rows(&self.topics, &after.topics);
        for t in 0..self.k() {
            let theirs = partners[t].unwrap_or(t);
            let source = match (self.is_polished(), fresh[t]) {
                (false, Some(a)) => (1.0, after.topics.row(a)),
                _ => (share, other.topics.row(theirs)),
            };
            let row = self.topics.row_mut(t).iter_mut().zip(source.1);
            row.for_each(|(x, y)| *x = (1.0 - source.0) * *x + source.0 * y);
            let blend = |x: f64, y: f64| (1.0 - share) * x + share * y;
            self.alpha[t] = blend(self.alpha[t], other.alpha[theirs]);
            self.shares[t] = blend(self.shares[t], other.shares[theirs]);
            self.coherence[t] = blend(self.coherence[t], other.coherence[theirs]);
            for u in 0..self.k() {
                let at = (theirs, partners[u].unwrap_or(u));
                self.correlations[(t, u)] = blend(self.correlations[(t, u)], other.correlations[at]);
            }
        }
        self.unigram.iter_mut().zip(&other.unigram).for_each(|(x, y)| *x = (1.0 - share) * *x + share * y);
        self.documents += other.documents;
        self.tokens += other.tokens;
        self.moments = Some(moments);
        self.verdict.note(format!(
            "merged with a model of {} documents: typical documents and diagnostics are those of the first",
            other.documents
        ));
    }
}
