//! The tenfold command line.
fn main() {}
