//! The omega index: agreement on how many communities two nodes share.

mod kinds;
mod subsets;

use super::Cover;
use kinds::Kinds;

/// The omega index of two covers: on what share of the pairs of nodes they agree, less what chance gives.
///
/// Covers agree on a pair of nodes when both put it together into the same number of communities. With N_j pairs that
/// the first cover puts together j times, N'_j the second, out of M = n(n − 1)/2,
///
/// observed = (pairs with equal numbers) / M, expected = Σ_j N_j N'_j / M²,
/// ω = (observed − expected) / (1 − expected).
///
/// Identical covers give 1 and unrelated ones about 0; worse than chance is below 0. For partitions it is the adjusted
/// Rand index. Communities of one node hold no pair, so that singletons compare like no communities at all. When nothing is
/// left to chance (expected = 1: all pairs alike in both covers) it is 1.
///
/// # Complexity
/// Exact, though never over all n² pairs. Nodes that are in the same communities of both covers are one kind. Kinds with
/// few communities, m in both covers together, cost at most 2^m each: what they share is counted set of communities by set
/// of communities. Kinds with many are compared with all kinds in their communities, at most Σ_c s_c² for s_c kinds in
/// community c. The division between the two is where the sum is least, so that large covers with a few communities a
/// node, and small ones with many, are both quick. A million nodes in dozens of communities each are not.
///
/// # Panics
/// When the covers are over different numbers of nodes.
///
/// # Example
/// ```
/// use tenfold::evaluate::{Cover, omega_index};
/// let a = Cover::new(4, vec![vec![0, 1, 2], vec![2, 3]]);
/// let b = Cover::new(4, vec![vec![0, 1], vec![2, 3]]);
/// // Of 6 pairs {02} and {12} differ: observed 4/6. Expected (4·2 + 2·4)/36 = 4/9.
/// assert!((omega_index(&a, &b) - 0.4).abs() < 1e-12);
/// ```
///
/// # References
/// Collins and Dent, "Omega: a general formulation of the Rand index of cluster recovery suitable for non-disjoint
/// solutions", Multivariate Behavioral Research 23 (1988) 231–242.
pub fn omega_index(a: &Cover, b: &Cover) -> f64 {
    assert_eq!(a.nodes(), b.nodes(), "covers of the same nodes");
    let n = a.nodes() as u64;
    let pairs = n * n.saturating_sub(1) / 2;
    if pairs == 0 {
        return 1.0;
    }
    let lists = [a.by_node(), b.by_node()];
    let counts = Kinds::new(a, b, &lists).count();
    let share = |count: u64| count as f64 / pairs as f64;
    let observed = share(counts.equal + (pairs - counts.together));
    let levels = counts.pairs.each_ref().map(|some| {
        let none = pairs - some.iter().sum::<u64>();
        // The place of j = 0 was left empty.
        std::iter::once(none).chain(some.iter().skip(1).copied()).map(share).collect::<Vec<f64>>()
    });
    let expected: f64 = levels[0].iter().zip(&levels[1]).map(|(p, q)| p * q).sum();
    if expected >= 1.0 { 1.0 } else { (observed - expected) / (1.0 - expected) }
}

/// What is known of pairs of nodes.
#[derive(Debug, Clone, PartialEq)]
struct Counts {
    /// For each cover the pairs that share j communities, at place j; place 0 stays empty.
    pairs: [Vec<u64>; 2],
    /// Pairs that share equally many communities in both covers, at least one.
    equal: u64,
    /// Pairs that share a community in either cover.
    together: u64,
}

impl Counts {
    fn none() -> Self {
        Self { pairs: [Vec::new(), Vec::new()], equal: 0, together: 0 }
    }

    /// Adds pairs of nodes that share so many communities in the two covers, in one of them at least one.
    fn add(&mut self, shared: [usize; 2], pairs: u64) {
        self.together += pairs;
        self.equal += if shared[0] == shared[1] { pairs } else { 0 };
        for (counts, j) in self.pairs.iter_mut().zip(shared) {
            if counts.len() <= j {
                counts.resize(j + 1, 0);
            }
            counts[j] += if j == 0 { 0 } else { pairs };
        }
    }

