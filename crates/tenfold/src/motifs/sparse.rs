//! Refinement of motifs that were found: sparse coding and a consensus dictionary update in turn.
//!
//! Minimises Σ_k ½‖x_k − Σ_l f_l ⋆ w_kl‖² + λ‖w_k‖₁ over activations and over motifs of unit norm and given length. Each
//! window k holds its own copy of the motifs; the copies must agree with one set that keeps the constraints (consensus).
//! From random starts this seldom finds the motifs; from the moments' estimate it makes them sharper.
//!
//! # References
//! Šorel and Šroubek, "Fast convolutional sparse coding using matrix inversion lemma", 2016; Garcia-Cardona and Wohlberg,
//! "Convolutional dictionary learning: a comparative review and new algorithms", 2018, section III.D.

mod learn;
mod windows;

use super::decode::Decoding;
use super::{Filters, Signals};
use crate::error::{Error, Result};
use tenfold_engine::progress::Progress;

/// How to refine.
#[derive(Debug, Clone, PartialEq)]
pub struct Refinement {
    /// Whether motifs also fire upside down.
    pub signed: bool,
    /// The penalty λ; else that of decoding with the start.
    pub lambda: Option<f64>,
    /// Windows that are used, at most; drawn by the seed where there are more.
    pub windows: usize,
    /// Rounds, each one step of coding and one of the dictionary.
    pub max_iterations: usize,
    /// The relative change of the motifs in a round at which they are at rest.
    pub tolerance: f64,
    /// Draws the windows.
    pub seed: u64,
}

impl Default for Refinement {
    fn default() -> Self {
        Self { signed: false, lambda: None, windows: 1000, max_iterations: 300, tolerance: 1e-4, seed: 0 }
    }
}

/// Motifs after refinement, and how it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Refined {
    /// Motifs of unit norm.
    pub filters: Filters,
    /// The objective a window at every tenth round.
    pub objective: Vec<f64>,
    /// The penalty that was used.
    pub lambda: f64,
    /// Rounds.
    pub iterations: usize,
    /// Whether the motifs came to rest.
    pub converged: bool,
}

/// Refines motifs on (some of) the signals they were found in.
///
/// # Errors
/// Channels that differ, no samples, or a caller that stops the run.
///
/// # Complexity
/// O(windows · L · n log n) a round.
pub fn refine(
    start: &Filters,
    signals: &Signals,
    refinement: &Refinement,
    progress: &dyn Progress,
) -> Result<Refined> {
    if signals.samples() == 0 {
        let (problem, remedy) = ("there are no samples".into(), "give signals that are not empty".into());
        return Err(Error::Unfit { problem, remedy });
    }
    let decoding = Decoding { signed: refinement.signed, lambda: refinement.lambda, ..Decoding::default() };
    let lambda = super::decode::penalty(start, signals, &decoding, progress)?;
    let windows = windows::choose(start, signals, refinement);
    learn::learn(start, &windows, lambda, refinement, progress)
}
