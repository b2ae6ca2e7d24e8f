//! Tables of numbers from files: `.npy`, `.csv`, `.tsv` (also `.gz` and `.zst` of these), `.parquet`, `.wav`.
//!
//! Samples are rows. A table that fits into [`Options::memory`] is held in memory; a larger one stays on disk
//! and its rows are read where they lie, so that every pass of the engine works on either. Whatever a file
//! claims about itself is checked against its real length before memory is set aside.

#[cfg(feature = "arrow")]
pub(crate) mod arrow;
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) mod cell;
#[cfg(feature = "parquet")]
pub(crate) mod cells;
pub(crate) mod decode;
mod disk;
mod guard;
mod layout;
#[cfg(feature = "arrow")]
mod lz4;
pub(crate) mod mat;
mod npy;
pub(crate) mod numbers;
mod packed;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod pieces;
mod ranges;
pub(crate) mod rows;
mod source;
mod text;
#[cfg(feature = "parquet")]
mod thrift;
mod wav;
mod wide;

pub(crate) use disk::Disk;
pub use disk::MISSING;
pub(crate) use guard::{Contents, TooMuch};
pub use npy::{Array, read_array};
pub(crate) use npy::{fortran_to_c, read_with_gaps};
pub(crate) use pieces::parse_pieces;
pub(crate) use ranges::parse_lines;
pub(crate) use source::{Opening, Source};
pub(crate) use text::{Packing, Told, UNPACK, unpacked};

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use tenfold_engine::linalg::{Mat, Rows};
use tenfold_engine::progress::{Progress, Silent};

/// How a table is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Bytes of memory for the numbers; a larger table stays on disk. 2 GiB by default.
    pub memory: u64,
    /// Whether the first line of a text file holds names. `None` looks: a first line with a word in it does.
    pub header: Option<bool>,
    /// What separates the cells of a text file. `None`: a comma in `.csv`, a tab in `.tsv`.
    pub delimiter: Option<u8>,
    /// Columns of a text or Parquet file to read, in this order. `None` reads all.
    pub columns: Option<Vec<String>>,
    /// Whether missing values are read, as NaN: empty cells, `NA` and the like, nulls, and numbers that are not finite. Otherwise
    /// they are errors.
    pub gaps: bool,
    /// Bytes after which the decompression of a text or Parquet file is given up. 8 GiB by default: a small file can
    /// otherwise unpack to more than any machine holds.
    pub max_decompressed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            memory: 2 << 30,
            header: None,
            delimiter: None,
            columns: None,
            gaps: false,
            max_decompressed: 8 << 30,
        }
    }
}

/// A table of numbers, samples in rows, in memory or on disk; all are finite unless [`Options::gaps`] was asked for.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    opened: Opened,
    gaps: bool,
}

/// What a reader found in a file.
#[derive(Debug)]
struct Opened {
    names: Vec<String>,
    /// Whether the names stand in the file.
    named: bool,
    rows: usize,
    rate: Option<u32>,
    /// How the numbers are stored, as the end of a sentence about columns.
    stored_as: String,
    store: Store,
}

#[derive(Debug)]
enum Store {
    Memory(Mat),
    Disk(Box<dyn Stored>),
}

/// Rows that lie in a file. Values may still be non-finite; [`Table`] checks them in one place.
trait Stored: Send + Sync + std::fmt::Debug {
    /// Fills `out` with the rows from `start` on.
    fn read(&self, start: usize, out: &mut [f64]) -> Result<()>;
    /// Fills `out` with all rows; a format of known size does better and looks between pieces whether to stop.
    fn read_all(&self, out: &mut [f64], progress: &dyn Progress) -> Result<()> {
        progress.check()?;
        self.read(0, out)
    }
}

/// The types [`open`] knows, for messages.
const KNOWN: &str = ".npy, .csv, .tsv, .csv.gz, .csv.zst, .tsv.gz, .tsv.zst, .parquet and .wav";

/// Opens a table of numbers; the type is told by the file's extension.
///
/// # Errors
/// A file that is missing, empty, of unknown type, damaged, ragged, or holds anything but finite numbers. Text
/// files are checked to the end here. The values of another file larger than [`Options::memory`] are checked as
/// the engine reads them, and an error then arrives as [`tenfold_engine::Error::Source`].
///
/// # Example
/// ```
/// use tenfold::engine::linalg::Rows;
/// use tenfold::input::{Options, open};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("heights.csv");
/// std::fs::write(&path, "left,right\n1.5,2\n-3,4e2\n").unwrap();
/// let table = open(&path, &Options::default())?;
/// assert_eq!(table.names(), ["left", "right"]);
/// assert_eq!(table.borrow_rows(1, 2), Some(&[-3.0, 400.0][..]));
/// assert_eq!(table.describe(), "heights.csv: 2 samples × 2 columns of text");
///
/// std::fs::write(&path, "left,right\n1.5,2\n-3\n").unwrap();
/// let error = open(&path, &Options::default()).unwrap_err().to_string();
/// assert!(error.contains("line 3"));
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn open(path: &Path, options: &Options) -> Result<Table> {
    open_with(path, options, &Silent)
}

