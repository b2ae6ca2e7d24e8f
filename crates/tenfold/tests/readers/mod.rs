//! Every reader of files by its name, and what must hold of whatever it reads: for the fuzzers of `fuzz/` and for the tests here.
#![allow(dead_code, reason = "every test file uses its own part of this")]

pub mod documents;
pub mod graphs;
pub mod models;
pub mod signals;
pub mod tables;
pub mod tissue;
pub mod variables;

use std::path::Path;

/// What packed files may unpack to here, and what readers may hold that keep larger files on disk: small, so that what goes beyond
/// them is seen.
pub const ROOM: u64 = 1 << 17;

/// One way in for strangers' bytes.
pub struct Reader {
    /// What it goes by, and its folder of seeds.
    pub name: &'static str,
    /// The name under which the bytes lie: most formats are told by it.
    pub file: &'static str,
    /// Files that lie beside it, because the format needs several.
    pub beside: &'static [(&'static str, &'static [u8])],
    /// Reads the file in every way there is. Errors are fine, panics are not; whether any way led to something.
    pub check: fn(&Path) -> bool,
}

const fn reader(name: &'static str, file: &'static str, check: fn(&Path) -> bool) -> Reader {
    Reader { name, file, beside: &[], check }
}

/// A record of two signals of three samples each, as the header and the samples that the other one is fuzzed beside.
pub const RECORD: &[u8] =
    b"w 2 360/1(0) 4 10:00:00\nw.dat 212 200(1024)/mV 11 1024 995 -22131 0 MLII\nw.dat 212x1 200 11 1024 1011 20052 0 V5\n";
pub const SAMPLES: &[u8] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// All of them; formats with parsers of their own first.
pub const READERS: &[Reader] = &[
    reader("mat-graph", "x.mat", graphs::mat),
    reader("mat-signal", "x.mat", signals::check),
    reader("mat-events", "x.mat", signals::events),
    reader("edf", "x.edf", signals::check),
    Reader { name: "wfdb-header", file: "w.hea", beside: &[("w.dat", SAMPLES)], check: signals::check },
    Reader { name: "wfdb-signal", file: "w.dat", beside: &[("w.hea", RECORD)], check: signals::check },
    reader("wfdb-annotation", "x.atr", signals::events),
    reader("npy", "x.npy", tables::npy),
    reader("gml", "x.gml", graphs::gml),
    reader("graphml", "x.graphml", graphs::graphml),
    reader("newick", "x.nwk", variables::tree),
    reader("nexus", "x.nex", variables::tree),
    reader("tiff", "x.tif", tissue::image),
    reader("arrow", "x.arrow", variables::check),
    reader("parquet", "x.parquet", tables::parquet),
    reader("model-ica", "x.tenfold", models::ica),
    reader("model-topics", "x.tenfold", models::topics),
    reader("model-communities", "x.tenfold", models::communities),
    reader("model-motifs", "x.tenfold", models::motifs),
    reader("model-sentences", "x.tenfold", models::sentences),
    reader("model-trees", "x.tenfold", models::trees),
    reader("model-cells", "x.tenfold", models::cells),
    reader("model-tensor", "x.tenfold", models::tensor),
    reader("png", "x.png", tissue::image),
    reader("jpeg", "x.jpg", tissue::image),
    reader("wav", "x.wav", tables::twice),
    reader("vectors", "x.vec", documents::vectors),
    reader("gzip", "x.csv.gz", tables::packed),
    reader("zstd", "x.csv.zst", tables::packed),
    reader("csv", "x.csv", tables::twice),
    reader("text", "x.txt", documents::text),
    reader("documents", "x.csv", documents::table),
    reader("mallet", "x.mallet", documents::mallet),
    reader("uci", "docword.x.txt", documents::uci),
    reader("lda-c", "x.ldac", documents::lda_c),
    reader("matrix-market", "x.mtx", documents::market),
    reader("svmlight", "x.svm", documents::svmlight),
    reader("recipe", "x.json", documents::recipe),
    reader("edges", "x.txt", graphs::edges),
    reader("graph-table", "x.csv", graphs::table),
    reader("communities", "x.txt", graphs::truth),
    reader("events", "x.csv", signals::events),
    reader("variables", "x.csv", variables::check),
    reader("codes", "x.csv", variables::codes),
    reader("groups", "x.csv", variables::groups),
    reader("fasta", "x.fasta", variables::check),
    reader("phylip", "x.phy", variables::check),
    reader("mask", "x.png", tissue::mask),
    reader("region", "x.geojson", tissue::region),
    reader("rings", "x.csv", tissue::region),
    reader("cells", "x.csv", tissue::table),
    reader("expression", "x.csv", tissue::expression),
];

/// The reader of this name.
pub fn find(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name)
}
