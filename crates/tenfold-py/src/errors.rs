//! The one map from tenfold's errors to Python's.

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use std::any::Any;
use std::path::Path;
use tenfold::Error;
use tenfold::engine::Error as EngineError;

pyo3::create_exception!(
    tenfold,
    DataError,
    PyValueError,
    "Data or a file that tenfold cannot use; the message says where it fails and what to do."
);

/// The exception for an error: `ValueError` for a choice outside its range, its subclass `DataError` for data and files
/// that cannot be used, `OSError` where the disk refuses, `KeyboardInterrupt` for a run that was stopped.
pub fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let message = error.to_string();
    match error {
        Error::Engine(engine) => raised_by_engine(engine),
        Error::Read { path, problem, remedy, .. } if is_missing(&path) => PyFileNotFoundError::new_err((
            NO_SUCH_FILE,
            format!("{problem}; {remedy}"),
            path.into_os_string(),
        )),
        Error::Read { .. } | Error::Model { .. } | Error::WrongShape { .. } | Error::Unfit { .. } => {
            DataError::new_err(message)
        }
        Error::Write { .. } => PyOSError::new_err(message),
        Error::UnsupportedFile { .. } | Error::BadParameter { .. } | Error::Unused { .. } => {
            PyValueError::new_err(message)
        }
        // The enum may grow; an error that is not known here is one all the same.
        _ => PyRuntimeError::new_err(message),
    }
}

/// The number that systems give to a file that is not there, by which Python chooses the exception.
const NO_SUCH_FILE: i32 = 2;

fn is_missing(path: &Path) -> bool {
    std::fs::metadata(path).is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound)
}

fn raised_by_engine(error: EngineError) -> PyErr {
    let message = error.to_string();
    match error {
        EngineError::Interrupted => PyKeyboardInterrupt::new_err(()),
        EngineError::TooLittleData(_) | EngineError::NotFinite { .. } | EngineError::NoConvergence(_) => {
            DataError::new_err(message)
        }
        EngineError::BadParameter { .. }
        | EngineError::Unsupported(_)
        | EngineError::TooManyComponents { .. } => PyValueError::new_err(message),
        EngineError::Source(inner) => match inner.downcast::<std::io::Error>() {
            Ok(io) => PyErr::from(*io),
            Err(_) => DataError::new_err(message),
        },
        _ => PyRuntimeError::new_err(message),
    }
}

/// The exception for a panic: a fault of tenfold's, which Python survives.
pub fn panicked(payload: &(dyn Any + Send)) -> PyErr {
    let said = payload.downcast_ref::<&str>().copied();
    let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    PyRuntimeError::new_err(format!(
        "tenfold {} met a fault of its own ({said}); please report it as a bug, with the data or a few lines that show it",
        env!("CARGO_PKG_VERSION")
    ))
}
