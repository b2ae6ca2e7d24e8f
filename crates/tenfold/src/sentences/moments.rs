//! The second moments of words: how often two stand near each other, and the vectors that this gives them.
//!
//! With C(w, c) the weighted number of times that w and c stand within a window, r = C·1 and q ∝ r^smoothing,
//!
//! PPMI(w, c) = max(0, ln C(w, c) − ln r(w) − ln q(c) − ln shift) ≈ U diag(s) Vᵀ,
//!
//! and the vector of w is row w of U diag(s)^power (Levy, Goldberg and Dagan, 2015, equations 2, 3 and 9). The thesis takes
//! principal components of one-hot words instead; their second moment is diagonal, so these are the frequent words.

use super::data::Text;
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::{Csr, Mat, RangeFinder, WithTranspose};
use tenfold_engine::progress::Progress;

/// Words of sentences whose pairs one task sorts: with a window of 10 they take some tens of megabytes.
const TOGETHER: usize = 1 << 16;

/// Directions below this share of the largest singular value are rounding.
const FLOOR: f64 = 1e-9;

/// How words are counted together, and what becomes of the counts.
///
/// # Example
/// ```
/// use tenfold::sentences::Cooccurrence;
/// assert_eq!(Cooccurrence::default().window, 10);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cooccurrence {
    /// Length of the vectors.
    pub dimensions: usize,
    /// How far apart two words may stand; a pair d apart weighs (window + 1 − d)/window.
    pub window: usize,
    /// Power that the contexts' frequencies are raised to: below 1, rare contexts count for less.
    pub smoothing: f64,
    /// What the ratio C(w, c)/(r(w) q(c)) must exceed.
    pub shift: f64,
    /// Power of the singular values in the vectors.
    pub power: f64,
}

impl Default for Cooccurrence {
    fn default() -> Self {
        Self { dimensions: 100, window: 10, smoothing: 0.75, shift: 1.0, power: 0.5 }
    }
}

/// Vectors as they come out of the moments.
#[derive(Debug, Clone)]
pub(super) struct Learned {
    /// Words × dimensions.
    pub(super) vectors: Mat,
    /// Singular values, largest first.
    pub(super) spectrum: Vec<f64>,
    /// Pairs of words with a positive entry.
    pub(super) entries: usize,
}

crate::checkpoint::keep! { Learned { vectors, spectrum, entries } }

impl Cooccurrence {
    /// Vectors for the words of a text. Fewer dimensions than asked for when the words have no more.
    pub(super) fn learn(&self, text: &Text, seed: u64, progress: &dyn Progress) -> Result<Learned> {
        progress.stage("counting neighbours", 0);
        let pairs = Pairs::of(text, self.window, progress)?;
        let ppmi = self.ppmi(&pairs, text.vocabulary().len());
        drop(pairs);
        progress.check()?;
        progress.stage("word vectors", 0);
        let asked = self.dimensions.min(ppmi.rows());
        // Spectra of words fall slowly: oversampling by half and four passes keep the directions that count exact.
        let finder = RangeFinder { power_passes: 4, seed, ..RangeFinder::default() };
        let found = finder.svd(&WithTranspose::new(&ppmi), asked)?;
        let largest = found.s.first().copied().unwrap_or(0.0);
        let rank = found.s.iter().take_while(|s| **s > FLOOR * largest).count();
        let mut vectors = found.u.first_cols(rank);
        let scales: Vec<f64> =
            (0..rank).map(|j| sign_of(&vectors, j) * found.s[j].powf(self.power)).collect();
        vectors.scale_cols(&scales);
        Ok(Learned { vectors, spectrum: found.s[..rank].to_vec(), entries: ppmi.entries() })
    }

