//! Whether anything was mixed at all.

use tenfold_engine::linalg::Mat;

/// How often columns that are independent may go without the note, were the errors those of the theory.
const MISSED: f64 = 0.001;

/// The note is not given where more than this part of another source would go unseen: it would be said of real mixtures.
const SHARP: f64 = 0.2;

/// Whether every source is one column, up to the error of the estimate, and every column one source.
///
/// a_cj over the norm of its row is the correlation of column c with source j. Where nothing is mixed it is 0 but for one source, and the
/// best estimate of a source i in the column of j has variance L_j / (L_i L_j − 1)/n, where L is the Fisher information of the place of
/// a law of unit variance (Cramér and Rao's bound; 1 for Gaussian sources). All off-diagonal entries must stay within the normal deviate
/// that so many exceed once in a thousand times, by the union bound P(|z| > t) ≤ 2 exp(−t²/2).
pub(super) fn nothing_mixed(mixing: &Mat, kurtosis: &[f64], skewness: &[f64], samples: usize) -> bool {
    let (d, k) = (mixing.rows(), mixing.cols());
    if d != k || k < 2 {
        return false;
    }
    let informed = |i: usize| information(kurtosis[i], skewness[i]);
    let entries = (k * (k - 1)) as f64;
    let deviate = (2.0 * (2.0 * entries / MISSED).ln()).sqrt();
    let largest =
        |row: &[f64]| (0..k).fold(0, |best, j| if row[j].abs() > row[best].abs() { j } else { best });
    let own: Vec<usize> = (0..d).map(|c| largest(mixing.row(c))).collect();
    let mut taken = vec![false; k];
    own.iter().for_each(|j| taken[*j] = true);
    taken.iter().all(|taken| *taken)
        && (0..d).all(|c| {
            let row = mixing.row(c);
            let norm = row.iter().map(|a| a * a).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            (0..k).filter(|j| *j != own[c]).all(|j| {
                let (here, other) = (informed(own[c]), informed(j));
                let error =
                    (here.max(other) / (here * other - 1.0).max(f64::EPSILON) / samples as f64).sqrt();
                let most = deviate * error;
                most < SHARP && row[j].abs() / norm < most
            })
        })
}

/// About the Fisher information of a law with this excess kurtosis and skewness: what such a law has at least, as a rule.
///
/// Of heavy tails it is that of Student's law of as much kurtosis, ν (ν + 1) / ((ν − 2)(ν + 3)) with ν = 4 + 6/κ, where Laplace's has
/// more; of light ones 1 + κ²/6 + γ²/2, which is the beginning of its series at the Gaussian, and where ends are sharp far less than it is.
fn information(kurtosis: f64, skewness: f64) -> f64 {
    if kurtosis > 0.0 {
        let freedom = 4.0 + 6.0 / kurtosis;
        freedom * (freedom + 1.0) / ((freedom - 2.0) * (freedom + 3.0))
    } else {
        1.0 + (kurtosis.powi(2) / 6.0 + skewness.powi(2) / 2.0).min(1.0)
    }
}
