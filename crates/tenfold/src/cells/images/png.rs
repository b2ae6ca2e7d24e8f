//! PNG: rows unpacked one by one, into memory or into a temporary file.

use super::Reading;
use super::raw::{Cursor, Decoded, Raw, Shape, Store};
use crate::error::Result;
use crate::input::Disk;
use png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};
use std::io::Write;
use std::sync::Arc;

/// Bytes that one byte of deflate can become at most, and some for the rows' filters.
const MOST_PACKED: u64 = 1100;

/// Bytes for what is not pixels: palettes, profiles, texts.
const BESIDE: usize = 64 << 20;

const DAMAGED: &str = "it is damaged or no PNG: copy or export it again";

pub(super) fn open(disk: &Arc<Disk>, reading: &Reading) -> Result<Box<dyn Raw>> {
    let fail = |error: DecodingError| disk.fail(format!("cannot be read as PNG ({error})"), DAMAGED);
    // Rows are counted below; this is for a row, twice, and what stands beside the pixels.
    let limits =
        Limits { bytes: BESIDE.saturating_add(usize::try_from(reading.memory / 4).unwrap_or(BESIDE)) };
    let mut decoder = Decoder::new_with_limits(Cursor::buffered(disk), limits);
    // Palettes become colours and bits bytes; 16 bits stay.
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let head = decoder.read_header_info().map_err(fail)?;
    let (width, height) = (head.width as usize, head.height as usize);
    // Palettes are expanded at most to four bytes a pixel, which is why bits are counted as they are stored.
    let packed = u64::from(head.height).saturating_mul(head.raw_row_length() as u64);
    if packed / MOST_PACKED > disk.len() {
        let problem = format!("promises {width} × {height} pixels in {} bytes", disk.len());
        return Err(disk.fail(problem, DAMAGED));
    }
    let interlaced = head.interlaced;
    let mut reader = decoder.read_info().map_err(fail)?;
    let (colour, depth) = reader.output_color_type();
    let (channels, colours) = match colour {
        ColorType::Grayscale => (1, 1),
        ColorType::GrayscaleAlpha => (2, 1),
        ColorType::Rgb => (3, 3),
        ColorType::Rgba => (4, 3),
        ColorType::Indexed => return Err(disk.fail("has a palette that cannot be used", DAMAGED)),
    };
    let bits = if depth == BitDepth::Sixteen { 16 } else { 8 };
    let top = Some(if bits == 16 { f64::from(u16::MAX) } else { f64::from(u8::MAX) });
    let shape = Shape { width, height, channels, colours, bits, top };
    reading.check(disk, shape)?;
    let line = width as u64 * (channels * usize::from(bits / 8)) as u64;
    let needed = line.saturating_mul(height as u64);
    let store = if needed <= reading.left(shape) {
        let mut bytes = vec![0; line as usize * height];
        reader.next_frame(&mut bytes).map_err(fail)?;
        Store::Memory(bytes)
    } else if interlaced {
        return Err(reading.too_large(disk, shape, needed, "write it again without interlacing"));
    } else {
        let spilt = |e: std::io::Error| {
            let remedy = "raise --memory, or set TMPDIR to a folder with more space";
            disk.fail(format!("cannot be unpacked into a temporary file ({e})"), remedy)
        };
        let mut file = std::io::BufWriter::with_capacity(1 << 20, tempfile::tempfile().map_err(spilt)?);
        while let Some(row) = reader.next_row().map_err(fail)? {
            reading.progress.check()?;
            file.write_all(row.data()).map_err(spilt)?;
        }
        let file = file.into_inner().map_err(|e| spilt(e.into_error()))?;
        let len = file.metadata().map_err(spilt)?.len();
        if len != line * height as u64 {
            return Err(disk.fail("holds fewer rows than it promises", DAMAGED));
        }
        Store::File(Disk::of(file, len, disk.path()))
    };
    Ok(Box::new(Decoded { shape, store }))
}
