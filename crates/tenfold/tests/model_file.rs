//! The model file: round trip, same bytes, and a clear error for everything that is not a sound model.

mod input_files;
use input_files::*;
use serde_json::json;
use std::path::Path;
use tenfold::engine::linalg::Mat;
use tenfold::ica::Model;
use tenfold::model_file::{ModelFile, Tensor, TensorData};

fn model() -> ModelFile {
    let mut model =
        ModelFile::new("ica", json!({"seed": 7, "tolerance": 0.1 + 0.2, "note": "naïve\n\"quoted\""}));
    model.insert_matrix("mixing", &numbers(3, 2));
    model.insert_vector("kurtosis", &[1.0, -0.0]);
    model.insert_text("names", "left\nrïght");
    model.insert_matrix("empty", &Mat::zeros(0, 4));
    model
}

fn saved(folder: &tempfile::TempDir) -> Vec<u8> {
    let path = folder.path().join("m.tenfold");
    model().save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    let folder = folder();
    let path = file(&folder, "bad.tenfold", bytes);
    let message = ModelFile::load(&path).expect_err("this model should be refused").to_string();
    assert!(message.contains(path.to_str().unwrap()), "{message}");
    message
}

/// A safetensors file with this header.
fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// Facts of more than 64 kB: a format width cannot count so far.
#[test]
fn long_facts_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.tenfold");
    for extra in 0..9 {
        let mut model = ModelFile::new("ica", serde_json::json!({ "notes": "ö".repeat(60_000 + extra) }));
        model.insert_vector("weights", &[1.0, 2.0]);
        model.save(&path).unwrap();
        let back = ModelFile::load(&path).unwrap();
        assert_eq!(back.metadata, model.metadata);
        assert_eq!(back.vector("weights").unwrap(), [1.0, 2.0]);
    }
}

#[test]
fn a_model_comes_back_and_its_bytes_are_always_the_same() {
    let folder = folder();
    let bytes = saved(&folder);
    let back = ModelFile::load(&folder.path().join("m.tenfold")).unwrap();
    assert_eq!(
        (back.kind.as_str(), &back.tensors, &back.metadata),
        ("ica", &model().tensors, &model().metadata)
    );
    assert_eq!(back.matrix("mixing").unwrap(), numbers(3, 2));
    assert_eq!(bits(&back.vector("kurtosis").unwrap()), bits(&[1.0, -0.0]));
    assert_eq!(back.text("names").unwrap(), "left\nrïght");
    assert_eq!(back.matrix("empty").unwrap().cols(), 4);
    let again = folder.path().join("again.tenfold");
    back.save(&again).unwrap();
    assert_eq!(std::fs::read(again).unwrap(), bytes);
    assert_eq!(bytes, saved(&folder));
}

#[test]
fn it_is_plain_safetensors() {
    let bytes = saved(&folder());
    let plain = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mixing = plain.tensor("mixing").unwrap();
    assert_eq!((mixing.dtype(), mixing.shape()), (safetensors::Dtype::F64, &[3, 2][..]));
    let (header, about) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    assert_eq!(header % 8, 0, "numbers are aligned");
    let facts = about.metadata().clone().unwrap();
    let fact = |key: &str| facts[key].as_str();
    assert_eq!((fact("format"), fact("format_version"), fact("kind")), ("tenfold", "1", "ica"));
    assert_eq!(fact("tenfold_version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(serde_json::from_str::<serde_json::Value>(fact("tenfold")).unwrap(), model().metadata);
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    let folder = folder();
    let bytes = saved(&folder);
    let path = folder.path().join("spoilt.tenfold");
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut spoilt = bytes.clone();
            spoilt[at] ^= 1 << bit;
            std::fs::write(&path, spoilt).unwrap();
            assert!(ModelFile::load(&path).is_err(), "bit {bit} of byte {at}");
        }
        std::fs::write(&path, &bytes[..at]).unwrap();
        assert!(ModelFile::load(&path).is_err(), "cut at {at}");
    }
}

