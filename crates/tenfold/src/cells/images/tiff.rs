//! TIFF: strips or tiles, decoded when a window asks for them.
//!
//! Only a few strips or tiles are held, so an image may be much larger than memory. Every thread takes a decoder of its own from a
//! small stock; the file is read at offsets, and nobody waits for anybody.

mod chunks;
mod directory;

use super::Reading;
use super::raw::{Cursor, Raw, Shape};
use crate::cells::plane::Window;
use crate::error::{Error, Result};
use crate::input::Disk;
use chunks::{Chunk, Recent, jpeg_size};
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use tiff::decoder::{Decoder, DecodingSampleType, Limits};
use tiff::tags::{CompressionMethod, PlanarConfiguration, Tag};
use tiff::{ColorType, TiffError};

/// Bytes that a packed byte can become: 1032 by deflate, some 2700 by LZW, 32,768 by zstd's runs.
const MOST_PACKED: u64 = 1 << 15;

/// Bytes of strips and tiles that are held at most: two rows of tiles of a large slide.
const MOST_HELD: u64 = 256 << 20;

const DAMAGED: &str =
    "it is damaged, or of a kind that is not read here (palettes, fax, CMYK): write it again as grey or RGB";

type Open = Decoder<BufReader<Cursor>>;

/// An image in strips or tiles.
struct Stored {
    disk: Arc<Disk>,
    limits: Limits,
    shape: Shape,
    /// Columns and rows of a strip or tile.
    chunk: (usize, usize),
    /// Strips or tiles from left to right, and in all of a plane.
    across: usize,
    in_plane: usize,
    /// Whether every channel has strips or tiles of its own.
    apart: bool,
    /// Luminance and two differences of colour, as in JPEG.
    luminance: bool,
    /// Where strips or tiles begin, and their lengths.
    places: Vec<(u64, u64)>,
    jpeg: bool,
    stock: Mutex<Vec<Open>>,
    recent: Mutex<Recent>,
}

/// Runs the tiff crate. Its own assertions meet some contradictions in damaged files with a panic.
fn guarded<T>(disk: &Disk, work: impl FnOnce() -> std::result::Result<T, TiffError>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(disk.fail(format!("cannot be read as TIFF ({error})"), DAMAGED)),
        Err(_) => Err(disk.fail("cannot be read as TIFF (its contents contradict one another)", DAMAGED)),
    }
}

/// Opens the first page; says whether there are more.
pub(super) fn open(disk: &Arc<Disk>, reading: &Reading) -> Result<(Box<dyn Raw>, bool)> {
    let mut limits = Limits::default();
    let most = usize::try_from(reading.memory / 4).unwrap_or(usize::MAX);
    (limits.decoding_buffer_size, limits.intermediate_buffer_size) = (most, most);
    limits.ifd_value_size = usize::try_from(disk.len()).unwrap_or(usize::MAX).min(most);
    directory::check(disk)?;
    let mut decoder = start(disk, &limits)?;
    let (width, height) = guarded(disk, || decoder.dimensions())?;
    let colour = guarded(disk, || decoder.colortype())?;
    let bits = colour.bit_depth();
    let (channels, colours) = match colour {
        ColorType::Gray(_) => (1, 1),
        ColorType::RGB(_) | ColorType::YCbCr(_) => (3, 3),
        ColorType::RGBA(_) => (4, 3),
        ColorType::Multiband { num_samples, .. } => (usize::from(num_samples), usize::from(num_samples)),
        other => return Err(disk.fail(format!("has colours of the kind {other:?}"), DAMAGED)),
    };
    if bits % 8 != 0 && (channels != 1 || !matches!(bits, 1 | 2 | 4)) {
        return Err(disk.fail(format!("has {channels} channels of {bits} bits"), DAMAGED));
    }
    let first = guarded(disk, || decoder.image_chunk_buffer_layout(0))?;
    let whole = matches!(
        first.sample_type,
        Some(
            DecodingSampleType::U8
                | DecodingSampleType::U16
                | DecodingSampleType::U32
                | DecodingSampleType::U64
        )
    );
    let top = whole.then(|| 2f64.powi(i32::from(bits)) - 1.0);
    let (width, height) = (width as usize, height as usize);
    let shape = Shape { width, height, channels, colours, bits, top };
    reading.check(disk, shape)?;
    let (columns, rows) = decoder.chunk_dimensions();
    // A strip that promises more rows than the image has holds those of the image.
    let chunk = (columns as usize, (rows as usize).min(height));
    let planar: u16 = guarded(disk, || decoder.find_tag_unsigned(Tag::PlanarConfiguration))?.unwrap_or(1);
    let apart = planar == PlanarConfiguration::Planar.to_u16() && channels > 1;
    let held = (chunk.0 as u64).saturating_mul(chunk.1 as u64).saturating_mul(u64::from(bits.div_ceil(8)));
    let held = held.saturating_mul(if apart { 1 } else { channels as u64 });
    // Packed, unpacked, in parts that are kept and in work: a part may take a quarter.
    if held > reading.left(shape) / 4 {
        let remedy = "write it again in tiles of 256 × 256 (`tiffcp -t -w 256 -l 256 in.tif out.tif`)";
        return Err(reading.too_large(disk, shape, held.saturating_mul(4), remedy));
    }
    if chunk.0 == 0 || chunk.1 == 0 || width == 0 || height == 0 {
        return Err(disk.fail("holds no pixels", DAMAGED));
    }
    let across = width.div_ceil(chunk.0);
    let in_plane = across.saturating_mul(height.div_ceil(chunk.1));
    let places = places(disk, &mut decoder)?;
    if places.len() < in_plane.saturating_mul(if apart { channels } else { 1 }) {
        return Err(disk.fail(format!("lists {} strips or tiles, too few", places.len()), DAMAGED));
    }
    let method = guarded(disk, || decoder.find_tag_unsigned::<u16>(Tag::Compression))?;
    let jpeg = method == Some(CompressionMethod::ModernJPEG.to_u16());
    let more = decoder.more_images();
    let stored = Stored {
        disk: Arc::clone(disk),
        limits,
        shape,
        chunk,
        across,
        in_plane,
        apart,
        luminance: matches!(colour, ColorType::YCbCr(_)),
        places,
        jpeg,
        stock: Mutex::new(vec![decoder]),
        recent: Mutex::new(Recent::new((reading.left(shape) / 4).min(MOST_HELD))),
    };
    Ok((Box::new(stored), more))
}

