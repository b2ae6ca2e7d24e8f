//! The hot loops, compiled for the processor's vector width.
//!
//! Inference and the update of topics are one loop seen from two sides: with x the mixture of a document and the rows
//! those of its words, or with x the row of a word and the rows the mixtures of its documents,
//!
//!   Σ_e c_e / (x · r_e) · r_e.
//!
//! Four entries go together, so that the reductions and divisions of one hide behind the sums of the others.

use tenfold_engine::linalg::counts::Entry;
use tenfold_engine::linalg::{CountBlock, Kernel};

/// Rows are padded with zeros to a multiple of this many numbers: one AVX register of f32.
pub(super) const LANES: usize = 8;

/// Added to a probability before it divides: a word that no topic knows gives no weight instead of a NaN.
pub(super) const TINY: f32 = 1e-30;

/// The largest weight of an entry. A count of a word that no topic knows is divided by [`TINY`], and from 3·10⁸ on that left the range of
/// single precision: infinity times the zeros of the row is no number. With this, sums stay in the range: the rows of the words of a topic
/// add up to 1, and of documents there are fewer than 2¹⁷ in a block.
const HEAVIEST: f32 = f32::MAX / (1u32 << 17) as f32;

/// A weight that is no larger than sums can take.
#[inline(always)]
fn bounded(weight: f32) -> f32 {
    if weight < HEAVIEST { weight } else { HEAVIEST }
}

/// The length of a row for `k` topics.
pub(super) fn padded(k: usize) -> usize {
    k.div_ceil(LANES) * LANES
}

/// Rows of `width` numbers; `inverse[r]` is 1 / Σ of row r.
#[derive(Clone, Copy)]
pub(super) struct RowsRef<'a> {
    pub width: usize,
    pub data: &'a [f32],
    pub inverse: &'a [f32],
}

/// Mixtures of consecutive rows of a block: the fixed point θ_t ∝ θ_t Σ_w c_w B_wt / (θ · B_w) + α_t, from the uniform start.
pub(super) struct Mixtures<'a> {
    pub block: &'a CountBlock,
    /// The first row; as many follow as `out` has room for.
    pub first: usize,
    /// Rows of the block to infer; the others get zeros.
    pub keep: &'a [bool],
    pub rows: RowsRef<'a>,
    pub alpha: &'a [f32],
    pub steps: usize,
    /// Ends a document's steps when Σ_t |Δθ_t| falls below it.
    pub tolerance: f32,
    pub out: &'a mut [f32],
}

impl Kernel for Mixtures<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let width = self.rows.width;
        let mut sum = vec![0.0f32; width];
        for (i, theta) in self.out.chunks_exact_mut(width).enumerate() {
            if !self.keep[self.first + i] {
                theta.fill(0.0);
                continue;
            }
            let entries = self.block.row(self.first + i);
            first_step(entries, self.block.levels(), self.rows, theta);
            add_and_normalise(theta, self.alpha);
            for _ in 1..self.steps {
                sum.fill(0.0);
                weigh(theta, entries, self.block.levels(), self.rows, &mut sum);
                for (s, t) in sum.iter_mut().zip(theta.iter()) {
                    *s *= *t;
                }
                add_and_normalise(&mut sum, self.alpha);
                let mut moved = 0.0;
                if self.tolerance > 0.0 {
                    for (s, t) in sum.iter().zip(theta.iter()) {
                        moved += (s - t).abs();
                    }
                }
                theta.copy_from_slice(&sum);
                if moved < self.tolerance {
                    break;
                }
            }
        }
    }
}

/// sum += Σ_e c_e / (x · r_e) · r_e.
#[inline(always)]
pub(super) fn weigh(x: &[f32], entries: &[Entry], levels: &[f32], rows: RowsRef<'_>, sum: &mut [f32]) {
    let (data, width) = (rows.data, rows.width);
    let (x, sum) = (&x[..width], &mut sum[..width]);
    let (fours, rest) = entries.as_chunks::<4>();
    for four in fours {
        let counts = [
            levels[four[0].code as usize],
            levels[four[1].code as usize],
            levels[four[2].code as usize],
            levels[four[3].code as usize],
        ];
        let rows = [
            &data[four[0].at as usize * width..][..width],
            &data[four[1].at as usize * width..][..width],
            &data[four[2].at as usize * width..][..width],
            &data[four[3].at as usize * width..][..width],
        ];
        let dots = four_dots(x, rows);
        let weights = [
            bounded(counts[0] / (dots[0] + TINY)),
            bounded(counts[1] / (dots[1] + TINY)),
            bounded(counts[2] / (dots[2] + TINY)),
            bounded(counts[3] / (dots[3] + TINY)),
        ];
        add_four(weights, rows, sum);
    }
    for e in rest {
        let row = &data[e.at as usize * width..][..width];
        let weight = bounded(levels[e.code as usize] / (dot(x, row) + TINY));
        for (s, b) in sum.iter_mut().zip(row) {
            *s += weight * b;
        }
    }
}

