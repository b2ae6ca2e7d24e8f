//! The engine of tenfold.
pub mod error;
pub mod linalg;
pub mod progress;

pub use error::{Error, Result};
