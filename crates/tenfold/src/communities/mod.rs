//! Communities in graphs that overlap: the mixed membership block model by its moments.
//!
//! # The model
//! Node u has memberships π_u, drawn from Dirichlet(α), α0 = Σα, and an edge from u to v is there with probability π_uᵀ P π_v, or
//! there are Poisson(π_uᵀ P π_v) of them. With α0 = 0 a node belongs to one community.
//!
//! # The moments
//! A node with its neighbours is a star. Sums over pairs and triples of *different* leaves, seen through the leading directions of
//! the adjacency matrix, are corrected by α0 as those of topics are, whitened and decomposed; the components say where nodes of
//! a single community lie, and all others lie between them (see `moments`).
//!
//! # Memberships
//! In a dense graph they are least squares on the simplex, without what noise alone could have given. In a sparse one they are a
//! start for the Poisson likelihood of Ball, Karrer and Newman, with one more column for edges that belong to no community;
//! where edges have a direction both ends have memberships of their own.
//!
//! # Example
//! ```
//! use tenfold::communities::{Params, Synth};
//! use tenfold::evaluate::Recovery;
//! let drawn = Synth { nodes: 600, k: 4, alpha0: 0.2, ..Synth::default() }.draw()?;
//! let model = Params { alpha0: 0.2, seed: 7, ..Params::new(4) }.fit(&drawn.graph)?;
//! let found = Recovery::new(&drawn.memberships.to_mat(), &model.memberships().to_mat());
//! assert!(found.ratio() == 1.0 && found.mean_absolute_error() < 0.05);
//! # Ok::<(), tenfold::Error>(())
//! ```
//!
//! # What differs from the thesis, and why
//! - Every node is a hub, and pairs of equal leaves are taken out exactly, instead of a partition of the nodes: a quarter of the
//!   error's square, and simpler. The partition is there as [`Views::Partition`].
//! - Eigenvectors are computed to a residual, not for a number of iterations: unconverged ones were what failed.
//! - The decomposition is the polar iteration, all communities together, instead of stochastic gradients.
//! - A likelihood follows in sparse graphs, where the moments alone leave half of the error.
//! - The thesis's error counts only significant pairs; it is always shown beside the mean absolute error after matching.
//!
//! # References
//! Airoldi, Blei, Fienberg and Xing, "Mixed membership stochastic blockmodels", JMLR 9 (2008); Anandkumar, Ge, Hsu and Kakade, "A
//! tensor approach to learning mixed membership community models", JMLR 15 (2014); Ball, Karrer and Newman, "Efficient and
//! principled method for detecting communities in networks", Physical Review E 84 (2011).

mod assign;
mod chance;
mod choices;
mod compare;
mod connectivity;
mod data;
mod estimate;
mod export;
mod fit;
mod kmeans;
mod level;
mod likelihood;
mod links;
mod members;
mod memory;
mod model;
mod moments;
mod partition;
mod picture;
mod polish;
pub mod read;
mod report;
mod spectrum;
mod synth;
pub mod truth;

pub use crate::components::Components;
pub use choices::{Polish, Treatment, Views};
pub use compare::{Comparison, Measures, THRESHOLDS};
pub use data::{Attribute, Attributes, EdgeArrays, Ends, Graph, GraphBuilder, Ids, Kind, Piece};
pub use export::{
    check_cover_ids, check_members_path, write_connectivity, write_cover, write_gexf, write_gml,
    write_members,
};
pub use fit::Params;
pub use links::{LinkScore, held_out_score, hold_out};
pub use members::{Bridge, Members, Side, Threshold};
pub use model::{Diagnostics, Model};
pub use synth::{Drawn, Edges, Synth};
