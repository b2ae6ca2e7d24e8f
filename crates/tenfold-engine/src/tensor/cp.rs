//! A decomposition: weights and unit vectors, in one canonical form.

use super::{Contract, Packed, check_arguments, hadamard};
use crate::error::Result;
use crate::linalg::{Mat, assign};

/// T = Σ_i λ_i v_i⊗…⊗v_i, the central result.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::Mat;
/// use tenfold_engine::tensor::Cp;
/// let cp = Cp::new(3, vec![1.0, -2.0], Mat::identity(2)).canonical();
/// assert_eq!(cp.weights, [2.0, 1.0]);
/// assert_eq!(cp.factors.col(0), [0.0, -1.0]); // odd order: the sign moves into the vector
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cp {
    /// Number of sides of the tensor.
    pub order: usize,
    /// λ_i.
    pub weights: Vec<f64>,
    /// v_i in column i, of unit length.
    pub factors: Mat,
}

/// How the components of one decomposition correspond to those of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Component i of the first goes with component `partner[i]` of the second.
    pub partner: Vec<usize>,
    /// ‖v_i − s·u_partner‖ with the better sign s.
    pub errors: Vec<f64>,
    /// |λ_i − λ_partner|.
    pub weight_errors: Vec<f64>,
}

impl Match {
    /// The largest vector error.
    pub fn worst(&self) -> f64 {
        self.errors.iter().fold(0.0, |m, e| m.max(*e))
    }

    /// Share of components whose vector error is below `tolerance`.
    pub fn found(&self, tolerance: f64) -> f64 {
        let found = self.errors.iter().filter(|e| **e < tolerance).count();
        found as f64 / self.errors.len().max(1) as f64
    }
}

impl Cp {
    /// Weights and unit column vectors.
    pub fn new(order: usize, weights: Vec<f64>, factors: Mat) -> Self {
        assert_eq!(weights.len(), factors.cols(), "one weight a column");
        Self { order, weights, factors }
    }

    /// No component yet.
    pub fn empty(order: usize, dim: usize) -> Self {
        Self::new(order, Vec::new(), Mat::zeros(dim, 0))
    }

    /// Columns of any length: their length^order moves into the weights.
    pub fn normalised(order: usize, mut weights: Vec<f64>, mut factors: Mat) -> Self {
        let norms = factors.col_norms();
        for (weight, norm) in weights.iter_mut().zip(&norms) {
            *weight *= norm.powi(order as i32);
        }
        factors.scale_cols(&norms.iter().map(|n| if *n > 0.0 { 1.0 / n } else { 0.0 }).collect::<Vec<_>>());
        Self::new(order, weights, factors)
    }

    /// Number of components.
    pub fn k(&self) -> usize {
        self.weights.len()
    }

    /// The one form in which equal decompositions have equal bytes: heaviest first (among equals, by the vectors'
    /// entries); odd orders with positive weights, even orders with the largest entry of each vector positive.
    pub fn canonical(mut self) -> Self {
        let signs: Vec<f64> = (0..self.k()).map(|c| self.canonical_sign(c)).collect();
        self.factors.scale_cols(&signs);
        if self.order % 2 == 1 {
            self.weights.iter_mut().zip(&signs).for_each(|(w, s)| *w *= s);
        }
        let mut by_weight: Vec<usize> = (0..self.k()).collect();
        by_weight.sort_by(|&a, &b| {
            let entries = || {
                self.factors
                    .col(b)
                    .iter()
                    .zip(self.factors.col(a))
                    .map(|(x, y)| x.total_cmp(&y))
                    .find(|o| o.is_ne())
            };
            let heavier = self.weights[b].abs().total_cmp(&self.weights[a].abs());
            heavier.then_with(|| entries().unwrap_or(std::cmp::Ordering::Equal))
        });
        let weights = by_weight.iter().map(|&i| self.weights[i]).collect();
        Self::new(self.order, weights, self.factors.select_cols(&by_weight))
    }

    fn canonical_sign(&self, c: usize) -> f64 {
        if self.order % 2 == 1 && self.weights[c] != 0.0 {
            return self.weights[c].signum();
        }
        let largest =
            self.factors.col(c).into_iter().fold(0.0f64, |m, x| if x.abs() > m.abs() { x } else { m });
        if largest < 0.0 { -1.0 } else { 1.0 }
    }

    /// The components `chosen`, in that order.
    pub fn select(&self, chosen: &[usize]) -> Self {
        let weights = chosen.iter().map(|&i| self.weights[i]).collect();
        Self::new(self.order, weights, self.factors.select_cols(chosen))
    }

    /// One more component.
    pub fn push(&mut self, weight: f64, vector: &[f64]) {
        let k = self.k();
        self.weights.push(weight);
        self.factors =
            Mat::from_fn(
                self.factors.rows(),
                k + 1,
                |i, c| {
                    if c < k { self.factors[(i, c)] } else { vector[i] }
                },
            );
    }

