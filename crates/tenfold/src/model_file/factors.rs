//! The components of a tensor in a model file.

use super::{ModelFile, model_error};
use crate::error::Result;
use std::path::Path;
use tenfold_engine::linalg::Mat;
use tenfold_engine::tensor::Cp;

/// Components as `tenfold tensor decompose` writes them, a file of kind `tensor`: T = Σ λ_i v_i⊗…⊗v_i, or
/// Σ λ_i a_i⊗b_i⊗c_i where the sides differ.
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Mat;
/// use tenfold::model_file::{Factors, ModelFile};
/// let mut file = ModelFile::new("tensor", serde_json::json!({ "order": 3 }));
/// file.insert_vector("weights", &[2.0, 1.0]);
/// file.insert_matrix("factors", &Mat::identity(2));
/// let found = Factors::from_file(&file)?;
/// assert_eq!((found.order, found.symmetric().map(|cp| cp.k())), (3, Some(2)));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Factors {
    /// Sides of the tensor.
    pub order: usize,
    /// λ_i.
    pub weights: Vec<f64>,
    /// A matrix whose columns are the v_i, or three with the a_i, the b_i and the c_i.
    pub factors: Vec<Mat>,
}

impl Factors {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) when the file is damaged, foreign or of another kind.
    pub fn load(path: &Path) -> Result<Self> {
        Self::from_file(&ModelFile::load(path)?)
    }

    /// From a file that is read already.
    ///
    /// # Errors
    /// As [`Factors::load`].
    pub fn from_file(file: &ModelFile) -> Result<Self> {
        file.expect_kind("tensor")?;
        let names = match file.tensors.contains_key("factors") {
            true => &["factors"][..],
            false => &["factors_1", "factors_2", "factors_3"],
        };
        let weights = file.vector("weights")?;
        let factors: Vec<Mat> = names.iter().map(|name| file.matrix(name)).collect::<Result<_>>()?;
        let fits = factors.iter().all(|factor| factor.cols() == weights.len() && factor.rows() > 0);
        if weights.is_empty() || !fits {
            return Err(model_error(
                file.path(),
                "its tensors do not fit together",
                "decompose the tensor again",
            ));
        }
        file.check_sum("weights", "a sum", f64::abs)?;
        names.iter().try_for_each(|name| file.check_squares(name))?;
        // Files from outside need not say; whether it is odd is all that signs depend on.
        let order = file.metadata["order"].as_u64().filter(|order| (1..=64).contains(order)).unwrap_or(3);
        Ok(Self { order: order as usize, weights, factors })
    }

    /// The components of a symmetric tensor; nothing of one whose sides differ.
    pub fn symmetric(&self) -> Option<Cp> {
        match &self.factors[..] {
            [one] => Some(Cp::new(self.order, self.weights.clone(), one.clone())),
            _ => None,
        }
    }
}
