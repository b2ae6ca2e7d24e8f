//! Tensors that are sums over samples and are never formed.

use super::{Contract, Tensor3, check_arguments, hadamard, slice_by_contraction};
use crate::error::Result;
use crate::linalg::parallel::{BLOCK, add_assign, sum_blocks};
use crate::linalg::{Kernel, Mat, Rows, View, dot, gemm, gemm_add, vectorised, view, view_mut, with_rows};
use std::ops::Range;

/// One summand of an [`Implicit`] tensor; "sym" adds the distinct placements of the sides.
#[derive(Clone)]
pub enum Term<'a> {
    /// scale · Σ_t w_t y_t⊗…⊗y_t over samples in rows.
    Powers {
        /// The samples y_t.
        samples: &'a dyn Rows,
        /// The weights w_t; all one when absent.
        weights: Option<&'a [f64]>,
        /// A common factor, often 1/n.
        scale: f64,
    },
    /// scale · sym Σ_t w_t z_t⊗z_t⊗x_t, three placements; order 3 only.
    Mixed {
        /// The samples z_t that stand twice.
        twice: &'a dyn Rows,
        /// The samples x_t that stand once.
        once: &'a dyn Rows,
        /// The weights w_t; all one when absent.
        weights: Option<&'a [f64]>,
        /// A common factor.
        scale: f64,
    },
    /// scale · v⊗…⊗v.
    RankOne {
        /// The vector.
        vector: Vec<f64>,
        /// Its factor.
        scale: f64,
    },
    /// scale · sym(M⊗v) = scale · (M_ij v_l + M_il v_j + M_jl v_i); order 3 only.
    MatrixVector {
        /// A symmetric matrix.
        matrix: Mat,
        /// A vector.
        vector: Vec<f64>,
        /// Their factor.
        scale: f64,
    },
    /// scale · sym(M⊗M) = scale · (M_ij M_lm + M_il M_jm + M_im M_jl); order 4 only.
    MatrixPair {
        /// A symmetric matrix.
        matrix: Mat,
        /// Its factor.
        scale: f64,
    },
}

/// A symmetric tensor given as a sum of [`Term`]s, contracted without forming it.
///
/// For example the fourth cumulant of white samples is (1/n) Σ y⊗⁴ − sym(I⊗I), and the Dirichlet-corrected
/// third moment is a·Σ y⊗³ − b·sym(P⊗μ) + c·μ⊗³.
///
/// # Complexity
/// A contraction of m columns costs 4·n·d·m floating-point operations for a sample term, as matrix products.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::Mat;
/// use tenfold_engine::tensor::{Contract, Implicit, Term};
/// let y = Mat::from_vec(2, 2, vec![1.0, 0.0, 0.0, 2.0]);
/// let t = Implicit::new(3, 2, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 }]);
/// let v = Mat::from_vec(2, 1, vec![1.0, 1.0]);
/// assert_eq!(t.power(&v).unwrap().as_slice(), &[1.0, 8.0]);
/// ```
#[derive(Clone)]
pub struct Implicit<'a> {
    order: usize,
    dim: usize,
    terms: Vec<Term<'a>>,
}

impl<'a> Implicit<'a> {
    /// The sum of `terms`.
    ///
    /// # Panics
    /// When a term has another dimension or does not exist at this order.
    pub fn new(order: usize, dim: usize, terms: Vec<Term<'a>>) -> Self {
        assert!(order == 3 || order == 4, "orders 3 and 4 exist");
        for term in &terms {
            let (fits, orders): (bool, &[usize]) = match term {
                Term::Powers { samples, weights, .. } => {
                    (samples.cols() == dim && weights.is_none_or(|w| w.len() == samples.rows()), &[3, 4])
                }
                Term::Mixed { twice, once, .. } => {
                    (twice.cols() == dim && once.cols() == dim && twice.rows() == once.rows(), &[3])
                }
                Term::RankOne { vector, .. } => (vector.len() == dim, &[3, 4]),
                Term::MatrixVector { matrix, vector, .. } => {
                    (matrix.rows() == dim && vector.len() == dim, &[3])
                }
                Term::MatrixPair { matrix, .. } => (matrix.rows() == dim, &[4]),
            };
            assert!(fits && orders.contains(&order), "every term fits the dimension and the order");
        }
        Self { order, dim, terms }
    }

