//! Independent component analysis.

use crate::arrays::{Samples, copied, gathered, into_array};
use crate::device;
use crate::errors::raised;
use crate::progress::Running;
use crate::threads;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use tenfold::engine::decompose::{Als, Online, Polar, Power, Simultaneous, Solver};
use tenfold::ica::{Components, Contrast, Model, Params, Polish};

/// The choices of a fit, as a dictionary from Python, which has checked their types and ranges; what is None is left to
/// the defaults of Rust.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Choices {
    /// None means as many as the spectrum supports.
    k: Option<usize>,
    contrast: String,
    solver: String,
    max_iterations: Option<usize>,
    tolerance: Option<f64>,
    batch: Option<usize>,
    epochs: Option<usize>,
    polish: bool,
    standardise: bool,
    memory: u64,
    device: String,
    seed: u64,
    /// Names of the columns, for the model file.
    columns: Option<Vec<String>>,
}

impl Choices {
    fn params(&self) -> PyResult<Params> {
        let defaults = Params::new(self.k.map_or(Components::Auto, Components::Exactly));
        Ok(Params {
            contrast: match self.contrast.as_str() {
                "kurtosis" => Contrast::Kurtosis,
                "skewness" => Contrast::Skewness,
                other => return Err(unknown("contrast", other)),
            },
            solver: self.solver()?,
            batch: self.batch.unwrap_or(defaults.batch),
            epochs: self.epochs.unwrap_or(defaults.epochs),
            polish: if self.polish { Polish::Likelihood } else { Polish::None },
            standardise: self.standardise,
            memory: self.memory,
            device: device::opened(&self.device)?,
            seed: self.seed,
            ..defaults
        })
    }

    fn solver(&self) -> PyResult<Solver> {
        let limits = |iterations: usize, tolerance: f64| {
            (self.max_iterations.unwrap_or(iterations), self.tolerance.unwrap_or(tolerance))
        };
        Ok(match self.solver.as_str() {
            "polar" => {
                // Two starts tell whether the answer depends on the start, as in `Params::new`.
                let d = Polar { restarts: 2, ..Polar::default() };
                let (max_iterations, tolerance) = limits(d.max_iterations, d.tolerance);
                Solver::Polar(Polar { max_iterations, tolerance, ..d })
            }
            "power" => {
                let d = Power::default();
                let (max_iterations, tolerance) = limits(d.max_iterations, d.tolerance);
                Solver::Power(Power { max_iterations, tolerance, ..d })
            }
            "als" => {
                let d = Als::default();
                let (max_iterations, tolerance) = limits(d.max_iterations, d.tolerance);
                Solver::Als(Als { max_iterations, tolerance, ..d })
            }
            "simultaneous" => {
                let d = Simultaneous::default();
                let (max_iterations, tolerance) = limits(d.max_iterations, d.tolerance);
                Solver::Simultaneous(Simultaneous { max_iterations, tolerance, ..d })
            }
            "online" => {
                let d = Online::default();
                Solver::Online(Online { tolerance: self.tolerance.unwrap_or(d.tolerance), ..d })
            }
            other => return Err(unknown("solver", other)),
        })
    }
}

fn unknown(name: &str, value: &str) -> PyErr {
    PyValueError::new_err(format!("{name} = {value:?} is not known"))
}

/// A learned unmixing.
#[pyclass(frozen, module = "tenfold._core")]
pub struct IcaModel(Model);

#[pymethods]
impl IcaModel {
    /// Learns from samples in rows.
    #[staticmethod]
    fn fit(py: Python<'_>, samples: Samples<'_>, choices: Choices, running: Running) -> PyResult<Self> {
        let params = choices.params()?;
        let view = samples.view();
        let model = running.run(py, |progress| {
            let mut model = params.fit_with(&view, progress)?;
            if let Some(names) = choices.columns {
                model.set_columns(names);
            }
            Ok(model)
        })?;
        Ok(Self(model))
    }

    /// The sources of samples, in the precision of the samples.
    fn infer<'py>(
        &self,
        py: Python<'py>,
        samples: Samples<'py>,
        running: Running,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = samples.view();
        let sources = running.run(py, |progress| gathered(&self.0.sources(&view)?, progress))?;
        Ok(samples.like(py, sources))
    }

    /// The samples that sources make, in the precision of the sources.
    fn mix<'py>(
        &self,
        py: Python<'py>,
        sources: Samples<'py>,
        running: Running,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = sources.view();
        let mixed = running.run(py, |progress| gathered(&self.0.mixtures(&view)?, progress))?;
        Ok(sources.like(py, mixed))
    }

    /// Sources × columns.
    fn unmixing<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        into_array(py, self.0.unmixing().clone())
    }

    /// Columns × sources.
    fn mixing<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        into_array(py, self.0.mixing().clone())
    }

    /// The mean of every column.
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        copied(py, self.0.mean())
    }

    /// All but the matrices, as JSON.
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
