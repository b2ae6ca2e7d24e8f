//! Where topics stand on the map: distances between their words, laid out in the plane.

use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::{Mat, eigen_symmetric};

/// Logarithms that the distances may cost: half a second of one core.
const BUDGET: usize = 40_000_000;

/// The map: a place for every topic and how good the map is.
pub(super) struct Layout {
    /// x and y of every topic.
    pub(super) places: Vec<(f64, f64)>,
    /// The share of the squared distances that the plane keeps.
    pub(super) kept: f64,
    /// Jensen–Shannon distances between topics, 0 to 1.
    pub(super) distances: Mat,
}

/// Classical scaling of the Jensen–Shannon distances: with J = I − 11ᵀ/k, −½ J D² J = V Λ Vᵀ and the places are
/// the two leading columns of V Λ^½. The distance is the root of the divergence in bits; it is that of points in
/// a Euclidean space, so Λ has no negative entries but rounding.
///
/// # Complexity
/// O(k² · words), at most [`BUDGET`]: past it rare words are taken together, see [`gathered`].
pub(super) fn layout(topics: &Mat) -> Result<Layout> {
    let k = topics.rows();
    let divergence = divergences(&gathered(topics, BUDGET / (k * k / 2).max(1)));
    let row: Vec<f64> = (0..k).map(|i| divergence.row(i).iter().sum::<f64>() / k as f64).collect();
    let all = row.iter().sum::<f64>() / k as f64;
    let centred = Mat::from_fn(k, k, |i, j| -0.5 * (divergence[(i, j)] - row[i] - row[j] + all));
    let eigen = eigen_symmetric(&centred)?;
    let axis = |c: usize, i: usize| match eigen.values.get(c) {
        Some(&value) => canonical(&eigen.vectors.col(c)) * value.max(0.0).sqrt() * eigen.vectors[(i, c)],
        None => 0.0,
    };
    let total: f64 = eigen.values.iter().map(|v| v.max(0.0)).sum();
    let kept = eigen.values.iter().take(2).map(|v| v.max(0.0)).sum::<f64>() / total.max(f64::MIN_POSITIVE);
    Ok(Layout {
        places: (0..k).map(|i| (axis(0, i), axis(1, i))).collect(),
        kept,
        distances: Mat::from_fn(k, k, |i, j| divergence[(i, j)].max(0.0).sqrt()),
    })
}

/// The sign that makes the largest entry positive, so that the map does not flip between two builds.
fn canonical(vector: &[f64]) -> f64 {
    let largest = vector.iter().fold(0.0f64, |m, &x| if x.abs() > m.abs() + 1e-12 { x } else { m });
    if largest < 0.0 { -1.0 } else { 1.0 }
}

/// Topics over at most about `most` outcomes: the most probable words stand alone, the others are gathered by the
/// topic that uses them most. Gathering words that topics use in the same proportions loses no divergence.
fn gathered(topics: &Mat, most: usize) -> Mat {
    let (k, words) = (topics.rows(), topics.cols());
    if words <= most.max(k) {
        return topics.clone();
    }
    let (mut total, mut best) = (vec![0.0; words], vec![(0.0, 0usize); words]);
    for t in 0..k {
        for (w, &p) in topics.row(t).iter().enumerate() {
            total[w] += p;
            if p > best[w].0 {
                best[w] = (p, t);
            }
        }
    }
    let alone = most.saturating_sub(k);
    let mut order: Vec<usize> = (0..words).collect();
    order.sort_by(|&a, &b| total[b].total_cmp(&total[a]));
    let mut place = vec![0; words];
    for (rank, &w) in order.iter().enumerate() {
        place[w] = if rank < alone { rank } else { alone + best[w].1 };
    }
    let mut out = Mat::zeros(k, alone + k);
    for t in 0..k {
        let sums = out.row_mut(t);
        topics.row(t).iter().zip(&place).for_each(|(p, &at)| sums[at] += p);
    }
    out
}

/// JS(p, q) = H((p+q)/2) − (H(p) + H(q))/2 in bits, for all pairs.
fn divergences(topics: &Mat) -> Mat {
    let k = topics.rows();
    let plogp = |p: f64| if p > 0.0 { p * p.log2() } else { 0.0 };
    let own: Vec<f64> = (0..k).map(|t| topics.row(t).iter().map(|&p| plogp(p)).sum()).collect();
    let below: Vec<Vec<f64>> = (0..k)
        .into_par_iter()
        .map(|i| {
            let pair = |j: usize| {
                let both = topics.row(i).iter().zip(topics.row(j));
                0.5 * (own[i] + own[j]) - both.map(|(p, q)| plogp(0.5 * (p + q))).sum::<f64>()
            };
            (0..i).map(|j| pair(j).clamp(0.0, 1.0)).collect()
        })
        .collect();
    Mat::from_fn(k, k, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => below[i][j],
        std::cmp::Ordering::Less => below[j][i],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_on_a_line_are_laid_out_on_it() {
        // Divergence of disjoint topics is one bit, of equal ones nothing.
        let topics = Mat::from_vec(3, 4, vec![0.5, 0.5, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.25, 0.75]);
        let map = layout(&topics).unwrap();
        assert!(map.distances[(0, 1)] < 1e-9 && (map.distances[(0, 2)] - 1.0).abs() < 1e-12);
        let ((x0, y0), (x2, y2)) = (map.places[0], map.places[2]);
        assert!((((x0 - x2).powi(2) + (y0 - y2).powi(2)).sqrt() - 1.0).abs() < 1e-9);
        assert!((map.kept - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_and_two_topics_have_a_map() {
        assert_eq!(layout(&Mat::from_vec(1, 2, vec![0.5, 0.5])).unwrap().places, [(0.0, 0.0)]);
        let two = layout(&Mat::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0])).unwrap();
        assert!((two.places[0].0 - two.places[1].0).abs() > 0.9);
    }

    #[test]
    fn gathering_rare_words_loses_little() {
        // Every word is used by topics in one of six proportions: gathering by proportion would lose nothing, by
        // the leading topic a little.
        let weights = |t: usize, w: usize| 1.0 + 9.0 * f64::from(w % 3 == t) + 2.0 * f64::from(w % 6 == t);
        let mut topics = Mat::from_fn(3, 600, |t, w| weights(t, w) / (1.0 + w as f64));
        for t in 0..3 {
            let sum: f64 = topics.row(t).iter().sum();
            topics.row_mut(t).iter_mut().for_each(|p| *p /= sum);
        }
        let (exact, rough) = (divergences(&topics), divergences(&gathered(&topics, 20)));
        assert_eq!(gathered(&topics, 20).cols(), 20);
        for i in 0..3 {
            for j in 0..i {
                let (e, r) = (exact[(i, j)], rough[(i, j)]);
                assert!(r <= e + 1e-12 && r > 0.98 * e, "{r} of {e}");
            }
        }
    }
}
