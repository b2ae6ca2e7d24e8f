//! Whitening: from the second moment to coordinates in which the components are orthonormal.

use crate::error::{Error, Result};
use crate::linalg::{Eigen, Mat, Rows, centre, gemm, parallel, view, view_mut, with_rows};
use crate::progress::{Progress, Silent};
use std::sync::Mutex;

/// W with Wᵀ M₂ W = I for the k largest signed eigenpairs M₂ ≈ U Λ Uᵀ: W = U Λ^(−1/2).
///
/// # Example
/// ```
/// use tenfold_engine::linalg::{Mat, RangeFinder};
/// use tenfold_engine::whiten::Whitener;
/// let m2 = Mat::diagonal(&[9.0, 4.0, 1.0, -2.0]);
/// let whitener = Whitener::new(RangeFinder::default().eigen(&m2, 2).unwrap(), 2).unwrap();
/// let seen = whitener.matrix().tr_matmul(&m2.matmul(whitener.matrix()));
/// assert!((seen[(0, 0)] - 1.0).abs() < 1e-9 && seen[(0, 1)].abs() < 1e-9);
/// assert!((whitener.condition() - 2.25).abs() < 1e-9);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Whitener {
    matrix: Mat,
    inverse: Mat,
    spectrum: Vec<f64>,
    asked: usize,
}

/// Eigenvalues below this share of the largest are rounding, not signal.
const RANK_TOLERANCE: f64 = 1e-12;

impl Whitener {
    /// Whitens with the `k` largest signed eigenvalues. If fewer are positive, uses those: [`Whitener::k`] is
    /// then below [`Whitener::asked`], and the caller says so.
    ///
    /// # Errors
    /// [`Error::TooLittleData`] when no eigenvalue is positive.
    pub fn new(eigen: Eigen, k: usize) -> Result<Self> {
        let spectrum = eigen.values;
        let rank = numerical_rank(&spectrum);
        if rank == 0 {
            return Err(Error::TooLittleData(
                "the second moment has no positive eigenvalue: the data do not vary, or hold nothing but noise".into(),
            ));
        }
        let used = k.clamp(1, rank);
        let u = eigen.vectors.first_cols(used);
        let scaled = |power: f64| {
            let mut m = u.clone();
            m.scale_cols(&spectrum[..used].iter().map(|l| l.powf(power)).collect::<Vec<_>>());
            m
        };
        Ok(Self { matrix: scaled(-0.5), inverse: scaled(0.5), spectrum, asked: k })
    }

    /// Dimensions after whitening.
    pub fn k(&self) -> usize {
        self.matrix.cols()
    }

    /// Dimensions that were asked for.
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// W, d × k.
    pub fn matrix(&self) -> &Mat {
        &self.matrix
    }

    /// (W⁺)ᵀ = U Λ^(1/2), d × k: takes whitened vectors back.
    pub fn inverse(&self) -> &Mat {
        &self.inverse
    }

    /// All eigenvalues that were computed, largest first.
    pub fn spectrum(&self) -> &[f64] {
        &self.spectrum
    }

    /// λ₁ / λ_k: how much whitening magnifies noise.
    pub fn condition(&self) -> f64 {
        self.spectrum[0] / self.spectrum[self.k() - 1]
    }

    /// λ_k / λ_{k+1}: how clearly the spectrum ends at k; infinite when nothing positive follows.
    pub fn eigengap(&self) -> f64 {
        match self.spectrum.get(self.k()) {
            Some(&next) if next > RANK_TOLERANCE * self.spectrum[0] => self.spectrum[self.k() - 1] / next,
            _ => f64::INFINITY,
        }
    }

    /// Whitened rows (x − mean) W, computed in parallel and held in memory.
    ///
    /// # Errors
    /// What the data source says.
    pub fn apply(&self, samples: &dyn Rows, mean: &[f64]) -> Result<Mat> {
        Whitened { samples, mean, matrix: &self.matrix }.to_mat(&Silent)
    }
}

/// Samples seen through `(x − mean) W`, computed anew at every read: whitened data that need no memory.
#[derive(Clone, Copy)]
pub struct Whitened<'a> {
    /// The raw samples.
    pub samples: &'a dyn Rows,
    /// What is taken away from each.
    pub mean: &'a [f64],
    /// W, d × k.
    pub matrix: &'a Mat,
}

