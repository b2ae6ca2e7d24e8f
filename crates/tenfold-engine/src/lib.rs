//! The engine of tenfold: moments, whitening and orthogonal tensor decomposition. It knows tensors; it knows
//! no application.
//!
//! ```text
//! data -> moments -> whitening -> a small k x k x k tensor -> factors
//! ```
//!
//! Moments are sums over samples, so they are gathered in blocks and merged: on threads, from disk, online or
//! on a cluster by the same code. The layers, each importing only those before it: [`error`], [`progress`],
//! [`linalg`], [`tensor`], [`device`], [`moments`], [`whiten`], [`decompose`].

#![deny(unsafe_code)]

pub mod decompose;
pub mod device;
pub mod error;
pub mod linalg;
pub mod moments;
pub mod progress;
pub mod tensor;
pub mod whiten;

pub use error::{Error, Result};
