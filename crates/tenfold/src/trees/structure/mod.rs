//! From distances to a tree.
//!
//! # Steps
//! 1. A start. `insertion` adds variables one by one in the order of the minimum spanning tree: each walks from its nearest
//!    neighbour while quartets of near variables say so, and so only short distances are used, which are the ones that samples
//!    know well. `joining` is neighbour joining; `grouping` is recursive grouping in the neighbourhoods of the spanning tree, whose
//!    local trees `merge` puts together (the thesis's way).
//! 2. Repair of the binary tree. `quartets` interchanges the branches of an edge where weighted quartets say so; for
//!    phylogenies `evolution` moves whole branches while the balanced length falls.
//! 3. `contract` removes inner edges that are not there beyond their error, and lets observed variables rise to inner places.
//! 4. `lengths` measures every edge that is left, with its standard error.
//!
//! Exact distances give the true tree by every route. On samples neighbour joining fails on chains, since it listens to
//! distances too long to be known; [`Method::Auto`] tries several starts and keeps the tree that explains the
//! correlations best.
//!
//! # References
//! Huang, Niranjan, Hakeem and Anandkumar, "Guaranteed scalable learning of latent tree models", 2014. Choi, Tan, Anandkumar and
//! Willsky, "Learning latent tree graphical models", 2011.

mod binary;
mod branches;
mod contract;
mod evolution;
mod grouping;
mod insertion;
mod joining;
mod lengths;
mod linear;
mod merge;
mod pairs;
mod quartets;
mod score;
mod spanning;
#[cfg(test)]
mod tests;

pub use contract::{Limits, contract};
pub use joining::joining;
pub use lengths::{Edge, measure};
pub use spanning::spanning;

use super::distances::Distances;
use super::tree::Tree;
use crate::error::Result;
use pairs::Pairs;
use tenfold_engine::progress::Progress;

/// How a tree is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Several starts, each repaired; the one that explains the correlations best.
    #[default]
    Auto,
    /// Variables inserted in the order of the spanning tree, repaired by quartets.
    Insertion,
    /// Neighbour joining, repaired by quartets. For few variables; fails on long chains.
    Joining,
    /// Local recursive grouping merged along the spanning tree, repaired by quartets.
    Grouping,
    /// Neighbour joining, repaired by balanced minimum evolution. For phylogenies.
    Evolution,
}

impl Method {
    /// Every method with its name on the command line and in files.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("auto", Self::Auto),
        ("insertion", Self::Insertion),
        ("joining", Self::Joining),
        ("grouping", Self::Grouping),
        ("evolution", Self::Evolution),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, method)| *method == self).map_or("auto", |(name, _)| name)
    }

    /// The method of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, method)| *method)
    }
}

/// How a tree is found, and what is kept of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Choices {
    /// How it is found.
    pub method: Method,
    /// Which edges are contracted.
    pub limits: Limits,
}

/// Above this neighbour joining, which costs p³ and listens to long distances, is no longer tried.
const JOINING: usize = 500;

/// Neighbour joining is kept only when its misfit is lower by this factor. Measured: differences of a tenth say nothing (at 500
/// variables a tree with thrice the errors had a misfit 7 % lower), on chains its misfit is half as large again or more.
const CLEARLY: f64 = 0.8;

/// A tree of one component from its distances: found, repaired, contracted and measured. Observed variables may be inner nodes.
///
/// # Complexity
/// O(p³) up to 500 variables, O(p²) above.
///
/// # Errors
/// When a distance is not a number, or the caller stops the run.
///
/// # Example
/// ```
/// use tenfold::engine::progress::Silent;
/// use tenfold::trees::{Distances, structure};
/// // Two pairs with a long edge between them.
/// let distances = Distances::new(4, vec![1.0, 2.0, 2.0, 2.0, 2.0, 1.0], vec![]);
/// let tree = structure::learn(&distances, &structure::Choices::default(), &Silent)?;
/// let hidden: Vec<usize> = tree.hidden().collect();
/// assert_eq!(tree.length(hidden[0], hidden[1]), Some(1.0));
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn learn(distances: &Distances, choices: &Choices, progress: &dyn Progress) -> Result<Tree> {
    let pairs = Pairs::new(distances)?;
    let tree = repaired(distances, &pairs, choices.method, progress)?;
    Ok(contract::with_pairs(distances, &pairs, &tree, &choices.limits).canonical())
}

/// The repaired tree before contraction: observed variables are leaves, hidden nodes have three neighbours, edges have the lengths
/// that distances give them. [`measure`] gives these with their errors, [`contract`] the rest of [`learn`].
///
/// # Errors
/// As [`learn`].
pub fn binary(distances: &Distances, method: Method, progress: &dyn Progress) -> Result<Tree> {
    Ok(repaired(distances, &Pairs::new(distances)?, method, progress)?.canonical())
}

fn repaired(distances: &Distances, pairs: &Pairs, method: Method, progress: &dyn Progress) -> Result<Tree> {
    let methods: &[Method] = match method {
        Method::Auto if pairs.count() > JOINING => &[Method::Insertion, Method::Grouping],
        Method::Auto => &[Method::Insertion, Method::Grouping, Method::Joining],
        _ => &[method],
    };
    let mut best: Option<(f64, Tree)> = None;
    for &method in methods {
        let mut tree = start(pairs, method, progress)?;
        progress.stage("repairing", 0);
        if method == Method::Evolution {
            evolution::shorten(&mut tree, pairs, progress)?;
        } else {
            quartets::interchange(&mut tree, pairs, progress)?;
        }
        let edges = lengths::with_pairs(distances, pairs, &tree);
        lengths::apply(&mut tree, &edges);
        let misfit = if methods.len() > 1 { score::misfit(&tree, pairs) } else { 0.0 };
        let clearly = if method == Method::Joining { CLEARLY } else { 1.0 };
        if best.as_ref().is_none_or(|b| misfit < clearly * b.0) {
            best = Some((misfit, tree));
        }
    }
    Ok(best.expect("there is a method").1)
}

fn start(pairs: &Pairs, method: Method, progress: &dyn Progress) -> Result<Tree> {
    let tree = match method {
        Method::Auto | Method::Insertion => insertion::grow(pairs, progress)?,
        Method::Joining | Method::Evolution => joining::of_pairs(pairs, progress)?,
        Method::Grouping => grouping::of_pairs(pairs, progress)?,
    };
    binary::binarise(&tree, pairs)
}
