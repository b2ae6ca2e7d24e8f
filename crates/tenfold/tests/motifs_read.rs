//! Signals from every format, and what is said about those that cannot be read.

mod graph_files;
mod input_files;
mod signal_files;

use graph_files::{element, mat, matrix};
use input_files::{file, folder};
use signal_files::{Edf, cells, edf, npy, onset, open, refusal, shared, wav};
use tenfold::engine::progress::Silent;
use tenfold::motifs::truth::{self, Annotations, TruthOptions};
use tenfold::motifs::{Extent, Layout, ReadOptions, read_all};

fn counted(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

#[test]
fn arrays_by_their_dimensions() {
    let folder = folder();
    let line = file(&folder, "a.npy", npy(&[6], &counted(6)));
    let signals = open(&line, |_| {});
    assert_eq!((signals.stretches().len(), signals.samples(), signals.rate()), (1, 6, None));
    let plane = file(&folder, "b.npy", npy(&[2, 3], &counted(6)));
    let windows = open(&plane, |o| (o.cyclic, o.rate) = (true, Some(10.0)));
    assert_eq!(windows.stretches()[1].values, [3.0, 4.0, 5.0]);
    assert_eq!((windows.stretches()[1].trial, windows.is_cyclic(), windows.rate()), (1, true, Some(10.0)));
    let channels = open(&plane, |o| o.layout = Layout::Channels);
    assert_eq!(channels.stretches()[0].values, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(channels.channels(), ["0", "1", "2"]);
    let image = open(&plane, |o| o.layout = Layout::Images);
    assert_eq!(image.stretches()[0].extent, Extent::plane(2, 3));
    let trials = file(&folder, "c.npy", npy(&[2, 3, 2], &counted(12)));
    let one = open(&trials, |o| o.channels = Some(vec!["2".into(), "0".into()]));
    assert_eq!(one.stretches()[1].values, [10.0, 11.0, 6.0, 7.0]);
    let images = open(&trials, |o| o.layout = Layout::Images);
    assert_eq!((images.stretches().len(), images.stretches()[1].extent), (2, Extent::plane(3, 2)));
    let coloured = file(&folder, "d.npy", npy(&[2, 3, 2, 2], &counted(24)));
    assert_eq!(open(&coloured, |o| o.layout = Layout::Images).channels().len(), 3);
    let message = refusal(&coloured, |_| {});
    assert!(message.contains("[2, 3, 2, 2]") && message.contains("--layout"), "{message}");
    assert!(refusal(&plane, |o| o.memory = 40).contains("--memory"));
    assert!(refusal(&plane, |o| o.rate = Some(0.0)).contains("rate"));
    assert!(refusal(&plane, |o| o.variable = Some("x".into())).contains("--variable"));
    assert!(refusal(&file(&folder, "x.xyz", "1"), |_| {}).contains(".edf"));
}

#[test]
fn tables_and_sound_have_channels_in_columns() {
    let folder = folder();
    let table = file(&folder, "a.csv", "x,y\n1,2\n3,4\n5,6\n");
    let signals = open(&table, |_| {});
    assert_eq!(signals.stretches()[0].values, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    assert_eq!(open(&table, |o| o.channels = Some(vec!["Y".into()])).channels(), ["y"]);
    assert_eq!(open(&table, |o| o.layout = Layout::Windows).stretches().len(), 3);
    let plain = file(&folder, "b.tsv", "1\t2\n3\t4\n");
    assert_eq!(open(&plain, |_| {}).channels(), ["0", "1"]);
    let sound = file(&folder, "a.wav", wav(2, 8000, &[0, 16384, -16384, 0]));
    let signals = open(&sound, |_| {});
    assert_eq!(
        (signals.rate(), &signals.stretches()[0].values[..]),
        (Some(8000.0), &[0.0, -0.5, 0.5, 0.0][..])
    );
    assert!(refusal(&sound, |o| o.layout = Layout::Images).contains("means nothing"));
    let message = refusal(&table, |o| o.channels = Some(vec!["z".into()]));
    assert!(message.contains("\"z\"") && message.contains("x, y"), "{message}");
    assert!(refusal(&table, |o| o.channels = Some(vec!["x".into(), "0".into()])).contains("twice"));
}

#[test]
fn several_files_are_trials_in_turn() {
    let folder = folder();
    let one = file(&folder, "a.csv", "x\n1\n2\n");
    let two = file(&folder, "b.csv", "x\n3\n");
    let other = file(&folder, "c.csv", "y\n3\n");
    let both = read_all(&[&one, &two], &ReadOptions::default(), &Silent).unwrap();
    assert_eq!(
        both.stretches().iter().map(|s| (s.trial, s.values.len())).collect::<Vec<_>>(),
        [(0, 2), (1, 1)]
    );
    let error = read_all(&[&one, &other], &ReadOptions::default(), &Silent).unwrap_err().to_string();
    assert!(error.contains("c.csv") && error.contains("a.csv"), "{error}");
    assert!(read_all::<&str>(&[], &ReadOptions::default(), &Silent).is_err());
}

#[test]
fn gaps_are_named_or_cut() {
    let folder = folder();
    let nan = f64::NAN;
    // Two trials of two channels: gaps in the second, in one channel each.
    let data = [counted(10), vec![1.0, 2.0, nan, 4.0, 5.0], vec![1.0, 2.0, 3.0, f64::INFINITY, 5.0]].concat();
    let path = file(&folder, "a.npy", npy(&[2, 2, 5], &data));
    let message = refusal(&path, |_| {});
    assert!(
        message.contains("sample 2 of channel 0 in trial 1 is NaN, the first of 2 such values"),
        "{message}"
    );
    assert!(message.contains("--skip-nan"));
    let cut = open(&path, |o| o.skip_nan = true);
    let places: Vec<_> = cut.stretches().iter().map(|s| (s.trial, s.offset, s.extent.columns)).collect();
    assert_eq!(places, [(0, 0, 5), (1, 0, 2), (1, 4, 1)]);
    assert_eq!(cut.stretches()[1].values, [1.0, 2.0, 1.0, 2.0]);
    // What cannot be cut is left out: a circle, an image.
    assert_eq!(open(&path, |o| (o.skip_nan, o.cyclic) = (true, true)).stretches().len(), 1);
    let images = open(&path, |o| (o.skip_nan, o.layout) = (true, Layout::Images));
    assert_eq!(images.stretches().len(), 1);
    let image = refusal(&path, |o| o.layout = Layout::Images);
    assert!(image.contains("row 0, column 2 of channel 0 in image 1"), "{image}");
    // A channel without gaps may be chosen beside one that has nothing else.
    let table = file(&folder, "b.csv", "x,y\nNA,1\n,2\nnan,3\n");
    assert!(
        refusal(&table, |o| (o.skip_nan, o.channels) = (true, Some(vec!["x".into()]))).contains("no sample")
    );
    assert_eq!(open(&table, |o| o.channels = Some(vec!["y".into()])).samples(), 3);
    assert!(refusal(&file(&folder, "c.csv", "x\n1\nabc\n"), |o| o.skip_nan = true).contains("line 3"));
}

#[test]
#[cfg(feature = "parquet")]
fn parquet_is_a_table_too() {
    let folder = folder();
    let path = folder.path().join("a.parquet");
    let table = tenfold::engine::linalg::Mat::from_vec(3, 2, counted(6));
    tenfold::output::write_table(&path, &["x".into(), "y".into()], &table).unwrap();
    assert_eq!(open(&path, |_| {}).stretches()[0].values, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
}

#[test]
fn matlab_arrays_and_cells() {
    let folder = folder();
    let numbers = |name: &str, rows: i32, cols: i32| {
        let body: Vec<u8> = (0..rows * cols).flat_map(|x| f64::from(x).to_le_bytes()).collect();
        matrix(6, rows, cols, name, &[element(9, &body)])
    };
    for compressed in [false, true] {
        let path = file(&folder, "a.mat", mat(&[numbers("small", 1, 2), numbers("x", 2, 3)], compressed));
        assert_eq!(open(&path, |_| {}).stretches()[1].values, [1.0, 3.0, 5.0], "the largest, row by row");
        assert_eq!(open(&path, |o| o.variable = Some("small".into())).samples(), 2);
        assert!(refusal(&path, |o| o.variable = Some("y".into())).contains("small, x"));
        let windows = [vec![1.0, 2.0, 3.0], vec![3.0, 4.0], vec![9.0]];
        let places = [vec![5.0, 6.0, 7.0], vec![7.0, 8.0], vec![12.0]];
        let path =
            file(&folder, "b.mat", mat(&[cells("idx", &places), cells("signal", &windows)], compressed));
        let read = open(&path, |_| {});
        let found: Vec<_> = read.stretches().iter().map(|s| (s.trial, s.offset, s.values.clone())).collect();
        assert_eq!(found[1], (0, 6, vec![3.0, 4.0]));
        let joined = open(&path, |o| o.layout = Layout::Channels);
        let found: Vec<_> = joined.stretches().iter().map(|s| (s.offset, s.values.clone())).collect();
        assert_eq!(found, [(4, vec![1.0, 2.0, 3.0, 4.0]), (11, vec![9.0])]);
        // Cells of other things say nothing of places; what cannot be read is told.
        let others = [vec![5.0], vec![], vec![12.0]];
        let path =
            file(&folder, "e.mat", mat(&[cells("signal", &windows), cells("idx", &others)], compressed));
        assert_eq!(open(&path, |_| {}).stretches()[2].trial, 2);
        let long = [vec![0.5; 400], vec![0.25; 400], vec![0.75; 400]];
        let numbered = [0.0, 500.0, 1000.0].map(|from| (1..401).map(|i| from + f64::from(i)).collect());
        let path =
            file(&folder, "f.mat", mat(&[cells("signal", &long), cells("idx", &numbered)], compressed));
        assert_eq!(open(&path, |_| {}).stretches()[2].offset, 1000);
        assert!(refusal(&path, |o| o.memory = 12_000).contains("give --memory 30MB"));
        if compressed {
            assert!(refusal(&path, |o| o.max_decompressed = 12_000).contains("raise --max-decompressed"));
        }
        let alone = file(&folder, "c.mat", mat(&[cells("signal", &windows)], compressed));
        assert_eq!(open(&alone, |_| {}).stretches()[2].trial, 2);
    }
    let hdf = [b"MATLAB 7.3 MAT-file".to_vec(), vec![b' '; 200]].concat();
    assert!(refusal(&file(&folder, "d.mat", hdf), |_| {}).contains("-v7"));
}

#[test]
fn edf_scales_selects_and_splits() {
    let folder = folder();
    let fast = || Edf { label: "EEG Fpz", records: vec![vec![0, 100, 200, -1000], vec![1, 2, 3, 1000]] };
    let slow = || Edf { label: "Temp", records: vec![vec![100, 100], vec![200, 200]] };
    let notes = |onsets: [&str; 2]| Edf { label: "EDF Annotations", records: onsets.map(onset).to_vec() };
    let path = file(&folder, "a.edf", edf("", 2, &[slow(), fast()]));
    let signals = open(&path, |_| {});
    assert_eq!((signals.channels(), signals.rate()), (&["EEG Fpz".to_owned()][..], Some(4.0)));
    assert!((signals.stretches()[0].values[1] - 1.0).abs() < 1e-12);
    assert_eq!(signals.stretches()[0].values[3], -10.0);
    let slowly = open(&path, |o| o.channels = Some(vec!["temp".into()]));
    assert_eq!((slowly.rate(), slowly.samples()), (Some(2.0), 4));
    assert!(refusal(&path, |o| o.channels = Some(vec!["0".into(), "1".into()])).contains("different rates"));
    // A recording that was not closed; one that promises too much, and one with bytes left.
    assert_eq!(open(&file(&folder, "b.edf", edf("", -1, &[fast()])), |_| {}).samples(), 8);
    for promised in [1, 3] {
        let message = refusal(&file(&folder, "c.edf", edf("", promised, &[fast()])), |_| {});
        assert!(message.contains(&format!("promises {promised} records")), "{message}");
    }
    // With gaps between records, and without.
    let gap = file(&folder, "d.edf", edf("EDF+D", 2, &[fast(), notes(["+0", "+3.5"])]));
    let split: Vec<_> = open(&gap, |_| {}).stretches().iter().map(|s| (s.offset, s.extent.columns)).collect();
    assert_eq!(split, [(0, 4), (14, 4)]);
    let none = file(&folder, "e.edf", edf("EDF+D", 2, &[fast(), notes(["+7", "+8"])]));
    assert_eq!(open(&none, |_| {}).stretches().len(), 1);
    assert_eq!(open(&none, |_| {}).channels().len(), 1, "annotations are no signal");
    let lost = file(&folder, "f.edf", edf("EDF+D", 2, &[fast(), notes(["x", "+1"])]));
    assert!(refusal(&lost, |_| {}).contains("EDF+C"));
    assert!(refusal(&file(&folder, "g.edf", edf("EDF+D", 2, &[fast()])), |_| {}).contains("EDF+D"));
}

#[test]
fn wfdb_records_in_several_files_and_formats() {
    let folder = folder();
    file(&folder, "a.dat", [0x01, 0xf0, 0xff, 0x00, 0x78, 0xff]);
    file(&folder, "b.dat", [9, 9, 128, 129, 130, 127]);
    let head = "# comment\na 3 100 2\na.dat 212 2(-1)/mV 12 0 1 0 0 I\na.dat 212 1 12 0 -1 0 0 II\n\nb.dat 80+2 1 8 0 0 0 0 V\n";
    let path = file(&folder, "a.hea", head);
    let message = refusal(&path, |_| {});
    assert!(message.contains("sample 1 of channel I in trial 0 is NaN, the only such value"), "{message}");
    let signals = open(&folder.path().join("a.dat"), |o| o.skip_nan = true);
    assert_eq!((signals.channels().join(" "), signals.rate()), ("I II V".into(), Some(100.0)));
    assert_eq!(signals.stretches()[0].values, [1.0, -1.0, 0.0]);
    assert_eq!(open(&path, |o| o.channels = Some(vec!["V".into()])).stretches()[0].values, [0.0, 1.0]);
    // Twice as many samples of the second signal in a frame.
    file(&folder, "c.dat", [1i16, 10, 11, 2, 20, 21].map(i16::to_le_bytes).concat());
    let path = file(&folder, "c.hea", "c 2 50\nc.dat 16 1 16 0 0 0 0 slow\nc.dat 16x2 1 16 0 0 0 0 fast\n");
    let fast = open(&path, |_| {});
    assert_eq!((fast.rate(), &fast.stretches()[0].values[..]), (Some(100.0), &[10.0, 11.0, 20.0, 21.0][..]));
    for (head, words) in [
        ("d 1 360 10\na.dat 212 200\n", "holds 4"),
        ("d 2 360 2\na.dat 212 200\n", "promises 2 signals"),
        ("d/2 2 360 2\n", "one segment"),
        ("d 1 360\n../a.dat 16\n", "beside it"),
        ("d 1 360\n/etc/passwd 80\n", "beside it"),
        ("d 1 360\na.dat 311\n", "212"),
        ("d 1 360\ngone.dat 16\n", "no such file"),
        ("d 1 fast\na.dat 16\n", "line 1"),
        ("\n# nothing\n", "no line"),
    ] {
        let message = refusal(&file(&folder, "d.hea", head), |_| {});
        assert!(message.contains(words), "{head:?}: {message}");
    }
    assert!(refusal(&file(&folder, "e.dat", "x"), |_| {}).contains("e.hea"));
}

#[test]
fn events_come_from_tables_and_matlab() {
    let folder = folder();
    let read = |name: &str, bytes: Vec<u8>, rate| {
        let path = file(&folder, name, bytes);
        truth::read(&path, &TruthOptions { rate, ..TruthOptions::default() }, &Silent)
            .map_err(|e| e.to_string())
    };
    let table = b"time,motif,amplitude,trial\n1.5,10,1,0\n\n2,9,1,3\n".to_vec();
    let known = read("a.csv", table.clone(), Some(10.0)).unwrap();
    assert_eq!(
        (known.events[0].sample, known.events[1].trial, known.labels.join(" ")),
        (15.0, 3, "9 10".into())
    );
    assert_eq!(known.events[0].kind, 1);
    assert_eq!(read("a.csv", table, None).unwrap().events[0].sample, 1.5);
    let samples = read("b.tsv", b"sample\tx\n7\ty\n".to_vec(), Some(10.0)).unwrap();
    assert_eq!((samples.events[0].sample, samples.labels.len()), (7.0, 0));
    assert!(read("c.csv", b"1,2\n3,4\n".to_vec(), None).unwrap_err().contains("time"));
    assert!(read("c.csv", b"time\nsoon\n".to_vec(), None).unwrap_err().contains("line 2"));
    assert!(read("c.csv", b"time,trial\n1,-1\n".to_vec(), None).unwrap_err().contains("trial"));
    assert!(read("c.csv", b"time\n".to_vec(), None).unwrap_err().contains("no events"));
    let vector = graph_files::full("t", 1, 3, &[1, 5, 9]);
    assert_eq!(read("d.mat", mat(&[vector], false), None).unwrap().events[1].sample, 4.0);
}

/// The figures are those that the data's owners print: 650,000 samples of two leads at 360 Hz, whose sums over 16 bits stand in the
/// header; 2,274 annotations, of which one is of the rhythm.
#[test]
fn a_heart_is_read() {
    let Some(folder) = shared("a_heart_is_read") else { return };
    let signals = open(&folder.join("100.dat"), |_| {});
    assert_eq!((signals.samples(), signals.rate()), (650_000, Some(360.0)));
    assert_eq!(signals.channels(), ["MLII", "V5"]);
    let values = &signals.stretches()[0].values;
    for (channel, first, sum) in [(0, 995, -22_131), (1, 1011, 20_052)] {
        let stored =
            values[channel * 650_000..][..650_000].iter().map(|x| (x * 200.0 + 1024.0).round() as i64);
        assert_eq!(stored.clone().next(), Some(first));
        assert_eq!(stored.sum::<i64>() as i16, sum);
    }
    let all = TruthOptions { annotations: Annotations::All, ..TruthOptions::default() };
    assert_eq!(truth::read(&folder.join("100.atr"), &all, &Silent).unwrap().events.len(), 2274);
    let beats = truth::read(&folder.join("100.atr"), &TruthOptions::default(), &Silent).unwrap();
    let of = |label: &str| {
        let kind = beats.labels.iter().position(|l| l == label);
        beats.events.iter().filter(|event| Some(event.kind) == kind).count()
    };
    assert_eq!((beats.events.len(), of("N"), of("A"), of("V")), (2273, 2239, 33, 1));
    assert_eq!(beats.events[0].sample, 77.0);
    let detected = truth::read(&folder.join("100.qrs"), &TruthOptions::default(), &Silent).unwrap();
    assert!((2260..=2280).contains(&detected.events.len()), "{}", detected.events.len());
}

/// 5,087 windows of 414,473 samples, of which 12,338 lie in two windows; all 621 true spikes lie in a window.
#[test]
fn spikes_are_read() {
    let Some(folder) = shared("spikes_are_read") else { return };
    let windows = open(&folder.join("data.mat"), |o| o.rate = Some(10_000.0));
    assert_eq!((windows.stretches().len(), windows.samples()), (5087, 414_473));
    let recording = open(&folder.join("data.mat"), |o| o.layout = Layout::Channels);
    assert_eq!(recording.samples(), 414_473 - 12_338);
    let spikes = truth::read(&folder.join("truth.mat"), &TruthOptions::default(), &Silent).unwrap();
    let inside = spikes.events.iter().filter(|event| {
        let held = |s: &tenfold::motifs::Stretch| {
            (s.offset..s.offset + s.extent.columns).contains(&(event.sample as usize))
        };
        recording.stretches().iter().any(held)
    });
    assert_eq!((spikes.events.len(), inside.count()), (621, 621));
}
