//! Signals and images from files: `.npy`, `.csv` and `.tsv` (also `.gz` and `.zst` of these), `.parquet`, `.wav`, `.mat`,
//! `.edf`, and WFDB records (`.hea` with its `.dat`).
//!
//! Every reader gives [`Raw`] trials, which may have values that are missing; here channels are chosen and gaps are cut or refused, in one
//! place for all formats.

mod arrays;
mod edf;
mod gaps;
mod mat;
mod rates;
mod tables;
mod wfdb;

use super::data::{Signals, Stretch};
use super::extent::Extent;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use tenfold_engine::progress::Progress;

/// What the numbers of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// As the format has it: an array of two dimensions holds a window a row, a table a channel a column, an array of three
    /// dimensions trials × channels × times.
    #[default]
    Auto,
    /// Every row is a window.
    Windows,
    /// Every column is a channel of one recording. Windows of which it is known where they lie are joined to it.
    Channels,
    /// Rows and columns are those of an image; before them stands the image's number in three dimensions, that and the
    /// channel in four.
    Images,
}

/// How signals are read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// What the numbers are.
    pub layout: Layout,
    /// Samples a second, in place of what the file says.
    pub rate: Option<f64>,
    /// Channels to read, by name or by number from 0, in this order. `None` reads all.
    pub channels: Option<Vec<String>>,
    /// The variable of a Matlab file. `None`: the only one, or the largest, cells before plain arrays.
    pub variable: Option<String>,
    /// Whether signals are cut where values are missing; otherwise such a value is an error.
    pub skip_nan: bool,
    /// Whether stretches are closed to circles.
    pub cyclic: bool,
    /// Whether the first line of a text file holds names. `None` looks.
    pub header: Option<bool>,
    /// What separates the cells of a text file. `None`: a comma in `.csv`, a tab in `.tsv`.
    pub delimiter: Option<u8>,
    /// Bytes of memory for the numbers of a file; a larger one is an error. 8 GiB by default.
    pub memory: u64,
    /// Bytes after which unpacking is given up.
    pub max_decompressed: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            layout: Layout::Auto,
            rate: None,
            channels: None,
            variable: None,
            skip_nan: false,
            cyclic: false,
            header: None,
            delimiter: None,
            memory: 8 << 30,
            max_decompressed: 8 << 30,
        }
    }
}

/// What a reader found: trials whose values may be missing (not finite).
#[derive(Debug)]
struct Raw {
    trials: Vec<Stretch>,
    channels: Vec<String>,
    rate: Option<f64>,
    /// Whether the reader has chosen the channels itself.
    chosen: bool,
}

impl Raw {
    fn new(trials: Vec<Stretch>, channels: Vec<String>, rate: Option<f64>) -> Self {
        Self { trials, channels, rate, chosen: false }
    }
}

/// The types that are known, for messages.
const KNOWN: &str =
    ".npy, .csv, .tsv (also .gz, .zst of these), .parquet, .wav, .mat, .edf, .hea and .dat (WFDB)";

/// Reads signals or images; the type is told by the file's extension.
///
/// # Errors
/// A file that is missing, damaged or of unknown type, a layout that it cannot have, a channel that is not there, and a value that is
/// not finite unless [`ReadOptions::skip_nan`] is set.
///
/// # Example
/// ```
/// use tenfold::engine::progress::Silent;
/// use tenfold::motifs::{ReadOptions, read};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("heart.csv");
/// std::fs::write(&path, "left,right\n1,2\n3,4\n,6\n7,8\n").unwrap();
/// let error = read(&path, &ReadOptions::default(), &Silent).unwrap_err().to_string();
/// assert!(error.contains("sample 2 of channel left") && error.contains("--skip-nan"));
///
/// let signals = read(&path, &ReadOptions { skip_nan: true, ..ReadOptions::default() }, &Silent)?;
/// assert_eq!(signals.channels(), ["left", "right"]);
/// assert_eq!(signals.stretches()[0].values, [1.0, 3.0, 2.0, 4.0]);
/// assert_eq!(signals.stretches()[1].offset, 3);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Signals> {
    read_all(&[path], options, progress)
}

/// [`read`] of several files with the same channels and the same rate. The trials of a file are counted on from those of the file
/// before it.
///
/// # Errors
/// As [`read`], and files that do not belong together.
pub fn read_all<P: AsRef<Path>>(
    paths: &[P],
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Signals> {
    if let Some(rate) = options.rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
        let expected = "a number of samples a second above 0".into();
        return Err(Error::BadParameter { name: "rate".into(), value: rate.to_string(), expected });
    }
    let mut all: Option<(Vec<Stretch>, Vec<String>, Option<f64>)> = None;
    let mut begin = 0;
    for path in paths.iter().map(AsRef::as_ref) {
        progress.check()?;
        let mut raw = read_raw(path, options, progress)?;
        if let Some(wanted) = options.channels.as_ref().filter(|_| !raw.chosen) {
            let places = choose(path, &raw.channels, wanted)?;
            raw = raw.only(&places);
        }
        let trials = raw.trials.iter().map(|s| s.trial + 1).max().unwrap_or(0);
        let rate = options.rate.or(raw.rate);
        let mut stretches = gaps::cut(path, raw.trials, &raw.channels, options)?;
        stretches.iter_mut().for_each(|stretch| stretch.trial += begin);
        begin += trials;
        match &mut all {
            None => all = Some((stretches, raw.channels, rate)),
            Some((held, channels, held_rate)) => {
                if *channels != raw.channels || *held_rate != rate {
                    return Err(unlike(
                        path,
                        paths[0].as_ref(),
                        (channels, *held_rate),
                        (&raw.channels, rate),
                    ));
                }
                held.append(&mut stretches);
            }
        }
    }
    let (stretches, channels, rate) = all.ok_or_else(|| Error::Unfit {
        problem: "no file was given".into(),
        remedy: "name at least one file of signals".into(),
    })?;
    Ok(Signals::new(stretches, channels, rate, options.cyclic))
}

