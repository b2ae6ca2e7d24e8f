//! Linear algebra: the only place that calls the linear-algebra library.
//!
//! Dense matrices are row-major ([`Mat`]), sparse ones compressed by rows ([`Csr`], and [`Adjacency`] for graphs),
//! everything larger is a [`LinearOperator`] or [`SymmetricOperator`] known through its products, or [`Rows`] read block
//! by block. Parallel sums are ordered ([`parallel`]), so results never depend on the number of threads.

mod adjacency;
mod assign;
mod complex;
pub mod counts;
mod csr;
mod fourier;
mod krylov;
mod lanczos;
mod mat;
mod minimise;
mod operator;
pub mod parallel;
pub mod random;
mod range;
mod rows;
mod simplex;
mod small;
mod solve;
mod spmm;
mod tall;

pub use adjacency::Adjacency;
pub use assign::assign;
pub use complex::{CMat, HermitianEigen};
pub use counts::{CountBlock, Counts};
pub use csr::{ColumnIndex, Csr, WithTranspose};
pub use fourier::Fourier;
pub use krylov::{BlockKrylov, Converged, Wanted};
pub use lanczos::{Lanczos, TallEigen, TallOperator};
pub use mat::{Mat, add_gram, add_leading_gram, dot, gemm_rate};
pub(crate) use mat::{View, gemm, gemm_add, view, view_mut};
pub use minimise::{Descent, Minimum};
pub use operator::{LinearOperator, SymmetricCsr, SymmetricOperator};
pub use parallel::{Kernel, vectorised};
pub use range::{Embedding, RangeFinder, SparseSign, svd_tall};
pub use realfft::num_complex::Complex64;
pub use rows::{Rows, check_finite};
pub(crate) use rows::{centre, with_rows};
pub use simplex::project_to_simplex;
pub use small::SmallEigen;
pub use solve::{
    Eigen, Svd, eigen_bytes, eigen_symmetric, orthogonality_error, orthonormalise, pinv, polar, qr, solve,
    svd,
};
pub use tall::Tall;
