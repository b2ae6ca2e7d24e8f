//! Cell types from tissue images: spatial point processes, unmixed.
//!
//! # Model
//! Every image shows one gene: the cells that express it. Cells are found in the images ([`detect`]) and counted in a joint histogram
//! of their features (size, aspect, orientation, intensity). A bin m of the histogram mixes cell types, h^m on the simplex, and a
//! type t expresses genes by its profile β^t; the counts of bin m over genes are multinomial with Σ_t h^m_t β^t. Bins are the
//! documents, genes the words and types the topics of an admixture.
//!
//! # References
//! Huang, Anandkumar, Borgs, Chayes, Fraenkel, Hawrylycz, Lein, Ingrosso and Turaga, "Discovering neuronal cell types and their gene
//! expression profiles using a spatial point process mixture model", 2016.

mod choices;
mod choose;
mod counts;
mod data;
pub mod detect;
mod estimate;
mod expression;
mod features;
mod fit;
pub mod images;
pub mod masks;
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
