//! Third-order sums over samples, formed.

use super::Tensor3;
use super::packed::{binomial, packed_index};
use crate::error::Result;
use crate::linalg::parallel::{BLOCK, add_assign, sum_blocks};
use crate::linalg::{Kernel, Rows, gemm_add, vectorised, view, view_mut, with_rows};

/// Columns j of the pair products y_i y_j made at a time: wide enough for the matrix product, narrow enough
/// that the products stay in the second-level cache.
const PAIR_COLUMNS: usize = 8;
/// Samples whose pair products are made at a time (64 rows × 800 pairs = 400 kB at 100 columns).
const PAIR_ROWS: usize = 64;

impl Tensor3 {
    /// Σ_t w_t y_t⊗y_t⊗y_t over samples in rows, unit weights when there are none.
    ///
    /// Pair products y_i y_j (i ≤ j) are made for eight columns j at a time and multiplied with the columns
    /// l ≥ j of Y, so that nearly all work is a matrix product and only the distinct sixth is done.
    ///
    /// # Complexity
    /// n·d³/3 floating-point operations; eight accumulators of about d³/6 numbers.
    ///
    /// # Errors
    /// What the data source says.
    pub fn from_samples(samples: &dyn Rows, weights: Option<&[f64]>) -> Result<Self> {
        let d = samples.cols();
        Self::sum_triples(d, samples.rows(), |range, groups, sums| {
            let weights = weights.map(|w| &w[range.clone()]);
            with_rows(samples, range, &mut Vec::new(), |y| {
                add_triples((y, None), y, (d, weights), groups, sums)
            })
        })
    }

    /// Σ_t w_t (z_t⊗z_t⊗x_t + z_t⊗x_t⊗z_t + x_t⊗z_t⊗z_t) over pairs of rows, unit weights when there are none.
    ///
    /// # Complexity
    /// 2·n·d³/3 floating-point operations, made as in [`Tensor3::from_samples`]: z_i z_j with x_l, and
    /// z_i x_j + x_i z_j with z_l.
    ///
    /// # Errors
    /// What the data sources say.
    pub fn from_mixed(twice: &dyn Rows, once: &dyn Rows, weights: Option<&[f64]>) -> Result<Self> {
        let d = twice.cols();
        assert_eq!((once.rows(), once.cols()), (twice.rows(), d), "both have a row a sample");
        Self::sum_triples(d, twice.rows(), |range, groups, sums| {
            let weights = weights.map(|w| &w[range.clone()]);
            with_rows(twice, range.clone(), &mut Vec::new(), |z| {
                with_rows(once, range, &mut Vec::new(), |x| {
                    add_triples((z, None), x, (d, weights), groups, sums);
                    add_triples((z, Some(x)), z, (d, weights), groups, sums);
                })
            })?
        })
    }

    /// Sums over blocks of rows what `add` puts at [l − first, (i, j)] of every group of pairs.
    fn sum_triples(
        d: usize,
        rows: usize,
        add: impl Fn(std::ops::Range<usize>, &[PairGroup], &mut [Vec<f64>]) -> Result<()> + Sync,
    ) -> Result<Self> {
        let groups = pair_groups(d);
        let sums = sum_blocks(
            rows,
            BLOCK,
            || groups.iter().map(|g| vec![0.0; (d - g.first) * g.pairs]).collect::<Vec<_>>(),
            |sums, range| add(range, &groups, sums),
            |total, lane| total.iter_mut().zip(&lane).for_each(|(t, l)| add_assign(t, l)),
        )?;
        let mut tensor = Self::zeros(d);
        let last: Vec<usize> = (0..d).map(|l| binomial(l + 2, 3)).collect();
        for (group, sum) in groups.iter().zip(&sums) {
            let mut column = 0;
            for j in group.first..group.end {
                for i in 0..=j {
                    let pair = packed_index(&[i, j]);
                    for l in j..d {
                        tensor.data[pair + last[l]] = sum[(l - group.first) * group.pairs + column];
                    }
                    column += 1;
                }
            }
        }
        Ok(tensor)
    }
}

/// The pairs (i ≤ j) with j in `first..end`.
struct PairGroup {
    first: usize,
    end: usize,
    pairs: usize,
}

