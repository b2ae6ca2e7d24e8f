//! Cells found in an image.

mod choices;

pub use choices::{Diagnostics, Found, Params};
