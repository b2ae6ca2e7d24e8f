//! Passes over counts: sums that are made window by window, wherever the windows lie.
//!
//! A window is a run of blocks. What a pass sums over one window is made by one machine, in one order, in single or double
//! precision; windows are added in twice the double precision and rounded once. So the result does not depend on who
//! summed which windows, nor on the order in which they were added: one machine, or many.

use super::Counts;
use crate::error::{Error, Result};
use crate::progress::Progress;
use rayon::prelude::*;

/// One array of what a pass sums over a window.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// In single precision.
    Single(Vec<f32>),
    /// In double precision.
    Double(Vec<f64>),
}

/// A pass over counts: what is summed over a window, and how it is told to others.
pub trait Pass: Sync {
    /// The sums over the blocks `chosen`, all of one window unless the pass is exact; the same arrays for every window.
    ///
    /// # Errors
    /// What the counts or the listener say.
    fn window(&self, counts: &dyn Counts, chosen: &[usize], progress: &dyn Progress) -> Result<Vec<Part>>;

    /// Whether every number is added without rounding, so that windows need not be summed one by one.
    fn exact(&self) -> bool {
        false
    }

    /// The pass in bytes, for windows that lie elsewhere.
    fn to_bytes(&self) -> Vec<u8>;
}

/// Whoever holds the windows of counts that do not lie here.
pub trait Elsewhere: Sync {
    /// The sums of a pass over the blocks `chosen`.
    ///
    /// # Errors
    /// What happened there.
    fn sum(&self, pass: &[u8], chosen: &[usize], progress: &dyn Progress) -> Result<Sums>;

    /// What a question brings from every window that holds some of the blocks `chosen`, windows in order.
    ///
    /// # Errors
    /// What happened there.
    fn collect(&self, question: &[u8], chosen: &[usize], progress: &dyn Progress) -> Result<Vec<Vec<u8>>>;
}

/// The sums of a pass over the blocks `chosen`, which ascend.
///
/// # Errors
/// What the counts or the listener say.
pub fn sum(
    pass: &dyn Pass,
    counts: &dyn Counts,
    chosen: &[usize],
    progress: &dyn Progress,
) -> Result<Vec<Vec<f64>>> {
    if let Some(elsewhere) = counts.elsewhere() {
        let sums = elsewhere.sum(&pass.to_bytes(), chosen, progress)?;
        progress.advance(chosen.len() as u64);
        return Ok(sums.rounded());
    }
    let mut sums = Sums::default();
    if pass.exact() || chosen.is_empty() {
        sums.add(pass.window(counts, chosen, progress)?);
        return Ok(sums.rounded());
    }
    for window in by_window(counts, chosen) {
        sums.add(pass.window(counts, window, progress)?);
    }
    Ok(sums.rounded())
}

/// The runs of `chosen` blocks, which ascend, that lie in one window each.
pub fn by_window<'c>(counts: &dyn Counts, mut chosen: &'c [usize]) -> Vec<&'c [usize]> {
    let mut runs = Vec::new();
    for window in counts.windows() {
        let (own, rest) = chosen.split_at(chosen.partition_point(|&b| b < window.end));
        chosen = rest;
        if !own.is_empty() {
            runs.push(own);
        }
    }
    runs
}

/// Arrays of sums, each number held as the unevaluated sum of two: 106 bits.
///
/// # Example
/// ```
/// use tenfold_engine::linalg::counts::{Part, Sums};
/// let mut sums = Sums::default();
/// for x in [1e20, 3.0, -1e20] {
///     sums.add(vec![Part::Double(vec![x])]);
/// }
/// assert_eq!(sums.rounded(), [[3.0]]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sums {
    arrays: Vec<Array>,
}

/// Numbers high + low; `low` is empty while all of it is zero.
#[derive(Debug, Clone, Default, PartialEq)]
struct Array {
    high: Vec<f64>,
    low: Vec<f64>,
}

/// Numbers that one task adds.
const NUMBERS_A_TASK: usize = 1 << 15;

impl Sums {
    /// Adds the sums of one more window.
    ///
    /// # Panics
    /// When the arrays are of other lengths.
    pub fn add(&mut self, parts: Vec<Part>) {
        if self.arrays.is_empty() {
            let wide = |part| match part {
                Part::Single(x) => x.par_iter().map(|x| f64::from(*x)).collect(),
                Part::Double(x) => x,
            };
            self.arrays = parts.into_iter().map(|part| Array { high: wide(part), low: Vec::new() }).collect();
            return;
        }
        assert_eq!(self.arrays.len(), parts.len(), "windows give the same arrays");
        for (array, part) in self.arrays.iter_mut().zip(parts) {
            match part {
                Part::Single(x) => array.add(&x, |x| f64::from(*x), &[]),
                Part::Double(x) => array.add(&x, |x| *x, &[]),
            }
        }
    }

    /// Adds the sums of other windows.
    ///
    /// # Panics
    /// When the arrays are of other lengths.
    pub fn merge(&mut self, other: Self) {
        // Who holds no window has summed nothing.
        if other.arrays.is_empty() {
            return;
        }
        if self.arrays.is_empty() {
            *self = other;
            return;
        }
        assert_eq!(self.arrays.len(), other.arrays.len(), "sums of the same pass");
        for (mine, theirs) in self.arrays.iter_mut().zip(other.arrays) {
            mine.add(&theirs.high, |x| *x, &theirs.low);
        }
    }

