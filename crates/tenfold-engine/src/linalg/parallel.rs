//! Parallel work whose result does not depend on the number of threads.
//!
//! Samples are cut into blocks at fixed positions ([`BLOCK`] rows), block `b` always adds to lane
//! `b mod` [`LANES`], and lanes are added in order. Threads only decide who does a block, never where its
//! sum goes, so 1, 2, 3 or 8 threads, and any way of feeding the same rows, give the same bytes.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;

/// Rows in a block: at 100 columns of f64 a block is 400 kB and stays in the second-level cache.
pub const BLOCK: usize = 512;

/// Rows in a block of samples with `cols` numbers each: [`BLOCK`], or fewer so that a block stays within 16 MB.
pub fn block_rows(cols: usize) -> usize {
    ((2 << 20) / cols.max(1)).clamp(1, BLOCK)
}

/// Number of running sums. Eight keeps eight threads busy and bounds memory at eight accumulators.
pub const LANES: usize = 8;

/// The row range of block `b` among `rows` rows.
pub fn block_range(b: usize, rows: usize, block: usize) -> Range<usize> {
    b * block..((b + 1) * block).min(rows)
}

/// Sums `add(accumulator, range)` over all blocks of `rows` rows; `merge` adds one lane to another.
///
/// # Errors
/// Of the errors that `add` returns, that of the earliest block.
pub fn sum_blocks<A: Send>(
    rows: usize,
    block: usize,
    zero: impl Fn() -> A + Sync,
    add: impl Fn(&mut A, Range<usize>) -> Result<()> + Sync,
    merge: impl Fn(&mut A, A),
) -> Result<A> {
    let blocks = rows.div_ceil(block);
    let lanes: Vec<std::result::Result<A, (usize, Error)>> = (0..LANES.min(blocks.max(1)))
        .into_par_iter()
        .with_max_len(1)
        .map(|lane| {
            let mut sum = zero();
            for b in (lane..blocks).step_by(LANES) {
                add(&mut sum, block_range(b, rows, block)).map_err(|error| (b, error))?;
            }
            Ok(sum)
        })
        .collect();
    let mut sums = Vec::with_capacity(lanes.len());
    let mut failures = Vec::new();
    for lane in lanes {
        match lane {
            Ok(sum) => sums.push(sum),
            Err(failure) => failures.push(failure),
        }
    }
    if let Some((_, error)) = failures.into_iter().min_by_key(|(b, _)| *b) {
        return Err(error);
    }
    let mut sums = sums.into_iter();
    let mut total = sums.next().expect("there is at least one lane");
    for lane in sums {
        merge(&mut total, lane);
    }
    Ok(total)
}

/// [`sum_blocks`] over flat arrays of `len` numbers, for sums that cannot fail.
pub fn sum_arrays(rows: usize, len: usize, add: impl Fn(&mut [f64], Range<usize>) + Sync) -> Vec<f64> {
    let total = sum_blocks(
        rows,
        BLOCK,
        || vec![0.0; len],
        |sum, range| {
            add(sum, range);
            Ok(())
        },
        |total, lane| add_assign(total, &lane),
    );
    total.expect("adding arrays cannot fail")
}

/// Fills the rows of a row-major array, `width` numbers a row, block by block.
pub fn fill_rows(out: &mut [f64], width: usize, fill: impl Fn(Range<usize>, &mut [f64]) + Sync) {
    if width == 0 {
        return;
    }
    let rows = out.len() / width;
    out.par_chunks_mut(BLOCK * width)
        .enumerate()
        .for_each(|(b, chunk)| fill(block_range(b, rows, BLOCK), chunk));
}

/// `total += part`, element by element.
pub fn add_assign(total: &mut [f64], part: &[f64]) {
    for (t, p) in total.iter_mut().zip(part) {
        *t += p;
    }
}

/// Runs `work` on a pool of exactly `threads` threads.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::parallel;
/// let sum = |threads| parallel::with_threads(threads, || {
///     parallel::sum_arrays(10_000, 1, |s, rows| rows.for_each(|i| s[0] += 1.0 / (1.0 + i as f64)))[0]
/// });
/// assert_eq!(sum(1).to_bits(), sum(3).to_bits());
/// ```
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("a thread pool can be built").install(work)
}

/// A hot loop that [`vectorised`] compiles for the processor at hand. `run` must carry `#[inline(always)]`, and so must
/// what it calls in its loops: code that is not inlined keeps the narrow registers of the oldest processor.
pub trait Kernel {
    /// What the loop returns.
    type Output;
    /// The loop.
    fn run(self) -> Self::Output;
}

/// Runs a loop compiled for the widest vectors of this processor that the build knows. Nothing is reordered or fused, so
/// the result is the same on every processor.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::{Kernel, vectorised};
/// struct Triple<'a>(&'a mut [f64]);
/// impl Kernel for Triple<'_> {
///     type Output = ();
///     #[inline(always)]
///     fn run(self) {
///         self.0.iter_mut().for_each(|x| *x *= 3.0);
///     }
/// }
/// let mut v = vec![1.0; 100];
/// vectorised(Triple(&mut v));
/// assert_eq!(v[99], 3.0);
/// ```
#[inline]
pub fn vectorised<K: Kernel>(kernel: K) -> K::Output {
    struct Dispatched<K>(K);
    impl<K: Kernel> pulp::WithSimd for Dispatched<K> {
        type Output = K::Output;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _simd: S) -> K::Output {
            self.0.run()
        }
    }
    pulp::Arch::new().dispatch(Dispatched(kernel))
}
