//! Parallel work whose result does not depend on the number of threads.
//!
//! Samples are cut into blocks at fixed positions ([`BLOCK`] rows), block `b` always adds to lane
//! `b mod` [`LANES`], and lanes are added in order. Threads only decide who does a block, never where its
//! sum goes, so 1, 2, 3 or 8 threads, and any way of feeding the same rows, give the same bytes.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Sums `add(accumulator, range)` over all blocks of `rows` rows; `merge` adds one lane to another. Lanes are begun in order and
/// added as soon as those before them are there: no more of them are held than [`lanes_held`] says.
///
/// # Errors
/// Of the errors that `add` returns, that of the earliest block.
pub fn sum_blocks<A: Send>(
    rows: usize,
    block: usize,
    zero: impl Fn() -> A + Sync,
    add: impl Fn(&mut A, Range<usize>) -> Result<()> + Sync,
    merge: impl Fn(&mut A, A) + Sync,
) -> Result<A> {
    let blocks = rows.div_ceil(block);
    let lanes = LANES.min(blocks.max(1));
    let of = |lane: usize| -> std::result::Result<A, (usize, Error)> {
        let mut sum = zero();
        for b in (lane..blocks).step_by(LANES) {
            add(&mut sum, block_range(b, rows, block)).map_err(|error| (b, error))?;
        }
        Ok(sum)
    };
    let (next, arrived) = (AtomicUsize::new(0), Mutex::new(Arrived::default()));
    (0..lanes.min(rayon::current_num_threads())).into_par_iter().with_max_len(1).for_each(|_| {
        loop {
            let lane = next.fetch_add(1, Ordering::Relaxed);
            if lane >= lanes {
                break;
            }
            Arrived::take(&arrived, lane, of(lane), &merge);
        }
    });
    let Arrived { total, failure, .. } = arrived.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failure {
        Some((_, error)) => Err(error),
        None => Ok(total.expect("there is at least one lane")),
    }
}

/// Lanes of a sum that are held at the same time: one for each thread, the total, and one that waits for those before it.
pub fn lanes_held() -> usize {
    LANES.min(rayon::current_num_threads() + 2)
}

/// Lanes that are summed: those up to `next` together, later ones by themselves.
struct Arrived<A> {
    total: Option<A>,
    waiting: BTreeMap<usize, A>,
    next: usize,
    /// Whether a thread has the total and adds to it.
    adding: bool,
    /// The earliest block that failed.
    failure: Option<(usize, Error)>,
}

impl<A> Default for Arrived<A> {
    fn default() -> Self {
        Self { total: None, waiting: BTreeMap::new(), next: 0, adding: false, failure: None }
    }
}

impl<A> Arrived<A> {
    /// Adds a lane, and those that waited for it. While it adds, nothing is locked: adding may run in parallel itself, and a thread
    /// that waits there may be given another lane of the same sum.
    fn take(
        arrived: &Mutex<Self>,
        lane: usize,
        sum: std::result::Result<A, (usize, Error)>,
        merge: &impl Fn(&mut A, A),
    ) {
        let lock = || arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = lock();
        match sum {
            Ok(sum) => drop(held.waiting.insert(lane, sum)),
            Err(failure) if held.failure.as_ref().is_none_or(|earlier| failure.0 < earlier.0) => {
                held.failure = Some(failure);
            }
            Err(_) => {}
        }
        while !held.adding {
            let next = held.next;
            let Some(sum) = held.waiting.remove(&next) else { break };
            let Some(mut total) = held.total.take() else {
                (held.total, held.next) = (Some(sum), next + 1);
                continue;
            };
            held.adding = true;
            drop(held);
            merge(&mut total, sum);
            held = lock();
            (held.total, held.next, held.adding) = (Some(total), next + 1, false);
        }
    }
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
