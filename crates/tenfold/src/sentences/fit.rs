//! From parameters and sentences to a model.

use super::chance::neighbours_repeat;
use super::data::{Numbered, Text, index};
use super::features::{Features, Sif};
use super::gather::Gathered;
use super::model::{Diagnostics, Model, Parts};
use super::moments::Cooccurrence;
use super::read::Given;
use super::templates::{Learner, Learning, Search};
use crate::checkpoint::{Digest, identify, stage, within};
use crate::error::{Error, Result, check_fitted};
use crate::report::grouped;
use crate::verdict::Verdict;
use std::collections::HashMap;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::{Progress, Silent};

/// Where the vectors of words come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Words {
    /// From the same text.
    Learned(Cooccurrence),
    /// From somebody else.
    Given(Given),
}

/// How to fit; all fields are public and have defaults.
///
/// # Example
/// ```
/// use tenfold::sentences::{Features, Params};
/// let params = Params { features: Features::Sif, seed: 7, ..Params::default() };
/// assert_eq!(params.sif, 1e-3);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// What a sentence becomes.
    pub features: Features,
    /// The vectors of words.
    pub words: Words,
    /// Whether every word's vector is brought to length one: frequent words have long vectors.
    pub unit: bool,
    /// The templates; not learned for features without them.
    pub templates: Search,
    /// The weight a/(a + p(w)) of a word of frequency p(w) in [`Features::Sif`].
    pub sif: f64,
    /// Same seed, same bytes.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            features: Features::TemplatesMean,
            words: Words::Learned(Cooccurrence::default()),
            unit: true,
            templates: Search::default(),
            sif: 1e-3,
            seed: 0,
        }
    }
}

/// Vectors with the words they belong to.
struct Vectors {
    vocabulary: Vec<String>,
    matrix: Mat,
    spectrum: Vec<f64>,
    entries: usize,
}

impl Params {
    /// Learns a model of sentences.
    ///
    /// # Complexity
    /// One pass over the pairs of neighbouring words, a randomized SVD of their matrix, and for templates about ten to
    /// sixty passes over at most 40,000 patches.
    ///
    /// # Errors
    /// Choices out of range; a text without two different words beside each other.
    ///
    /// # Example
    /// ```
    /// use tenfold::sentences::{Cutting, Features, Params, Text};
    /// let lines: Vec<String> = (0..200).map(|i| format!("the {} ship sails to {}", i % 5, i % 7)).collect();
    /// let text = Text::new(&lines, &Cutting::default(), 1)?;
    /// let model = Params { features: Features::Mean, ..Params::default() }.fit(&text)?;
    /// assert_eq!(model.encode(&["a ship", ""])?.rows(), 2);
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn fit(&self, text: &Text) -> Result<Model> {
        self.fit_with(text, &Silent)
    }

    /// [`Params::fit`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Params::fit`], and when the listener stops the run.
    pub fn fit_with(&self, text: &Text, progress: &dyn Progress) -> Result<Model> {
        self.check()?;
        identify(progress, "sentences", &self.choices(), |digest| self.digested(text, digest))?;
        let mut verdict = Verdict::default();
        judge_text(text, &mut verdict);
        if matches!(self.words, Words::Learned(_)) || self.features.has_templates() {
            judge_order(text, &mut verdict);
        }
        let mut vectors = self.vectors(text, progress)?;
        if self.unit {
            to_unit_length(&mut vectors.matrix);
        }
        let numbers = index(&vectors.vocabulary);
        let sentences = text.renumbered(&numbers);
        if sentences.words.is_empty() {
            return Err(too_little("no sentence holds a word that has a vector"));
        }
        check_fitted("vectors of words", vectors.matrix.as_slice().iter().copied())?;
        self.judge_vectors(text, &vectors, &sentences, &mut verdict);
        let frequencies = frequencies(text, &numbers);
        let sif = stage(progress, "common direction", |progress| {
            Sif::new(self.sif, &frequencies, &sentences, &vectors.matrix, progress)
        })?;
        let mut learning = None;
        let mut templates = None;
        if self.features.has_templates() {
            let progress = &within(progress, "templates");
            match self.templates.learn(&sentences, &vectors.matrix, self.seed, progress)? {
                Some((found, how)) => {
                    self.judge_templates(found.count(), &how, &mut verdict);
                    (templates, learning) = (Some(found), Some(how));
                }
                None => return Err(too_little("its phrases do not vary, so that there are no templates")),
            }
        }
        progress.stage("reading sentences", sentences.len() as u64);
        let gathered = stage(progress, "phrases", |progress| {
            Gathered::of(&sentences, &vectors.matrix, templates.as_ref(), progress)
        })?;
        let diagnostics = Diagnostics {
            sentences: text.len(),
            empty: (0..sentences.len()).filter(|&i| sentences.sentence(i).is_empty()).count(),
            tokens: text.tokens(),
            kept: sentences.words.len() as u64,
            distinct: text.distinct(),
            pairs: vectors.entries,
            spectrum: vectors.spectrum,
            common: sif.share,
            learning,
        };
        let parts =
            Parts { vocabulary: vectors.vocabulary, vectors: vectors.matrix, frequencies, sif, templates };
        Model::new(self, text.cutting().clone(), parts, gathered, (diagnostics, verdict))
    }

