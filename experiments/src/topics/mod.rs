//! Topics: the thesis's tables on a corpus that may be had, what the polish is worth, and what it all costs.

pub mod newspaper;
