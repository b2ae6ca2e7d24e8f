//! Cell types from tissue images: spatial point processes, unmixed.
//!
//! # Model
//! Every image shows one gene: the cells that express it. Cells are found in the images ([`detect`]) and counted in a joint histogram
//! of their features (size, aspect, orientation, intensity). A bin m of the histogram mixes cell types, h^m on the simplex, and a
//! type t expresses genes by its profile β^t; the counts of bin m over genes are multinomial with Σ_t h^m_t β^t. Bins are the
//! documents, genes the words and types the topics of an admixture.
//!
//! # From counts to types
//! Profiles are those of the largest posterior, Σ x ln(Σ_t h_t β_t) + η Σ ln β, by expectation maximisation ([`Params`]). It starts from the
//! tensor of third moments of genes within bins, from bins that are corners of all of them, and from chance; the likelihood after a few
//! steps says which start goes on. The memberships of bins are then inferred with a small Dirichlet prior. The number of types is the one by
//! which a binomial half of the cells predicts the other half best.
//!
//! # Example
//! ```
//! use tenfold::cells::{Params, Synth};
//! let drawn = Synth { types: 3, genes: 40, cells: 8000, ..Synth::default() }.draw()?;
//! let model = Params::new(3).fit(&drawn.tissue)?;
//! println!("{}", model.summary());
//! let posteriors = model.infer(&drawn.tissue)?;
//! assert_eq!(posteriors.sections[0].cols(), 3);
//! # Ok::<(), tenfold::Error>(())
//! ```
//!
//! # What differs from the thesis
//! - The thesis estimates β by least squares on simplices; that is [`Solver::Nmf`] here. The likelihood of the counts weighs them rightly and
//!   finds profiles that are nearer to the truth.
//! - In the fixed point for h the prior belongs inside the bracket: (Σ + α_i)/(L + Σα).
//! - Density is left out unless asked for: counted in the image of one gene it is no property of a type ([`Density`]).
//! - Perplexity is by completion: half of a cell's transcripts give its mixture, the other half is scored.
//!
//! # References
//! Huang, Anandkumar, Borgs, Chayes, Fraenkel, Hawrylycz, Lein, Ingrosso and Turaga, "Discovering neuronal cell types and their gene
//! expression profiles using a spatial point process mixture model", 2016.

mod choices;
mod choose;
mod counts;
mod covary;
mod data;
pub mod detect;
mod estimate;
mod expression;
mod features;
mod fit;
pub mod images;
pub mod masks;
mod memory;
mod model;
mod moments;
pub mod names;
mod neighbours;
mod nmf;
pub mod overlay;
mod picture;
mod plane;
pub mod region;
mod report;
mod starts;
pub mod synth;
pub mod table;
pub mod validate;

pub use choices::{Params, Solver};
pub use choose::CurvePoint;
pub use counts::GeneCounts;
pub use data::{Cell, Section, Tissue};
pub use expression::{Expression, GenesIn, read_expression, read_labels};
pub use features::{Bins, Density, Edges, Features, Histogram};
pub use model::{Diagnostics, Feature, Marker, Model, Posteriors, StartOutcome, Trait};
pub use neighbours::count_neighbours;
pub use picture::{Picture, Pictured};
pub use plane::{Pixels, Plane, Window};
pub use report::{Backdrop, Beside};
pub use synth::{Drawn, DrawnCounts, SingleCells, Synth, TypeTruth};
