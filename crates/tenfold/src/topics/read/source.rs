//! Where documents come from: a file, plain or packed, a pipe or standard input, as UTF-8 in pieces of whole lines.

use super::ReadOptions;
use super::decode::{NotEncoded, SkipMark, Transcode, encoding};
use crate::error::{Error, Result};
#[cfg(feature = "parquet")]
use crate::input::Cursor;
use crate::input::{Disk, Packing, Told, TooMuch, UNPACK, unpacked};
use encoding_rs::Encoding;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use tenfold_engine::progress::Progress;

/// Bytes of a piece. A batch of [`BATCH`] pieces and what is made of them stay within some tens of megabytes.
const PIECE: usize = 2 << 20;

/// Pieces that are parsed together, in parallel.
pub(super) const BATCH: usize = 8;

/// The name of standard input in messages.
pub(super) const STDIN: &str = "standard input";

/// An input that can be read from its beginning as often as needed.
#[derive(Debug)]
pub(super) struct Source {
    disk: Arc<Disk>,
    packing: Packing,
    encoding: Option<&'static Encoding>,
    limit: u64,
}

impl Source {
    /// Opens a file; `-` is standard input. What cannot be read twice is copied to a temporary file first.
    pub(super) fn open(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Self> {
        if path == Path::new("-") {
            return Self::copied(io::stdin().lock(), Path::new(STDIN), options, progress);
        }
        let is_pipe = std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
        match (is_pipe, File::open(path)) {
            (true, Ok(pipe)) => Self::copied(pipe, path, options, progress),
            _ => Self::of(Disk::open(path)?, options),
        }
    }

    fn of(disk: Arc<Disk>, options: &ReadOptions) -> Result<Self> {
        if disk.len() == 0 {
            return Err(disk.fail("is empty", "give a file with at least one document"));
        }
        let mut magic = [0; 4];
        let held = disk.len().min(4) as usize;
        disk.read_exact_at(0, &mut magic[..held])?;
        let packing = match magic {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Packing::Zstd,
            _ => Packing::Plain,
        };
        let encoding = options.encoding.as_deref().map(encoding).transpose()?;
        let encoding = encoding.filter(|e| *e != encoding_rs::UTF_8);
        Ok(Self { disk, packing, encoding, limit: options.max_decompressed })
    }

    /// Copies what cannot be read twice.
    pub(super) fn copied(
        mut from: impl Read,
        name: &Path,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let fail = |problem: String, remedy: &str| Error::Read {
            path: name.to_owned(),
            line: None,
            problem,
            remedy: remedy.to_owned(),
        };
        let mut file = tempfile::tempfile().map_err(|e| fail(no_room(&e), NO_ROOM))?;
        let (mut piece, mut len) = (vec![0; 1 << 20], 0u64);
        progress.stage(&format!("taking in {}", name.display()), 0);
        loop {
            progress.check()?;
            let n = match from.read(&mut piece) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(fail(format!("cannot be read ({e})"), "check where it comes from")),
            };
            len += n as u64;
            if len > options.max_decompressed {
                let too_much = TooMuch::Total(options.max_decompressed);
                return Err(fail(too_much.to_string(), "write it to a file first and give that"));
            }
            file.write_all(&piece[..n]).map_err(|e| fail(no_room(&e), NO_ROOM))?;
            progress.advance(n as u64);
        }
        Self::of(Arc::new(Disk::of(file, len, name)), options)
    }

    /// The same bytes as a plain file, for a format that is not read from the beginning to the end.
    #[cfg(feature = "parquet")]
    pub(super) fn plain(self, options: &ReadOptions, progress: &dyn Progress) -> Result<Arc<Disk>> {
        if self.packing == Packing::Plain {
            return Ok(self.disk);
        }
        let reader = unpacked(&self.disk, self.packing, Cursor::new(&self.disk, 0), self.limit)?;
        Ok(Self::copied(reader, self.disk.path(), options, progress)?.disk)
    }

    pub(super) fn path(&self) -> &Path {
        self.disk.path()
    }

    /// An error about this input.
    pub(super) fn fail(
        &self,
        line: impl Into<Option<u64>>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error::Read {
            path: self.disk.path().to_owned(),
            line: line.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// The error for what the system or an unpacker says.
    pub(super) fn refuse(&self, line: Option<u64>, error: &io::Error) -> Error {
        let inner = error.get_ref();
        if let Some(too_much) = inner.and_then(|e| e.downcast_ref::<TooMuch>()) {
            return self.fail(line, too_much.to_string(), too_much.remedy());
        }
        if let Some(bad) = inner.and_then(|e| e.downcast_ref::<NotEncoded>()) {
            return self.fail(line, bad.to_string(), "name the encoding it was written in with --encoding");
        }
        self.fail(line, format!("cannot be read ({error})"), UNPACK)
    }

    /// The text from its beginning; the listener hears of the file's bytes.
    pub(super) fn reader<'a>(&self, progress: &'a dyn Progress) -> Result<Box<dyn Read + Send + 'a>> {
        let told = Told::new(&self.disk, progress);
        let raw = unpacked(&self.disk, self.packing, told, self.limit)?;
        Ok(match self.encoding {
            None => Box::new(SkipMark::new(raw)),
            Some(encoding) => Box::new(Transcode::new(raw, encoding)),
        })
    }

    /// Begins a stage of the listener, whose steps are the file's bytes.
    pub(super) fn begin(&self, progress: &dyn Progress) {
        let name = self.path().file_name().unwrap_or(self.path().as_os_str()).to_string_lossy().into_owned();
        progress.stage(&format!("reading {name}"), self.disk.len());
    }

    /// The text in pieces of whole lines.
    pub(super) fn pieces<'a>(&'a self, progress: &'a dyn Progress) -> Result<Pieces<'a>> {
        self.begin(progress);
        Ok(Pieces { source: self, progress, reader: self.reader(progress)?, rest: Vec::new() })
    }

    /// The first bytes of the text, to tell its format by. A file too damaged to begin is told about later.
    pub(super) fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        if let Ok(reader) = self.reader(&tenfold_engine::progress::Silent) {
            let _ = reader.take(1 << 16).read_to_end(&mut head);
        }
        head
    }
}

const NO_ROOM: &str = "set TMPDIR to a folder with more space, or give a file instead";

fn no_room(error: &io::Error) -> String {
    format!("cannot be copied to a temporary file ({error})")
}

/// Text in pieces that end where lines end.
pub(super) struct Pieces<'a> {
    source: &'a Source,
    progress: &'a dyn Progress,
    reader: Box<dyn Read + Send + 'a>,
    rest: Vec<u8>,
}

impl Pieces<'_> {
    /// The next piece; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut piece = std::mem::take(&mut self.rest);
        loop {
            self.progress.check()?;
            let held = piece.len();
            piece.resize(held.max(PIECE / 2) * 2, 0);
            let mut filled = held;
            while filled < piece.len() {
                match self.reader.read(&mut piece[filled..]) {
                    Ok(0) => break,
                    Ok(n) => filled += n,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(self.source.refuse(None, &e)),
                }
            }
            let ended = filled < piece.len();
            piece.truncate(filled);
            if ended {
                return Ok((!piece.is_empty()).then_some(piece));
            }
            if let Some(last) = piece[held..].iter().rposition(|&b| b == b'\n') {
                self.rest = piece.split_off(held + last + 1);
                return Ok(Some(piece));
            }
        }
    }

    /// The next few pieces; empty at the end.
    pub(super) fn batch(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH
            && let Some(piece) = self.next()?
        {
            batch.push(piece);
        }
        Ok(batch)
    }
}