    fn check(&self) -> Result<()> {
        let bad = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if !(self.sif > 0.0 && self.sif.is_finite()) {
            return bad("sif", self.sif.to_string(), "a number above 0");
        }
        let Search { count, length, channels, pool, .. } = &self.templates;
        for (name, value, most) in [
            ("templates", *count, 4096),
            ("length", *length, 16),
            ("channels", channels.unwrap_or(1), 4096),
            ("pool", *pool, 16),
        ] {
            if value == 0 || value > most {
                return bad(name, value.to_string(), &format!("a whole number from 1 to {most}"));
            }
        }
        if self.templates.learner == Learner::Motifs && *length < 2 && self.features.has_templates() {
            return bad("length", length.to_string(), "at least two words for motifs of coordinates");
        }
        if let Words::Learned(c) = &self.words {
            if c.dimensions == 0 || c.dimensions > 4096 {
                return bad("dimensions", c.dimensions.to_string(), "a whole number from 1 to 4096");
            }
            if c.window == 0 || c.window > 1000 {
                return bad("window", c.window.to_string(), "a whole number from 1 to 1000");
            }
            for (name, value, low) in
                [("smoothing", c.smoothing, 0.0), ("power", c.power, 0.0), ("shift", c.shift, 1e-9)]
            {
                if !(value >= low && value <= 1000.0) {
                    return bad(name, value.to_string(), "a number that is not negative; shift above 0");
                }
            }
        }
        Ok(())
    }

