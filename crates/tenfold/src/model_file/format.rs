//! The bytes of a model file.

use super::{ModelFile, Tensor, TensorData, model_error};
use crate::error::Result;
use crate::input::Disk;
use crate::output::{write_atomically, write_error};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The format this program writes, and the newest it reads.
const FORMAT_VERSION: u64 = 1;

/// Longest header taken. It is parsed into objects many times its size, so a limit far above any real model's
/// header keeps a hostile one from filling the memory.
const LONGEST_HEADER: usize = 16 << 20;

/// Bytes before the header, which hold its length.
const LENGTH: usize = 8;

/// The name in messages of a model that is no file.
pub(super) const IN_MEMORY: &str = "(model in memory)";

/// What to do about a damaged file.
const DAMAGED: &str = "the file is damaged: copy it again or fit the model again";

impl TensorData {
    pub(super) fn dtype(&self) -> &'static str {
        match self {
            Self::F64(_) => "F64",
            Self::F32(_) => "F32",
            Self::U8(_) => "U8",
        }
    }

    /// Number of entries, and of bytes in the file.
    fn lengths(&self) -> (usize, usize) {
        match self {
            Self::F64(numbers) => (numbers.len(), 8 * numbers.len()),
            Self::F32(numbers) => (numbers.len(), 4 * numbers.len()),
            Self::U8(bytes) => (bytes.len(), bytes.len()),
        }
    }

    /// Gives the entries as they lie in the file, a piece at a time.
    fn pieces(&self, mut take: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
        let mut piece = Vec::with_capacity(1 << 16);
        match self {
            Self::U8(bytes) => take(bytes),
            Self::F64(numbers) => numbers.chunks(1 << 13).try_for_each(|chunk| {
                piece.clear();
                piece.extend(chunk.iter().flat_map(|x| x.to_le_bytes()));
                take(&piece)
            }),
            Self::F32(numbers) => numbers.chunks(1 << 14).try_for_each(|chunk| {
                piece.clear();
                piece.extend(chunk.iter().flat_map(|x| x.to_le_bytes()));
                take(&piece)
            }),
        }
    }
}

/// The arrays in the file's order: by falling alignment, as readers that map the file expect, then by name.
fn ordered(tensors: &BTreeMap<String, Tensor>) -> impl Iterator<Item = (&String, &Tensor)> {
    let double = tensors.iter().filter(|(_, t)| matches!(t.data, TensorData::F64(_)));
    let single = tensors.iter().filter(|(_, t)| matches!(t.data, TensorData::F32(_)));
    double.chain(single).chain(tensors.iter().filter(|(_, t)| matches!(t.data, TensorData::U8(_))))
}

/// Checksum over the facts (but for the checksum itself) and over every array's name, type, shape and bytes.
fn checksum(facts: &BTreeMap<String, String>, tensors: &BTreeMap<String, Tensor>) -> String {
    let mut sum = crc32fast::Hasher::new();
    // A length before every string keeps neighbours apart.
    let mut add = |text: &str| {
        sum.update(&(text.len() as u64).to_le_bytes());
        sum.update(text.as_bytes());
    };
    facts.iter().filter(|(key, _)| *key != "crc32").for_each(|(key, value)| {
        add(key);
        add(value);
    });
    ordered(tensors).for_each(|(name, tensor)| {
        add(name);
        add(&format!("{} {:?}", tensor.data.dtype(), tensor.shape));
    });
    for (_, tensor) in ordered(tensors) {
        let added = tensor.data.pieces(|piece| {
            sum.update(piece);
            Ok(())
        });
        added.expect("adding to a checksum cannot fail");
    }
    format!("{:08x}", sum.finalize())
}

/// The bytes of a model: in a file, or in memory when programs hand models to one another.
pub(super) trait Held {
    fn len(&self) -> u64;
    /// The bytes from `offset` to `offset + len`; an error when they do not lie inside.
    fn bytes(&self, offset: u64, len: u64) -> Result<Vec<u8>>;
}

