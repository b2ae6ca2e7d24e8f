//! Topics in text: latent Dirichlet allocation by its moments.

mod choose;
mod data;
mod fit;
mod model;
mod moments;
pub mod read;
mod report;
mod spectral;
mod stability;
mod statistics;
mod synth;
mod update;
mod white;

pub use crate::components::Components;
pub use data::{Builder, Corpus, Documents};
pub use fit::{Params, Polish};
pub use model::{Bridge, Diagnostics, Model, Representative, TopWord};
pub use synth::{Drawn, Mixtures, Shape, Source, Synth, THEMES};
pub use update::Updated;
