//! Decoded strips and tiles, and the few of them that are held.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use tiff::decoder::DecodingResult;

/// A decoded strip or tile.
pub(super) struct Chunk {
    samples: DecodingResult,
    columns: usize,
    rows: usize,
    channels: usize,
    /// Bits of a number; below 8 several share a byte, the first in its upper bits.
    bits: u8,
}

impl Chunk {
    /// Nothing when there are not as many samples as promised.
    pub(super) fn new(
        samples: DecodingResult,
        (columns, rows): (usize, usize),
        channels: usize,
        bits: u8,
    ) -> Option<Self> {
        let chunk = Self { samples, columns, rows, channels, bits };
        let line = if bits < 8 { chunk.line_bytes() } else { columns * channels };
        (chunk.len() >= line * rows).then_some(chunk)
    }

    fn line_bytes(&self) -> usize {
        (self.columns * usize::from(self.bits)).div_ceil(8)
    }

    fn len(&self) -> usize {
        match &self.samples {
            DecodingResult::U8(x) => x.len(),
            DecodingResult::U16(x) => x.len(),
            DecodingResult::U32(x) => x.len(),
            DecodingResult::U64(x) => x.len(),
            DecodingResult::F16(x) => x.len(),
            DecodingResult::F32(x) => x.len(),
            DecodingResult::F64(x) => x.len(),
            DecodingResult::I8(x) => x.len(),
            DecodingResult::I16(x) => x.len(),
            DecodingResult::I32(x) => x.len(),
            DecodingResult::I64(x) => x.len(),
        }
    }

    fn bytes(&self) -> u64 {
        self.len() as u64 * u64::from(self.bits.div_ceil(8))
    }

    /// Puts the samples of some columns of a row into every `step`-th place of `out`; nothing where there are none.
    pub(super) fn row(&self, y: usize, columns: Range<usize>, step: usize, out: &mut [f64]) -> Option<()> {
        if y >= self.rows || columns.end > self.columns {
            return None;
        }
        if self.bits < 8 {
            let DecodingResult::U8(bytes) = &self.samples else { return None };
            let line = &bytes[y * self.line_bytes()..];
            let (bits, mask) = (usize::from(self.bits), (1u16 << self.bits) as u8 - 1);
            for (x, out) in columns.zip(out.iter_mut().step_by(step)) {
                let at = x * bits;
                *out = f64::from(line[at / 8] >> (8 - bits - at % 8) & mask);
            }
            return Some(());
        }
        let from = (y * self.columns + columns.start) * self.channels;
        let range = from..from + columns.len() * self.channels;
        let places = out.iter_mut().step_by(step);
        match &self.samples {
            DecodingResult::U8(x) => fill(places, x.get(range)?, |&x| f64::from(x)),
            DecodingResult::U16(x) => fill(places, x.get(range)?, |&x| f64::from(x)),
            DecodingResult::U32(x) => fill(places, x.get(range)?, |&x| f64::from(x)),
            DecodingResult::U64(x) => fill(places, x.get(range)?, |&x| x as f64),
            DecodingResult::F16(x) => fill(places, x.get(range)?, |&x| finite(x.to_f64())),
            DecodingResult::F32(x) => fill(places, x.get(range)?, |&x| finite(f64::from(x))),
            DecodingResult::F64(x) => fill(places, x.get(range)?, |&x| finite(x)),
            DecodingResult::I8(x) => fill(places, x.get(range)?, |&x| f64::from(x)),
            DecodingResult::I16(x) => fill(places, x.get(range)?, |&x| f64::from(x)),
            DecodingResult::I32(x) => fill(places, x.get(range)?, |&x| f64::from(x)),
            DecodingResult::I64(x) => fill(places, x.get(range)?, |&x| x as f64),
        }
        Some(())
    }
}

fn fill<'a, T>(places: impl Iterator<Item = &'a mut f64>, samples: &[T], number: impl Fn(&T) -> f64) {
    places.zip(samples).for_each(|(place, sample)| *place = number(sample));
}

