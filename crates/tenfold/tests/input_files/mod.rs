//! What the file tests share: folders, small files of every type, and a seeded way of spoiling them.
#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tenfold::engine::linalg::{Mat, Rows};
use tenfold::input::{Options, Table, open};

/// A folder that vanishes with the test.
pub fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes `bytes` to a file of this name.
pub fn file(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Opens with the usual options.
pub fn read(path: &Path) -> Table {
    open(path, &Options::default()).unwrap()
}

/// Opens so that nothing but a few rows fits into memory.
pub fn streamed(path: &Path, memory: u64) -> Table {
    let table = open(path, &Options { memory, ..Options::default() }).unwrap();
    assert!(table.borrow_rows(0, 1).is_none(), "{} should stay on disk", table.describe());
    table
}

/// The message of the error that opening gives, which always names the file.
pub fn refusal(path: &Path, options: &Options) -> String {
    let message = open(path, options).expect_err("this file should be refused").to_string();
    assert!(message.contains(path.to_str().unwrap()), "no path in {message:?}");
    message
}

/// All numbers of a table, read in pieces that do not fall together with blocks.
pub fn all(rows: &dyn Rows) -> Vec<f64> {
    let mut out = vec![0.0; rows.rows() * rows.cols()];
    let mut start = 0;
    for piece in out.chunks_mut(rows.cols() * 389) {
        rows.read_rows(start, piece).unwrap();
        start += piece.len() / rows.cols();
    }
    out
}

/// Numbers without a pattern, of all sizes.
pub fn numbers(rows: usize, cols: usize) -> Mat {
    let mut spoil = Spoil::new((rows * 31 + cols) as u64);
    Mat::from_fn(rows, cols, |_, _| {
        let x = spoil.next() as i64 as f64 / 2f64.powi(63);
        x * 10f64.powi((spoil.next() % 40) as i32 - 20)
    })
}

/// `a1`, `a2`, …
pub fn names(count: usize) -> Vec<String> {
    (1..=count).map(|j| format!("a{j}")).collect()
}

/// A `.npy` file with this header and body.
pub fn npy(descr: &str, fortran: &str, shape: &str, body: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(body);
    bytes
}

/// The bits of every number, so that equal means equal.
pub fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// SplitMix64: spoils files the same way on every run.
pub struct Spoil(u64);

impl Spoil {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Flips, overwrites, cuts, repeats or extends; headers, which lie at the ends, are hit more often.
    pub fn spoil(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        for _ in 0..1 + self.next() % 3 {
            let len = out.len().max(1) as u64;
            let near = match self.next() % 4 {
                0 => self.next() % len.min(64),
                1 => len - 1 - self.next() % len.min(64),
                _ => self.next() % len,
            } as usize;
            match self.next() % 8 {
                0 => out.truncate(near),
                1 => out.extend_from_slice(&self.next().to_le_bytes()),
                2 if near < out.len() => out[near] = [0, 0xff, 0x7f, 0x80][(self.next() % 4) as usize],
                3 if near + 4 <= out.len() => out[near..near + 4].copy_from_slice(&[0xff; 4]),
                4 if near < out.len() => drop(out.remove(near)),
                _ if near < out.len() => out[near] ^= 1 << (self.next() % 8),
                _ => {}
            }
        }
        out
    }
}
