//! What the comparison of all pairs of variables holds at its peak, by sizes alone.

use super::layout::{BLOCKS, DENSE};
use super::narrow::fits;
use super::pairs::{KEPT, VERSIONS};
use super::tiles::{LEAD, PANEL};
use crate::trees::data::{Kind, Table};

/// Arrays of fewer bytes come from pools of the allocator and stay there when they are freed, as the command has it told.
const POOLED: u64 = 1 << 20;

/// Bytes of its parts.
#[derive(Debug, Clone, Copy)]
pub(in crate::trees) struct Room {
    /// At the peak, until spectra and distances are there.
    pub peak: u64,
    /// What of it the allocator keeps in pools after that: lines, and spectra whose arrays are small.
    pub pooled: u64,
    /// Distances, in every version.
    pub distances: u64,
}

impl Room {
    /// For so many samples with so many entries of the variables of a table.
    pub fn of(table: &Table, samples: usize, entries: usize) -> Self {
        let widths: Vec<usize> = (0..table.variables().len()).map(|v| table.features_of(v).len()).collect();
        let (count, versions) = (widths.len() as u64, VERSIONS as u64);
        let pairs = count * count.saturating_sub(1) / 2;
        // Leading values, sums of squares and numbers of samples of every pair, in every version.
        let spectra = 8 * (versions * (values(&widths) + pairs) + pairs);
        let distances = 8 * versions * pairs;
        let (sum, squares) =
            widths.iter().fold((0u64, 0u64), |(s, q), &w| (s + w as u64, q + (w * w) as u64));
        let crossed = if fits(&widths) { 4 * (sum * sum - squares) } else { 0 };
        // Products of every variable with itself by block and by version, then covariances and whiteners by version.
        let own = 8 * squares * (BLOCKS as u64 + 3 * versions);
        let made = own + index(table, samples, entries);
        let strips = strips(table, entries as f64 / samples.max(1) as f64);
        // Lines are gathered while strips are made, and become spectra, which become distances; where variables are narrowed then, lines
        // are gathered again. A line is small, and what is freed of it stays with the pools of the threads that made it.
        let gathered = 2 * spectra + crossed + strips.max(distances);
        let pooled = if 8 * pairs < POOLED { 2 * spectra } else { spectra };
        Self { peak: made + gathered, pooled, distances }
    }
}

/// Leading values of all pairs: the fewer of both widths, at most those that are kept.
fn values(widths: &[usize]) -> u64 {
    let mut sorted: Vec<usize> = widths.iter().map(|w| (*w).min(KEPT)).collect();
    sorted.sort_unstable();
    sorted.iter().rev().zip(0u64..).map(|(&w, wider)| w as u64 * wider).sum()
}

/// Whether rows are so full that they are multiplied as matrices.
fn dense(columns: f64, a_row: f64) -> bool {
    a_row * a_row > DENSE * columns * columns
}

/// Rows in one piece and the places of columns in it, four bytes each, with values where they are not all 1; or a bit for every number.
fn index(table: &Table, samples: usize, entries: usize) -> u64 {
    let (columns, real) = (table.features(), has_values(table));
    match dense(columns as f64, entries as f64 / samples.max(1) as f64) {
        true if real => 0,
        true => (columns * samples / 8) as u64,
        false => (8 * entries + 4 * samples + if real { 8 * (entries + samples) } else { 0 }) as u64,
    }
}

fn has_values(table: &Table) -> bool {
    table.variables().iter().any(|v| matches!(v.kind, Kind::Real | Kind::Counts))
}

/// Strips of products by blocks of samples, and the panels of rows that they are multiplied from. Sparse ones are made side by side.
fn strips(table: &Table, a_row: f64) -> u64 {
    let columns = table.features();
    let widest = (0..table.variables().len()).map(|v| table.features_of(v).len()).max().unwrap_or(0);
    let threads = rayon::current_num_threads();
    let (lead, together, panels) = match dense(columns as f64, a_row) {
        true => {
            let panel = (PANEL / columns.max(1)).clamp(64, 512) * columns;
            (
                LEAD.max(widest).min(columns),
                1,
                if has_values(table) { panel * threads.min(BLOCKS) } else { 0 },
            )
        }
        false => (widest, threads, 0),
    };
    8 * (BLOCKS * lead * columns * together + panels) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_narrower_variable() {
        for widths in [vec![1, 1, 1], vec![3, 1, 40], vec![20, 30], vec![5]] {
            let pairs = (0..widths.len()).flat_map(|i| (i + 1..widths.len()).map(move |j| (i, j)));
            let brute: usize = pairs.map(|(i, j): (usize, usize)| widths[i].min(widths[j]).min(KEPT)).sum();
            assert_eq!(values(&widths), brute as u64, "{widths:?}");
        }
    }
}