    /// The summands.
    pub fn terms(&self) -> &[Term<'a>] {
        &self.terms
    }
}

impl Implicit<'_> {
    /// The tensor of order 3, formed: for sides up to about 160, where decomposing a dense tensor is cheaper than
    /// passing over the samples in every iteration.
    ///
    /// # Errors
    /// What a data source says.
    ///
    /// # Panics
    /// When the order is 4.
    pub fn to_tensor3(&self) -> Result<Tensor3> {
        assert_eq!(self.order, 3, "an order-3 tensor is formed");
        let mut sum = Tensor3::zeros(self.dim);
        for term in &self.terms {
            let mut part = Tensor3::zeros(self.dim);
            match term {
                Term::Powers { samples, weights, .. } => part = Tensor3::from_samples(*samples, *weights)?,
                Term::Mixed { twice, once, weights, .. } => {
                    part = Tensor3::from_mixed(*twice, *once, *weights)?;
                }
                Term::RankOne { vector, .. } => part.add_rank_one(1.0, vector),
                Term::MatrixVector { matrix: m, vector: v, .. } => {
                    part.for_each_entry(|&[i, j, l], entry| {
                        *entry = m[(i, j)] * v[l] + m[(i, l)] * v[j] + m[(j, l)] * v[i];
                    })
                }
                Term::MatrixPair { .. } => unreachable!("a pair of matrices has order 4"),
            }
            sum.add_scaled(term.scale(), &part);
        }
        Ok(sum)
    }
}

impl Contract for Implicit<'_> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn order(&self) -> usize {
        self.order
    }

    fn contract(&self, arguments: &[&Mat]) -> Result<Mat> {
        let width = check_arguments(self, arguments);
        let mut out = Mat::zeros(self.dim, width);
        for term in &self.terms {
            out.add_scaled(term.scale(), &term.contract(arguments)?);
        }
        Ok(out)
    }

    fn slice(&self, u: &Mat) -> Result<Mat> {
        let mut out = Mat::zeros(self.dim, self.dim);
        for term in &self.terms {
            let part = match term {
                Term::Powers { samples, weights, .. } => slice_powers(*samples, *weights, self.order, u)?,
                Term::MatrixPair { matrix, .. } => slice_matrix_pair(matrix, u),
                other => {
                    slice_by_contraction(self.dim, self.order, u, |arguments| other.contract(arguments))?
                }
            };
            out.add_scaled(term.scale(), &part);
        }
        Ok(out)
    }
}

impl Term<'_> {
    fn scale(&self) -> f64 {
        match self {
            Term::Powers { scale, .. }
            | Term::Mixed { scale, .. }
            | Term::RankOne { scale, .. }
            | Term::MatrixVector { scale, .. }
            | Term::MatrixPair { scale, .. } => *scale,
        }
    }

    /// The contraction without the factor `scale`.
    fn contract(&self, arguments: &[&Mat]) -> Result<Mat> {
        let width = arguments[0].cols();
        match self {
            Term::Powers { samples, weights, .. } => sum_rows(*samples, width, |range, y, sum| {
                finish(y, inner_products(y, arguments), weights.map(|w| &w[range]), sum);
                Ok(())
            }),
            Term::Mixed { twice, once, weights, .. } => sum_rows(*twice, width, |range, z, sum| {
                let weights = weights.map(|w| &w[range.clone()]);
                let rows = range.len();
                with_rows(*once, range, &mut Vec::new(), |x| {
                    add_mixed(z, view(x, rows, once.cols()), arguments, weights, sum);
                })
            }),
            Term::RankOne { vector, .. } => {
                let v = Mat::from_vec(1, vector.len(), vector.clone());
                let inner: Vec<Mat> = arguments.iter().map(|a| v.matmul(a)).collect();
                Ok(v.tr_matmul(&hadamard(&inner)))
            }
            Term::MatrixVector { matrix, vector, .. } => Ok(matrix_vector(matrix, vector, arguments)),
            Term::MatrixPair { matrix, .. } => Ok(matrix_pair(matrix, arguments)),
        }
    }
}

