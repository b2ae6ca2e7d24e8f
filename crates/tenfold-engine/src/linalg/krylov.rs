//! Eigenpairs of a large symmetric matrix to a stated residual.

use super::{Eigen, Mat, SymmetricOperator, eigen_symmetric, orthonormalise, random};
use crate::error::{Error, Result};
use crate::progress::Progress;

/// Which end of the spectrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The largest signed values.
    Largest,
    /// The values largest in size, of either sign.
    LargestMagnitude,
}

/// Block Krylov method with Rayleigh–Ritz extraction and thick restart.
///
/// Stops when ‖M v − λ v‖ ≤ `tolerance` · |λ|max for every wanted pair: a residual, not an iteration count,
/// because unconverged eigenvectors are the one way in which the later steps fail.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockKrylov {
    /// Which eigenvalues.
    pub wanted: Wanted,
    /// Relative residual that counts as converged.
    pub tolerance: f64,
    /// Columns multiplied at a time; `None` takes min(k + 8, 48).
    pub block: Option<usize>,
    /// Products with a block after which the search stops unconverged.
    pub max_products: usize,
    /// Seed of the starting block.
    pub seed: u64,
}

impl Default for BlockKrylov {
    fn default() -> Self {
        Self { wanted: Wanted::Largest, tolerance: 1e-6, block: None, max_products: 200, seed: 0 }
    }
}

/// Eigenpairs with what they reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Converged {
    /// The k wanted pairs, best first.
    pub eigen: Eigen,
    /// ‖M v − λ v‖ / |λ|max of each pair.
    pub residuals: Vec<f64>,
    /// Block products used.
    pub products: usize,
    /// Whether every residual is within the tolerance.
    pub converged: bool,
}

impl BlockKrylov {
    /// Finds the `k` wanted eigenpairs.
    ///
    /// # Complexity
    /// One product of block width a step and 4·n·(basis)·block flops of orthogonalisation; memory is two bases of
    /// at most 2k + 4·block columns.
    ///
    /// # Errors
    /// [`Error::TooManyComponents`] when k exceeds the dimension; what the operator says;
    /// [`Error::Interrupted`].
    ///
    /// # Example
    /// ```
    /// use tenfold_engine::linalg::{BlockKrylov, Mat};
    /// use tenfold_engine::progress::Silent;
    /// let m = Mat::from_fn(100, 100, |i, j| if i == j { 1.0 + i as f64 } else { 0.1 });
    /// let found = BlockKrylov::default().solve(&m, 3, &Silent).unwrap();
    /// assert!(found.converged && found.residuals[2] < 1e-6);
    /// ```
    pub fn solve(&self, m: &dyn SymmetricOperator, k: usize, progress: &dyn Progress) -> Result<Converged> {
        let dim = m.dim();
        if k > dim {
            return Err(Error::TooManyComponents { asked: k, most: dim, why: "the dimension of the matrix" });
        }
        let block = self.block.unwrap_or((k + 8).min(48)).clamp(1, dim.max(1));
        if 2 * k + 2 * block >= dim {
            return self.solve_dense(m, k);
        }
        // At a restart 2k columns are kept, so there is always room for at least one more block.
        let most = (2 * k + 4 * block).min(dim);
        let mut rng = random::rng(self.seed, 2);
        let mut basis = orthonormalise(&random::gaussian(dim, block, &mut rng));
        let mut image = m.apply(&basis)?;
        let mut products = 1;
        loop {
            progress.check()?;
            progress.advance(1);
            let ritz = self.extract(&basis, &image, k.min(basis.cols()))?;
            let open: Vec<usize> =
                (0..ritz.residuals.len()).filter(|&i| ritz.residuals[i] > self.tolerance).collect();
            let enough = basis.cols() >= k;
            if (open.is_empty() && enough) || products >= self.max_products {
                let converged = enough && open.is_empty();
                return Ok(Converged { eigen: ritz.eigen, residuals: ritz.residuals, products, converged });
            }
            // Residuals of the open pairs span the same new directions as the next Krylov block; when all pairs so far
            // stand but there are too few, new random directions are needed.
            let mut fresh = match open.len() {
                0 => random::gaussian(dim, block, &mut rng),
                n => ritz.residual_vectors.select_cols(&open[..n.min(block)]),
            };
            if basis.cols() + fresh.cols() > most {
                (basis, image) = ritz.kept;
            }
            for _ in 0..2 {
                fresh.add_scaled(-1.0, &basis.matmul(&basis.tr_matmul(&fresh)));
                fresh = orthonormalise(&fresh);
            }
            let fresh_image = m.apply(&fresh)?;
            products += 1;
            basis = beside(&basis, &fresh);
            image = beside(&image, &fresh_image);
        }
    }

    /// All eigenpairs of a matrix hardly larger than the basis would be.
    fn solve_dense(&self, m: &dyn SymmetricOperator, k: usize) -> Result<Converged> {
        let basis = Mat::identity(m.dim());
        let image = m.apply(&basis)?;
        let ritz = self.extract(&basis, &image, k)?;
        Ok(Converged { eigen: ritz.eigen, residuals: ritz.residuals, products: 1, converged: true })
    }

