//! Names with numbers: every distinct text once, in the order of first appearance.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// An empty place of the table.
const FREE: u32 = u32::MAX;

/// Most names: the last number stands for an empty place.
pub(crate) const MOST: usize = u32::MAX as usize;

/// Distinct texts, joined, and an open hash table of their numbers. The hash only finds places; the order is that of
/// appearance, so it is the same in every run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    text: String,
    /// Where each name ends.
    ends: Vec<usize>,
    /// Numbers of names, at least half of the places free; its length is a power of two.
    table: Vec<u32>,
    hasher: RandomState,
}

impl Names {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text[start..self.ends[i]]
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        Some(self.table[self.place(name)]).filter(|&number| number != FREE)
    }

    /// The number of a name, which is new if there was none. `None` when there are [`MOST`] names already.
    pub(crate) fn insert(&mut self, name: &str) -> Option<u32> {
        if 2 * (self.len() + 1) > self.table.len() {
            self.grow();
        }
        let place = self.place(name);
        if self.table[place] == FREE {
            if self.len() >= MOST {
                return None;
            }
            self.table[place] = self.len() as u32;
            self.text.push_str(name);
            self.ends.push(self.text.len());
        }
        Some(self.table[place])
    }

    /// Where the number of the name stands or would stand.
    fn place(&self, name: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.hasher.hash_one(name) as usize & mask;
        while self.table[place] != FREE && self.get(self.table[place] as usize) != name {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let places = (4 * (self.len() + 1)).next_power_of_two();
        self.table = vec![FREE; places];
        for i in 0..self.len() {
            // Names are distinct, so the first free place is the right one.
            let mut place = self.hasher.hash_one(self.get(i)) as usize & (places - 1);
            while self.table[place] != FREE {
                place = (place + 1) & (places - 1);
            }
            self.table[place] = i as u32;
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
    }
}
