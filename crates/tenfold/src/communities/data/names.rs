//! Names with numbers: every distinct text once, in the order of first appearance.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// The number of an empty place of the table.
const FREE: u32 = u32::MAX;

/// Most names: the last number stands for an empty place.
pub(crate) const MOST: usize = u32::MAX as usize;

/// The secret numbers of a hash, new in every run: no file can be made to have its names collide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys(u64, u64);

impl Default for Keys {
    fn default() -> Self {
        let random = RandomState::new();
        Self(random.hash_one(0), random.hash_one(1) | 1)
    }
}

impl Keys {
    /// Eight bytes at a time by multiplication with both halves of the product joined, as in wyhash. It takes a quarter of
    /// the time of the standard hash for names of some ten bytes.
    #[inline]
    pub(super) fn hash(self, name: &str) -> u64 {
        let mut rest = name.as_bytes();
        let mut state = self.0 ^ rest.len() as u64;
        while let (Some(eight), true) = (rest.first_chunk(), rest.len() > 8) {
            state = folded(state ^ u64::from_le_bytes(*eight), self.1);
            rest = &rest[8..];
        }
        folded(folded(state ^ last(rest), self.1), self.0 | 1)
    }
}

#[inline(always)]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Up to eight bytes as a number, some of them twice; the length tells such numbers apart.
#[inline(always)]
fn last(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        _ if length == 0 => 0,
        _ => {
            let [first, middle, last] = [0, length / 2, length - 1].map(|i| u64::from(bytes[i]));
            first | middle << 8 | last << 16
        }
    }
}

/// Distinct texts, joined, and an open hash table of their numbers. The hash only finds places; the order is that of
/// appearance, so it is the same in every run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    text: String,
    /// Where each name ends.
    ends: Vec<usize>,
    /// Tags and numbers of names, at least half of the places free; its length is a power of two. A tag is the lower half
    /// of the hash: it tells nearly all other names apart without a look at their texts.
    table: Vec<(u32, u32)>,
    keys: Keys,
}

impl Names {
    /// None yet.
    pub(crate) fn with(keys: Keys) -> Self {
        Self { keys, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all names.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    pub(super) fn keys(&self) -> Keys {
        self.keys
    }

    #[inline]
    pub(crate) fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text[start..self.ends[i]]
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        Some(self.table[self.place(self.keys.hash(name) as u32, name)].1).filter(|&number| number != FREE)
    }

    /// The number of a name, which is new if there was none. `None` when there are [`MOST`] names already.
    #[inline]
    pub(crate) fn insert(&mut self, name: &str) -> Option<u32> {
        self.insert_tagged(self.keys.hash(name) as u32, name)
    }

    /// The same for a name whose tag is known.
    #[inline]
    pub(super) fn insert_tagged(&mut self, tag: u32, name: &str) -> Option<u32> {
        if 2 * (self.len() + 1) > self.table.len() {
            self.grow();
        }
        let place = self.place(tag, name);
        let number = self.table[place].1;
        if number != FREE {
            return Some(number);
        }
        let number = self.len() as u32;
        if self.push(name) {
            self.table[place] = (tag, number);
            return Some(number);
        }
        None
    }

    /// Adds a name that is known to be new, and cannot be found before [`Names::index`]. False when there are too many.
    pub(super) fn push(&mut self, name: &str) -> bool {
        if self.len() >= MOST {
            return false;
        }
        self.text.push_str(name);
        self.ends.push(self.text.len());
        true
    }

    /// Makes all names found.
    pub(super) fn index(&mut self) {
        self.empty_table();
        for i in 0..self.len() {
            let tag = self.keys.hash(self.get(i)) as u32;
            self.put(tag, i as u32);
        }
    }

    /// Where the number of the name stands or would stand.
    #[inline]
    fn place(&self, tag: u32, name: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut place = tag as usize & mask;
        loop {
            let (own, number) = self.table[place];
            if number == FREE || own == tag && self.get(number as usize) == name {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    /// Puts a name that is not in the table there: the first free place is the right one.
    fn put(&mut self, tag: u32, number: u32) {
        let mask = self.table.len() - 1;
        let mut place = tag as usize & mask;
        while self.table[place].1 != FREE {
            place = (place + 1) & mask;
        }
        self.table[place] = (tag, number);
    }

    fn empty_table(&mut self) -> Vec<(u32, u32)> {
        let places = (4 * (self.len() + 1)).next_power_of_two();
        std::mem::replace(&mut self.table, vec![(0, FREE); places])
    }

    fn grow(&mut self) {
        for (tag, number) in self.empty_table() {
            if number != FREE {
                self.put(tag, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_the_order_of_their_appearance() {
        let mut names = Names::default();
        assert_eq!((names.find("a"), names.len()), (None, 0));
        for round in 0..2 {
            for i in 0..1000u32 {
                assert_eq!(names.insert(&format!("n{}", i * 7919 % 1000)), Some(i), "round {round}");
            }
        }
        assert_eq!((names.len(), names.get(0), names.get(1)), (1000, "n0", "n919"));
        assert_eq!((names.find("n919"), names.find("n1000"), names.find("")), (Some(1), None, None));
        assert_eq!(names.insert(""), Some(1000));
        assert_eq!((names.get(1000), names.find("")), ("", Some(1000)));
        let mut pushed = Names::with(names.keys());
        (0..names.len()).for_each(|i| assert!(pushed.push(names.get(i))));
        assert_eq!(pushed.find("n0"), None);
        pushed.index();
        assert!((0..names.len()).all(|i| pushed.find(names.get(i)) == Some(i as u32)));
    }

    #[test]
    fn every_byte_and_the_length_change_the_hash() {
        let keys = Keys::default();
        for length in 0..40 {
            let name = "x".repeat(length);
            assert_ne!(keys.hash(&name), keys.hash(&format!("{name}x")));
            for at in 0..length {
                let mut other = name.clone();
                other.replace_range(at..=at, "y");
                assert_ne!(keys.hash(&name), keys.hash(&other), "byte {at} of {length}");
            }
        }
        // Neighbours spread over all places: of 256, about a third stay free with as many names.
        let mut hit = [false; 256];
        (0..256).for_each(|i| hit[keys.hash(&format!("user{i}")) as usize % 256] = true);
        let free = hit.iter().filter(|h| !**h).count();
        assert!((50..150).contains(&free), "{free}");
    }
}
