//! Components of tensors.

use crate::arrays::{copied, into_array};
use crate::errors::raised;
use crate::progress::Running;
use crate::solvers::{Limits, als, solver_like};
use crate::threads;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use tenfold::engine::decompose::{Polar, Solver, Trace};
use tenfold::engine::linalg::Mat;
use tenfold::engine::progress::Progress;
use tenfold::engine::tensor::{Contract, Cp, Dense, Packed, Tensor3, Tensor4, into_range, ptrace};
use tenfold::model_file::{Factors, ModelFile};

/// The choices of a decomposition, as a dictionary from Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Choices {
    k: usize,
    solver: String,
    max_iterations: Option<usize>,
    tolerance: Option<f64>,
    restarts: Option<usize>,
    symmetry_tolerance: f64,
    seed: u64,
}

/// Weights, a factor for every side or one for all, and how the run went: iterations, the last residual, the agreement of
/// restarts, and whether it converged.
type Found<'py> =
    (Bound<'py, PyArray1<f64>>, Vec<Bound<'py, PyArray2<f64>>>, (usize, f64, Option<f64>, bool));

/// Decomposes a full tensor whose entries stand in C order. `symmetric` says how it is taken.
#[pyfunction]
pub fn decompose_tensor<'py>(
    py: Python<'py>,
    tensor: (PyReadonlyArray1<'py, f64>, Vec<usize>),
    symmetric: bool,
    choices: Choices,
    running: Running,
) -> PyResult<Found<'py>> {
    let (mut data, shape) = (tensor.0.as_slice()?.to_vec(), tensor.1);
    if shape.iter().product::<usize>() != data.len() || data.is_empty() {
        return Err(PyValueError::new_err("the shape of the tensor is not that of its entries"));
    }
    // Their powers must be numbers; weights get it back.
    let scale = into_range(&mut data);
    let limits = Limits {
        max_iterations: choices.max_iterations,
        tolerance: choices.tolerance,
        restarts: choices.restarts,
    };
    let solver = solver_like(&choices.solver, &limits, &Solver::Polar(Polar::default()))?;
    let (mut weights, factors, trace) = running.run(py, |progress| {
        progress.stage("decomposing", 0);
        if symmetric {
            by_symmetry(&data, &shape, &solver, &choices, progress)
        } else {
            let dense = Dense::new([shape[0], shape[1], shape[2]], data);
            let found = als(&limits).decompose_dense(&dense, choices.k, choices.seed, progress)?;
            Ok((found.weights, found.factors.into_iter().collect(), found.trace))
        }
    })?;
    weights.iter_mut().for_each(|weight| *weight *= scale);
    if let Some(x) = weights.iter().chain(factors.iter().flat_map(|f| f.as_slice())).find(|x| !x.is_finite())
    {
        return Err(crate::errors::DataError::new_err(format!(
            "the components come out as {x}, beyond the range of double precision; divide all entries by one number"
        )));
    }
    let factors = factors.into_iter().map(|factor| into_array(py, factor)).collect();
    let told = (trace.iterations, trace.residual(), trace.agreement(), trace.converged);
    Ok((copied(py, &weights), factors, told))
}

/// A symmetric tensor; one of an odd order above 4 through its partial trace, whose components are the same.
fn by_symmetry(
    data: &[f64],
    shape: &[usize],
    solver: &Solver,
    choices: &Choices,
    progress: &dyn Progress,
) -> tenfold::Result<(Vec<f64>, Vec<Mat>, Trace)> {
    let (dim, order, tolerance) = (shape[0], shape.len(), choices.symmetry_tolerance);
    let tensor: Box<dyn Contract> = match order {
        3 => Box::new(Tensor3::from_full(dim, data, tolerance)?),
        4 => Box::new(Tensor4::from_full(dim, data, tolerance)?),
        5 => {
            Packed::<5>::from_full(dim, data, tolerance)?;
            Box::new(ptrace(dim, order, data))
        }
        _ => {
            Packed::<7>::from_full(dim, data, tolerance)?;
            Box::new(ptrace(dim, order, data))
        }
    };
    let found = solver.decompose(&*tensor, choices.k, choices.seed, progress)?;
    let cp = if order > 4 {
        // The partial trace has squared the weights: they are read off the tensor itself.
        Cp::new(order, values(data, &found.cp.factors), found.cp.factors).canonical()
    } else {
        found.cp
    };
    Ok((cp.weights, vec![cp.factors], found.trace))
}

/// T(v_c, …, v_c) for every column, one side after the other.
fn values(full: &[f64], factors: &Mat) -> Vec<f64> {
    let contract = |c: usize| {
        let v = factors.col(c);
        let mut data = full.to_vec();
        while data.len() > 1 {
            data =
                data.chunks_exact(v.len()).map(|row| row.iter().zip(&v).map(|(a, b)| a * b).sum()).collect();
        }
        data[0]
    };
    (0..factors.cols()).map(contract).collect()
}

/// Matches found components to true ones: for each true one the place of the found one, and the errors of its direction
/// and of its weight; signs do not count.
#[pyfunction]
pub fn match_components<'py>(
    truth: (PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>),
    found: (PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>),
    order: usize,
) -> PyResult<(Vec<usize>, Vec<f64>, Vec<f64>)> {
    let cp = |(weights, factors): &(PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>)| {
        Cp::new(order, weights.as_array().to_vec(), matrix(factors))
    };
    let (truth, found) = (cp(&truth), cp(&found));
    if truth.factors.rows() != found.factors.rows() || found.k() < truth.k() {
        return Err(PyValueError::new_err(format!(
            "{} components of length {} cannot be matched to {} true ones of length {}; decompose with k = {}",
            found.k(),
            found.factors.rows(),
            truth.k(),
            truth.factors.rows(),
            truth.k()
        )));
    }
    let matched = truth.match_to(&found);
    Ok((matched.partner, matched.errors, matched.weight_errors))
}

/// Writes components into the file that the command line writes, whole or not at all.
#[pyfunction]
pub fn save_tensor(
    py: Python<'_>,
    path: PathBuf,
    weights: PyReadonlyArray1<'_, f64>,
    factors: Vec<PyReadonlyArray2<'_, f64>>,
    facts: &str,
) -> PyResult<()> {
    let facts = serde_json::from_str(facts).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let mut file = ModelFile::new("tensor", facts);
    file.insert_vector("weights", &weights.as_array().to_vec());
    match &factors[..] {
        [one] => file.insert_matrix("factors", &matrix(one)),
        several => {
            for (i, factor) in several.iter().enumerate() {
                file.insert_matrix(&format!("factors_{}", i + 1), &matrix(factor));
            }
        }
    }
    threads::apart(py, || file.save(&path))?.map_err(raised)
}

/// Weights, factors and facts of such a file.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn load_tensor<'py>(
    py: Python<'py>,
    path: PathBuf,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Vec<Bound<'py, PyArray2<f64>>>, String)> {
    let read = || -> tenfold::Result<(Vec<f64>, Vec<Mat>, String)> {
        let file = ModelFile::load(&path)?;
        let Factors { weights, factors, .. } = Factors::from_file(&file)?;
        Ok((weights, factors, file.metadata.to_string()))
    };
    let (weights, factors, facts) = threads::apart(py, read)?.map_err(raised)?;
    let factors = factors.into_iter().map(|factor| into_array(py, factor)).collect();
    Ok((copied(py, &weights), factors, facts))
}

fn matrix(array: &PyReadonlyArray2<'_, f64>) -> Mat {
    let array = array.as_array();
    Mat::from_fn(array.nrows(), array.ncols(), |i, j| array[[i, j]])
}
