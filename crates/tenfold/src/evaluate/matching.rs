//! How near found topics are to true ones.

use tenfold_engine::linalg::{Mat, assign};

/// A true topic counts as found when its partner is nearer than this.
const FOUND: f64 = 0.25;

/// Total variation between two distributions, ½ Σ |p − q|: 0 when equal, 1 when no outcome is common.
///
/// # Panics
/// When the distributions have different lengths.
///
/// # Example
/// ```
/// use tenfold::evaluate::total_variation;
/// assert_eq!(total_variation(&[0.5, 0.5, 0.0], &[0.5, 0.0, 0.5]), 0.5);
/// ```
pub fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    assert_eq!(p.len(), q.len(), "distributions over the same outcomes");
    p.iter().zip(q).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
}

/// True topics and their partners among the found ones, by the one-to-one matching with the smallest sum of
/// total variations.
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Mat;
/// use tenfold::evaluate::Match;
/// let truth = Mat::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0]);
/// let found = Mat::from_vec(2, 2, vec![0.5, 0.5, 0.9, 0.1]);
/// let matched = Match::new(&truth, &found);
/// assert_eq!(matched.partners(), [Some(1), Some(0)]);
/// assert!((matched.mean() - 0.3).abs() < 1e-12 && matched.share_found() == 0.5);
/// assert_eq!(matched.worst(), Some((1, 0.5)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    partners: Vec<Option<usize>>,
    variations: Vec<f64>,
}

impl Match {
    /// Matches the rows of `found` to those of `truth`; where there are fewer of them, true topics stay alone.
    ///
    /// # Complexity
    /// O(k² · words + k³).
    ///
    /// # Panics
    /// When the two have different numbers of columns.
    pub fn new(truth: &Mat, found: &Mat) -> Self {
        assert_eq!(truth.cols(), found.cols(), "topics over the same words");
        let distances =
            Mat::from_fn(truth.rows(), found.rows(), |i, j| total_variation(truth.row(i), found.row(j)));
        let mut partners = vec![None; truth.rows()];
        if truth.rows() <= found.rows() {
            for (i, j) in assign(&distances.map(|x| -x)).into_iter().enumerate() {
                partners[i] = Some(j);
            }
        } else {
            for (j, i) in assign(&distances.transpose().map(|x| -x)).into_iter().enumerate() {
                partners[i] = Some(j);
            }
        }
        // A topic without a partner is as far from it as can be.
        let variations =
            partners.iter().enumerate().map(|(i, p)| p.map_or(1.0, |j| distances[(i, j)])).collect();
        Self { partners, variations }
    }

    /// For each true topic its partner, if it has one.
    pub fn partners(&self) -> &[Option<usize>] {
        &self.partners
    }

    /// For each true topic the total variation from its partner; 1 without one.
    pub fn variations(&self) -> &[f64] {
        &self.variations
    }

    /// The mean total variation; not a number when there is no true topic.
    pub fn mean(&self) -> f64 {
        self.variations.iter().sum::<f64>() / self.variations.len() as f64
    }

    /// The share of true topics whose partner is nearer than 0.25.
    pub fn share_found(&self) -> f64 {
        let found = self.variations.iter().filter(|&&v| v < FOUND).count();
        found as f64 / self.variations.len() as f64
    }

    /// The true topic that is farthest from its partner, and how far.
    pub fn worst(&self) -> Option<(usize, f64)> {
        let each = self.variations.iter().copied().enumerate();
        each.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::random;

    fn topics(k: usize, words: usize, stream: u64) -> Mat {
        let drawn = random::gaussian(k, words, &mut random::rng(2, stream)).map(|x| x * x);
        Mat::from_fn(k, words, |i, j| drawn[(i, j)] / drawn.row(i).iter().sum::<f64>())
    }

    /// The smallest sum over all ways to give each row of `truth` another row of `found`.
    fn best(truth: &Mat, found: &Mat, row: usize, taken: &mut Vec<usize>) -> f64 {
        if row == truth.rows() {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for j in 0..found.rows() {
            if taken.contains(&j) {
                continue;
            }
            taken.push(j);
            let sum = total_variation(truth.row(row), found.row(j)) + best(truth, found, row + 1, taken);
            taken.pop();
            least = least.min(sum);
        }
        least
    }

    #[test]
    fn the_matching_is_the_best_of_all() {
        for stream in 0..5 {
            let (truth, found) = (topics(5, 4, stream), topics(6, 4, 10 + stream));
            let matched = Match::new(&truth, &found);
            assert!((5.0 * matched.mean() - best(&truth, &found, 0, &mut Vec::new())).abs() < 1e-9);
            let back = Match::new(&found, &truth);
            assert_eq!(back.partners().iter().filter(|p| p.is_none()).count(), 1);
            assert!((6.0 * back.mean() - 5.0 * matched.mean() - 1.0).abs() < 1e-9, "one stays alone");
        }
    }

    #[test]
    fn shuffled_topics_are_all_found() {
        let truth = topics(7, 30, 1);
        let order = random::permutation(7, &mut random::rng(3, 0));
        let shuffled = Mat::from_fn(7, 30, |i, j| truth[(order[i], j)]);
        let matched = Match::new(&truth, &shuffled);
        assert_eq!((matched.mean(), matched.share_found(), matched.worst().unwrap().1), (0.0, 1.0, 0.0));
        assert!(order.iter().enumerate().all(|(i, &t)| matched.partners()[t] == Some(i)));
    }
}