    /// The numbers, each rounded once.
    pub fn rounded(self) -> Vec<Vec<f64>> {
        let round = |array: Array| {
            let Array { mut high, low } = array;
            high.iter_mut().zip(&low).for_each(|(h, l)| *h += l);
            high
        };
        self.arrays.into_iter().map(round).collect()
    }

    /// All numbers, array by array: what [`Sums::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(self.arrays.len() as u64);
        for array in &self.arrays {
            parcel.doubles(&array.high);
            // Exact sums have nothing there.
            let low = if array.low.iter().all(|x| *x == 0.0) { &[][..] } else { &array.low };
            parcel.doubles(low);
        }
        parcel.0
    }

    /// `None` for bytes that are no sums.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut parcel = Unpacked(bytes);
        let mut arrays = Vec::new();
        for _ in 0..parcel.number()? {
            let (high, low) = (parcel.doubles()?, parcel.doubles()?);
            if !low.is_empty() && low.len() != high.len() {
                return None;
            }
            arrays.push(Array { high, low });
        }
        parcel.0.is_empty().then_some(Self { arrays })
    }

    /// Whether these are sums of the same pass as others.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let lengths = |s: &Self| s.arrays.iter().map(|a| a.high.len()).collect::<Vec<_>>();
        self.arrays.is_empty() || other.arrays.is_empty() || lengths(self) == lengths(other)
    }
}

impl Array {
    fn add<T: Sync>(&mut self, more: &[T], wide: impl Fn(&T) -> f64 + Sync, low: &[f64]) {
        assert_eq!(self.high.len(), more.len(), "windows give arrays of the same lengths");
        self.low.resize(self.high.len(), 0.0);
        let tasks = self.high.par_chunks_mut(NUMBERS_A_TASK).zip(self.low.par_chunks_mut(NUMBERS_A_TASK));
        tasks.zip(more.par_chunks(NUMBERS_A_TASK)).enumerate().for_each(|(task, ((high, lows), more))| {
            let theirs = low.get(task * NUMBERS_A_TASK..).unwrap_or_default();
            for (i, ((h, l), x)) in high.iter_mut().zip(lows).zip(more).enumerate() {
                let (sum, lost) = two_sum(*h, wide(x));
                let lost = lost + (*l + theirs.get(i).copied().unwrap_or(0.0));
                (*h, *l) = two_sum(sum, lost);
            }
        });
    }
}

/// a + b as it rounds, and what the rounding lost (Knuth's branch-free sum).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let back = sum - a;
    (sum, (a - (sum - back)) + (b - back))
}

/// Bytes in which passes travel: numbers and arrays one after the other, little-endian, arrays after their lengths.
#[derive(Debug, Clone, Default)]
pub struct Parcel(pub Vec<u8>);

impl Parcel {
    /// One whole number.
    pub fn number(&mut self, x: u64) {
        self.0.extend(x.to_le_bytes());
    }

    /// One number.
    pub fn double(&mut self, x: f64) {
        self.0.extend(x.to_le_bytes());
    }

    /// Bytes.
    pub fn bytes(&mut self, x: &[u8]) {
        self.number(x.len() as u64);
        self.0.extend(x);
    }

    /// Numbers in double precision.
    pub fn doubles(&mut self, x: &[f64]) {
        self.number(x.len() as u64);
        self.0.extend(x.iter().flat_map(|x| x.to_le_bytes()));
    }

    /// Numbers in single precision.
    pub fn singles(&mut self, x: &[f32]) {
        self.number(x.len() as u64);
        self.0.extend(x.iter().flat_map(|x| x.to_le_bytes()));
    }
}

/// What is left of a parcel's bytes while it is unpacked; everything is `None` when they are not what was packed.
#[derive(Debug, Clone)]
pub struct Unpacked<'a>(pub &'a [u8]);

impl<'a> Unpacked<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (own, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(own)
    }

    /// One whole number.
    pub fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// One number.
    pub fn double(&mut self) -> Option<f64> {
        Some(f64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Bytes.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    /// Numbers in double precision.
    pub fn doubles(&mut self) -> Option<Vec<f64>> {
        let length = usize::try_from(self.number()?).ok()?.checked_mul(8)?;
        let number = |b: &[u8]| f64::from_le_bytes(b.try_into().expect("eight bytes"));
        Some(self.take(length)?.chunks_exact(8).map(number).collect())
    }

    /// Numbers in single precision.
    pub fn singles(&mut self) -> Option<Vec<f32>> {
        let length = usize::try_from(self.number()?).ok()?.checked_mul(4)?;
        let number = |b: &[u8]| f32::from_le_bytes(b.try_into().expect("four bytes"));
        Some(self.take(length)?.chunks_exact(4).map(number).collect())
    }
}

/// Bytes that are not what was packed.
pub fn garbled() -> Error {
    Error::Source(
        "bytes that came from another process are not what was sent; use one version of tenfold everywhere"
            .into(),
    )
}
