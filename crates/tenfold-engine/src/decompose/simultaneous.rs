//! Joint diagonalisation of slices by plane rotations (Jacobi).

use super::{Decomposition, Trace, finish};
use crate::error::Result;
use crate::linalg::{Mat, eigen_symmetric, random};
use crate::progress::Progress;
use crate::tensor::Contract;

/// All slices T(I, I, w) of an orthogonal tensor share the eigenvectors v_i; rotations that make several of them
/// as diagonal as possible find those. The w are orthonormal, so that k slices of order 3, or k(k+1)/2 slices
/// T(I, I, w, w′) of order 4, hold the whole tensor.
///
/// # Complexity
/// `slices` contractions, then slices·k³ operations a sweep, about eight sweeps.
///
/// # References
/// Cardoso and Souloumiac, "Jacobi angles for simultaneous diagonalization", SIAM J. Matrix Anal. 17 (1996);
/// Kuleshov, Chaganty and Liang, "Tensor factorization via matrix factorization", AISTATS 2015.
#[derive(Debug, Clone, PartialEq)]
pub struct Simultaneous {
    /// Slices; `None` takes all that differ, up to 24 of order 3 and 60 of order 4: at k = 50 and 100 that costs about one
    /// per cent of accuracy against all slices, at a fraction of the time.
    pub slices: Option<usize>,
    /// Sweeps over all pairs after which the search stops unconverged.
    pub max_iterations: usize,
    /// Largest sine of a rotation that counts as none.
    pub tolerance: f64,
}

impl Default for Simultaneous {
    fn default() -> Self {
        Self { slices: None, max_iterations: 60, tolerance: 1e-13 }
    }
}

impl Simultaneous {
    pub(super) fn decompose(
        &self,
        tensor: &dyn Contract,
        k: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Decomposition> {
        let slices = self.slices(tensor, seed, progress)?;
        let basis = common_range(&slices, k)?;
        let mut small: Vec<Mat> = slices.iter().map(|m| basis.tr_matmul(&m.matmul(&basis))).collect();
        let mut rotation = Mat::identity(k);
        let mut trace = Trace::default();
        for _ in 0..self.max_iterations {
            progress.check()?;
            let largest = sweep(&mut small, &mut rotation);
            trace.iterations += 1;
            trace.residuals.push(largest);
            progress.advance(1);
            if largest < self.tolerance {
                trace.converged = true;
                break;
            }
        }
        finish(tensor, basis.matmul(&rotation), trace)
    }
}

impl Simultaneous {
    /// T(I, I, w) or T(I, I, w, w′) for orthonormal random w.
    fn slices(&self, tensor: &dyn Contract, seed: u64, progress: &dyn Progress) -> Result<Vec<Mat>> {
        let d = tensor.dim();
        let w = random::orthogonal(d, d, &mut random::rng(seed, 300))?;
        let single = |a: usize| tensor.slice(&w.select_cols(&[a]));
        let mut slices = Vec::new();
        if tensor.order() == 3 {
            for a in 0..self.slices.unwrap_or(24).clamp(1, d) {
                progress.check()?;
                slices.push(single(a)?);
            }
            return Ok(slices);
        }
        let pairs = (0..d).map(|a| (a, a)).chain((1..d).flat_map(|a| (0..a).map(move |b| (a, b))));
        for (a, b) in pairs.take(self.slices.unwrap_or(60).max(1)) {
            progress.check()?;
            slices.push(if a == b { single(a)? } else { mixed_slice(tensor, &w.col(a), &w.col(b))? });
        }
        Ok(slices)
    }
}

/// √2 T(I, I, a, b) by polarisation, ¼ (T(I, I, a+b, a+b) − T(I, I, a−b, a−b)); the factor makes the slices of all
/// pairs an orthonormal basis of the symmetric ones.
fn mixed_slice(tensor: &dyn Contract, a: &[f64], b: &[f64]) -> Result<Mat> {
    let d = a.len();
    let along = |sign: f64| tensor.slice(&Mat::from_fn(d, 1, |i, _| a[i] + sign * b[i]));
    let mut slice = along(1.0)?;
    slice.add_scaled(-1.0, &along(-1.0)?);
    Ok(slice.map(|x| x * std::f64::consts::SQRT_2 / 4.0))
}

/// Orthonormal basis of the k directions that carry most of all slices together.
fn common_range(slices: &[Mat], k: usize) -> Result<Mat> {
    let d = slices[0].rows();
    if k == d {
        return Ok(Mat::identity(d));
    }
    let mut energy = Mat::zeros(d, d);
    slices.iter().for_each(|m| energy.add_scaled(1.0, &m.tr_matmul(m)));
    Ok(eigen_symmetric(&energy)?.vectors.first_cols(k))
}

/// Rotates every pair of coordinates once; returns the largest sine.
fn sweep(slices: &mut [Mat], rotation: &mut Mat) -> f64 {
    let k = rotation.rows();
    let mut largest = 0.0f64;
    for p in 0..k {
        for q in p + 1..k {
            let (c, s) = best_angle(slices, p, q);
            largest = largest.max(s.abs());
            if s.abs() > f64::EPSILON {
                for m in slices.iter_mut() {
                    rotate_rows(m, p, q, c, s);
                    rotate_cols(m, p, q, c, s);
                }
                rotate_cols(rotation, p, q, c, s);
            }
        }
    }
    largest
}

/// The rotation of coordinates p, q that minimises the off-diagonal squares of all slices.
fn best_angle(slices: &[Mat], p: usize, q: usize) -> (f64, f64) {
    let (mut on, mut off) = (0.0, 0.0);
    for m in slices {
        let (difference, twice) = (m[(p, p)] - m[(q, q)], 2.0 * m[(p, q)]);
        on += difference * difference - twice * twice;
        off += 2.0 * difference * twice;
    }
    let angle = 0.5 * off.atan2(on + on.hypot(off));
    (angle.cos(), angle.sin())
}

fn rotate_rows(m: &mut Mat, p: usize, q: usize, c: f64, s: f64) {
    for j in 0..m.cols() {
        let (a, b) = (m[(p, j)], m[(q, j)]);
        (m[(p, j)], m[(q, j)]) = (c * a + s * b, c * b - s * a);
    }
}

fn rotate_cols(m: &mut Mat, p: usize, q: usize, c: f64, s: f64) {
    for i in 0..m.rows() {
        let row = m.row_mut(i);
        let (a, b) = (row[p], row[q]);
        (row[p], row[q]) = (c * a + s * b, c * b - s * a);
    }
}
