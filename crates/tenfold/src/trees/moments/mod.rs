//! All pairs of variables at once: canonical correlations, from all samples and with each block of samples left out.

#[cfg(test)]
mod additive;
mod layout;
mod own;
mod pairs;
mod spectra;
#[cfg(test)]
mod tests;
mod tiles;
mod whiten;

pub use spectra::Spectra;

use super::data::Table;
use crate::error::Result;
use layout::Layout;
use pairs::{Line, Singles};
use rayon::prelude::*;
use tenfold_engine::progress::Progress;
use tiles::{Bits, Index, Strip};

impl Spectra {
    /// The canonical correlations of all pairs of variables: the singular values of Σ_ii^(−1/2) Σ_ij Σ_jj^(−1/2) with centred
    /// features, from sums and products that are gathered in eight blocks of samples.
    ///
    /// Where values are missing, Σ_ij comes from the samples that have both and Σ_ii from those that have i. Levels and flags
    /// that fewer than eight samples have are passed over where their variable has others.
    ///
    /// # Complexity
    /// samples × features² operations at matrix-multiply speed when more than about a seventh of a row is not 0 (64 at a time where
    /// all values are 0 or 1), otherwise
    /// half the sum of the squares of the rows' entries; memory for eight strips of products, not for all of them.
    ///
    /// # Errors
    /// When there are fewer than 16 samples, a value is not finite or too large, or two variables are never known together.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::trees::{Spectra, Synth};
    /// let drawn = Synth { variables: 6, samples: 2000, ..Synth::default() }.draw()?;
    /// let spectra = Spectra::of(&drawn.table, &Silent)?;
    /// assert!(spectra.values(0, 1)[0] > 0.0 && spectra.components().len() == 1);
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn of(table: &Table, progress: &dyn Progress) -> Result<Self> {
        let layout = Layout::new(table)?;
        let singles = Singles::new(&layout)?;
        let cuts = Strip::cuts(&layout);
        progress.stage("pairs of variables", layout.variables() as u64);
        let index = if layout.dense() { None } else { Some(Index::new(&layout)?) };
        let bits = if layout.dense() { Bits::new(&layout) } else { None };
        let strip = |cut: &[usize]| match (&index, &bits) {
            (Some(index), _) => Strip::sparse(&layout, index, cut[0]..cut[1]),
            (None, Some(bits)) => Strip::bits(&layout, bits, cut[0]..cut[1]),
            (None, None) => Strip::dense(&layout, cut[0]..cut[1]),
        };
        let lines = |cut: &[usize]| -> Result<Vec<Line>> {
            progress.check()?;
            let strip = strip(cut);
            let lines =
                (cut[0]..cut[1]).into_par_iter().with_max_len(1).map(|i| singles.line(&strip, i)).collect();
            progress.advance((cut[1] - cut[0]) as u64);
            lines
        };
        // Dense strips are large and made by all threads together; sparse ones are made by one thread each.
        let lines: Vec<Vec<Line>> = match index {
            Some(_) => cuts.par_windows(2).with_max_len(1).map(lines).collect::<Result<_>>()?,
            None => cuts.windows(2).map(lines).collect::<Result<_>>()?,
        };
        Ok(Self::from_lines(singles.widths(), layout.samples() as f64, lines.into_iter().flatten()))
    }
}
