//! Small files of every format of signals.
#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::path::{Path, PathBuf};
use tenfold::engine::progress::Silent;
use tenfold::motifs::{ReadOptions, Signals, read};

/// The folder of public signals beside the project, or a line that says that the test is skipped.
pub fn shared(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("TENFOLD_DATA").map_or(beside, PathBuf::from).join("signals");
    if !folder.is_dir() {
        eprintln!("skipped: {test} needs ../shared/data/signals");
        return None;
    }
    Some(folder)
}

pub fn open(path: &Path, change: impl Fn(&mut ReadOptions)) -> Signals {
    let mut options = ReadOptions::default();
    change(&mut options);
    read(path, &options, &Silent).unwrap_or_else(|error| panic!("{error}"))
}

/// The message of the error that reading gives.
pub fn refusal(path: &Path, change: impl Fn(&mut ReadOptions)) -> String {
    let mut options = ReadOptions::default();
    change(&mut options);
    read(path, &options, &Silent).expect_err("this file should be refused").to_string()
}

/// A `.npy` file of f64.
pub fn npy(shape: &[usize], data: &[f64]) -> Vec<u8> {
    let shape: String = shape.iter().map(|d| format!("{d}, ")).collect();
    let body: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
    super::input_files::npy("'<f8'", "False", &format!("({shape})"), &body)
}

/// A `.wav` file of 16 bits.
pub fn wav(channels: u16, rate: u32, samples: &[i16]) -> Vec<u8> {
    let bytes = 2 * samples.len() as u32;
    let mut out = b"RIFF".to_vec();
    out.extend((36 + bytes).to_le_bytes());
    out.extend(b"WAVEfmt ");
    out.extend(16u32.to_le_bytes());
    out.extend([1, channels].iter().flat_map(|x| x.to_le_bytes()));
    out.extend([rate, rate * 2 * u32::from(channels)].iter().flat_map(|x| x.to_le_bytes()));
    out.extend([2 * channels, 16].iter().flat_map(|x| x.to_le_bytes()));
    out.extend(b"data");
    out.extend(bytes.to_le_bytes());
    out.extend(samples.iter().flat_map(|x| x.to_le_bytes()));
    out
}

/// A signal of an EDF file: its label and its samples in every record.
pub struct Edf<'a> {
    pub label: &'a str,
    pub records: Vec<Vec<i16>>,
}

/// An EDF file whose numbers −1000 … 1000 mean −10 … 10, in records of one second.
pub fn edf(reserved: &str, promised: i32, signals: &[Edf]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |text: &str, width: usize| out.extend(format!("{text:<width$}").bytes());
    put("0", 8);
    put("", 160);
    put("16.11.2020.10.0", 16);
    put(&(256 * (signals.len() + 1)).to_string(), 8);
    put(reserved, 44);
    put(&promised.to_string(), 8);
    put("1", 8);
    put(&signals.len().to_string(), 4);
    for (values, width) in [
        (signals.iter().map(|s| s.label.to_owned()).collect::<Vec<_>>(), 16),
        (vec![String::new(); signals.len()], 80),
        (vec!["uV".into(); signals.len()], 8),
        (vec!["-10".into(); signals.len()], 8),
        (vec!["10".into(); signals.len()], 8),
        (vec!["-1000".into(); signals.len()], 8),
        (vec!["1000".into(); signals.len()], 8),
        (vec![String::new(); signals.len()], 80),
        (signals.iter().map(|s| s.records[0].len().to_string()).collect(), 8),
        (vec![String::new(); signals.len()], 32),
    ] {
        values.iter().for_each(|value| put(value, width));
    }
    for r in 0..signals[0].records.len() {
        for signal in signals {
            out.extend(signal.records[r].iter().flat_map(|x| x.to_le_bytes()));
        }
    }
    out
}

/// The annotations of a record that begins at `onset`, as numbers.
pub fn onset(onset: &str) -> Vec<i16> {
    let mut bytes = format!("{onset}\x14\x14\0").into_bytes();
    bytes.resize(20, 0);
    bytes.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect()
}

/// A Matlab variable of cells with a vector each.
pub fn cells(name: &str, windows: &[Vec<f64>]) -> Vec<u8> {
    use super::graph_files::{element, matrix};
    let parts: Vec<Vec<u8>> = windows
        .iter()
        .map(|w| {
            let body: Vec<u8> = w.iter().flat_map(|x| x.to_le_bytes()).collect();
            matrix(6, w.len() as i32, 1, "", &[element(9, &body)])
        })
        .collect();
    // Class 1, without the flags of other matrices.
    matrix(1, windows.len() as i32, 1, name, &parts)
}