fn pair_groups(d: usize) -> Vec<PairGroup> {
    (0..d)
        .step_by(PAIR_COLUMNS)
        .map(|first| {
            let end = (first + PAIR_COLUMNS).min(d);
            PairGroup { first, end, pairs: (first..end).map(|j| j + 1).sum() }
        })
        .collect()
}

/// sums[g][l − first, (i, j)] += Σ_t w_t p_tij c_tl for the pairs of group g and l ≥ first, where p_ij = a_i a_j or, with a
/// partner b, a_i b_j + b_i a_j.
fn add_triples(
    (a, b): (&[f64], Option<&[f64]>),
    c: &[f64],
    (d, weights): (usize, Option<&[f64]>),
    groups: &[PairGroup],
    sums: &mut [Vec<f64>],
) {
    let rows = a.len() / d.max(1);
    let widest = groups.iter().map(|g| g.pairs).max().unwrap_or(0);
    let mut products = vec![0.0; PAIR_ROWS * widest];
    for start in (0..rows).step_by(PAIR_ROWS) {
        let end = (start + PAIR_ROWS).min(rows);
        let part = start * d..end * d;
        let third = view(&c[part.clone()], end - start, d);
        for (group, sum) in groups.iter().zip(sums.iter_mut()) {
            let products = &mut products[..(end - start) * group.pairs];
            let weights = weights.map(|w| &w[start..end]);
            let (samples, partners) = (&a[part.clone()], b.map(|b| &b[part.clone()]));
            vectorised(Pairs { samples, partners, weights, d, group, products });
            let right = view(products, end - start, group.pairs);
            let left = third.subcols(group.first, d - group.first).transpose();
            gemm_add(view_mut(sum, d - group.first, group.pairs), left, right);
        }
    }
}

/// Writes w_t a_ti a_tj, or w_t (a_ti b_tj + b_ti a_tj) with partners, for the pairs (i ≤ j) of a group, one row a sample.
struct Pairs<'a> {
    samples: &'a [f64],
    partners: Option<&'a [f64]>,
    weights: Option<&'a [f64]>,
    d: usize,
    group: &'a PairGroup,
    products: &'a mut [f64],
}

impl Kernel for Pairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let rows = self.samples.chunks_exact(self.d).zip(self.products.chunks_exact_mut(self.group.pairs));
        for (t, (a, row)) in rows.enumerate() {
            let weight = self.weights.map_or(1.0, |w| w[t]);
            let b = self.partners.map(|b| &b[t * self.d..][..self.d]);
            let mut rest = row;
            for j in self.group.first..self.group.end {
                let (run, after) = rest.split_at_mut(j + 1);
                let scale = weight * a[j];
                match b {
                    None => run.iter_mut().zip(a).for_each(|(p, x)| *p = scale * x),
                    Some(b) => {
                        let other = weight * b[j];
                        run.iter_mut()
                            .zip(a.iter().zip(b))
                            .for_each(|(p, (x, y))| *p = other * x + scale * y);
                    }
                }
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{parallel, random};
    use crate::tensor::Contract;

    #[test]
    fn sample_sum_equals_explicit_sums_on_any_threads() {
        for (n, d) in [(1, 1), (7, 3), (1300, 19)] {
            let mut rng = random::rng(2, 0);
            let y = random::gaussian(n, d, &mut rng);
            let w: Vec<f64> = (0..n).map(|_| random::normal(&mut rng)).collect();
            let mut brute = Tensor3::zeros(d);
            (0..n).for_each(|t| brute.add_rank_one(w[t], y.row(t)));
            let fast = Tensor3::from_samples(&y, Some(&w)).unwrap();
            let mut difference = fast.clone();
            difference.add_scaled(-1.0, &brute);
            assert!(difference.norm_squared().unwrap().sqrt() < 1e-12 * (n * d) as f64, "{n} × {d}");
            for threads in [1, 2, 3, 8] {
                let again = parallel::with_threads(threads, || Tensor3::from_samples(&y, Some(&w)).unwrap());
                assert_eq!(again, fast);
            }
        }
    }
}
