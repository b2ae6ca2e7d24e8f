//! All pairs of variables at once: canonical correlations, from all samples and with each block of samples left out.

#[cfg(test)]
mod additive;
mod layout;
mod narrow;
mod own;
mod pairs;
mod room;
mod spectra;
#[cfg(test)]
mod tests;
mod tiles;
mod whiten;

pub(in crate::trees) use room::Room;
pub use spectra::Spectra;

use super::data::Table;
use super::distances::Distances;
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
        let lines = Passes::new(&layout)?.run(&singles, false, progress)?;
        Ok(Self::from_lines(singles.widths(), layout.samples() as f64, lines.into_iter()))
    }

    /// The same, and the distances for hidden nodes of r + 1 states, where `rank` says r after a look at the correlations.
    ///
    /// In a tree all that a variable shares with others goes through at most r of its directions, the same for all others. A
    /// variable with more of them is therefore first seen through the r that all pairs agree on (`narrow`): the noise of the
    /// rest, about (√d_i + √d_j)/√N in the leading correlation of two variables of d_i and d_j directions, stays out of the
    /// distances.
    ///
    /// # Errors
    /// As [`Spectra::of`], and what `rank` says.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::trees::{Spectra, Synth};
    /// let drawn = Synth { variables: 6, samples: 2000, width: 5, ..Synth::default() }.draw()?;
    /// let (spectra, distances) = Spectra::and_distances(&drawn.table, |_| Ok(1), &Silent)?;
    /// assert!(spectra.width(0) == 4 && distances.between(0, 1) >= spectra.distances(1).between(0, 1));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn and_distances(
        table: &Table,
        rank: impl FnOnce(&Self) -> Result<usize>,
        progress: &dyn Progress,
    ) -> Result<(Self, Distances)> {
        let layout = Layout::new(table)?;
        let mut singles = Singles::new(&layout)?;
        let passes = Passes::new(&layout)?;
        let (widths, samples) = (singles.widths(), layout.samples() as f64);
        let keep = narrow::fits(&widths);
        let mut lines = passes.run(&singles, keep, progress)?;
        let cross: Vec<Vec<f64>> = lines.iter_mut().map(|line| std::mem::take(&mut line.whitened)).collect();
        let spectra = Self::from_lines(widths, samples, lines.into_iter());
        let r = rank(&spectra)?;
        if !keep || spectra.widths().iter().all(|&width| width <= r) {
            let distances = spectra.distances(r);
            return Ok((spectra, distances));
        }
        let directions = narrow::directions(&spectra, &cross, r)?;
        drop(cross);
        singles.narrow(&directions)?;
        let lines = passes.run(&singles, false, progress)?;
        let narrowed = Self::from_lines(singles.widths(), samples, lines.into_iter());
        Ok((spectra, narrowed.distances(r)))
    }
}

/// How products of columns are made, strip after strip.
struct Passes<'a> {
    layout: &'a Layout<'a>,
    cuts: Vec<usize>,
    index: Option<Index>,
    bits: Option<Bits>,
}

impl<'a> Passes<'a> {
    fn new(layout: &'a Layout<'a>) -> Result<Self> {
        let index = if layout.dense() { None } else { Some(Index::new(layout)?) };
        let bits = if layout.dense() { Bits::new(layout) } else { None };
        Ok(Self { layout, cuts: Strip::cuts(layout), index, bits })
    }

    fn strip(&self, cut: &[usize]) -> Strip {
        match (&self.index, &self.bits) {
            (Some(index), _) => Strip::sparse(self.layout, index, cut[0]..cut[1]),
            (None, Some(bits)) => Strip::bits(self.layout, bits, cut[0]..cut[1]),
            (None, None) => Strip::dense(self.layout, cut[0]..cut[1]),
        }
    }

    /// The lines of all variables, with whitened covariances when `keep` says so.
    fn run(&self, singles: &Singles<'_>, keep: bool, progress: &dyn Progress) -> Result<Vec<Line>> {
        progress.stage("pairs of variables", self.layout.variables() as u64);
        let lines = |cut: &[usize]| -> Result<Vec<Line>> {
            progress.check()?;
            let strip = self.strip(cut);
            let all = (cut[0]..cut[1]).into_par_iter().with_max_len(1);
            let lines = all.map(|i| singles.line(&strip, i, keep)).collect();
            progress.advance((cut[1] - cut[0]) as u64);
            lines
        };
        // Dense strips are large and made by all threads together; sparse ones are made by one thread each.
        let lines: Vec<Vec<Line>> = match self.index {
            Some(_) => self.cuts.par_windows(2).with_max_len(1).map(lines).collect::<Result<_>>()?,
            None => self.cuts.windows(2).map(lines).collect::<Result<_>>()?,
        };
        Ok(lines.into_iter().flatten().collect())
    }
}
