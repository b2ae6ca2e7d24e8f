//! How well mixed sources were separated.

use tenfold_engine::linalg::Mat;

/// The Amari distance of P = unmixing · mixing from a permutation with scales, in [0, 1]:
///
/// (1 / 2k(k−1)) Σ_i (Σ_j |p_ij| / max_j |p_ij| − 1) + the same over columns.
///
/// 0 means perfect separation; it does not change with order, sign or scale of the sources.
///
/// # Panics
/// When P is not square.
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Mat;
/// use tenfold::evaluate::amari_distance;
/// assert_eq!(amari_distance(&Mat::from_vec(2, 2, vec![0.0, -3.0, 0.5, 0.0])), 0.0);
/// assert_eq!(amari_distance(&Mat::from_vec(2, 2, vec![1.0, 1.0, 1.0, 1.0])), 1.0);
/// ```
///
/// # References
/// Amari, Cichocki and Yang, "A new learning algorithm for blind signal separation", NIPS 1996.
pub fn amari_distance(p: &Mat) -> f64 {
    let k = p.rows();
    assert_eq!(k, p.cols(), "the product of unmixing and mixing is square");
    if k < 2 {
        return 0.0;
    }
    let spread = |values: Vec<f64>| {
        let largest = values.iter().fold(0.0f64, |m, x| m.max(*x));
        // A row of zeros separates nothing.
        if largest == 0.0 { (k - 1) as f64 } else { values.iter().sum::<f64>() / largest - 1.0 }
    };
    let magnitudes = p.map(f64::abs);
    let rows: f64 = (0..k).map(|i| spread(magnitudes.row(i).to_vec())).sum();
    let cols: f64 = (0..k).map(|j| spread(magnitudes.col(j))).sum();
    (rows + cols) / (2 * k * (k - 1)) as f64
}
