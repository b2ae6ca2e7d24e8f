//! The adjusted Rand index between partitions.

use std::collections::BTreeMap;

/// The adjusted Rand index between two labellings of the same nodes, (I − E) / (M − E): 1 for equal partitions, 0 on average
/// for labels given by chance.
///
/// I = Σ_{ij} C(n_ij, 2) counts the pairs that are together in both, E = Σ_i C(a_i, 2) Σ_j C(b_j, 2) / C(n, 2) is what chance
/// makes of it, M the mean of the two sums. Names of labels do not matter. Where M = E, as with one label for all nodes on both
/// sides, it is 1.
///
/// # Complexity
/// O(n log n).
///
/// # Panics
/// When the two have different lengths.
///
/// # Example
/// ```
/// use tenfold::evaluate::adjusted_rand_index;
/// assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[5, 5, 3, 3]), 1.0);
/// assert!((adjusted_rand_index(&[0, 0, 1, 1], &[0, 0, 1, 2]) - 4.0 / 7.0).abs() < 1e-12);
/// ```
///
/// # References
/// Hubert and Arabie, "Comparing partitions", Journal of Classification 2 (1985) 193–218, equation 5.
pub fn adjusted_rand_index(a: &[u32], b: &[u32]) -> f64 {
    assert_eq!(a.len(), b.len(), "labels of the same nodes");
    let both = pairs(a.iter().zip(b));
    let (of_a, of_b) = (pairs(a.iter()), pairs(b.iter()));
    let n = a.len() as f64;
    let all = n * (n - 1.0) / 2.0;
    let expected = if all > 0.0 { of_a * of_b / all } else { 0.0 };
    let most = (of_a + of_b) / 2.0;
    if most == expected { 1.0 } else { (both - expected) / (most - expected) }
}

/// The pairs of equal labels.
fn pairs<L: Ord>(labels: impl Iterator<Item = L>) -> f64 {
    let mut counts: BTreeMap<L, u64> = BTreeMap::new();
    labels.for_each(|label| *counts.entry(label).or_default() += 1);
    counts.values().map(|&c| c as f64 * (c as f64 - 1.0) / 2.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Cover, omega_index};

    /// Between partitions the omega index is the adjusted Rand index, by another way of counting.
    #[test]
    fn it_is_the_omega_index_of_partitions() {
        let a: Vec<u32> = (0..40).map(|x| x * x % 7).collect();
        let b: Vec<u32> = (0..40).map(|x| (x * x % 7 + u32::from(x % 5 == 0)) % 4).collect();
        let cover = |labels: &[u32]| {
            Cover::new(40, (0..7).map(|l| (0..40).filter(|&x| labels[x as usize] == l).collect()).collect())
        };
        let (found, expected) = (adjusted_rand_index(&a, &b), omega_index(&cover(&a), &cover(&b)));
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        assert_eq!(found, adjusted_rand_index(&b, &a));
    }

    #[test]
    fn labels_that_leave_nothing_to_chance() {
        let (one, all): (Vec<u32>, Vec<u32>) = (vec![3; 9], (0..9).collect());
        assert_eq!(adjusted_rand_index(&one, &one), 1.0);
        assert_eq!(adjusted_rand_index(&all, &all), 1.0);
        assert_eq!((adjusted_rand_index(&one, &all), adjusted_rand_index(&[], &[])), (0.0, 1.0));
    }
}
