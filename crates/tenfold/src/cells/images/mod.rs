//! Images from files: PNG, JPEG and TIFF, as one channel in which cells are bright.
//!
//! What a file claims about itself is checked against its length before memory is set aside. A TIFF is read strip by strip or tile
//! by tile when a window asks for it, and a PNG that does not fit into memory is unpacked into a temporary file, so that images may
//! be larger than memory. Numbers of 16 bits keep them.

mod jpeg;
mod look;
mod png;
mod raw;
mod tiff;
mod tone;
mod write;

pub(super) use raw::{Raw, Shape};
pub use tone::{Polarity, Stain};
pub use write::{png_bytes, write_plane};

use super::detect::Params;
use super::plane::{Pixels, Plane, Window};
use crate::error::{Error, Result};
use crate::input::Disk;
use crate::memory::{PROGRAM, size_to_give};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tenfold_engine::progress::Progress;
use tone::Tone;

/// How an image is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What is looked at: a stain, a channel, or brightness.
    pub stain: Stain,
    /// Whether cells are darker or lighter than what is around them.
    pub polarity: Polarity,
    /// Bytes of memory for pixels. 2 GiB by default.
    pub memory: u64,
    /// Cells that are then sought, and find room for their tiles in the same memory; none by default.
    pub beside: Option<Params>,
    /// Most bytes that the pixels of a file may come to when they are unpacked, in memory, on disk, or tile by tile. 64 GiB by default.
    pub max_decompressed: u64,
}

/// Four gigapixels with three colours of 16 bits, and then some: what the largest slides have.
const UNPACKED: u64 = 64 << 30;

impl Default for Options {
    fn default() -> Self {
        Self {
            stain: Stain::Auto,
            polarity: Polarity::Auto,
            memory: 2 << 30,
            beside: None,
            max_decompressed: UNPACKED,
        }
    }
}

/// What readers of formats are given.
struct Reading<'a> {
    memory: u64,
    beside: Option<&'a Params>,
    max_decompressed: u64,
    progress: &'a dyn Progress,
}

impl Reading<'_> {
    /// Bytes for the pixels of an image.
    fn left(&self, shape: Shape) -> u64 {
        let size = (shape.width, shape.height);
        self.beside.map_or(self.memory, |params| params.left_for_pixels(size, self.memory))
    }

    /// The error for an image that cannot be read in parts, and takes so many bytes.
    fn too_large(&self, disk: &Arc<Disk>, shape: Shape, bytes: u64, remedy: &str) -> Error {
        let what = format!("{} × {} pixels ({bytes} bytes)", shape.width, shape.height);
        let left = self.left(shape);
        let problem =
            format!("holds {what} that can only be read as a whole, too many for {left} bytes of memory");
        let work = |params: &Params| params.needs((shape.width, shape.height), 0).work();
        let needed = bytes.saturating_add(self.beside.map_or(0, work));
        let advised = size_to_give(needed.saturating_add(PROGRAM));
        disk.fail(problem, format!("{remedy}, or give --memory {advised}"))
    }

    /// An error where the pixels come to more than was allowed, before they are unpacked.
    fn check(&self, disk: &Arc<Disk>, shape: Shape) -> Result<()> {
        let samples =
            (shape.width as u64).saturating_mul(shape.height as u64).saturating_mul(shape.channels as u64);
        // Pixels that take no more than the file are not packed.
        let limit = self.max_decompressed.max(disk.len());
        if samples.saturating_mul(u64::from(shape.bits.div_ceil(8))) <= limit {
            return Ok(());
        }
        let problem =
            format!("unpacks to more than {limit} bytes: {} × {} pixels", shape.width, shape.height);
        Err(disk.fail(problem, "if you trust it, raise --max-decompressed"))
    }
}

/// An image file that is open, seen as one channel. Its windows may be asked for from several threads.
pub struct Image {
    path: PathBuf,
    raw: Box<dyn Raw>,
    tone: Tone,
    notes: Vec<String>,
}

const KNOWN: &str = "PNG, JPEG and TIFF (told by their first bytes, not by the name)";

/// Opens an image. The format is told by the first bytes.
///
/// The value of a pixel with colours I_c is Σ_c w_c I_c for brightness, and Σ_c w_c · −log₁₀((I_c + 1) / (I0_c + 1)) for the density
/// of a stain (Beer and Lambert), where I0 is the light that falls through the background; see [`Stain`] for the weights. Where cells
/// are dark, brightness is turned around. Intensities are in the file's own units, densities have none.
///
/// # Errors
/// A file that is missing, empty, damaged or of another type; an image that does not fit into [`Options::memory`] and cannot be read
/// in parts; a channel that it does not have.
///
/// # Example
/// ```
/// use tenfold::cells::images::{Options, open, write_plane};
/// use tenfold::cells::{Pixels, Plane, Window};
/// # use tenfold::engine::progress::Silent;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("dark.png");
/// // A dark spot on light ground.
/// let spot = |i: usize| if (i % 64).abs_diff(20) + (i / 64).abs_diff(30) < 9 { 40.0 } else { 220.0 };
/// write_plane(&path, &Plane::new(64, 64, (0..64 * 64).map(spot).collect()))?;
/// let image = open(&path, &Options::default(), &Silent)?;
/// assert_eq!(image.size(), (64, 64));
/// let window = image.window(Window { x: 20, y: 10, width: 1, height: 21 })?;
/// assert_eq!((window.at(0, 20), window.at(0, 0)), (215.0, 35.0));
/// assert_eq!(image.describe(), "dark.png: 64 × 64 pixels of 8 bits, brightness, dark on light");
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn open(path: &Path, options: &Options, progress: &dyn Progress) -> Result<Image> {
    let reading = Reading {
        memory: options.memory,
        beside: options.beside.as_ref(),
        max_decompressed: options.max_decompressed,
        progress,
    };
    let (raw, mut notes) = open_within(path, &reading)?;
    let shape = raw.shape();
    if shape.channels > shape.colours {
        notes.push("its opacity is passed over".into());
    }
    let tone = Tone::choose(path, &*raw, options)?;
    Ok(Image { path: path.to_owned(), raw, tone, notes })
}

