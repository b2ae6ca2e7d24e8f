//! Arrays of any number of dimensions: `.npy`, and the arrays of Matlab files.

use super::{Layout, Raw, ReadOptions, fail, numbered, recording};
use crate::error::Result;
use crate::input::{Array, read_with_gaps};
use crate::memory::size_for_half;
use crate::motifs::data::Stretch;
use crate::motifs::extent::Extent;
use std::path::Path;

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Raw> {
    arrange(path, read_with_gaps(path, options.memory, &size_for_half)?, options.layout)
}

/// Trials out of an array, by its number of dimensions and the layout.
pub(super) fn arrange(path: &Path, array: Array, layout: Layout) -> Result<Raw> {
    let Array { shape, data } = array;
    if data.is_empty() {
        return Err(fail(path, format!("holds no numbers, shape {shape:?}"), "give at least one sample"));
    }
    let (count, channels, extent) = match (layout, &shape[..]) {
        (Layout::Auto | Layout::Windows | Layout::Channels, &[samples]) => (1, 1, Extent::line(samples)),
        (Layout::Auto | Layout::Windows, &[windows, samples]) => (windows, 1, Extent::line(samples)),
        (Layout::Channels, &[_, channels]) => {
            return Ok(Raw::new(vec![recording(&data, channels)], numbered(channels), None));
        }
        (Layout::Auto | Layout::Channels, &[trials, channels, times]) => {
            (trials, channels, Extent::line(times))
        }
        (Layout::Images, &[rows, columns]) => (1, 1, Extent::plane(rows, columns)),
        (Layout::Images, &[images, rows, columns]) => (images, 1, Extent::plane(rows, columns)),
        (Layout::Images, &[images, channels, rows, columns]) => {
            (images, channels, Extent::plane(rows, columns))
        }
        _ => {
            let name = format!("{layout:?}").to_lowercase();
            return Err(fail(
                path,
                format!("has shape {shape:?}, which cannot be read as --layout {name}"),
                "give windows × samples, trials × channels × times, or images × rows × columns with --layout images",
            ));
        }
    };
    let size = data.len() / count;
    let trials = match count {
        1 => vec![Stretch { values: data, extent, trial: 0, offset: 0 }],
        _ => data
            .chunks_exact(size)
            .enumerate()
            .map(|(trial, values)| Stretch { values: values.to_vec(), extent, trial, offset: 0 })
            .collect(),
    };
    Ok(Raw::new(trials, numbered(channels), None))
}
