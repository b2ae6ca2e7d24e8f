//! Sums of products of columns, a strip of them at a time: those of a few variables with all that follow.
//!
//! A strip is used up before its memory is needed again, so that the whole square of columns never exists. A strip is
//! made either by multiplying blocks of rows as matrices, or, when rows are sparse, by going through the rows in which each
//! of its columns stands. Both add samples in a fixed order.

use super::layout::{BLOCKS, Layout, block_of, members};
use rayon::prelude::*;
use std::ops::Range;
use tenfold_engine::linalg::add_leading_gram;

/// Columns of a strip when matrices are multiplied: enough that filling rows costs little beside multiplying them.
const LEAD: usize = 256;

/// Numbers in a block of rows that is multiplied at once: 8 MB.
const PANEL: usize = 1 << 20;

/// The products of the columns of some variables with all columns from theirs on, for every jackknife block.
pub(super) struct Strip {
    first: usize,
    lead: usize,
    cols: usize,
    sums: Vec<f64>,
}

impl Strip {
    /// The first variables of strips, and their number.
    pub fn cuts(layout: &Layout<'_>) -> Vec<usize> {
        let mut cuts = vec![0];
        for v in 1..layout.variables() {
            let start = layout.columns_of(cuts[cuts.len() - 1]).start;
            if !layout.dense() || layout.columns_of(v).end - start > LEAD {
                cuts.push(v);
            }
        }
        cuts.push(layout.variables());
        cuts
    }

    fn zeros(layout: &Layout<'_>, variables: Range<usize>) -> Self {
        let first = layout.columns_of(variables.start).start;
        let lead = layout.columns_of(variables.end - 1).end - first;
        let cols = layout.columns() - first;
        Self { first, lead, cols, sums: vec![0.0; BLOCKS * lead * cols] }
    }

    /// By products of matrices; the blocks in parallel.
    pub fn dense(layout: &Layout<'_>, variables: Range<usize>) -> Self {
        let mut strip = Self::zeros(layout, variables);
        let (first, lead, cols) = (strip.first, strip.lead, strip.cols);
        if lead == 0 {
            return strip;
        }
        let height = (PANEL / cols).clamp(64, 512);
        strip.sums.par_chunks_mut(lead * cols).enumerate().for_each(|(block, sums)| {
            let mut panel = vec![0.0; height * cols];
            let mut filled = 0;
            for sample in members(block, layout.samples()) {
                let (columns, values) = layout.row(sample);
                let row = &mut panel[filled * cols..(filled + 1) * cols];
                row.fill(0.0);
                let from = columns.partition_point(|&c| (c as usize) < first);
                for (&column, &value) in columns[from..].iter().zip(&values[from..]) {
                    row[column as usize - first] = value - layout.shift()[column as usize];
                }
                filled += 1;
                if filled == height {
                    add_leading_gram(sums, &panel, cols, lead);
                    filled = 0;
                }
            }
            add_leading_gram(sums, &panel[..filled * cols], cols, lead);
        });
        strip
    }

    /// By the rows in which each column stands; on this thread.
    pub fn sparse(layout: &Layout<'_>, index: &Index, variables: Range<usize>) -> Self {
        let mut strip = Self::zeros(layout, variables);
        let shift = layout.shift();
        for f in 0..strip.lead {
            let column = strip.first + f;
            for &sample in index.samples_of(column) {
                let (columns, values) = layout.row(sample as usize);
                let from = columns.partition_point(|&c| (c as usize) < column);
                let value = values[from] - shift[column];
                let base = (block_of(sample as usize) * strip.lead + f) * strip.cols;
                let row = &mut strip.sums[base..base + strip.cols];
                for (&other, &x) in columns[from..].iter().zip(&values[from..]) {
                    row[other as usize - strip.first] += value * (x - shift[other as usize]);
                }
            }
        }
        strip
    }

    /// The products of one column of the strip with a range of columns that do not come before it.
    pub fn products(&self, block: usize, column: usize, with: Range<usize>) -> &[f64] {
        let base = (block * self.lead + column - self.first) * self.cols;
        &self.sums[base + with.start - self.first..base + with.end - self.first]
    }
}

/// The samples in which each column stands.
pub(super) struct Index {
    starts: Vec<usize>,
    samples: Vec<u32>,
}

impl Index {
    pub fn new(layout: &Layout<'_>) -> Self {
        let mut starts = vec![0; layout.columns() + 1];
        for sample in 0..layout.samples() {
            layout.row(sample).0.iter().for_each(|&c| starts[c as usize + 1] += 1);
        }
        (0..layout.columns()).for_each(|c| starts[c + 1] += starts[c]);
        let mut next = starts.clone();
        let mut samples = vec![0; starts[layout.columns()]];
        for sample in 0..layout.samples() {
            for &column in layout.row(sample).0 {
                samples[next[column as usize]] = sample as u32;
                next[column as usize] += 1;
            }
        }
        Self { starts, samples }
    }

    fn samples_of(&self, column: usize) -> &[u32] {
        &self.samples[self.starts[column]..self.starts[column + 1]]
    }
}