#[test]
fn damage_is_told_apart() {
    let bytes = saved(&folder());
    let says = |bytes: &[u8], piece: &str| {
        let message = refusal(bytes);
        assert!(message.contains(piece), "{piece:?} is missing in {message:?}");
    };
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 4;
    says(&flipped, "its checksum does not agree with its contents; the file is damaged");
    says(&bytes[..bytes.len() - 3], "is cut short");
    says(&[&bytes[..], b"more"].concat(), "has 4 bytes after its end");
    says(&bytes[..20], "ends before its header does");
    says(b"", "is empty");
    says(b"PK\x03\x04 and so on", "is a zip archive");
    says(b"\x80\x04\x95 and so on", "Python pickle, which is never loaded");
    says(b"0123456789", "does not begin like a model");
    says(&safetensors("{}", &[]), "is a safetensors file, but no tenfold model; give a .tenfold file");
    let newer = r#"{"__metadata__":{"format":"tenfold","format_version":"2","tenfold_version":"3.1.4"}}"#;
    says(
        &safetensors(newer, &[]),
        "was made by tenfold 3.1.4 with format 2; this is format 1; upgrade tenfold",
    );
    let partial = r#"{"__metadata__":{"format":"tenfold","format_version":"1"}}"#;
    says(&safetensors(partial, &[]), "lacks part of its header");
    // Eight arrays of 2⁶¹ bytes add up to more than a length can hold.
    let huge = 1u64 << 61;
    let entry = |i: u64| {
        let (begin, end) = (u128::from(i * huge), u128::from(i) * u128::from(huge) + u128::from(huge));
        let end = end.min(u128::from(u64::MAX));
        format!("\"a{i}\":{{\"dtype\":\"U8\",\"shape\":[{}],\"data_offsets\":[{begin},{end}]}}", end - begin)
    };
    let header = format!("{{{}}}", (0..8).map(entry).collect::<Vec<_>>().join(","));
    says(&safetensors(&header, &[]), "is cut short");
}

#[test]
fn accessors_and_save_check_what_they_are_given() {
    let folder = folder();
    let says = |error: tenfold::Error, pieces: &[&str]| {
        let message = error.to_string();
        assert!(pieces.iter().all(|piece| message.contains(piece)), "{pieces:?} in {message:?}");
    };
    saved(&folder);
    let model = ModelFile::load(&folder.path().join("m.tenfold")).unwrap();
    says(model.matrix("none").unwrap_err(), &["m.tenfold", "no matrix \"none\"", "none of this name"]);
    says(model.matrix("kurtosis").unwrap_err(), &["no matrix", "F64 of shape [2]"]);
    says(model.vector("mixing").unwrap_err(), &["no vector", "F64 of shape [3, 2]"]);
    says(model.text("mixing").unwrap_err(), &["no text"]);
    says(
        model.expect_kind("topics").unwrap_err(),
        &["m.tenfold", "kind \"ica\" where \"topics\" was expected"],
    );
    let mut bad = ModelFile::new("ica", json!({}));
    bad.insert_vector("x", &[f64::NAN]);
    says(bad.save(&folder.path().join("bad.tenfold")).unwrap_err(), &["\"x\" holds NaN"]);
    bad.tensors.insert("x".into(), Tensor { shape: vec![3], data: TensorData::U8(vec![255]) });
    says(bad.save(&folder.path().join("bad.tenfold")).unwrap_err(), &["1 entries has shape [3]"]);
    bad.tensors.insert("x".into(), Tensor { shape: vec![1], data: TensorData::U8(vec![255]) });
    says(bad.text("x").unwrap_err(), &["no UTF-8 text"]);
    says(bad.save(Path::new("/dev/null")).unwrap_err(), &["/dev/null", "device"]);
    assert!(!folder.path().join("bad.tenfold").exists());
}

#[test]
fn a_stored_number_that_is_not_finite_is_refused() {
    // A sound file whose checksum was made for the bad number: only the check for finite numbers is left.
    let mut model = ModelFile::new("ica", json!({}));
    model.insert_vector("x", &[1.0]);
    let folder = folder();
    let path = folder.path().join("x.tenfold");
    model.save(&path).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() - 8;
    bytes[at..].copy_from_slice(&f64::INFINITY.to_le_bytes());
    // The checksum's text: the facts in order, then the array's name, type, shape and bytes.
    let (_, about) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let mut facts: Vec<_> = about.metadata().clone().unwrap().into_iter().collect();
    facts.sort();
    let (mut sum, mut old) = (crc32fast::Hasher::new(), String::new());
    let mut add = |text: &str| {
        sum.update(&(text.len() as u64).to_le_bytes());
        sum.update(text.as_bytes());
    };
    for (key, value) in facts {
        if key == "crc32" {
            old = value;
        } else {
            add(&key);
            add(&value);
        }
    }
    add("x");
    add("F64 [1]");
    sum.update(&bytes[at..]);
    let new = format!("{:08x}", sum.finalize());
    let place = bytes.windows(8).position(|w| w == old.as_bytes()).unwrap();
    bytes[place..place + 8].copy_from_slice(new.as_bytes());
    assert!(refusal(&bytes).contains("\"x\" holds inf; fit the model again"));
}

