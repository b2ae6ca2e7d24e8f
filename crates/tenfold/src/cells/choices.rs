//! What a fit may be asked for.

use super::features::Features;
use crate::components::Components;
use crate::error::{Error, Result};

/// How profiles are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// Maximum a posteriori by expectation maximisation: the counts' own likelihood.
    Em,
    /// The thesis's least squares under simplex constraints; kept to compare, because it weighs large counts too much.
    Nmf,
}

impl Solver {
    /// All solvers, by the names that the command line gives them.
    pub const NAMES: [(&'static str, Self); 2] = [("em", Self::Em), ("nmf", Self::Nmf)];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, solver)| *solver == self).map_or("", |(name, _)| name)
    }
}

/// How cell types are found.
///
/// # Example
/// ```
/// use tenfold::cells::{Params, Synth};
/// let drawn = Synth { types: 3, genes: 40, cells: 6000, ..Synth::default() }.draw()?;
/// let model = Params { seed: 7, ..Params::new(3) }.fit(&drawn.tissue)?;
/// assert_eq!(model.profiles().rows(), 3);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Number of cell types; `Auto` takes the one that predicts a binomial half of the cells from the other half best.
    pub k: Components,
    /// How profiles are estimated.
    pub solver: Solver,
    /// Cells added to every gene of every type. Enough that no gene is barred from a type; a tenth of a cell was measured worse by 3 to 9 %
    /// on drawn tissue of 10,000 and 40,000 cells, because most genes are not expressed by a type at all.
    pub smoothing: f64,
    /// Σα of the Dirichlet prior of the memberships of bins.
    pub alpha: f64,
    /// What bins are made of.
    pub features: Features,
    /// Random starts beside the tensor's and the successive projection's.
    pub restarts: usize,
    /// Steps of the solver, at most.
    pub max_iterations: usize,
    /// Most types that `Auto` looks at.
    pub most: usize,
    /// Same seed, same bytes.
    pub seed: u64,
}

impl Params {
    /// The defaults for `k` types, or for [`Components::Auto`].
    pub fn new(k: impl Into<Components>) -> Self {
        Self {
            k: k.into(),
            solver: Solver::Em,
            smoothing: 0.01,
            alpha: 0.01,
            features: Features::default(),
            restarts: 4,
            max_iterations: 500,
            most: 30,
            seed: 0,
        }
    }

    /// Refuses what no data could satisfy.
    pub(super) fn check(&self) -> Result<()> {
        let bad = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if self.k == Components::Exactly(0) {
            return bad("k", "0".into(), "at least one cell type");
        }
        if self.most == 0 {
            return bad("most", "0".into(), "at least one cell type");
        }
        if self.max_iterations == 0 {
            return bad("max_iterations", "0".into(), "at least one step");
        }
        crate::error::check_repeats("restarts", self.restarts)?;
        for (name, value) in [("smoothing", self.smoothing), ("alpha", self.alpha)] {
            if !(value.is_finite() && value >= 0.0) {
                return bad(name, value.to_string(), "a finite number that is not negative");
            }
        }
        Ok(())
    }
}
