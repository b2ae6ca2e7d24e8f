//! experiments.
fn main() {}