/// The sum of the first step: θ is uniform, so θ · B_w is the row's sum over k, known beforehand.
#[inline(always)]
fn first_step(entries: &[Entry], levels: &[f32], rows: RowsRef<'_>, sum: &mut [f32]) {
    let (data, width) = (rows.data, rows.width);
    let sum = &mut sum[..width];
    sum.fill(0.0);
    let (fours, rest) = entries.as_chunks::<4>();
    for four in fours {
        let mut weights = [0.0f32; 4];
        for i in 0..4 {
            weights[i] = bounded(levels[four[i].code as usize] * rows.inverse[four[i].at as usize]);
        }
        let rows = [
            &data[four[0].at as usize * width..][..width],
            &data[four[1].at as usize * width..][..width],
            &data[four[2].at as usize * width..][..width],
            &data[four[3].at as usize * width..][..width],
        ];
        add_four(weights, rows, sum);
    }
    for e in rest {
        let weight = bounded(levels[e.code as usize] * rows.inverse[e.at as usize]);
        for (s, b) in sum.iter_mut().zip(&data[e.at as usize * width..][..width]) {
            *s += weight * b;
        }
    }
}

/// x ← (x + α) / Σ(x + α); zeros where nothing is known, that is without counts and without prior: the caller makes
/// that uniform.
#[inline(always)]
fn add_and_normalise(x: &mut [f32], alpha: &[f32]) {
    for (v, a) in x.iter_mut().zip(alpha) {
        *v += a;
    }
    let scale = 1.0 / sum_of(x).max(TINY);
    for v in x.iter_mut() {
        *v *= scale;
    }
}

#[inline(always)]
fn add_four(weights: [f32; 4], rows: [&[f32]; 4], sum: &mut [f32]) {
    let (sum, _) = sum.as_chunks_mut::<LANES>();
    let n = sum.len();
    let (r0, r1) = (&rows[0].as_chunks::<LANES>().0[..n], &rows[1].as_chunks::<LANES>().0[..n]);
    let (r2, r3) = (&rows[2].as_chunks::<LANES>().0[..n], &rows[3].as_chunks::<LANES>().0[..n]);
    for j in 0..n {
        // A copy of its own tells the compiler that nothing else changes while the eight are added.
        let (mut s, a, b, c, d) = (sum[j], r0[j], r1[j], r2[j], r3[j]);
        for l in 0..LANES {
            s[l] = fused(weights[0], a[l], s[l]);
            s[l] = fused(weights[1], b[l], s[l]);
            s[l] = fused(weights[2], c[l], s[l]);
            s[l] = fused(weights[3], d[l], s[l]);
        }
        sum[j] = s;
    }
}

#[inline(always)]
fn four_dots(x: &[f32], rows: [&[f32]; 4]) -> [f32; 4] {
    let (x, _) = x.as_chunks::<LANES>();
    let n = x.len();
    let (r0, r1) = (&rows[0].as_chunks::<LANES>().0[..n], &rows[1].as_chunks::<LANES>().0[..n]);
    let (r2, r3) = (&rows[2].as_chunks::<LANES>().0[..n], &rows[3].as_chunks::<LANES>().0[..n]);
    let (mut s0, mut s1, mut s2, mut s3) =
        ([0.0f32; LANES], [0.0f32; LANES], [0.0f32; LANES], [0.0f32; LANES]);
    for j in 0..n {
        let (v, a, b, c, d) = (x[j], r0[j], r1[j], r2[j], r3[j]);
        for l in 0..LANES {
            s0[l] = fused(v[l], a[l], s0[l]);
            s1[l] = fused(v[l], b[l], s1[l]);
            s2[l] = fused(v[l], c[l], s2[l]);
            s3[l] = fused(v[l], d[l], s3[l]);
        }
    }
    [fold(s0), fold(s1), fold(s2), fold(s3)]
}

/// x · y, summed in the order of [`four_dots`].
#[inline(always)]
pub(super) fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut s = [0.0f32; LANES];
    for (a, b) in x.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
        for l in 0..LANES {
            s[l] = fused(a[l], b[l], s[l]);
        }
    }
    fold(s)
}

/// Σ x.
#[inline(always)]
pub(super) fn sum_of(x: &[f32]) -> f32 {
    let mut s = [0.0f32; LANES];
    for a in x.as_chunks::<LANES>().0 {
        for l in 0..LANES {
            s[l] += a[l];
        }
    }
    fold(s)
}

#[inline(always)]
pub(super) fn fold(s: [f32; LANES]) -> f32 {
    let (a, b, c, d) = (s[0] + s[4], s[1] + s[5], s[2] + s[6], s[3] + s[7]);
    (a + c) + (b + d)
}

/// a·b + c, rounded once: one instruction where the processor has it, and the same number where it does not. Measured at
/// 1.5 times the speed of two instructions.
#[inline(always)]
pub(super) fn fused(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}
