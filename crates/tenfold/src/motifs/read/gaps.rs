//! Values that are missing: refused with their place, or cut out.

use super::{ReadOptions, fail};
use crate::error::{Error, Result};
use crate::motifs::data::Stretch;
use std::path::Path;

/// Stretches without gaps. A signal is cut at every sample that one of its channels lacks. An image, or a window that is closed to a circle,
/// cannot be cut and is left out.
///
/// # Errors
/// The first missing value, unless gaps are to be cut; and when nothing is left.
pub(super) fn cut(
    path: &Path,
    trials: Vec<Stretch>,
    channels: &[String],
    options: &ReadOptions,
) -> Result<Vec<Stretch>> {
    if !options.skip_nan
        && let Some(first) = trials.iter().find(|t| t.values.iter().any(|x| !x.is_finite()))
    {
        return Err(refusal(path, first, &trials, channels));
    }
    let mut kept = Vec::with_capacity(trials.len());
    for trial in trials {
        trial.without_gaps(channels.len(), options.cyclic, &mut kept);
    }
    if kept.is_empty() {
        return Err(fail(
            path,
            "holds no sample without a gap",
            "give a file with at least one whole stretch",
        ));
    }
    Ok(kept)
}

fn refusal(path: &Path, first: &Stretch, trials: &[Stretch], channels: &[String]) -> Error {
    let at = first.values.iter().position(|x| !x.is_finite()).unwrap_or(0);
    let (size, width) = (first.extent.len().max(1), first.extent.columns.max(1));
    let (channel, inside) = (&channels[at / size], at % size);
    let missing: usize = trials.iter().map(|t| t.values.iter().filter(|x| !x.is_finite()).count()).sum();
    let place = match first.extent.is_plane() {
        true => format!("row {}, column {} of channel {channel} in image", inside / width, inside % width),
        false => format!("sample {} of channel {channel} in trial", first.offset + inside),
    };
    let values = if missing == 1 {
        "the only such value".into()
    } else {
        format!("the first of {missing} such values")
    };
    fail(
        path,
        format!("{place} {} is {}, {values} (all counted from 0)", first.trial, first.values[at]),
        "cut the signals there with --skip-nan, or fill the gaps",
    )
}
