//! Randomised low-rank factorisation: find the range by a few products, then solve the small problem.
//!
//! Halko, Martinsson and Tropp, "Finding structure with randomness", SIAM Review 53 (2011), algorithms 4.4
//! and 5.3. The corrected second moments of real data are indefinite, so the default is Rayleigh–Ritz with
//! *signed* eigenvalues; Nyström is for matrices known to be positive semidefinite.

use super::{
    ColumnIndex, Csr, Eigen, LinearOperator, Mat, Svd, SymmetricOperator, eigen_symmetric, orthonormalise,
    random, svd,
};
use crate::error::{Error, Result};
use rand::RngExt;

/// How the range of a matrix is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeFinder {
    /// Extra directions beyond those asked for, at least; `None` takes max(10, k/2).
    pub oversample: Option<usize>,
    /// Passes of power iteration with orthonormalisation. 0 loses slowly falling spectra altogether.
    pub power_passes: usize,
    /// The first projection.
    pub embedding: Embedding,
    /// Seed of the first projection.
    pub seed: u64,
}

/// The random matrix of the first projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Embedding {
    /// Independent normal entries.
    Gaussian,
    /// One ±1 a row at a random column (Clarkson and Woodruff, 2013; thesis appendix on sparse embeddings). Drawing it
    /// takes two numbers a row; the first product saves its arithmetic too when it is made by [`SparseSign::project`].
    SparseSign,
}

/// Eigenvalues below this share of the largest are lost in rounding: what is left of their directions after a product has 1e-16
/// of the largest in error, and is not the same to six digits on processors that round in other places.
const ROUNDING: f64 = 1e-10;

impl Default for RangeFinder {
    fn default() -> Self {
        Self { oversample: None, power_passes: 3, embedding: Embedding::Gaussian, seed: 0 }
    }
}

impl RangeFinder {
    /// Columns of the projection for `k` wanted directions of a matrix with `dim` rows: a multiple of eight where `dim`
    /// allows it, because the products run in tiles of eight.
    pub fn width(&self, k: usize, dim: usize) -> usize {
        (k + self.oversample.unwrap_or_else(|| (k / 2).max(10))).next_multiple_of(8).min(dim)
    }

    fn start(&self, dim: usize, width: usize) -> Mat {
        match self.embedding {
            Embedding::Gaussian => random::gaussian(dim, width, &mut random::rng(self.seed, 0)),
            Embedding::SparseSign => SparseSign::new(dim, width, self.seed).to_dense(),
        }
    }

    /// The `k` largest **signed** eigenpairs of a symmetric matrix, by Rayleigh–Ritz on its found range; all
    /// computed pairs are returned (`k` plus the oversampling), because the spectrum beyond k tells how well k
    /// was chosen.
    ///
    /// # Complexity
    /// `power_passes` + 2 products of width k + oversampling, and as many orthonormalisations.
    ///
    /// # Errors
    /// [`Error::TooManyComponents`] when k exceeds the dimension; what the operator says.
    ///
    /// # Example
    /// ```
    /// use tenfold_engine::linalg::{Mat, RangeFinder};
    /// let m = Mat::diagonal(&[4.0, -9.0, 1.0, 0.0]);
    /// let e = RangeFinder::default().eigen(&m, 2).unwrap();
    /// assert!((e.values[0] - 4.0).abs() < 1e-9 && (e.values[1] - 1.0).abs() < 1e-9);
    /// ```
    pub fn eigen(&self, m: &dyn SymmetricOperator, k: usize) -> Result<Eigen> {
        let dim = m.dim();
        check_rank(k, dim)?;
        let mut q = self.start(dim, self.width(k, dim));
        for _ in 0..=self.power_passes {
            q = orthonormalise(&m.apply(&q)?);
        }
        rayleigh_ritz(&q, &m.apply(&q)?)
    }

