//! The compiled part of the Python package: thin, one file per application, and what they share.
//!
//! Python brings arrays and choices, Rust does the work, and what comes back are arrays, JSON and the bytes of model
//! files. Everything that a Python user sees (estimators, warnings, documentation) is written in Python, in
//! `python/tenfold/`.

#![forbid(unsafe_code)]

mod arrays;
mod cells;
mod cluster;
mod communities;
mod device;
mod errors;
mod graphs;
mod ica;
mod measures;
mod motifs;
mod progress;
mod sentences;
mod solvers;
mod tensor;
mod threads;
mod topics;
mod trees;

use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// The module `tenfold._core`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::cells::{CellsModel, detect_cells};
    #[pymodule_export]
    use super::cluster::{
        ClusterFit, PassWorker, TextCutter, WordNumbers, arrange, corpus_layout, encode_words, merge_sums,
        scan_words, window_sizes,
    };
    #[pymodule_export]
    use super::communities::{CommunitiesModel, fingerprints};
    #[pymodule_export]
    use super::errors::{DataError, in_python};
    #[pymodule_export]
    use super::ica::IcaModel;
    #[pymodule_export]
    use super::motifs::MotifsModel;
    #[pymodule_export]
    use super::sentences::SentencesModel;
    #[pymodule_export]
    use super::tensor::{decompose_tensor, load_tensor, match_components, save_tensor};
    #[pymodule_export]
    use super::topics::{CountsReader, TextReader, TopicsCorpus, TopicsModel};
    #[pymodule_export]
    use super::trees::TreesModel;
    #[pymodule_export]
    use super::{kind_of, run_command};

    /// The version of the crates and of the Python package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// The kind of the model in a file: "ica", "topics", "communities", "motifs", "sentences", "trees", "cells" or "tensor".
#[pyfunction]
fn kind_of(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    threads::apart(py, || tenfold::model_file::ModelFile::kind_of(&path))?.map_err(errors::raised)
}

/// Runs the command `tenfold` with these words, the first of which is its own name, and gives its exit code.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| tenfold_cli::run(arguments))
}
