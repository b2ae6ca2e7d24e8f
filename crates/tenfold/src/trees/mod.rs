//! Trees of hidden variables above observed ones: structure and parameters together.

mod chi;
mod data;
mod distances;
mod forest;
mod moments;
mod network;
mod rank;
pub mod structure;
mod synth;
mod tree;

pub use data::{Kind, Row, Table, Variable};
pub use distances::Distances;
pub use moments::Spectra;
pub use network::{Draw, Emission, Network, Node};
pub use rank::{Rank, RankStep};
pub use synth::{Drawn, DrawnEvents, Emits, Events, GaussianTree, Shape, Synth};
pub use tree::Tree;
