//! Topics in documents.

mod corpus;
mod csr;

pub use corpus::{CountsReader, TextReader, TopicsCorpus};

use crate::arrays::{copied, into_array};
use crate::device;
use crate::errors::{in_python, raised};
use crate::progress::Running;
use crate::threads;
use csr::Csr;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use tenfold::Error;
use tenfold::admixture::{Completion, Inference};
use tenfold::engine::Error as EngineError;
use tenfold::engine::linalg::CountBlock;
use tenfold::topics::read::{Cutter, Recipe};
use tenfold::topics::{Components, Model, Params, Polish};

/// The choices of a fit, as a dictionary from Python, which has checked their types and ranges; what is None is left to
/// the defaults of Rust.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Choices {
    /// None means as many as the documents support.
    k: Option<usize>,
    alpha0: f64,
    polish: Option<String>,
    damp: Option<bool>,
    epochs: Option<usize>,
    device: String,
    seed: u64,
}

impl Choices {
    fn params(&self) -> PyResult<Params> {
        Ok(Params {
            alpha0: self.alpha0,
            polish: match self.polish.as_deref() {
                Some("predict") => Polish::Predict,
                Some("faithful") => Polish::Faithful,
                None => Polish::None,
                Some(other) => return Err(PyValueError::new_err(format!("polish = {other:?} is not known"))),
            },
            damp: self.damp,
            epochs: self.epochs,
            device: device::opened(&self.device)?,
            seed: self.seed,
            ..Params::new(self.k.map_or(Components::Auto, Components::Exactly))
        })
    }
}

/// How often documents without a third moment are repeated. Their moments are then those of their frequencies but for
/// this part in one, and counts stay whole numbers that single precision holds.
const REPEATED: u32 = 4096;

/// A word of a topic: its name, probability, relevance and lift.
type Word = (String, f64, f64, f64);

/// Learned topics.
#[pyclass(frozen, module = "tenfold._core")]
pub struct TopicsModel(Model, OnceLock<Option<Reader>>);

/// What one text after the other is read by, made when the first comes.
struct Reader {
    cutter: Cutter,
    numbers: HashMap<String, u32>,
}

impl TopicsModel {
    fn of(model: Model) -> Self {
        Self(model, OnceLock::new())
    }

    /// `None` where the model knows no words, or leaves a choice to the texts.
    fn reader(&self) -> Option<&Reader> {
        let made = || {
            let words = self.0.vocabulary();
            if words.iter().enumerate().all(|(i, word)| *word == format!("w{}", i + 1)) {
                return None;
            }
            let recipe = Recipe::from_json(self.0.recipe()).ok()?;
            if recipe.stop_words.iter().any(|name| name == "auto") {
                return None;
            }
            let (cutter, _) = Cutter::new::<&str>(&recipe, &[]).ok()?;
            let numbers = words.iter().enumerate().map(|(i, word)| (word.clone(), i as u32)).collect();
            Some(Reader { cutter, numbers })
        };
        self.1.get_or_init(made).as_ref()
    }
}

#[pymethods]
impl TopicsModel {
    /// Learns topics. Also tells whether the documents were too short for moments of counts, so that those of their
    /// frequencies were taken.
    #[staticmethod]
    fn fit(
        py: Python<'_>,
        corpus: &Bound<'_, TopicsCorpus>,
        choices: Choices,
        running: Running,
    ) -> PyResult<(Self, bool)> {
        let (params, corpus) = (choices.params()?, &corpus.get().0);
        let (model, short) = running.run(py, |progress| match params.fit_with(corpus, progress) {
            Err(Error::Engine(EngineError::TooLittleData(_))) if corpus.tokens() > 0 => {
                let often = corpus::times(corpus, REPEATED)?;
                let params = Params { damp: Some(false), ..params };
                Ok((params.fit_with(&often, progress)?, true))
            }
            fitted => Ok((fitted?, false)),
        })?;
        Ok((Self::of(model), short))
    }

    /// The model with more documents, and what they brought: documents, new words, the share of their second moment that
    /// lies outside the kept subspace, and how far topics moved.
    #[allow(clippy::type_complexity)]
    fn updated(
        &self,
        py: Python<'_>,
        corpus: &Bound<'_, TopicsCorpus>,
        running: Running,
    ) -> PyResult<(Self, (usize, usize, Option<f64>, Vec<f64>))> {
        let corpus = &corpus.get().0;
        let (model, told) = running.run(py, |progress| {
            let mut model = self.0.clone();
            let told = model.update(corpus, progress)?;
            Ok((model, told))
        })?;
        Ok((Self::of(model), (told.documents, told.new_words, told.outside, told.moved)))
    }

