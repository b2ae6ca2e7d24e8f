//! The adjacency matrix in bins, nodes in the order of their communities.

use super::Order;
use rayon::prelude::*;
use tenfold_engine::linalg::Adjacency;

/// Most bins on a side: about the pixels that a page has for the picture.
pub(super) const BINS: usize = 400;

/// Share of the joined cells that get the full colour: a few cells between hubs would leave all others pale.
const FULL: f64 = 0.01;

/// How many of the pairs are joined, by bins of rows and columns and by communities.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::communities) struct Cells {
    /// Bins of rows and of columns.
    pub shape: (usize, usize),
    /// 255·√(share of joined pairs / full), row by row; what is joined at all has at least 1.
    pub levels: Vec<u8>,
    /// Entries of the adjacency matrix between the main communities of its rows and columns, k × k.
    pub blocks: Vec<f64>,
}

impl Cells {
    /// Counts; edges count once, whatever their weight.
    pub fn count(a: &Adjacency, rows: &Order, columns: &Order) -> Self {
        let (high, wide) = (rows.nodes.len(), columns.nodes.len());
        let shape = (high.min(BINS), wide.min(BINS));
        let k = rows.borders.len() - 1;
        let (mut bins, mut mains) = (vec![0u16; a.cols()], vec![0u32; a.cols()]);
        for c in 0..k {
            columns.members(c).iter().for_each(|&v| mains[v as usize] = c as u32);
        }
        let bin = |place: usize| place * shape.1 / wide.max(1);
        columns.nodes.iter().enumerate().for_each(|(place, &v)| bins[v as usize] = bin(place) as u16);
        // Whole numbers: the order of sums does not matter.
        let shares: Vec<f64> = (0..shape.0)
            .into_par_iter()
            .flat_map_iter(|i| shares_of_row(a, range(i, shape.0, high), rows, (&bins, shape.1, wide)))
            .collect();
        let blocks: Vec<f64> = (0..k)
            .into_par_iter()
            .flat_map_iter(|c| {
                let mut sums = vec![0u64; k];
                for &u in rows.members(c) {
                    a.row(u as usize).0.iter().for_each(|&v| sums[mains[v as usize] as usize] += 1);
                }
                sums.into_iter().map(|n| n as f64)
            })
            .collect();
        Self { shape, levels: levels(&shares), blocks }
    }
}

/// Places that bin i of `bins` holds.
fn range(i: usize, bins: usize, places: usize) -> std::ops::Range<usize> {
    // The first place p with p · bins / places = i.
    let first = |i: usize| (i * places).div_ceil(bins);
    first(i)..first(i + 1)
}

/// The share of joined pairs in every cell of a row of cells.
fn shares_of_row(
    a: &Adjacency,
    places: std::ops::Range<usize>,
    rows: &Order,
    (bins, count, wide): (&[u16], usize, usize),
) -> Vec<f64> {
    let mut sums = vec![0u64; count];
    let height = places.len();
    for &u in &rows.nodes[places] {
        a.row(u as usize).0.iter().for_each(|&v| sums[bins[v as usize] as usize] += 1);
    }
    let pairs = |j: usize| (height * range(j, count, wide).len()).max(1) as f64;
    sums.iter().enumerate().map(|(j, &n)| n as f64 / pairs(j)).collect()
}

fn levels(shares: &[f64]) -> Vec<u8> {
    let mut joined: Vec<f64> = shares.iter().copied().filter(|s| *s > 0.0).collect();
    if joined.is_empty() {
        return vec![0; shares.len()];
    }
    let at = ((1.0 - FULL) * (joined.len() - 1) as f64) as usize;
    let full = *joined.select_nth_unstable_by(at, f64::total_cmp).1;
    // Rounding up keeps at least 1 for what is joined.
    shares.iter().map(|s| (255.0 * (s / full).min(1.0).sqrt()).ceil() as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(nodes: Vec<u32>, borders: Vec<usize>) -> Order {
        Order { nodes, borders }
    }

    #[test]
    fn small_graphs_have_a_cell_for_every_pair() {
        let a = Adjacency::undirected(4, vec![vec![(0, 2), (1, 3), (0, 1)]], None).unwrap();
        let by = order(vec![2, 0, 1, 3], vec![0, 2, 4]);
        let cells = Cells::count(&a, &by, &by);
        assert_eq!(cells.shape, (4, 4));
        #[rustfmt::skip]
        assert_eq!(cells.levels, [
            0, 255, 0, 0,
            255, 0, 255, 0,
            0, 255, 0, 255,
            0, 0, 255, 0,
        ]);
        assert_eq!(cells.blocks, [2.0, 1.0, 1.0, 2.0]);
    }

    #[test]
    fn every_entry_of_a_large_graph_is_counted_once() {
        let n = 1234u32;
        let edges: Vec<(u32, u32)> =
            (0..n).flat_map(|u| [(u, (u * 7 + 1) % n), (u, (u * u + 3) % n)]).collect();
        let a = Adjacency::from_edges(n as usize, n as usize, vec![edges], None).unwrap();
        let mains: Vec<u32> = (0..n).map(|u| u % 3).collect();
        let by = Order::new(&mains, |u| a.row(u).0.len() as f64, 3);
        let cells = Cells::count(&a, &by, &by);
        assert_eq!(cells.blocks.iter().sum::<f64>(), a.entries() as f64);
        let brute = (0..n as usize).filter(|u| u % 3 == 1).flat_map(|u| a.row(u).0).filter(|v| **v % 3 == 2);
        assert_eq!(cells.blocks[5], brute.count() as f64);
        assert_eq!(cells.levels.len(), BINS * BINS);
        let sum: usize = (0..BINS).map(|i| range(i, BINS, 1234).len()).sum();
        assert_eq!((sum, range(0, BINS, 1234).start, range(BINS - 1, BINS, 1234).end), (1234, 0, 1234));
        for place in 0..1234 {
            assert!(range(place * BINS / 1234, BINS, 1234).contains(&place));
        }
    }

    #[test]
    fn levels_show_what_is_rare() {
        assert_eq!(levels(&[0.0, 1e-9, 0.25, 1.0]), [0, 1, 255, 255]);
        assert_eq!(levels(&[0.0; 3]), [0; 3]);
    }
}