impl Whitened<'_> {
    /// All rows, computed in parallel and held in memory.
    ///
    /// # Errors
    /// What the data source says; [`Error::Interrupted`].
    pub fn to_mat(&self, progress: &dyn Progress) -> Result<Mat> {
        let mut out = Mat::zeros(self.rows(), self.cols());
        let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        parallel::fill_rows(out.as_mut_slice(), self.matrix.cols(), |range, chunk| {
            let made = progress.check().and_then(|()| self.read_rows(range.start, chunk));
            if let Err(error) = made {
                let mut first = failure.lock().expect("no thread panics while it holds this");
                if first.as_ref().is_none_or(|(row, _)| range.start < *row) {
                    *first = Some((range.start, error));
                }
            }
        });
        match failure.into_inner().expect("no thread panics while it holds this") {
            Some((_, error)) => Err(error),
            None => Ok(out),
        }
    }

    /// The whitened rows `first..` of one block, as many as `out` holds.
    fn whiten_block(&self, first: usize, out: &mut [f64]) -> Result<()> {
        let (d, k) = (self.matrix.rows(), self.matrix.cols());
        let rows = out.len() / k;
        with_rows(self.samples, first..first + rows, &mut Vec::new(), |block| {
            // Centre before multiplying: subtracting mean·W afterwards would cancel digits.
            let centred = centre(block, self.mean);
            gemm(view_mut(out, rows, k), view(&centred, rows, d), self.matrix.view());
        })
    }
}

impl Rows for Whitened<'_> {
    fn rows(&self) -> usize {
        self.samples.rows()
    }
    fn cols(&self) -> usize {
        self.matrix.cols()
    }
    /// Rows are always computed in the same aligned blocks, whatever range is asked for: the rounding of a matrix
    /// product may depend on its shape, and no reader shall see other bytes than the next.
    fn read_rows(&self, start: usize, out: &mut [f64]) -> Result<()> {
        let k = self.matrix.cols();
        let align = parallel::block_rows(self.matrix.rows());
        let end = start + out.len() / k.max(1);
        let mut row = start;
        while row < end {
            let first = row / align * align;
            let last = (first + align).min(self.rows());
            let upto = last.min(end);
            let target = &mut out[(row - start) * k..(upto - start) * k];
            if (first, last) == (row, upto) {
                self.whiten_block(first, target)?;
            } else {
                let mut block = vec![0.0; (last - first) * k];
                self.whiten_block(first, &mut block)?;
                target.copy_from_slice(&block[(row - first) * k..(upto - first) * k]);
            }
            row = upto;
        }
        Ok(())
    }
}

/// Number of eigenvalues (largest first) that stand above rounding.
pub fn numerical_rank(spectrum: &[f64]) -> usize {
    let floor = RANK_TOLERANCE * spectrum.iter().fold(0.0f64, |m, l| m.max(l.abs()));
    spectrum.iter().take_while(|l| **l > floor).count()
}

