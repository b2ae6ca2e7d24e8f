//! How many threads a call has; results never depend on it.

use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyResult, Python};
use rayon::{ThreadPool, ThreadPoolBuilder};

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
/// those of the global pool are not there (a page of communities, laid out by forces, waited for them for ever).
pub fn apart<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    match pool(0) {
        Ok(pool) => py.detach(|| pool.install(work)),
        // Where no thread can be started there is none to wait for.
        Err(_) => py.detach(work),
    }
}
