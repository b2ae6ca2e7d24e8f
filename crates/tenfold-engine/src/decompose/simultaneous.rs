//! Joint diagonalisation of slices by plane rotations (Jacobi).

use super::{Decomposition, Trace, finish};
use crate::error::Result;
use crate::linalg::{Mat, eigen_symmetric, random};
use crate::progress::Progress;
use crate::tensor::Contract;

/// All slices T(I, I, w) of an orthogonal tensor share the eigenvectors v_i; rotations that make several of them
/// as diagonal as possible find those.
///
/// # Complexity
/// `slices` contractions, then slices·k³ operations a sweep, about eight sweeps.
///
/// # References
/// Cardoso and Souloumiac, "Jacobi angles for simultaneous diagonalization", SIAM J. Matrix Anal. 17 (1996);
/// Kuleshov, Chaganty and Liang, "Tensor factorization via matrix factorization", AISTATS 2015.
#[derive(Debug, Clone, PartialEq)]
pub struct Simultaneous {
    /// Random slices; `None` takes min(k, 24), at least 2.
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
        let count = self.slices.unwrap_or(k.min(24)).max(2);
        let mut slices = Vec::with_capacity(count);
        for s in 0..count {
            progress.check()?;
            let w = random::gaussian(tensor.dim(), 1, &mut random::rng(seed, 300 + s as u64));
            slices.push(tensor.slice(&w)?);
        }
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
