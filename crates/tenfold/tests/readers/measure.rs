//! What a reader allocates, counted by the allocator of the program that includes this.

use super::Reader;
use peak_alloc::PeakAlloc;
use std::path::Path;

#[global_allocator]
static HELD: PeakAlloc = PeakAlloc;

/// A reader may hold this many times the size of its file …
pub const TIMES: usize = 4;

/// … and this much beside it: buffers of a mebibyte for every thread that parses, tables of the codecs, what a packed file may unpack
/// to (`readers::ROOM`, a few times over), and the nodes or documents without anything in them that a header may promise.
/// What zstd allocates for its window is outside: C code allocates it, at most 128 MiB.
pub const CONSTANT: usize = 64 << 20;

/// Bytes that a reader may hold at once for a file of this length.
pub fn allowed(len: usize) -> usize {
    TIMES * len + CONSTANT
}

/// Puts the bytes where the reader finds them, lets it read, and gives whether anything came out and the largest amount that was
/// allocated at once on top of what was there before. Other threads must not work meanwhile.
pub fn taken(reader: &Reader, folder: &Path, bytes: &[u8]) -> (bool, usize) {
    for (name, beside) in reader.beside {
        std::fs::write(folder.join(name), beside).unwrap();
    }
    let path = folder.join(reader.file);
    std::fs::write(&path, bytes).unwrap();
    let before = HELD.current_usage();
    HELD.reset_peak_usage();
    let found = (reader.check)(&path);
    let taken = HELD.peak_usage().saturating_sub(before);
    (found, taken)
}
