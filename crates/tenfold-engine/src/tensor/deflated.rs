//! A tensor without the components already found.

use super::{Contract, Cp};
use crate::error::Result;
use crate::linalg::Mat;

/// T − Σ λ_i v_i⊗…⊗v_i for the components in `removed`, never formed.
#[derive(Clone, Copy)]
pub struct Deflated<'a> {
    /// The tensor.
    pub tensor: &'a dyn Contract,
    /// What is taken away.
    pub removed: &'a Cp,
}

impl Contract for Deflated<'_> {
    fn dim(&self) -> usize {
        self.tensor.dim()
    }
    fn rounding(&self) -> f64 {
        self.tensor.rounding()
    }
    fn order(&self) -> usize {
        self.tensor.order()
    }
    fn contract(&self, arguments: &[&Mat]) -> Result<Mat> {
        let mut out = self.tensor.contract(arguments)?;
        out.add_scaled(-1.0, &self.removed.contract(arguments)?);
        Ok(out)
    }
    fn slice(&self, u: &Mat) -> Result<Mat> {
        let mut out = self.tensor.slice(u)?;
        out.add_scaled(-1.0, &self.removed.slice(u)?);
        Ok(out)
    }
}
