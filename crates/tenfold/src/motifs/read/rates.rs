//! Channels of different rates in one file.

use super::{ReadOptions, choose, fail, listed};
use crate::error::Result;
use std::path::Path;

/// The channels that are read: those asked for, which must have one rate, or all of the highest rate.
///
/// `samples` says how many samples of each channel lie in the same time.
pub(super) fn select(
    path: &Path,
    names: &[String],
    samples: &[usize],
    options: &ReadOptions,
) -> Result<Vec<usize>> {
    let places = match &options.channels {
        Some(wanted) => choose(path, names, wanted)?,
        None => {
            let most = samples.iter().max().copied().unwrap_or(0);
            (0..names.len()).filter(|&c| samples[c] == most).collect()
        }
    };
    let chosen: Vec<usize> = places.iter().map(|&c| samples[c]).collect();
    if chosen.windows(2).any(|pair| pair[0] != pair[1]) {
        let names: Vec<String> = places.iter().map(|&c| names[c].clone()).collect();
        let problem = format!("has channels of different rates among {}", listed(&names));
        return Err(fail(path, problem, "choose channels of one rate with --channels"));
    }
    if chosen.first().is_none_or(|&n| n == 0) {
        return Err(fail(path, "holds no channel with samples", "give a record with at least one signal"));
    }
    Ok(places)
}