    /// max(0, ln C − ln r − ln q − ln shift), without its zeros.
    fn ppmi(&self, pairs: &Pairs, words: usize) -> Csr {
        let mut sums = vec![0u64; words];
        pairs.each(|a, b, weight| sums[a] += weight * if a == b { 2 } else { 1 });
        pairs.each(|a, b, weight| sums[b] += if a == b { 0 } else { weight });
        let smooth = |r: &u64| if *r == 0 { 0.0 } else { (*r as f64).powf(self.smoothing) };
        let total: f64 = sums.iter().map(smooth).sum();
        let rows: Vec<f64> = sums.iter().map(|r| (*r as f64).ln() + self.shift.ln()).collect();
        let contexts: Vec<f64> = sums.iter().map(|r| (smooth(r) / total).ln()).collect();
        let value = |w: usize, c: usize, weight: u64| {
            let count = if w == c { 2 * weight } else { weight };
            (count as f64).ln() - rows[w] - contexts[c]
        };
        let mut lengths = vec![0usize; words + 1];
        let mut both =
            |w: usize, c: usize, weight: u64| lengths[w + 1] += usize::from(value(w, c, weight) > 0.0);
        pairs.each(|a, b, weight| {
            both(a, b, weight);
            if a != b {
                both(b, a, weight);
            }
        });
        for w in 0..words {
            lengths[w + 1] += lengths[w];
        }
        let (starts, mut next) = (lengths.clone(), lengths);
        let entries = starts[words];
        let (mut indices, mut values) = (vec![0u32; entries], vec![0.0; entries]);
        let mut put = |w: usize, c: usize, weight: u64| {
            let x = value(w, c, weight);
            if x > 0.0 {
                (indices[next[w]], values[next[w]]) = (c as u32, x);
                next[w] += 1;
            }
        };
        // Two walks keep the columns of every row ascending: first those before the row, then those from it on.
        pairs.each(|a, b, weight| {
            if a != b {
                put(b, a, weight)
            }
        });
        pairs.each(put);
        Csr::new(words, starts, indices, values).expect("rows are counted before they are filled")
    }
}

/// The sign that makes the largest entry of a column positive.
fn sign_of(m: &Mat, column: usize) -> f64 {
    let largest =
        (0..m.rows()).map(|i| m[(i, column)]).fold(0.0f64, |a, x| if x.abs() > a.abs() { x } else { a });
    if largest < 0.0 { -1.0 } else { 1.0 }
}

/// How often words stand near each other: for a ≤ b the sum of window + 1 − distance, in ascending order of (a, b). Sums are
/// whole numbers, so that parts of a text can be counted in any order and added.
#[derive(Debug, Clone, Default, PartialEq)]
struct Pairs {
    keys: Vec<u64>,
    weights: Vec<u64>,
}

impl Pairs {
    fn of(text: &Text, window: usize, progress: &dyn Progress) -> Result<Self> {
        let mut parts = Vec::new();
        let (mut first, mut words) = (0, 0);
        for i in 0..text.len() {
            words += text.sentence(i).len();
            if words >= TOGETHER {
                parts.push(first..i + 1);
                (first, words) = (i + 1, 0);
            }
        }
        parts.push(first..text.len());
        let counted = |part: std::ops::Range<usize>| {
            progress.check()?;
            Ok(Self::counted(part.map(|i| text.sentence(i)), window))
        };
        parts.into_par_iter().map(counted).try_reduce(Self::default, |a, b| Ok(a.merge(b)))
    }