/// An image that a program holds: row after row, the channels of a pixel side by side. `top` is the largest value that could be
/// there, such as 255, where that is known; stains are read from values in [0, top].
///
/// # Errors
/// No pixels, values that are not finite, and as [`open`].
///
/// # Panics
/// When there are not width × height × channels values.
///
/// # Example
/// ```
/// use tenfold::cells::images::{Options, held};
/// use tenfold::cells::Pixels;
/// let values = (0..40 * 30).map(|i| if i % 7 == 0 { 200.0 } else { 10.0 }).collect();
/// let image = held([40, 30, 1], values, Some(255.0), &Options::default())?;
/// assert_eq!(image.size(), (40, 30));
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn held(
    [width, height, channels]: [usize; 3],
    values: Vec<f32>,
    top: Option<f64>,
    options: &Options,
) -> Result<Image> {
    assert_eq!(values.len(), width * height * channels, "values for all pixels");
    let unfit = |problem: &str, remedy: &str| Error::Unfit { problem: problem.into(), remedy: remedy.into() };
    if values.is_empty() {
        return Err(unfit("the image has no pixels", "give an image with at least one"));
    }
    if values.iter().any(|x| !x.is_finite()) {
        return Err(unfit("the image holds values that are not finite", "fill or cut out what is missing"));
    }
    // Of four channels the last is opacity, of two as well.
    let colours = if channels == 2 || channels == 4 { channels - 1 } else { channels };
    let shape = Shape { width, height, channels, colours, bits: 32, top };
    let raw: Box<dyn Raw> = Box::new(raw::Held { shape, values });
    let path = PathBuf::from("the image");
    let tone = Tone::choose(&path, &*raw, options)?;
    Ok(Image { path, raw, tone, notes: Vec::new() })
}

/// The samples of an image as they are, and what there is to say about them.
pub(super) fn open_raw(
    path: &Path,
    (memory, max_decompressed): (u64, Option<u64>),
    progress: &dyn Progress,
) -> Result<(Box<dyn Raw>, Vec<String>)> {
    let max_decompressed = max_decompressed.unwrap_or(UNPACKED);
    open_within(path, &Reading { memory, beside: None, max_decompressed, progress })
}

fn open_within(path: &Path, reading: &Reading<'_>) -> Result<(Box<dyn Raw>, Vec<String>)> {
    let disk = Disk::open(path)?;
    if disk.len() == 0 {
        return Err(disk.fail("is empty", "give an image: PNG, JPEG or TIFF"));
    }
    let head = disk.bytes(0, disk.len().min(8))?;
    let (raw, notes) = match head[..] {
        [0x89, b'P', b'N', b'G', ..] => (png::open(&disk, reading)?, Vec::new()),
        [0xff, 0xd8, 0xff, ..] => (jpeg::open(&disk, reading)?, Vec::new()),
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => {
            let (raw, more) = tiff::open(&disk, reading)?;
            let note =
                "it has several pages, of which the first is read: write the others to files of their own";
            (raw, if more { vec![note.into()] } else { Vec::new() })
        }
        _ => {
            let problem = "is no image that is known here".into();
            return Err(Error::UnsupportedFile { path: path.to_owned(), problem, known: KNOWN.into() });
        }
    };
    let Shape { width, height, .. } = raw.shape();
    if width == 0 || height == 0 {
        return Err(disk.fail("has no pixels", "give an image with at least one"));
    }
    Ok((raw, notes))
}

impl Image {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What there is to say about the file.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What is looked at, in words.
    pub fn stain(&self) -> String {
        self.tone.describe()
    }

    /// Whether cells are darker than what is around them.
    pub fn is_dark_on_light(&self) -> bool {
        self.tone.is_dark()
    }

    /// One line for people: name, size, and what is looked at.
    pub fn describe(&self) -> String {
        let Shape { width, height, bits, colours, .. } = self.raw.shape();
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        let colours = if colours > 1 { format!(" in {colours} channels") } else { String::new() };
        let polarity = if self.is_dark_on_light() { "dark on light" } else { "light on dark" };
        format!("{name}: {width} × {height} pixels of {bits} bits{colours}, {}, {polarity}", self.stain())
    }

    /// The samples as they are in the file.
    pub(super) fn raw(&self) -> &dyn Raw {
        &*self.raw
    }
}

impl Pixels for Image {
    fn size(&self) -> (usize, usize) {
        let Shape { width, height, .. } = self.raw.shape();
        (width, height)
    }

    fn window(&self, window: Window) -> Result<Plane> {
        let channels = self.raw.shape().channels;
        let mut values = Vec::with_capacity(window.width * window.height);
        self.raw.rows(window, &mut |row| {
            values.extend(row.chunks_exact(channels).map(|pixel| self.tone.of(pixel) as f32));
            Ok(())
        })?;
        Ok(Plane::new(window.width, window.height, values))
    }

    fn ceiling(&self) -> Option<f32> {
        self.tone.ceiling(self.raw.shape()).map(|ceiling| ceiling as f32)
    }
}
