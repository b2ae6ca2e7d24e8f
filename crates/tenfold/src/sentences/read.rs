//! Sentences from files, one a line, and word vectors that others learned.

mod held;
mod vectors;

pub use held::Lines;
pub use vectors::{Given, read_vectors};

use crate::error::{Error, Result};
use crate::input::decode::utf8;
use crate::input::{Opening, Source};
use std::path::Path;
use tenfold_engine::progress::Progress;

/// How sentences are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The encoding of the text, by its name in the Encoding Standard. `None` is UTF-8.
    pub encoding: Option<String>,
    /// Bytes after which unpacking, or standard input, is given up. 8 GiB by default.
    pub max_decompressed: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { encoding: None, max_decompressed: 8 << 30 }
    }
}

/// Reads a text with one sentence a line, plain or packed by gzip or zstd; `-` is standard input. A blank line is an empty
/// sentence, so that the places of the others stay right.
///
/// # Errors
/// A file that is missing, empty, damaged or not in its encoding, with the line; a table, whose lines are no sentences.
///
/// # Example
/// ```
/// use tenfold::engine::progress::Silent;
/// use tenfold::sentences::{ReadOptions, read};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("reviews.txt");
/// std::fs::write(&path, "A fine film.\n\nDull, alas\n").unwrap();
/// let lines = read(&path, &ReadOptions::default(), &Silent)?;
/// assert_eq!(lines.iter().collect::<Vec<_>>(), ["A fine film.", "", "Dull, alas"]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read(path: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Lines> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = name.trim_end_matches(".gz").trim_end_matches(".zst");
    if [".csv", ".tsv", ".parquet", ".npy"].iter().any(|end| plain.ends_with(end)) {
        return Err(Error::UnsupportedFile {
            path: path.to_owned(),
            problem: "is a table by its name, and its lines are no sentences".into(),
            known:
                "text with one sentence a line (.txt, .txt.gz, .txt.zst); save the column of the text as such"
                    .into(),
        });
    }
    let opening = Opening {
        encoding: options.encoding.as_deref(),
        max_decompressed: options.max_decompressed,
        wanted: "give a file with at least one sentence",
    };
    let source = Source::open(path, opening, progress)?;
    let mut pieces = source.pieces(progress)?;
    let mut lines = Lines::default();
    while let Some(piece) = pieces.next()? {
        lines.push(utf8(source.path(), &piece, lines.len() as u64 + 1)?);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::progress::Silent;

    #[test]
    fn bad_files_are_told_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.txt");
        let told = |bytes: &[u8], encoding: Option<&str>| {
            std::fs::write(&path, bytes).unwrap();
            let options = ReadOptions { encoding: encoding.map(String::from), ..ReadOptions::default() };
            read(&path, &options, &Silent)
        };
        let error = told(b"one\ntwo caf\xe9\n", None).unwrap_err().to_string();
        assert!(error.contains("t.txt, line 2") && error.contains("--encoding latin1"), "{error}");
        assert_eq!(told(b"one\ntwo caf\xe9\n", Some("latin1")).unwrap().get(1), Some("two café"));
        assert!(told(b"", None).unwrap_err().to_string().contains("is empty"));
        let table = folder.path().join("t.csv.gz");
        std::fs::write(&table, "a,b\n").unwrap();
        assert!(matches!(read(&table, &ReadOptions::default(), &Silent), Err(Error::UnsupportedFile { .. })));
    }
}