/// The number of components that `samples` samples support, from the whole spectrum of their covariance:
/// minimum description length for signal in white noise (Wax and Kailath, 1985).
///
/// MDL(k) = −n·(d − k)·ln(geometric / arithmetic mean of the d − k smallest) + ½ k (2d − k) ln n, over the d eigenvalues
/// that are not zero to rounding. Where it sees no noise floor the answer is d: when all eigenvalues are alike (k = 0,
/// white data, in which higher moments may still tell sources apart) and when the floor would be a single
/// eigenvalue (k = d − 1).
///
/// # Example
/// ```
/// use tenfold_engine::whiten::suggest_k;
/// assert_eq!(suggest_k(&[9.0, 5.0, 1.01, 1.0, 0.99, 0.0], 10_000), 2);
/// assert_eq!(suggest_k(&[9.0, 5.0, 0.0, 0.0], 10_000), 2);
/// ```
pub fn suggest_k(spectrum: &[f64], samples: usize) -> usize {
    let d = numerical_rank(spectrum);
    let n = samples as f64;
    let length = |k: usize| {
        let tail = &spectrum[k..d];
        let m = tail.len() as f64;
        let arithmetic = tail.iter().sum::<f64>() / m;
        let log_geometric = tail.iter().map(|l| l.ln()).sum::<f64>() / m;
        n * m * (arithmetic.ln() - log_geometric) + 0.5 * (k * (2 * d - k)) as f64 * n.ln()
    };
    let best = (0..d).map(|k| (k, length(k))).min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k);
    if best == 0 || best + 1 == d { d } else { best }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{RangeFinder, eigen_symmetric, orthogonality_error, random};
    use crate::moments::Spread;

    #[test]
    fn whitened_samples_are_white_and_go_back() {
        let mut rng = random::rng(1, 0);
        let x =
            random::gaussian(3000, 4, &mut rng).matmul(&random::gaussian(4, 7, &mut rng)).map(|v| v + 3.0);
        let spread = Spread::of(&x, &Silent).unwrap();
        let whitener = Whitener::new(eigen_symmetric(&spread.covariance()).unwrap(), 6).unwrap();
        assert_eq!((whitener.k(), whitener.asked()), (4, 6), "four dimensions vary");
        let y = whitener.apply(&x, &spread.mean).unwrap();
        assert!(orthogonality_error(&y.map(|v| v / 3000f64.sqrt())) < 1e-10);
        // W undoes its inverse: (W⁺)ᵀ Wᵀ (x − mean) = x − mean on the signal space.
        let back = y.matmul_tr(whitener.inverse());
        for t in [0, 1234, 2999] {
            for i in 0..7 {
                assert!((back[(t, i)] + spread.mean[i] - x[(t, i)]).abs() < 1e-10);
            }
        }
        let streamed = Whitened { samples: &x, mean: &spread.mean, matrix: whitener.matrix() };
        let mut block = vec![0.0; 512 * 4];
        streamed.read_rows(512, &mut block).unwrap();
        assert_eq!(block, y.as_slice()[512 * 4..1024 * 4]);
        // Any range, one row included, has the bytes of the whole.
        for (start, rows) in [(0, 1), (511, 2), (700, 900), (2999, 1)] {
            let mut part = vec![0.0; rows * 4];
            streamed.read_rows(start, &mut part).unwrap();
            assert_eq!(part, y.as_slice()[start * 4..(start + rows) * 4], "rows from {start}");
        }
    }

    #[test]
    fn indefinite_moments_use_the_positive_part() {
        let m2 = Mat::diagonal(&[5.0, 1.0, -3.0, -4.0]);
        let whitener = Whitener::new(RangeFinder::default().eigen(&m2, 3).unwrap(), 3).unwrap();
        assert_eq!(whitener.k(), 2);
        assert!(whitener.eigengap().is_infinite());
        assert!(Whitener::new(eigen_symmetric(&Mat::diagonal(&[-1.0, -2.0])).unwrap(), 1).is_err());
    }

    #[test]
    fn suggested_k_finds_signal_in_noise_over_seeds() {
        for seed in 0..10 {
            let mut rng = random::rng(seed, 0);
            let signal = random::gaussian(2000, 3, &mut rng).matmul(&random::gaussian(3, 10, &mut rng));
            let mut x = random::gaussian(2000, 10, &mut rng).map(|v| 0.3 * v);
            x.add_scaled(1.0, &signal);
            let e = eigen_symmetric(&Spread::of(&x, &Silent).unwrap().covariance()).unwrap();
            assert_eq!(suggest_k(&e.values, 2000), 3, "seed {seed}");
            // A column without variance changes nothing, white data keep every dimension.
            let with_zero: Vec<f64> = e.values.iter().copied().chain([0.0]).collect();
            assert_eq!(suggest_k(&with_zero, 2000), 3, "seed {seed}");
            let white = random::gaussian(2000, 6, &mut rng);
            let e = eigen_symmetric(&Spread::of(&white, &Silent).unwrap().covariance()).unwrap();
            assert_eq!(suggest_k(&e.values, 2000), 6, "seed {seed}");
            let square = random::gaussian(2000, 5, &mut rng).matmul(&random::gaussian(5, 5, &mut rng));
            let e = eigen_symmetric(&Spread::of(&square, &Silent).unwrap().covariance()).unwrap();
            assert_eq!(suggest_k(&e.values, 2000), 5, "seed {seed}");
        }
    }
}
