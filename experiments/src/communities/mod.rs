//! Communities: the thesis's tables, on drawn graphs and on real ones that may be had, and what a million nodes cost.

mod attributes;
mod drawn;
mod shapes;

pub use attributes::run as attributes;
pub use drawn::run as drawn;
pub use shapes::run as shapes;
