//! What the comparison of memberships rests on: correlations and distances of every true column with every found one.

use super::super::Cover;
use super::super::cover::NodeLists;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::sum_arrays;

/// A column whose deviation is below this share of its size is constant; what deviates is rounding, and its correlation
/// with anything would be the correlation of rounding errors.
const CONSTANT: f64 = 1e-10;

/// The true memberships, as they are known: a matrix of nodes × communities, or lists of members. Lists cost their length
/// where a matrix costs all of its entries.
///
/// # Example
/// ```
/// use tenfold::evaluate::{Cover, Truth};
/// let cover = Cover::new(3, vec![vec![0, 1], vec![2]]);
/// let truth = Truth::from(&cover);
/// assert!(matches!(truth, Truth::Cover(_)));
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Truth<'a> {
    /// Nodes × communities.
    Memberships(&'a Mat),
    /// Communities as lists of nodes: memberships of 1 and 0.
    Cover(&'a Cover),
}

impl<'a> From<&'a Mat> for Truth<'a> {
    fn from(memberships: &'a Mat) -> Self {
        Self::Memberships(memberships)
    }
}

impl<'a> From<&'a Cover> for Truth<'a> {
    fn from(cover: &'a Cover) -> Self {
        Self::Cover(cover)
    }
}

/// The truth with its column sums, made once for any number of comparisons.
pub(super) struct Columns<'a> {
    rows: Rows<'a>,
    pub nodes: usize,
    pub k: usize,
    /// Σ_x |π_x| of every column.
    pub masses: Vec<f64>,
    deviations: Vec<f64>,
}

/// The truth row by row.
enum Rows<'a> {
    Dense(&'a Mat),
    Lists(NodeLists),
}

impl Rows<'_> {
    /// Calls `visit` with the memberships of a node that are not 0.
    fn visit(&self, node: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Dense(memberships) => {
                for (i, &weight) in memberships.row(node).iter().enumerate() {
                    if weight != 0.0 {
                        visit(i, weight);
                    }
                }
            }
            Self::Lists(lists) => lists.of(node).iter().for_each(|&i| visit(i as usize, 1.0)),
        }
    }
}

impl<'a> Columns<'a> {
    pub(super) fn new(truth: Truth<'a>) -> Self {
        let (rows, nodes, k) = match truth {
            Truth::Memberships(mat) => (Rows::Dense(mat), mat.rows(), mat.cols()),
            Truth::Cover(cover) => (Rows::Lists(cover.by_node()), cover.nodes(), cover.communities().len()),
        };
        let sums = sum_arrays(nodes, 3 * k, |sum, range| {
            range.for_each(|x| {
                rows.visit(x, |i, weight| {
                    sum[i] += weight;
                    sum[k + i] += weight.abs();
                    sum[2 * k + i] += 1.0;
                });
            });
        });
        let n = nodes as f64;
        let means: Vec<f64> = sums[..k].iter().map(|sum| sum / n).collect();
        let mut squares = sum_arrays(nodes, k, |sum, range| {
            range.for_each(|x| rows.visit(x, |i, weight| sum[i] += (weight - means[i]).powi(2)));
        });
        for i in 0..k {
            // The entries that were not visited are 0.
            squares[i] += (n - sums[2 * k + i]) * means[i].powi(2);
        }
        let deviations = deviations(&squares, &means, n);
        Self { rows, nodes, k, masses: sums[k..2 * k].to_vec(), deviations }
    }
}

/// √(Σ (π − mean)²) of every column; 0 for one that is constant up to rounding.
fn deviations(squares: &[f64], means: &[f64], n: f64) -> Vec<f64> {
    let of_column = |(&square, &mean): (&f64, &f64)| {
        let constant = square <= CONSTANT * CONSTANT * (square + n * mean * mean);
        if constant { 0.0 } else { square.sqrt() }
    };
    squares.iter().zip(means).map(of_column).collect()
}

/// Every true column against every found one.
pub(super) struct Sums {
    /// Pearson's correlation, true × found; 0 where a column is constant.
    pub correlations: Mat,
    /// Σ_x |π̂_x| of every found column.
    pub masses: Vec<f64>,
    /// Σ_x |π_x| + |π̂_x| − |π_x − π̂_x|, true × found: twice what two columns have in common.
    pub common: Mat,
}

