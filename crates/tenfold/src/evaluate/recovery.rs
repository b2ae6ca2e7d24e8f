//! How much of the true memberships is found again, by the p-value matching of the thesis.

mod discoveries;
mod sums;

pub use sums::Truth;

use discoveries::discoveries;
use sums::{Columns, Sums};
use tenfold_engine::linalg::{Mat, assign};

/// A true community and a found one whose memberships are correlated more than chance allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pairing {
    /// The true community.
    pub truth: usize,
    /// The found community.
    pub found: usize,
    /// The correlation of their memberships.
    pub correlation: f64,
    /// The probability of a correlation as large by chance; 0 when it is too small for a number.
    pub p_value: f64,
    /// The mean absolute difference of their memberships, (1/n) Σ_x |π̂_x − π_x|.
    pub error: f64,
}

/// Found memberships π̂ (n × k̂) against true ones π (n × k); k̂ need not be k.
///
/// **The thesis's matching.** Column j of π̂ and column i of π are a pair when their correlation ρ is significant: the
/// right tail of Student's t with n − 2 degrees of freedom at T = ρ √(n − 2) / √(1 − ρ²), with a false discovery rate
/// of 0.01 by Benjamini and Hochberg over all k k̂ tests. A community may be in several pairs, or in none. Then
///
/// - recovery ratio R = (true communities that are in a pair) / k,
/// - error E = (1/k) Σ_pairs (1/n) Σ_x |π̂_xj − π_xi|.
///
/// **R and E alone mislead.** E sums over significant pairs only: nothing recovered scores 0. Pairs that are significant but
/// wrong are many when n is large, and each adds to it. So they come with the number of pairs and with
///
/// - the mean absolute error of the one-to-one matching with the smallest sum,
///   (1/k) Σ_i (1/n) Σ_x |π̂_xσ(i) − π_xi|, where what is left over on either side is compared with nothing, an empty
///   column: memberships that are missed count, and so do those that were made up;
/// - what an answer without any membership would score by it, (1/k) Σ_i (1/n) Σ_x π_xi: the baseline to be below.
///
/// # Example
/// ```
/// use tenfold::evaluate::{Cover, Recovery};
/// let truth = Cover::new(100, vec![(0..50).collect(), (50..100).collect()]);
/// let found = Cover::new(100, vec![(40..100).collect(), (0..50).collect()]).memberships();
/// let recovery = Recovery::new(&truth, &found);
/// assert_eq!((recovery.ratio(), recovery.pairs().len()), (1.0, 2));
/// assert_eq!(recovery.partners(), [Some(1), Some(0)]);
/// // The first found community has ten nodes too many.
/// assert_eq!((recovery.error(), recovery.mean_absolute_error(), recovery.empty_error()), (0.05, 0.05, 0.5));
/// ```
///
/// # References
/// Thesis, sections "p-value testing" and "Evaluation metrics"; Benjamini and Hochberg, "Controlling the false discovery
/// rate", Journal of the Royal Statistical Society B 57 (1995) 289–300.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovery {
    k: usize,
    pairs: Vec<Pairing>,
    partners: Vec<Option<usize>>,
    mean_absolute_error: f64,
    empty_error: f64,
}

