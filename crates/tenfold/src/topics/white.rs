//! Documents seen through white directions: the third moment for many topics, never formed.

use super::moments::{Projected, Weighted, Whitened};
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::counts::{add_transposed, for_each_group, to_single};
use tenfold_engine::linalg::{Mat, Rows};
use tenfold_engine::progress::Progress;
use tenfold_engine::tensor::{Implicit, Term};

/// Y = C B W in single precision, with what the diagonal terms of the triples need.
///
/// # Complexity
/// Four bytes for every document and topic; a contraction with k columns costs 4·(documents + 2·words)·k² operations.
pub(super) struct WhiteRows {
    rows: Single,
    /// p/(ℓ(ℓ−1)(ℓ−2)) of every row, divided by Σp.
    weights: Vec<f64>,
    /// B W, words × k.
    words: Mat,
    /// Σ_t w_t c_tw y_t − ⅔ Σ_t w_t c_tw (B W)_w: with it one mixed term holds both corrections.
    once: Mat,
}

struct Single {
    data: Vec<f32>,
    cols: usize,
}

impl Rows for Single {
    fn rows(&self) -> usize {
        self.data.len() / self.cols.max(1)
    }
    fn cols(&self) -> usize {
        self.cols
    }
    fn read_rows(&self, start: usize, out: &mut [f64]) -> tenfold_engine::error::Result<()> {
        let from = &self.data[start * self.cols..];
        out.iter_mut().zip(from).for_each(|(o, x)| *o = f64::from(*x));
        Ok(())
    }
}

impl WhiteRows {
    pub fn project(
        weighted: &Weighted<'_>,
        moments: &Projected,
        white: &Whitened,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let words = moments.basis.matmul(&white.white);
        let k = words.cols();
        // Rows of a multiple of eight numbers keep the products in whole registers.
        let width = k.next_multiple_of(8);
        let padded = Mat::from_fn(words.rows(), width, |i, j| if j < k { words[(i, j)] } else { 0.0 });
        let single = to_single(&padded, &vec![1.0; words.rows()]);
        let by = 1.0 / weighted.total.max(f64::MIN_POSITIVE);
        let mut back = vec![0.0f32; words.rows() * width];
        let (mut data, mut weights) = (Vec::new(), Vec::new());
        for_each_group(weighted.counts, &weighted.chosen, |range, blocks| {
            progress.check()?;
            let mut ys: Vec<Vec<f32>> = (blocks.par_iter())
                .map(|block| {
                    let damped = weighted.damping.levels(block);
                    let mut y = vec![0.0f32; block.rows() * width];
                    block.forward(&damped, &single, width, &mut y);
                    y
                })
                .collect();
            for (y, lengths) in ys.iter_mut().zip(&weighted.lengths[range]) {
                for (row, &l) in y.chunks_exact_mut(width).zip(lengths) {
                    let w = weighted.divided(l)[2] * by;
                    weights.push(w);
                    data.extend_from_slice(&row[..k]);
                    row.iter_mut().for_each(|v| *v *= w as f32);
                }
            }
            add_transposed(blocks, |c| weighted.damping.of(c), &ys, width, &mut back);
            progress.advance(blocks.len() as u64);
            Ok(())
        })?;
        let third = &weighted.sums[2];
        let once = Mat::from_fn(words.rows(), k, |w, j| {
            f64::from(back[w * width + j]) - 2.0 / 3.0 * by * third[w] * words[(w, j)]
        });
        Ok(Self { rows: Single { data, cols: k }, weights, words, once })
    }

    /// M3(W, W, W).
    pub fn tensor(&self, white: &Whitened) -> Implicit<'_> {
        let mut terms = white.corrections();
        terms.push(Term::Powers { samples: &self.rows, weights: Some(&self.weights), scale: 1.0 });
        terms.push(Term::Mixed { twice: &self.words, once: &self.once, weights: None, scale: -1.0 });
        Implicit::new(3, self.words.cols(), terms)
    }
}
