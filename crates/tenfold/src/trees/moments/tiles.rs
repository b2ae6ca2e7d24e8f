//! Sums of products of columns, a strip of them at a time: those of a few variables with all that follow.
//!
//! A strip is used up before its memory is needed again, so that the whole square of columns never exists. A strip is
//! made either by multiplying blocks of rows as matrices, by counting common bits where every value is 0 or 1 (ten times as
//! fast), or, when rows are sparse, by going through the rows in which each of its columns stands. All add samples in a
//! fixed order.

use super::layout::{BLOCKS, Layout, members};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use tenfold_engine::linalg::{Kernel, add_leading_gram, vectorised};

/// Columns of a strip when matrices are multiplied: enough that filling rows costs little beside multiplying them.
pub(super) const LEAD: usize = 256;

/// Numbers in a block of rows that is multiplied at once: 8 MB.
pub(super) const PANEL: usize = 1 << 20;

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

    /// By counting the bits that columns have in common; the blocks in parallel.
    pub fn bits(layout: &Layout<'_>, bits: &Bits, variables: Range<usize>) -> Self {
        let mut strip = Self::zeros(layout, variables);
        let (first, lead, cols) = (strip.first, strip.lead, strip.cols);
        if lead == 0 {
            return strip;
        }
        strip.sums.par_chunks_mut(lead * cols).zip(&bits.blocks).for_each(|(sums, block)| {
            let columns = &block[first * bits.words..];
            vectorised(Common { columns, words: bits.words, cols, sums });
        });
        strip
    }

    /// By the rows in which each column stands; on this thread.
    pub fn sparse(layout: &Layout<'_>, index: &Index, variables: Range<usize>) -> Self {
        let mut strip = Self::zeros(layout, variables);
        let (first, lead, cols) = (strip.first, strip.lead, strip.cols);
        for f in 0..lead {
            let mut block = 0;
            for &place in index.places_of(first + f) {
                let place = place as usize;
                while place >= index.ends[block] {
                    block += 1;
                }
                let base = (block * lead + f) * cols;
                let sums = &mut strip.sums[base..base + cols];
                let columns = index.columns[place..].iter().take_while(|&&c| c != END);
                if index.values.is_empty() {
                    columns.for_each(|&other| sums[other as usize - first] += 1.0);
                } else {
                    let value = index.values[place];
                    let both = columns.zip(&index.values[place..]);
                    both.for_each(|(&other, x)| sums[other as usize - first] += value * x);
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

/// Columns of 0 and 1, a bit for every sample.
pub(super) struct Bits {
    /// Words of a column within a block.
    words: usize,
    /// By jackknife block, column after column.
    blocks: Vec<Vec<u64>>,
}

impl Bits {
    /// The columns as bits, unless one has another value than 0 and 1 after its shift.
    pub fn new(layout: &Layout<'_>) -> Option<Self> {
        let words = layout.samples().div_ceil(BLOCKS).div_ceil(64);
        let fill = |block: usize| -> Option<Vec<u64>> {
            let mut bits = vec![0u64; words * layout.columns()];
            for (i, sample) in members(block, layout.samples()).enumerate() {
                let (columns, values) = layout.row(sample);
                for (&column, &value) in columns.iter().zip(values) {
                    let value = value - layout.shift()[column as usize];
                    if value == 1.0 {
                        bits[column as usize * words + i / 64] |= 1 << (i % 64);
                    } else if value != 0.0 {
                        return None;
                    }
                }
            }
            Some(bits)
        };
        let blocks: Option<Vec<Vec<u64>>> = (0..BLOCKS).into_par_iter().with_max_len(1).map(fill).collect();
        blocks.map(|blocks| Self { words, blocks })
    }
}

/// How many bits each of the first columns has in common with those from it on.
struct Common<'a> {
    columns: &'a [u64],
    words: usize,
    cols: usize,
    sums: &'a mut [f64],
}

impl Kernel for Common<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (f, sums) in self.sums.chunks_exact_mut(self.cols).enumerate() {
            let own = &self.columns[f * self.words..(f + 1) * self.words];
            for (sum, other) in sums[f..].iter_mut().zip(self.columns.chunks_exact(self.words).skip(f)) {
                let common: u32 = own.iter().zip(other).map(|(a, b)| (a & b).count_ones()).sum();
                *sum = f64::from(common);
            }
        }
    }
}

/// Behind the last column of a row.
const END: u32 = u32::MAX;

/// Rows in one piece, block after block, and the places in it where each column stands. A row is read from a place on, which
/// costs one look into memory that is far away; by way of the table it would be four.
pub(super) struct Index {
    starts: Vec<usize>,
    places: Vec<u32>,
    /// Columns that are not 0, row after row.
    columns: Vec<u32>,
    /// Their values less the shift; empty when all are 1.
    values: Vec<f64>,
    /// Where the rows of each jackknife block end.
    ends: Vec<usize>,
}

impl Index {
    /// # Errors
    /// When there are 2³² entries or more.
    pub fn new(layout: &Layout<'_>) -> Result<Self> {
        let mut starts = vec![0; layout.columns() + 1];
        let mut flags = true;
        for sample in 0..layout.samples() {
            let (columns, values) = layout.row(sample);
            for (&column, value) in columns.iter().zip(values) {
                starts[column as usize + 1] += 1;
                flags &= value - layout.shift()[column as usize] == 1.0;
            }
        }
        (0..layout.columns()).for_each(|c| starts[c + 1] += starts[c]);
        let (entries, length) = (starts[layout.columns()], starts[layout.columns()] + layout.samples());
        if u32::try_from(length).is_err() {
            return Err(Error::Unfit {
                problem: format!("{entries} values in {} samples", layout.samples()),
                remedy: "give fewer samples, so that both together are below 2^32".into(),
            });
        }
        let (mut next, mut places) = (starts.clone(), vec![0; entries]);
        let (mut columns, mut ends) = (Vec::with_capacity(length), Vec::new());
        let mut values = Vec::with_capacity(if flags { 0 } else { length });
        for block in 0..BLOCKS {
            for sample in members(block, layout.samples()) {
                let row = layout.row(sample);
                for (&column, value) in row.0.iter().zip(row.1) {
                    places[next[column as usize]] = columns.len() as u32;
                    next[column as usize] += 1;
                    columns.push(column);
                    values.extend((!flags).then_some(value - layout.shift()[column as usize]));
                }
                columns.push(END);
                values.extend((!flags).then_some(0.0));
            }
            ends.push(columns.len());
        }
        Ok(Self { starts, places, columns, values, ends })
    }

    fn places_of(&self, column: usize) -> &[u32] {
        &self.places[self.starts[column]..self.starts[column + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trees::Synth;

    #[test]
    fn bits_give_what_matrices_give() {
        let mut drawn =
            Synth { variables: 7, width: 4, samples: 1003, ..Synth::default() }.draw().unwrap().table;
        // A row without anything, and one with something missing.
        drawn.push(&[], &[]);
        for missing in [false, true] {
            if missing {
                drawn.push(&[(0, 1.0)], &[3, 5]);
            }
            let layout = Layout::new(&drawn).unwrap();
            let bits = Bits::new(&layout).unwrap();
            for cut in [0..7, 2..5, 6..7] {
                let (counted, multiplied) =
                    (Strip::bits(&layout, &bits, cut.clone()), Strip::dense(&layout, cut.clone()));
                for block in 0..BLOCKS {
                    for column in layout.columns_of(cut.start).start..layout.columns_of(cut.end - 1).end {
                        let all = column..layout.columns();
                        assert_eq!(
                            counted.products(block, column, all.clone()),
                            multiplied.products(block, column, all)
                        );
                    }
                }
            }
        }
        let real = Synth { emits: crate::trees::Emits::Real, samples: 100, ..Synth::default() }
            .draw()
            .unwrap()
            .table;
        assert!(Bits::new(&Layout::new(&real).unwrap()).is_none());
    }
}
