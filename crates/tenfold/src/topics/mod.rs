//! Topics in text: latent Dirichlet allocation by its moments.

mod data;

pub use data::{Builder, Corpus, Documents};
