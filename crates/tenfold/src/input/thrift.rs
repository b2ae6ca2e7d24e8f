//! Heads of Parquet (Thrift's compact protocol), looked at before the parquet crate reads them: it passes over lists of yes and no whose
//! elements take no bytes, as many as are promised. Two thousand million of them in six bytes take a second, again and again.

use std::io::Read;

/// Structures within each other that are followed; the crate refuses more of them.
const DEEPEST: u8 = 64;

/// Whether a structure promises more elements without bytes than `most`. What makes no sense is left to the crate, which says so.
pub(super) fn repeats_nothing(from: &mut dyn Read, most: u64) -> bool {
    let mut walk = Walk { from, left: most };
    matches!(walk.value(STRUCT, DEEPEST), Err(Stop::TooMany))
}

const STRUCT: u8 = 12;

/// Why it is not followed any further.
enum Stop {
    TooMany,
    NoSense,
}

type Followed = Result<(), Stop>;

struct Walk<'a> {
    from: &'a mut dyn Read,
    /// Elements without bytes that may still come.
    left: u64,
}

impl Walk<'_> {
    /// Passes over a value of this type.
    fn value(&mut self, kind: u8, depth: u8) -> Followed {
        let depth = depth.checked_sub(1).ok_or(Stop::NoSense)?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.bytes(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.bytes(8),
            8 => {
                let length = self.number()?;
                self.bytes(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                self.elements(count, &[head & 15], depth)
            }
            11 => {
                let count = self.number()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                self.elements(count, &[kinds >> 4, kinds & 15], depth)
            }
            STRUCT => loop {
                let head = self.byte()?;
                if head & 15 == 0 {
                    return Ok(());
                }
                if head >> 4 == 0 {
                    self.number()?;
                }
                self.value(head & 15, depth)?;
            },
            13 => self.bytes(16),
            _ => Err(Stop::NoSense),
        }
    }

    fn elements(&mut self, count: u64, kinds: &[u8], depth: u8) -> Followed {
        if kinds.iter().all(|kind| matches!(kind, 1 | 2)) {
            self.left = self.left.checked_sub(count).ok_or(Stop::TooMany)?;
            return Ok(());
        }
        // Every one takes bytes, which end.
        (0..count).try_for_each(|_| kinds.iter().try_for_each(|kind| self.value(*kind, depth)))
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        let mut byte = [0];
        self.from.read_exact(&mut byte).map_err(|_| Stop::NoSense)?;
        Ok(byte[0])
    }

    fn bytes(&mut self, count: u64) -> Followed {
        let passed = std::io::copy(&mut (&mut *self.from).take(count), &mut std::io::sink());
        if passed.is_ok_and(|passed| passed == count) { Ok(()) } else { Err(Stop::NoSense) }
    }

    /// A number of seven bits a byte.
    fn number(&mut self) -> Result<u64, Stop> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Stop::NoSense)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: &[u8] = &[0xff, 0xff, 0xff, 0xff, 7];

    #[test]
    fn elements_without_bytes_are_counted() {
        let within = |bytes: &[&[u8]], most| !repeats_nothing(&mut &bytes.concat()[..], most);
        // A list of yes and no, by its own number and by one behind it; the field's number beside its type or behind it.
        assert!(within(&[&[0x19, 0x51, 0]], 5) && !within(&[&[0x19, 0x51, 0]], 4));
        assert!(!within(&[&[0x19, 0xf2], MANY, &[0]], 1 << 20));
        assert!(!within(&[&[0x09, 9, 0xf1], MANY, &[0]], 1 << 20));
        // The same in a set, in a map, in a list of lists, behind all else, and too often.
        assert!(!within(&[&[0x1a, 0xf1], MANY, &[0]], 1 << 20));
        assert!(!within(&[&[0x1b], MANY, &[0x12, 0]], 1 << 20));
        assert!(!within(&[&[0x19, 0x19, 0xf1], MANY, &[0]], 1 << 20));
        let all = [0x13, 7, 0x15, 0x80, 1, 0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0x18, 2, 9, 9, 0x1c, 0x11, 0, 0x1d];
        assert!(!within(&[&all, &[0; 16], &[0x19, 0xf1], MANY, &[0]], 1 << 20));
        assert!(!within(&[&[0x19, 0x41, 0x19, 0x41, 0]], 7) && within(&[&[0x19, 0x41, 0x19, 0x41, 0]], 8));
        // What ends too early, is too deep or is no type is not for here to say.
        assert!(within(&[&[0x19, 0xf5], MANY, &[1, 2, 3]], 0) && within(&[&[0x1c; 200]], 0));
        assert!(within(&[&[0x1e, 0xf1], MANY], 0) && within(&[&[]], 0));
    }
}
