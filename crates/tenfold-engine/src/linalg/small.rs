//! Eigenvalues of very many small symmetric matrices.
//!
//! The library's routines are made for large ones: at five rows theirs takes some ten times as long as this, most of it for
//! memory and choices of block sizes.

use crate::error::{Error, Result};

/// Turns of the iteration for one eigenvalue; two or three are usual.
const TURNS: usize = 60;

/// Room for the eigenvalues of one matrix after another.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::SmallEigen;
/// let mut eigen = SmallEigen::default();
/// let values = eigen.values(&mut [2.0, 1.0, 1.0, 2.0], 2).unwrap();
/// assert!((values[0] - 3.0).abs() < 1e-14 && (values[1] - 1.0).abs() < 1e-14);
/// ```
#[derive(Debug, Clone, Default)]
pub struct SmallEigen {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    reflector: Vec<f64>,
    product: Vec<f64>,
}

impl SmallEigen {
    /// The eigenvalues of a symmetric n × n matrix, largest first, right to about 1e-15 of the largest; the matrix is used
    /// up. Householder reflections to three diagonals, then implicit QL steps.
    ///
    /// # Errors
    /// [`Error::NoConvergence`] when the matrix holds NaN or infinities.
    ///
    /// # Panics
    /// When the matrix does not have n² entries.
    pub fn values(&mut self, a: &mut [f64], n: usize) -> Result<&[f64]> {
        assert_eq!(a.len(), n * n, "a square matrix");
        if a.iter().any(|x| !x.is_finite()) {
            return Err(Error::NoConvergence("the eigendecomposition"));
        }
        self.reduce(a, n);
        self.iterate(n)?;
        self.diagonal.sort_unstable_by(|a, b| b.total_cmp(a));
        Ok(&self.diagonal)
    }

    /// To three diagonals: A ← A − v wᵀ − w vᵀ for every column's reflector v.
    fn reduce(&mut self, a: &mut [f64], n: usize) {
        self.diagonal.clear();
        self.beside.clear();
        for k in 0..n {
            self.diagonal.push(a[k * n + k]);
            let v = &mut self.reflector;
            v.clear();
            v.extend_from_slice(&a[k * n + k + 1..(k + 1) * n]);
            let tail: f64 = v.iter().skip(1).map(|x| x * x).sum();
            if v.is_empty() || tail == 0.0 {
                self.beside.push(v.first().copied().unwrap_or(0.0));
                continue;
            }
            let norm = (v[0] * v[0] + tail).sqrt();
            let alpha = if v[0] > 0.0 { -norm } else { norm };
            self.beside.push(alpha);
            v[0] -= alpha;
            let beta = 2.0 / (v[0] * v[0] + tail);
            let rest = |row: usize| (k + 1 + row) * n + k + 1..(k + 2 + row) * n;
            let w = &mut self.product;
            w.clear();
            w.extend(
                (0..v.len()).map(|r| beta * a[rest(r)].iter().zip(&*v).map(|(x, y)| x * y).sum::<f64>()),
            );
            let half = beta / 2.0 * w.iter().zip(&*v).map(|(x, y)| x * y).sum::<f64>();
            w.iter_mut().zip(&*v).for_each(|(w, v)| *w -= half * v);
            for r in 0..v.len() {
                let (vr, wr) = (v[r], w[r]);
                for ((x, v), w) in a[rest(r)].iter_mut().zip(&*v).zip(&*w) {
                    *x -= vr * w + wr * v;
                }
            }
        }
    }

    /// Implicit QL with Wilkinson's shift, eigenvalue after eigenvalue.
    fn iterate(&mut self, n: usize) -> Result<()> {
        let (d, e) = (&mut self.diagonal, &mut self.beside);
        let largest = d.iter().chain(e.iter()).fold(0.0f64, |m, x| m.max(x.abs()));
        let none = f64::EPSILON * largest;
        for l in 0..n {
            let mut turn = 0;
            loop {
                let m = (l..n - 1).find(|&m| e[m].abs() <= none).unwrap_or(n - 1);
                if m == l {
                    break;
                }
                turn += 1;
                if turn > TURNS {
                    return Err(Error::NoConvergence("the eigendecomposition"));
                }
                let slope = (d[l + 1] - d[l]) / (2.0 * e[l]);
                let root = (slope * slope + 1.0).sqrt();
                let mut g = d[m] - d[l] + e[l] / (slope + if slope < 0.0 { -root } else { root });
                let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
                let mut split = false;
                for i in (l..m).rev() {
                    let (f, b) = (s * e[i], c * e[i]);
                    let r = (f * f + g * g).sqrt();
                    e[i + 1] = r;
                    if r == 0.0 {
                        d[i + 1] -= p;
                        split = true;
                        break;
                    }
                    (s, c) = (f / r, g / r);
                    let h = d[i + 1] - p;
                    let t = (d[i] - h) * s + 2.0 * c * b;
                    p = s * t;
                    d[i + 1] = h + p;
                    g = c * t - b;
                }
                e[m] = 0.0;
                if !split {
                    d[l] -= p;
                    e[l] = g;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Mat, eigen_symmetric, random};
    use super::*;

    #[test]
    fn values_are_those_of_the_library() {
        let mut eigen = SmallEigen::default();
        for n in (1usize..33).chain([60]) {
            // Full rank, low rank, nearly diagonal.
            for (rank, noise) in [(n, 0.0), (n.div_ceil(3), 0.0), (1, 1e-9)] {
                let g = random::gaussian(n, rank, &mut random::rng(n as u64, rank as u64));
                let mut a = g.matmul_tr(&g);
                (0..n).for_each(|i| a[(i, i)] += noise * i as f64);
                let expected = eigen_symmetric(&a).unwrap().values;
                let found = eigen.values(&mut a.clone().into_vec(), n).unwrap();
                for (x, y) in found.iter().zip(&expected) {
                    assert!((x - y).abs() <= 1e-13 * a.norm(), "{n} {rank}: {x} {y}");
                }
            }
        }
        assert!(eigen.values(&mut Mat::identity(4).map(|x| 3.0 * x).into_vec(), 4).unwrap() == [3.0; 4]);
        assert!(eigen.values(&mut [f64::NAN], 1).is_err());
    }
}
