//! Communities in graphs.

use crate::arrays::{copied, into_array};
use crate::device;
use crate::errors::raised;
use crate::graphs::{Source, kind_named};
use crate::measures::{Known, told};
use crate::progress::Running;
use crate::solvers::{Limits, solver_like};
use crate::threads;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::path::PathBuf;
use tenfold::communities::read::{ReadOptions, read};
use tenfold::communities::{
    Components, Graph, Ids, Members, Model, Params, Polish, Side, Threshold, Treatment, Views, held_out_score,
};
use tenfold::engine::linalg::Tall;

/// The choices of a fit, as a dictionary from Python, which has checked their types and ranges.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Choices {
    /// None means as many as the graph supports.
    k: Option<usize>,
    alpha0: f64,
    /// Partitions of the nodes; None means that all nodes are hubs.
    rounds: Option<usize>,
    treatment: String,
    polish: bool,
    iterations: Option<usize>,
    solver: String,
    max_iterations: Option<usize>,
    tolerance: Option<f64>,
    device: String,
    seed: u64,
}

impl Choices {
    fn params(&self) -> PyResult<Params> {
        let defaults = Params::new(self.k.map_or(Components::Auto, Components::Exactly));
        let limits =
            Limits { max_iterations: self.max_iterations, tolerance: self.tolerance, restarts: None };
        Ok(Params {
            alpha0: self.alpha0,
            views: self.rounds.map_or(Views::All, Views::Partition),
            treatment: match self.treatment.as_str() {
                "auto" => Treatment::Auto,
                "dense" => Treatment::Dense,
                "sparse" => Treatment::Sparse,
                other => return Err(PyValueError::new_err(format!("treatment = {other:?} is not known"))),
            },
            polish: if self.polish { Polish::Likelihood } else { Polish::None },
            iterations: self.iterations,
            solver: solver_like(&self.solver, &limits, &defaults.solver)?,
            device: device::opened(&self.device)?,
            seed: self.seed,
            ..defaults
        })
    }

    /// With no more communities than the graph has nodes, which is the most that can be asked for.
    fn within(&self, graph: &Graph, params: Params) -> Params {
        let most = graph.nodes().min(graph.others()).clamp(1, MOST);
        Params { k: self.k.map_or(Components::Auto, |k| Components::Exactly(k.min(most))), ..params }
    }
}

/// The most communities that are looked for.
const MOST: usize = 1000;

/// From which membership on a node is a member: so many times its largest one, or so much.
fn threshold(threshold: Option<f64>, relative: Option<f64>) -> Threshold {
    match (threshold, relative) {
        (Some(least), _) => Threshold::Absolute(least),
        (_, Some(part)) => Threshold::Relative(part),
        _ => Threshold::HALF,
    }
}

fn side_named(name: Option<&str>) -> PyResult<Option<Side>> {
    let all = [Side::From, Side::To, Side::Both];
    let find = |name: &str| {
        let found = all.into_iter().find(|side| side.name() == name);
        found.ok_or_else(|| PyValueError::new_err(format!("side = {name:?} is not known")))
    };
    name.map(find).transpose()
}

/// Learned communities.
#[pyclass(frozen, module = "tenfold._core")]
pub struct CommunitiesModel(Model);

#[pymethods]
impl CommunitiesModel {
    /// Learns from a graph.
    #[staticmethod]
    fn fit(py: Python<'_>, source: Source<'_>, choices: Choices, running: Running) -> PyResult<Self> {
        let (params, plain) = (choices.params()?, source.plain()?);
        let fit = |progress: &dyn tenfold::engine::progress::Progress| {
            progress.stage("arranging the edges", 0);
            let graph = plain.graph()?;
            choices.within(&graph, params).fit_with(&graph, progress)
        };
        running.run(py, fit).map(Self)
    }

    /// Learns from a file, in any format that the command line reads.
    #[staticmethod]
    fn fit_file(
        py: Python<'_>,
        path: PathBuf,
        kind: Option<String>,
        choices: Choices,
        running: Running,
    ) -> PyResult<Self> {
        let params = choices.params()?;
        let kind = kind.as_deref().map(kind_named).transpose()?;
        let fit = |progress: &dyn tenfold::engine::progress::Progress| {
            let graph = read(&path, &ReadOptions { kind, ..ReadOptions::default() }, progress)?;
            choices.within(&graph, params).fit_with(&graph, progress)
        };
        running.run(py, fit).map(Self)
    }

