//! What a fit of a tree holds at its peak, by sizes alone.

use super::choices::Params;
use super::data::{Kind, Table};
use super::fit::support::{resampled, side_by_side};
use super::moments::Room;
use crate::memory::Estimate;

/// Bytes of a table: a feature and its value, and where each sample ends.
fn table_bytes(samples: usize, entries: usize) -> u64 {
    (12 * entries + 16 * samples) as u64
}

/// Bytes of what one table takes until its tree is found: the comparison of all pairs, or the search with its distances once more for
/// a component, a distance and a variance in full rows, and rows that are joined.
fn tree_bytes(table: &Table, samples: usize, entries: usize) -> u64 {
    let room = Room::of(table, samples, entries);
    let square = (table.variables().len() as u64).saturating_mul(table.variables().len() as u64);
    room.peak.max(room.pooled + 2 * room.distances + 8 * 4 * square)
}

impl Params {
    /// What a fit of this table will hold, before it begins.
    pub fn needs(&self, table: &Table) -> Estimate {
        let (samples, entries) = (table.samples(), table.entries());
        let own = table_bytes(samples, entries);
        let real = table.variables().iter().any(|v| matches!(v.kind, Kind::Real | Kind::Counts));
        let once = tree_bytes(table, samples, entries);
        let (some, some_entries) = resampled(table);
        let each = table_bytes(some, some_entries) + tree_bytes(table, some, some_entries);
        let together = if self.bootstrap == 0 { 0 } else { side_by_side(table).min(self.bootstrap) as u64 };
        // The distances of the whole table are kept for its edges.
        let again =
            if together == 0 { 0 } else { together * each + Room::of(table, samples, entries).distances };
        Estimate::beside("samples", own)
            .and("samples in units of their spread", if real { own } else { 0 })
            .and("samples to learn from and to hold out", if self.held_out > 0.0 { own } else { 0 })
            .and_largest(&[("pairs of variables", once), ("resampled tables", again)])
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
