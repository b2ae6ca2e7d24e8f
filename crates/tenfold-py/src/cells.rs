//! Cell types, and cells in images.

use crate::arrays::{copied, into_array};
use crate::errors::raised;
use crate::progress::Running;
use crate::threads;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use tenfold::cells::validate::{self, Validation};
use tenfold::cells::{
    Cell, Density, Features, GeneCounts, Model, Params, Section, Solver, Tissue, count_neighbours, detect,
    images,
};
use tenfold::components::Components;
use tenfold::engine::linalg::{Csr, Mat};
use tenfold::verdict::Level;

/// The choices of a fit, as a dictionary from Python, which has checked their types and ranges.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Choices {
    /// None means the number that predicts best.
    k: Option<usize>,
    solver: String,
    smoothing: f64,
    alpha: f64,
    density: String,
    restarts: usize,
    max_iterations: usize,
    most: usize,
    seed: u64,
}

/// Counts, rows × genes: the arrays of a CSR matrix.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Counts<'py> {
    genes: Vec<String>,
    indptr: PyReadonlyArray1<'py, i64>,
    indices: PyReadonlyArray1<'py, i64>,
    data: PyReadonlyArray1<'py, f64>,
}

/// Cells: images with their genes, the image of every cell, and its seven numbers.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Table<'py> {
    images: Vec<(String, String)>,
    of: PyReadonlyArray1<'py, i64>,
    numbers: PyReadonlyArray2<'py, f64>,
}

impl Choices {
    fn params(&self) -> PyResult<Params> {
        let unknown =
            |name: &str, value: &str| PyValueError::new_err(format!("{name} = {value:?} is not known"));
        let solver = Solver::NAMES.iter().find(|(name, _)| *name == self.solver);
        Ok(Params {
            solver: solver.ok_or_else(|| unknown("solver", &self.solver))?.1,
            smoothing: self.smoothing,
            alpha: self.alpha,
            features: Features {
                density: Density::named(&self.density).ok_or_else(|| unknown("density", &self.density))?,
                ..Features::default()
            },
            restarts: self.restarts,
            max_iterations: self.max_iterations,
            most: self.most,
            seed: self.seed,
            ..Params::new(self.k.map_or(Components::Auto, Components::Exactly))
        })
    }
}

impl Counts<'_> {
    fn read(&self) -> PyResult<GeneCounts> {
        let wrong = || PyValueError::new_err("the arrays of the counts do not fit together");
        let (starts, columns, values) =
            (self.indptr.as_slice()?, self.indices.as_slice()?, self.data.as_slice()?);
        let rows = starts.len().checked_sub(1).ok_or_else(wrong)?;
        let mut triplets = Vec::with_capacity(values.len());
        for row in 0..rows {
            let range = usize::try_from(starts[row]).ok().zip(usize::try_from(starts[row + 1]).ok());
            let (from, to) = range.ok_or_else(wrong)?;
            let own = columns.get(from..to).zip(values.get(from..to)).ok_or_else(wrong)?;
            for (&column, &value) in own.0.iter().zip(own.1) {
                let column =
                    usize::try_from(column).ok().filter(|c| *c < self.genes.len()).ok_or_else(wrong)?;
                triplets.push((row, column, value));
            }
        }
        GeneCounts::new(self.genes.clone(), Csr::from_triplets(rows, self.genes.len(), &triplets))
            .map_err(raised)
    }
}

impl Table<'_> {
    /// The cells by image, and where each stood in the table.
    fn read(&self) -> PyResult<(Tissue, Vec<Vec<usize>>)> {
        let wrong = || PyValueError::new_err("the arrays of the cells do not fit together");
        let (of, numbers) = (self.of.as_slice()?, self.numbers.as_array());
        if numbers.ncols() != 7 || numbers.nrows() != of.len() {
            return Err(wrong());
        }
        let named = |(image, gene): &(String, String)| Section {
            image: image.clone(),
            gene: gene.clone(),
            cells: Vec::new(),
        };
        let mut tissue = Tissue { sections: self.images.iter().map(named).collect() };
        let mut places = vec![Vec::new(); self.images.len()];
        for (row, (section, own)) in of.iter().zip(numbers.rows()).enumerate() {
            let at = usize::try_from(*section).ok().filter(|s| *s < places.len()).ok_or_else(wrong)?;
            tissue.sections[at].cells.push(Cell {
                x: own[0],
                y: own[1],
                r1: own[2],
                r2: own[3],
                orientation: own[4],
                intensity: own[5],
                neighbours: own[6],
            });
            places[at].push(row);
        }
        Ok((tissue, places))
    }
}

/// Perplexity, that of permuted cells, the p-value, the perplexity of gene frequencies, and common genes.
type Judgement<'py> = (f64, Bound<'py, PyArray1<f64>>, f64, f64, usize);

