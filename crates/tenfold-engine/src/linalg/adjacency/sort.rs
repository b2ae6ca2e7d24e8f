//! Edges in any order become sorted rows: a counting sort in two passes, both in parallel.
//!
//! Pieces of the edges are first dealt to buckets of neighbouring rows. Then every bucket is put in order by itself, where
//! its places to write fit in the cache, and its equal places are merged. Pieces and buckets lie at fixed positions, so
//! threads decide nothing about the result.

use super::Adjacency;
use rayon::prelude::*;

/// Entries of a piece: what it deals out stays near the second-level cache.
const PIECE: usize = 1 << 17;

/// Buckets are few enough for their ends to be written side by side.
const BUCKETS_LOG2: u32 = 9;

/// Entries that can be visited piece by piece, as often as needed.
pub(super) trait Entries: Sync {
    /// Number of pieces.
    fn pieces(&self) -> usize;
    /// Hands over row, column and weight of every entry of a piece; the weight is 1 where there is none.
    fn visit(&self, piece: usize, each: impl FnMut(u32, u32, f32));
}

/// Edges as they were given.
pub(super) struct Edges<'a> {
    pieces: Vec<Piece<'a>>,
    mirrored: bool,
}

/// Some of the edges, with their weights if there are weights.
type Piece<'a> = (&'a [(u32, u32)], Option<&'a [f32]>);

impl<'a> Edges<'a> {
    pub(super) fn new(edges: &'a [Vec<(u32, u32)>], weights: Option<&'a [Vec<f32>]>, mirrored: bool) -> Self {
        let mut pieces = Vec::new();
        for (i, chunk) in edges.iter().enumerate() {
            for (p, piece) in chunk.chunks(PIECE).enumerate() {
                pieces.push((piece, weights.map(|w| &w[i][p * PIECE..][..piece.len()])));
            }
        }
        Self { pieces, mirrored }
    }
}

impl Entries for Edges<'_> {
    fn pieces(&self) -> usize {
        self.pieces.len()
    }

    #[inline(always)]
    fn visit(&self, piece: usize, mut each: impl FnMut(u32, u32, f32)) {
        let (edges, weights) = self.pieces[piece];
        for (e, &(i, j)) in edges.iter().enumerate() {
            let weight = weights.map_or(1.0, |w| w[e]);
            each(i, j, weight);
            if self.mirrored {
                each(j, i, weight);
            }
        }
    }
}

/// A matrix with rows and columns exchanged, and if `both` as it is beside that.
pub(super) struct Flipped<'a> {
    pub(super) matrix: &'a Adjacency,
    pub(super) both: bool,
}

impl Entries for Flipped<'_> {
    fn pieces(&self) -> usize {
        self.matrix.entries().div_ceil(PIECE)
    }

    #[inline(always)]
    fn visit(&self, piece: usize, mut each: impl FnMut(u32, u32, f32)) {
        let Adjacency { starts, indices, weights, .. } = self.matrix;
        let (begin, end) = (piece * PIECE, ((piece + 1) * PIECE).min(indices.len()));
        // The last row that begins at or before the first entry, empty ones passed over.
        let mut row = starts.partition_point(|&s| s <= begin) - 1;
        let mut at = begin;
        while at < end {
            let stop = starts[row + 1].min(end);
            for e in at..stop {
                let weight = weights.as_ref().map_or(1.0, |w| w[e]);
                each(indices[e], row as u32, weight);
                if self.both {
                    each(row as u32, indices[e], weight);
                }
            }
            (at, row) = (stop, row + 1);
        }
    }
}

/// Entries of a piece, bucket by bucket.
pub(super) struct Dealt {
    ends: Vec<u32>,
    places: Vec<(u32, u32)>,
    weights: Vec<f32>,
}

impl Dealt {
    fn bucket(&self, b: usize) -> (&[(u32, u32)], &[f32]) {
        let range = if b == 0 { 0 } else { self.ends[b - 1] as usize }..self.ends[b] as usize;
        let weights = if self.weights.is_empty() { &[] } else { &self.weights[range.clone()] };
        (&self.places[range], weights)
    }
}

/// Rows of a bucket as a power of two, and the number of buckets.
fn geometry(rows: usize) -> (u32, usize) {
    let shift = rows.next_power_of_two().ilog2().saturating_sub(BUCKETS_LOG2).max(6);
    (shift, rows.div_ceil(1 << shift))
}

/// The first pass.
pub(super) fn deal(rows: usize, weighted: bool, entries: &impl Entries) -> Vec<Dealt> {
    let (shift, buckets) = geometry(rows);
    let deal_piece = |piece: usize| {
        let mut counts = vec![0u32; buckets];
        entries.visit(piece, |row, _, _| counts[(row >> shift) as usize] += 1);
        let mut total = 0;
        for count in &mut counts {
            (*count, total) = (total, total + *count);
        }
        // From here on these are the places to write next, which end where the buckets end.
        let mut ends = counts;
        let mut places = vec![(0, 0); total as usize];
        let mut weights = vec![0.0; if weighted { total as usize } else { 0 }];
        entries.visit(piece, |row, column, weight| {
            let at = &mut ends[(row >> shift) as usize];
            places[*at as usize] = (row, column);
            if weighted {
                weights[*at as usize] = weight;
            }
            *at += 1;
        });
        Dealt { ends, places, weights }
    };
    (0..entries.pieces()).into_par_iter().with_max_len(1).map(deal_piece).collect()
}

