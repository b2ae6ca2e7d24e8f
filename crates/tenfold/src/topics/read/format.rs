//! Which format a file is in: by its name, by its first lines, or as it was said.

use crate::error::Error;
use crate::input::Source;
use std::path::Path;

/// How documents are stored.
///
/// # Example
/// ```
/// use tenfold::topics::read::Format;
/// assert_eq!("lda-c".parse::<Format>()?, Format::LdaC);
/// assert_eq!(Format::Uci.to_string(), "uci");
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A folder of text files, a document each.
    Folder,
    /// Text with a document a line.
    Lines,
    /// Comma-separated cells with a column of text.
    Csv,
    /// Tab-separated cells with a column of text.
    Tsv,
    /// Parquet with a column of text.
    Parquet,
    /// MALLET's import format: `name label text…` a line.
    Mallet,
    /// UCI bag-of-words: the numbers of documents, words and entries, then `document word count` a line, from 1.
    Uci,
    /// LDA-C: `n id:count …` a line, ids from 0.
    LdaC,
    /// MatrixMarket, documents in rows, words in columns.
    MatrixMarket,
    /// svmlight and libsvm: `label id:count …` a line, ids from 1, or from 0 if a 0 occurs.
    Svmlight,
}

/// Formats with the names they go by and what they are called in sentences.
const NAMES: [(Format, &str, &str); 10] = [
    (Format::Folder, "folder", "a folder of text files"),
    (Format::Lines, "lines", "text with a document a line"),
    (Format::Csv, "csv", "a table of comma-separated cells"),
    (Format::Tsv, "tsv", "a table of tab-separated cells"),
    (Format::Parquet, "parquet", "a Parquet table"),
    (Format::Mallet, "mallet", "MALLET import text"),
    (Format::Uci, "uci", "a UCI bag of words"),
    (Format::LdaC, "lda-c", "an LDA-C bag of words"),
    (Format::MatrixMarket, "mtx", "a MatrixMarket matrix of counts"),
    (Format::Svmlight, "svmlight", "an svmlight bag of words"),
];

impl Format {
    fn row(self) -> (Self, &'static str, &'static str) {
        NAMES[NAMES.iter().position(|row| row.0 == self).unwrap_or_default()]
    }

    /// The format as part of a sentence.
    pub fn describe(self) -> &'static str {
        self.row().2
    }

    /// Whether documents come as text, and not as counts of words.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Folder | Self::Lines | Self::Csv | Self::Tsv | Self::Parquet | Self::Mallet)
    }

    /// The format, and how it was told.
    pub(super) fn tell(source: &Source) -> (Self, &'static str) {
        let name = source.path().file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match by_name(&name) {
            Some(format) => (format, "by its name"),
            None => (by_contents(&source.head(1 << 16)), "by its first lines"),
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(self.row().1)
    }
}

impl std::str::FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        NAMES.iter().find(|row| row.1 == name).map(|row| row.0).ok_or_else(|| Error::BadParameter {
            name: "format".into(),
            value: name.into(),
            expected: NAMES.map(|row| row.1).join(", "),
        })
    }
}

/// The format of a file of this lower-case name. `.txt` and `.dat` say too little.
fn by_name(name: &str) -> Option<Format> {
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    match Path::new(plain).extension()?.to_str()? {
        "csv" => Some(Format::Csv),
        "tsv" => Some(Format::Tsv),
        "parquet" => Some(Format::Parquet),
        "mallet" => Some(Format::Mallet),
        "ldac" | "lda-c" => Some(Format::LdaC),
        "mtx" => Some(Format::MatrixMarket),
        "svm" | "svmlight" | "libsvm" => Some(Format::Svmlight),
        "txt" if plain.starts_with("docword") => Some(Format::Uci),
        _ => None,
    }
}

fn by_contents(head: &[u8]) -> Format {
    if head.starts_with(b"PAR1") {
        return Format::Parquet;
    }
    if head.starts_with(b"%%MatrixMarket") {
        return Format::MatrixMarket;
    }
    // The last line of the head may be cut.
    let whole = head.iter().rposition(|&b| b == b'\n').unwrap_or(head.len());
    let text = String::from_utf8_lossy(&head[..whole]);
    let lines: Vec<&str> = text.lines().take(20).collect();
    let numbers = |line: &str| {
        line.split_whitespace().all(|f| f.parse::<u64>().is_ok()).then(|| line.split_whitespace().count())
    };
    if lines.len() > 3 && lines[..3].iter().all(|l| numbers(l) == Some(1)) && numbers(lines[3]) == Some(3) {
        return Format::Uci;
    }
    let filled: Vec<&str> = lines.into_iter().filter(|l| !l.trim().is_empty()).collect();
    let pairs = |line: &str| -> Option<(f64, usize)> {
        let mut fields = line.split('#').next()?.split_whitespace();
        let first = fields.next()?.parse().ok()?;
        let is_pair = |f: &str| {
            f.split_once(':').is_some_and(|(id, x)| id.parse::<u32>().is_ok() && x.parse::<f64>().is_ok())
        };
        let count = fields.clone().count();
        fields.all(is_pair).then_some((first, count))
    };
    let found: Vec<_> = filled.iter().filter_map(|line| pairs(line)).collect();
    if found.is_empty() || found.len() < filled.len() || found.iter().all(|f| f.1 == 0) {
        return Format::Lines;
    }
    if found.iter().all(|(first, count)| *first == *count as f64) { Format::LdaC } else { Format::Svmlight }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell() {
        assert_eq!(by_name("docword.kos.txt.gz"), Some(Format::Uci));
        assert_eq!(by_name("a.b.tsv.zst"), Some(Format::Tsv));
        assert_eq!(by_name("x.libsvm"), Some(Format::Svmlight));
        assert_eq!(
            (by_name("x.txt"), by_name("x.dat"), by_name("x"), by_name(".gz")),
            (None, None, None, None)
        );
        for (format, name, _) in NAMES {
            assert_eq!((name.parse::<Format>().unwrap(), format.to_string()), (format, name.to_string()));
        }
        assert!("word".parse::<Format>().unwrap_err().to_string().contains("folder, lines, csv"));
    }

    #[test]
    fn contents_tell() {
        for (text, format) in [
            ("3\n5\n2\n1 1 2\n3 5 1\n", Format::Uci),
            ("3\n5\n2\n", Format::Lines),
            ("2 0:1 4:2\n1 3:1\n0\n", Format::LdaC),
            ("-1 1:1 4:2 # note\n\n+1 3:0.5\n", Format::Svmlight),
            ("%%MatrixMarket matrix coordinate integer general\n", Format::MatrixMarket),
            ("1999 was a year\n3 4\n", Format::Lines),
            ("42\n17\n", Format::Lines),
            ("", Format::Lines),
        ] {
            assert_eq!(by_contents(text.as_bytes()), format, "{text:?}");
        }
    }
}
