//! The tensor's start: the whitened third moment of genes within bins.
//!
//! Bins are documents and genes are words. With x the counts of a bin, L their sum and weights p ∝ L over bins,
//!
//! P = Σ p (x xᵀ − diag x) / (L(L−1)),   M1 = Σ p x / L,
//! M2 = P − α0/(α0+1) M1 M1ᵀ = Σ_t a_t β_t β_tᵀ,
//!
//! and M3, the same of triples of different cells of a bin, is Σ_t b_t β_t⊗³ where memberships are Dirichlet with Σα = α0. M2 is
//! known through its products, and M3 is seen through the whitening of M2 alone: no matrix of genes × genes is formed.

use crate::error::Result;
use tenfold_engine::decompose::Solver;
use tenfold_engine::linalg::{Csr, Mat, RangeFinder, SymmetricOperator};
use tenfold_engine::progress::Progress;
use tenfold_engine::tensor::{Implicit, Tensor3, Term};
use tenfold_engine::whiten::Whitener;

/// Σα that the moments are corrected by. Bins mix a few types with shares of all sizes; values from 0.3 to 3 give starts from which
/// the same optimum is reached.
const ALPHA0: f64 = 1.0;

/// Negative entries and those below this are noise of the moments: a start gives every gene a chance.
const LEAST: f64 = 1e-7;

/// Weighted moments of the rows of a matrix, as products.
pub(super) struct Moments<'a> {
    counts: &'a Csr,
    by_gene: Csr,
    /// p/(L(L−1)) and p/(L(L−1)(L−2)) of every row; 0 for rows that are too short.
    pairs: Vec<f64>,
    triples: Vec<f64>,
    /// M1.
    first: Vec<f64>,
}

impl<'a> Moments<'a> {
    pub fn new(counts: &'a Csr) -> Self {
        let by_gene = counts.transpose();
        let lengths: Vec<f64> = (0..counts.rows()).map(|row| counts.row(row).1.iter().sum()).collect();
        // Three different cells make a triple.
        let long = |l: f64| if l >= 3.0 { l } else { 0.0 };
        let all = lengths.iter().map(|l| long(*l)).sum::<f64>().max(f64::MIN_POSITIVE);
        let over = |l: f64, by: f64| if l >= 3.0 { l / all / by } else { 0.0 };
        let ones = Mat::from_vec(counts.rows(), 1, lengths.iter().map(|l| over(*l, *l)).collect());
        Self {
            counts,
            first: by_gene.matmul(&ones).into_vec(),
            by_gene,
            pairs: lengths.iter().map(|l| over(*l, l * (l - 1.0))).collect(),
            triples: lengths.iter().map(|l| over(*l, l * (l - 1.0) * (l - 2.0))).collect(),
        }
    }

    /// P · Z.
    fn pair_product(&self, z: &Mat) -> Mat {
        let mut projected = self.counts.matmul(z);
        projected.scale_rows(&self.pairs);
        let mut product = self.by_gene.matmul(&projected);
        let mut own = z.clone();
        own.scale_rows(&self.weighted(&self.pairs));
        product.add_scaled(-1.0, &own);
        product
    }

    /// Σ_row w_row x_row.
    fn weighted(&self, weights: &[f64]) -> Vec<f64> {
        self.by_gene.matmul(&Mat::from_vec(weights.len(), 1, weights.to_vec())).into_vec()
    }

