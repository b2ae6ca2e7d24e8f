//! JPEG, decoded as a whole.

use super::Reading;
use super::raw::{Decoded, Raw, Shape, Store};
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
    if !is_whole(&bytes) {
        return Err(disk.fail("ends before its picture does", "it is cut short: copy or export it again"));
    }
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
    reading.check(disk, shape)?;
    // Progressive files keep two bytes for every coefficient beside the pixels.
    let needed = pixels.saturating_mul(3 * channels as u64);
    if needed > reading.left(shape) {
        return Err(reading.too_large(disk, shape, needed, "write it as a TIFF in tiles"));
    }
    decoder.set_options(wide.jpeg_set_out_colorspace(space));
    let decoded = decoder.decode().map_err(fail)?;
    if decoded.len() != width * height * channels {
        return Err(disk.fail("holds another number of pixels than it promises", DAMAGED));
    }
    Ok(Box::new(Decoded { shape, store: Store::Memory(decoded) }))
}

/// Whether the picture's data end as they should, with FF D9, which stands nowhere within them. The decoder makes grey of what is
/// missing. Segments before the data may hold whole pictures, such as thumbnails, and are passed over; where they make no
/// sense the decoder says so.
fn is_whole(bytes: &[u8]) -> bool {
    let mut at = 2;
    while let Some(&[0xff, marker]) = bytes.get(at..at + 2).and_then(|two| two.first_chunk::<2>()) {
        match marker {
            0xda => return bytes[at..].windows(2).any(|two| two == [0xff, 0xd9]),
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            _ => {
                let Some(length) = bytes.get(at + 2..at + 4) else { return true };
                at += 2 + usize::from(u16::from_be_bytes([length[0], length[1]]));
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn thumbnails_do_not_count_as_the_end() {
        // A segment with a whole picture in it, then data, with and without their end.
        let head =
            [&[0xff, 0xd8, 0xff, 0xe1, 0, 6][..], &[0xff, 0xd9, 0, 0], &[0xff, 0xda, 0, 2, 1, 2, 3]].concat();
        assert!(!is_whole(&head));
        assert!(is_whole(&[&head[..], &[0xff, 0xd9]].concat()));
        assert!(is_whole(&[&head[..], &[0xff, 0xd9, 7, 7, 7]].concat()), "some cameras write more");
        assert!(is_whole(b"") && is_whole(&[0xff, 0xd8, 0xff, 0xe1]), "others say what is wrong");
    }
}
