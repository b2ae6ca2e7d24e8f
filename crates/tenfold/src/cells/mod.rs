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

mod data;
pub mod detect;
pub mod images;
pub mod masks;
mod neighbours;
pub mod overlay;
mod plane;
pub mod region;
pub mod synth;
pub mod table;

pub use data::{Cell, Section, Tissue};
pub use neighbours::count_neighbours;
pub use plane::{Pixels, Plane, Window};
