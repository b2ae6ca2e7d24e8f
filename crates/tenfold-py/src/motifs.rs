//! Motifs in signals and images.

use crate::arrays::copied;
use crate::errors::raised;
use crate::progress::Running;
use crate::threads;
use numpy::ndarray::{Array4, Dimension};
use numpy::{IntoPyArray, PyArray1, PyArray4, PyReadonlyArray4};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use tenfold::components::Components;
use tenfold::motifs::decode::{Decoding, Method};
use tenfold::motifs::{Extent, Length, Model, Orders, Params, Signals, Solver, Stretch};

/// The choices of a fit, as a dictionary from Python, which has checked their types and ranges.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Choices {
    /// None means as many as repeat between halves of the signals.
    motifs: Option<usize>,
    /// Rows and columns; None means where the autocovariance ends.
    length: Option<(usize, usize)>,
    orders: String,
    solver: String,
    sparse: bool,
    starts: usize,
    memory: u64,
    seed: u64,
}

/// How firings are found; what is None is as the model has it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Ways {
    method: String,
    signed: Option<bool>,
    #[pyo3(item("lambda"))]
    penalty: Option<f64>,
    threshold: Option<f64>,
    refractory: Option<usize>,
    /// Take the penalty and the threshold of the fit, so that a window's firings do not depend on others.
    steady: bool,
}

/// What signals are beside their numbers.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Recorded {
    rate: Option<f64>,
    cyclic: bool,
    channels: Vec<String>,
    /// Cut the signals where samples are missing.
    skip_nan: bool,
}

fn known<T: Copy>(name: &str, value: &str, all: &[(&str, T)]) -> PyResult<T> {
    let found = all.iter().find(|(known, _)| *known == value).map(|(_, choice)| *choice);
    found.ok_or_else(|| PyValueError::new_err(format!("{name} = {value:?} is not known")))
}

impl Choices {
    fn params(&self) -> PyResult<Params> {
        let length =
            self.length.map_or(Length::Auto, |(rows, columns)| Length::Known(Extent { rows, columns }));
        Ok(Params {
            length,
            orders: known("orders", &self.orders, &Orders::NAMES)?,
            solver: known("solver", &self.solver, &Solver::NAMES)?,
            sparse: self.sparse,
            starts: self.starts,
            memory: self.memory,
            seed: self.seed,
            ..Params::new(self.motifs.map_or(Components::Auto, Components::Exactly))
        })
    }
}

impl Ways {
    fn decoding(&self, model: &Model) -> PyResult<Decoding> {
        let own = if self.steady { model.steady_decoding() } else { model.decoding() };
        Ok(Decoding {
            method: known(
                "method",
                &self.method,
                &[("sparse", Method::Sparse), ("least_squares", Method::LeastSquares)],
            )?,
            signed: self.signed.unwrap_or(own.signed),
            lambda: self.penalty.or(own.lambda),
            threshold: self.threshold.or(own.threshold),
            refractory: self.refractory.unwrap_or(own.refractory),
            ..own
        })
    }
}

/// Signals of an array of trials × channels × rows × columns.
fn signals(values: &PyReadonlyArray4<'_, f64>, recorded: Recorded) -> Signals {
    let array = values.as_array();
    let (rows, columns) = (array.shape()[2], array.shape()[3]);
    let stretches = array.outer_iter().enumerate().map(|(trial, values)| Stretch {
        values: values.iter().copied().collect(),
        extent: Extent { rows, columns },
        trial,
        offset: 0,
    });
    let signals = Signals::new(stretches.collect(), recorded.channels, recorded.rate, recorded.cyclic);
    if recorded.skip_nan { signals.without_gaps() } else { signals }
}

/// Learned motifs.
#[pyclass(frozen, module = "tenfold._core")]
pub struct MotifsModel(Model);

#[pymethods]
impl MotifsModel {
    /// Learns from trials × channels × rows × columns.
    #[staticmethod]
    fn fit(
        py: Python<'_>,
        values: PyReadonlyArray4<'_, f64>,
        recorded: Recorded,
        choices: Choices,
        running: Running,
    ) -> PyResult<Self> {
        let params = choices.params()?;
        let signals = signals(&values, recorded);
        running.run(py, |progress| params.fit_with(&signals, progress)).map(Self)
    }

    /// Where motifs fire: arrays of equal length by name, figures, and what the firings add up to where it is wanted.
    fn infer<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray4<'py, f64>,
        recorded: Recorded,
        ways: Ways,
        rebuild: bool,
        running: Running,
    ) -> PyResult<Bound<'py, PyDict>> {
        let decoding = ways.decoding(&self.0)?;
        let shape = values.as_array().raw_dim();
        let signals = signals(&values, recorded);
        let (decoded, events, rebuilt) = running.run(py, |progress| {
            let mut events = Vec::new();
            // What lies in a gap stays unknown.
            let mut rebuilt = vec![f64::NAN; if rebuild { shape.size() } else { 0 }];
            let one = shape[2] * shape[3];
            let decoded = self.0.infer_each(&signals, &decoding, progress, &mut |stretch, part| {
                events.extend(part.events);
                let size = stretch.extent.len();
                for (c, values) in part.reconstruction.chunks_exact(size.max(1)).enumerate() {
                    let at = (stretch.trial * shape[1] + c) * one + stretch.offset;
                    if let Some(place) = rebuilt.get_mut(at..at + size) {
                        place.copy_from_slice(values);
                    }
                }
                Ok(())
            })?;
            Ok((decoded, events, rebuilt))
        })?;
        let found = PyDict::new(py);
        let whole = |f: &dyn Fn(&tenfold::motifs::Event) -> i64| {
            events.iter().map(f).collect::<Vec<i64>>().into_pyarray(py)
        };
        found.set_item("trial", whole(&|event| event.trial as i64))?;
        found.set_item("row", whole(&|event| event.row))?;
        found.set_item("start", whole(&|event| event.start))?;
        found.set_item("motif", whole(&|event| event.motif as i64))?;
        let amplitudes: Vec<f64> = events.iter().map(|event| event.amplitude).collect();
        found.set_item("amplitude", amplitudes.into_pyarray(py))?;
        found.set_item("explained", decoded.explained)?;
        found.set_item("noise", decoded.noise)?;
        found.set_item("converged", decoded.converged)?;
        if rebuild {
            let array = Array4::from_shape_vec(shape, rebuilt).expect("as many numbers as the signals have");
            found.set_item("rebuilt", array.into_pyarray(py))?;
        }
        Ok(found)
    }

    /// Motifs × channels × rows × columns.
    fn filters<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray4<f64>> {
        let filters = self.0.filters();
        let shape = (filters.count(), filters.channels, filters.extent.rows, filters.extent.columns);
        Array4::from_shape_vec(shape, filters.values.clone()).expect("whole motifs").into_pyarray(py)
    }

    /// The size of every motif's activations.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        copied(py, self.0.weights())
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
