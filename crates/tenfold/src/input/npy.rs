//! NumPy's `.npy`: a short header, then packed numbers.
//!
//! The header is parsed here rather than by a crate because rows are read at their offset in the file, which
//! needs the header alone, and because the crate that offers it brings a parser generator along.

use super::disk::Disk;
use super::packed::{Element, Kind, Packed};
use super::{Opened, Store, dense_bytes, numbered};
use crate::error::Result;
use std::path::Path;
use std::sync::Arc;

/// An array of any number of dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Length along each dimension.
    pub shape: Vec<usize>,
    /// The entries, the last index running fastest.
    pub data: Vec<f64>,
}

/// Reads a `.npy` file of any number of dimensions, for example a tensor.
///
/// # Errors
/// A file that is missing, damaged, not numeric, or holds a value that is not finite.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("t.npy");
/// let header = b"{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }";
/// let magic = b"\x93NUMPY\x01\x00".iter().copied();
/// let bytes = magic.chain([header.len() as u8, 0]).chain(*header).chain([1, 2, 3, 4]);
/// std::fs::write(&path, bytes.collect::<Vec<u8>>()).unwrap();
/// let array = tenfold::input::read_array(&path)?;
/// assert_eq!(array.shape, [2, 2]);
/// assert_eq!(array.data, [1.0, 3.0, 2.0, 4.0]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn read_array(path: &Path) -> Result<Array> {
    let disk = Disk::open(path)?;
    let Array { shape, data } = any_array(&disk, u64::MAX, &|bytes| bytes.to_string())?;
    if let Some(at) = data.iter().position(|x| !x.is_finite()) {
        let place = index(&shape, at);
        return Err(disk.fail(
            format!("entry {place:?} (counted from 0) is {}", data[at]),
            "every value must be a finite number",
        ));
    }
    Ok(Array { shape, data })
}

/// [`read_array`] of numbers that need not be finite, as long as they take no more than `memory` bytes; `advised` is what to give for so
/// many.
pub(crate) fn read_with_gaps(path: &Path, memory: u64, advised: &dyn Fn(u64) -> String) -> Result<Array> {
    any_array(&Disk::open(path)?, memory, advised)
}

fn any_array(disk: &Arc<Disk>, memory: u64, advised: &dyn Fn(u64) -> String) -> Result<Array> {
    let header = Header::read(disk)?;
    let count = header.count(disk)?;
    if dense_bytes(count, 1) > memory {
        let bytes = dense_bytes(count, 1);
        return Err(disk.fail(
            format!("takes {bytes} bytes of memory, more than the {memory} allowed"),
            format!("give --memory {}, or cut the file into parts", advised(bytes)),
        ));
    }
    let packed = header.packed(disk, count, 1);
    let mut data = vec![0.0; count];
    packed.read_run(0, &mut data, 1)?;
    let data = if header.fortran { fortran_to_c(&header.shape, &data) } else { data };
    Ok(Array { shape: header.shape, data })
}

pub(super) fn open(disk: &Arc<Disk>) -> Result<Opened> {
    let header = Header::read(disk)?;
    let (rows, cols) = match header.shape[..] {
        [rows] => (rows, 1),
        [rows, cols] => (rows, cols),
        _ => {
            return Err(disk.fail(
                format!("has {} dimensions, shape {:?}", header.shape.len(), header.shape),
                "a table has two, samples × columns (or one, for a single column): reshape it",
            ));
        }
    };
    // Before names are made: a shape of 0 × 10¹⁸ promises no bytes at all.
    if header.count(disk)? == 0 {
        return Err(
            disk.fail(format!("holds no data, shape {:?}", header.shape), "give at least one row of numbers")
        );
    }
    let packed = header.packed(disk, rows, cols);
    Ok(Opened {
        names: numbered("c", cols),
        named: false,
        rows,
        rate: None,
        stored_as: format!("{:?}", packed.element.kind).to_lowercase(),
        store: Store::Disk(Box::new(packed)),
    })
}

/// What the header says, and where it ends.
#[derive(Debug)]
struct Header {
    element: Element,
    fortran: bool,
    shape: Vec<usize>,
    end: u64,
}

/// What to do about a file that is not what its name says.
const DAMAGED: &str = "it is damaged or no .npy file: write it again with numpy.save";

impl Header {
    fn read(disk: &Arc<Disk>) -> Result<Self> {
        let start = disk.bytes(0, disk.len().min(12))?;
        if start.len() < 10 || start[..6] != *b"\x93NUMPY" {
            return Err(disk.fail("does not begin like a .npy file", DAMAGED));
        }
        let (begin, len) = match start[6] {
            1 => (10, u64::from(u16::from_le_bytes([start[8], start[9]]))),
            2 | 3 if start.len() == 12 => {
                (12, u64::from(u32::from_le_bytes([start[8], start[9], start[10], start[11]])))
            }
            version => return Err(disk.fail(format!("is a .npy file of version {version}"), DAMAGED)),
        };
        let text = disk.bytes(begin, len)?;
        let text = String::from_utf8_lossy(&text);
        let Some((descr, fortran, shape)) = parse(&text) else {
            let shown: String = text.trim().chars().take(80).collect();
            return Err(disk.fail(format!("has the header {shown:?}, which is not understood"), DAMAGED));
        };
        let Some(element) = element(&descr) else {
            let (why, remedy) = match descr.trim_start_matches(['|', '<', '>', '=']) {
                "O" => (
                    "Python objects, which are never unpickled here",
                    "convert it: numpy.save(path, x.astype(float))",
                ),
                _ => (
                    "not one of the numeric types f4, f8, i1–i8, u1–u8 and bool",
                    "convert it with x.astype(float)",
                ),
            };
            return Err(disk.fail(format!("holds data of type {descr:?}, {why}"), remedy));
        };
        Ok(Self { element, fortran, shape, end: begin + len })
    }

