//! Optimal one-to-one matching.

use super::Mat;
use pathfinding::kuhn_munkres::kuhn_munkres;
use pathfinding::matrix::Matrix;

/// Assigns each row a different column so that the sum of scores is the largest (Hungarian method).
///
/// Rows must not outnumber columns. Scores are compared to about 12 digits of the largest one.
///
/// # Complexity
/// O(rows² · cols).
///
/// # Example
/// ```
/// use tenfold_engine::linalg::{Mat, assign};
/// assert_eq!(assign(&Mat::from_vec(2, 2, vec![0.9, 0.8, 0.7, 0.1])), [1, 0]);
/// ```
pub fn assign(scores: &Mat) -> Vec<usize> {
    assert!(scores.rows() <= scores.cols(), "each row needs its own column");
    if scores.rows() == 0 {
        return Vec::new();
    }
    // The library wants exact arithmetic: integers of 40 bits leave room for sums of a million rows.
    let unit = scores.max_abs().max(f64::MIN_POSITIVE) / (1u64 << 40) as f64;
    let weights =
        Matrix::from_fn(scores.rows(), scores.cols(), |(i, j)| (scores[(i, j)] / unit).round() as i64);
    kuhn_munkres(&weights).1
}
