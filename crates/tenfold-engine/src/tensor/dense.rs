//! Tensors without symmetry, and what turns one tensor into another.

use super::{Packed, Tensor4};
use crate::linalg::Mat;

/// A dense tensor of three sides of any length, in C order.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    /// Lengths of the sides.
    pub shape: [usize; 3],
    /// Entries; the last index runs fastest.
    pub data: Vec<f64>,
}

impl Dense {
    /// Takes the entries in C order.
    ///
    /// # Panics
    /// When the number of entries is not the product of the lengths.
    pub fn new(shape: [usize; 3], data: Vec<f64>) -> Self {
        assert_eq!(shape.iter().product::<usize>(), data.len(), "as many entries as the shape says");
        Self { shape, data }
    }

    /// Σ_r a_r⊗b_r⊗c_r over the columns of three matrices.
    pub fn from_factors(factors: [&Mat; 3]) -> Self {
        let shape = factors.map(Mat::rows);
        let mut data = Vec::with_capacity(shape.iter().product());
        for i in 0..shape[0] {
            for j in 0..shape[1] {
                let ab: Vec<f64> =
                    factors[0].row(i).iter().zip(factors[1].row(j)).map(|(a, b)| a * b).collect();
                data.extend(factors[2].matvec(&ab));
            }
        }
        Self { shape, data }
    }

