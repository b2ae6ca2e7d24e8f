//! The area under the curve of true against false discoveries.

/// The probability that a positive example scores higher than a negative one, ties counting half:
///
/// AUC = [#{(p, q): p > q} + ½ #{(p, q): p = q}] / (positives · negatives),
///
/// the area under the curve of true positives against false ones, and the Mann–Whitney statistic as a share. ½ is
/// chance. For links: the scores of held-out edges against those of pairs of nodes without an edge.
///
/// Nothing when one side is empty or a score is not a number: then there is nothing to rank.
///
/// # Complexity
/// O(m log m) for m scores.
///
/// # Example
/// ```
/// use tenfold::evaluate::auc;
/// assert_eq!(auc(&[0.9, 0.4], &[0.4, 0.1]), Some((3.0 + 0.5) / 4.0));
/// assert_eq!(auc(&[0.9, 0.4], &[]), None);
/// ```
///
/// # References
/// Hanley and McNeil, "The meaning and use of the area under a receiver operating characteristic (ROC) curve", Radiology
/// 143 (1982) 29–36.
pub fn auc(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    let usable = |scores: &[f64]| !scores.is_empty() && !scores.iter().any(|x| x.is_nan());
    if !usable(positives) || !usable(negatives) {
        return None;
    }
    let mut below = negatives.to_vec();
    below.sort_unstable_by(f64::total_cmp);
    let mut above = positives.to_vec();
    above.sort_unstable_by(f64::total_cmp);
    // Two pointers into the sorted negatives: those below the positive at hand, and those not above it. `<` takes the two
    // zeros for equal, whichever came first.
    let (mut less, mut not_more) = (0, 0);
    let mut twice = 0u128;
    for score in above {
        while less < below.len() && below[less] < score {
            less += 1;
        }
        not_more = not_more.max(less);
        while not_more < below.len() && below[not_more] <= score {
            not_more += 1;
        }
        twice += (less + not_more) as u128;
    }
    Some(twice as f64 / (2.0 * positives.len() as f64 * negatives.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::random;

    /// scikit-learn 1.9.1: `roc_auc_score([1]*25 + [0]*31, positives + negatives)`.
    #[test]
    fn scikit_learn_finds_the_same() {
        let positives: Vec<f64> = (0..25).map(|x| f64::from(x * 37 % 23)).collect();
        let negatives: Vec<f64> = (0..31).map(|x| f64::from(x * 29 % 19 - 3)).collect();
        let found = auc(&positives, &negatives).unwrap();
        assert!((found - 0.7187096774193549).abs() < 1e-15, "{found}");
    }

    #[test]
    fn the_definition_holds() {
        let drawn = random::gaussian(2, 150, &mut random::rng(6, 0)).map(|x| (3.0 * x).round() / 2.0);
        let (p, q) = (drawn.row(0), &drawn.row(1)[..90]);
        let half = |a: f64, b: f64| {
            if a > b {
                1.0
            } else if a == b {
                0.5
            } else {
                0.0
            }
        };
        let sum: f64 = p.iter().map(|&a| q.iter().map(|&b| half(a, b)).sum::<f64>()).sum();
        assert_eq!(auc(p, q), Some(sum / (150.0 * 90.0)));
        assert!((auc(p, q).unwrap() + auc(q, p).unwrap() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn ends_and_oddities() {
        assert_eq!(auc(&[2.0, f64::INFINITY], &[1.0, f64::NEG_INFINITY]), Some(1.0));
        assert_eq!(auc(&[0.0, -0.0], &[-0.0, 0.0]), Some(0.5));
        assert_eq!(auc(&[1.0; 5], &[1.0; 3]), Some(0.5));
        assert_eq!(
            (auc(&[], &[1.0]), auc(&[f64::NAN], &[1.0]), auc(&[1.0], &[f64::NAN])),
            (None, None, None)
        );
    }
}
