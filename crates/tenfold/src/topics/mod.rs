//! Topics in text: latent Dirichlet allocation by its moments.

mod data;
mod moments;
pub mod read;
pub mod report;
mod spectral;
mod white;

pub use data::{Builder, Corpus, Documents};