    /// An orthonormal basis of the leading `k` signed eigenvectors, for somebody who will apply the matrix to it anyway
    /// and can do Rayleigh–Ritz then: one product less than [`RangeFinder::eigen`] for the same accuracy. Directions that the
    /// matrix maps to nothing are left out, so that a matrix of low rank has fewer than `k`.
    ///
    /// The products before the last are made with `before`: estimates of the same matrix from a part of the samples
    /// turn the directions almost as well and cost a part of a pass. `power_passes` plays no role.
    ///
    /// # Errors
    /// As [`RangeFinder::eigen`].
    pub fn basis(
        &self,
        before: &[&dyn SymmetricOperator],
        m: &dyn SymmetricOperator,
        k: usize,
    ) -> Result<Mat> {
        let dim = m.dim();
        check_rank(k, dim)?;
        let mut q = self.start(dim, self.width(k, dim));
        for rough in before {
            q = orthonormalise(&rough.apply(&q)?);
        }
        let mq = m.apply(&q)?;
        let small = eigen_symmetric(&symmetric_part(&q.tr_matmul(&mq)))?;
        // M·v of a Ritz vector v is a better eigenvector than v; of one that M maps to nothing it is rounding, which would become a
        // direction that another processor does not find.
        let floor = ROUNDING * small.values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let something: Vec<usize> =
            (0..small.values.len()).filter(|&i| small.values[i].abs() > floor).take(k).collect();
        let leading = Mat::from_fn(q.cols(), something.len(), |i, j| small.vectors[(i, something[j])]);
        drop(q);
        let better = mq.matmul(&leading);
        drop(mq);
        Ok(orthonormalise(&better))
    }

    /// The leading `k` singular triplets of any matrix.
    ///
    /// # Complexity
    /// 2·(`power_passes` + 1) products of width k + oversampling.
    ///
    /// # Errors
    /// [`Error::TooManyComponents`] when k exceeds the smaller dimension; what the operator says.
    pub fn svd(&self, a: &dyn LinearOperator, k: usize) -> Result<Svd> {
        let (rows, cols) = a.shape();
        let smaller = rows.min(cols);
        check_rank(k, smaller)?;
        let mut q = orthonormalise(&a.apply(&self.start(cols, self.width(k, smaller)))?);
        for _ in 0..self.power_passes {
            let back = orthonormalise(&a.apply_transpose(&q)?);
            q = orthonormalise(&a.apply(&back)?);
        }
        // A ≈ Q (Aᵀ Q)ᵀ; the tall Aᵀ Q = P R is reduced first so that the SVD is small.
        let b = a.apply_transpose(&q)?;
        let p = orthonormalise(&b);
        let small = svd(&p.tr_matmul(&b))?;
        Ok(Svd {
            u: q.matmul(&small.v.first_cols(k)),
            s: small.s[..k].to_vec(),
            v: p.matmul(&small.u.first_cols(k)),
        })
    }

    /// The Nyström approximation M ≈ O Ω⁺ Oᵀ, O = M S, Ω = Sᵀ M S (Gittens and Mahoney, 2013), as eigenpairs.
    ///
    /// One product with M. Only for matrices that are positive semidefinite; use [`RangeFinder::eigen`] else.
    ///
    /// # Errors
    /// [`Error::TooManyComponents`] when k exceeds the dimension; what the operator says.
    pub fn nystrom(&self, m: &dyn SymmetricOperator, k: usize) -> Result<Eigen> {
        let dim = m.dim();
        check_rank(k, dim)?;
        let s = orthonormalise(&self.start(dim, self.width(k, dim)));
        let o = m.apply(&s)?;
        let omega = eigen_symmetric(&s.tr_matmul(&o))?;
        // O Ω⁺ Oᵀ = B Bᵀ with B = O Ω^(−1/2); directions lost in rounding are left out.
        let floor = 1e-13 * omega.values[0].abs();
        let mut roots = omega.vectors;
        roots.scale_cols(
            &omega.values.iter().map(|&x| if x > floor { x.powf(-0.5) } else { 0.0 }).collect::<Vec<_>>(),
        );
        let Svd { u, s, .. } = svd_tall(&o.matmul(&roots))?;
        Ok(Eigen { values: s[..k].iter().map(|x| x * x).collect(), vectors: u.first_cols(k) })
    }
}

