//! Leading eigenpairs of very large symmetric matrices, in single precision.

use super::{Eigen, Mat, Tall, Wanted, eigen_bytes, eigen_symmetric};
use crate::error::{Error, Result};
use crate::progress::Progress;

/// A symmetric matrix known through its products with tall matrices in single precision.
pub trait TallOperator: Sync {
    /// Number of rows, and of columns.
    fn dim(&self) -> usize;

    /// `M · X`.
    ///
    /// # Errors
    /// What the source of the data says.
    fn apply(&self, x: &Tall) -> Result<Tall>;
}

/// Block Lanczos with orthogonalisation against the whole basis and thick restart.
///
/// A pair is done when ‖M v − λ v‖ ≤ `tolerance` · |λ_k|, measured against the smallest wanted value: a graph's largest
/// eigenvalue tells its mean degree and would hide that the last ones have not settled.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanczos {
    /// Which eigenvalues.
    pub wanted: Wanted,
    /// Residual, in shares of |λ_k|, that counts as converged.
    pub tolerance: f64,
    /// Columns multiplied at a time; `None` takes k + 6, from 8 to 56.
    pub block: Option<usize>,
    /// Columns of the basis at which it is restarted; `None` takes 2k + 12 blocks.
    pub widest: Option<usize>,
    /// Products with a block after which the search stops unconverged.
    pub max_products: usize,
    /// Seed of the starting block.
    pub seed: u64,
}

impl Default for Lanczos {
    fn default() -> Self {
        Self {
            wanted: Wanted::LargestMagnitude,
            tolerance: 0.01,
            block: None,
            widest: None,
            max_products: 120,
            seed: 0,
        }
    }
}

/// Eigenpairs with what they reached.
#[derive(Debug, Clone, PartialEq)]
pub struct TallEigen {
    /// The k wanted values, best first.
    pub values: Vec<f64>,
    /// Their vectors, in columns.
    pub vectors: Tall,
    /// ‖M v − λ v‖ / |λ_k| of each pair.
    pub residuals: Vec<f64>,
    /// Values just beyond the wanted ones, less exact.
    pub beyond: Vec<f64>,
    /// Block products used.
    pub products: usize,
    /// Whether every residual is within the tolerance.
    pub converged: bool,
}

impl Lanczos {
    /// Finds the `k` wanted eigenpairs.
    ///
    /// # Complexity
    /// One product of block width a step and 4·n·(basis)·block operations of orthogonalisation; memory is the basis, at most
    /// 2k + 12 blocks of columns, four bytes a number.
    ///
    /// # Errors
    /// [`Error::TooManyComponents`] when k exceeds the dimension; what the operator says; [`Error::Interrupted`].
    ///
    /// # Example
    /// ```
    /// use tenfold_engine::error::Result;
    /// use tenfold_engine::linalg::{Lanczos, Tall, TallOperator};
    /// use tenfold_engine::progress::Silent;
    /// struct Counting(usize);
    /// impl TallOperator for Counting {
    ///     fn dim(&self) -> usize { self.0 }
    ///     fn apply(&self, x: &Tall) -> Result<Tall> {
    ///         let mut y = x.clone();
    ///         let width = x.width();
    ///         y.as_mut_slice().chunks_mut(width).enumerate()
    ///             .for_each(|(i, row)| row.iter_mut().for_each(|v| *v *= (i as f32 + 1.0).sqrt()));
    ///         Ok(y)
    ///     }
    /// }
    /// let found = Lanczos::default().solve(&Counting(900), 2, &Silent).unwrap();
    /// // An eigenvalue is not farther away than the residual, a hundredth of the smallest wanted one.
    /// assert!(found.converged && (found.values[0] - 30.0).abs() < 0.3);
    /// ```
    pub fn solve(&self, m: &dyn TallOperator, k: usize, progress: &dyn Progress) -> Result<TallEigen> {
        let dim = m.dim();
        if k > dim {
            return Err(Error::TooManyComponents { asked: k, most: dim, why: "the dimension of the matrix" });
        }
        let (block, widest) = self.widths(dim, k);
        if dim <= widest {
            return self.solve_dense(m, k);
        }
        let mut basis = Basis::start(dim, block, self.seed)?;
        let mut products = 0;
        loop {
            progress.check()?;
            let rest = basis.extend(m)?;
            products += 1;
            progress.advance(1);
            if basis.width() >= k + block / 2 {
                let ritz = basis.ritz(&rest, k, self.wanted)?;
                let done = ritz.residuals.iter().all(|r| *r <= self.tolerance);
                if done || products >= self.max_products {
                    return Ok(TallEigen {
                        vectors: basis.assemble(&ritz.eigen.vectors.first_cols(k)),
                        values: ritz.eigen.values[..k].to_vec(),
                        beyond: ritz.eigen.values[k..].iter().take(k.max(8)).copied().collect(),
                        residuals: ritz.residuals,
                        products,
                        converged: done,
                    });
                }
                if basis.width() + 2 * block > widest {
                    basis.restart(&ritz.eigen, k + block);
                }
            }
            basis.push(rest.next);
        }
    }

