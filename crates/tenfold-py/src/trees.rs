//! Trees of hidden variables above observed ones.

use crate::arrays::copied;
use crate::errors::raised;
use crate::progress::Running;
use crate::threads;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use tenfold::components::Components;
use tenfold::engine::linalg::Mat;
use tenfold::trees::export::{self, Format};
use tenfold::trees::structure::Method;
use tenfold::trees::{Contraction, Kind, Model, Params, Table, Variable};

/// The choices of a fit, as a dictionary from Python, which has checked their types and ranges.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Choices {
    /// None means the rank that the pairs support, plus one.
    states: Option<usize>,
    method: String,
    contraction: String,
    sweeps: usize,
    bootstrap: usize,
    held_out: f64,
    seed: u64,
}

/// Samples as Python encodes them: variables, sparse rows of features, and what is missing.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Samples<'py> {
    /// Name, kind and labels of every variable.
    variables: Vec<(String, String, Vec<String>)>,
    starts: PyReadonlyArray1<'py, i64>,
    features: PyReadonlyArray1<'py, u32>,
    values: PyReadonlyArray1<'py, f64>,
    missing_starts: PyReadonlyArray1<'py, i64>,
    missing: PyReadonlyArray1<'py, u32>,
}

impl Choices {
    fn params(&self) -> PyResult<Params> {
        let unknown =
            |name: &str, value: &str| PyValueError::new_err(format!("{name} = {value:?} is not known"));
        let contractions = [Contraction::Likelihood, Contraction::Jackknife, Contraction::None];
        Ok(Params {
            method: Method::named(&self.method).ok_or_else(|| unknown("method", &self.method))?,
            contraction: contractions
                .into_iter()
                .find(|c| c.name() == self.contraction)
                .ok_or_else(|| unknown("contraction", &self.contraction))?,
            sweeps: self.sweeps,
            bootstrap: self.bootstrap,
            held_out: self.held_out,
            seed: self.seed,
            ..Params::new(self.states.map_or(Components::Auto, Components::Exactly))
        })
    }
}

impl Samples<'_> {
    fn table(&self) -> PyResult<Table> {
        let wrong = || PyValueError::new_err("the arrays of the samples do not fit together");
        let variables = self
            .variables
            .iter()
            .map(|(name, kind, labels)| {
                let kind = Kind::named(kind).ok_or_else(wrong)?;
                Ok(Variable { name: name.clone(), kind, labels: labels.clone() })
            })
            .collect::<PyResult<Vec<_>>>()?;
        let count = variables.len();
        let mut table = Table::new(variables).map_err(raised)?;
        let (starts, gaps) = (self.starts.as_slice()?, self.missing_starts.as_slice()?);
        let (features, values) = (self.features.as_slice()?, self.values.as_slice()?);
        let missing = self.missing.as_slice()?;
        let mut entries = Vec::new();
        let cut = |starts: &[i64], row: usize| -> Option<std::ops::Range<usize>> {
            Some(usize::try_from(*starts.get(row)?).ok()?..usize::try_from(*starts.get(row + 1)?).ok()?)
        };
        for row in 0..starts.len().saturating_sub(1) {
            let at = cut(starts, row).ok_or_else(wrong)?;
            let own = (features.get(at.clone()).zip(values.get(at))).ok_or_else(wrong)?;
            let gap = cut(gaps, row).and_then(|at| missing.get(at)).ok_or_else(wrong)?;
            entries.clear();
            entries.extend(own.0.iter().copied().zip(own.1.iter().copied()));
            let ordered = own.0.windows(2).all(|w| w[0] < w[1]) && gap.windows(2).all(|w| w[0] < w[1]);
            let inside = own.0.last().is_none_or(|&f| (f as usize) < table.features())
                && gap.last().is_none_or(|&v| (v as usize) < count);
            if !ordered || !inside {
                return Err(wrong());
            }
            table.push(&entries, gap);
        }
        Ok(table)
    }
}

