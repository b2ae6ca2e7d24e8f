//! Draws tissue with known cells.

mod render;
mod scatter;

pub use render::{Background, Picture, Profile, Scene};
pub use scatter::{Look, Scatter, Scattered};