    /// The mixtures of documents.
    fn infer<'py>(
        &self,
        py: Python<'py>,
        corpus: &Bound<'py, TopicsCorpus>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let corpus = &corpus.get().0;
        Ok(into_array(py, running.run(py, |progress| self.0.infer(corpus, progress))?))
    }

    /// The mixtures of rows of counts, which need not be whole and are read where they lie.
    fn infer_rows<'py>(
        &self,
        py: Python<'py>,
        rows: Csr<'py>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let view = rows.view()?;
        let (topics, alpha) = (self.0.topics(), self.0.alpha());
        if let Some(block) = view.few().map_err(raised)? {
            view.check_columns(topics.cols()).map_err(raised)?;
            let found = threads::caught(py, || Inference::default().few(&block, topics, alpha))?;
            return Ok(into_array(py, found.map_err(raised)?));
        }
        let mixtures = running
            .run(py, |progress| Inference::default().mixtures(&view.blocks(), topics, alpha, progress))?;
        Ok(into_array(py, mixtures))
    }

    /// The mixtures of a few texts, by the calling thread alone; `None` where they must be read as many are.
    fn infer_texts<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<String>,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let found = threads::caught(py, || {
            let reader = self.reader()?;
            let (mut starts, mut words, mut counts) = (vec![0u32], Vec::new(), Vec::new());
            for text in &texts {
                let counted = reader.cutter.count(text, &reader.numbers);
                words.extend(counted.keys());
                counts.extend(counted.values().map(|&count| count as f32));
                starts.push(words.len() as u32);
            }
            if words.len() > CountBlock::MOST {
                return None;
            }
            let documents: Vec<u32> = (0..texts.len() as u32).collect();
            let block = CountBlock::new(&documents, &starts, &words, &counts);
            Some(Inference::default().few(&block, self.0.topics(), self.0.alpha()))
        })?;
        found.transpose().map(|found| found.map(|found| into_array(py, found))).map_err(raised)
    }

    /// The perplexity of documents by completion: one half of each gives its mixture, the other is scored.
    fn perplexity(
        &self,
        py: Python<'_>,
        corpus: &Bound<'_, TopicsCorpus>,
        running: Running,
    ) -> PyResult<f64> {
        let corpus = &corpus.get().0;
        running.run(py, |progress| {
            Completion::default().perplexity(corpus, self.0.topics(), self.0.unigram(), progress)
        })
    }

    /// Topics × words.
    fn topics<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        into_array(py, self.0.topics().clone())
    }

    /// Correlations of the topics' shares.
    fn correlations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        into_array(py, self.0.correlations().clone())
    }

    /// α of every topic.
    fn alpha<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        copied(py, self.0.alpha())
    }

    /// Every topic's share of the tokens.
    fn shares<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        copied(py, self.0.shares())
    }

    /// Every topic's coherence.
    fn coherence<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        copied(py, self.0.coherence())
    }

    /// Every word's share of the tokens.
    fn unigram<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        copied(py, self.0.unigram())
    }

    /// The words.
    fn words(&self) -> Vec<String> {
        self.0.vocabulary().to_vec()
    }

    /// How text became words, as JSON.
    fn recipe(&self) -> String {
        self.0.recipe().to_string()
    }

    /// The first words of a topic by relevance with this lambda.
    fn top_words(&self, topic: usize, n: usize, relevance: f64) -> PyResult<Vec<Word>> {
        if topic >= self.0.k() {
            return Err(PyValueError::new_err(format!("there is no topic {topic} among {}", self.0.k())));
        }
        let words = self.0.top_words(topic, n, relevance);
        let name = |word: usize| self.0.vocabulary()[word].clone();
        Ok(words.iter().map(|w| (name(w.word), w.probability, w.relevance, w.lift)).collect())
    }

    /// All but the matrices, as JSON.
    fn facts(&self) -> String {
        self.0.to_json().to_string()
    }

    /// A few lines for people.
    fn summary(&self) -> String {
        in_python(&self.0.summary())
    }

    /// A page about the model, as HTML.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        threads::apart(py, || self.0.report().map(|page| page.to_html()))?.map_err(raised)
    }

    /// Writes that page, whole or not at all.
    fn write_page(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        threads::apart(py, || self.0.report()?.write(&path))?.map_err(raised)
    }

    /// Writes the model file that the command line reads, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        threads::apart(py, || self.0.save(&path))?.map_err(raised)
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        threads::apart(py, || Model::load(&path))?.map(Self::of).map_err(raised)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = threads::apart(py, || self.0.to_bytes())?.map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// From the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        threads::apart(py, || Model::from_bytes(data))?.map(Self::of).map_err(raised)
    }

    /// For pickle and copy.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }
}