/// A cols × width matrix summed over blocks of rows of `source`.
fn sum_rows(
    source: &dyn Rows,
    width: usize,
    add: impl Fn(Range<usize>, View<'_>, &mut [f64]) -> Result<()> + Sync,
) -> Result<Mat> {
    let d = source.cols();
    let sums = sum_blocks(
        source.rows(),
        BLOCK,
        || vec![0.0; d * width],
        |sum, range| {
            let rows = range.len();
            with_rows(source, range.clone(), &mut Vec::new(), |y| add(range, view(y, rows, d), sum))?
        },
        |total, lane| add_assign(total, &lane),
    )?;
    Ok(Mat::from_vec(d, width, sums))
}

/// Σ_t w_t f_t y_t y_tᵀ with f_t = Σ_c ⟨y_t, u_c⟩^(order − 2): one weighted Gram matrix.
fn slice_powers(samples: &dyn Rows, weights: Option<&[f64]>, order: usize, u: &Mat) -> Result<Mat> {
    sum_rows(samples, samples.cols(), |range, y, sum| {
        let inner = multiply(y, u);
        let along = |t: usize| inner.row(t).iter().map(|z| if order == 3 { *z } else { z * z }).sum::<f64>();
        let mut factors: Vec<f64> = (0..range.len()).map(along).collect();
        if let Some(weights) = weights {
            factors.iter_mut().zip(&weights[range]).for_each(|(f, w)| *f *= w);
        }
        let copy = Mat::from_fn(y.nrows(), y.ncols(), |t, i| y[(t, i)]);
        finish(y, copy, Some(&factors), sum);
        Ok(())
    })
}

/// YA ∘ YB ∘ …; equal arguments (the power map) are multiplied only once.
fn inner_products(y: View<'_>, arguments: &[&Mat]) -> Mat {
    let mut product = multiply(y, arguments[0]);
    if arguments.iter().all(|a| std::ptr::eq(*a, arguments[0])) {
        vectorised(Raise { values: product.as_mut_slice(), cube: arguments.len() == 3 });
        return product;
    }
    for argument in &arguments[1..] {
        product = hadamard(&[product, multiply(y, argument)]);
    }
    product
}

/// Squares or cubes every value.
struct Raise<'a> {
    values: &'a mut [f64],
    cube: bool,
}

impl Kernel for Raise<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        if self.cube {
            self.values.iter_mut().for_each(|v| *v = *v * *v * *v);
        } else {
            self.values.iter_mut().for_each(|v| *v *= *v);
        }
    }
}

/// The three placements of z⊗z⊗x: x (z·a)(z·b) + z [(x·a)(z·b) + (z·a)(x·b)].
fn add_mixed(z: View<'_>, x: View<'_>, arguments: &[&Mat], weights: Option<&[f64]>, sum: &mut [f64]) {
    if std::ptr::eq(arguments[0], arguments[1]) {
        // Half of the products and of their room; p + p is what p + 1·p is.
        let [za, xa] = [multiply(z, arguments[0]), multiply(x, arguments[0])];
        let mut cross = hadamard(&[xa, za.clone()]);
        finish(x, za.map(|v| v * v), weights, sum);
        cross.as_mut_slice().iter_mut().for_each(|v| *v += *v);
        return finish(z, cross, weights, sum);
    }
    let [za, zb] = [multiply(z, arguments[0]), multiply(z, arguments[1])];
    let [xa, xb] = [multiply(x, arguments[0]), multiply(x, arguments[1])];
    finish(x, hadamard(&[za.clone(), zb.clone()]), weights, sum);
    let mut cross = hadamard(&[xa, zb]);
    cross.add_scaled(1.0, &hadamard(&[za, xb]));
    finish(z, cross, weights, sum);
}

fn multiply(y: View<'_>, argument: &Mat) -> Mat {
    let mut out = Mat::zeros(y.nrows(), argument.cols());
    gemm(out.view_mut(), y, argument.view());
    out
}

/// sum += Yᵀ (w ∘ product).
fn finish(y: View<'_>, mut product: Mat, weights: Option<&[f64]>, sum: &mut [f64]) {
    if let Some(weights) = weights {
        product.scale_rows(weights);
    }
    gemm_add(view_mut(sum, y.ncols(), product.cols()), y.transpose(), product.view());
}

/// Σ_c sym(M⊗M)(I, I, u_c, u_c) = M tr(UᵀMU) + 2 (MU)(MU)ᵀ.
fn slice_matrix_pair(matrix: &Mat, u: &Mat) -> Mat {
    let mu = matrix.matmul(u);
    let trace: f64 = mu.col_dots(u).iter().sum();
    let mut out = mu.matmul_tr(&mu).map(|x| 2.0 * x);
    out.add_scaled(trace, matrix);
    out
}