/// [`open`] with a listener that may stop it. The steps of its stage are bytes of a text file, numbers of another.
///
/// # Errors
/// As [`open`], and when the listener stops the run.
pub fn open_with(path: &Path, options: &Options, progress: &dyn Progress) -> Result<Table> {
    let reader = Reader::of(path)?;
    if options.columns.is_some() && matches!(reader, Reader::Npy | Reader::Wav) {
        return Err(Error::BadParameter {
            name: "columns".into(),
            value: options.columns.clone().unwrap_or_default().join(","),
            expected: "columns are chosen by name in text and Parquet files only".into(),
        });
    }
    let disk = Disk::open(path)?;
    if disk.len() == 0 {
        return Err(disk.fail("is empty", "give a file with at least one row of numbers"));
    }
    let stage = format!("reading {}", file_name(path));
    let mut opened = match reader {
        Reader::Npy => npy::open(&disk)?,
        Reader::Wav => wav::open(&disk)?,
        Reader::Text(format) => {
            progress.stage(&stage, disk.len());
            text::open(&disk, format, options, progress)?
        }
        #[cfg(feature = "parquet")]
        Reader::Parquet => parquet::open(&disk, options)?,
    };
    if opened.rows == 0 || opened.names.is_empty() {
        let shape = format!("{} rows × {} columns", opened.rows, opened.names.len());
        return Err(
            disk.fail(format!("holds no data ({shape})"), "give a file with at least one row of numbers")
        );
    }
    if let Store::Disk(stored) = &opened.store
        && dense_bytes(opened.rows, opened.names.len()) <= options.memory
    {
        let mut data = vec![0.0; opened.rows * opened.names.len()];
        progress.stage(&stage, data.len() as u64);
        stored.read_all(&mut data, progress)?;
        if !options.gaps {
            check_finite(path, &opened.names, 0, &data)?;
        }
        opened.store = Store::Memory(Mat::from_vec(opened.rows, opened.names.len(), data));
    }
    Ok(Table { path: path.to_owned(), opened, gaps: options.gaps })
}

impl Table {
    /// The columns' names: from the file's header, or `c1`, `c2`, … (`ch1`, `ch2`, … for sound).
    pub fn names(&self) -> &[String] {
        &self.opened.names
    }

    /// Whether the names stand in the file; otherwise they are numbers only, and say nothing about what was measured.
    pub fn is_named(&self) -> bool {
        self.opened.named
    }

    /// Bytes of memory that the numbers take; 0 when they are read from disk.
    pub fn held_bytes(&self) -> u64 {
        match self.opened.store {
            Store::Memory(_) => dense_bytes(self.rows(), self.cols()),
            Store::Disk(_) => 0,
        }
    }

    /// Samples a second, where the file says so.
    pub fn rate(&self) -> Option<u32> {
        self.opened.rate
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// One line for people: name, shape, and how the numbers are stored.
    pub fn describe(&self) -> String {
        let name = file_name(&self.path);
        let Opened { names, rows, stored_as, .. } = &self.opened;
        let rate = self.rate().map(|rate| format!(" at {rate} Hz")).unwrap_or_default();
        let place = if matches!(self.opened.store, Store::Disk(_)) { ", read from disk" } else { "" };
        format!("{name}: {rows} samples × {} columns of {stored_as}{rate}{place}", names.len())
    }
}

impl Rows for Table {
    fn rows(&self) -> usize {
        self.opened.rows
    }

    fn cols(&self) -> usize {
        self.opened.names.len()
    }

    fn read_rows(&self, start: usize, out: &mut [f64]) -> tenfold_engine::Result<()> {
        match &self.opened.store {
            Store::Memory(mat) => mat.read_rows(start, out),
            Store::Disk(stored) => {
                stored.read(start, out)?;
                if !self.gaps {
                    check_finite(&self.path, &self.opened.names, start, out)?;
                }
                Ok(())
            }
        }
    }

    fn borrow_rows(&self, start: usize, end: usize) -> Option<&[f64]> {
        match &self.opened.store {
            Store::Memory(mat) => mat.borrow_rows(start, end),
            Store::Disk(_) => None,
        }
    }
}

/// A file type, by extension.
enum Reader {
    Npy,
    Wav,
    Text(text::Format),
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Reader {
    fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if let Some(format) = text::Format::of(&name) {
            return Ok(Self::Text(format));
        }
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "npy" => Ok(Self::Npy),
            "wav" => Ok(Self::Wav),
            #[cfg(feature = "parquet")]
            "parquet" => Ok(Self::Parquet),
            other => Err(Error::UnsupportedFile {
                path: path.to_owned(),
                problem: match other {
                    "" => "has no extension to tell its type by".into(),
                    "parquet" => "this build was made without the feature `parquet`".into(),
                    _ => format!("files of type .{other} cannot be read as a table"),
                },
                known: KNOWN.into(),
            }),
        }
    }
}

/// The last part of the path, for people.
fn file_name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
}

/// Bytes of the table as f64; what overflows is larger than any memory.
fn dense_bytes(rows: usize, cols: usize) -> u64 {
    (rows as u64).saturating_mul(cols as u64).saturating_mul(8)
}

/// `prefix1`, `prefix2`, …
fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (1..=count).map(|j| format!("{prefix}{j}")).collect()
}

fn check_finite(path: &Path, names: &[String], first_row: usize, block: &[f64]) -> Result<()> {
    match block.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Error::Read {
            path: path.to_owned(),
            line: None,
            problem: format!(
                "row {} (counted from 1), column {} is {}",
                first_row + at / names.len() + 1,
                names[at % names.len()],
                block[at]
            ),
            remedy: "every value must be a finite number: fill or drop such rows".into(),
        }),
    }
}
