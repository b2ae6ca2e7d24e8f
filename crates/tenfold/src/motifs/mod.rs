//! Motifs that repeat anywhere in a signal or an image: convolutional dictionaries by higher-order statistics.

pub mod baseline;
mod channels;
mod choices;
mod choose;
mod data;
pub mod decode;
mod events;
mod extent;
mod filters;
mod fit;
mod learn;
mod model;
mod moments;
mod picture;
pub mod sparse;

pub use choices::{Length, Orders, Params, Solver};
pub use data::{Signals, Stretch};
pub use events::Event;
pub use extent::Extent;
pub use filters::Filters;
pub use model::{Diagnostics, Model};
pub use picture::Picture;
