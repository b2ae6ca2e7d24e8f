//! What a fit of a tree holds at its peak, by sizes alone.

use super::choices::Params;
use super::data::{Kind, Table};
use super::fit::support::{resampled, side_by_side};
use crate::memory::Estimate;

/// Bytes of a table: a feature and its value, and where each sample ends.
fn table_bytes(samples: usize, entries: usize) -> u64 {
    (12 * entries + 16 * samples) as u64
}

/// Bytes of what products of sparse columns are made from: rows in one piece and the places of columns in it, four bytes each, and
/// values where they are not all 1.
fn index_bytes(samples: usize, entries: usize, values: bool) -> u64 {
    (8 * entries + 4 * samples + if values { 8 * (entries + samples) } else { 0 }) as u64
}

impl Params {
    /// What a fit of this table will hold, before it begins.
    pub fn needs(&self, table: &Table) -> Estimate {
        let (samples, entries) = (table.samples(), table.entries());
        let own = table_bytes(samples, entries);
        let real = table.variables().iter().any(|v| matches!(v.kind, Kind::Real | Kind::Counts));
        let columns = table.features() as u64;
        // Whitened covariances of all pairs (8 bytes for half of them), which are kept until the directions that all agree on are
        // known, and what they are made from: sums of strips by eight blocks, and the correlations with each left out.
        let pairs = 10 * columns * columns;
        let once = index_bytes(samples, entries, real) + pairs;
        let (some, some_entries) = resampled(table);
        let each = table_bytes(some, some_entries) + index_bytes(some, some_entries, real) + pairs;
        let together = if self.bootstrap == 0 { 0 } else { side_by_side(table).min(self.bootstrap) as u64 };
        Estimate::beside("samples", own)
            .and("samples in units of their spread", if real { own } else { 0 })
            .and("samples to learn from and to hold out", if self.held_out > 0.0 { own } else { 0 })
            .and_largest(&[("pairs of variables", once), ("resampled tables", together * each)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::Components;
    use crate::trees::Synth;

    #[test]
    fn resampling_and_holding_out_take_their_share() {
        let table = Synth { variables: 30, samples: 5000, ..Synth::default() }.draw().unwrap().table;
        let base = Params { bootstrap: 0, held_out: 0.0, ..Params::new(Components::Auto) };
        let work = |params: &Params| params.needs(&table).work();
        let own = table_bytes(table.samples(), table.entries());
        assert_eq!(work(&Params { held_out: 0.1, ..base.clone() }), work(&base) + own);
        assert!(work(&Params { bootstrap: 20, ..base.clone() }) >= work(&base));
        assert_eq!(base.needs(&table).parts().next(), Some(("samples", own)));
    }
}
