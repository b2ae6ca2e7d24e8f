//! How long a frame of LZ4 becomes, without unpacking it.

/// How the frames begin that the writers of Arrow make.
const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// Bytes of a frame once it is unpacked; `None` where it is damaged.
pub(super) fn unpacked_len(frame: &[u8]) -> Option<u64> {
    let mut rest = frame.strip_prefix(&MAGIC)?;
    let flags = *rest.first()?;
    let has = |bit: u8, bytes: usize| if flags & bit != 0 { bytes } else { 0 };
    // Flags and the size of blocks, the length of all, the number of a dictionary, a checksum.
    rest = rest.get(2 + has(8, 8) + has(1, 4) + 1..)?;
    let mut sum = 0u64;
    loop {
        let size = u32::from_le_bytes(*rest.first_chunk()?);
        rest = &rest[4..];
        if size == 0 {
            return Some(sum);
        }
        // The highest bit marks a block that is not packed.
        let len = (size & !(1 << 31)) as usize;
        let block = rest.get(..len)?;
        sum = sum.checked_add(if size >> 31 == 1 { len as u64 } else { block_len(block)? })?;
        rest = rest.get(len + has(0x10, 4)..)?;
    }
}

/// A block is sequences: a number of bytes as they are, and then a number of bytes from before.
fn block_len(mut block: &[u8]) -> Option<u64> {
    let mut sum = 0u64;
    while let Some((token, rest)) = block.split_first() {
        let (plain, rest) = length(token >> 4, rest)?;
        sum = sum.checked_add(plain)?;
        block = rest.get(usize::try_from(plain).ok()?..)?;
        // The last sequence has nothing from before.
        if block.is_empty() {
            return Some(sum);
        }
        let (again, rest) = length(token & 15, block.get(2..)?)?;
        sum = sum.checked_add(again)?.checked_add(4)?;
        block = rest;
    }
    Some(sum)
}

/// A length of 15 or more goes on in bytes that add to it, until one is not 255.
fn length(nibble: u8, mut rest: &[u8]) -> Option<(u64, &[u8])> {
    let mut length = u64::from(nibble);
    if nibble == 15 {
        loop {
            let (byte, behind) = rest.split_first()?;
            length += u64::from(*byte);
            rest = behind;
            if *byte != 255 {
                break;
            }
        }
    }
    Some((length, rest))
}
