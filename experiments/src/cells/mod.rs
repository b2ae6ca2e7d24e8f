//! Cells: types found again, single cells, and time.

mod types;

pub use types::{time, types};
