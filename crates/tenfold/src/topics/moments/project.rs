//! Moments inside the span of a basis: sums that can be added to, merged, kept in a file.

use super::{Damping, Weighing, Weighted};
use crate::checkpoint::keep;
use crate::error::Result;
use rayon::prelude::*;
use std::borrow::Cow;
use tenfold_engine::linalg::counts::{
    Parcel, Part, Pass, Unpacked, add_transposed, for_each_group, sum, to_single,
};
use tenfold_engine::linalg::{CountBlock, Counts, Mat};
use tenfold_engine::progress::Progress;
use tenfold_engine::tensor::Tensor3;

/// Parts of the corpus whose moments are kept apart during a fit, so that halves of them show how stable topics are.
pub(crate) const SHARDS: usize = 8;

/// Weighted sums of first, second and third moments, uncorrected by α0, seen through a basis B (words × m).
///
/// Sums over documents, so two of the same basis merge by addition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Projected {
    /// B: scaled directions of words; zero rows for words that take no part.
    pub basis: Mat,
    /// Σ p.
    pub weight: f64,
    /// Documents that took part.
    pub documents: u64,
    /// Σ p c/ℓ for every word.
    pub first: Vec<f64>,
    /// The same through the basis, and Σ p · pairs: Bᵀ first and Bᵀ regression, but for sums that were brought over
    /// from another basis, where these are the consistent ones.
    pub mean: Vec<f64>,
    pub second: Mat,
    /// Σ p · pairs · B, words × m: also for words that take no part in B.
    pub regression: Mat,
    /// Bᵀ-projected triples where they are kept; none for a large m.
    pub third: Option<Tensor3>,
    /// The same by parts of the corpus; only right after gathering.
    pub shards: Vec<Shard>,
}

/// Moments of a part of the corpus. Diagonal corrections are the whole corpus's share.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shard {
    pub weight: f64,
    pub first: Vec<f64>,
    pub second: Mat,
    pub third: Option<Tensor3>,
}

keep! {
    Projected { basis, weight, documents, first, mean, second, regression, third, shards }
    Shard { weight, first, second, third }
}

impl Projected {
    /// Gives the arrays with a row for every word back, when no more than the small ones will be asked for.
    pub fn release(&mut self) {
        (self.basis, self.regression) = (Mat::zeros(0, 0), Mat::zeros(0, 0));
    }

    /// Adds the sums of other documents in the same basis.
    pub fn add(&mut self, other: &Self) {
        assert_eq!(self.basis, other.basis, "sums of the same basis");
        self.weight += other.weight;
        self.documents += other.documents;
        self.first.iter_mut().zip(&other.first).for_each(|(a, b)| *a += b);
        self.mean.iter_mut().zip(&other.mean).for_each(|(a, b)| *a += b);
        self.second.add_scaled(1.0, &other.second);
        self.regression.add_scaled(1.0, &other.regression);
        match (&mut self.third, &other.third) {
            (Some(mine), Some(theirs)) => mine.add_scaled(1.0, theirs),
            _ => self.third = None,
        }
    }
}

pub(super) fn symmetric(m: &Mat) -> Mat {
    Mat::from_fn(m.rows(), m.cols(), |i, j| 0.5 * (m[(i, j)] + m[(j, i)]))
}

/// Gathers the moments of `weighted` documents through `basis`, one pass; the third only when `third`.
///
/// # Complexity
/// 6·entries·m operations in single precision for the projections and, for the third moment,
/// (documents + 2·words)·m³/3 in double.
pub(crate) fn project(
    weighted: &Weighted<'_>,
    basis: Mat,
    third: bool,
    progress: &dyn Progress,
) -> Result<Projected> {
    let (words, m) = (basis.rows(), basis.cols());
    let columns = Cow::Owned(to_single(&basis, &vec![1.0; words]));
    let pass = Gathering { weighing: Cow::Borrowed(&weighted.weighing), columns, m, third };
    let mut sums = sum(&pass, weighted.counts, &weighted.chosen, progress)?;
    let shards =
        sums.split_off(2).into_iter().map(|numbers| Shard::from_numbers(m, third, numbers)).collect();
    let back: Vec<Mat> = sums.into_iter().map(|b| Mat::from_vec(b.len() / m.max(1), m, b)).collect();
    let back: [Mat; 2] = back.try_into().expect("pairs and triples");
    finish(weighted, basis, back, shards)
}

