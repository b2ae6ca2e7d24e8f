//! Trees of hidden variables above observed ones: structure and parameters together.

mod belief;
mod data;
mod distances;
mod network;
mod plan;
mod synth;
mod tree;

pub use belief::{Expected, MostProbable, Posterior};
pub use data::{Kind, Row, Table, Variable};
pub use distances::Distances;
pub use network::{Draw, Emission, Network, Node};
pub use synth::{Drawn, Emits, Shape, Synth};
pub use tree::Tree;
