//! JPEG, decoded as a whole.

use super::raw::{Decoded, Raw, Shape, Store};
use super::{Reading, too_large};
use crate::error::Result;
use crate::input::Disk;
use std::sync::Arc;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Pixels that one byte can stand for: a block of 64 takes at least one bit.
const MOST_PACKED: u64 = 512;

/// The format's own limit.
const LONGEST: usize = u16::MAX as usize;

const DAMAGED: &str = "it is damaged or no JPEG: copy or export it again";

pub(super) fn open(disk: &Arc<Disk>, reading: &Reading) -> Result<Box<dyn Raw>> {
    let fail = |error: DecodeErrors| disk.fail(format!("cannot be read as JPEG ({error:?})"), DAMAGED);
    let wide = DecoderOptions::default().set_max_width(LONGEST).set_max_height(LONGEST);
    let bytes = disk.bytes(0, disk.len())?;
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&bytes[..]), wide);
    decoder.decode_headers().map_err(fail)?;
    let Some((info, stored)) = decoder.info().zip(decoder.input_colorspace()) else {
        return Err(disk.fail("has no header of a picture", DAMAGED));
    };
    let (space, channels) = match stored {
        ColorSpace::Luma => (ColorSpace::Luma, 1),
        _ => (ColorSpace::RGB, 3),
    };
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    let shape = Shape { width, height, channels, colours: channels, bits: 8, top: Some(f64::from(u8::MAX)) };
    let pixels = width as u64 * height as u64;
    if pixels / MOST_PACKED > disk.len() {
        let problem = format!("promises {width} × {height} pixels in {} bytes", disk.len());
        return Err(disk.fail(problem, DAMAGED));
    }
    // Progressive files keep two bytes for every coefficient beside the pixels.
    if pixels.saturating_mul(3 * channels as u64) > reading.memory {
        return Err(too_large(disk, shape, reading.memory, "write it as a TIFF in tiles"));
    }
    decoder.set_options(wide.jpeg_set_out_colorspace(space));
    let decoded = decoder.decode().map_err(fail)?;
    if decoded.len() != width * height * channels {
        return Err(disk.fail("holds another number of pixels than it promises", DAMAGED));
    }
    Ok(Box::new(Decoded { shape, store: Store::Memory(decoded) }))
}
