//! The data elements of Matlab files of version 5 to 7: tags, matrices, cells, numbers, compressed or not.

use super::{Source, TooMuch};
use crate::error::{Error, Result};
use flate2::read::ZlibDecoder;
use std::io::{self, ErrorKind, Read};
use tenfold_engine::progress::Progress;

/// Bytes of the header.
const HEADER: usize = 128;

/// Bytes of numbers that are read at once.
const BUFFER: usize = 1 << 16;

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// What to do about damage.
pub(crate) const CUT: &str = "it is cut short or damaged: copy it or save it again";

/// What kind of matrix a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Sparse,
    /// Numbers in rows and columns.
    Full,
    /// Numbers in more than two dimensions.
    Array,
    /// Matrices in cells.
    Cells,
    /// Structures, characters and whatever else.
    Other,
}

/// A variable of the file.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    /// Which one of the file it is: several may have one name. Matrices in cells have the place of their variable.
    pub(crate) place: usize,
    pub(crate) name: String,
    pub(crate) class: Class,
    pub(crate) rows: u64,
    pub(crate) cols: u64,
    /// Lengths along all dimensions, rows and columns first.
    pub(crate) sizes: Vec<u64>,
    pub(crate) complex: bool,
}

/// The bytes of one variable.
pub(crate) struct Stream<'a> {
    source: &'a Source,
    bytes: Box<dyn Read + 'a>,
    big: bool,
    /// That of its variable.
    place: usize,
}

/// The type and the length of an element; short ones have their data in the tag.
struct Tag {
    kind: u32,
    size: u64,
    short: Option<[u8; 4]>,
}

/// Hands every variable over, with its bytes from behind its name on. What packed elements come to in all is held against the limit of the
/// source.
///
/// # Errors
/// A file of another version, or a damaged one; and what `take` says.
pub(crate) fn each_variable(
    source: &Source,
    progress: &dyn Progress,
    mut take: impl FnMut(Variable, &mut Stream) -> Result<()>,
) -> Result<()> {
    let mut bytes = source.bytes(progress)?;
    let big = header(source, &mut bytes)?;
    // What comes to no more than its file was not packed.
    let limit = source.limit().max(source.disk().len());
    let mut left = limit;
    for place in 0.. {
        progress.check()?;
        let mut tag = [0; 8];
        let held = fill(&mut bytes, &mut tag).map_err(|e| refuse(source, &e))?;
        if held == 0 {
            return Ok(());
        }
        if held < 8 {
            return Err(source.fail(None, "ends within a tag", CUT));
        }
        let (kind, size) = (word(&tag[..4], big), u64::from(word(&tag[4..], big)));
        // A compressed element has no padding behind it.
        let whole = if kind == COMPRESSED { size } else { size.next_multiple_of(8) };
        let mut element = (&mut bytes).take(whole);
        match kind {
            COMPRESSED => {
                let unpacked = Limited { inner: ZlibDecoder::new(&mut element), left: &mut left, limit };
                let mut stream = Stream { source, bytes: Box::new(unpacked), big, place };
                let inner = stream.tag()?;
                if inner.kind == MATRIX && inner.size > 0 {
                    variable(&mut stream, &mut take)?;
                }
            }
            MATRIX if size > 0 => {
                variable(&mut Stream { source, bytes: Box::new(&mut element), big, place }, &mut take)?;
            }
            _ => {}
        }
        io::copy(&mut element, &mut io::sink()).map_err(|e| refuse(source, &e))?;
    }
    Ok(())
}

