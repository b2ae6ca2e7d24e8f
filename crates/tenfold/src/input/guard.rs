//! A reader that stops a small file from unpacking into more than the machine holds.

use std::io::{self, Read};

/// Longest line taken, in bytes: a million cells of 64 characters. A line is held in memory whole.
pub(super) const LONGEST_LINE: u64 = 64 << 20;

/// Passes bytes through until there are too many of them in all, or in one line.
#[derive(Debug)]
pub(crate) struct Guard<R> {
    inner: R,
    limit: u64,
    longest_line: u64,
    total: u64,
    in_line: u64,
}

/// What a file holds, once it is unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Text, whose lines may not be endless.
    Lines,
    /// Anything.
    Bytes,
}

/// What there was too much of.
#[derive(Debug, Clone, Copy, thiserror::Error)]
pub(crate) enum TooMuch {
    /// Of everything.
    #[error("unpacks to more than {0} bytes")]
    Total(u64),
    /// Of one line.
    #[error("has a line of more than {LONGEST_LINE} bytes")]
    Line,
}

impl TooMuch {
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Total(_) => "if you trust it, raise --max-decompressed, or unpack the file yourself",
            Self::Line => "check that it is a text file with one sample a line and closed quotes",
        }
    }

    /// The same where the format itself is packed: there is nothing to unpack by hand.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(crate) fn remedy_in_columns(self) -> &'static str {
        match self {
            Self::Total(_) => "if you trust it, raise --max-decompressed, or write it again as CSV",
            Self::Line => self.remedy(),
        }
    }
}

impl<R> Guard<R> {
    pub(crate) fn new(inner: R, limit: u64, contents: Contents) -> Self {
        let longest_line = if contents == Contents::Lines { LONGEST_LINE } else { u64::MAX };
        Self { inner, limit, longest_line, total: 0, in_line: 0 }
    }
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.total += n as u64;
        if self.total > self.limit {
            return Err(io::Error::other(TooMuch::Total(self.limit)));
        }
        match buffer[..n].iter().rposition(|&b| b == b'\n') {
            Some(last) => self.in_line = (n - last - 1) as u64,
            None => self.in_line += n as u64,
        }
        if self.in_line > self.longest_line {
            return Err(io::Error::other(TooMuch::Line));
        }
        Ok(n)
    }
}

/// Counts what comes out of a file that is no stream, such as Parquet and Arrow, whose columns are unpacked piece by piece.
#[cfg(any(feature = "arrow", feature = "parquet"))]
#[derive(Debug)]
pub(crate) struct Tally {
    limit: u64,
    total: std::sync::atomic::AtomicU64,
}

#[cfg(any(feature = "arrow", feature = "parquet"))]
impl Tally {
    /// The limit is never below the file's own length: what comes to no more than that was not packed, and plain files are taken
    /// at any length.
    pub(crate) fn new(disk: &super::Disk, limit: u64) -> Self {
        Self { limit: limit.max(disk.len()), total: 0.into() }
    }

    /// Bytes that may still come.
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.total.load(std::sync::atomic::Ordering::Relaxed))
    }

    /// Takes note of more bytes.
    ///
    /// # Errors
    /// When there are too many now.
    pub(crate) fn add(&self, disk: &super::Disk, bytes: u64) -> crate::error::Result<()> {
        self.check(disk, bytes)?;
        self.total.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }

    /// Says whether there would be too many with these, before they are unpacked.
    ///
    /// # Errors
    /// When there would.
    pub(crate) fn check(&self, disk: &super::Disk, bytes: u64) -> crate::error::Result<()> {
        if bytes <= self.left() {
            return Ok(());
        }
        let too_much = TooMuch::Total(self.limit);
        Err(disk.fail(too_much.to_string(), too_much.remedy_in_columns()))
    }
}

/// What has come out of a file: pages as they are unpacked, and the values in them, which may be many more.
#[cfg(any(feature = "arrow", feature = "parquet"))]
#[derive(Debug, Clone)]
pub(crate) struct Tallies {
    pub(crate) pages: std::sync::Arc<Tally>,
    pub(crate) values: std::sync::Arc<Tally>,
}

#[cfg(any(feature = "arrow", feature = "parquet"))]
impl Tallies {
    pub(crate) fn new(disk: &super::Disk, limit: u64) -> Self {
        let tally = || std::sync::Arc::new(Tally::new(disk, limit));
        Self { pages: tally(), values: tally() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_in_all_and_by_line() {
        let read = |bytes: u64, limit, contents| {
            io::copy(&mut Guard::new(io::repeat(b'1').take(bytes), limit, contents), &mut io::sink())
        };
        let lines = Contents::Lines;
        assert_eq!(read(1000, 1000, lines).unwrap(), 1000);
        assert!(read(1001, 1000, lines).unwrap_err().to_string().contains("more than 1000 bytes"));
        assert!(read(LONGEST_LINE + 1, u64::MAX, lines).unwrap_err().to_string().contains("line"));
        assert_eq!(read(LONGEST_LINE + 1, u64::MAX, Contents::Bytes).unwrap(), LONGEST_LINE + 1);
    }
}
