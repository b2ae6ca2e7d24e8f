//! Motifs that repeat anywhere in a signal or an image: convolutional dictionaries by higher-order statistics.

pub mod baseline;
mod data;
pub mod decode;
mod events;
mod extent;
mod filters;
pub mod sparse;

pub use data::{Signals, Stretch};
pub use events::Event;
pub use extent::Extent;
pub use filters::Filters;
