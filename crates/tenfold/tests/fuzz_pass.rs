//! A short fuzz pass with fixed seeds: every reader gets its seeds spoilt, and must neither panic nor allocate beyond its bound.
//! The long ones are guided by coverage: `cargo xtask trust fuzz`.

mod graph_files;
mod image_files;
mod input_files;
#[path = "readers/measure.rs"]
mod measure;
mod readers;
#[path = "readers/seeds.rs"]
mod seeds;
mod signal_files;

use graph_files::{full, mat, sparse};
use input_files::{Spoil, folder};
use readers::{READERS, Reader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tenfold::model_file::{ModelFile, TensorData};

/// Spoilt files of every seed.
const ROUNDS: usize = 24;

/// Where the seeds of a reader lie.
fn corpus(reader: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(reader)
}

/// Like a `Spoil`, for models: a checksum protects their bytes, and a stranger can compute one.
fn spoil_model(spoil: &mut Spoil, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut model = ModelFile::from_bytes(bytes).ok()?;
    let names: Vec<String> = model.tensors.keys().cloned().collect();
    let name = &names[spoil.next() as usize % names.len()];
    match spoil.next() % 7 {
        0 => drop(model.tensors.remove(name)),
        1 => {
            let tensor = model.tensors.get_mut(name)?;
            let len = tensor.shape.iter().product::<usize>();
            tensor.shape =
                [vec![len], vec![1, len], vec![len, 1], vec![0, 0]][spoil.next() as usize % 4].clone();
            if tensor.shape == [0, 0] {
                tensor.data = TensorData::F64(vec![]);
            }
        }
        2 => match &mut model.tensors.get_mut(name)?.data {
            // One number, or all of them.
            TensorData::F64(x) if !x.is_empty() => {
                let at = spoil.next() as usize % x.len();
                let other = [0.0, -1.0, 1e308, -1e308, 1e-308, 0.5, 4294967296.0][spoil.next() as usize % 7];
                if spoil.next().is_multiple_of(3) { x.fill(other) } else { x[at] = other }
            }
            TensorData::F32(x) if !x.is_empty() => {
                let at = spoil.next() as usize % x.len();
                let other = [0.0, -1.0, 1e38, -1e38][spoil.next() as usize % 4];
                if spoil.next().is_multiple_of(3) { x.fill(other) } else { x[at] = other }
            }
            TensorData::U8(x) if !x.is_empty() => {
                let at = spoil.next() as usize % x.len();
                x[at] = [b'\n', b'0', 0xff, b'\\', b'{'][spoil.next() as usize % 5];
            }
            _ => {}
        },
        3 => {
            let other = model.tensors[&names[spoil.next() as usize % names.len()]].clone();
            model.tensors.insert(name.clone(), other);
        }
        4 => {
            let by = [1e150, 1e-150, -1.0, 1e300][spoil.next() as usize % 4];
            match &mut model.tensors.get_mut(name)?.data {
                TensorData::F64(x) => x.iter_mut().for_each(|x| *x = (*x * by).clamp(-1e308, 1e308)),
                TensorData::F32(x) => {
                    x.iter_mut().for_each(|x| *x = (f64::from(*x) * by).clamp(-3e38, 3e38) as f32);
                }
                TensorData::U8(_) => {}
            }
        }
        _ => {
            // The facts: something else in the place of any one of them.
            let mut places = vec![];
            pointers(&model.metadata, String::new(), &mut places);
            let place = &places[spoil.next() as usize % places.len()];
            let other = [
                "null",
                "-1",
                "1e308",
                "18446744073709551615",
                "\"x\"",
                "[]",
                "{}",
                "[1,2,3]",
                "0",
                "true",
                "4000000000",
            ];
            let other = other[spoil.next() as usize % other.len()];
            *model.metadata.pointer_mut(place)? = serde_json::from_str(other).unwrap();
        }
    }
    model.to_bytes().ok()
}

fn pointers(value: &serde_json::Value, here: String, all: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            map.iter().for_each(|(key, value)| {
                pointers(value, format!("{here}/{}", key.replace('~', "~0").replace('/', "~1")), all);
            });
        }
        serde_json::Value::Array(list) => {
            list.iter()
                .enumerate()
                .take(4)
                .for_each(|(i, value)| pointers(value, format!("{here}/{i}"), all));
        }
        _ => {}
    }
    all.push(here);
}

/// Whether anything was read; what is found goes into the list.
fn check(reader: &Reader, folder: &Path, bytes: &[u8], what: &str, findings: &mut Vec<String>) -> bool {
    let work = AssertUnwindSafe(|| measure::taken(reader, folder, bytes));
    let allowed = measure::allowed(bytes.len());
    match catch_unwind(work) {
        Ok((found, taken)) => {
            if taken > allowed {
                findings.push(format!("{}: {what}: {taken} bytes where {allowed} are allowed", reader.name));
            }
            found
        }
        Err(_) => {
            findings.push(format!("{}: {what}: panics", reader.name));
            false
        }
    }
}