/// Eigenpairs of M restricted to the range of Q, from the product M·Q.
fn rayleigh_ritz(q: &Mat, mq: &Mat) -> Result<Eigen> {
    let small = eigen_symmetric(&symmetric_part(&q.tr_matmul(mq)))?;
    Ok(Eigen { values: small.values, vectors: q.matmul(&small.vectors) })
}

fn symmetric_part(h: &Mat) -> Mat {
    Mat::from_fn(h.rows(), h.cols(), |i, j| 0.5 * (h[(i, j)] + h[(j, i)]))
}

/// SVD of a tall matrix through its orthonormal basis, so that only a square one is decomposed.
pub fn svd_tall(a: &Mat) -> Result<Svd> {
    let q = orthonormalise(a);
    let small = svd(&q.tr_matmul(a))?;
    Ok(Svd { u: q.matmul(&small.u), s: small.s, v: small.v })
}

fn check_rank(k: usize, most: usize) -> Result<()> {
    if k > most {
        Err(Error::TooManyComponents { asked: k, most, why: "the dimension of the matrix" })
    } else {
        Ok(())
    }
}

/// The sparse ±1 embedding: a dim × width matrix with one entry ±1 in every row.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseSign {
    columns: Vec<u32>,
    signs: Vec<f64>,
    width: usize,
}

impl SparseSign {
    /// Draws the embedding.
    pub fn new(dim: usize, width: usize, seed: u64) -> Self {
        let mut rng = random::rng(seed, 1);
        let columns = (0..dim).map(|_| rng.random_range(0..width as u32)).collect();
        let signs = (0..dim).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect();
        Self { columns, signs, width }
    }

    /// The same matrix, dense.
    pub fn to_dense(&self) -> Mat {
        let mut dense = Mat::zeros(self.columns.len(), self.width);
        for (i, (&j, &s)) in self.columns.iter().zip(&self.signs).enumerate() {
            dense[(i, j as usize)] = s;
        }
        dense
    }