impl Sums {
    /// Two passes over the rows; found memberships below `threshold` count as 0.
    ///
    /// The first finds the means of the found columns, so that the second can sum centred values: with plain sums the
    /// correlation of a column that is nearly constant would be the difference of two large numbers. Entries of the truth
    /// that are 0 are passed over, because Σ_x π_x (π̂_x − mean) needs only the others, and so does `common`.
    pub(super) fn new(truth: &Columns<'_>, found: &Mat, threshold: f64) -> Self {
        let (n, k, l) = (truth.nodes, truth.k, found.cols());
        let keep = |weight: f64| if weight >= threshold { weight } else { 0.0 };
        let sums = sum_arrays(n, 2 * l, |sum, range| {
            let (sums, masses) = sum.split_at_mut(l);
            for x in range {
                for ((s, m), &weight) in sums.iter_mut().zip(masses.iter_mut()).zip(found.row(x)) {
                    *s += keep(weight);
                    *m += keep(weight).abs();
                }
            }
        });
        let means: Vec<f64> = sums[..l].iter().map(|sum| sum / n as f64).collect();
        // The products, what is common, and the squares of the found columns, one after the other.
        let both = sum_arrays(n, 2 * k * l + l, |sum, range| {
            let (pairs, squares) = sum.split_at_mut(2 * k * l);
            let (mut row, mut centred) = (vec![0.0; l], vec![0.0; l]);
            for x in range {
                for j in 0..l {
                    row[j] = keep(found.row(x)[j]);
                    centred[j] = row[j] - means[j];
                    squares[j] += centred[j] * centred[j];
                }
                truth.rows.visit(x, |i, weight| {
                    add_pair(&mut pairs[2 * i * l..2 * (i + 1) * l], weight, &row, &centred);
                });
            }
        });
        let spreads = deviations(&both[2 * k * l..], &means, n as f64);
        let correlation = |i: usize, j: usize| {
            let scale = truth.deviations[i] * spreads[j];
            if scale == 0.0 { 0.0 } else { (both[2 * i * l + j] / scale).clamp(-1.0, 1.0) }
        };
        Self {
            correlations: Mat::from_fn(k, l, correlation),
            masses: sums[l..].to_vec(),
            common: Mat::from_fn(k, l, |i, j| both[(2 * i + 1) * l + j]),
        }
    }
}

/// Adds one true membership to its products with the centred row, and to what it has in common with the row.
fn add_pair(sums: &mut [f64], weight: f64, row: &[f64], centred: &[f64]) {
    let (products, common) = sums.split_at_mut(row.len());
    for (((p, c), &value), &deviation) in products.iter_mut().zip(common).zip(row).zip(centred) {
        *p += weight * deviation;
        *c += weight.abs() + value.abs() - (weight - value).abs();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::linalg::random;

    fn drawn(n: usize, k: usize, stream: u64) -> Mat {
        random::gaussian(n, k, &mut random::rng(8, stream)).map(|x| (x * x - 0.3).max(0.0))
    }

    /// Correlation and distance of two columns from their definitions.
    fn by_definition(a: &[f64], b: &[f64]) -> (f64, f64) {
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let (p, q) = (mean(a), mean(b));
        let cov = |u: &[f64], v: &[f64], p: f64, q: f64| {
            u.iter().zip(v).map(|(x, y)| (x - p) * (y - q)).sum::<f64>()
        };
        let rho = cov(a, b, p, q) / (cov(a, a, p, p) * cov(b, b, q, q)).sqrt();
        (rho, a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum())
    }

    #[test]
    fn correlations_and_distances_are_those_of_the_definition() {
        let (truth, found) = (drawn(1300, 3, 0), drawn(1300, 4, 1));
        for threshold in [f64::NEG_INFINITY, 0.5] {
            let columns = Columns::new(Truth::from(&truth));
            let sums = Sums::new(&columns, &found, threshold);
            let kept = found.map(|w| if w >= threshold { w } else { 0.0 });
            for i in 0..3 {
                for j in 0..4 {
                    let (rho, distance) = by_definition(&truth.col(i), &kept.col(j));
                    assert!((sums.correlations[(i, j)] - rho).abs() < 1e-12);
                    let apart = columns.masses[i] + sums.masses[j] - sums.common[(i, j)];
                    assert!((apart - distance).abs() < 1e-9 * distance);
                }
            }
        }
    }

    #[test]
    fn lists_and_the_matrix_of_ones_say_the_same_on_any_threads() {
        let cover = Cover::above(&drawn(1300, 3, 2), 0.5);
        let (found, ones) = (drawn(1300, 4, 3), cover.memberships());
        let both = |threads: usize| {
            with_threads(threads, || {
                let of = |truth: Truth<'_>| Sums::new(&Columns::new(truth), &found, 0.1);
                let (a, b) = (of(Truth::from(&cover)), of(Truth::from(&ones)));
                assert_eq!((&a.correlations, &a.common), (&b.correlations, &b.common));
                (a.correlations, a.common)
            })
        };
        assert_eq!(both(1), both(3));
    }

    #[test]
    fn constant_columns_correlate_with_nothing() {
        // 0.1 cannot be written in binary, so sums of it are rounded.
        let truth = Mat::from_fn(3000, 3, |x, i| [0.1, 0.0, 1.0 + 1e-7 * (x % 2) as f64][i]);
        let found = Mat::from_fn(3000, 2, |x, j| [0.7, 1e-7 * (x % 2) as f64][j]);
        let sums = Sums::new(&Columns::new(Truth::from(&truth)), &found, 0.0);
        let rho = &sums.correlations;
        assert_eq!((rho.row(0), rho.row(1), rho[(2, 0)]), (&[0.0; 2][..], &[0.0; 2][..], 0.0));
        assert!((rho[(2, 1)] - 1.0).abs() < 1e-6, "{}", rho[(2, 1)]);
    }

    #[test]
    fn equal_columns_have_no_distance_at_all() {
        let truth = drawn(2000, 3, 4);
        let columns = Columns::new(Truth::from(&truth));
        let sums = Sums::new(&columns, &truth, f64::NEG_INFINITY);
        assert!((0..3).all(|i| columns.masses[i] + sums.masses[i] == sums.common[(i, i)]));
    }
}
