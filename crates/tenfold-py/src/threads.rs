//! How many threads a call has; results never depend on it.

use crate::errors;
use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyResult, Python};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A pool of `threads` threads, or of one for every core when that is 0.
///
/// Every call makes its own. Rayon's global pool would live on in processes that Python forks (`multiprocessing`, joblib)
/// without its threads, and the first call there would wait for ever.
pub fn pool(threads: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
        PyRuntimeError::new_err(format!("{threads} threads cannot be started ({e}); give a smaller n_jobs"))
    })
}

/// Does short work without Python's lock, on a pool of its own: anything in Rust may use threads, and in a process that Python forked
/// those of the global pool are not there (a page of communities, laid out by forces, waited for them for ever). A panic becomes an
/// exception ([`caught`]).
pub fn apart<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    match pool(0) {
        Ok(pool) => caught(py, || pool.install(work)),
        // Where no thread can be started there is none to wait for.
        Err(_) => caught(py, work),
    }
}

/// Does work without Python's lock by the calling thread. A panic becomes an exception, as in
/// [`Running::run`](crate::progress::Running::run): pyo3's own is none that `except Exception` catches.
pub fn caught<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let ended = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    ended.map_err(|payload| errors::panicked(&*payload))
}