/// Pixels that were never taken are often NaN in images of real numbers; they are dark.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

/// Luminance and differences of colour to red, green and blue, by JFIF's formula.
pub(super) fn to_colours(pixel: &mut [f64]) {
    let (y, b, r) = (pixel[0], pixel[1] - 128.0, pixel[2] - 128.0);
    pixel[0] = (y + 1.402 * r).clamp(0.0, 255.0);
    pixel[1] = (y - 0.344_136 * b - 0.714_136 * r).clamp(0.0, 255.0);
    pixel[2] = (y + 1.772 * b).clamp(0.0, 255.0);
}

/// Width and height that a JPEG promises: the frame's marker comes with its length, precision, height and width.
pub(super) fn jpeg_size(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut at = 2;
    loop {
        let [0xff, marker] = *bytes.get(at..at + 2)? else { return None };
        let word = |at: usize| Some(usize::from(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
        match marker {
            0xff => at += 1,
            // Of the markers of frames, three are those of tables.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((word(at + 7)?, word(at + 5)?));
            }
            0xd0..=0xd9 | 0x01 => at += 2,
            _ => at += 2 + word(at + 2)?,
        }
    }
}

/// The strips and tiles decoded last, oldest first.
pub(super) struct Recent {
    held: VecDeque<(usize, Arc<Chunk>)>,
    bytes: u64,
    most: u64,
}

impl Recent {
    pub(super) fn new(most: u64) -> Self {
        Self { held: VecDeque::new(), bytes: 0, most }
    }

    pub(super) fn get(&mut self, at: usize) -> Option<Arc<Chunk>> {
        let place = self.held.iter().position(|(held, _)| *held == at)?;
        let found = self.held.remove(place)?;
        self.held.push_back(found);
        self.held.back().map(|(_, chunk)| Arc::clone(chunk))
    }

    pub(super) fn put(&mut self, at: usize, chunk: &Arc<Chunk>) {
        // Two threads may have decoded the same one.
        if self.get(at).is_some() {
            return;
        }
        self.bytes += chunk.bytes();
        self.held.push_back((at, Arc::clone(chunk)));
        while self.bytes > self.most && self.held.len() > 1 {
            let Some((_, oldest)) = self.held.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_taken_out_of_bytes() {
        let samples = DecodingResult::U8(vec![0b1010_0000, 0b1100_0000, 0b0101_0000, 0b0100_0000]);
        let chunk = Chunk::new(samples, (10, 2), 1, 1).unwrap();
        let mut out = [9.0; 4];
        chunk.row(0, 6..10, 1, &mut out).unwrap();
        assert_eq!(out, [0.0, 0.0, 1.0, 1.0]);
        chunk.row(1, 0..4, 1, &mut out).unwrap();
        assert_eq!(out, [0.0, 1.0, 0.0, 1.0]);
        assert!(chunk.row(2, 0..1, 1, &mut out).is_none() && chunk.row(0, 5..11, 1, &mut out).is_none());
    }

    #[test]
    fn the_oldest_goes_first() {
        let chunk = || Arc::new(Chunk::new(DecodingResult::U8(vec![0; 10]), (5, 2), 1, 8).unwrap());
        let mut recent = Recent::new(30);
        (0..3).for_each(|at| recent.put(at, &chunk()));
        assert!(recent.get(0).is_some(), "used, so no longer the oldest");
        recent.put(3, &chunk());
        assert_eq!([0, 1, 2, 3].map(|at| recent.get(at).is_some()), [true, false, true, true]);
        assert_eq!(recent.bytes, 30);
    }

    #[test]
    fn grey_stays_grey() {
        for y in [0.0, 77.0, 255.0] {
            let mut pixel = [y, 128.0, 128.0];
            to_colours(&mut pixel);
            assert_eq!(pixel, [y; 3]);
        }
    }
}