    /// `A · S` at the cost of reading A once.
    pub fn project<I: ColumnIndex>(&self, a: &Csr<I>) -> Mat {
        assert_eq!(a.cols(), self.columns.len(), "the embedding fits the columns of the matrix");
        let mut out = Mat::zeros(a.rows(), self.width);
        super::parallel::fill_rows(out.as_mut_slice(), self.width, |range, chunk| {
            for (i, row) in range.zip(chunk.chunks_exact_mut(self.width)) {
                let (indices, values) = a.row(i);
                for (j, v) in indices.iter().zip(values) {
                    row[self.columns[j.position()] as usize] += self.signs[j.position()] * v;
                }
            }
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A symmetric matrix with the given spectrum.
    fn symmetric(spectrum: &[f64]) -> Mat {
        let v = random::orthogonal(spectrum.len(), spectrum.len(), &mut random::rng(9, 0)).unwrap();
        let mut scaled = v.clone();
        scaled.scale_cols(spectrum);
        scaled.matmul_tr(&v)
    }

    #[test]
    fn signed_values_of_an_indefinite_matrix() {
        // Negative eigenvalues larger in size than the wanted ones: Nyström would take square roots of them.
        let spectrum: Vec<f64> =
            (0..200).map(|i| if i < 5 { 10.0 - i as f64 } else { -8.0 * 0.9f64.powi(i - 5) }).collect();
        for embedding in [Embedding::Gaussian, Embedding::SparseSign] {
            let finder = RangeFinder { power_passes: 6, oversample: Some(30), embedding, seed: 3 };
            let e = finder.eigen(&symmetric(&spectrum), 5).unwrap();
            for i in 0..5 {
                assert!((e.values[i] - spectrum[i]).abs() < 1e-6, "{embedding:?} {i}: {}", e.values[i]);
            }
            assert_eq!(e.values.len(), 40);
        }
    }

    #[test]
    fn a_basis_spans_the_leading_eigenvectors() {
        let spectrum: Vec<f64> =
            (0..200).map(|i| if i < 5 { 10.0 - i as f64 } else { -3.0 * 0.9f64.powi(i - 5) }).collect();
        let m = symmetric(&spectrum);
        let rough = symmetric(&spectrum.iter().map(|x| x * 1.1).collect::<Vec<_>>());
        let basis = RangeFinder { oversample: Some(30), ..RangeFinder::default() }
            .basis(&[&rough, &rough, &rough], &m, 5)
            .unwrap();
        let ritz = eigen_symmetric(&symmetric_part(&basis.tr_matmul(&m.matmul(&basis)))).unwrap();
        assert_eq!(basis.cols(), 5);
        for i in 0..5 {
            assert!((ritz.values[i] - spectrum[i]).abs() < 1e-6, "{i}: {}", ritz.values[i]);
        }
    }

    #[test]
    fn a_basis_has_no_directions_of_rounding() {
        let spectrum: Vec<f64> = (0..60)
            .map(|i| match i {
                0..4 => 4.0 - f64::from(i),
                4..9 => -0.1 * f64::from(i),
                _ => 0.0,
            })
            .collect();
        let m = symmetric(&spectrum);
        // The same matrix with other last digits: rows and columns are added in another order.
        let order: Vec<usize> = (0..60).rev().collect();
        let turned = |a: &Mat| Mat::from_fn(60, a.cols(), |i, j| a[(order[i], j)]);
        let other = symmetric_part(&turned(&turned(&m).transpose()).map(|x| x * (1.0 + 1e-15)));
        let finder = RangeFinder { oversample: Some(12), ..RangeFinder::default() };
        let found = |m: &Mat| finder.basis(&[m, m], m, 12).unwrap();
        let (a, b) = (found(&m), turned(&found(&other)));
        assert_eq!((a.cols(), b.cols()), (9, 9));
        // One space: nothing of either is outside the other.
        let mut rest = a.matmul(&a.tr_matmul(&b));
        rest.add_scaled(-1.0, &b);
        assert!(rest.max_abs() < 1e-9, "{}", rest.max_abs());
    }

    #[test]
    fn svd_reaches_the_best_rank_k_error() {
        let spectrum: Vec<f64> = (0..60).map(|i| 0.7f64.powi(i)).collect();
        let mut rng = random::rng(1, 0);
        let (u, v) =
            (random::orthogonal(300, 60, &mut rng).unwrap(), random::orthogonal(60, 60, &mut rng).unwrap());
        let mut left = u.clone();
        left.scale_cols(&spectrum);
        let a = left.matmul_tr(&v);
        let Svd { mut u, s, v } = RangeFinder::default().svd(&a, 10).unwrap();
        for i in 0..10 {
            assert!((s[i] - spectrum[i]).abs() < 1e-8);
        }
        u.scale_cols(&s);
        let mut rest = u.matmul_tr(&v);
        rest.add_scaled(-1.0, &a);
        let best = spectrum[10..].iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(rest.norm() < best * (1.0 + 1e-6));
    }

    #[test]
    fn nystrom_is_exact_on_low_rank_psd() {
        let mut spectrum = vec![0.0; 120];
        spectrum[..6].copy_from_slice(&[9.0, 7.0, 5.0, 3.0, 2.0, 1.0]);
        let e = RangeFinder::default().nystrom(&symmetric(&spectrum), 6).unwrap();
        for i in 0..6 {
            assert!((e.values[i] - spectrum[i]).abs() < 1e-8);
        }
    }

    #[test]
    fn sparse_projection_equals_the_dense_one() {
        let a: Csr =
            Csr::from_triplets(4, 6, &[(0, 1, 2.0), (0, 5, -1.0), (2, 3, 0.5), (3, 0, 1.0), (3, 5, 4.0)]);
        let s = SparseSign::new(6, 3, 8);
        assert_eq!(s.project(&a), a.matmul(&s.to_dense()));
        assert!(RangeFinder::default().eigen(&Mat::identity(3), 4).is_err());
    }
}