    /// All choices; vectors that are given count as data.
    fn choices(&self) -> impl std::fmt::Debug + use<'_> {
        #[derive(Debug)]
        #[expect(dead_code, reason = "read through Debug")]
        struct Choices<'a> {
            features: Features,
            learned: Option<&'a Cooccurrence>,
            unit: bool,
            templates: &'a Search,
            sif: f64,
            seed: u64,
        }
        let Self { features, words, unit, templates, sif, seed } = self;
        let learned = match words {
            Words::Learned(choice) => Some(choice),
            Words::Given(_) => None,
        };
        Choices { features: *features, learned, unit: *unit, templates, sif: *sif, seed: *seed }
    }

    /// What tells this text, and the vectors that are given for it, from others.
    fn digested(&self, text: &Text, digest: &mut Digest) -> Result<()> {
        if let Words::Given(given) = &self.words {
            digest.texts(given.words());
            digest.doubles(given.vectors().as_slice());
        }
        text.identify(digest)
    }

    fn vectors(&self, text: &Text, progress: &dyn Progress) -> Result<Vectors> {
        match &self.words {
            Words::Learned(choice) => {
                if text.kept() == 0 {
                    return Err(too_little("no word is left"));
                }
                let learned = stage(progress, "vectors", |progress| choice.learn(text, self.seed, progress))?;
                if learned.spectrum.is_empty() {
                    return Err(too_little("no two words stand together more often than by chance"));
                }
                Ok(Vectors {
                    vocabulary: text.vocabulary().to_vec(),
                    matrix: learned.vectors,
                    spectrum: learned.spectrum,
                    entries: learned.entries,
                })
            }
            Words::Given(given) => Ok(Vectors {
                vocabulary: given.words().to_vec(),
                matrix: given.vectors().clone(),
                spectrum: Vec::new(),
                entries: 0,
            }),
        }
    }

    fn judge_vectors(&self, text: &Text, vectors: &Vectors, sentences: &Numbered, verdict: &mut Verdict) {
        if let Words::Learned(choice) = &self.words
            && vectors.matrix.cols() < choice.dimensions
        {
            verdict.warn(format!(
                "vectors of {} dimensions were asked for, but the words of this text have {}",
                choice.dimensions,
                vectors.matrix.cols()
            ));
        }
        let (kept, all) = (sentences.words.len() as f64, text.kept().max(1) as f64);
        if kept < 0.8 * all {
            verdict
                .warn(format!("{:.0} % of the words of the text have no vector", 100.0 * (1.0 - kept / all)));
        }
    }

    fn judge_motifs(&self, found: usize, how: &Learning, verdict: &mut Verdict) {
        if found < self.templates.count {
            verdict.warn(format!(
                "{} templates were asked for, but there are {found}: a coordinate has at most {} motifs of {} words",
                self.templates.count,
                self.templates.length.div_ceil(2),
                self.templates.length
            ));
        }
        if how.weak > 0 {
            verdict.note(format!(
                "{} coordinates of the word vectors look Gaussian; their motifs mean little",
                grouped(how.weak)
            ));
        }
        if !how.converged {
            verdict.note("the motifs of some coordinates were still moving in the end");
        }
    }

    fn judge_templates(&self, found: usize, how: &Learning, verdict: &mut Verdict) {
        if self.templates.learner == Learner::Motifs {
            return self.judge_motifs(found, how, verdict);
        }
        if found < self.templates.count {
            verdict.warn(format!(
                "{} templates were asked for, but the patches have {found} directions",
                self.templates.count
            ));
        }
        // A cumulant of L whitened dimensions has about L²/2 numbers for every template.
        let wanted = found * found / 2;
        if how.learned_from < wanted {
            verdict.warn(format!(
                "{} patches are few for {found} templates, which want about {}: ask for fewer templates or give more \
                 sentences",
                grouped(how.learned_from),
                grouped(wanted)
            ));
        }
        if !how.converged {
            verdict.note(format!("the templates were still moving after {} iterations", how.iterations));
        }
    }
}

fn too_little(what: &str) -> Error {
    let remedy = "give more sentences, or keep rarer words";
    tenfold_engine::Error::TooLittleData(format!("the text is too small: {what}; {remedy}")).into()
}

/// Standard errors below which neighbours are those of chance, which passes them once in seven hundred times.
const CHANCE: f64 = 3.0;

fn judge_order(text: &Text, verdict: &mut Verdict) {
    if let Some(errors) = neighbours_repeat(text)
        && errors < CHANCE
    {
        verdict.warn(format!(
            "words stand beside each other as chance would put them ({errors:.1} standard errors): nothing was found, and vectors and \
             templates learned from this text mean nothing"
        ));
    }
}

fn judge_text(text: &Text, verdict: &mut Verdict) {
    let (all, kept) = (text.tokens(), text.kept() as u64);
    if kept < all {
        verdict.note(format!(
            "{} of {} words are too rare to have a vector; they are {:.1} % of the text",
            grouped(text.distinct() - text.vocabulary().len()),
            grouped(text.distinct()),
            100.0 * (all - kept) as f64 / all as f64
        ));
    }
    // Below, most pairs of words were seen once, and the vectors are mostly chance.
    if kept < 20_000 {
        verdict.warn(format!(
            "{} words of text are few to learn from: vectors of others (word2vec, GloVe) would serve better",
            grouped(kept)
        ));
    }
}

/// Shares of the text, for the words of a vocabulary.
fn frequencies(text: &Text, numbers: &HashMap<String, u32>) -> Vec<f64> {
    let mut out = vec![0.0; numbers.len()];
    let total = text.tokens().max(1) as f64;
    for (word, count) in text.vocabulary().iter().zip(text.counts()) {
        if let Some(&at) = numbers.get(word) {
            out[at as usize] = *count as f64 / total;
        }
    }
    out
}

fn to_unit_length(vectors: &mut Mat) {
    let scale = |i: usize| {
        let norm = vectors.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 { 1.0 / norm } else { 0.0 }
    };
    let scales: Vec<f64> = (0..vectors.rows()).map(scale).collect();
    vectors.scale_rows(&scales);
}
