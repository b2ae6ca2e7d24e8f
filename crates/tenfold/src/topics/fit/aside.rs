//! Which documents are kept aside during a fit.

/// Documents below which none can be spared to watch a polish.
pub(super) const FEWEST_WATCHED: usize = 200;
/// Documents below which none can be spared to judge numbers of topics.
const FEWEST_JUDGED: usize = 40;
/// Most documents that watch.
const MOST_HELD_OUT: usize = 2_000;

/// The share of the documents that watches the polish: every twentieth, at most 2,000 in all, none of a few.
pub(super) fn watched(documents: usize) -> f64 {
    if documents < FEWEST_WATCHED {
        0.0
    } else {
        (1.0 / 20.0f64).min(MOST_HELD_OUT as f64 / documents as f64)
    }
}

/// The share of the documents that judges numbers of topics: those that watch the polish, or a fifth where there are too
/// few for that; none where a fifth is no more than a handful.
pub(super) fn judging(documents: usize) -> f64 {
    match documents {
        0..FEWEST_JUDGED => 0.0,
        FEWEST_JUDGED..FEWEST_WATCHED => 0.2,
        _ => watched(documents),
    }
}