/// sym(M⊗v)(I, a, b) = M a (v·b) + M b (v·a) + v (aᵀ M b), column by column.
fn matrix_vector(matrix: &Mat, vector: &[f64], arguments: &[&Mat]) -> Mat {
    let [a, b] = [arguments[0], arguments[1]];
    let [ma, mb] = [matrix.matmul(a), matrix.matmul(b)];
    let along = |m: &Mat| -> Vec<f64> { (0..m.cols()).map(|c| dot(&m.col(c), vector)).collect() };
    let [va, vb] = [along(a), along(b)];
    let amb = a.col_dots(&mb);
    Mat::from_fn(a.rows(), a.cols(), |i, c| ma[(i, c)] * vb[c] + mb[(i, c)] * va[c] + vector[i] * amb[c])
}

/// sym(M⊗M)(I, a, b, c) = Ma (bᵀMc) + Mb (aᵀMc) + Mc (aᵀMb), column by column.
fn matrix_pair(matrix: &Mat, arguments: &[&Mat]) -> Mat {
    let m: Vec<Mat> = arguments.iter().map(|a| matrix.matmul(a)).collect();
    let (bc, ac, ab) =
        (arguments[1].col_dots(&m[2]), arguments[0].col_dots(&m[2]), arguments[0].col_dots(&m[1]));
    Mat::from_fn(matrix.rows(), bc.len(), |i, c| {
        m[0][(i, c)] * bc[c] + m[1][(i, c)] * ac[c] + m[2][(i, c)] * ab[c]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{parallel, random};
    use crate::tensor::{Tensor3, Tensor4};

    /// The same tensor entry by entry from the definition of every term.
    fn explicit3(terms: &[Term], d: usize) -> Tensor3 {
        let mut total = Tensor3::zeros(d);
        total.for_each_entry(|&[i, j, l], entry| {
            for term in terms {
                *entry += term.scale()
                    * match term {
                        Term::Powers { samples, weights, .. } => {
                            let y = all(*samples);
                            (0..y.rows()).map(|t| w(weights, t) * y[(t, i)] * y[(t, j)] * y[(t, l)]).sum()
                        }
                        Term::Mixed { twice, once, weights, .. } => {
                            let (z, x) = (all(*twice), all(*once));
                            let at = |t: usize| {
                                z[(t, i)] * z[(t, j)] * x[(t, l)]
                                    + z[(t, i)] * x[(t, j)] * z[(t, l)]
                                    + x[(t, i)] * z[(t, j)] * z[(t, l)]
                            };
                            (0..z.rows()).map(|t| w(weights, t) * at(t)).sum()
                        }
                        Term::RankOne { vector: v, .. } => v[i] * v[j] * v[l],
                        Term::MatrixVector { matrix: m, vector: v, .. } => {
                            m[(i, j)] * v[l] + m[(i, l)] * v[j] + m[(j, l)] * v[i]
                        }
                        Term::MatrixPair { .. } => unreachable!("order 4"),
                    };
            }
        });
        total
    }

    fn w(weights: &Option<&[f64]>, t: usize) -> f64 {
        weights.map_or(1.0, |w| w[t])
    }

    fn all(rows: &dyn Rows) -> Mat {
        let mut out = Mat::zeros(rows.rows(), rows.cols());
        rows.read_rows(0, out.as_mut_slice()).unwrap();
        out
    }

    fn close(a: &Mat, b: &Mat) -> bool {
        let mut difference = a.clone();
        difference.add_scaled(-1.0, b);
        difference.max_abs() < 1e-10 * (1.0 + b.max_abs())
    }

    #[test]
    fn every_third_order_term_equals_its_explicit_tensor() {
        let (n, d) = (1100, 5);
        let mut rng = random::rng(6, 0);
        let [y, z, x] = std::array::from_fn(|_| random::gaussian(n, d, &mut rng));
        let weights: Vec<f64> = (0..n).map(|_| random::normal(&mut rng)).collect();
        let g = random::gaussian(d, d, &mut rng);
        let matrix = Mat::from_fn(d, d, |i, j| g[(i, j)] + g[(j, i)]);
        let vector: Vec<f64> = (0..d).map(|_| random::normal(&mut rng)).collect();
        let terms = vec![
            Term::Powers { samples: &y, weights: Some(&weights), scale: 0.3 },
            Term::Powers { samples: &z, weights: None, scale: -0.1 },
            Term::Mixed { twice: &z, once: &x, weights: Some(&weights), scale: 0.7 },
            Term::RankOne { vector: vector.clone(), scale: 2.0 },
            Term::MatrixVector { matrix, vector, scale: -1.5 },
        ];
        let brute = explicit3(&terms, d);
        let implicit = Implicit::new(3, d, terms);
        let [a, b] = std::array::from_fn(|_| random::gaussian(d, 4, &mut rng));
        assert!(close(&implicit.contract(&[&a, &b]).unwrap(), &brute.contract(&[&a, &b]).unwrap()));
        assert!(close(&implicit.power(&a).unwrap(), &brute.power(&a).unwrap()));
        assert!(close(&implicit.slice(&a).unwrap(), &brute.slice(&a).unwrap()));
        let run = |threads| {
            parallel::with_threads(threads, || (implicit.power(&a).unwrap(), implicit.slice(&a).unwrap()))
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), one);
        }
    }

    #[test]
    fn fourth_order_terms_equal_their_explicit_tensor() {
        let (n, d) = (700, 4);
        let mut rng = random::rng(7, 0);
        let y = random::gaussian(n, d, &mut rng);
        let g = random::gaussian(d, d, &mut rng);
        let m = Mat::from_fn(d, d, |i, j| g[(i, j)] + g[(j, i)]);
        let v: Vec<f64> = (0..d).map(|_| random::normal(&mut rng)).collect();
        let mut brute = Tensor4::zeros(d);
        (0..n).for_each(|t| brute.add_rank_one(0.01, y.row(t)));
        brute.add_rank_one(3.0, &v);
        brute.for_each_entry(|&[i, j, k, l], e| {
            *e -= 0.5 * (m[(i, j)] * m[(k, l)] + m[(i, k)] * m[(j, l)] + m[(i, l)] * m[(j, k)]);
        });
        let terms = vec![
            Term::Powers { samples: &y, weights: None, scale: 0.01 },
            Term::RankOne { vector: v, scale: 3.0 },
            Term::MatrixPair { matrix: m, scale: -0.5 },
        ];
        let implicit = Implicit::new(4, d, terms);
        let [a, b, c] = std::array::from_fn(|_| random::gaussian(d, 3, &mut rng));
        assert!(close(&implicit.contract(&[&a, &b, &c]).unwrap(), &brute.contract(&[&a, &b, &c]).unwrap()));
        assert!(close(&implicit.power(&a).unwrap(), &brute.power(&a).unwrap()));
        assert!(close(&implicit.slice(&a).unwrap(), &brute.slice(&a).unwrap()));
    }

    #[test]
    fn the_formed_tensor_contracts_alike() {
        let mut rng = random::rng(12, 0);
        let [y, z, x] = [40, 23, 23].map(|rows| random::gaussian(rows, 11, &mut rng));
        let m = random::gaussian(11, 11, &mut rng);
        let matrix = Mat::from_fn(11, 11, |i, j| m[(i, j)] + m[(j, i)]);
        let weights: Vec<f64> = (0..40).map(|i| 0.1 * f64::from(i) - 1.0).collect();
        let terms = vec![
            Term::Powers { samples: &y, weights: Some(&weights), scale: 0.5 },
            Term::Mixed { twice: &z, once: &x, weights: Some(&weights[..23]), scale: -1.5 },
            Term::RankOne { vector: y.row(0).to_vec(), scale: 2.0 },
            Term::MatrixVector { matrix, vector: y.row(1).to_vec(), scale: 0.3 },
        ];
        let implicit = Implicit::new(3, 11, terms);
        let formed = implicit.to_tensor3().unwrap();
        let [a, b] = [random::gaussian(11, 4, &mut rng), random::gaussian(11, 4, &mut rng)];
        let mut gap = formed.contract(&[&a, &b]).unwrap();
        gap.add_scaled(-1.0, &implicit.contract(&[&a, &b]).unwrap());
        assert!(gap.max_abs() < 1e-10, "{}", gap.max_abs());
    }
}
