//! Sentences as numbers.

use crate::arrays::{copied, into_array};
use crate::errors::{in_python, raised};
use crate::progress::Running;
use crate::threads;
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashSet;
use std::path::PathBuf;
use tenfold::engine::linalg::Mat;
use tenfold::sentences::{
    Cooccurrence, Cutting, Features, Given, Learner, Model, Params, Search, Text, Words, read_vectors,
};
use tenfold::topics::read::Recipe;

/// Vectors of words that are given: words with rows, or a file.
#[derive(FromPyObject)]
enum Vectors<'py> {
    Held((Vec<String>, PyReadonlyArray2<'py, f64>)),
    File(PathBuf),
}

/// The choices of a fit, as a dictionary from Python, which has checked their types and ranges.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Choices<'py> {
    features: String,
    vectors: Option<Vectors<'py>>,
    all_words: bool,
    dimensions: usize,
    window: usize,
    smoothing: f64,
    shift: f64,
    power: f64,
    unit: bool,
    min_count: usize,
    lowercase: bool,
    punctuation: bool,
    stem: Option<String>,
    templates: usize,
    length: usize,
    channels: Option<usize>,
    learner: String,
    pool: usize,
    sif: f64,
    seed: u64,
}

/// Where word vectors come from, without Python.
enum Origin {
    Learned(Cooccurrence),
    Held(Vec<String>, Mat),
    File(PathBuf),
}

impl Choices<'_> {
    fn origin(&self) -> Origin {
        match &self.vectors {
            None => Origin::Learned(Cooccurrence {
                dimensions: self.dimensions,
                window: self.window,
                smoothing: self.smoothing,
                shift: self.shift,
                power: self.power,
            }),
            Some(Vectors::File(path)) => Origin::File(path.clone()),
            Some(Vectors::Held((words, array))) => {
                let array = array.as_array();
                let rows = Mat::from_fn(array.nrows(), array.ncols(), |i, j| array[(i, j)]);
                Origin::Held(words.clone(), rows)
            }
        }
    }

    /// Everything but the vectors.
    fn params(&self) -> PyResult<Params> {
        let learner = Learner::named(&self.learner).ok_or_else(|| unknown("learner", &self.learner))?;
        let templates = Search {
            count: self.templates,
            length: self.length,
            channels: self.channels,
            learner,
            pool: self.pool,
        };
        let features = features(&self.features)?;
        Ok(Params {
            features,
            unit: self.unit,
            templates,
            sif: self.sif,
            seed: self.seed,
            ..Params::default()
        })
    }
}

fn features(name: &str) -> PyResult<Features> {
    Features::named(name).ok_or_else(|| unknown("features", name))
}

fn unknown(name: &str, value: &str) -> PyErr {
    PyValueError::new_err(format!("{name} = {value:?} is not known"))
}

/// Learned words and templates.
#[pyclass(frozen, module = "tenfold._core")]
pub struct SentencesModel(Model);

#[pymethods]
impl SentencesModel {
    /// Learns from sentences.
    #[staticmethod]
    fn fit(py: Python<'_>, sentences: Vec<String>, choices: Choices<'_>, running: Running) -> PyResult<Self> {
        let (params, origin, all_words) = (choices.params()?, choices.origin(), choices.all_words);
        let min_count = choices.min_count;
        let usual = Cutting::default();
        let recipe = Recipe { lowercase: choices.lowercase, stemmer: choices.stem.clone(), ..usual.recipe };
        let cutting = Cutting { recipe, punctuation: choices.punctuation };
        let model = running.run(py, |progress| {
            let text = Text::new(&sentences, &cutting, min_count)?;
            let words = match origin {
                Origin::Learned(choice) => Words::Learned(choice),
                Origin::Held(words, rows) => Words::Given(Given::new(words, rows)?),
                Origin::File(path) => {
                    let wanted: HashSet<&str> = text.vocabulary().iter().map(String::as_str).collect();
                    Words::Given(read_vectors(&path, (!all_words).then_some(&wanted), None, progress)?)
                }
            };
            Params { words, ..params }.fit_with(&text, progress)
        })?;
        Ok(Self(model))
    }

    /// A row for every sentence.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        sentences: Vec<String>,
        features: Option<String>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let features = self.chosen(features)?;
        let rows = running.run(py, |progress| self.0.encode_with(&sentences, features, progress))?;
        Ok(into_array(py, rows))
    }

    /// The cosine of every pair of sentences.
    fn similarities<'py>(
        &self,
        py: Python<'py>,
        a: Vec<String>,
        b: Vec<String>,
        features: Option<String>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let features = self.chosen(features)?;
        let alike = running.run(py, |progress| self.0.similarities(&a, &b, features, progress))?;
        Ok(copied(py, &alike))
    }

    /// Names of the numbers of a sentence.
    fn columns(&self, features: Option<String>) -> PyResult<Vec<String>> {
        Ok(self.0.columns(self.chosen(features)?))
    }

    /// The words.
    fn words(&self) -> Vec<String> {
        self.0.vocabulary().to_vec()
    }

    /// Words × dimensions.
    fn vectors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        into_array(py, self.0.vectors().clone())
    }

    /// Every word's share of the text.
    fn frequencies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        copied(py, self.0.frequencies())
    }

    /// Templates × (words · dimensions), if there are any.
    fn templates<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.0.templates().map(|shapes| into_array(py, shapes.transpose()))
    }

    /// The phrases of every template.
    fn phrases(&self) -> Vec<Vec<(String, f64)>> {
        let of = |some: &Vec<tenfold::sentences::Phrase>| {
            some.iter().map(|p| (p.text.clone(), p.activation)).collect()
        };
        self.0.phrases().iter().map(of).collect()
    }

    /// The words nearest to a word; None when it is not known.
    fn neighbours(&self, word: &str, n: usize) -> Option<Vec<(String, f64)>> {
        let near = self.0.neighbours(word, n)?;
        Some(near.into_iter().map(|(other, cosine)| (other.to_owned(), cosine)).collect())
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
        threads::apart(py, || Model::load(&path))?.map(Self).map_err(raised)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = threads::apart(py, || self.0.to_bytes())?.map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// From the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        threads::apart(py, || Model::from_bytes(data))?.map(Self).map_err(raised)
    }

    /// For pickle and copy.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }
}

impl SentencesModel {
    fn chosen(&self, name: Option<String>) -> PyResult<Features> {
        name.map_or(Ok(self.0.features()), |name| features(&name))
    }
}
