//! Cells found in an image.

mod atom;
mod background;
mod choices;
mod field;
mod filter;
mod find;
mod group;
mod moves;
mod prior;
mod sample;
mod scale;
mod seams;
mod seeds;
mod settle;
mod shape;
mod tiles;

pub use choices::{Diagnostics, Found, Params};
