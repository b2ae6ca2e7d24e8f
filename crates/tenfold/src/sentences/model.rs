//! What was learned: vectors of words, templates, and how sentences become numbers by them.

mod diagnostics;
mod stored;

pub use diagnostics::Diagnostics;

use super::data::{Cutting, Knife, Numbered, index};
use super::features::{Encoder, Features, Sif, Sizes};
use super::fit::Params;
use super::gather::Gathered;
use super::templates::Templates;
use crate::error::{Error, Result, check_range};
use crate::report::grouped;
use crate::verdict::{Level, Verdict};
use serde_json::Value;
use std::collections::HashMap;
use tenfold_engine::linalg::{Mat, dot};
use tenfold_engine::progress::{Progress, Silent};

/// A phrase that a template stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Phrase {
    /// Its words, a blank between two.
    pub text: String,
    /// How strongly the template fires there; the activations of all patches have variance one.
    pub activation: f64,
}

/// Words with their vectors, and what makes a sentence of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    vocabulary: Vec<String>,
    index: HashMap<String, u32>,
    vectors: Mat,
    frequencies: Vec<f64>,
    sif: Sif,
    templates: Option<Templates>,
    sizes: Sizes,
    phrases: Vec<Vec<Phrase>>,
    features: Features,
    cutting: Cutting,
    params: Value,
    diagnostics: Diagnostics,
    verdict: Verdict,
}

/// What a fit has learned.
pub(super) struct Parts {
    pub(super) vocabulary: Vec<String>,
    pub(super) vectors: Mat,
    pub(super) frequencies: Vec<f64>,
    pub(super) sif: Sif,
    pub(super) templates: Option<Templates>,
}

impl Model {
    pub(super) fn new(
        params: &Params,
        cutting: Cutting,
        parts: Parts,
        gathered: Gathered,
        (diagnostics, verdict): (Diagnostics, Verdict),
    ) -> Result<Self> {
        let Parts { vocabulary, vectors, frequencies, sif, templates } = parts;
        let spelt = |words: &[u32]| {
            let words: Vec<&str> = words.iter().map(|&w| vocabulary[w as usize].as_str()).collect();
            words.join(" ")
        };
        let phrase =
            |found: &super::gather::Found| Phrase { text: spelt(&found.words), activation: found.activation };
        let phrases = gathered.phrases.iter().map(|some| some.iter().map(phrase).collect()).collect();
        Ok(Self {
            index: index(&vocabulary),
            vocabulary,
            vectors,
            frequencies,
            sif,
            templates,
            sizes: gathered.sizes,
            phrases,
            features: params.features,
            cutting,
            params: stored::params_json(params),
            diagnostics,
            verdict,
        })
    }

    /// The words, those of the fit's text the most frequent first.
    pub fn vocabulary(&self) -> &[String] {
        &self.vocabulary
    }

    /// Words × dimensions.
    pub fn vectors(&self) -> &Mat {
        &self.vectors
    }

    /// Every word's share of the text of the fit.
    pub fn frequencies(&self) -> &[f64] {
        &self.frequencies
    }

    /// Words × … of every template: (words · dimensions) × templates; nothing when there are none.
    pub fn templates(&self) -> Option<&Mat> {
        self.templates.as_ref().map(|t| &t.shapes)
    }

    /// Words of a template; nothing when there are none.
    pub fn template_length(&self) -> Option<usize> {
        self.templates.as_ref().map(|t| t.length)
    }

    /// For every template the phrases of the text where it fires most, the strongest first.
    pub fn phrases(&self) -> &[Vec<Phrase>] {
        &self.phrases
    }

    /// What a sentence becomes.
    pub fn features(&self) -> Features {
        self.features
    }

    /// How text becomes words.
    pub fn cutting(&self) -> &Cutting {
        &self.cutting
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

    /// Names for the numbers of a sentence: `mean1`, `template1`, …
    pub fn columns(&self, features: Features) -> Vec<String> {
        let vectors = self.vectors.cols();
        let width = self.encoder().width(features);
        let name = |i: usize| match features {
            Features::Mean => format!("mean{}", i + 1),
            Features::Sif => format!("sif{}", i + 1),
            Features::Templates => format!("template{}", i + 1),
            Features::TemplatesMean if i < vectors => format!("mean{}", i + 1),
            Features::TemplatesMean => format!("template{}", i + 1 - vectors),
        };
        (0..width).map(name).collect()
    }

    /// A row of numbers for every sentence; zeros for one without a known word.
    ///
    /// # Complexity
    /// words × dimensions, and for templates words × length × dimensions × templates.
    ///
    /// # Errors
    /// [`Error::Unfit`] for word vectors whose sums leave the range of double precision.
    ///
    /// # Example
    /// ```
    /// use tenfold::sentences::{Cutting, Features, Params, Text};
    /// let lines: Vec<String> = (0..300).map(|i| format!("ship {} sails to harbour {}", i % 5, i % 7)).collect();
    /// let model = Params { features: Features::Sif, ..Params::default() }.fit(&Text::new(&lines, &Cutting::default(), 1)?)?;
    /// let rows = model.encode(&["the ship sails", "unknown words only", ""])?;
    /// assert!(rows.row(0).iter().any(|x| *x != 0.0) && rows.row(1).iter().all(|x| *x == 0.0));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn encode<T: AsRef<str> + Sync>(&self, sentences: &[T]) -> Result<Mat> {
        self.encode_with(sentences, self.features, &Silent)
    }

