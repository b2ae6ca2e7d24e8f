//! Draws tissue with known cells.

mod place;
mod render;
mod scatter;
mod types;

pub use render::{Background, Picture, Profile, Scene};
pub use scatter::{Look, Scatter, Scattered};
pub use types::{Drawn, DrawnCounts, SingleCells, Synth, TypeTruth};
