//! What a fit may be asked for.

use super::structure::Method;
use crate::components::Components;

/// Which short edges between hidden nodes are contracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contraction {
    /// Those that the likelihood does not pay for: Bayes' information criterion of the edge against one node in its place.
    Likelihood,
    /// Those whose length is below three of its jackknife errors.
    Jackknife,
    /// None: every hidden node has three neighbours.
    None,
}

impl Contraction {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Likelihood => "likelihood",
            Self::Jackknife => "jackknife",
            Self::None => "none",
        }
    }
}

/// How a tree is learned.
///
/// # Example
/// ```
/// use tenfold::trees::{Params, Synth};
/// let drawn = Synth { variables: 8, samples: 4000, ..Synth::default() }.draw()?;
/// let model = Params { bootstrap: 0, ..Params::new(2) }.fit(&drawn.table)?;
/// assert_eq!(model.tree().observed(), 8);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// k: states of every hidden node; `Auto` takes the rank that the pairs of variables support, plus one.
    pub states: Components,
    /// How the structure is found.
    pub method: Method,
    /// Which short edges are contracted.
    pub contraction: Contraction,
    /// Sweeps of expectation maximisation after the moments, at most; 0 leaves the moments' answer.
    pub sweeps: usize,
    /// Resampled tables whose trees say how sure every split is.
    pub bootstrap: usize,
    /// The share of the samples that is held out, to compare the tree with trees without hidden nodes.
    pub held_out: f64,
    /// Same seed, same bytes.
    pub seed: u64,
}

impl Params {
    /// All defaults but the states.
    pub fn new(states: impl Into<Components>) -> Self {
        Self {
            states: states.into(),
            method: Method::Auto,
            contraction: Contraction::Likelihood,
            sweeps: 10,
            bootstrap: 20,
            held_out: 0.1,
            seed: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Synth;
    use super::*;

    #[test]
    fn more_tables_than_fit_into_memory_are_refused() {
        let drawn = Synth { variables: 6, samples: 300, ..Synth::default() }.draw().unwrap();
        for bootstrap in [10_001, 1_000_000_000] {
            let error = Params { bootstrap, ..Params::new(2) }.fit(&drawn.table).unwrap_err().to_string();
            assert!(error.contains("bootstrap") && error.contains("at most 10000"), "{error}");
        }
    }
}
