//! What a fit of motifs holds at its peak, by sizes alone.

use super::channels;
use super::choices::{Length, Params};
use super::choose;
use super::data::Signals;
use super::extent::Extent;
use super::moments::{Lattice, Pairs, Sums, Tiling};
use crate::memory::Estimate;

impl Params {
    /// What a fit of these signals will hold, before it begins.
    pub fn needs(&self, signals: &Signals) -> Estimate {
        let support = match self.length {
            Length::Known(extent) => extent,
            Length::Auto => choose::reach(signals).extent,
        };
        let channels = signals.channels().len();
        let held = 8 * (signals.samples() * channels) as u64;
        // More channels than can be told apart are seen through a few directions: a copy of the signals.
        let reduced =
            if channels > channels::MOST { 8 * (signals.samples() * channels::MOST) as u64 } else { 0 };
        // Where motifs fire, and what they leave, in single pieces of the signals and for all motifs in the picture: as many
        // numbers as the longest stretch has, for a few motifs.
        let longest = signals.stretches().iter().map(|s| s.extent.len()).max().unwrap_or(0) as u64;
        // Sums as they were gathered, and the cumulants that are made of them; decoding comes when both are gone.
        let channels = channels.min(channels::MOST);
        let sums = cumulants(signals, support, channels);
        let cumulants = sums.saturating_add(folded(signals, support, channels).min(sums));
        Estimate::beside("signals", held)
            .and("leading channels", reduced)
            .and_largest(&[("cumulants", cumulants), ("decoding", 64 * longest.min(1 << 20))])
    }
}

/// Tiles for motifs of this size.
fn tiling(signals: &Signals, support: Extent) -> Tiling {
    // A motif longer than every signal is refused when the fit begins.
    let longest =
        |side: fn(&Extent) -> usize| signals.stretches().iter().map(|s| side(&s.extent)).max().unwrap_or(1);
    let most = Extent { rows: longest(|e| e.rows), columns: longest(|e| e.columns) };
    let support = Extent { rows: support.rows.min(most.rows), columns: support.columns.min(most.columns) };
    Tiling::new(signals, support)
}

/// Bytes of a cube with the sides of a tile, of complex numbers.
fn cube(period: Extent) -> u64 {
    (period.len() as u64).saturating_pow(3).saturating_mul(16)
}

/// Bytes of the cumulants of both halves, which lie on a lattice of twice a motif's length.
fn folded(signals: &Signals, support: Extent, channels: usize) -> u64 {
    let period = tiling(signals, support).folded();
    match cube(period) {
        large if large > 1 << 40 => large,
        _ => Sums::bytes(&Pairs::new(Lattice { period, channels })),
    }
}

/// Bytes of the sums of both halves of the signals and of the cube of lags.
pub(super) fn cumulants(signals: &Signals, support: Extent, channels: usize) -> u64 {
    let tiling = tiling(signals, support);
    let cube = cube(tiling.period);
    // Before pairs are listed: they are as many as the sums are large.
    let sums = match cube > 1 << 40 {
        true => cube,
        false => Sums::bytes(&Pairs::new(Lattice { period: tiling.period, channels })),
    };
    sums.saturating_add(cube)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::Components;

    #[test]
    fn longer_motifs_have_larger_cumulants() {
        // Whole circles are taken as they are; stretches are cut into tiles by the length of a motif.
        let signals = Signals::windows(&[0.5; 64 * 40], 64, false);
        let needs = |taps| {
            let length = Length::Known(Extent::line(taps));
            Params { length, ..Params::new(Components::Exactly(2)) }.needs(&signals)
        };
        assert!(needs(8).work() < needs(16).work() && needs(16).work() <= needs(32).work());
        assert_eq!(needs(8).total() - needs(8).work(), crate::memory::PROGRAM + 8 * 64 * 40);
    }
}