    /// The number of entries, once the shape agrees with the file's length.
    fn count(&self, disk: &Disk) -> Result<usize> {
        let count = self.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        let needed = count.and_then(|n| n.checked_mul(self.element.kind.bytes()));
        let held = disk.len() - self.end;
        match (count, needed) {
            (Some(count), Some(needed)) if needed as u64 == held => Ok(count),
            (_, needed) => {
                let needed = needed.map_or("more than any file's".into(), |n| n.to_string());
                Err(disk.fail(
                    format!(
                        "promises {needed} bytes for shape {:?}, but {held} bytes follow its header",
                        self.shape
                    ),
                    "it is cut short or damaged: copy it or write it again with numpy.save",
                ))
            }
        }
    }

    fn packed(&self, disk: &Arc<Disk>, rows: usize, cols: usize) -> Packed {
        let (element, fortran) = (self.element, self.fortran);
        Packed { disk: Arc::clone(disk), offset: self.end, element, rows, cols, fortran }
    }
}

fn element(descr: &str) -> Option<Element> {
    let (order, kind) = match descr.as_bytes().first()? {
        b'<' | b'>' | b'|' | b'=' => descr.split_at(1),
        _ => ("=", descr),
    };
    let kind = match kind {
        "f4" => Kind::F32,
        "f8" => Kind::F64,
        "i1" => Kind::I8,
        "i2" => Kind::I16,
        "i4" => Kind::I32,
        "i8" => Kind::I64,
        "u1" => Kind::U8,
        "u2" => Kind::U16,
        "u4" => Kind::U32,
        "u8" => Kind::U64,
        "b1" | "?" => Kind::Bool,
        _ => return None,
    };
    Some(Element::plain(kind, order == ">" || (order == "=" && cfg!(target_endian = "big"))))
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }` → its three values. A list for `descr` (a table
/// of mixed types) comes back as its text, which is no numeric type.
fn parse(header: &str) -> Option<(String, bool, Vec<usize>)> {
    let body = header.trim().strip_prefix('{')?.strip_suffix('}')?;
    let descr = value(body, "descr")?;
    let descr = match descr.chars().next()? {
        quote @ ('\'' | '"') => descr[1..].split(quote).next()?.to_owned(),
        '[' => descr.split_inclusive(']').next()?.to_owned(),
        _ => return None,
    };
    let fortran = value(body, "fortran_order")?;
    let fortran = match (fortran.starts_with("True"), fortran.starts_with("False")) {
        (true, _) => true,
        (_, true) => false,
        _ => return None,
    };
    let shape = value(body, "shape")?.strip_prefix('(')?.split_once(')')?.0;
    let lengths = shape.split(',').map(|d| d.trim().trim_end_matches('L')).filter(|d| !d.is_empty());
    let shape = lengths.map(|d| d.parse().ok()).collect::<Option<_>>()?;
    Some((descr, fortran, shape))
}

/// The text after `'key':`.
fn value<'a>(body: &'a str, key: &str) -> Option<&'a str> {
    let at = body.find(&format!("'{key}'")).or_else(|| body.find(&format!("\"{key}\"")))?;
    Some(body[at + key.len() + 2..].trim_start().strip_prefix(':')?.trim_start())
}

/// The index of entry `at` of an array whose last index runs fastest.
fn index(shape: &[usize], mut at: usize) -> Vec<usize> {
    let mut place = vec![0; shape.len()];
    for (i, &d) in place.iter_mut().zip(shape).rev() {
        (*i, at) = (at % d, at / d);
    }
    place
}

pub(crate) fn fortran_to_c(shape: &[usize], data: &[f64]) -> Vec<f64> {
    let strides: Vec<usize> = (0..shape.len()).map(|d| shape[..d].iter().product()).collect();
    let (mut place, mut from) = (vec![0; shape.len()], 0);
    let mut out = Vec::with_capacity(data.len());
    for _ in 0..data.len() {
        out.push(data[from]);
        for d in (0..shape.len()).rev() {
            place[d] += 1;
            from += strides[d];
            if place[d] < shape[d] {
                break;
            }
            from -= strides[d] * shape[d];
            place[d] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_ages_are_understood() {
        let new = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n";
        assert_eq!(parse(new), Some(("<f8".into(), false, vec![3, 4])));
        let old = "{\"shape\": (3L,), \"fortran_order\":True,\"descr\":\">i2\"}";
        assert_eq!(parse(old), Some((">i2".into(), true, vec![3])));
        assert_eq!(
            parse("{'descr': '<f8', 'fortran_order': False, 'shape': ()}").unwrap().2,
            Vec::<usize>::new()
        );
        for broken in
            ["", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': 1, 'shape': (2,)}", "{'descr'"]
        {
            assert_eq!(parse(broken), None);
        }
    }

    #[test]
    fn fortran_order_becomes_c_order() {
        // Entry (i, j, k) of a 2 × 3 × 2 array is written as 100 i + 10 j + k.
        let fortran: Vec<f64> = (0..2)
            .flat_map(|k| (0..3).flat_map(move |j| (0..2).map(move |i| f64::from(100 * i + 10 * j + k))))
            .collect();
        let c = fortran_to_c(&[2, 3, 2], &fortran);
        assert_eq!(c, [0., 1., 10., 11., 20., 21., 100., 101., 110., 111., 120., 121.]);
    }
}