/// Rows of a bucket in order.
struct Bucket {
    /// Where each row ends.
    ends: Vec<usize>,
    indices: Vec<u32>,
    weights: Vec<f32>,
}

/// The second pass.
pub(super) fn gather((rows, cols): (usize, usize), weighted: bool, dealt: Vec<Dealt>) -> Adjacency {
    let (shift, buckets) = geometry(rows);
    let parts: Vec<Bucket> = (0..buckets)
        .into_par_iter()
        .with_max_len(1)
        .map(|b| {
            let first = b << shift;
            put_in_order(&dealt, b, first..(first + (1 << shift)).min(rows), weighted)
        })
        .collect();
    drop(dealt);
    let entries = parts.iter().map(|p| p.indices.len()).sum();
    let mut starts = vec![0; rows + 1];
    let mut indices = vec![0u32; entries];
    let mut weights = vec![0f32; if weighted { entries } else { 0 }];
    let (mut free_indices, mut free_weights, mut before) = (&mut indices[..], &mut weights[..], 0);
    let mut places = Vec::with_capacity(parts.len());
    for (part, ends) in parts.into_iter().zip(starts[1..].chunks_mut(1 << shift)) {
        let (own, rest) = std::mem::take(&mut free_indices).split_at_mut(part.indices.len());
        let (own_weights, others) = std::mem::take(&mut free_weights).split_at_mut(part.weights.len());
        (free_indices, free_weights) = (rest, others);
        let length = part.indices.len();
        places.push((part, before, ends, own, own_weights));
        before += length;
    }
    places.into_par_iter().for_each(|(part, before, ends, indices, weights)| {
        indices.copy_from_slice(&part.indices);
        weights.copy_from_slice(&part.weights);
        ends.iter_mut().zip(&part.ends).for_each(|(to, end)| *to = before + end);
    });
    Adjacency { cols, starts, indices, weights: weighted.then_some(weights) }
}

fn put_in_order(dealt: &[Dealt], b: usize, rows: std::ops::Range<usize>, weighted: bool) -> Bucket {
    let first = rows.start as u32;
    let mut next = vec![0usize; rows.len()];
    for piece in dealt {
        piece.bucket(b).0.iter().for_each(|(row, _)| next[(row - first) as usize] += 1);
    }
    let mut total = 0;
    for count in &mut next {
        (*count, total) = (total, total + *count);
    }
    let mut indices = vec![0u32; total];
    let mut weights = vec![0f32; if weighted { total } else { 0 }];
    for piece in dealt {
        let (places, given) = piece.bucket(b);
        for (e, &(row, column)) in places.iter().enumerate() {
            let at = &mut next[(row - first) as usize];
            indices[*at] = column;
            if weighted {
                weights[*at] = given[e];
            }
            *at += 1;
        }
    }
    let mut bucket = Bucket { ends: next, indices, weights };
    if weighted {
        bucket.merge_weighted()
    } else {
        bucket.merge()
    }
    bucket
}

impl Bucket {
    /// Sorts every row and keeps a column once.
    fn merge(&mut self) {
        let (mut begin, mut kept) = (0, 0);
        for end in &mut self.ends {
            let row = begin..*end;
            begin = *end;
            if !self.indices[row.clone()].is_sorted() {
                self.indices[row.clone()].sort_unstable();
            }
            let before = kept;
            for e in row {
                let column = self.indices[e];
                if kept == before || self.indices[kept - 1] != column {
                    self.indices[kept] = column;
                    kept += 1;
                }
            }
            *end = kept;
        }
        self.indices.truncate(kept);
    }

    /// Sorts every row and adds up the weights of equal columns, in the order in which they were given.
    fn merge_weighted(&mut self) {
        let (mut begin, mut kept) = (0, 0);
        let mut pairs: Vec<(u32, f32)> = Vec::new();
        for end in &mut self.ends {
            pairs.clear();
            pairs.extend((begin..*end).map(|e| (self.indices[e], self.weights[e])));
            begin = *end;
            if !pairs.is_sorted_by_key(|p| p.0) {
                pairs.sort_by_key(|p| p.0);
            }
            for same in pairs.chunk_by(|a, b| a.0 == b.0) {
                self.indices[kept] = same[0].0;
                let sum: f64 = same.iter().map(|p| f64::from(p.1)).sum();
                self.weights[kept] = sum.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
                kept += 1;
            }
            *end = kept;
        }
        self.indices.truncate(kept);
        self.weights.truncate(kept);
    }
}
