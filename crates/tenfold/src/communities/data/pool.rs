//! Names from the pieces of a file, numbered in the order of their first appearance, by all threads together.
//!
//! A name belongs to one of some shares, by its hash. Every share has a table of its own, small enough for the cache, and
//! looks up what pieces hold of it, in their order. Which names share a table differs from run to run; their numbers do
//! not, for they follow from the places of the names alone.

use super::names::{Keys, Names};
use rayon::prelude::*;
use std::ops::Range;

/// Shares as a power of two: a million names make tables of some hundred kilobytes.
const SHARES_LOG2: u32 = 6;

const SHARES: usize = 1 << SHARES_LOG2;

/// Marks a name that a share had not seen before; a share therefore holds fewer than 2³¹.
const NEW: u32 = 1 << 31;

/// Edges between the names of a piece.
#[derive(Debug)]
pub(crate) struct NamedPiece {
    edges: Vec<(u32, u32)>,
    /// Tags and numbers of the names, share by share, in each in their order.
    names: Vec<(u32, u32)>,
    /// Where each share ends among them.
    shares: Vec<u32>,
    /// Their texts in the same order, joined, so that a share goes through memory step by step.
    text: String,
    /// Where each text ends.
    ends: Vec<u32>,
}

impl NamedPiece {
    /// Edges between names, by the numbers that these have here.
    pub(crate) fn new(names: &Names, edges: Vec<(u32, u32)>) -> Self {
        let keys = names.keys();
        let hashes: Vec<u64> = (0..names.len()).map(|i| keys.hash(names.get(i))).collect();
        let share = |hash: u64| (hash >> (64 - SHARES_LOG2)) as usize;
        let mut shares = vec![0u32; SHARES];
        hashes.iter().for_each(|hash| shares[share(*hash)] += 1);
        let mut total = 0;
        for count in &mut shares {
            (*count, total) = (total, total + *count);
        }
        let mut sorted = vec![(0, 0); names.len()];
        for (hash, i) in hashes.into_iter().zip(0..) {
            let at = &mut shares[share(hash)];
            sorted[*at as usize] = (hash as u32, i);
            *at += 1;
        }
        let (mut text, mut ends) = (String::with_capacity(names.bytes()), Vec::with_capacity(names.len()));
        for (_, i) in &sorted {
            text.push_str(names.get(*i as usize));
            // A piece is a part of a file that was read at once.
            ends.push(text.len() as u32);
        }
        Self { edges, names: sorted, shares, text, ends }
    }

    /// The places of a share's names.
    fn share(&self, s: usize) -> Range<usize> {
        let begin = if s == 0 { 0 } else { self.shares[s - 1] };
        begin as usize..self.shares[s] as usize
    }

    /// The text at a place.
    fn text(&self, at: usize) -> &str {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[begin as usize..self.ends[at] as usize]
    }

    /// The edges by name.
    #[cfg(test)]
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let at = |i: u32| self.names.iter().position(|name| name.1 == i).unwrap();
        let name = |i: u32| self.text(at(i)).to_owned();
        self.edges.iter().map(|e| (name(e.0), name(e.1))).collect()
    }
}

/// Names of one share, and the number that each has in the whole.
#[derive(Debug)]
struct Share {
    names: Names,
    numbers: Vec<u32>,
}

/// All names so far.
#[derive(Debug)]
pub(crate) struct Pool {
    all: Names,
    shares: Vec<Share>,
}

impl Pool {
    /// None yet. Pieces must use the same keys.
    pub(crate) fn new(keys: Keys) -> Self {
        let share = |_| Share { names: Names::with(keys), numbers: Vec::new() };
        Self { all: Names::with(keys), shares: (0..SHARES).map(share).collect() }
    }