    fn counted<'a>(sentences: impl Iterator<Item = &'a [u32]>, window: usize) -> Self {
        let mut all: Vec<(u64, u64)> = Vec::new();
        for sentence in sentences {
            for (i, &a) in sentence.iter().enumerate() {
                for (d, &b) in sentence[i + 1..].iter().take(window).enumerate() {
                    let key = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
                    all.push((key, (window - d) as u64));
                }
            }
        }
        all.sort_unstable();
        let mut out = Self::default();
        all.into_iter().for_each(|(key, weight)| out.push(key, weight));
        out
    }

    fn push(&mut self, key: u64, weight: u64) {
        match (self.keys.last(), self.weights.last_mut()) {
            (Some(last), Some(sum)) if *last == key => *sum += weight,
            _ => {
                self.keys.push(key);
                self.weights.push(weight);
            }
        }
    }

    fn merge(self, other: Self) -> Self {
        if self.keys.is_empty() {
            return other;
        }
        let mut out = Self::default();
        let (mut i, mut j) = (0, 0);
        while i < self.keys.len() || j < other.keys.len() {
            let ours = j == other.keys.len() || i < self.keys.len() && self.keys[i] <= other.keys[j];
            let (from, at) = if ours { (&self, &mut i) } else { (&other, &mut j) };
            out.push(from.keys[*at], from.weights[*at]);
            *at += 1;
        }
        out
    }

    fn each(&self, mut take: impl FnMut(usize, usize, u64)) {
        for (key, weight) in self.keys.iter().zip(&self.weights) {
            take((key >> 32) as usize, (key & 0xffff_ffff) as usize, *weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Cutting;
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::progress::Silent;

    fn text() -> Text {
        let lines: Vec<String> =
            (0..60).map(|i| format!("a{} b{} c{} a{} a{}", i % 3, i % 4, i % 5, i % 3, i % 7)).collect();
        Text::new(&lines, &Cutting::default(), 1).unwrap()
    }

    /// Every pair of places, by its definition.
    fn brute(text: &Text, window: usize) -> Mat {
        let d = text.vocabulary().len();
        let mut c = Mat::zeros(d, d);
        for s in 0..text.len() {
            let words = text.sentence(s);
            for i in 0..words.len() {
                for j in 0..words.len() {
                    let apart = i.abs_diff(j);
                    if apart > 0 && apart <= window {
                        c[(words[i] as usize, words[j] as usize)] += (window + 1 - apart) as f64;
                    }
                }
            }
        }
        c
    }

    #[test]
    fn ppmi_is_that_of_the_definition() {
        let text = text();
        for (window, smoothing, shift) in [(2, 0.75, 1.0), (4, 1.0, 2.0), (9, 0.5, 1.0)] {
            let choice = Cooccurrence { window, smoothing, shift, ..Cooccurrence::default() };
            let (c, d) = (brute(&text, window), text.vocabulary().len());
            let r: Vec<f64> = (0..d).map(|i| c.row(i).iter().sum()).collect();
            let total: f64 = r.iter().map(|x| x.powf(smoothing)).sum();
            let want = Mat::from_fn(d, d, |i, j| {
                let q = r[j].powf(smoothing) / total;
                if c[(i, j)] == 0.0 { 0.0 } else { (c[(i, j)] / (r[i] * q) / shift).ln().max(0.0) }
            });
            let got = choice.ppmi(&Pairs::of(&text, window, &Silent).unwrap(), d).to_dense();
            let mut difference = got;
            difference.add_scaled(-1.0, &want);
            assert!(difference.max_abs() < 1e-12, "{window} {smoothing} {shift}");
        }
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let text = text();
        let part = |range: std::ops::Range<usize>| Pairs::counted(range.map(|i| text.sentence(i)), 3);
        assert_eq!(part(0..17).merge(part(17..60)), part(0..60));
        assert_eq!(part(17..60).merge(part(0..17)), part(0..60));
    }

    #[test]
    fn vectors_are_singular_vectors_on_any_number_of_threads() {
        let text = text();
        let choice = Cooccurrence { dimensions: 5, power: 1.0, ..Cooccurrence::default() };
        let learn = |threads| with_threads(threads, || choice.learn(&text, 3, &Silent).unwrap());
        let (one, three) = (learn(1), learn(3));
        assert_eq!(one.vectors, three.vectors);
        let ppmi = choice.ppmi(&Pairs::of(&text, 10, &Silent).unwrap(), text.vocabulary().len()).to_dense();
        let exact = tenfold_engine::linalg::svd(&ppmi).unwrap();
        for (got, want) in one.spectrum.iter().zip(&exact.s) {
            assert!((got - want).abs() < 1e-6 * exact.s[0], "{got} {want}");
        }
        assert_eq!(one.vectors.cols(), 5);
    }
}