/// The pass of [`project`]: R = Cᵀ(w2 Y) and G = Cᵀ(w3 Y), pairs with, and triples contracted to, one free word; then the
/// moments of the shards.
pub(in crate::topics) struct Gathering<'a> {
    pub weighing: Cow<'a, Weighing>,
    /// B, words × m.
    pub columns: Cow<'a, [f32]>,
    pub m: usize,
    pub third: bool,
}

impl Gathering<'_> {
    pub const TAG: u64 = 13;

    pub fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let weighing = Cow::Owned(Weighing::unpack(parcel)?);
        let (m, third) = (parcel.number()? as usize, parcel.number()? == 1);
        Some(Self { weighing, columns: Cow::Owned(parcel.singles()?), m, third })
    }
}

impl Pass for Gathering<'_> {
    fn window(
        &self,
        counts: &dyn Counts,
        chosen: &[usize],
        progress: &dyn Progress,
    ) -> tenfold_engine::error::Result<Vec<Part>> {
        let (m, weighing) = (self.m, &self.weighing);
        let length = self.columns.len();
        let mut back = [vec![0.0f32; length], vec![0.0f32; if self.third { length } else { 0 }]];
        let mut shards: Vec<Shard> = (0..SHARDS).map(|_| Shard::zero(m, self.third)).collect();
        for_each_group(counts, chosen, |numbers, blocks| {
            progress.check()?;
            let ys: Vec<Vec<f32>> =
                blocks.par_iter().map(|b| forward(b, weighing.damping, &self.columns, m)).collect();
            let lengths: Vec<Cow<'_, [f32]>> =
                numbers.iter().zip(blocks).map(|(&b, block)| weighing.lengths(b, block)).collect();
            // Every block belongs to one shard, and a shard adds its blocks in order.
            shards.par_iter_mut().enumerate().try_for_each(|(s, shard)| {
                let mine = || (0..blocks.len()).filter(|&i| numbers[i] % SHARDS == s);
                let rows: Vec<f64> = mine().flat_map(|i| ys[i].iter().map(|&y| f64::from(y))).collect();
                let lengths: Vec<f32> = mine().flat_map(|i| lengths[i].iter().copied()).collect();
                shard.add(&Mat::from_vec(lengths.len(), m, rows), &lengths, weighing)
            })?;
            for (order, out) in back.iter_mut().enumerate().filter(|(_, out)| !out.is_empty()) {
                let scaled = scale_rows(&ys, &lengths, |l| weighing.divided(l)[order + 1] as f32);
                add_transposed(blocks, |c| weighing.damping.of(c), &scaled, m, out);
            }
            progress.advance(blocks.len() as u64);
            Ok(())
        })?;
        let shards = shards.into_iter().map(|shard| Part::Double(shard.into_numbers()));
        Ok(back.map(Part::Single).into_iter().chain(shards).collect())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        self.weighing.pack(&mut parcel);
        parcel.number(self.m as u64);
        parcel.number(u64::from(self.third));
        parcel.singles(&self.columns);
        parcel.0
    }
}

fn forward(block: &CountBlock, damping: Damping, basis: &[f32], m: usize) -> Vec<f32> {
    let damped = damping.levels(block);
    let mut y = vec![0.0f32; block.rows() * m];
    block.forward(&damped, basis, m, &mut y);
    y
}

