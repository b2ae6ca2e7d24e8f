//! Motifs that repeat anywhere in a signal or an image: convolutional dictionaries by higher-order statistics.

mod data;
mod events;
mod extent;
mod filters;
mod read;
mod synth;
pub mod truth;

pub use data::{Signals, Stretch};
pub use events::Event;
pub use extent::Extent;
pub use filters::Filters;
pub use read::{Layout, ReadOptions, read, read_all};
pub use synth::{Activation, Drawn, Shape, Synth};
