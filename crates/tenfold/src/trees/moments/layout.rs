//! The columns that are multiplied with each other, and which samples a jackknife block holds.

use crate::error::{Error, Result};
use crate::trees::data::{Kind, Table};
use std::ops::Range;

/// Blocks of samples that are left out in turn.
pub(super) const BLOCKS: usize = 8;

/// Above this share of products that are not 0, whole matrices are multiplied: a product there costs some fifty times less
/// than one that is added in its own place. It is the square of a density of about .14.
pub(super) const DENSE: f64 = 0.02;

/// How far the samples of the n-th run of eight are turned.
fn turn(run: usize) -> usize {
    // The finaliser of splitmix64: neighbouring runs are turned independently.
    let mut x = (run as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 61) as usize
}

/// The block of a sample.
#[cfg(test)]
pub(super) fn block_of(sample: usize) -> usize {
    (sample % BLOCKS + turn(sample / BLOCKS)) % BLOCKS
}

/// The samples of a block, increasing. Files are often sorted, so that ranges of samples would differ from each other by
/// more than chance; every run of eight samples therefore gives one to each block. Which one changes from run to run,
/// because a fixed order would meet designs that repeat after 2, 4 or 8 samples.
pub(super) fn members(block: usize, samples: usize) -> impl Iterator<Item = usize> {
    (0..samples.div_ceil(BLOCKS))
        .map(move |run| run * BLOCKS + (block + BLOCKS - turn(run)) % BLOCKS)
        .filter(move |&sample| sample < samples)
}

/// Rows with a column for every feature, and behind the features of a variable that is missing somewhere one more: 1
/// where it is missing. Sums and products of these columns give counts, sums and products over the samples in which any two
/// variables are both there.
pub(super) struct Layout<'a> {
    table: &'a Table,
    /// The first column of every variable, and the number of columns.
    starts: Vec<usize>,
    has_flag: Vec<bool>,
    /// What is taken from a value, so that large means do not swallow small variances. Only columns that are never 0 have
    /// one: where 0 is among the values, the mean is not far from it by their own measure.
    shift: Vec<f64>,
    /// Rows with the columns for missing variables, where there are any.
    copied: Option<Copied>,
    dense: bool,
}

struct Copied {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl<'a> Layout<'a> {
    /// # Errors
    /// When a value is not finite, or there are fewer than two samples for each block.
    pub fn new(table: &'a Table) -> Result<Self> {
        let samples = table.samples();
        if samples < 2 * BLOCKS || u32::try_from(samples).is_err() {
            return Err(Error::Unfit {
                problem: format!("{samples} samples"),
                remedy: format!("give at least {} of them, and fewer than 2^32", 2 * BLOCKS),
            });
        }
        let mut absent = vec![0u32; table.variables().len()];
        if table.has_missing() {
            (0..samples).flat_map(|s| table.row(s).missing).for_each(|&v| absent[v as usize] += 1);
        }
        let mut starts = vec![0];
        for v in 0..absent.len() {
            starts.push(starts[v] + table.features_of(v).len() + usize::from(absent[v] > 0));
        }
        let has_flag = absent.iter().map(|&count| count > 0).collect();
        let mut layout = Self { table, starts, has_flag, shift: Vec::new(), copied: None, dense: false };
        if table.has_missing() {
            layout.copied = Some(layout.copy());
        }
        layout.look(&absent)?;
        Ok(layout)
    }

    /// Columns of every row in order, those for missing variables among them.
    fn copy(&self) -> Copied {
        let table = self.table;
        let owner: Vec<u32> =
            (0..table.variables().len()).flat_map(|v| table.features_of(v).map(move |_| v as u32)).collect();
        let mut copied = Copied { ends: Vec::new(), columns: Vec::new(), values: Vec::new() };
        for sample in 0..table.samples() {
            let row = table.row(sample);
            let mut missing = row.missing.iter().map(|&v| self.starts[v as usize + 1] as u32 - 1).peekable();
            for (&feature, &value) in row.features.iter().zip(row.values) {
                let variable = owner[feature as usize] as usize;
                let column =
                    (self.starts[variable] + feature as usize - table.features_of(variable).start) as u32;
                while let Some(flag) = missing.next_if(|&flag| flag < column) {
                    copied.columns.push(flag);
                    copied.values.push(1.0);
                }
                copied.columns.push(column);
                copied.values.push(value);
            }
            missing.for_each(|flag| {
                copied.columns.push(flag);
                copied.values.push(1.0);
            });
            copied.ends.push(copied.columns.len());
        }
        copied
    }

