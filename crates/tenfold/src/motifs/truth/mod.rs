//! Known event times, to measure what was found against.

mod annotations;
mod mat;
mod table;

use crate::error::{Error, Result};
use std::collections::HashMap;
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
    /// Bytes after which unpacking is given up. `None`: 4 GiB.
    pub max_decompressed: Option<u64>,
}

impl TruthOptions {
    fn most(&self) -> u64 {
        self.max_decompressed.unwrap_or(4 << 30)
    }
}

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

/// The names of kinds as they come: a text for every event would take many times the events.
#[derive(Debug, Default)]
struct Labels {
    places: HashMap<String, usize>,
    names: Vec<String>,
}

/// The kind of an event without a name, until all are known.
const NAMELESS: usize = usize::MAX;

impl Labels {
    /// The kind of this name, so far.
    fn kind(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.places.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    /// Gives kinds their numbers: whole numbers by size, other names as they come.
    fn finish(self, events: &mut [TrueEvent]) -> Vec<String> {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let wholes: Option<Vec<u64>> = self.names.iter().map(|name| name.parse().ok()).collect();
        if let Some(wholes) = wholes {
            order.sort_by_key(|&i| wholes[i]);
        }
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| number[old] = new);
        events.iter_mut().for_each(|event| event.kind = number.get(event.kind).copied().unwrap_or(0));
        order.into_iter().map(|i| self.names[i].clone()).collect()
    }
}

fn fail(path: &Path, line: Option<u64>, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Read { path: path.to_owned(), line, problem: problem.into(), remedy: remedy.into() }
}