/// Checks the header and says whether numbers have their large end first.
fn header(source: &Source, bytes: &mut dyn Read) -> Result<bool> {
    let mut header = [0; HEADER];
    let held = fill(bytes, &mut header).map_err(|e| refuse(source, &e))?;
    let again = "save it in Matlab with save(file, '-v7'), or in Python with scipy.io.savemat";
    if header.starts_with(b"\x89HDF") || header.starts_with(b"MATLAB 7.3") {
        return Err(source.fail(None, "is a Matlab file of version 7.3 (HDF5), which is not read", again));
    }
    if held < HEADER {
        return Err(source.fail(None, "is too short for a Matlab file", CUT));
    }
    match &header[124..] {
        [0, 1, b'I', b'M'] => Ok(false),
        [1, 0, b'M', b'I'] => Ok(true),
        _ => Err(source.fail(None, "is no Matlab file of version 5 to 7", again)),
    }
}

/// Reads what stands before the numbers of a matrix.
fn variable(stream: &mut Stream, take: &mut dyn FnMut(Variable, &mut Stream) -> Result<()>) -> Result<()> {
    let flags = stream.small(16)?;
    let [low, high, ..] = flags[..] else {
        return Err(stream.damaged("has a matrix without flags"));
    };
    // The flags are a word whose lowest byte is the class, read here byte by byte.
    let word = if stream.big { [flags.get(3), flags.get(2)] } else { [Some(&low), Some(&high)] };
    let (class, bits) = (word[0].copied().unwrap_or(0), word[1].copied().unwrap_or(0));
    let dimensions = stream.small(1 << 10)?;
    let sizes: Vec<u64> = dimensions.chunks_exact(4).map(|d| u64::from(self::word(d, stream.big))).collect();
    let name = String::from_utf8_lossy(&stream.small(1 << 12)?).into_owned();
    let class = match (class, sizes.len()) {
        (5, 2) => Class::Sparse,
        (6..=15, 2) => Class::Full,
        (6..=15, 3..) => Class::Array,
        (1, _) => Class::Cells,
        _ => Class::Other,
    };
    let (rows, cols) = (sizes.first().copied().unwrap_or(0), sizes.get(1).copied().unwrap_or(0));
    take(Variable { place: stream.place, name, class, rows, cols, sizes, complex: bits & 8 != 0 }, stream)
}

impl Variable {
    /// How many numbers or cells it says that it has; what overflows is more than any file holds.
    pub(crate) fn count(&self) -> u64 {
        self.sizes.iter().fold(1, |n, &size| n.saturating_mul(size))
    }
}

