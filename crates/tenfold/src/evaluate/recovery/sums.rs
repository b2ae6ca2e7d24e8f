//! What the comparison of memberships rests on: correlations and distances of every true column with every found one.

use super::super::Cover;
use super::super::cover::NodeLists;
use std::ops::Range;
use tenfold_engine::linalg::parallel::sum_arrays;
use tenfold_engine::linalg::{Kernel, Mat, vectorised};

/// A column whose deviation is below this share of its size is constant; what deviates is rounding, and its correlation
/// with anything would be the correlation of rounding errors.
const CONSTANT: f64 = 1e-10;

/// Rows that are taken together: their found memberships and the sums of one true community stay in the first-level cache.
const TILE: usize = 8;

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
    /// Calls `visit` with community and membership of all entries in some rows that are not 0.
    fn visit(&self, nodes: Range<usize>, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Dense(memberships) => {
                for x in nodes {
                    let row = memberships.row(x).iter().enumerate();
                    row.filter(|(_, weight)| **weight != 0.0).for_each(|(i, &weight)| visit(i, weight));
                }
            }
            Self::Lists(lists) => {
                for x in nodes {
                    lists.of(x).iter().for_each(|&i| visit(i as usize, 1.0));
                }
            }
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
            rows.visit(range, |i, weight| {
                sum[i] += weight;
                sum[k + i] += weight.abs();
                sum[2 * k + i] += 1.0;
            });
        });
        let n = nodes as f64;
        let means: Vec<f64> = sums[..k].iter().map(|sum| sum / n).collect();
        let mut squares = sum_arrays(nodes, k, |sum, range| {
            rows.visit(range, |i, weight| sum[i] += (weight - means[i]).powi(2));
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
        let sums = sum_arrays(n, 2 * l, |sum, range| {
            let (sums, masses) = sum.split_at_mut(l);
            for x in range {
                for ((s, m), &weight) in sums.iter_mut().zip(masses.iter_mut()).zip(found.row(x)) {
                    *s += keep(weight, threshold);
                    *m += keep(weight, threshold).abs();
                }
            }
        });
        let means: Vec<f64> = sums[..l].iter().map(|sum| sum / n as f64).collect();
        // The products, what is common, and the squares of the found columns, one after the other.
        let both = sum_arrays(n, 2 * k * l + l, |sum, range| {
            let (pairs, squares) = sum.split_at_mut(2 * k * l);
            vectorised(AddRows {
                truth: &truth.rows,
                found,
                means: &means,
                threshold,
                range,
                pairs,
                squares,
            });
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

/// A membership, or 0 if it is below the threshold or no number.
#[inline(always)]
fn keep(weight: f64, threshold: f64) -> f64 {
    if weight >= threshold { weight } else { 0.0 }
}

/// Adds a range of rows to the sums, tile by tile.
struct AddRows<'a> {
    truth: &'a Rows<'a>,
    found: &'a Mat,
    means: &'a [f64],
    threshold: f64,
    range: Range<usize>,
    /// For each true community the products with the found ones, then what is common with them.
    pairs: &'a mut [f64],
    squares: &'a mut [f64],
}

impl Kernel for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let l = self.found.cols();
        // What is kept of the found rows, and the same less its mean.
        let mut rows = [vec![0.0; TILE * l], vec![0.0; TILE * l]];
        for start in self.range.clone().step_by(TILE) {
            let tile = start..(start + TILE).min(self.range.end);
            self.fill(tile.clone(), &mut rows);
            match self.truth {
                Rows::Dense(truth) => {
                    for i in 0..truth.cols() {
                        let mut weights = [0.0; TILE];
                        for (weight, x) in weights.iter_mut().zip(tile.clone()) {
                            *weight = truth[(x, i)];
                        }
                        if weights != [0.0; TILE] {
                            add_tile(&mut self.pairs[2 * i * l..][..2 * l], &weights, &rows);
                        }
                    }
                }
                Rows::Lists(lists) => {
                    for x in tile {
                        let at = (x - start) * l;
                        let (kept, centred) = (&rows[0][at..][..l], &rows[1][at..][..l]);
                        for &i in lists.of(x) {
                            add_member(&mut self.pairs[2 * i as usize * l..][..2 * l], kept, centred);
                        }
                    }
                }
            }
        }
    }
}

impl AddRows<'_> {
    #[inline(always)]
    fn fill(&mut self, tile: Range<usize>, [kept, centred]: &mut [Vec<f64>; 2]) {
        let l = self.found.cols();
        for (at, x) in tile.enumerate() {
            let (kept, centred) = (&mut kept[at * l..][..l], &mut centred[at * l..][..l]);
            for (j, &weight) in self.found.row(x).iter().enumerate() {
                kept[j] = keep(weight, self.threshold);
                centred[j] = kept[j] - self.means[j];
                self.squares[j] += centred[j] * centred[j];
            }
        }
    }
}

/// Adds the true memberships of a tile of rows in one community to its products with the centred rows, and to what it
/// has in common with the rows. Each sum is loaded once for the whole tile.
#[inline(always)]
fn add_tile(sums: &mut [f64], weights: &[f64; TILE], [kept, centred]: &[Vec<f64>; 2]) {
    let l = sums.len() / 2;
    let (products, common) = sums.split_at_mut(l);
    let common = &mut common[..l];
    let kept: [&[f64]; TILE] = std::array::from_fn(|t| &kept[t * l..][..l]);
    let centred: [&[f64]; TILE] = std::array::from_fn(|t| &centred[t * l..][..l]);
    for j in 0..l {
        for t in 0..TILE {
            products[j] += weights[t] * centred[t][j];
        }
    }
    for j in 0..l {
        for t in 0..TILE {
            common[j] += twice_common(weights[t], kept[t][j]);
        }
    }
}

/// The same for a single membership of 1.
#[inline(always)]
fn add_member(sums: &mut [f64], kept: &[f64], centred: &[f64]) {
    let (products, common) = sums.split_at_mut(kept.len());
    for (product, deviation) in products.iter_mut().zip(centred) {
        *product += deviation;
    }
    for (common, &value) in common.iter_mut().zip(kept) {
        *common += twice_common(1.0, value);
    }
}

/// |a| + |b| − |a − b|: twice the smaller one of two memberships.
#[inline(always)]
fn twice_common(a: f64, b: f64) -> f64 {
    a.abs() + b.abs() - (a - b).abs()
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