fn array<'py>(py: Python<'py>, mat: Mat) -> Bound<'py, PyArray2<f64>> {
    let shape = (mat.rows(), mat.cols());
    Array2::from_shape_vec(shape, mat.into_vec()).expect("rows times columns").into_pyarray(py)
}

/// A learned tree.
#[pyclass(frozen, module = "tenfold._core")]
pub struct TreesModel(Model);

#[pymethods]
impl TreesModel {
    /// Learns from samples.
    #[staticmethod]
    fn fit(py: Python<'_>, samples: Samples<'_>, choices: Choices, running: Running) -> PyResult<Self> {
        let params = choices.params()?;
        let table = samples.table()?;
        running.run(py, |progress| params.fit_with(&table, progress)).map(Self)
    }

    /// Posterior probabilities of all hidden states: samples × states of all nodes.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        samples: Samples<'py>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let table = samples.table()?;
        let found = running.run(py, |progress| self.0.transform(&table, progress))?;
        Ok(array(py, found))
    }

    /// What is expected of the features of variables, given what is observed: one array for each of `wanted`.
    fn expected<'py>(
        &self,
        py: Python<'py>,
        samples: Samples<'py>,
        wanted: Vec<usize>,
        running: Running,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let table = samples.table()?;
        if let Some(beyond) = wanted.iter().find(|v| **v >= self.0.variables().len()) {
            return Err(PyValueError::new_err(format!("there is no variable {beyond}")));
        }
        let found = running.run(py, |_| {
            let posterior = self.0.posterior(&table, 0..table.samples())?;
            Ok(wanted.iter().map(|&v| self.0.expected(v, &posterior).mean).collect::<Vec<_>>())
        })?;
        Ok(found.into_iter().map(|mat| array(py, mat)).collect())
    }

    /// log P of every sample.
    fn log_likelihood<'py>(
        &self,
        py: Python<'py>,
        samples: Samples<'py>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let table = samples.table()?;
        let found = running.run(py, |progress| self.0.log_likelihood(&table, progress))?;
        Ok(copied(py, &found))
    }

    /// Name, kind and labels of every variable.
    fn variables(&self) -> Vec<(String, &'static str, Vec<String>)> {
        self.0.variables().iter().map(|v| (v.name.clone(), v.kind.name(), v.labels.clone())).collect()
    }

    /// Edges: end, end, length, and support where it is known (else NaN).
    fn edges<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let edges = self.0.tree().edges();
        let support = |a, b| self.0.support(a, b).unwrap_or(f64::NAN);
        let rows = edges.iter().flat_map(|&(a, b, w)| [a as f64, b as f64, w, support(a, b)]).collect();
        array(py, Mat::from_vec(edges.len(), 4, rows))
    }

    /// The name of every node, by its number.
    fn node_names(&self) -> Vec<String> {
        (0..self.0.tree().capacity()).map(|place| self.0.node_name(place)).collect()
    }

    /// The columns of `transform`.
    fn hidden_names(&self) -> Vec<String> {
        self.0.hidden_names()
    }

    /// The group of every variable.
    fn clusters(&self) -> Vec<usize> {
        self.0.clusters().to_vec()
    }

    /// The tree in the format of other programs.
    fn export(&self, format: &str, min_cell: Option<u64>) -> PyResult<String> {
        let format = Format::named(format).map_err(raised)?;
        export::text(&self.0.picture(min_cell), format).map_err(raised)
    }

    /// All but the arrays, as JSON.
    fn facts(&self) -> String {
        self.0.to_json().to_string()
    }

    /// A few lines for people.
    fn summary(&self) -> String {
        self.0.summary()
    }

    /// A page about the model, as HTML.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        threads::apart(py, || self.0.report().to_html())
    }

    /// Writes that page, whole or not at all.
    fn write_page(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        threads::apart(py, || self.0.report().write(&path))?.map_err(raised)
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
