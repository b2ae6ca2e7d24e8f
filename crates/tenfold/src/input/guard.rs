//! A reader that stops a small file from unpacking into more than the machine holds.

use std::io::{self, Read};

/// Longest line taken, in bytes: a million cells of 64 characters. A line is held in memory whole.
const LONGEST_LINE: u64 = 64 << 20;

/// Passes bytes through until there are too many of them in all, or in one line.
#[derive(Debug)]
pub(crate) struct Guard<R> {
    inner: R,
    limit: u64,
    total: u64,
    in_line: u64,
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
            Self::Total(_) => "unpack the file yourself if you trust it, and give the unpacked file",
            Self::Line => "check that it is a text file with one sample a line and closed quotes",
        }
    }
}

impl<R> Guard<R> {
    pub(crate) fn new(inner: R, limit: u64) -> Self {
        Self { inner, limit, total: 0, in_line: 0 }
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
        if self.in_line > LONGEST_LINE {
            return Err(io::Error::other(TooMuch::Line));
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_in_all_and_by_line() {
        let read = |bytes: u64, limit| {
            io::copy(&mut Guard::new(io::repeat(b'1').take(bytes), limit), &mut io::sink())
        };
        assert_eq!(read(1000, 1000).unwrap(), 1000);
        assert!(read(1001, 1000).unwrap_err().to_string().contains("more than 1000 bytes"));
        assert!(read(LONGEST_LINE + 1, u64::MAX).unwrap_err().to_string().contains("line"));
    }
}
