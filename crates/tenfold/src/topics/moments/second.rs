//! M2 as an operator: products with skinny matrices, one pass over the corpus each.

use super::Weighted;
use rayon::prelude::*;
use tenfold_engine::error::Result;
use tenfold_engine::linalg::counts::{add_transposed, for_each_group, to_single};
use tenfold_engine::linalg::{Mat, SymmetricOperator};
use tenfold_engine::progress::Progress;

/// S (E[pairs] − α0/(α0+1) M1 M1ᵀ) S with the words' scales S.
///
/// # Complexity
/// A product of width m takes 4·entries·m operations in single precision; Y = C S X is held for some thousands of
/// documents only.
pub(crate) struct SecondMoment<'a> {
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
        let (width, weighted) = (x.cols(), self.weighted);
        let scaled = to_single(x, self.scale);
        let mut z = vec![0.0f32; scaled.len()];
        for_each_group(weighted.counts, &weighted.chosen, |range, blocks| {
            self.progress.check()?;
            let ys: Vec<Vec<f32>> = (blocks.par_iter().zip(&weighted.lengths[range]))
                .map(|(block, lengths)| {
                    let damped = weighted.damping.levels(block);
                    let mut y = vec![0.0f32; block.rows() * width];
                    block.forward(&damped, &scaled, width, &mut y);
                    for (row, &l) in y.chunks_exact_mut(width).zip(lengths) {
                        let w = weighted.divided(l)[1] as f32;
                        row.iter_mut().for_each(|v| *v *= w);
                    }
                    y
                })
                .collect();
            add_transposed(blocks, |c| weighted.damping.of(c), &ys, width, &mut z);
            self.progress.advance(blocks.len() as u64);
            Ok(())
        })?;
        Ok(self.corrected(x, &z))
    }
}

impl SecondMoment<'_> {
    /// S (z/Σp − D2 S x/Σp − α0/(α0+1) M1 (M1ᵀ S x)).
    fn corrected(&self, x: &Mat, z: &[f32]) -> Mat {
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
                    let raw = f64::from(z[w * width + j]) / total;
                    *value = s * (raw - diagonal * x[(w, j)] - drop * mean[j]);
                }
            }
        });
        out
    }
}
