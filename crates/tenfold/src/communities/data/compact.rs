//! Numbers that name nodes become places: ascending, without gaps, and without a look-up in a hash table for every edge.

use super::Edges;
use super::ids::{Ids, too_many};
use super::names::MOST;
use crate::error::Result;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most edges of a piece: its sorting is shared by threads, and the ends of its edges are counted in 32 bits.
pub(crate) const PIECE: usize = 1 << 20;

/// A piece of edges as numbers: as a rule they are small.
#[derive(Debug, Clone)]
pub(crate) enum Pairs {
    Small(Vec<(u32, u32)>),
    Large(Vec<(u64, u64)>),
}

impl Pairs {
    fn len(&self) -> usize {
        match self {
            Self::Small(pairs) => pairs.len(),
            Self::Large(pairs) => pairs.len(),
        }
    }

    fn largest(&self) -> u64 {
        match self {
            Self::Small(pairs) => pairs.iter().map(|p| u64::from(p.0.max(p.1))).max(),
            Self::Large(pairs) => pairs.iter().map(|p| p.0.max(p.1)).max(),
        }
        .unwrap_or(0)
    }
}

/// The numbers in ascending order, and the edges between their places, in the pieces in which they came.
///
/// Numbers up to 64 for an edge go through a table of bits; others are sorted, piece by piece.
///
/// # Errors
/// More than 2³² − 1 different numbers.
pub(crate) fn compact(pieces: Vec<Pairs>) -> Result<(Ids, Edges)> {
    let edges: usize = pieces.iter().map(Pairs::len).sum();
    let largest = pieces.par_iter().map(Pairs::largest).max().unwrap_or(0);
    let small = |piece| if let Pairs::Small(pairs) = piece { Some(pairs) } else { None };
    if largest <= 64 * edges as u64 + (1 << 20) && pieces.iter().all(|p| matches!(p, Pairs::Small(_))) {
        by_table(pieces.into_iter().filter_map(small).collect(), largest as usize)
    } else {
        by_sorting(pieces)
    }
}

/// A bit for every number up to the largest; the place of a number is how many bits stand before its own.
fn by_table(mut pieces: Edges, largest: usize) -> Result<(Ids, Edges)> {
    if pieces.iter().all(Vec::is_empty) {
        return Ok((Ids::counted(0, 0), pieces));
    }
    let seen: Vec<AtomicU64> = (0..=largest / 64).map(|_| AtomicU64::new(0)).collect();
    let see = |number: u32| {
        let (word, bit) = (&seen[number as usize / 64], 1 << (number % 64));
        // Most numbers were seen before: a look is cheaper than a write that other threads must wait for.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    };
    pieces.par_iter().for_each(|piece| {
        piece.iter().for_each(|&(i, j)| {
            see(i);
            see(j);
        });
    });
    let seen: Vec<u64> = seen.into_iter().map(AtomicU64::into_inner).collect();
    let mut before = Vec::with_capacity(seen.len());
    let mut count = 0u64;
    for word in &seen {
        before.push(count as u32);
        count += u64::from(word.count_ones());
    }
    if count > MOST as u64 {
        return Err(too_many());
    }
    let first = seen.iter().position(|w| *w != 0).map_or(0, |w| 64 * w + seen[w].trailing_zeros() as usize);
    if largest - first + 1 == count as usize {
        let first = first as u32;
        if first > 0 {
            for_every(&mut pieces, |e| *e = (e.0 - first, e.1 - first));
        }
        return Ok((Ids::counted(u64::from(first), count as usize), pieces));
    }
    let place = |number: u32| {
        let (word, bit) = (number as usize / 64, number % 64);
        before[word] + (seen[word] & ((1 << bit) - 1)).count_ones()
    };
    for_every(&mut pieces, |e| *e = (place(e.0), place(e.1)));
    let mut numbers = Vec::with_capacity(count as usize);
    for (w, &word) in seen.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            numbers.push(64 * w as u64 + u64::from(rest.trailing_zeros()));
            rest &= rest - 1;
        }
    }
    Ok((Ids::from_numbers(numbers)?, pieces))
}

/// Changes every edge, in parallel.
pub(super) fn for_every(pieces: &mut [Vec<(u32, u32)>], change: impl Fn(&mut (u32, u32)) + Sync) {
    pieces
        .par_iter_mut()
        .flat_map(|piece| piece.par_chunks_mut(1 << 16))
        .for_each(|edges| edges.iter_mut().for_each(&change));
}

/// A piece whose edges are places in its own ascending numbers.
type Local = (Vec<u64>, Vec<(u32, u32)>);

