//! Spoilt files of every type: an error or a sound table, never a panic, and never much memory.

mod input_files;
mod readers;
use input_files::*;
use readers::tables;
use std::io::Write;
use std::path::Path;
use tenfold::input::read_array;
use tenfold::model_file::ModelFile;
use tenfold::output::write_table;

/// Largest amount of memory this process has held at once, in bytes, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}

fn check(path: &Path) {
    tables::check(path);
}

/// Spoils `bytes` in `rounds` ways and hands every spoilt file to `check`, which must come back.
fn spoil(name: &str, bytes: &[u8], rounds: u64, check: impl Fn(&Path)) {
    let folder = folder();
    let before = peak();
    for seed in 0..rounds {
        let path = file(&folder, name, Spoil::new(seed * 1000 + bytes.len() as u64).spoil(bytes));
        check(&path);
    }
    if let (Some(before), Some(after)) = (before, peak()) {
        // The files are a few kilobytes long; the allowance is for threads and for other tests. The system counts roughly, so
        // that a later figure may be smaller.
        let more = after.saturating_sub(before);
        assert!(more < 300 << 20, "{name}: {more} bytes more were held");
    }
}

#[test]
fn spoilt_npy() {
    for (fortran, shape) in [("False", "(40, 8)"), ("True", "(8, 40)")] {
        let body: Vec<u8> = numbers(40, 8).as_slice().iter().flat_map(|x| x.to_le_bytes()).collect();
        spoil("x.npy", &npy("'<f8'", fortran, shape, &body), 500, |path| {
            check(path);
            let _ = read_array(path);
        });
    }
}

#[test]
fn spoilt_text() {
    let folder = folder();
    let path = folder.path().join("x.csv");
    write_table(&path, &names(4), &numbers(60, 4)).unwrap();
    let text = std::fs::read(&path).unwrap();
    spoil("x.csv", &text, 500, check);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(&text).unwrap();
    spoil("x.csv.gz", &gz.finish().unwrap(), 300, check);
    spoil("x.csv.zst", &zstd::encode_all(&text[..], 3).unwrap(), 300, check);
}

#[test]
fn spoilt_wav() {
    let folder = folder();
    let path = folder.path().join("x.wav");
    for (bits_per_sample, sample_format) in [(16, hound::SampleFormat::Int), (32, hound::SampleFormat::Float)]
    {
        let spec = hound::WavSpec { channels: 2, sample_rate: 8000, bits_per_sample, sample_format };
        let mut writer = hound::WavWriter::create(&path, spec).unwrap();
        for i in 0..600 {
            match sample_format {
                hound::SampleFormat::Int => writer.write_sample(i * 50).unwrap(),
                hound::SampleFormat::Float => writer.write_sample(i as f32 / 600.0).unwrap(),
            }
        }
        writer.finalize().unwrap();
        spoil("x.wav", &std::fs::read(&path).unwrap(), 500, check);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn spoilt_parquet() {
    let folder = folder();
    let path = folder.path().join("x.parquet");
    write_table(&path, &names(3), &numbers(80, 3)).unwrap();
    spoil("x.parquet", &std::fs::read(&path).unwrap(), 3000, check);
}

#[test]
fn spoilt_models() {
    let folder = folder();
    let path = folder.path().join("x.tenfold");
    let mut model = ModelFile::new("ica", serde_json::json!({ "seed": 7, "list": [1.5, 2.5] }));
    model.insert_matrix("mixing", &numbers(6, 5));
    model.insert_text("names", "one\ntwo");
    model.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let sound = std::fs::read(&path).unwrap();
    spoil("x.tenfold", &bytes, 1000, |path| {
        if let Ok(loaded) = ModelFile::load(path) {
            assert_eq!(std::fs::read(path).unwrap(), sound, "a changed file was taken");
            assert_eq!(loaded.tensors, model.tensors);
        }
    });
}
