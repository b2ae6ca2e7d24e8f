//! Samples as a file holds them, row after row, before they become one channel.

use super::super::plane::Window;
use crate::error::Result;
use crate::input::Disk;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

/// What is known of an image before its pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Numbers of a pixel, opacity included.
    pub(crate) channels: usize,
    /// Those of them that are colours, which stand first.
    pub(crate) colours: usize,
    /// Bits of a number.
    pub(crate) bits: u8,
    /// The largest value that fits, where numbers are whole.
    pub(crate) top: Option<f64>,
}

impl Shape {
    /// The whole image.
    pub(crate) fn all(&self) -> Window {
        Window { x: 0, y: 0, width: self.width, height: self.height }
    }
}

/// An image as it lies in its file: the one thing that formats have to offer.
pub(crate) trait Raw: Send + Sync {
    fn shape(&self) -> Shape;
    /// Hands over the rows of a window in order, all channels of a pixel side by side.
    ///
    /// # Errors
    /// A file that cannot be read or decoded; what `take` says.
    fn rows(&self, window: Window, take: &mut dyn FnMut(&[f64]) -> Result<()>) -> Result<()>;
}

/// Where decoded rows lie.
#[derive(Debug)]
pub(super) enum Store {
    Memory(Vec<u8>),
    /// A temporary file, which goes away with the image.
    File(Disk),
}

/// An image that was decoded as a whole, in one byte or two (the high one first) for every number.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) shape: Shape,
    pub(super) store: Store,
}

impl Raw for Decoded {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn rows(&self, window: Window, take: &mut dyn FnMut(&[f64]) -> Result<()>) -> Result<()> {
        let Shape { width, channels, bits, .. } = self.shape;
        let pixel = channels * usize::from(bits / 8);
        let (mut values, mut read) = (vec![0.0; window.width * channels], Vec::new());
        for y in window.y..window.y + window.height {
            let from = (y * width + window.x) * pixel;
            let bytes = match &self.store {
                Store::Memory(bytes) => &bytes[from..from + window.width * pixel],
                Store::File(disk) => {
                    read.resize(window.width * pixel, 0);
                    disk.read_exact_at(from as u64, &mut read)?;
                    &read
                }
            };
            if bits == 8 {
                values.iter_mut().zip(bytes).for_each(|(value, byte)| *value = f64::from(*byte));
            } else {
                let words = bytes.chunks_exact(2).map(|b| f64::from(u16::from_be_bytes([b[0], b[1]])));
                values.iter_mut().zip(words).for_each(|(value, word)| *value = word);
            }
            take(&values)?;
        }
        Ok(())
    }
}

/// Numbers that a program holds, not a file.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) shape: Shape,
    pub(super) values: Vec<f32>,
}

impl Raw for Held {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn rows(&self, window: Window, take: &mut dyn FnMut(&[f64]) -> Result<()>) -> Result<()> {
        let Shape { width, channels, .. } = self.shape;
        for y in window.y..window.y + window.height {
            let from = (y * width + window.x) * channels;
            let row: Vec<f64> =
                self.values[from..from + window.width * channels].iter().map(|x| f64::from(*x)).collect();
            take(&row)?;
        }
        Ok(())
    }
}

/// The file as decoders want it: with a place that moves.
pub(super) struct Cursor {
    disk: Arc<Disk>,
    at: u64,
}

impl Cursor {
    pub(super) fn buffered(disk: &Arc<Disk>) -> BufReader<Self> {
        BufReader::with_capacity(1 << 16, Self { disk: Arc::clone(disk), at: 0 })
    }
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.disk.read_at(self.at, buffer)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let place = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.disk.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = place.ok_or(std::io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_cut_out_of_bytes_and_words_in_memory_and_on_disk() {
        let shape = |bits| Shape {
            width: 5,
            height: 4,
            channels: 2,
            colours: 1,
            bits,
            top: Some(f64::from(u8::MAX)),
        };
        let window = Window { x: 1, y: 2, width: 3, height: 2 };
        let bytes: Vec<u8> = (0..40).collect();
        let words: Vec<u8> = (0..40u16).flat_map(|x| (x * 300).to_be_bytes()).collect();
        for (bits, content, scale) in [(8, bytes, 1.0), (16, words, 300.0)] {
            let mut file = tempfile::tempfile().unwrap();
            std::io::Write::write_all(&mut file, &content).unwrap();
            let disk = Disk::of(file, content.len() as u64, std::path::Path::new("rows"));
            for store in [Store::Memory(content), Store::File(disk)] {
                let mut seen = Vec::new();
                let image = Decoded { shape: shape(bits), store };
                let mut take = |row: &[f64]| {
                    seen.push(row.to_vec());
                    Ok(())
                };
                image.rows(window, &mut take).unwrap();
                let row = |y: usize| (0..6).map(|i| ((y * 5 + 1) * 2 + i) as f64 * scale).collect::<Vec<_>>();
                assert_eq!(seen, [row(2), row(3)]);
            }
        }
    }
}
