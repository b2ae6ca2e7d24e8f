//! Products of M2 on a device: documents are sent in groups, which stay there as far as they fit.

use super::{SecondMoment, Weighted};
use tenfold_engine::device::{Gram, Group, RowGroups};
use tenfold_engine::error::Result;
use tenfold_engine::linalg::counts::{groups, to_single};
use tenfold_engine::linalg::{Mat, SymmetricOperator, Tall};
use tenfold_engine::progress::Progress;

/// [`SecondMoment`] with Cᵀ D (C X) made by a device.
///
/// # Complexity
/// As [`SecondMoment`]; X and the sum travel once a product. The entries travel twice, 8 bytes each, in the first product, and in every
/// later one those that did not fit.
pub(in crate::topics) struct Offloaded<'a> {
    pub moment: SecondMoment<'a>,
    pub pairs: Box<dyn Gram + 'a>,
}

impl SymmetricOperator for Offloaded<'_> {
    fn dim(&self) -> usize {
        self.moment.dim()
    }

    fn apply(&self, x: &Mat) -> Result<Mat> {
        let columns = Tall::from_vec(x.rows(), x.cols(), to_single(x, self.moment.scale));
        let sum = self.pairs.multiply(&columns.expect("X is a matrix"))?;
        Ok(self.moment.corrected(x, &sum))
    }
}

/// Documents as a device takes them.
pub(in crate::topics) struct Documents<'a> {
    weighted: &'a Weighted<'a>,
    groups: Vec<&'a [usize]>,
    progress: &'a dyn Progress,
}

impl<'a> Documents<'a> {
    pub fn new(moment: &SecondMoment<'a>) -> Self {
        let (weighted, progress) = (moment.weighted, moment.progress);
        Self { weighted, groups: groups(weighted.counts, &weighted.chosen).collect(), progress }
    }
}

impl RowGroups for Documents<'_> {
    fn cols(&self) -> usize {
        self.weighted.counts.cols()
    }

    fn groups(&self) -> usize {
        self.groups.len()
    }

    fn group(&self, at: usize) -> Result<Group> {
        let (weighing, counts) = (&self.weighted.weighing, self.weighted.counts);
        let mut group =
            Group { starts: vec![0], columns: Vec::new(), values: Vec::new(), weights: Vec::new() };
        for &b in self.groups[at] {
            let block = counts.block(b)?;
            let levels = weighing.damping.levels(&block);
            for i in 0..block.rows() {
                let row = block.row(i);
                group.columns.extend(row.iter().map(|entry| block.words()[entry.at as usize]));
                group.values.extend(row.iter().map(|entry| levels[entry.code as usize]));
                group.starts.push(group.columns.len() as u32);
            }
            let lengths = weighing.lengths(b, &block);
            group.weights.extend(lengths.iter().map(|&l| weighing.divided(l)[1] as f32));
        }
        Ok(group)
    }

    fn passed(&self, at: usize) -> Result<()> {
        self.progress.advance(self.groups[at].len() as u64);
        self.progress.check()
    }
}