    /// M3(W, W, W).
    pub fn third(&self, white: &Mat) -> Result<Tensor3> {
        let rows = self.counts.matmul(white);
        let mut scaled = rows.clone();
        scaled.scale_rows(&self.triples);
        // A gene beside a pair of whitened ones: what c⊗c⊗c counts though two of its cells are one.
        let beside = self.by_gene.matmul(&scaled);
        let own = self.weighted(&self.triples);
        let second = white.tr_matmul(&self.pair_product(white));
        let second =
            Mat::from_fn(second.rows(), second.cols(), |i, j| 0.5 * (second[(i, j)] + second[(j, i)]));
        let first = white.tr_matvec(&self.first);
        let a = ALPHA0;
        let terms = vec![
            Term::Powers { samples: &rows, weights: Some(&self.triples), scale: 1.0 },
            Term::Mixed { twice: white, once: &beside, weights: None, scale: -1.0 },
            Term::Powers { samples: white, weights: Some(&own), scale: 2.0 },
            Term::MatrixVector { matrix: second, vector: first.clone(), scale: -a / (a + 2.0) },
            Term::RankOne { vector: first, scale: 2.0 * a * a / ((a + 1.0) * (a + 2.0)) },
        ];
        Ok(Implicit::new(3, white.cols(), terms).to_tensor3()?)
    }

    /// Profiles (k × genes) by whitening and decomposition; none where M2 has fewer than k directions.
    pub fn profiles(&self, k: usize, seed: u64, progress: &dyn Progress) -> Result<Option<Mat>> {
        if k > self.first.len() || self.first.iter().all(|x| *x == 0.0) {
            return Ok(None);
        }
        let eigen = RangeFinder { seed, ..RangeFinder::default() }.eigen(self, k)?;
        let Ok(whitener) = Whitener::new(eigen, k) else { return Ok(None) };
        if whitener.k() < k {
            return Ok(None);
        }
        let tensor = self.third(whitener.matrix())?;
        let found = Solver::default().decompose(&tensor, k, seed, progress)?;
        // Undone, a component is β times a number; profiles sum to 1, so its size and its sign do not matter.
        let raw = whitener.inverse().matmul(&found.cp.factors).transpose();
        let mut profiles = Mat::zeros(k, raw.cols());
        for t in 0..k {
            let sign = if raw.row(t).iter().sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
            let clipped: Vec<f64> = raw.row(t).iter().map(|x| (sign * x).max(0.0)).collect();
            let total = clipped.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            profiles.row_mut(t).iter_mut().zip(clipped).for_each(|(p, x)| *p = (x / total).max(LEAST));
        }
        Ok(Some(profiles))
    }
}

