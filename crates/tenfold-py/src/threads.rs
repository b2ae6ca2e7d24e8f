//! How many threads a call has; results never depend on it.

use pyo3::PyResult;
use pyo3::exceptions::PyRuntimeError;
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