impl Held for Disk {
    fn len(&self) -> u64 {
        Self::len(self)
    }
    fn bytes(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        Self::bytes(self, offset, len)
    }
}

impl Held for [u8] {
    fn len(&self) -> u64 {
        Self::len(self) as u64
    }
    fn bytes(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let range = offset.checked_add(len).map(|end| offset as usize..end as usize);
        let inside = range.and_then(|range| self.get(range)).map(<[u8]>::to_vec);
        inside.ok_or_else(|| model_error(Path::new(IN_MEMORY), "points beyond its end", DAMAGED))
    }
}

pub(super) fn save(model: &ModelFile, path: &Path) -> Result<()> {
    write_atomically(path, |out| write(model, path, out))
}

/// Writes the model to `out`, which goes by the name `path` in messages.
pub(super) fn write(model: &ModelFile, path: &Path, out: &mut dyn std::io::Write) -> Result<()> {
    for (name, tensor) in &model.tensors {
        let count = tensor.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        if count != Some(tensor.data.lengths().0) || name == "__metadata__" {
            let problem = format!(
                "the array {name:?} of {} entries has shape {:?}",
                tensor.data.lengths().0,
                tensor.shape
            );
            return Err(model_error(path, problem, "this is a fault in the program that made the model"));
        }
        check_finite(path, name, tensor)?;
    }
    let facts = [
        ("format", "tenfold".to_owned()),
        ("format_version", FORMAT_VERSION.to_string()),
        ("kind", model.kind.clone()),
        ("tenfold_version", env!("CARGO_PKG_VERSION").to_owned()),
        ("tenfold", model.metadata.to_string()),
    ];
    let mut facts: BTreeMap<String, String> =
        facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    facts.insert("crc32".into(), checksum(&facts, &model.tensors));
    let header = header(&facts, &model.tensors);
    if header.len() > LONGEST_HEADER {
        let problem =
            format!("its facts take {} bytes, more than the {LONGEST_HEADER} allowed", header.len());
        return Err(model_error(path, problem, "store large lists as arrays"));
    }
    let mut write = || {
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        ordered(&model.tensors).try_for_each(|(_, tensor)| tensor.data.pieces(|piece| out.write_all(piece)))
    };
    write().map_err(|e| write_error(path, e))
}

/// The header, written here because the safetensors crate writes its string map in a random order, and the same
/// model must give the same bytes.
fn header(facts: &BTreeMap<String, String>, tensors: &BTreeMap<String, Tensor>) -> String {
    let text = |s: &str| Value::from(s).to_string();
    let facts: Vec<String> =
        facts.iter().map(|(key, value)| format!("{}:{}", text(key), text(value))).collect();
    let mut header = format!("{{\"__metadata__\":{{{}}}", facts.join(","));
    let mut begin = 0;
    for (name, tensor) in ordered(tensors) {
        let end = begin + tensor.data.lengths().1;
        let (name, dtype, shape) = (text(name), tensor.data.dtype(), Value::from(tensor.shape.clone()));
        header +=
            &format!(",{name}:{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{begin},{end}]}}");
        begin = end;
    }
    header.push('}');
    // The arrays begin at a multiple of 8, so that they can be mapped as numbers.
    let gap = header.len().next_multiple_of(8) - header.len();
    header + &" ".repeat(gap)
}

pub(super) fn kind(path: &Path) -> Result<String> {
    let disk = Disk::open(path)?;
    let (_, _, mut facts) = about(path, &*disk)?;
    Ok(facts.remove("kind").unwrap_or_default())
}