    /// The dense tensor Σ λ_i v_i⊗…⊗v_i.
    pub fn reconstruct<const ORDER: usize>(&self) -> Packed<ORDER> {
        assert_eq!(ORDER, self.order, "the order of the decomposition");
        let mut tensor = Packed::zeros(self.factors.rows());
        (0..self.k()).for_each(|c| tensor.add_rank_one(self.weights[c], &self.factors.col(c)));
        tensor
    }

    /// ‖T − T̂‖ / ‖T‖ from ‖T‖² − 2 Σ λ_i T(v_i, …) + ‖T̂‖², or nothing where ‖T‖ is not known.
    ///
    /// # Errors
    /// What a data source behind the tensor says.
    pub fn residual(&self, tensor: &dyn Contract) -> Result<Option<f64>> {
        let (Some(norm), Some(own)) = (tensor.norm_squared(), self.norm_squared()) else { return Ok(None) };
        let values = tensor.values(&self.factors)?;
        let cross: f64 = values.iter().zip(&self.weights).map(|(v, w)| v * w).sum();
        // Rounding may leave a tiny negative number where the fit is exact.
        Ok(Some(((norm - 2.0 * cross + own).max(0.0) / norm.max(f64::MIN_POSITIVE)).sqrt()))
    }

    /// The best one-to-one correspondence with `other`, which has at least as many components.
    pub fn match_to(&self, other: &Self) -> Match {
        let overlap = self.factors.tr_matmul(&other.factors);
        let partner = assign(&overlap.map(f64::abs));
        let error = |i: usize, j: usize| {
            let sign = if overlap[(i, j)] < 0.0 { -1.0 } else { 1.0 };
            let rows = 0..self.factors.rows();
            rows.map(|r| (self.factors[(r, i)] - sign * other.factors[(r, j)]).powi(2)).sum::<f64>().sqrt()
        };
        let errors = partner.iter().enumerate().map(|(i, &j)| error(i, j)).collect();
        let weight_errors =
            partner.iter().enumerate().map(|(i, &j)| (self.weights[i] - other.weights[j]).abs()).collect();
        Match { partner, errors, weight_errors }
    }
}

impl Contract for Cp {
    fn dim(&self) -> usize {
        self.factors.rows()
    }
    fn order(&self) -> usize {
        self.order
    }
    fn contract(&self, arguments: &[&Mat]) -> Result<Mat> {
        check_arguments(self, arguments);
        let inner: Vec<Mat> = arguments.iter().map(|a| self.factors.tr_matmul(a)).collect();
        let mut product = hadamard(&inner);
        product.scale_rows(&self.weights);
        Ok(self.factors.matmul(&product))
    }
    fn norm_squared(&self) -> Option<f64> {
        let gram = self.factors.tr_matmul(&self.factors);
        let pairs = (0..self.k()).flat_map(|i| (0..self.k()).map(move |j| (i, j)));
        Some(
            pairs
                .map(|(i, j)| self.weights[i] * self.weights[j] * gram[(i, j)].powi(self.order as i32))
                .sum(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;
    use crate::tensor::{Deflated, Tensor3, Tensor4};

    fn some(order: usize, d: usize, k: usize) -> Cp {
        let mut rng = random::rng(8, 0);
        let factors = random::gaussian(d, k, &mut rng);
        Cp::normalised(order, (0..k).map(|_| random::normal(&mut rng)).collect(), factors)
    }

    #[test]
    fn contraction_and_norm_equal_those_of_the_dense_tensor() {
        let (cp3, cp4) = (some(3, 5, 4), some(4, 5, 4));
        let (t3, t4): (Tensor3, Tensor4) = (cp3.reconstruct(), cp4.reconstruct());
        let v = random::gaussian(5, 3, &mut random::rng(1, 0));
        for (cp, tensor) in [(&cp3, &t3 as &dyn Contract), (&cp4, &t4)] {
            let mut difference = cp.power(&v).unwrap();
            difference.add_scaled(-1.0, &tensor.power(&v).unwrap());
            assert!(difference.max_abs() < 1e-12);
            assert!((cp.norm_squared().unwrap() - tensor.norm_squared().unwrap()).abs() < 1e-12);
            assert!(cp.residual(tensor).unwrap().unwrap() < 1e-7);
            let left = Deflated { tensor, removed: cp };
            assert!(left.power(&v).unwrap().max_abs() < 1e-12 && left.slice(&v).unwrap().max_abs() < 1e-11);
        }
    }

    #[test]
    fn canonical_form_does_not_depend_on_order_or_sign_and_keeps_the_tensor() {
        for order in [3, 4] {
            let cp = some(order, 6, 4);
            let shuffled = {
                let mut other = cp.select(&[2, 0, 3, 1]);
                other.factors.scale_cols(&[-1.0, 1.0, -1.0, 1.0]);
                if order == 3 {
                    other.weights.iter_mut().zip([-1.0, 1.0, -1.0, 1.0]).for_each(|(w, s)| *w *= s);
                }
                other
            };
            assert_eq!(cp.clone().canonical(), shuffled.canonical());
            assert!(cp.clone().canonical().residual(&cp).unwrap().unwrap() < 1e-7);
            let matched = cp.clone().canonical().match_to(&cp);
            assert!(matched.worst() < 1e-15 && matched.found(1e-12) == 1.0);
        }
    }
}
