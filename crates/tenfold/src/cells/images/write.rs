//! Images to PNG files.

use super::super::plane::Plane;
use crate::error::{Error, Result};
use crate::output::{write_atomically, write_error};
use png::{BitDepth, ColorType, Encoder};
use std::io::Write;
use std::path::Path;

/// Writes a plane as a grey PNG: of 8 bits where its values lie in 0 … 255, of 16 where one is larger. Values are rounded; what
/// is below 0 or above 65,535 is cut off.
///
/// # Errors
/// [`Error::Write`] when the disk refuses, or the plane has no pixels.
pub fn write_plane(path: &Path, plane: &Plane) -> Result<()> {
    let wide = plane.values().iter().any(|&x| x > 255.0);
    let bytes: Vec<u8> = match wide {
        true => plane.values().iter().flat_map(|&x| (x.round() as u16).to_be_bytes()).collect(),
        false => plane.values().iter().map(|&x| x.round() as u8).collect(),
    };
    let depth = if wide { BitDepth::Sixteen } else { BitDepth::Eight };
    write_atomically(path, |out| {
        encode(path, out, (plane.width(), plane.height()), (ColorType::Grayscale, depth), &bytes)
    })
}

/// The PNG of an image in red, green and blue, a byte each.
///
/// # Panics
/// When there are not three bytes for every pixel, or none.
pub fn png_bytes(width: usize, height: usize, colours: &[u8]) -> Vec<u8> {
    assert!(colours.len() == 3 * width * height && !colours.is_empty(), "a picture of {width} × {height}");
    let mut bytes = Vec::new();
    let kind = (ColorType::Rgb, BitDepth::Eight);
    encode(Path::new("picture"), &mut bytes, (width, height), kind, colours).expect("memory takes all bytes");
    bytes
}

fn encode(
    path: &Path,
    out: &mut dyn Write,
    (width, height): (usize, usize),
    (colour, depth): (ColorType, BitDepth),
    bytes: &[u8],
) -> Result<()> {
    let fail = |error: png::EncodingError| match error {
        png::EncodingError::IoError(error) => write_error(path, error),
        other => Error::Write {
            path: path.to_owned(),
            problem: other.to_string(),
            remedy: "a PNG has at least one pixel and at most 2³¹ − 1 on a side".into(),
        },
    };
    let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let mut encoder = Encoder::new(out, side(width), side(height));
    encoder.set_color(colour);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().map_err(fail)?;
    writer.write_image_data(bytes).map_err(fail)?;
    writer.finish().map_err(fail)
}
