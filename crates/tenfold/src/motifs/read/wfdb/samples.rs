//! How WFDB stores samples.

use super::header::{Header, Signal};
use crate::error::Result;
use crate::input::Disk;
use crate::memory::size_for_half;

/// How a number is stored; the names are those of the WFDB manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Two bytes, the low one first.
    F16,
    /// Three bytes, the low one first.
    F24,
    /// Four bytes, the low one first.
    F32,
    /// Two bytes, the high one first.
    F61,
    /// A byte whose 128 means 0.
    F80,
    /// Two bytes, the low one first, whose 32,768 means 0.
    F160,
    /// Two numbers of 12 bits in three bytes.
    F212,
}

impl Format {
    pub(super) fn of(code: &str) -> Option<Self> {
        Some(match code {
            "16" => Self::F16,
            "24" => Self::F24,
            "32" => Self::F32,
            "61" => Self::F61,
            "80" => Self::F80,
            "160" => Self::F160,
            "212" => Self::F212,
            _ => return None,
        })
    }

    fn bits(self) -> u64 {
        match self {
            Self::F80 => 8,
            Self::F212 => 12,
            Self::F16 | Self::F61 | Self::F160 => 16,
            Self::F24 => 24,
            Self::F32 => 32,
        }
    }

    /// The number that says that there is no sample: the smallest.
    fn missing(self) -> i32 {
        (-1i64 << (self.bits() - 1)) as i32
    }

    /// Samples that lie whole in so many bytes.
    fn holds(self, bytes: u64) -> u64 {
        (u128::from(bytes) * 8 / u128::from(self.bits())) as u64
    }

    /// Sample `i`; `bytes` holds it whole.
    fn sample(self, bytes: &[u8], i: usize) -> i32 {
        match self {
            Self::F80 => i32::from(bytes[i]) - 128,
            Self::F16 => i32::from(i16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])),
            Self::F61 => i32::from(i16::from_be_bytes([bytes[2 * i], bytes[2 * i + 1]])),
            Self::F160 => i32::from(u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])) - 32_768,
            Self::F24 => i32::from_le_bytes([0, bytes[3 * i], bytes[3 * i + 1], bytes[3 * i + 2]]) >> 8,
            Self::F32 => {
                i32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
            }
            // The first of a pair is the first byte below the low half of the second; the other, the third below its high half.
            Self::F212 => {
                let pair = 3 * (i / 2);
                let (low, high) = match i % 2 {
                    0 => (bytes[pair], bytes[pair + 1] & 0x0f),
                    _ => (bytes[pair + 2], bytes[pair + 1] >> 4),
                };
                i32::from(i16::from_le_bytes([low, high]) << 4 >> 4)
            }
        }
    }
}

const CUT: &str = "it is cut short: copy it again";

/// The samples of the signals in one file in their units; none for those that are not wanted.
pub(super) fn read(
    disk: &Disk,
    header: &Header,
    group: &[Signal],
    memory: u64,
    wanted: &dyn Fn(&Signal) -> Option<usize>,
) -> Result<Vec<Vec<f64>>> {
    let format = group[0].format;
    if group.iter().any(|signal| signal.format != format) {
        let remedy = "check the .hea file: signals in one file have one format";
        return Err(disk.fail("is said to have several formats", remedy));
    }
    let Some(body) = disk.len().checked_sub(group[0].offset) else {
        return Err(disk.fail("ends before its first sample", CUT));
    };
    let frame: usize = group.iter().map(|signal| signal.per_frame).sum();
    let held = format.holds(body) / frame as u64;
    let frames = header.frames.unwrap_or(held);
    if frames > held {
        let problem = format!("is said to hold {frames} samples of each signal, but holds {held}");
        return Err(disk.fail(problem, CUT));
    }
    let chosen: usize = group.iter().filter(|s| wanted(s).is_some()).map(|s| s.per_frame).sum();
    let needed = frames.saturating_mul(8 * chosen as u64).saturating_add(body);
    if needed > memory {
        let problem = format!("takes {needed} bytes of memory, more than the {memory} allowed");
        return Err(
            disk.fail(problem, format!("give --memory {}, or fewer --channels", size_for_half(needed)))
        );
    }
    let bytes = disk.bytes(group[0].offset, body)?;
    let mut begin = 0;
    Ok(group
        .iter()
        .map(|signal| {
            let first = begin;
            begin += signal.per_frame;
            if wanted(signal).is_none() {
                return Vec::new();
            }
            let places =
                (0..frames as usize).flat_map(|f| (0..signal.per_frame).map(move |k| f * frame + first + k));
            places.map(|i| value(signal, format.sample(&bytes, i))).collect()
        })
        .collect())
}

fn value(signal: &Signal, stored: i32) -> f64 {
    if stored == signal.format.missing() {
        f64::NAN
    } else {
        (f64::from(stored) - signal.baseline) / signal.gain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_bits_keep_their_sign() {
        // 1 and −1; then −2048, which is no sample, and 2047.
        let bytes = [0x01, 0xf0, 0xff, 0x00, 0x78, 0xff];
        let read: Vec<i32> = (0..4).map(|i| Format::F212.sample(&bytes, i)).collect();
        assert_eq!(read, [1, -1, -2048, 2047]);
        assert_eq!(Format::F212.missing(), -2048);
        // Three numbers take five bytes: the last pair is half.
        assert_eq!((Format::F212.holds(5), Format::F212.holds(6), Format::F212.holds(4)), (3, 4, 2));
    }

    #[test]
    fn every_format_reads_its_numbers() {
        assert_eq!(Format::F80.sample(&[127], 0), -1);
        assert_eq!(Format::F16.sample(&[0, 0, 0xfe, 0xff], 1), -2);
        assert_eq!(Format::F61.sample(&[0xff, 0xfe], 0), -2);
        assert_eq!(Format::F160.sample(&[0xfe, 0x7f], 0), -2);
        assert_eq!(Format::F24.sample(&[0xfe, 0xff, 0xff], 0), -2);
        assert_eq!(Format::F32.sample(&[0xfe, 0xff, 0xff, 0xff], 0), -2);
        assert_eq!((Format::F32.missing(), Format::F16.missing()), (i32::MIN, -32_768));
    }
}