/// Every piece sorts its own numbers; the lists are joined, and the places moved over.
fn by_sorting(pieces: Vec<Pairs>) -> Result<(Ids, Edges)> {
    let locals: Vec<Local> = pieces.into_par_iter().with_max_len(1).map(local).collect();
    let mut numbers: Vec<u64> = locals.iter().flat_map(|l| l.0.iter().copied()).collect();
    numbers.par_sort_unstable();
    numbers.dedup();
    numbers.shrink_to_fit();
    if numbers.len() > MOST {
        return Err(too_many());
    }
    let edges = locals
        .into_par_iter()
        .with_max_len(1)
        .map(|(own, mut edges)| {
            let mut at = 0;
            let places: Vec<u32> = own
                .iter()
                .map(|&number| {
                    at = behind(&numbers, at, number);
                    at as u32
                })
                .collect();
            edges.iter_mut().for_each(|e| *e = (places[e.0 as usize], places[e.1 as usize]));
            edges
        })
        .collect();
    Ok((Ids::from_numbers(numbers)?, edges))
}

/// The first place from `at` on whose number is not below `number`. Both lists ascend, so it is near as a rule: steps
/// double until they go beyond it.
fn behind(numbers: &[u64], at: usize, number: u64) -> usize {
    let mut step = 1;
    while numbers.get(at + step).is_some_and(|n| *n < number) {
        step *= 2;
    }
    at + numbers[at..numbers.len().min(at + step + 1)].partition_point(|n| *n < number)
}

fn local(piece: Pairs) -> Local {
    let mut ends: Vec<(u64, u32)> = match &piece {
        Pairs::Small(pairs) => pairs.iter().flat_map(|p| [u64::from(p.0), u64::from(p.1)]).zip(0..).collect(),
        Pairs::Large(pairs) => pairs.iter().flat_map(|p| [p.0, p.1]).zip(0..).collect(),
    };
    ends.sort_unstable();
    let (mut own, mut edges) = (Vec::new(), vec![(0, 0); piece.len()]);
    for (number, end) in ends {
        if own.last() != Some(&number) {
            own.push(number);
        }
        let edge = &mut edges[end as usize / 2];
        let place = own.len() as u32 - 1;
        if end % 2 == 0 { edge.0 = place } else { edge.1 = place }
    }
    (own, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(result: (Ids, Edges)) -> Vec<(u64, u64)> {
        let (ids, edges) = result;
        let number = |i: u32| ids.number(i as usize).unwrap();
        edges.into_iter().flatten().map(|(i, j)| (number(i), number(j))).collect()
    }

    /// Numbers with gaps, in pieces.
    fn pieces(step: u64, first: u64) -> Vec<Vec<(u64, u64)>> {
        let number = |i: u64| first + step * (i * 7919 % 1009);
        (0..5).map(|p| (0..p * 200).map(|e| (number(p + e), number(3 * e + 1))).collect()).collect()
    }

    #[test]
    fn both_ways_give_the_same_places() {
        for (step, first) in [(1, 0), (1, 77), (3, 5), (1000, 1)] {
            let all = pieces(step, first);
            let given: Vec<(u64, u64)> = all.concat();
            let small = |p: &Vec<(u64, u64)>| p.iter().map(|e| (e.0 as u32, e.1 as u32)).collect::<Vec<_>>();
            let largest = given.iter().map(|e| e.0.max(e.1)).max().unwrap() as usize;
            let table = by_table(all.iter().map(small).collect(), largest).unwrap();
            let sorted = by_sorting(all.iter().map(|p| Pairs::Small(small(p))).collect()).unwrap();
            let large = compact(all.iter().map(|p| Pairs::Large(p.clone())).collect()).unwrap();
            assert_eq!(table.1.concat(), sorted.1.concat());
            assert_eq!(table.1.concat(), large.1.concat());
            assert!([&table.0, &sorted.0, &large.0].iter().all(|ids| ids.len() == table.0.len()));
            assert_eq!(back(table), given);
        }
    }

    #[test]
    fn numbers_of_any_size() {
        let far = vec![(u64::MAX, 0), (1 << 40, u64::MAX), (7, 7)];
        let result = compact(vec![Pairs::Large(far.clone()), Pairs::Small(vec![(7, u32::MAX)])]).unwrap();
        assert_eq!(result.0.len(), 5);
        let mut all = far;
        all.push((7, u64::from(u32::MAX)));
        assert_eq!(back(result), all);
        assert_eq!(compact(vec![]).unwrap().0.len(), 0);
        assert_eq!(compact(vec![Pairs::Small(vec![])]).unwrap().0.len(), 0);
    }
}
