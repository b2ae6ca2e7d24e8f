//! File formats of observed variables.

use crate::error::Error;
use crate::input::Source;
use std::path::Path;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A sample a row, variables in columns, between commas or semicolons.
    Csv,
    /// The same between tabs.
    Tsv,
    /// The same in Parquet.
    Parquet,
    /// The same in an Arrow file, such as Feather, or stream.
    Arrow,
    /// An event a row: a sample, such as a patient, and a code; in CSV, TSV, Parquet or Arrow.
    Events,
    /// Aligned sequences: a taxon is a variable, a site a sample.
    Fasta,
    /// The same in PHYLIP, sequential or interleaved.
    Phylip,
}

/// Formats with the names they go by and what they are called in sentences.
const NAMES: [(Format, &str, &str); 7] = [
    (Format::Csv, "csv", "a table of comma-separated cells"),
    (Format::Tsv, "tsv", "a table of tab-separated cells"),
    (Format::Parquet, "parquet", "a Parquet table"),
    (Format::Arrow, "arrow", "an Arrow table"),
    (Format::Events, "events", "a table of events"),
    (Format::Fasta, "fasta", "aligned sequences in FASTA"),
    (Format::Phylip, "phylip", "aligned sequences in PHYLIP"),
];

/// The types that are known, for messages.
pub(super) const KNOWN: &str =
    ".csv, .tsv, .parquet, .arrow (.feather), .fasta and .phylip (.phy), all of them also as .gz and .zst";

impl Format {
    fn row(self) -> (Self, &'static str, &'static str) {
        NAMES[NAMES.iter().position(|row| row.0 == self).unwrap_or_default()]
    }

    /// The format as part of a sentence.
    pub fn describe(self) -> &'static str {
        self.row().2
    }

    /// The format of a file by its name, or by its first bytes. Events are told from other tables later.
    pub(super) fn tell(source: &Source) -> Result<(Self, &'static str), Error> {
        let name = source.path().file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        let extension = Path::new(plain).extension().and_then(|e| e.to_str()).unwrap_or("");
        let by_name = match extension {
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "parquet" => Some(Self::Parquet),
            "fasta" | "fa" | "fas" | "fna" | "faa" | "aln" | "afa" => Some(Self::Fasta),
            "phy" | "phylip" | "ph" => Some(Self::Phylip),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Self::Arrow),
            _ => None,
        };
        match by_name {
            Some(format) => Ok((format, "by its name")),
            None => by_contents(&source.head(1 << 12))
                .map(|format| (format, "by its first lines"))
                .ok_or_else(|| Error::UnsupportedFile {
                    path: source.path().to_owned(),
                    problem: "neither its name nor its first lines tell what it holds; name it with --format"
                        .into(),
                    known: KNOWN.into(),
                }),
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

fn by_contents(head: &[u8]) -> Option<Format> {
    if head.starts_with(b"PAR1") {
        return Some(Format::Parquet);
    }
    if head.starts_with(b"ARROW1") || head.starts_with(&[0xff; 4]) {
        return Some(Format::Arrow);
    }
    let text = String::from_utf8_lossy(head);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    if first.starts_with('>') {
        return Some(Format::Fasta);
    }
    let words: Vec<&str> = first.split_whitespace().collect();
    if words.len() == 2 && words.iter().all(|word| word.parse::<u64>().is_ok()) {
        return Some(Format::Phylip);
    }
    match (first.contains('\t'), first.contains([',', ';'])) {
        (true, _) => Some(Format::Tsv),
        (_, true) => Some(Format::Csv),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_tell() {
        for (text, format) in [
            ("PAR1\0", Some(Format::Parquet)),
            ("\n>a b\nACGT", Some(Format::Fasta)),
            (" 5 60 \nHomo ACGT", Some(Format::Phylip)),
            ("a\tb", Some(Format::Tsv)),
            ("a;b\n1;2", Some(Format::Csv)),
            ("word", None),
            ("", None),
        ] {
            assert_eq!(by_contents(text.as_bytes()), format, "{text:?}");
        }
        for (format, name, _) in NAMES {
            assert_eq!((name.parse::<Format>().unwrap(), format.to_string()), (format, name.to_string()));
        }
        assert!("xls".parse::<Format>().unwrap_err().to_string().contains("csv, tsv"));
    }
}
