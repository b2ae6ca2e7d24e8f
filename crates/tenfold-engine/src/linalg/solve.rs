//! Factorisations of small and of tall dense matrices.

use super::{Mat, gemm};
use crate::error::{Error, Result};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd_scratch};
use faer::linalg::solvers::Solve;
use faer::{Side, Spec};

/// Eigenvalues in descending (signed) order, eigenvectors in the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// λ₁ ≥ λ₂ ≥ …
    pub values: Vec<f64>,
    /// Orthonormal columns, in the order of `values`.
    pub vectors: Mat,
}

/// `A = U diag(s) Vᵀ` with s descending.
#[derive(Debug, Clone, PartialEq)]
pub struct Svd {
    /// Left singular vectors in the columns.
    pub u: Mat,
    /// Singular values, largest first.
    pub s: Vec<f64>,
    /// Right singular vectors in the columns.
    pub v: Mat,
}

/// Eigendecomposition of a symmetric matrix, A = V diag(λ) Vᵀ; only the lower triangle is read.
///
/// # Errors
/// [`Error::NoConvergence`] when the matrix holds NaN or infinities.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::{Mat, eigen_symmetric};
/// let e = eigen_symmetric(&Mat::from_vec(2, 2, vec![2.0, 1.0, 1.0, 2.0])).unwrap();
/// assert!((e.values[0] - 3.0).abs() < 1e-14 && (e.values[1] - 1.0).abs() < 1e-14);
/// ```
pub fn eigen_symmetric(a: &Mat) -> Result<Eigen> {
    assert_eq!(a.rows(), a.cols(), "an eigendecomposition needs a square matrix");
    finite(a, "the eigendecomposition")?;
    let decomposition = a
        .view()
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::NoConvergence("the eigendecomposition"))?;
    let n = a.rows();
    let (s, u) = (decomposition.S().column_vector(), decomposition.U());
    // The library gives ascending order; the largest signed value comes first here.
    let values = (0..n).map(|j| s[n - 1 - j]).collect();
    Ok(Eigen { values, vectors: Mat::from_fn(n, n, |i, j| u[(i, n - 1 - j)]) })
}

/// Bytes that [`eigen_symmetric`] takes of a matrix with so many rows, beside the matrix: eigenvectors, and what the library works in
/// while it finds them or the vectors in our order afterwards.
pub fn eigen_bytes(rows: usize) -> u64 {
    let vectors = ComputeEigenvectors::Yes;
    let parallel = faer::get_global_parallelism();
    let room = self_adjoint_evd_scratch::<f64>(rows, vectors, parallel, Spec::default());
    let square = 8 * (rows as u64).saturating_mul(rows as u64);
    square.saturating_add(square.max(room.unaligned_bytes_required() as u64))
}

/// Thin singular value decomposition.
///
/// # Errors
/// [`Error::NoConvergence`] when the matrix holds NaN or infinities.
pub fn svd(a: &Mat) -> Result<Svd> {
    finite(a, "the singular value decomposition")?;
    let owned = a.view().to_owned();
    let decomposition =
        owned.thin_svd().map_err(|_| Error::NoConvergence("the singular value decomposition"))?;
    let s = decomposition.S().column_vector();
    Ok(Svd {
        u: Mat::from_view(decomposition.U()),
        s: (0..s.nrows()).map(|i| s[i]).collect(),
        v: Mat::from_view(decomposition.V()),
    })
}

/// Q and R with A = QR, Q tall with orthonormal columns, R upper triangular (Householder).
pub fn qr(a: &Mat) -> (Mat, Mat) {
    let decomposition = a.view().to_owned().qr();
    let q = decomposition.compute_thin_Q();
    (Mat::from_view(q.as_ref()), Mat::from_view(decomposition.thin_R()))
}

/// An orthonormal basis of the columns of a tall matrix.
///
/// Cholesky of the Gram matrix, twice (CholeskyQR2: two passes at matrix-multiply speed); when the columns
/// are too nearly dependent for that, Householder reflections.
///
/// # Complexity
/// 8·rows·cols² floating-point operations; 10 with the check that nearly dependent columns need.
pub fn orthonormalise(a: &Mat) -> Mat {
    let Some((inverse, spread)) = inverse_cholesky_factor(&a.tr_matmul(a)) else { return qr(a).0 };
    let once = a.matmul(&inverse);
    let Some((inverse, _)) = inverse_cholesky_factor(&once.tr_matmul(&once)) else { return qr(a).0 };
    let twice = once.matmul(&inverse);
    // Well below the condition where two passes fail nothing needs to be checked.
    let safe = spread > SAFE_SPREAD || orthogonality_error(&twice) < 1e-12 * (a.cols() as f64).max(1.0);
    if safe { twice } else { qr(a).0 }
}

