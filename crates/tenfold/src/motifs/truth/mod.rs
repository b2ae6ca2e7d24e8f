//! Known event times, to measure what was found against.

mod annotations;
mod mat;
mod table;

use crate::error::{Error, Result};
use std::path::Path;
use tenfold_engine::progress::Progress;

/// An event that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrueEvent {
    /// The trial of the signals, from 0.
    pub trial: usize,
    /// When, in samples from the beginning of the trial.
    pub sample: f64,
    /// Its kind, a place in [`Truth::labels`]; 0 where kinds are not known.
    pub kind: usize,
}

/// Known events, in the order of their file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Truth {
    /// The events.
    pub events: Vec<TrueEvent>,
    /// Names of the kinds, in order; empty where kinds are not known. Whole numbers stand in order of size, other names in order of
    /// appearance.
    pub labels: Vec<String>,
}

/// Which annotations of a WFDB file are events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Annotations {
    /// Those that mark a heart beat.
    #[default]
    Beats,
    /// All, also changes of rhythm, noise and notes.
    All,
}

/// How known events are read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TruthOptions {
    /// Samples a second of the signals. With it a column `time` is in seconds, without it in samples.
    pub rate: Option<f64>,
    /// Which annotations of a WFDB file are events.
    pub annotations: Annotations,
    /// The variable of a Matlab file. `None`: the only vector.
    pub variable: Option<String>,
}

/// Most bytes that a file of events may unpack to.
const MOST: u64 = 4 << 30;

/// Reads known events; the type is told by the file's extension.
///
/// - `.csv`, `.tsv` (also `.gz`, `.zst`), with names in the first line: `sample` counts samples from 0; or `time` is in seconds where a
///   rate is known, and in samples where none is. A column `motif` (or `label`, `kind`) names kinds, `trial` counts trials
///   from 0. Other columns are passed over.
/// - `.mat`: a vector of sample numbers, which Matlab counts from 1.
/// - Anything else is an annotation file of WFDB, such as `.atr` or `.qrs`.
///
/// # Errors
/// A file that is missing or damaged, or holds no event.
///
/// # Example
/// ```
/// use tenfold::engine::progress::Silent;
/// use tenfold::motifs::truth::{TruthOptions, read};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("spikes.csv");
/// std::fs::write(&path, "time,motif\n0.5,b\n1.25,a\n").unwrap();
/// let truth = read(&path, &TruthOptions { rate: Some(100.0), ..Default::default() }, &Silent)?;
/// assert_eq!(truth.labels, ["b", "a"]);
/// assert_eq!((truth.events[1].sample, truth.events[1].kind), (125.0, 1));
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read(path: &Path, options: &TruthOptions, progress: &dyn Progress) -> Result<Truth> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let unpacked = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let truth = match unpacked.rsplit_once('.').map_or("", |(_, extension)| extension) {
        extension @ ("csv" | "tsv") => table::read(path, extension == "tsv", options, progress)?,
        "mat" => mat::read(path, options, progress)?,
        _ => annotations::read(path, options)?,
    };
    if truth.events.is_empty() {
        return Err(fail(path, None, "holds no events", "give a file with at least one event"));
    }
    Ok(truth)
}

/// Gives kinds their numbers: whole numbers by size, other names as they come.
fn numbered(names: Vec<Option<String>>, events: &mut [TrueEvent]) -> Vec<String> {
    let mut places = std::collections::HashMap::new();
    let mut labels: Vec<String> = Vec::new();
    for name in names.iter().flatten() {
        if !places.contains_key(name) {
            places.insert(name.clone(), labels.len());
            labels.push(name.clone());
        }
    }
    let wholes: Option<Vec<u64>> = labels.iter().map(|label| label.parse().ok()).collect();
    if let Some(wholes) = wholes {
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|&i| wholes[i]);
        labels = order.iter().map(|&i| labels[i].clone()).collect();
        places = labels.iter().cloned().zip(0..).collect();
    }
    for (event, name) in events.iter_mut().zip(&names) {
        event.kind = name.as_ref().map_or(0, |name| places[name]);
    }
    labels
}

fn fail(path: &Path, line: Option<u64>, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Read { path: path.to_owned(), line, problem: problem.into(), remedy: remedy.into() }
}
