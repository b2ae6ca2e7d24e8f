//! Dense symmetric tensors, each distinct entry stored once.

use super::{Contract, check_arguments};
use crate::error::{Error, Result};
use crate::linalg::{Mat, dot, gemm, view};
use rayon::prelude::*;

/// A symmetric tensor of order `ORDER`, packed: the entry with sorted indices i₀ ≤ i₁ ≤ … stands at
/// Σ_r C(i_r + r, r + 1).
///
/// # Example
/// ```
/// use tenfold_engine::tensor::{Contract, Tensor3};
/// let mut t = Tensor3::zeros(2);
/// t[[0, 1, 1]] = 5.0;
/// assert_eq!(t[[1, 0, 1]], 5.0);
/// assert_eq!(t.norm_squared(), Some(75.0)); // three places hold it
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Packed<const ORDER: usize> {
    dim: usize,
    pub(super) data: Vec<f64>,
}

/// A dense symmetric tensor of order 3.
pub type Tensor3 = Packed<3>;
/// A dense symmetric tensor of order 4.
pub type Tensor4 = Packed<4>;

impl<const ORDER: usize> Packed<ORDER> {
    /// The tensor with these distinct entries, as [`Packed::as_slice`] gives them; `None` when their number is wrong.
    pub fn from_packed(dim: usize, data: Vec<f64>) -> Option<Self> {
        (data.len() == packed_len(dim, ORDER)).then_some(Self { dim, data })
    }

    /// All zeros.
    pub fn zeros(dim: usize) -> Self {
        Self { dim, data: vec![0.0; packed_len(dim, ORDER)] }
    }

    /// Length of each side.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The distinct entries in packed order.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// Takes the entries of a full array in C order and checks that it is symmetric to `tolerance` relative
    /// to its largest entry.
    ///
    /// # Errors
    /// [`Error::BadParameter`] naming the first pair of entries that should be equal and are not.
    pub fn from_full(dim: usize, full: &[f64], tolerance: f64) -> Result<Self> {
        assert_eq!(full.len(), dim.pow(ORDER as u32), "a full tensor has dim^order entries");
        let largest = full.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut packed = Self::zeros(dim);
        let mut index = [0; ORDER];
        for (at, &value) in full.iter().enumerate() {
            let mut rest = at;
            for slot in (0..ORDER).rev() {
                index[slot] = rest % dim;
                rest /= dim;
            }
            let mut sorted = index;
            sorted.sort_unstable();
            let twin = full[sorted.iter().fold(0, |flat, i| flat * dim + i)];
            if (value - twin).abs() > tolerance * largest {
                return Err(Error::BadParameter {
                    name: "tensor",
                    value: format!("entry {index:?} = {value} but entry {sorted:?} = {twin}"),
                    expected: "a symmetric tensor: entries with permuted indices are equal",
                });
            }
            if index == sorted {
                packed[index] = value;
            }
        }
        Ok(packed)
    }

    /// All dim^ORDER entries in C order.
    pub fn to_full(&self) -> Vec<f64> {
        let slab = self.dim * self.dim;
        let mut full = vec![0.0; self.dim.pow(ORDER as u32)];
        for (at, out) in full.chunks_exact_mut(slab.max(1)).enumerate() {
            // The leading indices are the digits of `at`.
            let mut fixed = [0; ORDER];
            let mut rest = at;
            for slot in (0..ORDER - 2).rev() {
                fixed[slot] = rest % self.dim;
                rest /= self.dim;
            }
            self.slab(&fixed[..ORDER - 2], out);
        }
        full
    }

    /// `self += scale · v⊗…⊗v`.
    pub fn add_rank_one(&mut self, scale: f64, v: &[f64]) {
        assert_eq!(v.len(), self.dim);
        self.for_each_entry(|index, entry| *entry += scale * index.iter().map(|&i| v[i]).product::<f64>());
    }

    /// `self += scale · other`.
    pub fn add_scaled(&mut self, scale: f64, other: &Self) {
        assert_eq!(self.dim, other.dim);
        self.data.iter_mut().zip(&other.data).for_each(|(a, b)| *a += scale * b);
    }

    /// Visits every distinct entry with its sorted indices, in packed order.
    pub fn for_each_entry(&mut self, mut visit: impl FnMut(&[usize; ORDER], &mut f64)) {
        let mut index = [0usize; ORDER];
        for entry in &mut self.data {
            visit(&index, entry);
            // The next sorted index: raise the lowest slot that may rise, and reset those below it.
            let slot = (0..ORDER - 1).find(|&s| index[s] < index[s + 1]).unwrap_or(ORDER - 1);
            index[slot] += 1;
            index[..slot].fill(0);
        }
    }

