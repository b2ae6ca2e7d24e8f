//! tenfold finds the hidden factors in data by the method of moments and tensor decomposition.
//!
//! Data come in through [`input`], results go out through [`output`], and a learned model lives in one
//! [`model_file`]. The mathematics that all models share is the [`engine`].

#![forbid(unsafe_code)]

pub mod admixture;
pub mod cells;
pub mod checkpoint;
pub mod communities;
pub mod components;
pub mod error;
pub mod evaluate;
pub mod ica;
pub mod input;
pub mod memory;
pub mod model_file;
pub mod motifs;
pub mod output;
pub mod report;
pub mod sentences;
pub mod topics;
pub mod trees;
pub mod verdict;

pub use error::{Error, Result};
pub use tenfold_engine as engine;

/// A browser for the tests of pages, shared with the integration tests.
#[cfg(test)]
#[path = "../tests/browser/mod.rs"]
mod browser;
