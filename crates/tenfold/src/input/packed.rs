//! Numbers of one fixed size lying side by side in a file: the body of `.npy` and `.wav`.

use super::Stored;
use super::disk::Disk;
use crate::error::Result;
use std::sync::Arc;
use tenfold_engine::progress::Progress;

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    I8,
    I16,
    I24,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Kind {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I24 => 3,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// A stored number and what it means: `(stored − shift) · scale`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub(super) kind: Kind,
    pub(super) big_endian: bool,
    pub(super) shift: f64,
    pub(super) scale: f64,
}

impl Element {
    /// A number that means itself.
    pub(super) fn plain(kind: Kind, big_endian: bool) -> Self {
        Self { kind, big_endian, shift: 0.0, scale: 1.0 }
    }

    /// Decodes `bytes` into the numbers `out` yields.
    fn decode<'a>(&self, bytes: &[u8], out: impl Iterator<Item = &'a mut f64>) {
        match self.kind {
            Kind::Bool => self.each(bytes, out, |b: [u8; 1]| f64::from(b[0] != 0)),
            Kind::I8 => self.each(bytes, out, |b| f64::from(i8::from_le_bytes(b))),
            Kind::U8 => self.each(bytes, out, |b| f64::from(u8::from_le_bytes(b))),
            Kind::I16 => self.each(bytes, out, |b| f64::from(i16::from_le_bytes(b))),
            Kind::U16 => self.each(bytes, out, |b| f64::from(u16::from_le_bytes(b))),
            // The three bytes go to the top of an i32 and come down again, which extends the sign.
            Kind::I24 => {
                self.each(bytes, out, |b: [u8; 3]| f64::from(i32::from_le_bytes([0, b[0], b[1], b[2]]) >> 8))
            }
            Kind::I32 => self.each(bytes, out, |b| f64::from(i32::from_le_bytes(b))),
            Kind::U32 => self.each(bytes, out, |b| f64::from(u32::from_le_bytes(b))),
            Kind::I64 => self.each(bytes, out, |b| i64::from_le_bytes(b) as f64),
            Kind::U64 => self.each(bytes, out, |b| u64::from_le_bytes(b) as f64),
            Kind::F32 => self.each(bytes, out, |b| f64::from(f32::from_le_bytes(b))),
            Kind::F64 => self.each(bytes, out, f64::from_le_bytes),
        }
    }

    fn each<'a, const N: usize>(
        &self,
        bytes: &[u8],
        out: impl Iterator<Item = &'a mut f64>,
        number: impl Fn([u8; N]) -> f64,
    ) {
        for (chunk, x) in bytes.chunks_exact(N).zip(out) {
            let mut stored: [u8; N] = chunk.try_into().expect("chunks_exact gives N bytes");
            if self.big_endian {
                stored.reverse();
            }
            *x = (number(stored) - self.shift) * self.scale;
        }
    }
}

/// Bytes read at once: large enough to make system calls cheap, small enough to stay in cache.
const PIECE: usize = 1 << 18;

/// A table of packed numbers in a file, row after row or (Fortran order) column after column.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) disk: Arc<Disk>,
    /// Byte where the first number lies.
    pub(super) offset: u64,
    pub(super) element: Element,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) fortran: bool,
}

impl Packed {
    /// Reads numbers that lie side by side, from number `first` on, into every `stride`-th place of `out`.
    pub(super) fn read_run(&self, first: usize, out: &mut [f64], stride: usize) -> Result<()> {
        let size = self.element.kind.bytes();
        let count = out.len().div_ceil(stride);
        let at_once = (PIECE / size).min(count.max(1));
        let mut buffer = vec![0; at_once * size];
        let mut done = 0;
        while done < count {
            let now = at_once.min(count - done);
            let bytes = &mut buffer[..now * size];
            self.disk.read_exact_at(self.offset + ((first + done) * size) as u64, bytes)?;
            self.element.decode(bytes, out[done * stride..].iter_mut().step_by(stride));
            done += now;
        }
        Ok(())
    }
}

impl Stored for Packed {
    fn read(&self, start: usize, out: &mut [f64]) -> Result<()> {
        if !self.fortran {
            return self.read_run(start * self.cols, out, 1);
        }
        for j in 0..self.cols {
            self.read_run(j * self.rows + start, &mut out[j..], self.cols)?;
        }
        Ok(())
    }

    fn read_all(&self, out: &mut [f64], progress: &dyn Progress) -> Result<()> {
        if self.fortran {
            for j in 0..self.cols {
                progress.check()?;
                self.read_run(j * self.rows, &mut out[j..], self.cols)?;
                progress.advance(self.rows as u64);
            }
            return Ok(());
        }
        for (i, piece) in out.chunks_mut(PIECE).enumerate() {
            progress.check()?;
            self.read_run(i * PIECE, piece, 1)?;
            progress.advance(piece.len() as u64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(kind: Kind, big_endian: bool, bytes: &[u8]) -> f64 {
        let mut out = [0.0];
        Element::plain(kind, big_endian).decode(bytes, out.iter_mut());
        out[0]
    }

    #[test]
    fn every_kind_decodes_in_both_byte_orders() {
        assert_eq!(one(Kind::I16, false, &[0xfe, 0xff]), -2.0);
        assert_eq!(one(Kind::I16, true, &[0xff, 0xfe]), -2.0);
        assert_eq!(one(Kind::I24, false, &[0x00, 0x00, 0x80]), -8_388_608.0);
        assert_eq!(one(Kind::I24, false, &[0x01, 0x00, 0x00]), 1.0);
        assert_eq!(one(Kind::U32, true, &[0xff, 0, 0, 1]), 4_278_190_081.0);
        assert_eq!(one(Kind::F32, true, &1.5f32.to_be_bytes()), 1.5);
        assert_eq!(one(Kind::F64, false, &(-0.0f64).to_le_bytes()).to_bits(), (-0.0f64).to_bits());
        assert_eq!(one(Kind::Bool, false, &[7]), 1.0);
        assert_eq!(one(Kind::U64, false, &u64::MAX.to_le_bytes()), u64::MAX as f64);
        assert_eq!(one(Kind::I8, false, &[0x80]), -128.0);
    }
}