    fn merge(&mut self, other: &Self) {
        self.equal += other.equal;
        self.together += other.together;
        for (mine, theirs) in self.pairs.iter_mut().zip(&other.pairs) {
            mine.resize(mine.len().max(theirs.len()), 0);
            mine.iter_mut().zip(theirs).for_each(|(m, t)| *m += t);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{blend, formula, random_cover};
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} against {expected}");
    }

    /// cdlib 0.4.1, `cdlib.evaluation.internal.omega.Omega(a, b).omega_score`, each node being added as a community of its
    /// own, because cdlib takes the nodes from the covers.
    #[test]
    fn cdlib_finds_the_same() {
        let (a, b) = blend();
        near(omega_index(&a, &b), 0.337314122813776);
        near(omega_index(&formula(60, 4, 1, 8), &formula(60, 5, 3, 12)), -0.027896397674691247);
    }

    /// scikit-learn 1.9.1, `adjusted_rand_score` of the labels of the test in nmi.rs.
    #[test]
    fn the_adjusted_rand_index_of_partitions() {
        let a: Vec<Option<u32>> = (0..40).map(|x| Some(x * x % 7)).collect();
        let b: Vec<Option<u32>> = (0..40).map(|x| Some((x * x % 7 + u32::from(x % 5 == 0)) % 4)).collect();
        near(omega_index(&Cover::from_labels(&a), &Cover::from_labels(&b)), 0.47504353605289945);
    }

    /// The definition, pair of nodes by pair of nodes.
    fn by_definition(a: &Cover, b: &Cover) -> f64 {
        let shared = |cover: &Cover, u: u32, v: u32| {
            cover.communities().iter().filter(|c| c.contains(&u) && c.contains(&v)).count()
        };
        let (mut equal, mut pairs) = (0.0, 0.0);
        let mut levels = [[0.0; 20]; 2];
        for u in 0..a.nodes() as u32 {
            for v in 0..u {
                let (s, t) = (shared(a, u, v), shared(b, u, v));
                equal += f64::from(u8::from(s == t));
                pairs += 1.0;
                levels[0][s] += 1.0;
                levels[1][t] += 1.0;
            }
        }
        let expected = (0..20).map(|j| levels[0][j] * levels[1][j]).sum::<f64>() / (pairs * pairs);
        (equal / pairs - expected) / (1.0 - expected)
    }

    #[test]
    fn the_definition_holds_on_random_covers() {
        for stream in 0..30 {
            let share = [0.05, 0.3, 0.7][stream as usize % 3];
            let (a, b) = (random_cover(40, 6, share, 2 * stream), random_cover(40, 4, 0.3, 2 * stream + 1));
            let expected = by_definition(&a, &b);
            near(omega_index(&a, &b), expected);
            assert_eq!(with_threads(3, || omega_index(&a, &b)), with_threads(1, || omega_index(&b, &a)));
        }
    }

    /// Over 200 draws in numpy ω had a deviation of 0.0116 around 0; the bound is four of it.
    #[test]
    fn unrelated_covers_agree_as_by_chance() {
        for stream in 0..10 {
            let (a, b) = (random_cover(400, 8, 0.2, 50 + stream), random_cover(400, 6, 0.25, 70 + stream));
            let found = omega_index(&a, &b);
            assert!(found.abs() < 0.05, "{found}");
        }
    }

    #[test]
    fn covers_without_pairs() {
        let singles = Cover::new(3, vec![vec![0], vec![1], vec![2]]);
        let whole = Cover::new(3, vec![vec![0, 1, 2]]);
        let twice = Cover::new(3, vec![vec![0, 1, 2]; 2]);
        let none = Cover::new(3, Vec::new());
        assert_eq!((omega_index(&singles, &singles), omega_index(&singles, &none)), (1.0, 1.0));
        assert_eq!((omega_index(&whole, &whole), omega_index(&whole, &singles)), (1.0, 0.0));
        assert_eq!(omega_index(&whole, &twice), 0.0, "together once is not together twice");
        assert_eq!(omega_index(&Cover::new(1, vec![vec![0]]), &Cover::new(1, Vec::new())), 1.0);
    }
}