/// Smallest over largest diagonal entry of the Cholesky factor from which two passes are known to suffice: the first
/// leaves an error of about 1e-16 over its square (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015, theorem 3.2).
const SAFE_SPREAD: f64 = 1e-4;

/// max |QᵀQ − I|.
pub fn orthogonality_error(q: &Mat) -> f64 {
    let mut gram = q.tr_matmul(q);
    for i in 0..gram.rows() {
        gram[(i, i)] -= 1.0;
    }
    gram.max_abs()
}

/// R⁻¹ for the Gram matrix G = RᵀR with the spread of R's diagonal, or nothing when G is not safely positive definite.
fn inverse_cholesky_factor(gram: &Mat) -> Option<(Mat, f64)> {
    let n = gram.rows();
    let largest = (0..n).map(|i| gram[(i, i)]).fold(0.0, f64::max);
    let factor = gram.view().to_owned().llt(Side::Lower).ok()?;
    let lower = Mat::from_view(factor.L());
    let spread = (0..n).map(|i| lower[(i, i)] / largest.sqrt()).fold(1.0, f64::min);
    // Beyond condition 1e7 the second pass cannot restore orthogonality.
    if (0..n).any(|i| !lower[(i, i)].is_finite()) || spread < 1e-7 {
        return None;
    }
    // L X = I by forward substitution, then transpose: (Lᵀ)⁻¹ = X ᵀ.
    let mut inverse = Mat::zeros(n, n);
    for j in 0..n {
        inverse[(j, j)] = 1.0 / lower[(j, j)];
        for i in j + 1..n {
            let sum: f64 = (j..i).map(|l| lower[(i, l)] * inverse[(l, j)]).sum();
            inverse[(i, j)] = -sum / lower[(i, i)];
        }
    }
    Some((inverse.transpose(), spread))
}

/// Moore–Penrose pseudo-inverse; singular values below `tolerance` × the largest count as zero.
///
/// # Errors
/// [`Error::NoConvergence`] when the matrix holds NaN or infinities.
pub fn pinv(a: &Mat, tolerance: f64) -> Result<Mat> {
    let Svd { u, s, mut v } = svd(a)?;
    let floor = tolerance * s.first().copied().unwrap_or(0.0);
    v.scale_cols(&s.iter().map(|&x| if x > floor { 1.0 / x } else { 0.0 }).collect::<Vec<_>>());
    Ok(v.matmul_tr(&u))
}

/// The polar factor U Vᵀ of a tall matrix: the nearest matrix with orthonormal columns.
///
/// # Errors
/// [`Error::NoConvergence`] when the matrix holds NaN or infinities.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::{Mat, polar};
/// let p = polar(&Mat::from_vec(2, 2, vec![0.0, -3.0, 2.0, 0.0])).unwrap();
/// assert!((p[(0, 1)] + 1.0).abs() < 1e-14 && (p[(1, 0)] - 1.0).abs() < 1e-14);
/// ```
pub fn polar(a: &Mat) -> Result<Mat> {
    assert!(a.rows() >= a.cols(), "the polar factor needs at least as many rows as columns");
    finite(a, "the polar factor")?;
    // Matrix products cost a tall matrix more than its singular values do.
    if let Some(p) = (a.rows() <= 2 * a.cols()).then(|| newton_schulz(a)).flatten() {
        return Ok(p);
    }
    let Svd { u, v, .. } = svd(a)?;
    Ok(u.matmul_tr(&v))
}

/// Most steps of the iteration: a singular value grows by half in each, so this is enough up to a condition of about 1e5.
const MOST_STEPS: usize = 40;

/// X ← X (3I − XᵀX)/2 from a matrix with singular values in (0, 1]: only matrix products, a sixth of the time of a
/// singular value decomposition at 50 columns. Nothing when the columns are too nearly dependent to finish.
fn newton_schulz(a: &Mat) -> Option<Mat> {
    let sums = |m: &Mat| (0..m.rows()).map(|i| m.row(i).iter().map(|x| x.abs()).sum()).fold(0.0, f64::max);
    // √(‖A‖₁‖A‖∞) bounds the largest singular value.
    let scale: f64 = (sums(a) * sums(&a.transpose())).sqrt();
    if scale <= 0.0 {
        return None;
    }
    let mut x = a.map(|v| v / scale);
    let (mut step, mut next) = (Mat::zeros(a.cols(), a.cols()), Mat::zeros(a.rows(), a.cols()));
    for _ in 0..MOST_STEPS {
        gemm(step.view_mut(), x.view().transpose(), x.view());
        (0..step.rows()).for_each(|i| step[(i, i)] -= 1.0);
        let error = step.max_abs();
        // I − (XᵀX − I)/2.
        step.as_mut_slice().iter_mut().for_each(|g| *g *= -0.5);
        (0..step.rows()).for_each(|i| step[(i, i)] += 1.0);
        gemm(next.view_mut(), x.view(), step.view());
        std::mem::swap(&mut x, &mut next);
        // The error squares itself: the step just made took it below rounding.
        if error < 1e-8 {
            return Some(x);
        }
    }
    None
}

