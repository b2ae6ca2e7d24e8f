//! Where data come from: a file, plain or packed, a pipe or standard input, as UTF-8 in pieces of whole lines.

use super::decode::{NotEncoded, SkipMark, Transcode, encoding};
use super::pieces::Pieces;
use super::{Contents, Disk, Packing, Told, TooMuch, UNPACK, unpacked};
use crate::error::{Error, Result};
use encoding_rs::Encoding;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use tenfold_engine::progress::{Progress, Silent};

/// The name of standard input in messages.
pub(crate) const STDIN: &str = "standard input";

/// How an input is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening<'a> {
    /// The encoding of text by its label; `None` is UTF-8.
    pub(crate) encoding: Option<&'a str>,
    /// Bytes after which unpacking, or a pipe, is given up.
    pub(crate) max_decompressed: u64,
    /// What to give in place of an empty file.
    pub(crate) wanted: &'static str,
}

/// An input that can be read from its beginning as often as needed.
#[derive(Debug)]
pub(crate) struct Source {
    disk: Arc<Disk>,
    packing: Packing,
    encoding: Option<&'static Encoding>,
    limit: u64,
}

impl Source {
    /// Opens a file; `-` is standard input. What cannot be read twice is copied to a temporary file first.
    pub(crate) fn open(path: &Path, opening: Opening, progress: &dyn Progress) -> Result<Self> {
        if path == Path::new("-") {
            return Self::copied(io::stdin().lock(), Path::new(STDIN), opening, progress);
        }
        let is_pipe = std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
        match (is_pipe, File::open(path)) {
            (true, Ok(pipe)) => Self::copied(pipe, path, opening, progress),
            _ => Self::of(Disk::open(path)?, opening),
        }
    }

    fn of(disk: Arc<Disk>, opening: Opening) -> Result<Self> {
        if disk.len() == 0 {
            return Err(disk.fail("is empty", opening.wanted));
        }
        let mut magic = [0; 4];
        let held = disk.len().min(4) as usize;
        disk.read_exact_at(0, &mut magic[..held])?;
        let packing = match magic {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Packing::Zstd,
            _ => Packing::Plain,
        };
        let encoding = opening.encoding.map(encoding).transpose()?;
        let encoding = encoding.filter(|e| *e != encoding_rs::UTF_8);
        Ok(Self { disk, packing, encoding, limit: opening.max_decompressed })
    }

    /// Copies what cannot be read twice.
    pub(crate) fn copied(
        mut from: impl Read,
        name: &Path,
        opening: Opening,
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
            if len > opening.max_decompressed {
                let too_much = TooMuch::Total(opening.max_decompressed);
                let remedy = "raise --max-decompressed, or write it to a file first and give that";
                return Err(fail(too_much.to_string(), remedy));
            }
            file.write_all(&piece[..n]).map_err(|e| fail(no_room(&e), NO_ROOM))?;
            progress.advance(n as u64);
        }
        Self::of(Arc::new(Disk::of(file, len, name)), opening)
    }

    /// The same bytes as a plain file, for a format that is not read from the beginning to the end.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(crate) fn plain(self, opening: Opening, progress: &dyn Progress) -> Result<Arc<Disk>> {
        if self.packing == Packing::Plain {
            return Ok(self.disk);
        }
        let reader = self.bytes(&Silent)?;
        Ok(Self::copied(reader, self.disk.path(), opening, progress)?.disk)
    }

    /// Bytes after which unpacking is given up.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }

    pub(crate) fn path(&self) -> &Path {
        self.disk.path()
    }

    /// An error about this input.
    pub(crate) fn fail(
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
    pub(crate) fn refuse(&self, line: Option<u64>, error: &io::Error) -> Error {
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
    pub(crate) fn reader<'a>(&self, progress: &'a dyn Progress) -> Result<Box<dyn Read + Send + 'a>> {
        let raw = self.unpacked(progress, Contents::Lines)?;
        Ok(match self.encoding {
            None => Box::new(SkipMark::new(raw)),
            Some(encoding) => Box::new(Transcode::new(raw, encoding)),
        })
    }

    /// The bytes from their beginning, unpacked but not decoded, for a format that is no text.
    pub(crate) fn bytes<'a>(&self, progress: &'a dyn Progress) -> Result<Box<dyn Read + Send + 'a>> {
        self.unpacked(progress, Contents::Bytes)
    }

    fn unpacked<'a>(
        &self,
        progress: &'a dyn Progress,
        contents: Contents,
    ) -> Result<Box<dyn Read + Send + 'a>> {
        let told = Told::new(&self.disk, progress);
        unpacked(&self.disk, self.packing, told, (self.limit, contents))
    }

    /// Whether the bytes of the file are its text, behind a byte order mark of the given length.
    pub(super) fn is_its_text(&self) -> Option<u64> {
        if self.packing != Packing::Plain || self.encoding.is_some() {
            return None;
        }
        let mut mark = [0; 3];
        let marked =
            self.disk.len() >= 3 && self.disk.read_exact_at(0, &mut mark).is_ok() && mark == *b"\xef\xbb\xbf";
        Some(if marked { 3 } else { 0 })
    }

    /// Begins a stage of the listener, whose steps are the file's bytes.
    pub(crate) fn begin(&self, progress: &dyn Progress) {
        let name = self.path().file_name().unwrap_or(self.path().as_os_str()).to_string_lossy().into_owned();
        progress.stage(&format!("reading {name}"), self.disk.len());
    }

    /// The text in pieces of whole lines.
    pub(crate) fn pieces<'a>(&'a self, progress: &'a dyn Progress) -> Result<Pieces<'a>> {
        self.begin(progress);
        Ok(Pieces::new(self, progress, self.reader(progress)?))
    }

    /// The first bytes of the text, to tell its format by. A file too damaged to begin is told about later.
    pub(crate) fn head(&self, bytes: u64) -> Vec<u8> {
        let mut head = Vec::new();
        if let Ok(reader) = self.reader(&Silent) {
            let _ = reader.take(bytes).read_to_end(&mut head);
        }
        head
    }

    /// An error where lines end by carriage returns only: the whole file would be taken for one line.
    pub(crate) fn check_line_ends(&self) -> Result<()> {
        let head = self.head(1 << 16);
        let inside = head.split_last().map_or(&head[..], |(_, before)| before);
        if head.contains(&b'\n') || !inside.contains(&b'\r') {
            return Ok(());
        }
        let remedy = "save it again with the line ends of today (`tr '\\r' '\\n' < old > new`)";
        Err(self.fail(1, "ends its lines as computers did until 2001, by carriage returns only", remedy))
    }
}

const NO_ROOM: &str = "set TMPDIR to a folder with more space, or give a file instead";

fn no_room(error: &io::Error) -> String {
    format!("cannot be copied to a temporary file ({error})")
}
