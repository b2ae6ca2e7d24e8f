//! Communities: the thesis's tables, on drawn graphs and on real ones that may be had, and what a million nodes cost.

mod drawn;

pub use drawn::run as drawn;
