//! Cut and spoilt files of every format of signals and events: an error or sound signals, never a panic, never much memory.

mod graph_files;
mod input_files;
mod readers;
mod signal_files;

use graph_files::{element, mat, matrix};
use input_files::{Spoil, file, folder};
use readers::signals::{check, events};
use signal_files::{Edf, cells, edf, npy, onset, wav};
use std::path::Path;
use tenfold::engine::progress::Silent;
use tenfold::motifs::{Layout, ReadOptions, read};

/// Every prefix, and files spoilt by a seeded hand.
fn torment(name: &str, bytes: &[u8], check: impl Fn(&Path) -> bool) {
    let folder = folder();
    // The header of a record needs its samples, and the samples their header.
    file(&folder, "w.dat", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    file(&folder, "w.hea", HEADER);
    check(&file(&folder, name, bytes));
    for end in 0..bytes.len() {
        check(&file(&folder, name, &bytes[..end]));
    }
    let mut spoil = Spoil::new(bytes.len() as u64);
    for _ in 0..300 {
        check(&file(&folder, name, spoil.spoil(bytes)));
    }
}

const HEADER: &str = "w 2 360/1(0) 4 10:00:00\nw.dat 212 200(1024)/mV 11 1024 995 -22131 0 MLII\nw.dat 212x1 200 11 1024 1011 20052 0 V5\n";

#[test]
fn arrays_and_tables() {
    let numbers: Vec<f64> = (0..12).map(f64::from).collect();
    torment("a.npy", &npy(&[2, 3, 2], &numbers), check);
    torment("a.csv", b"x,y\n1,2\n3,NA\n\"5\",6\n", check);
    torment("a.wav", &wav(2, 8000, &[1, 2, 3, 4]), check);
}

#[test]
fn edf_files() {
    let signal = Edf { label: "a", records: vec![vec![1, 2], vec![3, 4]] };
    let notes = Edf { label: "EDF Annotations", records: vec![onset("+0"), onset("+5")] };
    torment("a.edf", &edf("EDF+D", 2, &[signal, notes]), check);
}

#[test]
fn edf_headers_that_lie() {
    let signal = || Edf { label: "a", records: vec![vec![1, 2], vec![3, 4]] };
    let whole = edf("", 2, &[signal()]);
    let folder = folder();
    // Every number of the header in turn, as the largest and the strangest that fit.
    for (begin, len) in
        [(184, 8), (236, 8), (244, 8), (252, 4), (360, 8), (368, 8), (376, 8), (384, 8), (472, 8)]
    {
        for text in ["99999999", "-1", "0", "1e307", "nan", "inf", "1.5", "", "-0", "1e-300"] {
            let mut bytes = whole.clone();
            let field: String = format!("{text:<len$}").chars().take(len).collect();
            bytes[begin..begin + len].copy_from_slice(field.as_bytes());
            check(&file(&folder, "a.edf", &bytes));
        }
    }
}

#[test]
fn wfdb_records() {
    torment("w.hea", HEADER.as_bytes(), check);
    torment("w.dat", &[0, 8, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9], check);
    let folder = folder();
    file(&folder, "w.dat", [1; 12]);
    for head in [
        "w 1 1e-300 1\nw.dat 16\n",
        "w 1 360 18446744073709551615\nw.dat 16\n",
        "w 4096 360\nw.dat 16\n",
        "w 1 360\nw.dat 16x65536\n",
        "w 1 360\nw.dat 16+18446744073709551615\n",
        "w 1 360\nw.dat 16x99999999999999999999\n",
        "w 1 360\nw.dat 212 1e308(1e308)\n",
        "w 1 360\nw.dat 212 1e-320(5)\n",
        "w 1 360\nw.hea 80\n",
        "w 1 360\n. 80\n",
        "w 1 360\n- 80\n",
    ] {
        check(&file(&folder, "w.hea", head));
    }
}

#[test]
fn matlab_files() {
    let numbers: Vec<u8> = (0..6).flat_map(|x| f64::from(x).to_le_bytes()).collect();
    let plain = matrix(6, 2, 3, "x", &[element(9, &numbers)]);
    let windows = cells("signal", &[vec![1.0, 2.0], vec![3.0]]);
    let places = cells("idx", &[vec![5.0, 6.0], vec![7.0]]);
    torment("a.mat", &mat(&[plain], true), check);
    torment("b.mat", &mat(&[places.clone(), windows.clone()], false), check);
    torment("c.mat", &mat(&[places, windows.clone()], true), check);
    let folder = folder();
    for (rows, cols) in [(i32::MAX, 1), (1, i32::MAX), (i32::MAX, i32::MAX), (-1, -1), (0, 5)] {
        for compressed in [false, true] {
            let large = matrix(6, rows, cols, "x", &[element(9, &numbers)]);
            check(&file(&folder, "d.mat", mat(&[large], compressed)));
            let nested =
                matrix(1, rows, cols, "x", &[matrix(1, rows, cols, "", std::slice::from_ref(&windows))]);
            check(&file(&folder, "d.mat", mat(&[nested], compressed)));
        }
    }
}

/// Found by the fuzzers: a place before the first sample made its number of samples negative.
#[test]
fn places_before_the_first_sample_are_none() {
    let folder = folder();
    for begin in [0.0, -3.0, 1e-150, f64::NAN] {
        let windows = cells("signal", &[vec![1.0, 2.0], vec![3.0]]);
        let places = cells("idx", &[vec![begin, begin + 1.0], vec![7.0]]);
        let path = file(&folder, "a.mat", mat(&[places, windows], false));
        let options = ReadOptions { layout: Layout::Channels, ..ReadOptions::default() };
        let signals = read(&path, &options, &Silent).unwrap();
        // Windows without places are trials of their own.
        assert_eq!(
            signals.stretches().iter().map(|s| (s.trial, s.offset)).collect::<Vec<_>>(),
            [(0, 0), (1, 0)]
        );
    }
}

#[test]
fn event_files() {
    torment("a.csv", b"time,motif,trial\n1,a,0\n2.5,\"b\",1\n", events);
    torment("a.mat", &mat(&[graph_files::full("t", 1, 3, &[1, 5, 9])], true), events);
    let words = [28u16 << 10 | 18, 63 << 10 | 3, 0x4e28, 0, 1 << 10 | 5, 59 << 10, 1, 5, 5 << 10 | 9, 0];
    torment("a.atr", &words.map(u16::to_le_bytes).concat(), events);
}
