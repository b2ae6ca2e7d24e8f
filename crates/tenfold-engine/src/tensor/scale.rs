//! Tensors whose norm is beyond double precision, brought into it.

/// Largest entries between 2⁻ᴸ and 2ᴸ are left as they are: squares of the weights of a partial trace, which are fourth powers of entries,
/// and sums of a million of them stay within double precision.
const LIMIT: i32 = 200;

/// Divides the entries by a power of two where the largest is so large or so small that sums of their powers would not be representable;
/// gives that power, by which weights are to be multiplied. Only exponents change, so the components are the same.
///
/// # Example
/// ```
/// use tenfold_engine::tensor::into_range;
/// let mut entries = vec![3e-300, -1e-300];
/// let scale = into_range(&mut entries);
/// assert!((0.5..=1.0).contains(&entries[0]) && entries[0] * scale == 3e-300);
/// assert_eq!((into_range(&mut entries), into_range(&mut [0.0])), (1.0, 1.0));
/// ```
pub fn into_range(entries: &mut [f64]) -> f64 {
    let largest = entries.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let limit = 2f64.powi(LIMIT);
    if !largest.is_finite() || largest == 0.0 || (1.0 / limit..=limit).contains(&largest) {
        return 1.0;
    }
    // The smallest and the largest powers have no reciprocal, so the division is done by the power itself.
    let scale = 2f64.powi((largest.log2().floor() as i32 + 1).clamp(-1022, 1023));
    entries.iter_mut().for_each(|x| *x /= scale);
    scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_into_range_and_back() {
        for largest in [f64::MAX, 1e300, 1e61, 1e-61, 1e-300, f64::MIN_POSITIVE, 5e-324] {
            let given = vec![largest, -largest / 3.0, 0.0];
            let mut entries = given.clone();
            let scale = into_range(&mut entries);
            assert!(entries[0] <= 2.0 && entries[0] > 1e-16, "{largest}: {entries:?}");
            let back: Vec<f64> = entries.iter().map(|x| x * scale).collect();
            assert_eq!(back, given, "{largest}");
        }
    }

    #[test]
    fn ordinary_entries_are_left_alone() {
        for given in [vec![1e60, 1e-300], vec![-1e-60], vec![f64::NAN], vec![f64::INFINITY], vec![]] {
            let mut entries = given.clone();
            assert_eq!(into_range(&mut entries), 1.0);
            assert_eq!(format!("{entries:?}"), format!("{given:?}"));
        }
    }
}