/// What is allocated is counted for the whole process, so that its tests wait for one another.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn every_reader_withstands_its_seeds_spoilt() {
    let _alone = ALONE.lock();
    let folder = folder();
    let mut findings = Vec::new();
    // Panics of the crates that read Parquet, Arrow and TIFF are caught by their readers, and all others are told below.
    std::panic::set_hook(Box::new(|_| {}));
    for reader in READERS {
        let mut seeds: Vec<PathBuf> = std::fs::read_dir(corpus(reader.name))
            .unwrap_or_else(|e| panic!("{} has no seeds: {e}", reader.name))
            .map(|entry| entry.unwrap().path())
            .collect();
        seeds.sort();
        assert!(!seeds.is_empty(), "{} has no seeds", reader.name);
        let mut read = 0;
        for path in &seeds {
            let bytes = std::fs::read(path).unwrap();
            read +=
                usize::from(check(reader, folder.path(), &bytes, &path.display().to_string(), &mut findings));
            let mut spoil = Spoil::new(bytes.len() as u64);
            for round in 0..ROUNDS {
                let spoilt = match reader.name.starts_with("model-") && round % 4 != 0 {
                    true => spoil_model(&mut spoil, &bytes),
                    false => Some(spoil.spoil(&bytes)),
                };
                if let Some(spoilt) = spoilt {
                    let what = format!("{} spoilt, round {round}", path.display());
                    check(reader, folder.path(), &spoilt, &what, &mut findings);
                }
            }
        }
        // Spoiling what is refused at once would prove nothing.
        if read == 0 {
            findings.push(format!("{}: no seed is read", reader.name));
        }
    }
    let _ = std::panic::take_hook();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// What the long runs found, and the largest promises that are believed. Not among the seeds: each takes as long as a thousand others.
#[test]
fn every_reader_withstands_what_was_found() {
    use signal_files::wav;
    let _alone = ALONE.lock();
    let folder = folder();
    let text = |text: &str| text.as_bytes().to_vec();
    let (far, near) = (0x3b_0003, 1 << 19);
    let found = [
        // Graphs of millions of nodes and one link, as many as are refused and as are not.
        ("mat-graph", mat(&[sparse("A", far, 3, &[(1, 0, 1.0)])], false), false),
        ("mat-graph", mat(&[sparse("A", 3, far, &[(1, 0, 1.0)])], true), false),
        ("mat-graph", mat(&[sparse("A", near, near, &[(1, 0, 1.0)])], false), true),
        ("matrix-market", market(5 << 20, 3), false),
        ("matrix-market", market(1 << 20, 1 << 20), true),
        // Two variables of one name: the size of one was taken for the numbers of the other.
        ("mat-signal", mat(&[full("x", 1, 2, &[1, 2]), full("x", 2, 3, &[1, 2, 3, 4, 5, 6])], false), true),
        ("mat-graph", mat(&[full("A", 2, 2, &[0, 1, 1, 0]), sparse("A", 3, 3, &[(1, 2, 1.0)])], false), true),
        // One entry that tells of millions of words.
        ("svmlight", text("111  3333225:1"), false),
        ("svmlight", text("1 1048576:1"), true),
        ("lda-c", text("1 4194303:1\n"), false),
        ("lda-c", text("1 1048575:1\n"), true),
        ("uci", text("3\n4194304\n1\n1 1 1\n"), false),
        ("uci", text("4194304\n1048576\n1\n1 1 1\n"), true),
        // A sound without a rate.
        ("wav", wav(2, 0, &[1, 2, 3, 4]), true),
    ];
    let mut findings = Vec::new();
    for (i, (name, bytes, expected)) in found.iter().enumerate() {
        let reader = readers::find(name).unwrap();
        let what = format!("finding {i}");
        let read = check(reader, folder.path(), bytes, &what, &mut findings);
        if read != *expected {
            findings.push(format!("{name}: {what}: read {read} where {expected} was expected"));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// A matrix of counts, or of links, with one entry.
fn market(rows: u32, cols: u32) -> Vec<u8> {
    format!("%%MatrixMarket matrix coordinate integer general\n{rows} {cols} 1\n2 1 1\n").into_bytes()
}

/// `TENFOLD_WRITE_SEEDS=1` writes them anew; models, whose last digits differ between processors, only then.
#[test]
fn seeds_are_those_that_are_made_here() {
    let _alone = ALONE.lock();
    let folder = folder();
    let write = std::env::var_os("TENFOLD_WRITE_SEEDS").is_some();
    let mut all = seeds::all(folder.path());
    if write {
        all.extend(seeds::models());
    }
    for (reader, name, bytes) in all {
        let path = corpus(reader).join(name);
        if write {
            std::fs::create_dir_all(corpus(reader)).unwrap();
            std::fs::write(&path, &bytes).unwrap();
        }
        let held = std::fs::read(&path).unwrap_or_default();
        assert!(
            held == bytes,
            "{} is not what seeds.rs makes; write it with TENFOLD_WRITE_SEEDS=1",
            path.display()
        );
    }
}