impl Stream<'_> {
    /// Hands over the matrices of a variable of cells, with their numbers. Cells within cells are handed over too, but not
    /// what is in them: nothing here goes deeper than one level, whatever a file nests.
    ///
    /// # Errors
    /// Cells that end too early, and what `take` says.
    pub(crate) fn cells(
        &mut self,
        count: u64,
        mut take: impl FnMut(Variable, &mut Stream) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..count {
            let Tag { kind, size, .. } = self.tag()?;
            if kind != MATRIX {
                return Err(self.damaged("has a cell that is no matrix"));
            }
            let mut cell = (&mut self.bytes).take(size);
            if size > 0 {
                let bytes = Box::new(&mut cell);
                variable(
                    &mut Stream { source: self.source, bytes, big: self.big, place: self.place },
                    &mut take,
                )?;
            }
            io::copy(&mut cell, &mut io::sink()).map_err(|e| refuse(self.source, &e))?;
        }
        Ok(())
    }

    /// Hands over all numbers of the next element.
    ///
    /// # Errors
    /// An element that ends too early or holds no numbers, and what `take` says.
    pub(crate) fn numbers(&mut self, mut take: impl FnMut(f64) -> Result<()>) -> Result<()> {
        let Tag { kind, size, short } = self.tag()?;
        let (width, number): (usize, fn([u8; 8]) -> f64) = match kind {
            1 => (1, |b| f64::from(b[0] as i8)),
            2 => (1, |b| f64::from(b[0])),
            3 => (2, |b| f64::from(i16::from_le_bytes([b[0], b[1]]))),
            4 => (2, |b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
            5 => (4, |b| f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            6 => (4, |b| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            7 => (4, |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            9 => (8, f64::from_le_bytes),
            12 => (8, |b| i64::from_le_bytes(b) as f64),
            13 => (8, |b| u64::from_le_bytes(b) as f64),
            _ => return Err(self.damaged("has numbers of an unknown type")),
        };
        let mut give = |bytes: &[u8], big: bool| -> Result<()> {
            for chunk in bytes.chunks_exact(width) {
                let mut eight = [0; 8];
                eight[..width].copy_from_slice(chunk);
                if big {
                    eight[..width].reverse();
                }
                take(number(eight))?;
            }
            Ok(())
        };
        if let Some(short) = short {
            return give(&short[..(size as usize).min(4)], self.big);
        }
        let (mut left, mut buffer) = (size, vec![0; BUFFER]);
        while left > 0 {
            // The buffer holds a whole number of numbers of every width.
            let now = left.min(BUFFER as u64) as usize;
            self.fill(&mut buffer[..now])?;
            give(&buffer[..now], self.big)?;
            left -= now as u64;
        }
        self.padding(size)
    }

    /// The bytes of the next element, of which there may be no more than `most`.
    fn small(&mut self, most: u64) -> Result<Vec<u8>> {
        let Tag { size, short, .. } = self.tag()?;
        if let Some(short) = short {
            return Ok(short[..(size as usize).min(4)].to_vec());
        }
        if size > most {
            return Err(self.damaged("has an element of impossible length"));
        }
        let mut bytes = vec![0; size as usize];
        self.fill(&mut bytes)?;
        self.padding(size)?;
        Ok(bytes)
    }

    fn tag(&mut self) -> Result<Tag> {
        let mut tag = [0; 8];
        self.fill(&mut tag)?;
        let (kind, size) = (word(&tag[..4], self.big), word(&tag[4..], self.big));
        // The size of a short element stands in the upper half of its type.
        Ok(match kind >> 16 {
            0 => Tag { kind, size: u64::from(size), short: None },
            size => {
                let short = Some([tag[4], tag[5], tag[6], tag[7]]);
                Tag { kind: kind & 0xffff, size: u64::from(size), short }
            }
        })
    }

    fn padding(&mut self, size: u64) -> Result<()> {
        let rest = (size.next_multiple_of(8) - size) as usize;
        // The last element of a compressed matrix may come without.
        fill(&mut self.bytes, &mut [0; 8][..rest]).map(drop).map_err(|e| refuse(self.source, &e))
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<()> {
        match fill(&mut self.bytes, out) {
            Ok(held) if held == out.len() => Ok(()),
            Ok(_) => Err(self.damaged("ends within a matrix")),
            Err(e) => Err(refuse(self.source, &e)),
        }
    }

    pub(crate) fn damaged(&self, problem: &str) -> Error {
        self.source.fail(None, problem, CUT)
    }
}

/// Reads until the buffer is full or the bytes end, and says how many there were.
fn fill(from: &mut dyn Read, out: &mut [u8]) -> io::Result<usize> {
    let mut held = 0;
    while held < out.len() {
        match from.read(&mut out[held..]) {
            Ok(0) => break,
            Ok(n) => held += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => break,
            Err(e) => return Err(e),
        }
    }
    Ok(held)
}

fn refuse(source: &Source, error: &io::Error) -> Error {
    source.refuse(None, error)
}

fn word(bytes: &[u8], big: bool) -> u32 {
    let four = [bytes[0], bytes[1], bytes[2], bytes[3]];
    if big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
}

/// Stops a small element from unpacking into more than the machine holds.
struct Limited<'a, R> {
    inner: R,
    /// Of all elements of the file together.
    left: &'a mut u64,
    limit: u64,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        *self.left =
            self.left.checked_sub(n as u64).ok_or_else(|| io::Error::other(TooMuch::Total(self.limit)))?;
        Ok(n)
    }
}