    /// Frobenius norm.
    pub fn norm(&self) -> f64 {
        self.data.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// The entry at three indices.
    pub fn at(&self, [i, j, l]: [usize; 3]) -> f64 {
        self.data[(i * self.shape[1] + j) * self.shape[2] + l]
    }

    /// The sides in another order: side m of the result is side `sides[m]` of this one.
    pub fn permuted(&self, sides: [usize; 3]) -> Self {
        let shape = sides.map(|s| self.shape[s]);
        let mut data = Vec::with_capacity(self.data.len());
        for i in 0..shape[0] {
            for j in 0..shape[1] {
                for l in 0..shape[2] {
                    let mut index = [0; 3];
                    (index[sides[0]], index[sides[1]], index[sides[2]]) = (i, j, l);
                    data.push(self.at(index));
                }
            }
        }
        Self { shape, data }
    }

    /// T(A, B, C): entry (p, q, r) is Σ_ijl T_ijl A_ip B_jq C_lr.
    pub fn multilinear(&self, [a, b, c]: [&Mat; 3]) -> Self {
        // Contract the last side and bring it to the front, three times: the sides return in order.
        let mut current = self.clone();
        for factor in [c, b, a] {
            let [s0, s1, s2] = current.shape;
            let rows = Mat::from_vec(s0 * s1, s2, current.data).matmul(factor);
            let front = Dense::new([s0, s1, factor.cols()], rows.into_vec());
            current = front.permuted([2, 0, 1]);
        }
        current
    }

    /// The factor update of alternating least squares, X_(mode) (⊙ other factors): column r holds T contracted
    /// with column r of the two other factors.
    pub fn contract_all_but(&self, mode: usize, factors: [&Mat; 3]) -> Mat {
        let (second, third) = ((mode + 1) % 3, (mode + 2) % 3);
        let rotated = if mode == 0 { self.clone() } else { self.permuted([mode, second, third]) };
        let [s0, s1, s2] = rotated.shape;
        let along = Mat::from_vec(s0 * s1, s2, rotated.data).matmul(factors[third]);
        let mut out = Mat::zeros(s0, along.cols());
        for i in 0..s0 {
            for j in 0..s1 {
                let (partial, other) = (along.row(i * s1 + j), factors[second].row(j));
                out.row_mut(i).iter_mut().zip(partial).zip(other).for_each(|((o, p), f)| *o += p * f);
            }
        }
        out
    }
}

impl<const ORDER: usize> Packed<ORDER> {
    /// T(W, …, W): the tensor seen through the columns of W, still symmetric.
    ///
    /// # Complexity
    /// About 2·d^ORDER·k floating-point operations, from the full tensor: for small sides.
    pub fn multilinear(&self, w: &Mat) -> Self {
        assert_eq!(w.rows(), self.dim(), "W has a row for every index");
        let (d, k) = (self.dim(), w.cols());
        let mut data = self.to_full();
        for _ in 0..ORDER {
            // Contract the first side; it comes back as the last, so the sides rotate through.
            let rest = data.len() / d.max(1);
            let unfolded = Mat::from_vec(d, rest, data);
            data = unfolded.tr_matmul(w).into_vec();
        }
        let mut out = Self::zeros(k);
        out.for_each_entry(|index, entry| *entry = data[index.iter().fold(0, |flat, i| flat * k + i)]);
        out
    }
}

/// Turns a tensor of odd order p ≥ 3 with orthonormal components into one of order 4 by the partial trace
///
/// ptrace(T⊗T)_abcd = Σ_{i…} T(i…, a, b) T(i…, c, d), summed over the first p − 2 indices,
///
/// so that Σ λ_i v_i⊗ᵖ becomes Σ λ_i² v_i⊗⁴ (thesis, appendix "Extending to tensors of different order"). On
/// other tensors the result is symmetrised by averaging its three pairings.
///
/// `full` holds dim^order entries in C order.
pub fn ptrace(dim: usize, order: usize, full: &[f64]) -> Tensor4 {
    assert!(order >= 3 && order % 2 == 1, "the partial trace is for odd orders");
    assert_eq!(full.len(), dim.pow(order as u32), "a full tensor has dim^order entries");
    let pairs = dim * dim;
    let unfolded = Mat::from_vec(full.len() / pairs.max(1), pairs, full.to_vec());
    let gram = unfolded.tr_matmul(&unfolded);
    let at = |a: usize, b: usize, c: usize, d: usize| gram[(a * dim + b, c * dim + d)];
    let mut tensor = Tensor4::zeros(dim);
    tensor.for_each_entry(|&[a, b, c, d], entry| {
        *entry = (at(a, b, c, d) + at(a, c, b, d) + at(a, d, b, c)) / 3.0
    });
    tensor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;
    use crate::tensor::{Cp, Tensor3};

    #[test]
    fn multilinear_and_contractions_equal_explicit_sums() {
        let mut rng = random::rng(2, 0);
        let shape = [3, 4, 5];
        let t = Dense::new(shape, (0..60).map(|_| random::normal(&mut rng)).collect());
        let m = shape.map(|s| random::gaussian(s, 2, &mut rng));
        let got = t.multilinear([&m[0], &m[1], &m[2]]);
        assert_eq!(got.shape, [2, 2, 2]);
        let sum = |weight: &dyn Fn([usize; 3]) -> f64| -> f64 {
            let mut total = 0.0;
            for i in 0..3 {
                for j in 0..4 {
                    for l in 0..5 {
                        total += t.at([i, j, l]) * weight([i, j, l]);
                    }
                }
            }
            total
        };
        for (p, q, r) in [(0, 0, 0), (1, 0, 1), (0, 1, 0)] {
            let want = sum(&|[i, j, l]| m[0][(i, p)] * m[1][(j, q)] * m[2][(l, r)]);
            assert!((got.at([p, q, r]) - want).abs() < 1e-12);
        }
        for mode in 0..3 {
            let out = t.contract_all_but(mode, [&m[0], &m[1], &m[2]]);
            for a in 0..shape[mode] {
                let want = sum(&|index| {
                    let others = (0..3).filter(|&s| s != mode).map(|s| m[s][(index[s], 1)]).product::<f64>();
                    if index[mode] == a { others } else { 0.0 }
                });
                assert!((out[(a, 1)] - want).abs() < 1e-12, "mode {mode}");
            }
        }
        let built = Dense::from_factors([&m[0], &m[1], &m[2]]);
        let want: f64 = (0..2).map(|r| m[0][(2, r)] * m[1][(1, r)] * m[2][(4, r)]).sum();
        assert!((built.at([2, 1, 4]) - want).abs() < 1e-14);
    }

    #[test]
    fn symmetric_multilinear_moves_the_components() {
        let mut rng = random::rng(3, 0);
        let cp = Cp::normalised(3, vec![1.0, -2.0], random::gaussian(5, 2, &mut rng));
        let w = random::gaussian(5, 3, &mut rng);
        let moved: Tensor3 = cp.reconstruct::<3>().multilinear(&w);
        let direct = Cp::normalised(3, cp.weights.clone(), w.tr_matmul(&cp.factors));
        assert!(direct.residual(&moved).unwrap().unwrap() < 1e-7);
        let moved4 = Cp::new(4, cp.weights.clone(), cp.factors.clone()).reconstruct::<4>().multilinear(&w);
        let direct4 = Cp::normalised(4, cp.weights.clone(), w.tr_matmul(&cp.factors));
        assert!(direct4.residual(&moved4).unwrap().unwrap() < 1e-7);
    }

    #[test]
    fn partial_trace_squares_the_weights_of_odd_orders() {
        let v = random::orthogonal(4, 4, &mut random::rng(4, 0)).unwrap();
        let weights = [2.0, -1.5, 1.0, 0.5];
        for order in [3usize, 5] {
            let full: Vec<f64> = (0..4usize.pow(order as u32))
                .map(|at| {
                    let index: Vec<usize> = (0..order).map(|s| at / 4usize.pow(s as u32) % 4).collect();
                    (0..4).map(|c| weights[c] * index.iter().map(|&i| v[(i, c)]).product::<f64>()).sum()
                })
                .collect();
            let want = Cp::new(4, weights.iter().map(|w| w * w).collect(), v.clone());
            let traced = ptrace(4, order, &full);
            let mut difference = want.reconstruct::<4>();
            difference.add_scaled(-1.0, &traced);
            assert!(difference.as_slice().iter().all(|e| e.abs() < 1e-12), "order {order}");
        }
    }
}
