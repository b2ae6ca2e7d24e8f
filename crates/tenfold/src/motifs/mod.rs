//! Motifs that repeat anywhere in a signal or an image: convolutional dictionaries by higher-order statistics.

mod data;
mod events;
mod extent;
mod filters;
mod learn;
mod moments;

pub use data::{Signals, Stretch};
pub use events::Event;
pub use extent::Extent;
pub use filters::Filters;
