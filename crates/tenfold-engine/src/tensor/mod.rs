//! Symmetric tensors of order 3 and 4, dense or never formed, and their decompositions as [`Cp`].
//!
//! Everything a solver needs of a tensor is its contraction with vectors in all places but one,
//! T(I, a, b) = Σ_jl T_·jl a_j b_l. That is [`Contract`]; a dense tensor ([`Tensor3`], [`Tensor4`]), a sum over
//! samples ([`Implicit`]), a sketch ([`Sketch`]), a tensor less known components ([`Deflated`]) and a
//! decomposition ([`Cp`]) all offer it.

mod cp;
mod deflated;
mod dense;
mod implicit;
mod packed;
mod scale;
mod sketch;
mod triples;

pub use cp::{Cp, Match};
pub use deflated::Deflated;
pub use dense::{Dense, ptrace};
pub use implicit::{Implicit, Term};
pub use packed::{Packed, Tensor3, Tensor4};
pub use scale::into_range;
pub use sketch::Sketch;

use crate::error::Result;
use crate::linalg::Mat;

/// A symmetric tensor seen only through its contractions.
pub trait Contract: Sync {
    /// Length of each side.
    fn dim(&self) -> usize;

    /// Number of sides: 3 or 4.
    fn order(&self) -> usize;

    /// Column c of the result is T(I, a_c, b_c) (order 3) or T(I, a_c, b_c, c_c) (order 4), where a_c is
    /// column c of the first argument. There are `order − 1` arguments of `dim` rows and equal width.
    ///
    /// # Errors
    /// What a data source behind the tensor says.
    fn contract(&self, arguments: &[&Mat]) -> Result<Mat>;

    /// Σ_c T(I, I, u_c) for order 3, Σ_c T(I, I, u_c, u_c) for order 4: a symmetric matrix.
    ///
    /// # Errors
    /// What a data source behind the tensor says.
    fn slice(&self, u: &Mat) -> Result<Mat> {
        slice_by_contraction(self.dim(), self.order(), u, |arguments| self.contract(arguments))
    }

    /// Relative error of a contraction; 0 where it is that of double precision. No solver can settle below it.
    fn rounding(&self) -> f64 {
        0.0
    }

    /// ‖T‖², the sum of squares of all entries, where it is known cheaply.
    fn norm_squared(&self) -> Option<f64> {
        None
    }

    /// Column c of the result is T(I, v_c, …, v_c): one step of the power method for all columns.
    ///
    /// # Errors
    /// What a data source behind the tensor says.
    fn power(&self, v: &Mat) -> Result<Mat> {
        self.contract(&vec![v; self.order() - 1])
    }

    /// T(v_c, …, v_c) for every column.
    ///
    /// # Errors
    /// What a data source behind the tensor says.
    fn values(&self, v: &Mat) -> Result<Vec<f64>> {
        Ok(self.power(v)?.col_dots(v))
    }
}

/// [`Contract::slice`] from contractions with the unit vectors.
fn slice_by_contraction(
    dim: usize,
    order: usize,
    u: &Mat,
    contract: impl Fn(&[&Mat]) -> Result<Mat>,
) -> Result<Mat> {
    let identity = Mat::identity(dim);
    let mut sum = Mat::zeros(dim, dim);
    for c in 0..u.cols() {
        let spread = Mat::from_fn(dim, dim, |i, _| u[(i, c)]);
        let mut arguments = vec![&spread; order - 1];
        arguments[0] = &identity;
        sum.add_scaled(1.0, &contract(&arguments)?);
    }
    Ok(sum)
}

/// Product over the arguments, entry by entry: what every contraction of a sum of rank-ones needs.
fn hadamard(factors: &[Mat]) -> Mat {
    let mut product = factors[0].clone();
    for factor in &factors[1..] {
        product.as_mut_slice().iter_mut().zip(factor.as_slice()).for_each(|(p, f)| *p *= f);
    }
    product
}

/// Checks the shapes of the arguments of a contraction.
fn check_arguments(tensor: &dyn Contract, arguments: &[&Mat]) -> usize {
    assert_eq!(arguments.len(), tensor.order() - 1, "a contraction leaves one side open");
    let width = arguments[0].cols();
    for argument in arguments {
        assert_eq!((argument.rows(), argument.cols()), (tensor.dim(), width), "arguments share one shape");
    }
    width
}
