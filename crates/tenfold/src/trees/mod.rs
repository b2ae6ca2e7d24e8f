//! Trees of hidden variables above observed ones: structure and parameters together.
//!
//! # Model
//! Observed variables are joined by a tree (or a forest) whose other nodes are hidden and have k states. Given its parent a node is
//! independent of all that is not below it: P(x, h) = Π P(h | parent) Π P(x | h). Variables are categories, flags, counts or real
//! vectors, mixed as they come; some of them may stand inside the tree.
//!
//! # Moments
//! With centred features the cross moments of two variables have rank k − 1 and multiply along the path between them, so
//!
//! d(a, b) = −Σ_{l<k} log σ_l(Σ_aa^(−1/2) Σ_ab Σ_bb^(−1/2))
//!
//! adds up along paths ([`Spectra`]): distances tell the tree ([`structure`]). Three variables in different branches of a hidden node
//! have a third moment of rank k whose components are the emissions of its states (`triplets`); pairs of them give the tables along
//! the edges. Sweeps of belief propagation polish both ([`Polish`]), and an edge that the likelihood does not pay for is
//! contracted ([`Network::weigh`]).
//!
//! # Example
//! ```
//! use tenfold::trees::{Params, Synth};
//! let drawn = Synth { variables: 9, samples: 5000, ..Synth::default() }.draw()?;
//! let model = Params { bootstrap: 0, ..Params::new(2) }.fit(&drawn.table)?;
//! assert_eq!(model.tree().observed(), 9);
//! # Ok::<(), tenfold::Error>(())
//! ```
//!
//! # What differs from the thesis
//! Its distance divides by whole determinants and is no distance where variables are wider than k − 1: the leading canonical
//! correlations are used. Hidden states need no alignment between neighbourhoods, because tables are estimated for every edge. The
//! number of states comes from a test of ranks over the pairs of the spanning tree. Edges are contracted by their worth.
//!
//! # References
//! Choi, Tan, Anandkumar and Willsky, "Learning latent tree graphical models", JMLR 12 (2011) 1771–1812. Huang, Niranjan,
//! Perros, Chen, Sun and Anandkumar, "Scalable latent tree model and its application to health analytics", 2014.

mod belief;
mod chi;
mod choices;
mod chowliu;
mod clusters;
mod conform;
mod data;
mod distances;
pub mod export;
mod fit;
mod forest;
mod memory;
mod model;
mod moments;
mod network;
mod newick;
mod nexus;
mod picture;
mod plan;
mod polish;
mod rank;
pub mod read;
mod report;
pub mod structure;
mod synth;
mod tree;
mod triplets;
mod units;
mod weigh;
mod write;

pub use belief::{Expected, MostProbable, Posterior};
pub use choices::{Contraction, Params};
pub use clusters::clusters;
pub use data::{Kind, Row, Table, Variable};
pub use distances::Distances;
pub use model::{Diagnostics, Inference, Model};
pub use moments::Spectra;
pub use network::{Draw, Emission, Network, Node};
pub use newick::{parse_tree, read_tree, to_newick, to_nexus};
pub use picture::{Edge, HeldOut, Picture, Shown};
pub use polish::{Polish, Polished};
pub use rank::{Rank, RankStep};
pub use synth::{Drawn, DrawnEvents, Emits, Events, GaussianTree, Shape, Synth};
pub use tree::Tree;
pub use triplets::Started;
pub use weigh::Weighed;
pub use write::{write_events, write_groups, write_samples, write_tree};
