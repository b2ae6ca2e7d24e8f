//! Plain arrays in, a number out: how near a result is to the truth, and how much sense it makes to a reader.
//!
//! For topics: [`Match`] compares with known topics, [`Cooccurrence`] and [`Coherence`] ask whether the top words of a
//! topic occur together, [`diversity`] and [`overlaps`] whether topics differ.

mod coherence;
mod cooccurrence;
mod diversity;
mod matching;
mod separation;

pub use coherence::Coherence;
pub use cooccurrence::Cooccurrence;
pub use diversity::{diversity, overlaps, top_words};
pub use matching::{Match, total_variation};
pub use separation::amari_distance;
