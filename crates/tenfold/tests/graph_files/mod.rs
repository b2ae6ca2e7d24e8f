//! What the tests of the graph readers share.
#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::io::Write;
use std::path::{Path, PathBuf};
use tenfold::communities::Graph;
use tenfold::communities::read::{ReadOptions, read};
use tenfold::engine::progress::Silent;

/// Writes `bytes` to a file of this name.
pub fn file(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The folder of public graphs beside the project, or a line that says that the test is skipped.
pub fn shared(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("TENFOLD_DATA").map_or(beside, PathBuf::from).join("graphs");
    if !folder.is_dir() {
        eprintln!("skipped: {test} needs ../shared/data/graphs");
        return None;
    }
    Some(folder)
}

pub fn open(path: &Path, options: &ReadOptions) -> Graph {
    read(path, options, &Silent).unwrap_or_else(|error| panic!("{error}"))
}

/// Reads a text under a name, with the usual options.
pub fn graph(name: &str, text: impl AsRef<[u8]>) -> Graph {
    with(name, text, |_| {})
}

/// Reads a text under a name, with changed options.
pub fn with(name: &str, text: impl AsRef<[u8]>, change: impl Fn(&mut ReadOptions)) -> Graph {
    let folder = tempfile::tempdir().unwrap();
    let mut options = ReadOptions::default();
    change(&mut options);
    open(&file(&folder, name, text), &options)
}

/// The message of the error that reading gives, which always names the file.
pub fn refusal(name: &str, text: impl AsRef<[u8]>, change: impl Fn(&mut ReadOptions)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut options = ReadOptions::default();
    change(&mut options);
    let path = file(&folder, name, text);
    let message = read(&path, &options, &Silent).expect_err("this file should be refused").to_string();
    assert!(message.contains(name), "no path in {message:?}");
    message
}

/// Every entry of the matrix as `from to weight`, by ids, in order.
pub fn entries(graph: &Graph) -> Vec<String> {
    let mut all = Vec::new();
    for i in 0..graph.nodes() {
        let (columns, weights) = graph.adjacency().row(i);
        for (e, j) in columns.iter().enumerate() {
            let weight = weights.map_or(1.0, |w| w[e]);
            all.push(format!("{} {} {weight}", graph.ids().get(i), graph.other_ids().get(*j as usize)));
        }
    }
    all.sort();
    all
}

pub fn ids(graph: &Graph) -> Vec<String> {
    graph.ids().iter().map(|id| id.into_owned()).collect()
}

pub fn has_note(graph: &Graph, part: &str) -> bool {
    graph.notes().iter().any(|note| note.contains(part))
}

/// The same through gzip and zstd.
pub fn packed(bytes: &[u8]) -> [Vec<u8>; 2] {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(bytes).unwrap();
    [gz.finish().unwrap(), zstd::encode_all(bytes, 3).unwrap()]
}

/// An element of a Matlab file, with its padding.
pub fn element(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut out = kind.to_le_bytes().to_vec();
    out.extend((body.len() as u32).to_le_bytes());
    out.extend(body);
    out.resize(out.len().next_multiple_of(8), 0);
    out
}

/// A matrix of a Matlab file: class, dimensions, name, and the elements behind them.
pub fn matrix(class: u32, rows: i32, cols: i32, name: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut body = element(6, &[class.to_le_bytes(), 9u32.to_le_bytes()].concat());
    body.extend(element(5, &[rows.to_le_bytes(), cols.to_le_bytes()].concat()));
    body.extend(element(1, name.as_bytes()));
    parts.iter().for_each(|part| body.extend(part));
    element(14, &body)
}

/// A sparse matrix with these places, in order of columns.
pub fn sparse(name: &str, rows: i32, cols: i32, places: &[(i32, i32, f64)]) -> Vec<u8> {
    let bytes = |numbers: Vec<i32>| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let ir = bytes(places.iter().map(|p| p.0).collect());
    let jc = bytes((0..=cols).map(|c| places.iter().filter(|p| p.1 < c).count() as i32).collect());
    let pr: Vec<u8> = places.iter().flat_map(|p| p.2.to_le_bytes()).collect();
    matrix(5, rows, cols, name, &[element(5, &ir), element(5, &jc), element(9, &pr)])
}

/// A full matrix of small whole numbers, column by column.
pub fn full(name: &str, rows: i32, cols: i32, values: &[u8]) -> Vec<u8> {
    matrix(6, rows, cols, name, &[element(2, values)])
}

/// A Matlab file with these elements, each compressed if asked.
pub fn mat(elements: &[Vec<u8>], compressed: bool) -> Vec<u8> {
    let mut out = b"MATLAB 5.0 MAT-file, made by a test".to_vec();
    out.resize(124, b' ');
    out.extend([0, 1, b'I', b'M']);
    for whole in elements {
        if compressed {
            let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            zlib.write_all(whole).unwrap();
            let body = zlib.finish().unwrap();
            out.extend(15u32.to_le_bytes());
            out.extend((body.len() as u32).to_le_bytes());
            out.extend(body);
        } else {
            out.extend(whole);
        }
    }
    out
}
