//! Which format a file is in: by its name, by its first lines, or as it was said.

use crate::error::Error;
use crate::input::Source;
use std::path::Path;

/// How a graph is stored.
///
/// # Example
/// ```
/// use tenfold::communities::read::Format;
/// assert_eq!("graphml".parse::<Format>()?, Format::GraphMl);
/// assert_eq!(Format::MatrixMarket.to_string(), "mtx");
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An edge a line, as SNAP and KONECT write them: two ids, perhaps a weight, between separators of any kind.
    Edges,
    /// Comma-separated cells with an edge a row.
    Csv,
    /// Tab-separated cells with an edge a row.
    Tsv,
    /// Parquet with an edge a row.
    Parquet,
    /// MatrixMarket: the places of a sparse matrix.
    MatrixMarket,
    /// GML: nodes with attributes, and edges.
    Gml,
    /// GraphML: nodes with attributes, and edges, in XML.
    GraphMl,
    /// A Matlab file of version 5 to 7 with a sparse matrix, as those of Facebook100.
    Mat,
}

/// Formats with the names they go by and what they are called in sentences.
const NAMES: [(Format, &str, &str); 8] = [
    (Format::Edges, "edges", "a list of edges"),
    (Format::Csv, "csv", "a table of comma-separated cells"),
    (Format::Tsv, "tsv", "a table of tab-separated cells"),
    (Format::Parquet, "parquet", "a Parquet table"),
    (Format::MatrixMarket, "mtx", "a MatrixMarket matrix"),
    (Format::Gml, "gml", "GML"),
    (Format::GraphMl, "graphml", "GraphML"),
    (Format::Mat, "mat", "a Matlab file"),
];

impl Format {
    fn row(self) -> (Self, &'static str, &'static str) {
        NAMES[NAMES.iter().position(|row| row.0 == self).unwrap_or_default()]
    }

    /// The format as part of a sentence.
    pub fn describe(self) -> &'static str {
        self.row().2
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
        "mtx" => Some(Format::MatrixMarket),
        "gml" => Some(Format::Gml),
        "graphml" => Some(Format::GraphMl),
        "mat" => Some(Format::Mat),
        "edges" | "edgelist" | "el" => Some(Format::Edges),
        _ => None,
    }
}

fn by_contents(head: &[u8]) -> Format {
    for (magic, format) in [
        (&b"PAR1"[..], Format::Parquet),
        (b"%%MatrixMarket", Format::MatrixMarket),
        (b"MATLAB ", Format::Mat),
        (b"\x89HDF", Format::Mat),
    ] {
        if head.starts_with(magic) {
            return format;
        }
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    if text.starts_with('<') && text.contains("<graphml") {
        return Format::GraphMl;
    }
    let words = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let words: Vec<&str> = words.take(100).collect();
    let opens = |pair: &[&str]| pair[0] == "graph" && pair[1].starts_with('[');
    if words.windows(2).any(opens) || words.contains(&"graph[") { Format::Gml } else { Format::Edges }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell() {
        assert_eq!(by_name("polblogs.gml.gz"), Some(Format::Gml));
        assert_eq!(by_name("a.b.tsv.zst"), Some(Format::Tsv));
        assert_eq!((by_name("x.edges"), by_name("reed98.mat")), (Some(Format::Edges), Some(Format::Mat)));
        assert_eq!(
            (by_name("x.txt"), by_name("out.x"), by_name("x"), by_name(".gz")),
            (None, None, None, None)
        );
        for (format, name, _) in NAMES {
            assert_eq!((name.parse::<Format>().unwrap(), format.to_string()), (format, name.to_string()));
        }
        assert!("word".parse::<Format>().unwrap_err().to_string().contains("edges, csv"));
    }

    #[test]
    fn contents_tell() {
        for (text, format) in [
            ("1 2\n3 4\n", Format::Edges),
            ("# graph\n1\t2\n", Format::Edges),
            ("%%MatrixMarket matrix coordinate pattern general\n", Format::MatrixMarket),
            ("PAR1\0\0", Format::Parquet),
            ("MATLAB 5.0 MAT-file", Format::Mat),
            ("Creator \"x\"\ngraph\n[\n node [ id 0 ]", Format::Gml),
            ("graph [ directed 1 ]", Format::Gml),
            ("# c\ngraph[\n", Format::Gml),
            ("<?xml version='1.0'?>\n<graphml xmlns=\"…\">", Format::GraphMl),
            ("<html>", Format::Edges),
            ("", Format::Edges),
        ] {
            assert_eq!(by_contents(text.as_bytes()), format, "{text:?}");
        }
    }
}