fn scale_rows(
    ys: &[Vec<f32>],
    lengths: &[Cow<'_, [f32]>],
    weight: impl Fn(f32) -> f32 + Sync,
) -> Vec<Vec<f32>> {
    (ys.par_iter().zip(lengths))
        .map(|(y, lengths)| {
            let mut out = y.clone();
            let m = y.len() / lengths.len().max(1);
            for (row, &l) in out.chunks_exact_mut(m.max(1)).zip(lengths.iter()) {
                let w = weight(l);
                row.iter_mut().for_each(|v| *v *= w);
            }
            out
        })
        .collect()
}

impl Shard {
    fn zero(m: usize, third: bool) -> Self {
        let third = third.then(|| Tensor3::zeros(m));
        Self { weight: 0.0, first: vec![0.0; m], second: Mat::zeros(m, m), third }
    }

    /// All numbers one after the other.
    fn into_numbers(self) -> Vec<f64> {
        let third = self.third.as_ref().map_or(&[][..], Tensor3::as_slice);
        [&[self.weight], &self.first[..], self.second.as_slice(), third].concat()
    }

    fn from_numbers(m: usize, third: bool, mut numbers: Vec<f64>) -> Self {
        let packed = numbers.split_off(1 + m + m * m);
        let third = third.then(|| Tensor3::from_packed(m, packed).expect("a tensor of this side"));
        let second = Mat::from_vec(m, m, numbers.split_off(1 + m));
        Self { weight: numbers[0], first: numbers.split_off(1), second, third }
    }

    /// Adds projected documents `y` of these lengths.
    fn add(&mut self, y: &Mat, lengths: &[f32], weighing: &Weighing) -> tenfold_engine::error::Result<()> {
        self.weight += lengths.iter().map(|&l| weighing.weight(l)).sum::<f64>();
        let weights: Vec<[f64; 3]> = lengths.iter().map(|&l| weighing.divided(l)).collect();
        let column = |i: usize| weights.iter().map(|w| w[i]).collect::<Vec<f64>>();
        let first = y.tr_matvec(&column(0));
        self.first.iter_mut().zip(&first).for_each(|(a, b)| *a += b);
        let mut scaled = y.clone();
        scaled.scale_rows(&column(1));
        self.second.add_scaled(1.0, &y.tr_matmul(&scaled));
        if let Some(third) = &mut self.third {
            third.add_scaled(1.0, &Tensor3::from_samples(y, Some(&column(2)))?);
        }
        Ok(())
    }
}

/// Takes repeated words out of the sums: the diagonal terms, summed per word first.
fn finish(
    weighted: &Weighted<'_>,
    basis: Mat,
    [mut pairs, mut triples]: [Mat; 2],
    mut shards: Vec<Shard>,
) -> Result<Projected> {
    let [first, second, third] = &weighted.sums;
    let mut diagonal = basis.clone();
    diagonal.scale_rows(second);
    pairs.add_scaled(-1.0, &diagonal);
    let total = weighted.total.max(f64::MIN_POSITIVE);
    let doubled = basis.tr_matmul(&diagonal);
    shards.iter_mut().for_each(|s| s.second.add_scaled(-s.weight / total, &doubled));
    let mut sum = None;
    if triples.rows() > 0 {
        // −Σ_w sym(B_w⊗B_w⊗G_w) + 2 Σ_w D3_w B_w⊗³ in one: sym(b⊗b⊗b) = 3 b⊗³.
        let mut own = basis.clone();
        own.scale_rows(&third.iter().map(|d| -2.0 / 3.0 * d).collect::<Vec<_>>());
        triples.add_scaled(1.0, &own);
        let mut correction = Tensor3::zeros(basis.cols());
        correction.add_scaled(-1.0, &Tensor3::from_mixed(&basis, &triples, None)?);
        let mut all = correction.clone();
        for shard in &mut shards {
            let mine = shard.third.as_mut().expect("shards keep thirds when the whole does");
            all.add_scaled(1.0, mine);
            mine.add_scaled(shard.weight / total, &correction);
        }
        sum = Some(all);
    }
    let documents = weighted.documents as u64;
    let (weight, first) = (weighted.total, first.clone());
    // Single precision is what a model file keeps and what the sums above carry.
    let regression = pairs.map(|x| f64::from(x as f32));
    let (mean, second) = (basis.tr_matvec(&first), symmetric(&basis.tr_matmul(&regression)));
    Ok(Projected { basis, weight, documents, first, mean, second, regression, third: sum, shards })
}