    /// The d × d matrix T(e_i, ·, ·) or T(e_i, e_j, ·, ·), written into `out`.
    ///
    /// While q rises, its rank among p and the fixed indices rises at each of them; in between, an entry's place is a
    /// constant plus C(q + rank, rank + 1).
    fn slab(&self, fixed: &[usize], out: &mut [f64]) {
        let d = self.dim;
        for p in 0..d {
            let mut others = [p; ORDER];
            others[..ORDER - 2].copy_from_slice(fixed);
            let others = &mut others[..ORDER - 1];
            others.sort_unstable();
            let mut q = 0;
            for rank in 0..ORDER - 1 {
                let below = packed_index(&others[..rank]);
                let above: usize = (rank..ORDER - 1).map(|r| binomial(others[r] + r + 1, r + 2)).sum();
                let end = others[rank].min(p) + 1;
                let mut at = below + above + binomial(q + rank, rank + 1);
                for q in q..end {
                    let value = self.data[at];
                    out[p * d + q] = value;
                    out[q * d + p] = value;
                    at += binomial(q + rank, rank);
                }
                q = q.max(end);
            }
        }
    }

    /// Row i of T(I, a_c, …) for all columns c.
    fn contract_row(&self, i: usize, arguments: &[&Mat], buffers: &mut (Vec<f64>, Mat), out: &mut [f64]) {
        let d = self.dim;
        let (slab, product) = buffers;
        let mut accumulate = |slab: &[f64], leading: Option<&[f64]>| {
            let [left, right] = [arguments[ORDER - 3], arguments[ORDER - 2]];
            gemm(product.view_mut(), view(slab, d, d), right.view());
            for a in 0..d {
                let (l, p) = (left.row(a), product.row(a));
                match leading {
                    None => out.iter_mut().zip(l).zip(p).for_each(|((o, x), y)| *o += x * y),
                    Some(w) => {
                        out.iter_mut().zip(l).zip(p).zip(w).for_each(|(((o, x), y), w)| *o += w * x * y)
                    }
                }
            }
        };
        if ORDER == 3 {
            self.slab(&[i], slab);
            accumulate(slab, None);
        } else {
            for j in 0..d {
                self.slab(&[i, j], slab);
                accumulate(slab, Some(arguments[0].row(j)));
            }
        }
    }
}

impl<const ORDER: usize> std::ops::Index<[usize; ORDER]> for Packed<ORDER> {
    type Output = f64;
    fn index(&self, mut index: [usize; ORDER]) -> &f64 {
        index.sort_unstable();
        &self.data[packed_index(&index)]
    }
}

impl<const ORDER: usize> std::ops::IndexMut<[usize; ORDER]> for Packed<ORDER> {
    fn index_mut(&mut self, mut index: [usize; ORDER]) -> &mut f64 {
        index.sort_unstable();
        &mut self.data[packed_index(&index)]
    }
}

impl<const ORDER: usize> Contract for Packed<ORDER> {
    fn dim(&self) -> usize {
        self.dim
    }
    fn order(&self) -> usize {
        ORDER
    }
    /// # Complexity
    /// 2·dim^ORDER floating-point operations a column, as matrix products, rows of the result in parallel.
    fn contract(&self, arguments: &[&Mat]) -> Result<Mat> {
        const { assert!(ORDER == 3 || ORDER == 4, "only orders 3 and 4 are contracted") };
        let width = check_arguments(self, arguments);
        let d = self.dim;
        let mut out = Mat::zeros(d, width);
        if width > 0 {
            out.as_mut_slice().par_chunks_mut(width).enumerate().for_each_init(
                || (vec![0.0; d * d], Mat::zeros(d, width)),
                |buffers, (i, row)| self.contract_row(i, arguments, buffers, row),
            );
        }
        Ok(out)
    }
    /// ⟨T_ij·, Σ_c u_c⟩ or ⟨T_ij··, U Uᵀ⟩: dim^ORDER operations.
    fn slice(&self, u: &Mat) -> Result<Mat> {
        let d = self.dim;
        let weights =
            if ORDER == 3 { Mat::from_fn(1, d, |_, i| u.row(i).iter().sum()) } else { u.matmul_tr(u) };
        let mut out = Mat::zeros(d, d);
        out.as_mut_slice().par_chunks_mut(d.max(1)).enumerate().for_each_init(
            || vec![0.0; d * d],
            |slab, (i, row)| {
                if ORDER == 3 {
                    self.slab(&[i], slab);
                    row.iter_mut()
                        .enumerate()
                        .for_each(|(j, r)| *r = dot(&slab[j * d..(j + 1) * d], weights.row(0)));
                } else {
                    for (j, r) in row.iter_mut().enumerate() {
                        self.slab(&[i, j], slab);
                        *r = dot(slab, weights.as_slice());
                    }
                }
            },
        );
        Ok(out)
    }
    fn norm_squared(&self) -> Option<f64> {
        let mut total = 0.0;
        let mut copy = self.clone();
        copy.for_each_entry(|index, entry| total += places(index) * *entry * *entry);
        Some(total)
    }
}

