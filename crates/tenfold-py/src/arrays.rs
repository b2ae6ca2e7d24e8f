//! Arrays in without a copy, and matrices out.

use numpy::ndarray::{Array2, ArrayView2, Axis, Slice};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use rayon::prelude::*;
use tenfold::engine::Result;
use tenfold::engine::linalg::parallel::BLOCK;
use tenfold::engine::linalg::{Mat, Rows};
use tenfold::engine::progress::Progress;

/// A table of numbers that Python holds, in rows: of either precision, in any order, read-only or mapped from a file.
#[derive(FromPyObject)]
pub enum Samples<'py> {
    /// float64.
    Double(PyReadonlyArray2<'py, f64>),
    /// float32.
    Single(PyReadonlyArray2<'py, f32>),
}

impl Samples<'_> {
    /// The table as Rust reads it, also without Python's lock.
    pub fn view(&self) -> View<'_> {
        match self {
            Self::Double(array) => View::Double(array.as_array()),
            Self::Single(array) => View::Single(array.as_array()),
        }
    }

    /// A matrix as an array of the precision that this table has.
    pub fn like<'py>(&self, py: Python<'py>, matrix: Mat) -> Bound<'py, PyAny> {
        match self {
            Self::Double(_) => into_array(py, matrix).into_any(),
            Self::Single(_) => {
                let (rows, cols) = (matrix.rows(), matrix.cols());
                let single = matrix.as_slice().iter().map(|x| *x as f32).collect();
                Array2::from_shape_vec((rows, cols), single)
                    .expect("as many numbers as the matrix has")
                    .into_pyarray(py)
                    .into_any()
            }
        }
    }
}

/// [`Samples`] without Python: blocks of a float64 table in C order are borrowed, all others are read a block at a time.
pub enum View<'a> {
    /// float64.
    Double(ArrayView2<'a, f64>),
    /// float32.
    Single(ArrayView2<'a, f32>),
}

impl Rows for View<'_> {
    fn rows(&self) -> usize {
        match self {
            Self::Double(array) => array.nrows(),
            Self::Single(array) => array.nrows(),
        }
    }
    fn cols(&self) -> usize {
        match self {
            Self::Double(array) => array.ncols(),
            Self::Single(array) => array.ncols(),
        }
    }
    fn read_rows(&self, start: usize, out: &mut [f64]) -> Result<()> {
        let end = start + out.len() / self.cols().max(1);
        // Not by the macro `s!`, whose expansion allows `unsafe`.
        let wanted = Slice::from(start..end);
        match self {
            Self::Double(array) => {
                let rows = array.slice_axis(Axis(0), wanted);
                out.iter_mut().zip(rows).for_each(|(to, from)| *to = *from);
            }
            Self::Single(array) => {
                let rows = array.slice_axis(Axis(0), wanted);
                out.iter_mut().zip(rows).for_each(|(to, from)| *to = f64::from(*from));
            }
        }
        Ok(())
    }
    fn borrow_rows(&self, start: usize, end: usize) -> Option<&[f64]> {
        match self {
            Self::Double(array) => {
                array.to_slice().map(|all| &all[start * array.ncols()..end * array.ncols()])
            }
            Self::Single(_) => None,
        }
    }
}

/// All rows in memory, made block by block on all threads; stops with the run.
pub fn gathered(rows: &dyn Rows, progress: &dyn Progress) -> tenfold::Result<Mat> {
    let width = rows.cols();
    let mut all = Mat::zeros(rows.rows(), width);
    all.as_mut_slice().par_chunks_mut((BLOCK * width).max(1)).enumerate().try_for_each(|(b, block)| {
        progress.check()?;
        rows.read_rows(b * BLOCK, block)
    })?;
    Ok(all)
}

/// A matrix as a float64 array, without a copy.
pub fn into_array(py: Python<'_>, matrix: Mat) -> Bound<'_, PyArray2<f64>> {
    let shape = (matrix.rows(), matrix.cols());
    Array2::from_shape_vec(shape, matrix.into_vec())
        .expect("as many numbers as the matrix has")
        .into_pyarray(py)
}

/// Numbers that a model keeps, copied.
pub fn copied<'py>(py: Python<'py>, numbers: &[f64]) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_slice(py, numbers)
}