fn start(disk: &Arc<Disk>, limits: &Limits) -> Result<Open> {
    guarded(disk, || Ok(Decoder::new(Cursor::buffered(disk))?.with_limits(limits.clone())))
}

/// Where the strips or tiles lie.
fn places(disk: &Disk, decoder: &mut Open) -> Result<Vec<(u64, u64)>> {
    let mut list = |tiles, strips| -> Result<Vec<u64>> {
        match guarded(disk, || decoder.find_tag_unsigned_vec(tiles))? {
            Some(list) => Ok(list),
            None => Ok(guarded(disk, || decoder.find_tag_unsigned_vec(strips))?.unwrap_or_default()),
        }
    };
    let offsets = list(Tag::TileOffsets, Tag::StripOffsets)?;
    let lengths = list(Tag::TileByteCounts, Tag::StripByteCounts)?;
    Ok(offsets.into_iter().zip(lengths).collect())
}

impl Stored {
    /// A strip or tile, decoded now or lately.
    fn chunk(&self, at: usize) -> Result<Arc<Chunk>> {
        let lock = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chunk) = lock().get(at) {
            return Ok(chunk);
        }
        self.check(at)?;
        let held = self.stock.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut decoder = match held {
            Some(decoder) => decoder,
            None => start(&self.disk, &self.limits)?,
        };
        let index = at as u32;
        let (columns, rows) = guarded(&self.disk, || Ok(decoder.chunk_data_dimensions(index)))?;
        let samples = guarded(&self.disk, || decoder.read_chunk(index))?;
        self.stock.lock().unwrap_or_else(PoisonError::into_inner).push(decoder);
        let channels = if self.apart { 1 } else { self.shape.channels };
        let chunk = Chunk::new(samples, (columns as usize, rows as usize), channels, self.shape.bits);
        let chunk = Arc::new(chunk.ok_or_else(|| self.damaged("holds fewer pixels than it promises"))?);
        lock().put(at, &chunk);
        Ok(chunk)
    }

    /// A strip or tile lies in the file, and is not so short that its promise must be a lie.
    fn check(&self, at: usize) -> Result<()> {
        let (offset, length) = self.places[at];
        if offset.checked_add(length).is_none_or(|end| end > self.disk.len()) {
            return Err(self.damaged("lies behind the end of the file"));
        }
        let pixels = self.chunk.0 as u64 * self.chunk.1.min(self.shape.height) as u64;
        if pixels / 8 / MOST_PACKED > length {
            return Err(self.damaged("promises more pixels than its bytes can hold"));
        }
        if self.jpeg {
            let (width, height) = jpeg_size(&self.disk.bytes(offset, length)?).unwrap_or((0, 0));
            let most = |side: usize| side.next_multiple_of(64);
            if width > most(self.chunk.0) || height > most(self.chunk.1) {
                return Err(self.damaged("holds a picture of another size"));
            }
        }
        Ok(())
    }

    fn damaged(&self, problem: &str) -> Error {
        self.disk.fail(format!("a strip or tile {problem}"), DAMAGED)
    }
}

impl Raw for Stored {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn rows(&self, window: Window, take: &mut dyn FnMut(&[f64]) -> Result<()>) -> Result<()> {
        let channels = self.shape.channels;
        let mut row = vec![0.0; window.width * channels];
        let end = (window.x + window.width, window.y + window.height);
        let mut y = window.y;
        while y < end.1 && window.width > 0 {
            // All strips or tiles that this run of rows needs are held until it is done.
            let (line, last) = (y / self.chunk.1, ((y / self.chunk.1 + 1) * self.chunk.1).min(end.1));
            let columns = window.x / self.chunk.0..(end.0 - 1) / self.chunk.0 + 1;
            let planes = if self.apart { channels } else { 1 };
            let mut parts = Vec::new();
            for plane in 0..planes {
                for column in columns.clone() {
                    let chunk = self.chunk(plane * self.in_plane + line * self.across + column)?;
                    parts.push((plane, column * self.chunk.0, chunk));
                }
            }
            for y in y..last {
                for (plane, left, chunk) in &parts {
                    let (from, to) = (window.x.max(*left), end.0.min(left + self.chunk.0));
                    let out = &mut row[(from - window.x) * channels + plane..(to - window.x) * channels];
                    let step = if self.apart { channels } else { 1 };
                    let inside = chunk.row(y - line * self.chunk.1, from - left..to - left, step, out);
                    inside.ok_or_else(|| self.damaged("is smaller than it promises"))?;
                }
                if self.luminance {
                    row.chunks_exact_mut(3).for_each(chunks::to_colours);
                }
                take(&row)?;
            }
            y = last;
        }
        Ok(())
    }
}