fn unlike(
    path: &Path,
    first: &Path,
    held: (&[String], Option<f64>),
    found: (&[String], Option<f64>),
) -> Error {
    let told = |(channels, rate): (&[String], Option<f64>)| {
        let rate = rate.map_or("an unknown rate".into(), |rate| format!("{rate} Hz"));
        format!("channels {} at {rate}", listed(channels))
    };
    let problem = format!("has {}, but {} has {}", told(found), first.display(), told(held));
    fail(
        path,
        problem,
        "files that are read together have the same channels and rate: choose with --channels and --rate",
    )
}

/// The files that are read for these: they themselves, and those that the headers of WFDB records name. No result may replace any.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir()?;
/// let head = folder.path().join("w.hea");
/// std::fs::write(&head, "w 1 360 4\nw.dat 212\n")?;
/// assert_eq!(tenfold::motifs::files_read(&[head.clone()]), [head.clone(), head, folder.path().join("w.dat")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn files_read(paths: &[PathBuf]) -> Vec<PathBuf> {
    let of_record = |path: &&PathBuf| {
        path.extension().is_some_and(|e| ["hea", "dat"].iter().any(|known| e.eq_ignore_ascii_case(known)))
    };
    let named = paths.iter().filter(of_record).flat_map(|path| wfdb::files(path));
    paths.iter().cloned().chain(named).collect()
}

fn read_raw(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Raw> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if options.variable.is_some() && extension != "mat" {
        return Err(Error::Unused { choice: "--variable", with: format!("a .{extension} file") });
    }
    let of_text = |name: &str| name.ends_with(".csv") || name.ends_with(".tsv");
    let unpacked = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    match extension {
        "npy" => arrays::read(path, options),
        "mat" => mat::read(path, options, progress),
        "edf" => edf::read(path, options, progress),
        "hea" | "dat" => wfdb::read(path, options, progress),
        "wav" | "parquet" => tables::read(path, options, progress),
        _ if of_text(unpacked) => tables::read(path, options, progress),
        other => Err(Error::UnsupportedFile {
            path: path.to_owned(),
            problem: match other {
                "" => "has no extension to tell its type by".into(),
                other => format!("files of type .{other} cannot be read as signals"),
            },
            known: KNOWN.into(),
        }),
    }
}

impl Raw {
    /// The channels at these places, in this order.
    fn only(self, places: &[usize]) -> Self {
        let channels = places.iter().map(|&c| self.channels[c].clone()).collect();
        let trials = self.trials.into_iter().map(|trial| {
            let size = trial.extent.len();
            let values =
                places.iter().flat_map(|&c| &trial.values[c * size..(c + 1) * size]).copied().collect();
            Stretch { values, ..trial }
        });
        Self { trials: trials.collect(), channels, ..self }
    }
}

/// The places of channels, asked for by name or by number from 0.
fn choose(path: &Path, names: &[String], wanted: &[String]) -> Result<Vec<usize>> {
    let mut places: Vec<usize> = Vec::new();
    for asked in wanted {
        let same = |name: &String| name.trim().eq_ignore_ascii_case(asked.trim());
        let place = names
            .iter()
            .position(|name| name == asked)
            .or_else(|| names.iter().position(same))
            .or_else(|| asked.trim().parse().ok().filter(|&c: &usize| c < names.len()));
        let Some(place) = place else {
            let problem = format!("has no channel {asked:?}; it has {}", listed(names));
            return Err(fail(path, problem, "choose --channels by name, or by number from 0"));
        };
        if places.contains(&place) {
            return Err(fail(
                path,
                format!("is asked twice for channel {asked:?}"),
                "name each channel once",
            ));
        }
        places.push(place);
    }
    if places.is_empty() {
        return Err(fail(path, "is asked for no channel", "name one, or leave --channels out"));
    }
    Ok(places)
}

/// Some names, for messages.
fn listed(names: &[String]) -> String {
    let some: Vec<&str> = names.iter().take(20).map(String::as_str).collect();
    let more = if names.len() > 20 { ", …" } else { "" };
    format!("{}{more}", some.join(", "))
}

/// Names of channels that have none: their numbers.
fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|c| c.to_string()).collect()
}

/// Refuses a layout that a file of channels cannot have.
fn only_channels(options: &ReadOptions, format: &str) -> Result<()> {
    let choice = match options.layout {
        Layout::Auto | Layout::Channels => return Ok(()),
        Layout::Windows => "--layout windows",
        Layout::Images => "--layout images",
    };
    Err(Error::Unused { choice, with: format.to_owned() })
}

/// One recording from samples that lie as rows, channels as columns.
fn recording(table: &[f64], channels: usize) -> Stretch {
    let samples = table.len() / channels;
    let mut values = Vec::with_capacity(table.len());
    (0..channels).for_each(|c| values.extend(table[c..].iter().step_by(channels)));
    Stretch { values, extent: Extent::line(samples), trial: 0, offset: 0 }
}

fn fail(path: &Path, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Read { path: path.to_owned(), line: None, problem: problem.into(), remedy: remedy.into() }
}
