//! Cells as tables: CSV, TSV and Parquet, our own and those of other programs.
//!
//! The columns are `image,gene,x,y,r1,r2,orientation,intensity,neighbours`. Places and radii are in pixels, `orientation` is in
//! **radians** in [0, π), from the x axis towards the y axis, which points down; `intensity` is the height above the background.

mod aliases;
mod columns;
mod gather;
#[cfg(feature = "parquet")]
mod parquet;
mod text;
mod write;

pub use columns::Known;
pub use write::write;

use super::data::Tissue;
use crate::error::{Error, Result};
use crate::input::{Opening, Source};
use std::path::Path;
use tenfold_engine::progress::Progress;

/// How a table is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// µm on the side of a pixel: what is given in µm becomes pixels. `None` takes it as it stands, with a note.
    pub scale: Option<f64>,
    /// Bytes after which the decompression of a text or Parquet file is given up. 8 GiB by default.
    pub max_decompressed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { scale: None, max_decompressed: 8 << 30 }
    }
}

/// Cells that were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The cells, by image in the order of appearance.
    pub tissue: Tissue,
    /// Which features the table has. What it has not is NaN in every cell.
    pub known: Known,
    /// What was taken for what, and what is missing.
    pub notes: Vec<String>,
}

/// What to give in place of an empty file.
const WANTED: &str = "give a table of cells: image,gene,x,y,r1,r2,orientation,intensity,neighbours";

/// Reads cells from a table: `.csv`, `.tsv` (also `.gz` and `.zst` of these) or `.parquet`.
///
/// Columns are found by their names, in any order and spelling of capitals; many names that other programs give are known, such as
/// `centroid_x`, `X`, `area`, `major_axis_length` or QuPath's `Centroid X µm`. There must be places (`x` and `y`) and either a
/// `gene` or an `image`; where there is no gene, the image's name stands for it. Without radii, orientation or intensity these are
/// NaN, which [`Read::known`] and [`Read::notes`] tell. Rows in which such a cell is empty have NaN there too.
///
/// # Errors
/// A file that is missing, damaged or of another type, one without places, a line with another number of cells or with text where
/// a number should be.
///
/// # Example
/// ```
/// use tenfold::cells::table::{Options, read};
/// # use tenfold::engine::progress::Silent;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("points.csv");
/// std::fs::write(&path, "Gene,Centroid_X,Centroid_Y,Area\nGad1,10.5,20,78.5398\nSst,1,2,12.5664\n").unwrap();
/// let read = read(&path, &Options::default(), &Silent)?;
/// assert_eq!(read.tissue.genes(), ["Gad1", "Sst"]);
/// let cell = read.tissue.sections[0].cells[0];
/// assert_eq!((cell.x, (cell.r1 * 100.0).round()), (10.5, 500.0));
/// assert!(read.known.size && !read.known.intensity && cell.intensity.is_nan());
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read(path: &Path, options: &Options, progress: &dyn Progress) -> Result<Read> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let unpacked = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let extension = unpacked.rsplit_once('.').map_or("", |(_, extension)| extension);
    let opening = Opening { encoding: None, max_decompressed: options.max_decompressed, wanted: WANTED };
    let open = || Source::open(path, opening, progress);
    let read = match extension {
        "csv" | "tsv" | "txt" => text::read(&open()?, extension == "tsv", options, progress)?,
        #[cfg(feature = "parquet")]
        "parquet" => parquet::read(&open()?.plain(opening, progress)?, options, progress)?,
        other => {
            let problem = match other {
                "" => "has no extension to tell its type by".into(),
                "parquet" => "this build was made without the feature `parquet`".into(),
                _ => format!("files of type .{other} cannot be read as a table of cells"),
            };
            let known = ".csv, .tsv, .csv.gz, .csv.zst, .tsv.gz, .tsv.zst and .parquet".into();
            return Err(Error::UnsupportedFile { path: path.to_owned(), problem, known });
        }
    };
    if read.tissue.is_empty() {
        let problem = "holds no cells".into();
        return Err(Error::Read { path: path.to_owned(), line: None, problem, remedy: WANTED.into() });
    }
    Ok(read)
}