    /// Takes the names of some pieces, and gives their edges between the numbers in the whole. `None` when there are more
    /// names than numbers.
    pub(crate) fn add(&mut self, pieces: Vec<NamedPiece>) -> Option<Vec<Vec<(u32, u32)>>> {
        // By share and piece: the number that each name has in its share.
        let found: Vec<Vec<Vec<u32>>> = self
            .shares
            .par_iter_mut()
            .with_max_len(1)
            .enumerate()
            .map(|(s, share)| pieces.iter().map(|piece| share.look_up(piece, s)).collect::<Option<_>>())
            .collect::<Option<_>>()?;
        self.number(&pieces, &found)?;
        let shares = &self.shares;
        let moved = |(p, piece): (usize, NamedPiece)| {
            let mut places = vec![0; piece.names.len()];
            for (s, share) in shares.iter().enumerate() {
                for ((_, i), own) in piece.names[piece.share(s)].iter().zip(&found[s][p]) {
                    places[*i as usize] = share.numbers[(own & !NEW) as usize];
                }
            }
            let mut edges = piece.edges;
            edges.iter_mut().for_each(|e| *e = (places[e.0 as usize], places[e.1 as usize]));
            edges
        };
        Some(pieces.into_par_iter().with_max_len(1).enumerate().map(moved).collect())
    }

    /// Gives new names their numbers, in the order of pieces and of names in them.
    fn number(&mut self, pieces: &[NamedPiece], found: &[Vec<Vec<u32>>]) -> Option<()> {
        let fresh = |(p, piece): (usize, &NamedPiece)| {
            let mut fresh: Vec<(u32, usize, usize)> = Vec::new();
            for (s, found) in found.iter().enumerate() {
                let own = piece.share(s).zip(&found[p]).filter(|(_, own)| **own & NEW != 0);
                fresh.extend(own.map(|(at, _)| (piece.names[at].1, s, at)));
            }
            fresh.sort_unstable();
            fresh
        };
        let fresh: Vec<_> = pieces.par_iter().enumerate().map(fresh).collect();
        for (piece, fresh) in pieces.iter().zip(fresh) {
            for (_, s, at) in fresh {
                // A share numbered its new names in this very order.
                self.shares[s].numbers.push(self.all.len() as u32);
                if !self.all.push(piece.text(at)) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// The names in the order of their numbers.
    pub(crate) fn finish(self) -> Names {
        let Self { mut all, shares } = self;
        drop(shares);
        all.index();
        all
    }
}

impl Share {
    /// The numbers that this share gives to the names of a piece; the new ones are marked.
    fn look_up(&mut self, piece: &NamedPiece, s: usize) -> Option<Vec<u32>> {
        let own = piece.share(s).map(|at| {
            let held = self.names.len();
            let number = self.names.insert_tagged(piece.names[at].0, piece.text(at))?;
            match number as usize == held {
                true if number >= NEW - 1 => None,
                true => Some(number | NEW),
                false => Some(number),
            }
        });
        own.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;

    #[test]
    fn numbers_follow_the_first_appearance() {
        let name = |i: u64| format!("n{}", i * i % 5003);
        let list: Vec<(String, String)> = (0..40_000).map(|e| (name(e), name(7 * e + 3))).collect();
        let mut plain = Names::default();
        let mut place = |name: &String| plain.insert(name).unwrap();
        let wanted: Vec<(u32, u32)> = list.iter().map(|e| (place(&e.0), place(&e.1))).collect();
        for (threads, length, together) in [(1, 100, 1), (2, 777, 7), (8, 5000, 64), (3, 1, 20_000)] {
            let keys = Keys::default();
            let piece = |chunk: &[(String, String)]| {
                let mut names = Names::with(keys);
                let mut place = |name: &String| names.insert(name).unwrap();
                let edges = chunk.iter().map(|e| (place(&e.0), place(&e.1))).collect();
                NamedPiece::new(&names, edges)
            };
            let pieces: Vec<&[(String, String)]> = list.chunks(length).collect();
            let mut pool = Pool::new(keys);
            let add = |some: &[&[(String, String)]]| {
                pool.add(some.iter().map(|p| piece(p)).collect()).unwrap().concat()
            };
            let edges = with_threads(threads, || pieces.chunks(together).flat_map(add).collect::<Vec<_>>());
            assert!(edges == wanted, "{threads} threads");
            let names = pool.finish();
            assert!((0..plain.len()).all(|i| names.get(i) == plain.get(i)));
            assert!((0..plain.len()).all(|i| names.find(plain.get(i)) == Some(i as u32)));
            assert_eq!(names.len(), plain.len());
        }
    }
}
