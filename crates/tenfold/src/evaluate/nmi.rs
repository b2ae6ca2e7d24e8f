//! Normalised mutual information between partitions.

/// Normalised mutual information between two labellings of the same nodes, 2 I(A; B) / (H(A) + H(B)), in [0, 1].
///
/// I(A; B) = Σ_{ab} p_ab ln p_ab / (p_a p_b), with p the shares of nodes. The mean of the entropies in the denominator is
/// the *arithmetic* one, as in Danon et al. and as the default of scikit-learn; figures with the geometric mean or the
/// maximum do not compare. Not corrected for chance: random labels score above 0 when labels are many.
///
/// Names of labels do not matter. One label for all nodes on both sides gives 1, on one side 0.
///
/// # Complexity
/// O(n log n).
///
/// # Panics
/// When the two have different lengths.
///
/// # Example
/// ```
/// use tenfold::evaluate::nmi;
/// assert_eq!(nmi(&[0, 0, 1, 1], &[5, 5, 3, 3]), 1.0);
/// assert_eq!(nmi(&[0, 0, 1, 1], &[0, 1, 0, 1]), 0.0);
/// // One bit of I, entropies of one and two bits.
/// assert!((nmi(&[0, 0, 1, 1], &[0, 1, 2, 3]) - 2.0 / 3.0).abs() < 1e-12);
/// ```
///
/// # References
/// Danon, Díaz-Guilera, Duch and Arenas, "Comparing community structure identification", Journal of Statistical Mechanics
/// (2005) P09008, equation 2.
pub fn nmi(a: &[u32], b: &[u32]) -> f64 {
    assert_eq!(a.len(), b.len(), "labels of the same nodes");
    let own = entropy(a.to_vec()) + entropy(b.to_vec());
    if own == 0.0 {
        return 1.0;
    }
    let joint = entropy(a.iter().copied().zip(b.iter().copied()).collect());
    // I = H(A) + H(B) − H(A, B).
    (2.0 * (own - joint) / own).clamp(0.0, 1.0)
}

/// −Σ p ln p over the shares of equal labels.
fn entropy<L: Ord>(mut labels: Vec<L>) -> f64 {
    labels.sort_unstable();
    let n = labels.len() as f64;
    let of_group = |group: &[L]| {
        let p = group.len() as f64 / n;
        -p * p.ln()
    };
    let sum: f64 = labels.chunk_by(|a, b| a == b).map(of_group).sum();
    // A single group gives −0, and no group an empty sum of −0.
    sum.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::random;

    /// scikit-learn 1.9.1: `normalized_mutual_info_score(a, b)` with a = [x*x%7 for x in range(40)] and
    /// b = [(x*x%7 + (x%5 == 0)) % 4 for x in range(40)].
    #[test]
    fn scikit_learn_finds_the_same() {
        let a: Vec<u32> = (0..40).map(|x| x * x % 7).collect();
        let b: Vec<u32> = (0..40).map(|x| (x * x % 7 + u32::from(x % 5 == 0)) % 4).collect();
        assert!((nmi(&a, &b) - 0.5776006185579838).abs() < 1e-12, "{}", nmi(&a, &b));
        assert_eq!(nmi(&a, &b), nmi(&b, &a));
    }

    /// I from its own formula, over all pairs of labels.
    #[test]
    fn the_definition_holds() {
        let labels = |k: f64, stream: u64| -> Vec<u32> {
            let drawn = random::gaussian(1, 200, &mut random::rng(5, stream));
            drawn.as_slice().iter().map(|x| (x * x * k) as u32 % 6).collect()
        };
        let (a, b) = (labels(2.0, 0), labels(3.0, 1));
        let share = |hold: &dyn Fn(usize) -> bool| (0..200).filter(|&x| hold(x)).count() as f64 / 200.0;
        let (mut information, mut own) = (0.0, 0.0);
        for i in 0..6 {
            let (in_a, in_b) = (share(&|x| a[x] == i), share(&|x| b[x] == i));
            own -= [in_a, in_b].iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f64>();
            for j in 0..6 {
                let both = share(&|x| a[x] == i && b[x] == j);
                if both > 0.0 {
                    information += both * (both / (in_a * share(&|x| b[x] == j))).ln();
                }
            }
        }
        assert!((nmi(&a, &b) - 2.0 * information / own).abs() < 1e-12);
    }

    #[test]
    fn one_label_and_all_labels() {
        let (one, all): (Vec<u32>, Vec<u32>) = (vec![3; 9], (0..9).collect());
        assert_eq!((nmi(&one, &one), nmi(&all, &all), nmi(&one, &all), nmi(&[], &[])), (1.0, 1.0, 0.0, 1.0));
    }
}