/// Seven numbers for every cell, what detection chose, and warnings.
type Detected<'py> = (Bound<'py, PyArray2<f64>>, Vec<(&'static str, f64)>, Vec<String>);

/// Learned cell types.
#[pyclass(frozen, module = "tenfold._core")]
pub struct CellsModel(Model);

#[pymethods]
impl CellsModel {
    /// Learns from cells with their features.
    #[staticmethod]
    fn fit(py: Python<'_>, table: Table<'_>, choices: Choices, running: Running) -> PyResult<Self> {
        let (params, (tissue, _)) = (choices.params()?, table.read()?);
        running.run(py, |progress| params.fit_with(&tissue, progress)).map(Self)
    }

    /// Learns from counts.
    #[staticmethod]
    fn fit_counts(py: Python<'_>, counts: Counts<'_>, choices: Choices, running: Running) -> PyResult<Self> {
        let (params, counts) = (choices.params()?, counts.read()?);
        running.run(py, |progress| params.fit_counts_with(&counts, progress)).map(Self)
    }

    /// Probabilities of types for every cell, cells × types, and genes that the model does not know.
    fn infer<'py>(
        &self,
        py: Python<'py>,
        table: Table<'py>,
        running: Running,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<String>)> {
        let (tissue, places) = table.read()?;
        let found = running.run(py, |progress| self.0.infer_with(&tissue, progress))?;
        let mut all = Mat::zeros(tissue.len(), self.0.k());
        for (own, rows) in found.sections.iter().zip(&places) {
            for (i, &row) in rows.iter().enumerate() {
                all.row_mut(row).copy_from_slice(own.row(i));
            }
        }
        Ok((into_array(py, all), found.unknown))
    }

    /// Mixtures of types in rows of counts, rows × types.
    fn mixtures<'py>(
        &self,
        py: Python<'py>,
        counts: Counts<'py>,
        running: Running,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let counts = counts.read()?;
        let found = running.run(py, |progress| self.0.mixtures(&counts, progress))?;
        Ok(into_array(py, found))
    }

    /// Perplexity of single cells, of permuted ones, the p-value, the perplexity of gene frequencies, and common genes.
    fn judge<'py>(
        &self,
        py: Python<'py>,
        counts: Counts<'py>,
        permutations: usize,
        seed: u64,
        running: Running,
    ) -> PyResult<Judgement<'py>> {
        let counts = counts.read()?;
        let how = Validation { permutations, seed, ..Validation::default() };
        let found = running.run(py, |progress| how.judge(&self.0, &counts, progress))?;
        Ok((found.perplexity, copied(py, &found.permuted), found.p_value, found.unigram, found.genes))
    }

    /// How well k-means on mixtures tells labels: the adjusted Rand index.
    #[staticmethod]
    fn label_agreement(
        py: Python<'_>,
        mixtures: PyReadonlyArray2<'_, f64>,
        labels: Vec<u32>,
        seed: u64,
    ) -> PyResult<f64> {
        let array = mixtures.as_array();
        if array.nrows() != labels.len() || labels.is_empty() {
            return Err(PyValueError::new_err("a label for every row of the mixtures is needed"));
        }
        let own = Mat::from_vec(array.nrows(), array.ncols(), array.iter().copied().collect());
        threads::apart(py, || validate::label_agreement(&own, &labels, seed))
    }

    /// Types × genes.
    fn profiles<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        into_array(py, self.0.profiles().clone())
    }

    /// Bins × types.
    fn memberships<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        into_array(py, self.0.memberships().clone())
    }

    /// The share of every type.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        copied(py, self.0.weights())
    }

    /// The names of the genes.
    fn genes(&self) -> Vec<String> {
        self.0.genes().to_vec()
    }

    /// Whether it was learned from cells with features.
    fn has_features(&self) -> bool {
        self.0.bins().is_some()
    }

    /// Marker genes of a type: place, share and lift.
    fn markers(&self, of: usize, most: usize) -> PyResult<Vec<(usize, f64, f64)>> {
        if of >= self.0.k() {
            return Err(PyValueError::new_err(format!("there is no type {of}: there are {}", self.0.k())));
        }
        Ok(self.0.markers(of, most).iter().map(|m| (m.gene, m.share, m.lift)).collect())
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

/// How cells are looked for, as a dictionary from Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Looking {
    radius: Option<f64>,
    stain: String,
    polarity: String,
    /// In pixels.
    neighbour_radius: f64,
    /// The largest value that a pixel could have.
    top: Option<f64>,
}

/// Cells of an image (height × width × channels): their seven numbers, what detection chose, and what speaks against it.
#[pyfunction]
pub fn detect_cells<'py>(
    py: Python<'py>,
    image: PyReadonlyArray3<'py, f32>,
    looking: Looking,
    running: Running,
) -> PyResult<Detected<'py>> {
    let array = image.as_array();
    let (height, width, channels) = array.dim();
    let values: Vec<f32> = array.iter().copied().collect();
    let named = |name: &str, problem: String| PyValueError::new_err(format!("{name}: {problem}"));
    let options = images::Options {
        stain: looking.stain.parse().map_err(|e| named("stain", e))?,
        polarity: looking.polarity.parse().map_err(|e| named("polarity", e))?,
        ..images::Options::default()
    };
    let params = detect::Params { radius: looking.radius, ..detect::Params::default() };
    let (top, reach) = (looking.top, looking.neighbour_radius);
    let found = running.run(py, |progress| {
        let image = images::held([width, height, channels], values, top, &options)?;
        let mut found = params.find(&image, progress)?;
        count_neighbours(&mut found.cells, reach);
        Ok(found)
    })?;
    let rows = found
        .cells
        .iter()
        .flat_map(|c| [c.x, c.y, c.r1, c.r2, c.orientation, c.intensity, c.neighbours])
        .collect();
    let d = &found.diagnostics;
    let chosen = vec![
        ("radius", d.radius),
        ("intensity", d.intensity),
        ("shape", d.shape),
        ("noise", d.noise),
        ("background_low", d.background.0),
        ("background_high", d.background.1),
    ];
    let findings = d.verdict.findings().iter().filter(|(level, _)| *level == Level::Warning);
    let warnings = findings.map(|(_, words)| crate::errors::in_python(words)).collect();
    Ok((into_array(py, Mat::from_vec(found.cells.len(), 7, rows)), chosen, warnings))
}
