//! Which pairs of columns are correlated more than chance allows.

use statrs::distribution::{ContinuousCDF, StudentsT};
use tenfold_engine::linalg::Mat;

/// The false discovery rate of the thesis: of the pairs that are reported, one in a hundred is a chance find.
pub(super) const RATE: f64 = 0.01;

/// A pair of columns that passed the test.
pub(super) struct Discovery {
    pub truth: usize,
    pub found: usize,
    /// The probability of a correlation as large if the columns were independent.
    pub p_value: f64,
}

/// Tests all entries of `correlations`, each over `nodes` nodes, and keeps those that pass: by row, the largest first.
///
/// T = ρ √(n − 2) / √(1 − ρ²) follows Student's t with n − 2 degrees of freedom when columns are independent, and the
/// test asks for its right tail. Of m tests, Benjamini and Hochberg keep the r with the smallest p-values, r the largest
/// number with p_(r) ≤ RATE · r / m. Tests are ranked by ρ, of which p is a falling function: p-values below the smallest
/// number are all 0 and would leave the ranks to chance.
pub(super) fn discoveries(correlations: &Mat, nodes: usize) -> Vec<Discovery> {
    let tests = (correlations.rows() * correlations.cols()) as f64;
    let Some(tail) = Tail::new(nodes) else { return Vec::new() };
    let l = correlations.cols();
    // ρ ≤ 0 has a p-value of ½ or more, which is never below the rate.
    let mut ranked: Vec<usize> =
        (0..correlations.as_slice().len()).filter(|&at| correlations.as_slice()[at] > 0.0).collect();
    ranked.sort_unstable_by(|&a, &b| {
        let rho = correlations.as_slice();
        rho[b].total_cmp(&rho[a]).then(a.cmp(&b))
    });
    let mut kept: Vec<Discovery> = ranked
        .into_iter()
        .map(|at| Discovery {
            truth: at / l,
            found: at % l,
            p_value: tail.probability(correlations.as_slice()[at]),
        })
        .collect();
    let passes = |r: &usize| kept[*r].p_value <= RATE * (*r + 1) as f64 / tests;
    let passing = (0..kept.len()).rev().find(passes).map_or(0, |last| last + 1);
    kept.truncate(passing);
    // Stable: within a row the largest correlation stays first.
    kept.sort_by_key(|pair| pair.truth);
    kept
}

/// The right tail of the correlation of two independent columns.
struct Tail {
    student: StudentsT,
    freedom: f64,
}

impl Tail {
    /// Nothing with fewer than three nodes: two points always lie on a line.
    fn new(nodes: usize) -> Option<Self> {
        let freedom = nodes.checked_sub(2)? as f64;
        StudentsT::new(0.0, 1.0, freedom).ok().map(|student| Self { student, freedom })
    }

    /// P(t > T). (The thesis prints 1 − P(t > T), which would be small for columns that go against each other.)
    fn probability(&self, rho: f64) -> f64 {
        // (1 − ρ)(1 + ρ) keeps the digits of 1 − ρ² that squaring loses near 1.
        self.student.sf(rho * (self.freedom / ((1.0 - rho) * (1.0 + rho))).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `stats.t.sf(r * sqrt((n-2) / (1 - r*r)), n - 2)`.
    #[test]
    fn tails_are_those_of_scipy() {
        let cases = [
            (3, 0.5, 0.3333333333333333),
            (3, 0.999, 0.014236437406239559),
            (10, 0.9, 0.00019357812499999963),
            (100, 0.2, 0.02301814323002706),
            (1000, 0.1, 0.0007720580537005469),
            (1_000_000, 0.005, 2.866144056446939e-07),
            (1_000_000, 0.003, 0.0013498847360433098),
        ];
        for (nodes, rho, expected) in cases {
            let found = Tail::new(nodes).unwrap().probability(rho);
            assert!((found / expected - 1.0).abs() < 1e-7, "{nodes} {rho}: {found} against {expected}");
        }
        let tail = Tail::new(1000).unwrap();
        assert_eq!((tail.probability(1.0), tail.probability(0.9999)), (0.0, 0.0), "too small for a number");
        assert!(Tail::new(2).is_none() && Tail::new(0).is_none());
    }

    fn pairs(rows: usize, cols: usize, nodes: usize, rho: &[f64]) -> Vec<(usize, usize)> {
        let found = discoveries(&Mat::from_vec(rows, cols, rho.to_vec()), nodes);
        found.iter().map(|pair| (pair.truth, pair.found)).collect()
    }

    /// 102 nodes: p = .0009, .0067, .0076, .0099, .31 for ρ = .306, .244, .240, .2306, .05 (scipy). With m = 5 the bounds
    /// are .002, .004, .006, .008, .01: the second fails, and so do the third and fourth. With the fourth at ρ = .2395,
    /// p = .0077 < .008, it passes and takes the second and third along, which is the point of the procedure.
    #[test]
    fn a_later_pass_takes_the_earlier_ones_along() {
        assert_eq!(pairs(1, 5, 102, &[0.05, 0.306, 0.244, 0.240, 0.2306]), [(0, 1)]);
        assert_eq!(pairs(1, 5, 102, &[0.05, 0.306, 0.244, 0.240, 0.2395]), [(0, 1), (0, 2), (0, 3), (0, 4)]);
    }

    #[test]
    fn tails_too_small_for_a_number_keep_their_ranks() {
        let rho = [0.99999, 1.0, 0.9999, 0.99995];
        assert_eq!(pairs(2, 2, 5000, &rho), [(0, 1), (0, 0), (1, 1), (1, 0)]);
        assert!(discoveries(&Mat::from_vec(2, 2, rho.to_vec()), 5000).iter().all(|pair| pair.p_value == 0.0));
    }

    #[test]
    fn nothing_to_test() {
        assert_eq!(pairs(1, 2, 2, &[1.0, 1.0]), []);
        assert_eq!(pairs(0, 2, 50, &[]), []);
        assert_eq!(pairs(2, 0, 50, &[]), []);
        assert_eq!(pairs(1, 2, 50, &[0.0, -1.0]), []);
    }
}
