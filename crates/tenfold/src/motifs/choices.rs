//! What a fit may be asked for.

use super::extent::Extent;
use crate::components::Components;
use crate::error::{Error, Result, check_repeats};

/// How far a motif reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// As far as samples of the signal remember each other: where the autocovariance ends.
    Auto,
    /// This far.
    Known(Extent),
}

/// Which cumulants motifs are found from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// Those that stand out from their noise.
    Auto,
    /// The third: activations that are skewed.
    Third,
    /// The fourth: activations of any sign.
    Fourth,
    /// Both together.
    Both,
}

/// How motifs are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// The convolutional subspace power method on the fourth cumulant, then a joint fit of both orders and repair.
    Subspace,
    /// The thesis's alternating least squares on the third cumulant, all motifs together.
    Als,
    /// [`Solver::Als`] one motif after the other, each taken away from the cumulant: the thesis's way, kept to compare.
    Deflation,
    /// [`Solver::Als`] with the theorem's average of normalised columns: kept to compare.
    Average,
    /// Filters and activations in turn by least squares over all samples, without the cumulants: kept to compare.
    Alternating,
}

impl Solver {
    /// All solvers, by the names that the command line gives them.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("subspace", Self::Subspace),
        ("als", Self::Als),
        ("deflation", Self::Deflation),
        ("average", Self::Average),
        ("alternating", Self::Alternating),
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, solver)| *solver == self).map_or("", |(name, _)| name)
    }
}

impl Orders {
    /// All choices, by the names that the command line gives them.
    pub const NAMES: [(&'static str, Self); 4] =
        [("auto", Self::Auto), ("3", Self::Third), ("4", Self::Fourth), ("both", Self::Both)];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, orders)| *orders == self).map_or("", |(name, _)| name)
    }
}

/// How to fit; all fields are public and have defaults.
///
/// # Example
/// ```
/// use tenfold::motifs::{Extent, Length, Params};
/// let params = Params { length: Length::Known(Extent::line(16)), seed: 7, ..Params::new(4) };
/// assert_eq!(params.starts, 12);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Number of motifs.
    pub motifs: Components,
    /// How far they reach.
    pub length: Length,
    /// Which cumulants are used.
    pub orders: Orders,
    /// How they are decomposed.
    pub solver: Solver,
    /// Refine the motifs afterwards on the signals themselves, where activations are sparse (consensus ADMM).
    pub sparse: bool,
    /// Random starts for every motif.
    pub starts: usize,
    /// Bytes that the sums may take.
    pub memory: u64,
    /// Same seed, same bytes.
    pub seed: u64,
}

impl Params {
    /// The defaults for `motifs` motifs, or for [`Components::Auto`].
    pub fn new(motifs: impl Into<Components>) -> Self {
        Self {
            motifs: motifs.into(),
            length: Length::Auto,
            orders: Orders::Auto,
            solver: Solver::Subspace,
            sparse: false,
            starts: 12,
            memory: 2 << 30,
            seed: 0,
        }
    }

    /// Refuses what no data could satisfy.
    pub(super) fn check(&self) -> Result<()> {
        let bad = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if self.motifs == Components::Exactly(0) {
            return bad("motifs", "0".into(), "at least one motif");
        }
        if self.starts == 0 {
            return bad("starts", "0".into(), "at least one start");
        }
        check_repeats("starts", self.starts)?;
        if let Length::Known(extent) = self.length
            && (extent.is_empty() || extent.len() < 2)
        {
            return bad("length", extent.to_string(), "at least two samples");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_have_limits() {
        let check = |starts| Params { starts, ..Params::new(2) }.check();
        assert!(check(1).is_ok() && check(10_000).is_ok());
        for starts in [0, 10_001, 1_000_000_000] {
            let error = check(starts).unwrap_err().to_string();
            assert!(error.contains("starts"), "{error}");
        }
    }
}
