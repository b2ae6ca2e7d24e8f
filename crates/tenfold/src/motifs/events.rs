//! Where motifs fire.

/// One firing of a motif.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// The trial of the file, from 0.
    pub trial: usize,
    /// Row of the motif's first number, for images; 0 for signals. It may lie above the image.
    pub row: i64,
    /// Sample (column) of the motif's first number, counted in its trial. It may lie before the beginning.
    pub start: i64,
    /// Which motif, from 0.
    pub motif: usize,
    /// The motif, of unit norm, times this is what was added to the signal.
    pub amplitude: f64,
}