impl SymmetricOperator for Moments<'_> {
    fn dim(&self) -> usize {
        self.first.len()
    }

    fn apply(&self, x: &Mat) -> tenfold_engine::Result<Mat> {
        let mut product = self.pair_product(x);
        let along = x.tr_matvec(&self.first);
        let shift = ALPHA0 / (ALPHA0 + 1.0);
        for (g, first) in self.first.iter().enumerate() {
            product.row_mut(g).iter_mut().zip(&along).for_each(|(p, a)| *p -= shift * first * a);
        }
        Ok(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use tenfold_engine::linalg::random;
    use tenfold_engine::progress::Silent;

    const GENES: usize = 5;

    fn bins() -> Vec<Vec<usize>> {
        let mut rng = random::rng(3, 0);
        // The last bins are too short for a triple.
        [6, 4, 9, 3, 5, 2, 1, 0].map(|n| (0..n).map(|_| rng.random_range(0..GENES)).collect()).to_vec()
    }

    fn matrix(bins: &[Vec<usize>]) -> Csr {
        let cells = bins.iter().enumerate().flat_map(|(m, cells)| cells.iter().map(move |g| (m, *g, 1.0)));
        Csr::from_triplets(bins.len(), GENES, &cells.collect::<Vec<_>>())
    }

    /// First, second and third moments by running over all ordered tuples of different cells of a bin.
    fn brute(bins: &[Vec<usize>]) -> (Vec<f64>, Mat, Vec<f64>) {
        let (mut m1, mut m2, mut m3) = (vec![0.0; GENES], Mat::zeros(GENES, GENES), vec![0.0; GENES.pow(3)]);
        let all: f64 = bins.iter().map(Vec::len).filter(|l| *l >= 3).sum::<usize>() as f64;
        for bin in bins.iter().filter(|bin| bin.len() >= 3) {
            let l = bin.len();
            let p = l as f64 / all;
            for a in 0..l {
                m1[bin[a]] += p / l as f64;
                for b in (0..l).filter(|b| *b != a) {
                    m2[(bin[a], bin[b])] += p / (l * (l - 1)) as f64;
                    for c in (0..l).filter(|c| *c != a && *c != b) {
                        m3[(bin[a] * GENES + bin[b]) * GENES + bin[c]] += p / (l * (l - 1) * (l - 2)) as f64;
                    }
                }
            }
        }
        (m1, m2, m3)
    }

    #[test]
    fn moments_are_the_sums_over_different_cells() {
        let bins = bins();
        let counts = matrix(&bins);
        let moments = Moments::new(&counts);
        let (m1, m2, m3) = brute(&bins);
        assert!(moments.first.iter().zip(&m1).all(|(a, b)| (a - b).abs() < 1e-14));
        let corrected = Mat::from_fn(GENES, GENES, |i, j| m2[(i, j)] - 0.5 * m1[i] * m1[j]);
        let mut far = moments.apply(&Mat::identity(GENES)).unwrap();
        far.add_scaled(-1.0, &corrected);
        assert!(far.max_abs() < 1e-14, "{}", far.max_abs());

        let white = random::gaussian(GENES, 3, &mut random::rng(4, 0));
        let found = moments.third(&white).unwrap().to_full();
        // α0 = 1: −1/3 of the three ways to pair, + 1/3 of the cube of the mean.
        let entry = |i: usize, j: usize, l: usize| {
            m3[(i * GENES + j) * GENES + l]
                - (m2[(i, j)] * m1[l] + m2[(i, l)] * m1[j] + m2[(j, l)] * m1[i]) / 3.0
                + m1[i] * m1[j] * m1[l] / 3.0
        };
        for (at, found) in found.iter().enumerate() {
            let (a, b, c) = (at / 9, at / 3 % 3, at % 3);
            let mut sum = 0.0;
            for i in 0..GENES {
                for j in 0..GENES {
                    for l in 0..GENES {
                        sum += entry(i, j, l) * white[(i, a)] * white[(j, b)] * white[(l, c)];
                    }
                }
            }
            assert!((found - sum).abs() < 1e-12, "{a} {b} {c}: {found} {sum}");
        }
    }

    #[test]
    fn pure_bins_give_their_profiles() {
        // Three types with disjoint genes, each alone in ten bins: M2 and M3 of the bins are exact up to which cells differ.
        let cells = (0..30).flat_map(|m| {
            let t = m % 3;
            [(m, 2 * t, 40.0), (m, 2 * t + 1, 20.0)]
        });
        let counts = Csr::from_triplets(30, 6, &cells.collect::<Vec<_>>());
        let found = Moments::new(&counts).profiles(3, 0, &Silent).unwrap().unwrap();
        for t in 0..3 {
            let best = (0..3).map(|i| found[(i, 2 * t)]).fold(0.0, f64::max);
            // Drawn without replacement, pairs of one gene are rarer by 1/60, so the profile is off by about as much.
            assert!((best - 2.0 / 3.0).abs() < 0.02, "{found:?}");
        }
    }

    #[test]
    fn too_few_directions_give_no_start() {
        let counts = Csr::from_triplets(3, 4, &[(0, 0, 5.0), (1, 0, 5.0), (2, 0, 5.0)]);
        assert!(Moments::new(&counts).profiles(3, 0, &Silent).unwrap().is_none());
        assert!(Moments::new(&counts).profiles(5, 0, &Silent).unwrap().is_none());
        let nothing: Csr = Csr::from_triplets(2, 2, &[]);
        assert!(Moments::new(&nothing).profiles(1, 0, &Silent).unwrap().is_none());
    }
}
