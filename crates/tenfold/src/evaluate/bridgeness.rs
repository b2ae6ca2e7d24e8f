//! How far a node is shared between communities.

use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::fill_rows;

/// The bridgeness of every node, from 0 (in one community alone) to 1 (in all communities alike):
///
/// b_x = 1 − √( k/(k − 1) Σ_j (π_xj − 1/k)² ), for memberships π_x on the simplex.
///
/// With fewer than two communities there is nothing to bridge, and it is 0. Rows off the simplex, such as those below a
/// threshold, give figures without that meaning, held inside [0, 1].
///
/// # Complexity
/// O(n k).
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Mat;
/// use tenfold::evaluate::bridgeness;
/// let found = bridgeness(&Mat::from_vec(3, 2, vec![1.0, 0.0, 0.5, 0.5, 0.75, 0.25]));
/// assert_eq!(found, [0.0, 1.0, 0.5]);
/// ```
///
/// # References
/// Nepusz, Petróczi, Négyessy and Bazsó, "Fuzzy communities and the concept of bridgeness in complex networks", Physical
/// Review E 77 (2008) 016107; thesis, definition of bridgeness.
pub fn bridgeness(memberships: &Mat) -> Vec<f64> {
    let mut out = vec![0.0; memberships.rows()];
    fill_rows(&mut out, 1, |range, values| {
        for (value, x) in values.iter_mut().zip(range) {
            *value = bridgeness_of(memberships.row(x));
        }
    });
    out
}

/// The [`bridgeness`] of one node, from its memberships in either precision.
///
/// # Example
/// ```
/// use tenfold::evaluate::bridgeness_of;
/// assert_eq!((bridgeness_of(&[0.75f32, 0.25]), bridgeness_of(&[1.0])), (0.5, 0.0));
/// ```
pub fn bridgeness_of<T: Copy + Into<f64>>(memberships: &[T]) -> f64 {
    let k = memberships.len() as f64;
    if k < 2.0 {
        return 0.0;
    }
    let squares: f64 = memberships.iter().map(|&p| (p.into() - 1.0 / k).powi(2)).sum();
    (1.0 - (squares * k / (k - 1.0)).sqrt()).clamp(0.0, 1.0)
}

/// Degree-corrected bridgeness, B_x = D_x b_x: a node of no weight bridges nothing, however evenly it is shared.
///
/// Bridgeness alone ranks nodes high of which nothing is known: without edges a node keeps the even memberships of the
/// prior. `degrees` are numbers of neighbours, or sums of weights.
///
/// # Panics
/// When there is not one degree for every node.
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Mat;
/// use tenfold::evaluate::degree_corrected_bridgeness;
/// let memberships = Mat::from_vec(2, 2, vec![0.5, 0.5, 0.75, 0.25]);
/// assert_eq!(degree_corrected_bridgeness(&memberships, &[0.0, 12.0]), [0.0, 6.0]);
/// ```
///
/// # References
/// As [`bridgeness`].
pub fn degree_corrected_bridgeness(memberships: &Mat, degrees: &[f64]) -> Vec<f64> {
    assert_eq!(memberships.rows(), degrees.len(), "one degree for every node");
    let mut out = bridgeness(memberships);
    out.iter_mut().zip(degrees).for_each(|(b, degree)| *b *= degree);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::random;

    /// On the simplex Σ (π − 1/k)² = Σ π² − 1/k: another way to the same figure.
    #[test]
    fn bridgeness_is_what_the_squares_say() {
        let drawn = random::gaussian(1300, 5, &mut random::rng(7, 0)).map(|x| x * x);
        let memberships = Mat::from_fn(1300, 5, |x, j| drawn[(x, j)] / drawn.row(x).iter().sum::<f64>());
        for (x, b) in bridgeness(&memberships).into_iter().enumerate() {
            let squares: f64 = memberships.row(x).iter().map(|p| p * p).sum();
            assert!((b - (1.0 - (5.0 / 4.0 * (squares - 0.2)).sqrt())).abs() < 1e-9);
        }
    }

    #[test]
    fn ends_of_the_scale() {
        let thirds = Mat::from_vec(2, 3, vec![1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0, 0.0, 1.0]);
        let found = bridgeness(&thirds);
        assert!((found[0] - 1.0).abs() < 1e-15 && found[1].abs() < 1e-15, "{found:?}");
        assert_eq!(bridgeness(&Mat::from_vec(2, 1, vec![1.0, 1.0])), [0.0, 0.0]);
        assert_eq!(bridgeness(&Mat::zeros(0, 3)), [0.0; 0]);
        assert_eq!(bridgeness(&Mat::zeros(2, 0)), [0.0, 0.0]);
    }
}
