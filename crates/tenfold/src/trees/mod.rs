//! Trees of hidden variables above observed ones: structure and parameters together.

mod chi;
mod belief;
mod chowliu;
mod data;
mod distances;
mod forest;
mod moments;
mod network;
mod rank;
pub mod structure;
mod plan;
mod polish;
mod synth;
mod tree;
mod triplets;
mod weigh;

pub use belief::{Expected, MostProbable, Posterior};
pub use data::{Kind, Row, Table, Variable};
pub use distances::Distances;
pub use moments::Spectra;
pub use network::{Draw, Emission, Network, Node};
pub use rank::{Rank, RankStep};
pub use synth::{Drawn, DrawnEvents, Emits, Events, GaussianTree, Shape, Synth};
pub use polish::{Polish, Polished};
pub use synth::{Drawn, Emits, Shape, Synth};
pub use tree::Tree;
pub use triplets::Started;
pub use weigh::Weighed;