/// The length of the header, where the arrays lie, and the facts.
fn about(path: &Path, held: &(impl Held + ?Sized)) -> Result<(usize, Metadata, BTreeMap<String, String>)> {
    let header = read_header(path, held)?;
    // Only a header that agrees with the file's length comes here, so the arrays are where it says.
    let about: Metadata = serde_json::from_slice(&header)
        .map_err(|e| model_error(path, format!("cannot be read as a model ({e})"), DAMAGED))?;
    let facts: BTreeMap<String, String> = about.metadata().clone().unwrap_or_default().into_iter().collect();
    check_facts(path, &facts)?;
    Ok((header.len(), about, facts))
}

pub(super) fn load(path: &Path) -> Result<ModelFile> {
    read(path, &*Disk::open(path)?)
}

/// Reads a model whose bytes go by the name `path` in messages.
pub(super) fn read(path: &Path, held: &(impl Held + ?Sized)) -> Result<ModelFile> {
    let (header, about, facts) = about(path, held)?;
    let mut tensors = BTreeMap::new();
    for (name, info) in about.tensors() {
        let (begin, end) = info.data_offsets;
        let bytes = || held.bytes((LENGTH + header + begin) as u64, (end - begin) as u64);
        let data = match info.dtype {
            Dtype::F64 => {
                let number = |b: &[u8]| f64::from_le_bytes(b.try_into().expect("chunks of eight bytes"));
                TensorData::F64(bytes()?.chunks_exact(8).map(number).collect())
            }
            Dtype::F32 => {
                let number = |b: &[u8]| f32::from_le_bytes(b.try_into().expect("chunks of four bytes"));
                TensorData::F32(bytes()?.chunks_exact(4).map(number).collect())
            }
            Dtype::U8 => TensorData::U8(bytes()?),
            other => {
                return Err(model_error(path, format!("the array {name:?} is of type {other:?}"), DAMAGED));
            }
        };
        tensors.insert(name, Tensor { shape: info.shape.clone(), data });
    }
    // A fuzzer cannot guess checksums, and what lies behind them must hold all the same: a stranger can compute one.
    if !cfg!(fuzzing) && facts.get("crc32") != Some(&checksum(&facts, &tensors)) {
        return Err(model_error(path, "its checksum does not agree with its contents", DAMAGED));
    }
    tensors.iter().try_for_each(|(name, tensor)| check_finite(path, name, tensor))?;
    let metadata = serde_json::from_str(&facts["tenfold"])
        .map_err(|e| model_error(path, format!("its facts are no JSON ({e})"), DAMAGED))?;
    Ok(ModelFile { kind: facts["kind"].clone(), tensors, metadata, path: path.to_owned() })
}

/// The header of a file that is as long as its header says. Nothing but the header is read, so that a foreign file of
/// any size is refused at once; and lengths are compared before the safetensors crate adds them up.
fn read_header(path: &Path, held: &(impl Held + ?Sized)) -> Result<Vec<u8>> {
    let foreign = |what: &str| Err(model_error(path, what, "give a .tenfold file made by tenfold"));
    let start = held.bytes(0, held.len().min(LENGTH as u64 + 1))?;
    match start[..] {
        [] => return foreign("is empty"),
        [b'P', b'K', 3, 4, ..] => return foreign("is a zip archive, not a model"),
        // A header of 640, 896, … bytes starts like a pickle too, but then JSON follows its eight length bytes.
        [0x80, 2..=5, ..] if start.get(LENGTH) != Some(&b'{') => {
            return foreign("is a Python pickle, which is never loaded");
        }
        _ => {}
    }
    let Some((length, _)) = start.split_first_chunk::<LENGTH>() else {
        return foreign("is too short to be a model");
    };
    let length = u64::from_le_bytes(*length);
    if length > LONGEST_HEADER as u64 {
        return foreign("does not begin like a model");
    }
    let Some(rest) = (held.len() - LENGTH as u64).checked_sub(length) else {
        return Err(model_error(path, "ends before its header does", DAMAGED));
    };
    let header = held.bytes(LENGTH as u64, length)?;
    let Ok(Value::Object(entries)) = serde_json::from_slice(&header) else {
        return foreign("has no readable header");
    };
    let ends = entries
        .iter()
        .filter(|(name, _)| *name != "__metadata__")
        .map(|(_, e)| e["data_offsets"][1].as_u64());
    let end = ends.map(|end| end.unwrap_or(u64::MAX)).max().unwrap_or(0);
    match end.cmp(&rest) {
        std::cmp::Ordering::Equal => Ok(header),
        std::cmp::Ordering::Less => {
            Err(model_error(path, format!("has {} bytes after its end", rest - end), DAMAGED))
        }
        std::cmp::Ordering::Greater => Err(model_error(
            path,
            format!("is cut short: {rest} of {end} bytes of arrays are there"),
            DAMAGED,
        )),
    }
}

