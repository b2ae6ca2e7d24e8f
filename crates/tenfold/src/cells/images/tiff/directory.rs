//! The directory of the first page, looked at before the tiff crate opens it.
//!
//! The crate reads it with limits of its own, which cannot be set before, and sets aside up to 256 MiB for a list that is only promised.

use super::DAMAGED;
use crate::error::Result;
use crate::input::Disk;

/// Bytes for every number of a list, once it is read.
const HELD: u64 = 32;

/// Times the file's length that a list may take in memory. Offsets and lengths of strips or tiles of honest files stay below.
const TIMES: u64 = 4;

/// The tag of tables that the tiles of a slide share, a few hundred bytes which the crate takes one by one.
const JPEG_TABLES: u64 = 347;

/// Checks that every list of the first directory fits into the file, and into memory of its size.
///
/// # Errors
/// A directory behind the end of the file, or a list that is longer than the file. What is no TIFF is left to the crate.
pub(super) fn check(disk: &Disk) -> Result<()> {
    let len = disk.len();
    let head = disk.bytes(0, len.min(16))?;
    let little = head.starts_with(b"II");
    let number = |bytes: &[u8]| {
        let joined = |all: u64, byte: &u8| all << 8 | u64::from(*byte);
        if little { bytes.iter().rev().fold(0, joined) } else { bytes.iter().fold(0, joined) }
    };
    let beyond = || disk.fail("cannot be read as TIFF (its directory lies behind its end)", DAMAGED);
    // The lengths of offsets, of the number of entries, and of an entry.
    let (begin, wide, counter, entry) = match head.get(2..4).map(number) {
        Some(42) if head.len() >= 8 => (number(&head[4..8]), 4, 2, 12),
        Some(43) if head.len() == 16 => (number(&head[8..16]), 8, 8, 20),
        _ => return Ok(()),
    };
    let inside = |from: u64, length: u64| from.checked_add(length).is_some_and(|end| end <= len);
    if !inside(begin, counter) {
        return Err(beyond());
    }
    let entries = number(&disk.bytes(begin, counter)?);
    if !entries.checked_mul(entry).is_some_and(|length| inside(begin + counter, length)) {
        return Err(beyond());
    }
    let list = disk.bytes(begin + counter, entries * entry)?;
    for entry in list.chunks_exact(entry as usize) {
        let (tag, kind, count) = (number(&entry[..2]), number(&entry[2..4]), number(&entry[4..4 + wide]));
        let most = match kind {
            // Whole numbers in two, four and eight bytes, and places of further directories.
            3 | 4 | 13 | 16 | 18 => (len.saturating_mul(TIMES) / HELD).max(wide as u64),
            7 if tag == JPEG_TABLES => len.min(1 << 16),
            _ => len,
        };
        if count > most {
            let problem =
                format!("promises {count} numbers under tag {tag}, more than its {len} bytes can hold");
            return Err(disk.fail(problem, DAMAGED));
        }
    }
    Ok(())
}