/// Position of sorted indices in packed order.
pub(super) fn packed_index(sorted: &[usize]) -> usize {
    sorted.iter().enumerate().map(|(r, &i)| binomial(i + r, r + 1)).sum()
}

/// Number of distinct entries of a symmetric tensor.
fn packed_len(dim: usize, order: usize) -> usize {
    if dim == 0 { 0 } else { binomial(dim + order - 1, order) }
}

#[inline]
pub(super) fn binomial(n: usize, k: usize) -> usize {
    match k {
        0 => 1,
        1 => n,
        2 => n * n.saturating_sub(1) / 2,
        3 => n * n.saturating_sub(1) * n.saturating_sub(2) / 6,
        _ => (0..k).fold(1, |value, i| value * n.saturating_sub(i) / (i + 1)),
    }
}

/// In how many places of the full tensor the entry with these sorted indices stands.
fn places(sorted: &[usize]) -> f64 {
    let factorial = |n: usize| (1..=n).product::<usize>() as f64;
    let mut count = factorial(sorted.len());
    let mut run = 1;
    for w in sorted.windows(2) {
        run = if w[0] == w[1] { run + 1 } else { 1 };
        count /= run as f64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random;

    fn some<const O: usize>(dim: usize) -> Packed<O> {
        let mut rng = random::rng(3, 0);
        let mut t = Packed::zeros(dim);
        t.for_each_entry(|_, e| *e = random::normal(&mut rng));
        t
    }

    #[test]
    fn packing_visits_every_entry_once() {
        let mut t = some::<4>(5);
        let mut at = 0;
        t.for_each_entry(|index, _| {
            assert!(index.is_sorted());
            assert_eq!(packed_index(index), at);
            at += 1;
        });
        assert_eq!(at, 70);
        let full = t.to_full();
        assert_eq!(Packed::<4>::from_full(5, &full, 0.0).unwrap(), t);
        let brute: f64 = full.iter().map(|x| x * x).sum();
        assert!((t.norm_squared().unwrap() - brute).abs() < 1e-10);
    }

    #[test]
    fn asymmetric_input_is_refused() {
        let mut full = vec![0.0; 27];
        full[1] = 1.0; // entry (0, 0, 1) without its twins
        let error = Tensor3::from_full(3, &full, 1e-9).unwrap_err().to_string();
        assert!(error.contains("symmetric") && error.contains("[0, 1, 0]"), "{error}");
    }

    #[test]
    fn contraction_equals_explicit_sums() {
        let d = 6;
        let mut rng = random::rng(1, 0);
        let [a, b, c] = std::array::from_fn(|_| random::gaussian(d, 3, &mut rng));
        let (t3, t4) = (some::<3>(d), some::<4>(d));
        let (got3, got4) = (t3.contract(&[&a, &b]).unwrap(), t4.contract(&[&a, &b, &c]).unwrap());
        let (u3, u4) = (t3.slice(&a).unwrap(), t4.slice(&a).unwrap());
        for i in 0..d {
            for m in 0..3 {
                let (mut want3, mut want4) = (0.0, 0.0);
                for j in 0..d {
                    for l in 0..d {
                        want3 += t3[[i, j, l]] * a[(j, m)] * b[(l, m)];
                        for p in 0..d {
                            want4 += t4[[i, j, l, p]] * a[(j, m)] * b[(l, m)] * c[(p, m)];
                        }
                    }
                }
                assert!((got3[(i, m)] - want3).abs() < 1e-12 && (got4[(i, m)] - want4).abs() < 1e-11);
            }
            for j in 0..d {
                let (mut want3, mut want4) = (0.0, 0.0);
                for m in 0..3 {
                    for l in 0..d {
                        want3 += t3[[i, j, l]] * a[(l, m)];
                        for p in 0..d {
                            want4 += t4[[i, j, l, p]] * a[(l, m)] * a[(p, m)];
                        }
                    }
                }
                assert!((u3[(i, j)] - want3).abs() < 1e-12 && (u4[(i, j)] - want4).abs() < 1e-11);
            }
        }
    }
}
