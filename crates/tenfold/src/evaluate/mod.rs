//! Plain arrays in, a number out: how near a result is to the truth.

mod separation;

pub use separation::amari_distance;