/// Checks that this is a model of ours, of a format known here.
fn check_facts(path: &Path, facts: &BTreeMap<String, String>) -> Result<()> {
    if facts.get("format").map(String::as_str) != Some("tenfold") {
        return Err(model_error(
            path,
            "is a safetensors file, but no tenfold model",
            "give a .tenfold file made by tenfold",
        ));
    }
    let version = facts.get("format_version").and_then(|v| v.parse::<u64>().ok());
    let maker = facts.get("tenfold_version").map_or("of unknown version", String::as_str);
    match version {
        Some(version) if version > FORMAT_VERSION => Err(model_error(
            path,
            format!("was made by tenfold {maker} with format {version}; this is format {FORMAT_VERSION}"),
            "upgrade tenfold",
        )),
        Some(FORMAT_VERSION) if ["kind", "tenfold", "crc32"].iter().all(|key| facts.contains_key(*key)) => {
            Ok(())
        }
        _ => Err(model_error(path, "lacks part of its header", DAMAGED)),
    }
}

fn check_finite(path: &Path, name: &str, tensor: &Tensor) -> Result<()> {
    let found = match &tensor.data {
        TensorData::F64(numbers) => numbers.iter().copied().find(|x| !x.is_finite()),
        TensorData::F32(numbers) => numbers.iter().find(|x| !x.is_finite()).map(|x| f64::from(*x)),
        TensorData::U8(_) => None,
    };
    match found {
        None => Ok(()),
        Some(x) => Err(model_error(path, format!("the array {name:?} holds {x}"), "fit the model again")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(path: &Path, note: usize) -> Vec<u8> {
        let mut model = ModelFile::new("ica", serde_json::json!({ "note": "a".repeat(note) }));
        model.insert_vector("x", &[1.0, 2.0]);
        model.save(path).unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn bytes_in_memory_are_trusted_as_little_as_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = saved(&folder.path().join("m.tenfold"), 5);
        let back = ModelFile::from_bytes(&bytes).unwrap();
        assert_eq!((back.to_bytes().unwrap(), back.vector("x").unwrap()), (bytes.clone(), vec![1.0, 2.0]));
        for end in 0..bytes.len() {
            let error = ModelFile::from_bytes(&bytes[..end]).unwrap_err().to_string();
            assert!(error.starts_with("(model in memory)"), "{error}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            // Blanks that fill up the header may turn into others; nothing else goes through.
            let known =
                ModelFile::from_bytes(&damaged).map_or(true, |m| m.vector("x").unwrap() == [1.0, 2.0]);
            assert!(known, "byte {at}");
        }
    }

    #[test]
    fn a_header_whose_length_looks_like_a_pickle_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.tenfold");
        let length = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let shortest = length(&saved(&path, 0));
        for wanted in [640, 896, 1152, 1408] {
            let bytes = saved(&path, wanted - shortest);
            assert_eq!(length(&bytes), wanted);
            assert!(matches!(bytes[..2], [0x80, 2..=5]), "the length no longer begins like a pickle");
            assert_eq!(load(&path).unwrap().vector("x").unwrap(), [1.0, 2.0], "header of {wanted} bytes");
        }
    }
}
