//! Linear algebra: the only place that calls the linear-algebra library.
mod mat;
pub mod parallel;
mod rows;

pub use mat::{Mat, dot, gemm_rate};
pub use rows::{Rows, check_finite};
