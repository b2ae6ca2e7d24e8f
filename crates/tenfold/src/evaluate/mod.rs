//! Plain arrays in, a number out: how near a result is to the truth, and how much sense it makes to a reader.
//!
//! For topics: [`Match`] compares with known topics, [`Cooccurrence`] and [`Coherence`] ask whether the top words of a
//! topic occur together, [`diversity`] and [`overlaps`] whether topics differ.
//!
//! For communities: [`Recovery`] compares memberships with known ones, by the thesis's matching and by the best one-to-one
//! matching. A [`Cover`] holds communities as lists of nodes, from memberships or labels; [`OverlappingNmi`],
//! [`omega_index`] and [`average_f1`] compare two of them, [`nmi`] compares labels. [`bridgeness`] ranks nodes between
//! communities, [`auc`] says how well held-out links are predicted.
//!
//! For motifs: [`filter_errors`] compares with known ones whatever their order, sign and shift. [`event_f1`] compares the times at which
//! motifs fire with known events of known kinds, [`detection_f1`] and [`best_detection`] with events whose kinds are not
//! known.
//!
//! For trees: [`robinson_foulds`], [`path_difference`] and [`quartet_distance`] compare with a known tree,
//! [`adjusted_rand_index`] and [`nmi`] compare clusters cut from a tree with known groups.

mod auc;
mod bridgeness;
mod coherence;
mod cooccurrence;
mod cover;
mod diversity;
mod events;
mod f1;
mod filters;
mod intersections;
mod matching;
mod nmi;
mod omega;
mod onmi;
mod rand_index;
mod recovery;
mod separation;
mod trees;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod samples;

pub use auc::auc;
pub use bridgeness::{bridgeness, bridgeness_of, degree_corrected_bridgeness};
pub use coherence::Coherence;
pub use cooccurrence::Cooccurrence;
pub(crate) use cooccurrence::TogetherInDocuments;
pub use cover::Cover;
pub use diversity::{diversity, overlaps, top_words};
pub use events::{
    Detection, EventMatch, EventScore, Firing, KindScore, Tolerance, best_detection, detection_f1, event_f1,
};
pub use f1::average_f1;
pub use filters::{FilterBank, FilterMatch, filter_errors};
pub use matching::{Match, total_variation};
pub use nmi::nmi;
pub use omega::omega_index;
pub use onmi::OverlappingNmi;
pub use rand_index::adjusted_rand_index;
pub use recovery::{Pairing, Recovery, Truth};
pub use separation::amari_distance;
pub use trees::{
    PathLength, QuartetDistance, RobinsonFoulds, path_difference, quartet_distance, robinson_foulds,
};
