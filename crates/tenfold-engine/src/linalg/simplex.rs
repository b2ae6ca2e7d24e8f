//! The probability simplex.

/// Moves `v` to the nearest point (Euclidean) with non-negative entries that sum to `total`.
///
/// argmin ‖x − v‖ subject to x ≥ 0, Σx = total; by sorting (Duchi, Shalev-Shwartz, Singer and Chandra, 2008).
///
/// # Complexity
/// O(n log n).
///
/// # Example
/// ```
/// let mut v = [0.9, 0.6, -0.3];
/// tenfold_engine::linalg::project_to_simplex(&mut v, 1.0);
/// assert!((v[0] - 0.65).abs() < 1e-15 && (v[1] - 0.35).abs() < 1e-15 && v[2] == 0.0);
/// ```
pub fn project_to_simplex(v: &mut [f64], total: f64) {
    assert!(total > 0.0, "the simplex needs a positive total");
    let mut sorted = v.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut threshold) = (0.0, 0.0);
    for (i, x) in sorted.iter().enumerate() {
        sum += x;
        let candidate = (sum - total) / (i + 1) as f64;
        if *x > candidate {
            threshold = candidate;
        }
    }
    v.iter_mut().for_each(|x| *x = (*x - threshold).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The projection is feasible, and no feasible direction brings it nearer (variational inequality).
        #[test]
        fn is_feasible_and_optimal(v in prop::collection::vec(-5.0..5.0f64, 1..12), e in prop::collection::vec(0.0..1.0f64, 12)) {
            let mut x = v.clone();
            project_to_simplex(&mut x, 1.0);
            prop_assert!(x.iter().all(|&a| a >= 0.0));
            prop_assert!((x.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let n = v.len();
            let mass: f64 = e[..n].iter().sum::<f64>().max(1e-9);
            let inner: f64 = (0..n).map(|i| (v[i] - x[i]) * (e[i] / mass - x[i])).sum();
            prop_assert!(inner < 1e-9);
        }
    }
}