    /// Columns of a block, and of the basis at which it is restarted.
    fn widths(&self, dim: usize, k: usize) -> (usize, usize) {
        let block = self.block.unwrap_or((k + 6).next_multiple_of(8).clamp(8, 56)).min(dim.max(1));
        (block, self.widest.unwrap_or(2 * k + 12 * block).max(k + 2 * block))
    }

    /// Bytes that [`Lanczos::solve`] holds at its peak beside the operator: the basis with the blocks that follow it, and at every step the
    /// matrix seen through it, once symmetrised, with what its eigenvectors take.
    pub fn bytes(&self, dim: usize, k: usize) -> u64 {
        let (block, widest) = self.widths(dim, k);
        let square = |rows: usize| 8 * (rows as u64).saturating_mul(rows as u64);
        if dim <= widest {
            return square(dim).saturating_add(eigen_bytes(dim));
        }
        // Restarted a block before it is full, when what goes on stands beside it; of few more rows two thirds span all that is wanted:
        // measured of graphs of 1,000 nodes.
        let basis = (widest - block).min((2 * dim / 3).max(k + block));
        let tall = 4 * dim as u64 * (basis + k + 2 * block) as u64;
        tall.saturating_add(2 * square(basis) + eigen_bytes(basis))
    }

    /// All eigenpairs of a matrix hardly larger than the basis would be.
    fn solve_dense(&self, m: &dyn TallOperator, k: usize) -> Result<TallEigen> {
        let mut identity = Tall::zeros(m.dim(), m.dim());
        let width = m.dim().max(1);
        identity.as_mut_slice().iter_mut().step_by(width + 1).for_each(|x| *x = 1.0);
        let image = symmetric(&m.apply(&identity)?.to_mat());
        drop(identity);
        let found = eigen_symmetric(&image)?;
        drop(image);
        let all = ordered(found, self.wanted);
        Ok(TallEigen {
            values: all.values[..k].to_vec(),
            vectors: Tall::from_mat(&all.vectors.first_cols(k)),
            residuals: vec![0.0; k],
            beyond: all.values[k..].iter().take(k.max(8)).copied().collect(),
            products: 1,
            converged: true,
        })
    }
}

/// An orthonormal basis in blocks of columns, and the matrix seen through it.
struct Basis {
    blocks: Vec<Tall>,
    /// QᵀMQ, for the blocks that have been multiplied.
    projected: Mat,
}

/// What a product leaves outside the basis: M·Q_last − Q·H = next · coupling.
struct Rest {
    next: Tall,
    coupling: Mat,
}

struct Ritz {
    /// All pairs inside the basis, the wanted first.
    eigen: Eigen,
    residuals: Vec<f64>,
}

