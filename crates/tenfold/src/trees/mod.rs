//! Trees of hidden variables above observed ones: structure and parameters together.

mod belief;
mod chowliu;
mod data;
mod distances;
mod network;
mod plan;
mod polish;
mod synth;
mod tree;
mod triplets;
mod weigh;

pub use belief::{Expected, MostProbable, Posterior};
pub use data::{Kind, Row, Table, Variable};
pub use distances::Distances;
pub use network::{Draw, Emission, Network, Node};
pub use polish::{Polish, Polished};
pub use synth::{Drawn, Emits, Shape, Synth};
pub use tree::Tree;
pub use triplets::Started;
pub use weigh::Weighed;
