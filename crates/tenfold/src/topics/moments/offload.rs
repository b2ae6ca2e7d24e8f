//! Products of M2 on a device: documents are sent in groups, one after the other, by rows and by columns.

use super::SecondMoment;
use tenfold_engine::device::{Device, Product};
use tenfold_engine::error::Result;
use tenfold_engine::linalg::counts::{for_each_group, to_single};
use tenfold_engine::linalg::{CountBlock, Csr, Mat, SymmetricOperator, Tall};

/// [`SecondMoment`] with Cᵀ D (C X) made by a device.
///
/// # Complexity
/// As [`SecondMoment`]; in every product the entries travel twice, 8 bytes each, since a corpus may be larger than any memory, and X and the
/// sum travel with every group.
pub(in crate::topics) struct Offloaded<'a> {
    pub moment: SecondMoment<'a>,
    pub device: &'a Device,
}

impl Offloaded<'_> {
    fn held<'m>(&self, matrix: &'m Csr) -> Result<Box<dyn Product + 'm>> {
        Ok(self.device.matrix(matrix)?.expect("a device that is required answers or says why not"))
    }
}

impl SymmetricOperator for Offloaded<'_> {
    fn dim(&self) -> usize {
        self.moment.dim()
    }

    fn apply(&self, x: &Mat) -> Result<Mat> {
        let SecondMoment { weighted, scale, progress, .. } = self.moment;
        let width = x.cols();
        let columns = Tall::from_vec(x.rows(), width, to_single(x, scale)).expect("X is a matrix");
        let mut sum = vec![0.0; x.rows() * width];
        for_each_group(weighted.counts, &weighted.chosen, |numbers, blocks| {
            progress.check()?;
            let (mut rows, mut factors) = (Rows::default(), Vec::new());
            for (&b, block) in numbers.iter().zip(blocks) {
                rows.add(block, &weighted.weighing.damping.levels(block));
                let lengths = weighted.weighing.lengths(b, block);
                factors.extend(lengths.iter().map(|&l| weighted.weighing.divided(l)[1] as f32));
            }
            let matrix: Csr = Csr::new(x.rows(), rows.starts, rows.words, rows.values)?;
            let mut y = self.held(&matrix)?.multiply(&columns)?;
            let scaled = y.as_mut_slice().chunks_exact_mut(width.max(1)).zip(&factors);
            scaled.for_each(|(row, w)| row.iter_mut().for_each(|v| *v *= w));
            let found = self.held(&matrix.transpose())?.multiply(&y)?;
            sum.iter_mut().zip(found.as_slice()).for_each(|(s, v)| *s += f64::from(*v));
            progress.advance(blocks.len() as u64);
            Ok(())
        })?;
        Ok(self.moment.corrected(x, &sum))
    }
}

/// Documents as sparse rows.
struct Rows {
    starts: Vec<usize>,
    words: Vec<u32>,
    values: Vec<f64>,
}

impl Default for Rows {
    fn default() -> Self {
        Self { starts: vec![0], words: Vec::new(), values: Vec::new() }
    }
}

impl Rows {
    fn add(&mut self, block: &CountBlock, levels: &[f32]) {
        for i in 0..block.rows() {
            for entry in block.row(i) {
                self.words.push(block.words()[entry.at as usize]);
                self.values.push(f64::from(levels[entry.code as usize]));
            }
            self.starts.push(self.words.len());
        }
    }
}
