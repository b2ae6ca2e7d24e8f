//! A fitted topic model: what it holds, what it says, what it does with new documents.

mod diagnostics;
mod grown;
mod stored;
mod words;

pub use diagnostics::Diagnostics;
pub use words::{Bridge, TopWord};

use super::data::Corpus;
use super::fit::{Params, Parts, Polish};
use super::moments::{Damping, Projected};
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
    /// Share of the second moment of the fit's documents that lies outside the basis; `None` where it was not measured.
    pub outside: Option<f64>,
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
        let mut diagnostics = diagnostics.ordered(&order);
        diagnostics.carriers.clone_from(&statistics.carriers);
        diagnostics.looked_at = statistics.documents;
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

    /// Their tokens.
    pub fn tokens(&self) -> u64 {
        self.tokens
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

    /// For every topic the documents in which its share is largest. Of more than 20,000 documents a random sample of about
    /// so many is looked at.
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

    /// How many directions the subspace has in which the model keeps its moments, and the bytes that they take in its file.
    pub fn kept(&self) -> Option<(usize, u64)> {
        let projected = &self.moments.as_ref()?.projected;
        let (words, m) = (projected.basis.rows() as u64, projected.basis.cols() as u64);
        // Basis and regression in single precision, the third moment packed, and vectors and a matrix that hardly count.
        let third = m * (m + 1) * (m + 2) / 6;
        Some((m as usize, 8 * words * m + 8 * (third + 2 * words + m * m + m)))
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
        // With α0 = 0 the weights give shares, which add up to 1.
        let d = &self.diagnostics;
        text += &format!(
            "\nsum of alpha {:.3}; the moments assumed {} (alpha0), and their weights add up to {:.3}\n",
            self.alpha.iter().sum::<f64>(),
            d.alpha0,
            d.alpha_sum
        );
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

    /// The polish of the fit.
    pub(super) fn polish(&self) -> Polish {
        match self.params["polish"].as_str() {
            Some("none") => Polish::None,
            Some("faithful") => Polish::Faithful,
            _ => Polish::Predict,
        }
    }

    pub(super) fn verdict_mut(&mut self) -> &mut Verdict {
        &mut self.verdict
    }
}
