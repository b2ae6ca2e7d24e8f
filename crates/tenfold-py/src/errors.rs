//! The one map from tenfold's errors to Python's.

use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, pyfunction};
use std::any::Any;
use std::path::Path;
use tenfold::Error;
use tenfold::engine::Error as EngineError;
use tenfold::input::MISSING;

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
    let message = in_python(&error.to_string());
    match error {
        Error::Engine(engine) => raised_by_engine(engine),
        Error::Read { path, problem, remedy, .. } if is_missing(&path, &problem) => {
            let told = in_python(&format!("{problem}; {remedy}"));
            PyFileNotFoundError::new_err((NO_SUCH_FILE, told, path.into_os_string()))
        }
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

/// Whether a file was not there. Its name alone does not tell: data in memory go by names such as "the image".
fn is_missing(path: &Path, problem: &str) -> bool {
    problem == MISSING && std::fs::metadata(path).is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound)
}

/// What the command line calls otherwise than Python does, beyond dashes.
const RENAMED: [(&str, &str); 8] = [
    ("memory", "memory_limit"),
    ("seed", "random_state"),
    ("threads", "n_jobs"),
    ("keep-case", "lowercase=False"),
    ("keep-stop-words", "language=None"),
    ("max-iterations", "max_iter"),
    ("tolerance", "tol"),
    // Python has no such choice: the model came from the command line.
    ("no-moments", "--no-moments"),
];

/// What it says otherwise in more than a name.
const REPHRASED: [(&str, &str); 6] = [
    ("--device gpu:0", "device=\"gpu:0\""),
    ("--device cpu", "device=\"cpu\""),
    ("-k auto", "n_components=\"auto\""),
    // Python has no such choice: what unpacks to that much is better unpacked once.
    ("raise --max-decompressed, or unpack", "unpack"),
    ("raise --max-decompressed, or write", "write"),
    ("a file of its words as --stop-words", "a list of its words as stop_words"),
];

/// A message in which options of the command line (`--min-df`) are the arguments of Python (`min_df`).
#[pyfunction]
pub fn in_python(message: &str) -> String {
    let message = REPHRASED.iter().fold(message.to_owned(), |said, (from, to)| said.replace(from, to));
    let mut said = String::with_capacity(message.len());
    let mut rest = message.as_str();
    while let Some(at) = rest.find("--") {
        let (before, option) = (&rest[..at], &rest[at + 2..]);
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let name = &option[..option.find(|c| !is_part(c)).unwrap_or(option.len())];
        said += before;
        match name.starts_with(|c: char| c.is_ascii_lowercase()) && !before.ends_with(is_part) {
            true => match RENAMED.iter().find(|(from, _)| *from == name) {
                Some((_, to)) => said += to,
                None => said += &name.replace('-', "_"),
            },
            false => said = said + "--" + name,
        }
        rest = &option[name.len()..];
    }
    said + rest
}

fn raised_by_engine(error: EngineError) -> PyErr {
    let message = in_python(&error.to_string());
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