#[test]
fn an_ica_model_without_sources_or_columns_is_refused() {
    let folder = folder();
    let path = folder.path().join("hollow.tenfold");
    for (k, width) in [(0, 4), (4, 0), (0, 0)] {
        let mut hollow = ModelFile::new("ica", json!({}));
        hollow.insert_matrix("unmixing", &Mat::zeros(k, width));
        hollow.insert_matrix("mixing", &Mat::zeros(width, k));
        hollow.insert_vector("mean", &vec![0.0; width]);
        for name in ["kurtosis", "skewness"] {
            hollow.insert_vector(name, &vec![0.0; k]);
        }
        hollow.insert_vector("spectrum", &[]);
        hollow.save(&path).unwrap();
        let message = Model::load(&path).expect_err("a model of nothing").to_string();
        assert!(message.contains("hollow.tenfold") && message.contains("fit the model again"), "{message}");
    }
}

/// Reading the arrays of any of these would take more memory than there is, or minutes.
#[test]
fn a_huge_foreign_file_is_refused_by_its_header() {
    const HUGE: u64 = 40_000_000_000;
    let folder = folder();
    let path = folder.path().join("huge.tenfold");
    let array = |end: u64| format!(r#""x":{{"dtype":"U8","shape":[{end}],"data_offsets":[0,{end}]}}"#);
    let whole = |facts: &str| {
        // The arrays' length has as many digits whatever the header's is.
        let length = safetensors(&format!("{{{facts}{}}}", array(HUGE - 100)), &[]).len() as u64;
        safetensors(&format!("{{{facts}{}}}", array(HUGE - length)), &[])
    };
    let newer = r#""__metadata__":{"format":"tenfold","format_version":"2","tenfold_version":"3.1.4"},"#;
    for (start, piece) in [
        (vec![0; 8], "has no readable header"),
        (vec![b'x'; 100], "does not begin like a model"),
        (safetensors("{}", &[]), "bytes after its end"),
        (safetensors(&format!("{{{}}}", array(HUGE)), &[]), "is cut short"),
        (whole(""), "no tenfold model"),
        (whole(newer), "upgrade tenfold"),
    ] {
        // A file with a hole: it takes no room on the disk.
        std::fs::write(&path, start).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(HUGE).unwrap();
        let begin = std::time::Instant::now();
        let message = ModelFile::load(&path).expect_err("a foreign file").to_string();
        assert!(message.contains("huge.tenfold") && message.contains(piece), "{piece:?} in {message:?}");
        assert!(begin.elapsed().as_secs() < 2, "{piece:?} took {:?}", begin.elapsed());
    }
}

#[test]
fn names_come_back_whatever_is_in_them() {
    for names in [&["left", "right"][..], &[""], &["", ""], &["a\nb", "C:\\new", "\\", "n\\\n", "é ,\"\r"]] {
        let names: Vec<String> = names.iter().map(|&n| n.into()).collect();
        let mut file = ModelFile::new("ica", json!({}));
        file.insert_lines("names", &names);
        assert_eq!(file.lines("names").unwrap(), names);
    }
    let mut file = ModelFile::new("ica", json!({}));
    file.insert_lines("names", &["a\nb".into(), "c\\".into()]);
    assert_eq!(file.text("names").unwrap(), "a\\nb\nc\\\\");
    file.insert_text("names", "end\\");
    assert_eq!(file.lines("names").unwrap(), ["end\\"]);
}

#[test]
fn single_precision_comes_back_and_stays_aligned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.tenfold");
    let mut file = ModelFile::new("topics", json!({}));
    let matrix = Mat::from_fn(3, 5, |i, j| f64::from((i as f32 + 0.1) * (j as f32 - 1.7)));
    file.insert_single("a", &matrix);
    file.insert_text("b", "xyz");
    file.insert_vector("c", &[1.0]);
    file.save(&path).unwrap();
    let back = ModelFile::load(&path).unwrap();
    assert_eq!(back.matrix("a").unwrap(), matrix);
    assert_eq!((back.text("b").unwrap().as_str(), back.vector("c").unwrap()), ("xyz", vec![1.0]));
}
