//! A regular file read at any offset from any thread.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open file, its path for messages and its length, against which every header is checked before
/// anything is allocated.
#[derive(Debug)]
pub(crate) struct Disk {
    path: PathBuf,
    file: File,
    len: u64,
    #[cfg(not(unix))]
    lock: std::sync::Mutex<()>,
}

/// What is wrong with a file that is not there.
pub const MISSING: &str = "there is no such file";

impl Disk {
    /// Opens a regular file. Pipes and devices are refused before they are opened: a pipe would block, and
    /// neither can be read at an offset.
    pub(crate) fn open(path: &Path) -> Result<Arc<Self>> {
        let fail = |problem: String, remedy: &str| Error::Read {
            path: path.to_owned(),
            line: None,
            problem,
            remedy: remedy.to_owned(),
        };
        let refuse = |e: io::Error| match e.kind() {
            io::ErrorKind::NotFound => fail(MISSING.into(), "check the path"),
            _ => fail(format!("cannot be opened ({e})"), "check the path and its permissions"),
        };
        let metadata = std::fs::metadata(path).map_err(refuse)?;
        if !metadata.is_file() {
            let what = if metadata.is_dir() { "is a directory" } else { "is not a regular file" };
            return Err(fail(what.to_owned(), "give the path of a file on disk"));
        }
        let file = File::open(path).map_err(refuse)?;
        Ok(Arc::new(Self::of(file, metadata.len(), path)))
    }

    /// An open file of this length that goes by another name in messages, such as a copy of standard input.
    pub(crate) fn of(file: File, len: u64, name: &Path) -> Self {
        Self {
            path: name.to_owned(),
            file,
            len,
            #[cfg(not(unix))]
            lock: std::sync::Mutex::new(()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// An error about this file.
    pub(crate) fn fail(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Read { path: self.path.clone(), line: None, problem: problem.into(), remedy: remedy.into() }
    }

    /// Fills `buffer` from `offset` on.
    pub(crate) fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read_at(offset + done as u64, &mut buffer[done..]) {
                Ok(0) => return Err(self.fail("ends too early", "it is cut short: copy or export it again")),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    return Err(self.fail(format!("cannot be read ({e})"), "check the disk and try again"));
                }
            }
        }
        Ok(())
    }

    /// The bytes from `offset` to `offset + len`, which are checked to lie in the file before a buffer is made.
    pub(crate) fn bytes(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(self.fail(
                format!("points to {len} bytes at byte {offset}, but holds only {} bytes", self.len),
                "it is cut short or damaged: copy or export it again",
            ));
        }
        let mut buffer = vec![0; len as usize];
        self.read_exact_at(offset, &mut buffer)?;
        Ok(buffer)
    }

    #[cfg(unix)]
    pub(crate) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    /// Without positioned reads the file's one cursor is shared, so the seek and the read go under a lock.
    #[cfg(not(unix))]
    pub(crate) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        use std::io::{Seek, SeekFrom};
        let _guard = self.lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.file).seek(SeekFrom::Start(offset))?;
        (&self.file).read(buffer)
    }
}

/// A plain reader over a [`Disk`] with its own position, so that threads do not disturb one another.
#[derive(Debug, Clone)]
pub(crate) struct Cursor {
    disk: Arc<Disk>,
    offset: u64,
}

impl Cursor {
    pub(crate) fn new(disk: &Arc<Disk>, offset: u64) -> Self {
        Self { disk: Arc::clone(disk), offset }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A file that grows is read as it was when it was opened, in every pass alike; one that shrinks is no file that ends.
        let left = self.disk.len.saturating_sub(self.offset);
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let n = self.disk.read_at(self.offset, &mut buffer[..most])?;
        if n == 0 && most > 0 {
            let message = "it became shorter while it was read; let whoever writes it finish first";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        self.offset += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_read_as_it_was_when_it_was_opened() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"one line\n").unwrap();
        let disk = Disk::open(file.path()).unwrap();
        // It grows: what came later belongs to nobody's count of what there is.
        file.write_all(b"half of ano").unwrap();
        let mut text = String::new();
        Cursor::new(&disk, 0).read_to_string(&mut text).unwrap();
        assert_eq!(text, "one line\n");
        // It shrinks: its end is no end.
        file.as_file().set_len(4).unwrap();
        let error = Cursor::new(&disk, 0).read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("became shorter"), "{error}");
        assert!(disk.bytes(0, 9).unwrap_err().to_string().contains("ends too early"));
    }
}