impl Basis {
    fn start(dim: usize, block: usize, seed: u64) -> Result<Self> {
        let mut first = Tall::gaussian(dim, block, seed);
        first.orthonormalise()?;
        Ok(Self { blocks: vec![first], projected: Mat::zeros(0, 0) })
    }

    fn width(&self) -> usize {
        self.blocks.iter().map(Tall::width).sum()
    }

    fn push(&mut self, block: Tall) {
        self.blocks.push(block);
    }

    /// Multiplies the last block and orthogonalises what comes out against the basis: a second time when the first took
    /// more than half of it away, because rounding then counts twice.
    fn extend(&mut self, m: &dyn TallOperator) -> Result<Rest> {
        let last = self.blocks.last().expect("there is a first block");
        let mut y = m.apply(last)?;
        let before = norm(&y);
        let mut column = self.remove(&mut y);
        if norm(&y) < 0.5 * before {
            column.add_scaled(1.0, &self.remove(&mut y));
        }
        self.grow(&column);
        let coupling = y.orthonormalise()?;
        Ok(Rest { next: y, coupling })
    }

    /// y ← y − Q Qᵀ y; returns Qᵀ y.
    fn remove(&self, y: &mut Tall) -> Mat {
        let mut column = Mat::zeros(self.width(), y.width());
        let mut first = 0;
        for block in &self.blocks {
            let part = block.gram(y);
            y.add_times(-1.0, block, &part);
            for i in 0..part.rows() {
                column.row_mut(first + i).copy_from_slice(part.row(i));
            }
            first += block.width();
        }
        column
    }

    /// Adds the last block's column to QᵀMQ, and its transpose.
    fn grow(&mut self, column: &Mat) {
        let (old, new) = (self.projected.rows(), column.rows());
        let known = &self.projected;
        self.projected = Mat::from_fn(new, new, |i, j| match (i < old, j < old) {
            (true, true) => known[(i, j)],
            (_, false) => column[(i, j - old)],
            (false, true) => column[(j, i - old)],
        });
    }

    fn ritz(&self, rest: &Rest, k: usize, wanted: Wanted) -> Result<Ritz> {
        let eigen = ordered(eigen_symmetric(&symmetric(&self.projected))?, wanted);
        let last = rest.coupling.cols();
        let first = eigen.vectors.rows() - last;
        let tail = Mat::from_fn(last, k, |i, j| eigen.vectors[(first + i, j)]);
        let scale = eigen.values[k - 1].abs().max(f64::MIN_POSITIVE);
        let residuals = rest.coupling.matmul(&tail).col_norms().iter().map(|r| r / scale).collect();
        Ok(Ritz { eigen, residuals })
    }

    /// Q · rotation.
    fn assemble(&self, rotation: &Mat) -> Tall {
        let rows = self.blocks[0].rows();
        let mut out = Tall::zeros(rows, rotation.cols());
        let mut first = 0;
        for block in &self.blocks {
            let part = Mat::from_fn(block.width(), rotation.cols(), |i, j| rotation[(first + i, j)]);
            out.add_times(1.0, block, &part);
            first += block.width();
        }
        out
    }

    /// Keeps the best `count` Ritz vectors as the whole basis.
    fn restart(&mut self, eigen: &Eigen, count: usize) {
        let count = count.min(eigen.values.len());
        let kept = self.assemble(&eigen.vectors.first_cols(count));
        self.blocks = vec![kept];
        self.projected = Mat::diagonal(&eigen.values[..count]);
    }
}

fn norm(x: &Tall) -> f64 {
    let gram = x.gram(x);
    (0..gram.rows()).map(|i| gram[(i, i)]).sum::<f64>().max(0.0).sqrt()
}

fn symmetric(m: &Mat) -> Mat {
    Mat::from_fn(m.rows(), m.cols(), |i, j| 0.5 * (m[(i, j)] + m[(j, i)]))
}

