//! Matrices seen only through their products with skinny ones: what is never formed.

use super::Mat;
use crate::error::Result;

/// A matrix known through `A·X` and `Aᵀ·X`.
pub trait LinearOperator: Sync {
    /// Rows and columns.
    fn shape(&self) -> (usize, usize);
    /// `A · X`.
    ///
    /// # Errors
    /// What the data source says.
    fn apply(&self, x: &Mat) -> Result<Mat>;
    /// `Aᵀ · X`.
    ///
    /// # Errors
    /// What the data source says.
    fn apply_transpose(&self, x: &Mat) -> Result<Mat>;
}

/// A symmetric matrix known through `M·X`; it may have negative eigenvalues.
pub trait SymmetricOperator: Sync {
    /// Rows, which are also its columns.
    fn dim(&self) -> usize;
    /// `M · X`.
    ///
    /// # Errors
    /// What the data source says.
    fn apply(&self, x: &Mat) -> Result<Mat>;
}

impl SymmetricOperator for Mat {
    fn dim(&self) -> usize {
        assert_eq!(self.rows(), self.cols(), "a symmetric operator is square");
        self.rows()
    }
    fn apply(&self, x: &Mat) -> Result<Mat> {
        Ok(self.matmul(x))
    }
}

impl LinearOperator for Mat {
    fn shape(&self) -> (usize, usize) {
        (self.rows(), self.cols())
    }
    fn apply(&self, x: &Mat) -> Result<Mat> {
        Ok(self.matmul(x))
    }
    fn apply_transpose(&self, x: &Mat) -> Result<Mat> {
        Ok(self.tr_matmul(x))
    }
}

/// A square sparse matrix that is symmetric, such as the adjacency matrix of an undirected graph.
#[derive(Debug, Clone, Copy)]
pub struct SymmetricCsr<'a, I>(pub &'a super::Csr<I>);

impl<I: super::ColumnIndex> SymmetricOperator for SymmetricCsr<'_, I> {
    fn dim(&self) -> usize {
        assert_eq!(self.0.rows(), self.0.cols(), "a symmetric operator is square");
        self.0.rows()
    }
    fn apply(&self, x: &Mat) -> Result<Mat> {
        Ok(self.0.matmul(x))
    }
}