impl Recovery {
    /// Compares memberships with the truth, a matrix of memberships or a [`Cover`](super::Cover).
    ///
    /// # Complexity
    /// O(s k̂ + k k̂ min(k, k̂)), s being the entries of the truth that are not 0, so at most O(n k k̂); memory for a few
    /// matrices of k × k̂, nothing of n × n.
    ///
    /// # Panics
    /// When truth and memberships are over different numbers of nodes.
    pub fn new<'a>(truth: impl Into<Truth<'a>>, found: &Mat) -> Self {
        Self::with_threshold(&Columns::new(truth.into()), found, f64::NEG_INFINITY)
    }

    /// The trade-off between recovery and error: for each threshold t the comparison after all found memberships below t
    /// were set to 0. (Those that stay are not scaled up.) Few memberships recover the clearest communities with a small
    /// error; many recover more and err more.
    ///
    /// # Complexity
    /// As [`new`](Self::new) for every threshold.
    ///
    /// # Panics
    /// When truth and memberships are over different numbers of nodes.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::linalg::Mat;
    /// use tenfold::evaluate::{Cover, Recovery};
    /// // The second community is found weakly, and nodes of the first are taken for half-members.
    /// let truth = Cover::new(60, vec![(0..40).collect(), (40..60).collect()]);
    /// let found = Mat::from_fn(60, 2, |x, j| [[0.8, 0.1], [0.1, 0.3]][usize::from(x >= 40)][j]);
    /// let curve = Recovery::trade_off(&truth, &found, &[0.0, 0.2, 0.5]);
    /// let ratios: Vec<f64> = curve.iter().map(Recovery::ratio).collect();
    /// assert_eq!(ratios, [1.0, 1.0, 0.5]);
    /// assert!(curve[1].error() < curve[0].error() && curve[2].error() < curve[1].error());
    /// assert!(curve[2].mean_absolute_error() > curve[1].mean_absolute_error());
    /// ```
    pub fn trade_off<'a>(truth: impl Into<Truth<'a>>, found: &Mat, thresholds: &[f64]) -> Vec<Self> {
        let truth = Columns::new(truth.into());
        thresholds.iter().map(|&threshold| Self::with_threshold(&truth, found, threshold)).collect()
    }

    fn with_threshold(truth: &Columns<'_>, found: &Mat, threshold: f64) -> Self {
        assert_eq!(truth.nodes, found.rows(), "memberships of the same nodes");
        // Without nodes or communities every sum is 0, and so is every mean of it.
        let (n, k) = (truth.nodes.max(1) as f64, truth.k.max(1) as f64);
        let sums = Sums::new(truth, found, threshold);
        let distance = |i: usize, j: usize| {
            let apart = truth.masses[i] + sums.masses[j] - sums.common[(i, j)];
            apart.max(0.0) / n
        };
        let pairs = discoveries(&sums.correlations, truth.nodes)
            .into_iter()
            .map(|pair| Pairing {
                truth: pair.truth,
                found: pair.found,
                correlation: sums.correlations[(pair.truth, pair.found)],
                p_value: pair.p_value,
                error: distance(pair.truth, pair.found),
            })
            .collect();
        let partners = partners(&sums.common);
        // Those left alone are compared with an empty column, which leaves their own mass.
        let mut alone = sums.masses.clone();
        let mut total = 0.0;
        for (i, partner) in partners.iter().enumerate() {
            match *partner {
                None => total += truth.masses[i] / n,
                Some(j) => {
                    total += distance(i, j);
                    alone[j] = 0.0;
                }
            }
        }
        let mean_absolute_error = (total + alone.iter().sum::<f64>() / n) / k;
        let empty_error = truth.masses.iter().sum::<f64>() / (n * k);
        Self { k: truth.k, pairs, partners, mean_absolute_error, empty_error }
    }

    /// The significant pairs: by true community, the most correlated first.
    pub fn pairs(&self) -> &[Pairing] {
        &self.pairs
    }

    /// The recovery ratio R, in [0, 1]; 0 when there is no true community.
    pub fn ratio(&self) -> f64 {
        let recovered = self.pairs.chunk_by(|a, b| a.truth == b.truth).count();
        recovered as f64 / self.k.max(1) as f64
    }

    /// The error E over significant pairs, at least 0 and more than 1 when there are many. Says nothing without
    /// [`ratio`](Self::ratio) and the number of pairs.
    pub fn error(&self) -> f64 {
        self.pairs.iter().map(|pair| pair.error).sum::<f64>() / self.k.max(1) as f64
    }

    /// The mean absolute error after optimal matching.
    pub fn mean_absolute_error(&self) -> f64 {
        self.mean_absolute_error
    }

    /// The mean absolute error of an answer without any membership: the mean of the true memberships.
    pub fn empty_error(&self) -> f64 {
        self.empty_error
    }

    /// For each true community its partner in the optimal matching, if there is one left for it.
    pub fn partners(&self) -> &[Option<usize>] {
        &self.partners
    }
}