/// Solves A X = B for a square A by LU with partial pivoting.
pub fn solve(a: &Mat, b: &Mat) -> Mat {
    assert_eq!(a.rows(), a.cols(), "a linear system needs a square matrix");
    let solution = a.view().to_owned().partial_piv_lu().solve(b.view());
    Mat::from_view(solution.as_ref())
}

fn finite(a: &Mat, what: &'static str) -> Result<()> {
    if a.as_slice().iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Error::NoConvergence(what)) }
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::*;

    fn gaussian(rows: usize, cols: usize, seed: u64) -> Mat {
        random::gaussian(rows, cols, &mut random::rng(seed, 0))
    }

    #[test]
    fn eigen_rebuilds_and_orders() {
        let g = gaussian(30, 30, 1);
        let a = Mat::from_fn(30, 30, |i, j| g[(i, j)] + g[(j, i)]);
        let Eigen { values, vectors } = eigen_symmetric(&a).unwrap();
        assert!(values.windows(2).all(|w| w[0] >= w[1]));
        let mut scaled = vectors.clone();
        scaled.scale_cols(&values);
        let mut rebuilt = scaled.matmul_tr(&vectors);
        rebuilt.add_scaled(-1.0, &a);
        assert!(rebuilt.max_abs() < 1e-12 * a.norm());
    }

    #[test]
    fn svd_and_pinv_hold_for_both_shapes() {
        for (r, c) in [(40, 7), (7, 40), (1, 1), (5, 5)] {
            let a = gaussian(r, c, 3);
            let Svd { mut u, s, v } = svd(&a).unwrap();
            u.scale_cols(&s);
            let mut rebuilt = u.matmul_tr(&v);
            rebuilt.add_scaled(-1.0, &a);
            assert!(rebuilt.max_abs() < 1e-12);
            let mut back = a.matmul(&pinv(&a, 1e-12).unwrap()).matmul(&a);
            back.add_scaled(-1.0, &a);
            assert!(back.max_abs() < 1e-12);
        }
    }

    #[test]
    fn orthonormalise_survives_dependent_columns() {
        let mut a = gaussian(2000, 12, 5);
        assert!(orthogonality_error(&orthonormalise(&a)) < 1e-13);
        for i in 0..a.rows() {
            a[(i, 5)] = a[(i, 2)] * (1.0 + 1e-12);
            a[(i, 6)] = 0.0;
        }
        let q = orthonormalise(&a);
        assert!(orthogonality_error(&q) < 1e-12);
        // The span is kept: projecting A on Q loses nothing.
        let mut rest = q.matmul(&q.tr_matmul(&a));
        rest.add_scaled(-1.0, &a);
        assert!(rest.max_abs() < 1e-10 * a.max_abs());
    }

    #[test]
    fn polar_is_the_nearest_orthonormal_matrix() {
        // Tall, square, and square with a column that hardly differs from another.
        let mut dependent = gaussian(30, 30, 8);
        (0..30).for_each(|i| dependent[(i, 29)] = dependent[(i, 0)] + 1e-9 * dependent[(i, 29)]);
        for a in [gaussian(20, 6, 7), gaussian(50, 50, 7), dependent] {
            let k = a.cols();
            let p = polar(&a).unwrap();
            assert!(orthogonality_error(&p) < 1e-13, "{k}");
            // Pᵀ A is symmetric positive semidefinite exactly for the polar factor.
            let h = p.tr_matmul(&a);
            let e = eigen_symmetric(&h).unwrap();
            let asymmetry = Mat::from_fn(k, k, |i, j| h[(i, j)] - h[(j, i)]).max_abs();
            assert!(asymmetry < 1e-12 * a.norm() && e.values[k - 1] > -1e-12 * a.norm(), "{k}: {asymmetry}");
        }
    }

    #[test]
    fn nan_is_an_error_not_a_hang() {
        let mut a = Mat::identity(4);
        a[(2, 1)] = f64::NAN;
        assert!(eigen_symmetric(&a).is_err() && svd(&a).is_err() && polar(&a).is_err());
    }

    #[test]
    fn solve_undoes_a_product() {
        let a = gaussian(9, 9, 11);
        let x = gaussian(9, 2, 12);
        let mut error = solve(&a, &a.matmul(&x));
        error.add_scaled(-1.0, &x);
        assert!(error.max_abs() < 1e-11);
    }
}
