//! What a stochastic gradient minimises.

use crate::error::Result;
use crate::linalg::Mat;
use crate::tensor::Contract;

/// The objectives of the thesis's chapter on online tensor decomposition, over unit vectors u_i.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// max Σ_i T(u_i, …, u_i), each column for itself: finds one component, possibly the same in every column.
    OneComponent,
    /// min ‖T − Σ_i u_i⊗…⊗u_i‖², for components of weight one.
    Reconstruction,
    /// min Σ_{i≠j} T(u_i, u_i, u_j, u_j), order 4 with positive weights: every local minimum is a decomposition
    /// (strict saddle).
    Decorrelation,
}

impl Objective {
    /// The gradient in every column, up to the common factor of the order, at a (stochastic) tensor:
    ///
    /// - one component: −T(I, u_i, …, u_i)
    /// - reconstruction: Σ_j ⟨u_i, u_j⟩^(p−1) u_j − T(I, u_i, …, u_i)
    /// - decorrelation: Σ_{j≠i} T(I, u_i, u_j, u_j), by one matrix B = Σ_j T(I, I, u_j, u_j)
    ///
    /// # Complexity
    /// O(d²b) for a batch of b samples, and O(d³) (thesis, claim after eq. (icasg)).
    ///
    /// # Errors
    /// What a data source behind the tensor says.
    pub fn gradient(self, tensor: &dyn Contract, u: &Mat) -> Result<Mat> {
        let own = tensor.power(u)?;
        let mut gradient = match self {
            Self::OneComponent => Mat::zeros(u.rows(), u.cols()),
            Self::Reconstruction => {
                let power = tensor.order() as i32 - 1;
                u.matmul(&u.tr_matmul(u).map(|x| x.powi(power)))
            }
            Self::Decorrelation => tensor.slice(u)?.matmul(u),
        };
        gradient.add_scaled(-1.0, &own);
        Ok(gradient)
    }

    /// The value that [`Objective::gradient`] descends, for tests and figures.
    ///
    /// # Errors
    /// What a data source behind the tensor says.
    pub fn value(self, tensor: &dyn Contract, u: &Mat) -> Result<f64> {
        let order = tensor.order() as f64;
        let own: f64 = tensor.values(u)?.iter().sum();
        Ok(match self {
            Self::OneComponent => -own / order,
            Self::Reconstruction => {
                let gram = u.tr_matmul(u);
                let cross: f64 = gram.as_slice().iter().map(|x| x.powi(tensor.order() as i32)).sum();
                // ½‖T − Σ u⊗p‖² without the constant ½‖T‖², divided by the order.
                (0.5 * cross - own) / order
            }
            Self::Decorrelation => {
                let all = u.col_dots(&tensor.slice(u)?.matmul(u)).iter().sum::<f64>();
                (all - own) / 4.0
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;
    use crate::tensor::Tensor4;

    #[test]
    fn gradients_equal_finite_differences() {
        let mut rng = random::rng(1, 0);
        let mut t = Tensor4::zeros(4);
        t.for_each_entry(|_, e| *e = random::normal(&mut rng));
        let u = random::gaussian(4, 3, &mut rng);
        for objective in [Objective::OneComponent, Objective::Reconstruction, Objective::Decorrelation] {
            let gradient = objective.gradient(&t, &u).unwrap();
            for (i, c) in [(0, 0), (3, 1), (2, 2)] {
                let at = |step: f64| {
                    let mut moved = u.clone();
                    moved[(i, c)] += step;
                    objective.value(&t, &moved).unwrap()
                };
                let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((gradient[(i, c)] - numeric).abs() < 1e-6 * (1.0 + numeric.abs()), "{objective:?}");
            }
        }
    }
}
