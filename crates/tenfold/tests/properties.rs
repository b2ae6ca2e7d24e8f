//! What must not change a result does not, and what is not there is not found.
//!
//! Two kinds of questions over all applications. A property changes the data in a way whose effect is known (another order, other
//! names, twice the data, another unit, an empty sample, a variable of noise) and says whether the answer is then the same to the
//! last bit, up to rounding, or up to the error that chance makes. A case puts in data with nothing in them, or too little, or
//! too much asked for, and wants the verdict to say so; the same applications on good data must stay silent.
//!
//! `TENFOLD_PROPERTY_SEEDS` is how many draws each is tried on: a few here, many in `cargo xtask trust properties`, which reads the
//! lines that begin with `counted`.

#[path = "properties/cases.rs"]
mod cases;
#[path = "properties/counts.rs"]
mod counts;
#[path = "properties/draw.rs"]
mod draw;
#[path = "properties/numbers.rs"]
mod numbers;
#[path = "properties/same.rs"]
mod same;
#[path = "properties/tails.rs"]
mod tails;

use tenfold::verdict::{Level, Verdict};

/// How many draws; the first ones are always the same.
fn seeds(usual: u64) -> u64 {
    std::env::var("TENFOLD_PROPERTY_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// One line for the command that counts.
fn counted(kind: &str, application: &str, what: &str, (held, tried): (u64, u64)) {
    println!("counted\t{kind}\t{application}\t{what}\t{held}\t{tried}");
}

fn warnings(verdict: &Verdict) -> Vec<&str> {
    let doubts = verdict.findings().iter().filter(|(level, _)| *level == Level::Warning);
    doubts.map(|(_, text)| text.as_str()).collect()
}
