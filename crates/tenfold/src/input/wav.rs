//! Sound: the channels of a `.wav` file are columns, scaled to [−1, 1].

use super::disk::{Cursor, Disk};
use super::packed::{Element, Kind, Packed};
use super::{Opened, Store, numbered};
use crate::error::Result;
use std::sync::Arc;

pub(super) fn open(disk: &Arc<Disk>) -> Result<Opened> {
    let damaged = "it is damaged or no plain .wav: convert it with `ffmpeg -i in.wav -c:a pcm_s16le out.wav`";
    let reader = hound::WavReader::new(Cursor::new(disk, 0))
        .map_err(|e| disk.fail(format!("cannot be read as sound ({e})"), damaged))?;
    let (spec, frames, samples) = (reader.spec(), reader.duration() as usize, u64::from(reader.len()));
    // hound stops at the first sample, and the four bytes before it are the length of the data.
    let offset = reader.into_inner().offset();
    let length = disk.bytes(offset.saturating_sub(4), 4)?;
    let length = u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]]));
    if offset + length > disk.len() {
        return Err(disk.fail(
            format!("promises {length} bytes of sound, but holds only {}", disk.len() - offset),
            "it is cut short: copy it again, or repair it with `ffmpeg -i in.wav out.wav`",
        ));
    }
    if samples == 0 {
        return Err(disk.fail("holds no sound", "give a file with at least one sample"));
    }
    // A sample may lie in a wider container, where programs disagree about which end it is at: refused below.
    let container = 8 * length / samples;
    let float = spec.sample_format == hound::SampleFormat::Float;
    let (kind, shift, scale) = match (float, spec.bits_per_sample, container) {
        (false, 8, 8) => (Kind::U8, 128.0, 1.0 / 128.0),
        (false, 16, 16) => (Kind::I16, 0.0, 1.0 / f64::from(1 << 15)),
        (false, 24, 24) => (Kind::I24, 0.0, 1.0 / f64::from(1 << 23)),
        (false, 32, 32) => (Kind::I32, 0.0, 1.0 / f64::from(1u32 << 31)),
        (true, 32, 32) => (Kind::F32, 0.0, 1.0),
        (_, bits, _) => {
            let what = if float { "float" } else { "integer" };
            return Err(disk.fail(
                format!("holds {bits}-bit {what} samples in {container} bits"),
                "8, 16, 24 and 32-bit integers and 32-bit floats are read: convert it with ffmpeg",
            ));
        }
    };
    let cols = usize::from(spec.channels);
    let element = Element { kind, big_endian: false, shift, scale };
    let packed = Packed { disk: Arc::clone(disk), offset, element, rows: frames, cols, fortran: false };
    Ok(Opened {
        names: numbered("ch", cols),
        named: false,
        rows: frames,
        // Some programs that do not know it write 0.
        rate: Some(spec.sample_rate).filter(|rate| *rate > 0),
        stored_as: format!("{}-bit {}sound", spec.bits_per_sample, if float { "float " } else { "" }),
        store: Store::Disk(Box::new(packed)),
    })
}
