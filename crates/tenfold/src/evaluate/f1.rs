//! The average F1 score of best partners.

use super::Cover;
use super::intersections::Intersections;

/// The average F1 between two covers, in [0, 1]: every community is compared with its best partner in the other cover,
/// and the means of the two covers are averaged,
///
/// ½ [mean_i max_j F1(A_i, B_j) + mean_j max_i F1(A_i, B_j)], F1(A, B) = 2 |A ∩ B| / (|A| + |B|).
///
/// It has no correction for chance. Empty communities are passed over; a cover without communities scores 1 with another
/// such and 0 with any other.
///
/// # Complexity
/// O(n + Σ_x a(x) b(x)) for nodes x in a(x) communities of one cover and b(x) of the other.
///
/// # Panics
/// When the covers are over different numbers of nodes.
///
/// # Example
/// ```
/// use tenfold::evaluate::{Cover, average_f1};
/// let truth = Cover::new(6, vec![vec![0, 1, 2], vec![3, 4, 5]]);
/// let found = Cover::new(6, vec![vec![0, 1, 2, 3]]);
/// // 6/7 and 2/7 for the true communities, 6/7 for the found one.
/// assert!((average_f1(&truth, &found) - (4.0 / 7.0 + 6.0 / 7.0) / 2.0).abs() < 1e-15);
/// ```
///
/// # References
/// Yang and Leskovec, "Overlapping community detection at scale: a nonnegative matrix factorization approach", WSDM 2013,
/// section 5.
pub fn average_f1(a: &Cover, b: &Cover) -> f64 {
    let there = Intersections::new(a, b);
    let back = there.transposed();
    there.of_nothing().unwrap_or_else(|| (mean_of_best(&there) + mean_of_best(&back)) / 2.0)
}

/// The mean over the communities of the first cover of the best F1 with one of the second.
fn mean_of_best(counts: &Intersections) -> f64 {
    let best = |(&size, common): (&usize, &Vec<(usize, usize)>)| {
        let f1 = |&(j, both): &(usize, usize)| 2.0 * both as f64 / (size + counts.right[j]) as f64;
        common.iter().map(f1).fold(0.0, f64::max)
    };
    counts.left.iter().zip(&counts.common).map(best).sum::<f64>() / counts.left.len() as f64
}

#[cfg(test)]
mod tests {
    use super::super::samples::{blend, formula, random_cover};
    use super::*;

    /// Python: `f = lambda A, B: sum(max(2*len(x&y)/(len(x)+len(y)) for y in B) for x in A)/len(A)` on sets, and
    /// `(f(a, b) + f(b, a)) / 2`.
    #[test]
    fn python_finds_the_same() {
        let (a, b) = blend();
        assert!((average_f1(&a, &b) - 0.6693961352657005).abs() < 1e-12);
        let (a, b) = (formula(60, 4, 1, 8), formula(60, 5, 3, 12));
        assert!((average_f1(&a, &b) - 0.5064073562603943).abs() < 1e-12);
    }

    #[test]
    fn the_definition_holds_on_random_covers() {
        for stream in 0..20 {
            let (a, b) = (random_cover(30, 6, 0.2, 2 * stream), random_cover(30, 3, 0.5, 2 * stream + 1));
            let f1 = |x: &[u32], y: &[u32]| {
                let both = x.iter().filter(|node| y.contains(node)).count() as f64;
                let (precision, recall) = (both / x.len() as f64, both / y.len() as f64);
                if both == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
            };
            let side = |a: &Cover, b: &Cover| {
                let best = |x: &Vec<u32>| b.communities().iter().map(|y| f1(x, y)).fold(0.0, f64::max);
                a.communities().iter().map(best).sum::<f64>() / a.communities().len() as f64
            };
            assert!((average_f1(&a, &b) - (side(&a, &b) + side(&b, &a)) / 2.0).abs() < 1e-12);
        }
    }
}