/// The one-to-one matching with the smallest sum of distances. To stay alone costs two columns the sum of their masses,
/// so the distances are smallest where most is in common; the smaller side is matched completely.
fn partners(common: &Mat) -> Vec<Option<usize>> {
    if common.rows() <= common.cols() {
        return assign(common).into_iter().map(Some).collect();
    }
    let mut partners = vec![None; common.rows()];
    for (j, i) in assign(&common.transpose()).into_iter().enumerate() {
        partners[i] = Some(j);
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::super::{Cover, samples};
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::linalg::random;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{found} against {expected}");
    }

    /// ((x (2s + 3) 37 + 101 s + 17 x²) mod 97) / 97.
    fn noise(x: usize, s: usize) -> f64 {
        ((x * (2 * s + 3) * 37 + s * 101 + x * x * 17) % 97) as f64 / 97.0
    }

    /// 80 nodes on the simplex of 3 true communities; found are 3 mixed with noise, in another order, and one of noise.
    fn example() -> (Mat, Mat) {
        let drawn = Mat::from_fn(80, 3, noise);
        let truth = Mat::from_fn(80, 3, |x, i| drawn[(x, i)] / drawn.row(x).iter().sum::<f64>());
        let found = Mat::from_fn(80, 4, |x, j| match j {
            3 => noise(x, 20) / 3.0,
            _ => 0.5 * truth[(x, (j + 1) % 3)] + 0.25 * noise(x, 10 + j),
        });
        (truth, found)
    }

    /// ratio, error, mean absolute error, pairs.
    fn figures(recovery: &Recovery) -> (f64, f64, f64, usize) {
        (recovery.ratio(), recovery.error(), recovery.mean_absolute_error(), recovery.pairs().len())
    }

    fn check(recovery: &Recovery, expected: (f64, f64, f64, usize)) {
        let (ratio, error, absolute, pairs) = figures(recovery);
        near(ratio, expected.0);
        near(error, expected.1);
        near(absolute, expected.2);
        assert_eq!(pairs, expected.3);
    }

    /// scipy 1.17.1: `pearsonr(..., alternative='greater')` for all pairs, `false_discovery_control(p, method='bh')`, and
    /// `linear_sum_assignment` of the distances filled up with empty columns.
    #[test]
    fn scipy_finds_the_same() {
        let (truth, found) = example();
        let recovery = Recovery::new(&truth, &found);
        check(&recovery, (1.0, 0.10009571914666042, 0.15934543277781735, 3));
        near(recovery.empty_error(), 1.0 / 3.0);
        assert_eq!(recovery.partners(), [Some(2), Some(0), Some(1)]);
        let expected = [
            (0, 2, 0.7630710669285371, 9.587856152535131e-17),
            (1, 0, 0.7528584068661809, 4.015271880142449e-16),
            (2, 1, 0.7936557876005514, 8.23433012609639e-19),
        ];
        for (pair, (i, j, rho, p)) in recovery.pairs().iter().zip(expected) {
            assert_eq!((pair.truth, pair.found), (i, j));
            near(pair.correlation, rho);
            assert!((pair.p_value / p - 1.0).abs() < 1e-9, "{} against {p}", pair.p_value);
        }
        let few = Recovery::new(&truth, &found.first_cols(2));
        check(&few, (2.0 / 3.0, 0.06862934654154827, 0.17472724364309053, 2));
        assert_eq!(few.partners(), [None, Some(0), Some(1)]);
        let top = Recovery::new(&Cover::top(&truth), &found);
        check(&top, (1.0, 0.3684065540182117, 0.42765626764936865, 3));
    }

    /// The same command with the found memberships below the threshold set to 0.
    #[test]
    fn scipy_finds_the_same_trade_off() {
        let (truth, found) = example();
        let curve = Recovery::trade_off(&truth, &found, &[0.1, 0.3, 0.5, 0.7]);
        check(&curve[0], (1.0, 0.10211457932036017, 0.15708307874762248, 3));
        check(&curve[1], (1.0, 0.170318013436883, 0.17819315662130453, 3));
        check(&curve[2], (1.0, 0.31071423403140463, 0.31071423403140463, 3));
        // Nothing is left, which the error calls perfect and the mean absolute error does not.
        check(&curve[3], (0.0, 0.0, 1.0 / 3.0, 0));
        assert_eq!(Recovery::trade_off(&truth, &found, &[0.0])[0], Recovery::new(&truth, &found));
    }

    #[test]
    fn the_truth_itself_is_recovered_without_error_in_any_order() {
        let drawn = random::gaussian(700, 5, &mut random::rng(9, 0)).map(|x| x * x);
        let truth = Mat::from_fn(700, 5, |x, i| drawn[(x, i)] / drawn.row(x).iter().sum::<f64>());
        let order = random::permutation(5, &mut random::rng(9, 1));
        let recovery = Recovery::new(&truth, &truth.select_cols(&order));
        assert_eq!((recovery.ratio(), recovery.error(), recovery.mean_absolute_error()), (1.0, 0.0, 0.0));
        assert!(order.iter().enumerate().all(|(j, &i)| recovery.partners()[i] == Some(j)));
        assert_eq!(recovery.pairs().len(), 5);
    }

    #[test]
    fn an_empty_answer_scores_the_baseline() {
        let (truth, _) = example();
        for columns in [0, 1, 3, 5] {
            let recovery = Recovery::new(&truth, &Mat::zeros(80, columns));
            assert_eq!(figures(&recovery), (0.0, 0.0, recovery.empty_error(), 0));
        }
        // Made-up memberships cost what they weigh.
        let full = Recovery::new(&Cover::new(80, vec![vec![1]]), &Mat::from_vec(80, 1, vec![1.0; 80]));
        assert_eq!((full.mean_absolute_error(), full.empty_error()), (79.0 / 80.0, 1.0 / 80.0));
    }

    #[test]
    fn nothing_divides_by_nothing() {
        let none = Recovery::new(&Cover::new(0, Vec::new()), &Mat::zeros(0, 0));
        assert_eq!((figures(&none), none.empty_error()), ((0.0, 0.0, 0.0, 0), 0.0));
        let no_truth = Recovery::new(&Cover::new(3, Vec::new()), &Mat::identity(3));
        assert_eq!(figures(&no_truth), (0.0, 0.0, 1.0, 0), "only made-up memberships");
        for n in 1..3 {
            let found = Recovery::new(&Mat::identity(n), &Mat::identity(n));
            assert_eq!(found.mean_absolute_error(), 0.0);
            assert!(found.pairs().is_empty(), "too few nodes to be significant");
        }
    }

    /// Independent columns: of 40 × 30 tests none or few pass, on any draw.
    #[test]
    fn chance_pairs_are_rare() {
        for stream in 0..5 {
            let truth = samples::random_cover(500, 40, 0.2, 100 + stream);
            let found = samples::random_cover(500, 30, 0.3, 200 + stream).memberships();
            let recovery = Recovery::new(&truth, &found);
            assert!(recovery.pairs().len() <= 2, "{}", recovery.pairs().len());
        }
    }

    #[test]
    fn threads_do_not_matter() {
        let (truth, found) = (
            random::gaussian(3000, 4, &mut random::rng(9, 2)),
            random::gaussian(3000, 6, &mut random::rng(9, 3)),
        );
        let run = |threads| with_threads(threads, || Recovery::trade_off(&truth, &found, &[-9.0, 0.5]));
        assert!([2, 3, 8].into_iter().all(|threads| run(threads) == run(1)));
    }
}