    /// Rayleigh–Ritz on the basis, with residuals of the first `k` and the vectors kept at a restart.
    fn extract(&self, basis: &Mat, image: &Mat, k: usize) -> Result<Ritz> {
        let h = basis.tr_matmul(image);
        let small = eigen_symmetric(&Mat::from_fn(h.rows(), h.cols(), |i, j| 0.5 * (h[(i, j)] + h[(j, i)])))?;
        let mut order: Vec<usize> = (0..small.values.len()).collect();
        if self.wanted == Wanted::LargestMagnitude {
            order.sort_by(|&a, &b| small.values[b].abs().total_cmp(&small.values[a].abs()));
        }
        let keep = (2 * k).min(order.len());
        let rotation = small.vectors.select_cols(&order[..keep]);
        let (vectors, images) = (basis.matmul(&rotation), image.matmul(&rotation));
        let values: Vec<f64> = order[..k].iter().map(|&i| small.values[i]).collect();
        let scale = small.values.iter().fold(0.0f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
        let first = vectors.first_cols(k);
        let mut scaled = first.clone();
        scaled.scale_cols(&values);
        let mut residual_vectors = images.first_cols(k);
        residual_vectors.add_scaled(-1.0, &scaled);
        let residuals = residual_vectors.col_norms().into_iter().map(|r| r / scale).collect();
        Ok(Ritz {
            eigen: Eigen { values, vectors: first },
            residuals,
            residual_vectors,
            kept: (vectors, images),
        })
    }
}

struct Ritz {
    eigen: Eigen,
    residuals: Vec<f64>,
    residual_vectors: Mat,
    kept: (Mat, Mat),
}

/// The columns of `a` and then those of `b`.
fn beside(a: &Mat, b: &Mat) -> Mat {
    Mat::from_fn(
        a.rows(),
        a.cols() + b.cols(),
        |i, j| if j < a.cols() { a[(i, j)] } else { b[(i, j - a.cols())] },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Csr, SymmetricCsr, parallel};
    use crate::progress::Silent;
    use rand::RngExt;

    /// A sparse random graph: no gap in the bulk of its spectrum.
    fn graph(n: usize, edges: usize) -> Csr {
        let mut rng = random::rng(4, 0);
        let mut triplets = Vec::new();
        for _ in 0..edges {
            let (i, j) = (rng.random_range(0..n), rng.random_range(0..n));
            triplets.push((i, j, 1.0));
            triplets.push((j, i, 1.0));
        }
        Csr::from_triplets(n, n, &triplets)
    }

    #[test]
    fn reaches_the_tolerance_on_a_gapless_spectrum() {
        let a = graph(600, 4000);
        let exact = eigen_symmetric(&a.to_dense()).unwrap();
        for (wanted, k) in [(Wanted::Largest, 12), (Wanted::LargestMagnitude, 7), (Wanted::Largest, 1)] {
            let solver = BlockKrylov { wanted, tolerance: 1e-8, max_products: 400, ..Default::default() };
            let found = solver.solve(&SymmetricCsr(&a), k, &Silent).unwrap();
            assert!(found.converged, "{wanted:?}: {:?} after {}", found.residuals, found.products);
            let mut expected = exact.values.clone();
            if wanted == Wanted::LargestMagnitude {
                expected.sort_by(|x, y| y.abs().total_cmp(&x.abs()));
            }
            for i in 0..k {
                // For a symmetric matrix the eigenvalue error is at most the residual.
                assert!((found.eigen.values[i] - expected[i]).abs() < 1e-7 * exact.values[0]);
            }
        }
    }

    /// Bases that would outgrow the space, and identical eigenvalues: every size ends with the right values.
    #[test]
    fn many_pairs_of_a_small_matrix() {
        for (dim, k) in [(1, 1), (60, 25), (100, 40), (120, 48), (200, 90), (300, 70)] {
            let g = random::gaussian(dim, dim, &mut random::rng(dim as u64, 0));
            let m = Mat::from_fn(dim, dim, |i, j| g[(i, j)] + g[(j, i)]);
            let exact = eigen_symmetric(&m).unwrap();
            let found = BlockKrylov { tolerance: 1e-8, ..Default::default() }.solve(&m, k, &Silent).unwrap();
            assert!(found.converged, "{dim}, {k}: {} products", found.products);
            let scale = exact.values[0].abs().max(exact.values[dim - 1].abs());
            for i in 0..k {
                assert!((found.eigen.values[i] - exact.values[i]).abs() < 1e-7 * scale, "{dim}, {k}, {i}");
            }
        }
        let found = BlockKrylov::default().solve(&Mat::identity(400), 60, &Silent).unwrap();
        assert!(found.converged && found.eigen.values.iter().all(|v| (v - 1.0).abs() < 1e-12));
    }

    #[test]
    fn whole_space_and_bad_k() {
        let m = Mat::diagonal(&[3.0, 2.0, 1.0]);
        let found = BlockKrylov::default().solve(&m, 3, &Silent).unwrap();
        assert!(found.converged && (found.eigen.values[2] - 1.0).abs() < 1e-12);
        assert!(BlockKrylov::default().solve(&m, 4, &Silent).is_err());
    }

    #[test]
    fn stops_unconverged_and_says_so() {
        let a = graph(600, 4000);
        let solver = BlockKrylov { tolerance: 1e-12, max_products: 2, ..Default::default() };
        assert!(!solver.solve(&SymmetricCsr(&a), 10, &Silent).unwrap().converged);
    }

    #[test]
    fn same_bytes_on_any_number_of_threads() {
        let a = graph(1500, 8000);
        let run = |t| {
            parallel::with_threads(t, || BlockKrylov::default().solve(&SymmetricCsr(&a), 5, &Silent).unwrap())
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), one);
        }
    }
}
