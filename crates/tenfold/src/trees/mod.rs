//! Trees of hidden variables above observed ones: structure and parameters together.

mod data;
mod distances;
pub mod export;
mod network;
mod picture;
mod report;
mod synth;
mod tree;

pub use data::{Kind, Row, Table, Variable};
pub use distances::Distances;
pub use network::{Draw, Emission, Network, Node};
pub use picture::{Edge, HeldOut, Picture, Shown};
pub use synth::{Drawn, Emits, Shape, Synth};
pub use tree::Tree;