    /// Memberships of new nodes, whose links to the known ones are the rows of a matrix.
    fn infer<'py>(
        &self,
        py: Python<'py>,
        source: Source<'py>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let plain = source.plain()?;
        let links = |row: usize| {
            let mut links = Vec::new();
            plain.visit(row, |column, w| links.push((column as usize, w)));
            links
        };
        let found = running.run(py, |progress| self.0.infer_all(plain.rows(), links, progress))?;
        Ok(into_single(py, &found))
    }

    /// The probability of links between places of nodes.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        from_places: PyReadonlyArray1<'py, i64>,
        to_places: PyReadonlyArray1<'py, i64>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (rows, columns) = (self.0.ids().len(), self.0.other_ids().len());
        let place = |x: i64, most: usize| usize::try_from(x).ok().filter(|x| *x < most);
        let pair = |(u, v): (&i64, &i64)| Some((place(*u, rows)?, place(*v, columns)?));
        let pairs: Option<Vec<(usize, usize)>> =
            from_places.as_array().iter().zip(to_places.as_array()).map(pair).collect();
        let pairs = pairs.ok_or_else(|| PyIndexError::new_err("a node that the model does not have"))?;
        Ok(copied(py, &running.run(py, |_| Ok(self.0.predict_all(&pairs)))?))
    }

    /// How often an edge that the fit did not see is more probable than a pair without one.
    fn score(
        &self,
        py: Python<'_>,
        source: Source<'_>,
        fitted: Option<Source<'_>>,
        seed: u64,
        running: Running,
    ) -> PyResult<f64> {
        let (held_out, fitted) = (source.plain()?, fitted.as_ref().map(Source::plain).transpose()?);
        running.run(py, |_| {
            let fitted = fitted.map(|plain| plain.graph()).transpose()?;
            Ok(held_out_score(&self.0, &held_out.graph()?, fitted.as_ref(), seed)?.auc)
        })
    }

    /// Found communities against known ones, as JSON.
    fn compare(
        &self,
        py: Python<'_>,
        known: Known,
        limits: (Option<f64>, Option<f64>),
        side: Option<String>,
        running: Running,
    ) -> PyResult<String> {
        let side = side_named(side.as_deref())?;
        let threshold = threshold(limits.0, limits.1);
        running.run(py, |progress| {
            let members = Members::of(&self.0, side)?;
            let known = known.truth(&members, progress)?;
            told(&members, &known, threshold, progress).map(|value| value.to_string())
        })
    }

    /// Places of the members of every community.
    fn members(
        &self,
        py: Python<'_>,
        limits: (Option<f64>, Option<f64>),
        side: Option<String>,
    ) -> PyResult<Vec<Vec<u32>>> {
        let side = side_named(side.as_deref())?;
        let cover = threads::apart(py, || {
            Members::of(&self.0, side).map(|members| members.cover(threshold(limits.0, limits.1)))
        })?;
        Ok(cover.map_err(raised)?.communities().to_vec())
    }

    /// The nodes between communities: place, bridgeness, and bridgeness times degree.
    fn bridges(
        &self,
        py: Python<'_>,
        count: usize,
        corrected: bool,
        side: Option<String>,
    ) -> PyResult<Vec<(usize, f64, f64)>> {
        let side = side_named(side.as_deref())?;
        let found = threads::apart(py, || {
            Members::of(&self.0, side).map(|members| members.bridges(count, corrected))
        })?
        .map_err(raised)?;
        Ok(found.into_iter().map(|b| (b.node, b.bridgeness, b.corrected)).collect())
    }

    /// Memberships as the side of edges says, both sides of a directed graph together when none is named.
    fn rows<'py>(&self, py: Python<'py>, side: Option<String>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let side = side_named(side.as_deref())?;
        let rows = threads::apart(py, || -> tenfold::Result<(usize, usize, Vec<f32>)> {
            let members = Members::of(&self.0, side)?;
            let (mut all, mut row) = (Vec::with_capacity(members.len() * members.k()), Vec::new());
            for node in 0..members.len() {
                members.read(node, &mut row);
                all.extend_from_slice(&row);
            }
            Ok((members.len(), members.k(), all))
        })?;
        let (n, k, all) = rows.map_err(raised)?;
        Ok(Array2::from_shape_vec((n, k), all).expect("k numbers for a node").into_pyarray(py))
    }

    /// k × k.
    fn connectivity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        into_array(py, self.0.connectivity().clone())
    }

    /// One number for every community or node: "alpha", "shares", "confidence", "strengths".
    fn numbers<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let numbers = match name {
            "alpha" => self.0.alpha(),
            "shares" => self.0.shares(),
            "confidence" => self.0.confidence(),
            "strengths" => self.0.strengths(),
            "spectrum" => &self.0.diagnostics().spectrum,
            other => return Err(PyValueError::new_err(format!("{other:?} is not known"))),
        };
        Ok(copied(py, numbers))
    }

    /// What the nodes are called, and those that edges go to.
    fn ids<'py>(&self, py: Python<'py>, other: bool) -> PyResult<Bound<'py, PyAny>> {
        listed(py, if other { self.0.other_ids() } else { self.0.ids() })
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

/// A number for every row of a matrix, the same for rows with the same entries.
#[pyfunction]
pub fn fingerprints<'py>(py: Python<'py>, source: Source<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let plain = source.plain()?;
    Ok(threads::apart(py, || plain.fingerprints())?.into_pyarray(py))
}

/// Numbers as an array, names as a list.
fn listed<'py>(py: Python<'py>, ids: &Ids) -> PyResult<Bound<'py, PyAny>> {
    let numbers: Option<Vec<u64>> = (0..ids.len()).map(|i| ids.number(i)).collect();
    match numbers {
        Some(numbers) => Ok(numbers.into_pyarray(py).into_any()),
        None => Ok(PyList::new(py, ids.iter())?.into_any()),
    }
}

fn into_single<'py>(py: Python<'py>, tall: &Tall) -> Bound<'py, PyArray2<f32>> {
    Array2::from_shape_vec((tall.rows(), tall.width()), tall.as_slice().to_vec())
        .expect("as many numbers as the matrix has")
        .into_pyarray(py)
}
