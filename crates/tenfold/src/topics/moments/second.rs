//! M2 as an operator: products with skinny matrices, one pass over the corpus each.

use super::{Weighing, Weighted};
use rayon::prelude::*;
use std::borrow::Cow;
use tenfold_engine::error::Result;
use tenfold_engine::linalg::counts::{
    Parcel, Part, Pass, Unpacked, add_transposed, for_each_group, sum, to_single,
};
use tenfold_engine::linalg::{Counts, Mat, SymmetricOperator};
use tenfold_engine::progress::Progress;

/// S (E[pairs] − α0/(α0+1) M1 M1ᵀ) S with the words' scales S.
///
/// # Complexity
/// A product of width m takes 4·entries·m operations in single precision; Y = C S X is held for some thousands of
/// documents only.
pub(in crate::topics) struct SecondMoment<'a> {
    pub weighted: &'a Weighted<'a>,
    pub scale: &'a [f64],
    pub alpha0: f64,
    pub progress: &'a dyn Progress,
}

impl SymmetricOperator for SecondMoment<'_> {
    fn dim(&self) -> usize {
        self.scale.len()
    }

    fn apply(&self, x: &Mat) -> Result<Mat> {
        let Weighted { counts, weighing, chosen, .. } = self.weighted;
        let columns = Cow::Owned(to_single(x, self.scale));
        let pass = Product { weighing: Cow::Borrowed(weighing), columns, width: x.cols() };
        let sums = sum(&pass, *counts, chosen, self.progress)?;
        Ok(self.corrected(x, &sums[0]))
    }
}

/// The pass for Cᵀ D C X, where D holds p/(ℓ(ℓ−1)) of every document.
pub(in crate::topics) struct Product<'a> {
    pub weighing: Cow<'a, Weighing>,
    /// X, words × width.
    pub columns: Cow<'a, [f32]>,
    pub width: usize,
}

impl Product<'_> {
    pub const TAG: u64 = 12;

    pub fn unpack(parcel: &mut Unpacked<'_>) -> Option<Self> {
        let weighing = Cow::Owned(Weighing::unpack(parcel)?);
        Some(Self { weighing, width: parcel.number()? as usize, columns: Cow::Owned(parcel.singles()?) })
    }
}

impl Pass for Product<'_> {
    fn window(&self, counts: &dyn Counts, chosen: &[usize], progress: &dyn Progress) -> Result<Vec<Part>> {
        let (width, weighing) = (self.width, &self.weighing);
        let mut z = vec![0.0f32; self.columns.len()];
        for_each_group(counts, chosen, |numbers, blocks| {
            progress.check()?;
            let ys: Vec<Vec<f32>> = (blocks.par_iter().zip(numbers))
                .map(|(block, &b)| {
                    let damped = weighing.damping.levels(block);
                    let mut y = vec![0.0f32; block.rows() * width];
                    block.forward(&damped, &self.columns, width, &mut y);
                    for (row, &l) in y.chunks_exact_mut(width).zip(weighing.lengths(b, block).iter()) {
                        let w = weighing.divided(l)[1] as f32;
                        row.iter_mut().for_each(|v| *v *= w);
                    }
                    y
                })
                .collect();
            add_transposed(blocks, |c| weighing.damping.of(c), &ys, width, &mut z);
            progress.advance(blocks.len() as u64);
            Ok(())
        })?;
        Ok(vec![Part::Single(z)])
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut parcel = Parcel::default();
        parcel.number(Self::TAG);
        self.weighing.pack(&mut parcel);
        parcel.number(self.width as u64);
        parcel.singles(&self.columns);
        parcel.0
    }
}

impl SecondMoment<'_> {
    /// S (z/Σp − D2 S x/Σp − α0/(α0+1) M1 (M1ᵀ S x)).
    pub(super) fn corrected(&self, x: &Mat, z: &[f64]) -> Mat {
        let (width, total) = (x.cols(), self.weighted.total.max(f64::MIN_POSITIVE));
        let (first, shift) = (self.weighted.first(), self.alpha0 / (self.alpha0 + 1.0));
        let diagonal = &self.weighted.sums[1];
        let weights: Vec<f64> = first.iter().zip(self.scale).map(|(m, s)| m * s).collect();
        let mean = x.tr_matvec(&weights);
        let mut out = Mat::zeros(x.rows(), width);
        if width == 0 {
            return out;
        }
        out.as_mut_slice().par_chunks_mut(width * 512).enumerate().for_each(|(task, chunk)| {
            for (i, row) in chunk.chunks_exact_mut(width).enumerate() {
                let w = task * 512 + i;
                let s = self.scale[w];
                if s == 0.0 {
                    continue;
                }
                let (diagonal, drop) = (diagonal[w] * s / total, shift * first[w]);
                for (j, value) in row.iter_mut().enumerate() {
                    let raw = z[w * width + j] / total;
                    *value = s * (raw - diagonal * x[(w, j)] - drop * mean[j]);
                }
            }
        });
        out
    }
}