/// The pairs with the wanted ones first.
fn ordered(eigen: Eigen, wanted: Wanted) -> Eigen {
    if wanted == Wanted::Largest {
        return eigen;
    }
    let mut order: Vec<usize> = (0..eigen.values.len()).collect();
    order.sort_by(|&a, &b| eigen.values[b].abs().total_cmp(&eigen.values[a].abs()).then(a.cmp(&b)));
    Eigen {
        values: order.iter().map(|&i| eigen.values[i]).collect(),
        vectors: eigen.vectors.select_cols(&order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Csr, parallel, random};
    use crate::progress::Silent;
    use rand::RngExt;

    struct Graph(Csr);

    impl TallOperator for Graph {
        fn dim(&self) -> usize {
            self.0.rows()
        }
        fn apply(&self, x: &Tall) -> Result<Tall> {
            Ok(Tall::from_mat(&self.0.matmul(&x.to_mat())))
        }
    }

    /// A sparse random graph with `groups` blocks: as many eigenvalues stand out, the rest have no gap.
    fn graph(n: usize, groups: usize, edges: usize) -> Graph {
        let mut rng = random::rng(4, 0);
        let mut triplets = Vec::new();
        for _ in 0..edges {
            let i = rng.random_range(0..n);
            let inside = rng.random_range(0..10) < 8;
            let j = if inside {
                i % groups + groups * rng.random_range(0..n / groups)
            } else {
                rng.random_range(0..n)
            };
            triplets.push((i, j, 1.0));
            triplets.push((j, i, 1.0));
        }
        Graph(Csr::from_triplets(n, n, &triplets))
    }

    #[test]
    fn reaches_the_tolerance_with_and_without_a_gap_and_through_restarts() {
        let graph = graph(1200, 6, 9000);
        let exact = eigen_symmetric(&graph.0.to_dense()).unwrap();
        for (wanted, k, widest) in [
            (Wanted::Largest, 6, None),
            (Wanted::Largest, 14, Some(60)),
            (Wanted::LargestMagnitude, 9, Some(48)),
            (Wanted::Largest, 1, None),
        ] {
            let solver = Lanczos { wanted, tolerance: 1e-3, widest, max_products: 400, ..Default::default() };
            let found = solver.solve(&graph, k, &Silent).unwrap();
            assert!(found.converged, "{wanted:?} {k}: {:?} after {}", found.residuals, found.products);
            let expected = ordered(exact.clone(), wanted);
            for i in 0..k {
                // For a symmetric matrix an eigenvalue is at most a residual away.
                let allowed = 1e-3 * expected.values[k - 1].abs() + 1e-4 * expected.values[0].abs();
                assert!((found.values[i] - expected.values[i]).abs() < allowed, "{wanted:?} {k} {i}");
            }
            let gram = found.vectors.gram(&found.vectors);
            assert!((0..k).all(|i| (gram[(i, i)] - 1.0).abs() < 1e-4), "unit vectors");
        }
    }

    #[test]
    fn small_matrices_and_bad_k() {
        let graph = graph(60, 3, 300);
        let found = Lanczos::default().solve(&graph, 60, &Silent).unwrap();
        assert!(found.converged && found.values.len() == 60);
        assert!(Lanczos::default().solve(&graph, 61, &Silent).is_err());
    }

    #[test]
    fn stops_unconverged_and_says_so() {
        let solver = Lanczos { tolerance: 1e-9, max_products: 3, ..Default::default() };
        assert!(!solver.solve(&graph(1500, 5, 9000), 10, &Silent).unwrap().converged);
    }

    #[test]
    fn same_bytes_on_any_number_of_threads() {
        let graph = graph(6000, 5, 30_000);
        let run = |t| parallel::with_threads(t, || Lanczos::default().solve(&graph, 5, &Silent).unwrap());
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), one);
        }
    }
}
