//! Bytes become UTF-8: strictly, or from another encoding that was named.

use crate::error::{Error, Result};
use encoding_rs::{Decoder, Encoding};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// An encoding by its label.
///
/// # Errors
/// A label that is not in the Encoding Standard.
pub(crate) fn encoding(label: &str) -> Result<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).ok_or_else(|| Error::BadParameter {
        name: "encoding".into(),
        value: label.into(),
        expected: "a name such as utf-8, latin1, windows-1251, shift_jis, gb18030 or utf-16le".into(),
    })
}

/// Leaves out the byte order mark that some programs put before UTF-8.
pub(crate) struct SkipMark<R> {
    inner: R,
    begun: bool,
}

impl<R> SkipMark<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, begun: false }
    }
}

impl<R: Read> Read for SkipMark<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut n = self.inner.read(buffer)?;
        if !self.begun && n > 0 {
            // Decoders may hand out a byte at a time, and the mark must be seen whole.
            while n < 3 && buffer.len() >= 3 && b"\xef\xbb\xbf".starts_with(&buffer[..n]) {
                match self.inner.read(&mut buffer[n..])? {
                    0 => break,
                    more => n += more,
                }
            }
            self.begun = true;
            if buffer[..n].starts_with(b"\xef\xbb\xbf") {
                buffer.copy_within(3..n, 0);
                n -= 3;
                return if n == 0 { self.inner.read(buffer) } else { Ok(n) };
            }
        }
        Ok(n)
    }
}

/// Bytes that the named encoding does not have.
#[derive(Debug, thiserror::Error)]
#[error("holds bytes that are not {0}")]
pub(crate) struct NotEncoded(&'static str);

/// Turns another encoding into UTF-8.
pub(crate) struct Transcode<R> {
    inner: R,
    encoding: &'static Encoding,
    decoder: Decoder,
    raw: Vec<u8>,
    out: Vec<u8>,
    given: usize,
    ended: bool,
}

impl<R: Read> Transcode<R> {
    pub(crate) fn new(inner: R, encoding: &'static Encoding) -> Self {
        let decoder = encoding.new_decoder();
        Self { inner, encoding, decoder, raw: vec![0; 1 << 16], out: Vec::new(), given: 0, ended: false }
    }
}

impl<R: Read> Read for Transcode<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.out.len() && !self.ended {
            let n = self.inner.read(&mut self.raw)?;
            self.ended = n == 0;
            let room = self.decoder.max_utf8_buffer_length(n).unwrap_or(n * 3 + 16);
            self.out.resize(room, 0);
            let (_, _, written, bad) = self.decoder.decode_to_utf8(&self.raw[..n], &mut self.out, self.ended);
            if bad {
                return Err(io::Error::other(NotEncoded(self.encoding.name())));
            }
            self.out.truncate(written);
            self.given = 0;
        }
        let n = buffer.len().min(self.out.len() - self.given);
        buffer[..n].copy_from_slice(&self.out[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

/// The text of some bytes.
///
/// # Errors
/// The line, counted from `first`, with a byte that is not UTF-8.
pub(crate) fn utf8<'a>(path: &Path, bytes: &'a [u8], first: u64) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|e| {
        let line = first + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count() as u64;
        let byte = bytes[e.valid_up_to()];
        let wide = line == 1 && (bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]));
        let remedy = match wide {
            true => "it begins like UTF-16: say --encoding utf-16le or utf-16be",
            false => "if it is in another encoding, name that, for example --encoding latin1",
        };
        let problem = format!("is not valid UTF-8 (byte 0x{byte:02x})");
        Error::Read { path: PathBuf::from(path), line: Some(line), problem, remedy: remedy.into() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time, as a decoder may.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(buffer.len()).min(1);
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn the_mark_is_skipped_once_and_only_when_whole() {
        for (bytes, text) in [
            (&b"\xef\xbb\xbfab"[..], &b"ab"[..]),
            (b"\xef\xbb\xbf\xef\xbb\xbfa", b"\xef\xbb\xbfa"),
            (b"\xef\xbba", b"\xef\xbba"),
            (b"\xef\xbb\xbf", b""),
            (b"\xef", b"\xef"),
            (b"", b""),
        ] {
            let mut out = Vec::new();
            SkipMark::new(Slow(bytes)).read_to_end(&mut out).unwrap();
            assert_eq!(out, text);
        }
    }

    #[test]
    fn characters_may_be_cut_anywhere() {
        let text = "日本語 テスト\n".repeat(3);
        let (bytes, ..) = encoding_rs::SHIFT_JIS.encode(&text);
        let mut out = String::new();
        Transcode::new(Slow(&bytes), encoding_rs::SHIFT_JIS).read_to_string(&mut out).unwrap();
        assert_eq!(out, text);
        let cut = Transcode::new(Slow(&bytes[..1]), encoding_rs::SHIFT_JIS).read_to_string(&mut out);
        assert_eq!(cut.unwrap_err().to_string(), "holds bytes that are not Shift_JIS");
    }
}
