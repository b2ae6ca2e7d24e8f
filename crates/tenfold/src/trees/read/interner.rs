//! Names numbered as they appear, held in one piece of memory.

use std::hash::{BuildHasher, RandomState};

/// A place of the table that holds no name.
const FREE: u64 = u64::MAX;

/// Numbers for names: about 20 bytes a name, and the names themselves. The order of the numbers is that of the names' first
/// appearance, whatever the hashes.
#[derive(Debug, Clone)]
pub(super) struct Interner {
    data: Vec<u8>,
    ends: Vec<usize>,
    /// A part of every name's hash.
    tags: Vec<u32>,
    /// The tag and the number of a name, so that other names are passed over without a look at them.
    table: Vec<u64>,
    hasher: RandomState,
}

impl Interner {
    pub(super) fn new(hasher: &RandomState) -> Self {
        let (data, ends, tags, table) = (Vec::new(), Vec::new(), Vec::new(), vec![FREE; 64]);
        Self { data, ends, tags, table, hasher: hasher.clone() }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The name of this number.
    pub(super) fn name(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.data[start..self.ends[number]]
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|number| self.name(number))
    }

    /// The number of a name, which is new when it was not met before.
    ///
    /// # Panics
    /// At 2³² − 1 names.
    pub(super) fn number(&mut self, name: &[u8]) -> u32 {
        self.tagged(name, self.hasher.hash_one(name) as u32)
    }

    /// The numbers here of all names of another one with the same hasher.
    pub(super) fn numbers(&mut self, other: &Self) -> Vec<u32> {
        other.names().zip(&other.tags).map(|(name, &tag)| self.tagged(name, tag)).collect()
    }

    fn tagged(&mut self, name: &[u8], tag: u32) -> u32 {
        let mask = self.table.len() - 1;
        let mut place = tag as usize & mask;
        loop {
            match self.table[place] {
                FREE => break,
                held if (held >> 32) as u32 == tag && self.name(held as u32 as usize) == name => {
                    return held as u32;
                }
                _ => place = (place + 1) & mask,
            }
        }
        let number =
            u32::try_from(self.len()).ok().filter(|n| *n != u32::MAX).expect("fewer than 2^32 names");
        self.data.extend_from_slice(name);
        self.ends.push(self.data.len());
        self.tags.push(tag);
        self.table[place] = u64::from(tag) << 32 | u64::from(number);
        if self.len() * 2 > self.table.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        let mut table = vec![FREE; mask + 1];
        for (number, &tag) in (0u64..).zip(&self.tags) {
            let mut place = tag as usize & mask;
            while table[place] != FREE {
                place = (place + 1) & mask;
            }
            table[place] = u64::from(tag) << 32 | number;
        }
        self.table = table;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_numbers() {
        let mut interner = Interner::new(&RandomState::new());
        for round in 0..2 {
            for i in 0..1000u32 {
                assert_eq!(interner.number(format!("n{}", i * 7).as_bytes()), i, "{round}");
            }
        }
        assert_eq!((interner.len(), interner.name(3)), (1000, &b"n21"[..]));
        assert_eq!(interner.number(b""), 1000);
        assert_eq!(interner.names().last(), Some(&b""[..]));
        let mut other = Interner::new(&interner.hasher);
        other.number(b"n14");
        other.number(b"new");
        assert_eq!(interner.numbers(&other), [2, 1001]);
    }
}
