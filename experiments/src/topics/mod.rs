//! Topics: the thesis's tables on a corpus that may be had, what the choices are worth, and what it all costs.

mod collection;
mod cost;
mod newspaper;
mod quality;
mod words;

pub use collection::{draw, run as collection};
pub use cost::run as cost;
pub use quality::{alpha0, polish};
pub use words::run as words;
