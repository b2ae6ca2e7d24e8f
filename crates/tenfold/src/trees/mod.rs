//! Trees of hidden variables above observed ones: structure and parameters together.

mod data;
mod distances;
mod network;
mod newick;
mod nexus;
pub mod read;
mod synth;
mod tree;
mod write;

pub use data::{Kind, Row, Table, Variable};
pub use distances::Distances;
pub use network::{Draw, Emission, Network, Node};
pub use newick::{parse_tree, read_tree, to_newick, to_nexus};
pub use synth::{Drawn, Emits, Shape, Synth};
pub use tree::Tree;
pub use write::{write_events, write_groups, write_samples, write_tree};