    /// Shifts, and whether rows are dense.
    fn look(&mut self, absent: &[u32]) -> Result<()> {
        let (samples, columns) = (self.table.samples(), self.columns());
        let (mut count, mut sum, mut products) = (vec![0u32; columns], vec![0.0; columns], 0.0);
        for sample in 0..samples {
            let (at, values) = self.row(sample);
            products += (at.len() as f64).powi(2);
            for (&column, &value) in at.iter().zip(values) {
                count[column as usize] += 1;
                sum[column as usize] += value;
                if !value.is_finite() {
                    return Err(self.not_finite(column as usize, sample, value));
                }
            }
        }
        self.dense = products > DENSE * samples as f64 * (columns as f64).powi(2);
        self.shift = vec![0.0; columns];
        for v in 0..absent.len() {
            for column in self.features_of(v).filter(|&c| (count[c] + absent[v]) as usize == samples) {
                self.shift[column] = sum[column] / f64::from(count[column].max(1));
            }
        }
        Ok(())
    }

    fn not_finite(&self, column: usize, sample: usize, value: f64) -> Error {
        let variable = self.starts.partition_point(|&start| start <= column) - 1;
        Error::Unfit {
            problem: format!("{} is {value} in sample {}", self.name(variable), sample + 1),
            remedy: "give finite numbers, or leave the field empty where the value is not known".into(),
        }
    }

    pub fn name(&self, variable: usize) -> &str {
        &self.table.variables()[variable].name
    }

    pub fn kind(&self, variable: usize) -> Kind {
        self.table.variables()[variable].kind
    }

    pub fn variables(&self) -> usize {
        self.has_flag.len()
    }

    pub fn samples(&self) -> usize {
        self.table.samples()
    }

    pub fn columns(&self) -> usize {
        self.starts[self.variables()]
    }

    /// Whether whole matrices are multiplied.
    pub fn dense(&self) -> bool {
        self.dense
    }

    /// All columns of a variable.
    pub fn columns_of(&self, variable: usize) -> Range<usize> {
        self.starts[variable]..self.starts[variable + 1]
    }

    /// The columns of a variable's features.
    pub fn features_of(&self, variable: usize) -> Range<usize> {
        self.starts[variable]..self.starts[variable + 1] - usize::from(self.has_flag[variable])
    }

    /// The column that tells where a variable is missing.
    pub fn flag_of(&self, variable: usize) -> Option<usize> {
        self.has_flag[variable].then(|| self.starts[variable + 1] - 1)
    }

    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// Columns that are not 0 in a sample, increasing, and their values before the shift.
    pub fn row(&self, sample: usize) -> (&[u32], &[f64]) {
        match &self.copied {
            None => {
                let row = self.table.row(sample);
                (row.features, row.values)
            }
            Some(rows) => {
                let from = if sample == 0 { 0 } else { rows.ends[sample - 1] };
                (&rows.columns[from..rows.ends[sample]], &rows.values[from..rows.ends[sample]])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_block_and_blocks_are_even() {
        let mut seen = vec![0; 1003];
        for block in 0..BLOCKS {
            let these: Vec<usize> = members(block, seen.len()).collect();
            assert!(these.len().abs_diff(seen.len() / BLOCKS) <= 1 && these.is_sorted());
            for s in these {
                assert_eq!(block_of(s), block);
                seen[s] += 1;
            }
        }
        assert!(seen.iter().all(|&count| count == 1));
        // A design that repeats after eight samples is spread over all blocks.
        let mut met = [0; BLOCKS];
        (0..8000).step_by(8).for_each(|s| met[block_of(s)] += 1);
        assert!(met.iter().all(|&count| count > 90), "{met:?}");
    }
}