    /// [`Model::encode`] to other features than those of the model, with a listener that may stop it.
    ///
    /// # Errors
    /// [`Error::Unfit`] for templates that the model does not have; when the listener stops the run.
    pub fn encode_with<T: AsRef<str> + Sync>(
        &self,
        sentences: &[T],
        features: Features,
        progress: &dyn Progress,
    ) -> Result<Mat> {
        if features.has_templates() && self.templates.is_none() {
            return Err(Error::Unfit {
                problem: format!(
                    "the model has no templates: it was fitted for the features {}",
                    self.features.name()
                ),
                remedy: "fit it again with the features templates or templates+mean".into(),
            });
        }
        progress.stage("encoding", 0);
        let rows = self.encoder().encode(&self.numbered(sentences)?, features, progress)?;
        check_range("numbers of sentences", rows.as_slice().iter().copied())?;
        Ok(rows)
    }

    /// The cosine of every sentence of `a` with the one at its place in `b`; 0 where one of them has no known word.
    ///
    /// # Errors
    /// [`Error::WrongShape`] when there are not as many of one as of the other; as [`Model::encode_with`].
    pub fn similarities<T: AsRef<str> + Sync>(
        &self,
        a: &[T],
        b: &[T],
        features: Features,
        progress: &dyn Progress,
    ) -> Result<Vec<f64>> {
        if a.len() != b.len() {
            return Err(Error::WrongShape { what: "sentences", found: b.len(), expected: a.len() });
        }
        let (a, b) = (self.encode_with(a, features, progress)?, self.encode_with(b, features, progress)?);
        Ok((0..a.rows()).map(|i| cosine(a.row(i), b.row(i))).collect())
    }

    /// How alike two sentences are, by the features of the model: the cosine, −1 to 1.
    ///
    /// # Errors
    /// As [`Model::encode`].
    pub fn similarity(&self, a: &str, b: &str) -> Result<f64> {
        Ok(self.similarities(&[a], &[b], self.features, &Silent)?[0])
    }

    /// The words nearest to a word by the cosine of their vectors; nothing when it is not known.
    pub fn neighbours(&self, word: &str, n: usize) -> Option<Vec<(&str, f64)>> {
        let at = *self.index.get(word)? as usize;
        let own = self.vectors.row(at);
        let mut all: Vec<(usize, f64)> = (0..self.vocabulary.len())
            .filter(|&i| i != at)
            .map(|i| (i, cosine(own, self.vectors.row(i))))
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Some(all.into_iter().take(n).map(|(i, c)| (self.vocabulary[i].as_str(), c)).collect())
    }

    /// Words of some sentences, and how many of them the model knows.
    ///
    /// # Errors
    /// As [`Model::encode`].
    pub fn known<T: AsRef<str> + Sync>(&self, sentences: &[T]) -> Result<(u64, u64)> {
        let knife = Knife::new(&self.cutting)?;
        let mut counts = (0, 0);
        for sentence in sentences {
            knife.words(sentence.as_ref(), &mut |word| {
                counts.0 += 1;
                counts.1 += u64::from(self.index.contains_key(word));
            });
        }
        Ok(counts)
    }

    fn numbered<T: AsRef<str> + Sync>(&self, sentences: &[T]) -> Result<Numbered> {
        Ok(Numbered::new(sentences, &Knife::new(&self.cutting)?, &self.index))
    }

    fn encoder(&self) -> Encoder<'_> {
        Encoder {
            vectors: &self.vectors,
            sif: &self.sif,
            templates: self.templates.as_ref(),
            sizes: &self.sizes,
        }
    }

    /// A few lines for people.
    pub fn summary(&self) -> String {
        let d = &self.diagnostics;
        let mut text = format!(
            "{} numbers a sentence ({}) from {} sentences of {} words\n{} words with vectors of {} dimensions\nverdict: {}\n",
            self.encoder().width(self.features),
            self.features.name(),
            grouped(d.sentences),
            grouped(d.tokens),
            grouped(self.vocabulary.len()),
            self.vectors.cols(),
            self.verdict.headline()
        );
        for (level, message) in self.verdict.findings() {
            text += &format!("  {}: {message}\n", if *level == Level::Warning { "warning" } else { "note" });
        }
        for (i, phrases) in self.phrases.iter().take(5).enumerate() {
            let shown: Vec<&str> = phrases.iter().take(4).map(|p| p.text.as_str()).collect();
            text += &format!("template {}: {}\n", i + 1, shown.join(" · "));
        }
        text
    }
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let (high, low) = (1e75, 1e-75);
    // Squares of squares of numbers beyond these leave the range of double precision.
    if [a, b].into_iter().map(largest).any(|x| x > high || (x > 0.0 && x < low)) {
        let unit = |x: &[f64]| x.iter().map(|v| v / largest(x).max(f64::MIN_POSITIVE)).collect::<Vec<_>>();
        return cosine(&unit(a), &unit(b));
    }
    let size = (dot(a, a) * dot(b, b)).sqrt();
    if size > 0.0 { (dot(a, b) / size).clamp(-1.0, 1.0) } else { 0.0 }
}
