//! What a fit of communities holds at its peak, by sizes alone.

use super::data::Graph;
use super::fit::Params;
use super::spectrum::MOST;
use crate::components::Components;
use crate::memory::Estimate;

/// The sizes that decide.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    rows: u64,
    columns: u64,
    k: u64,
    symmetric: bool,
    /// Bytes of the graph.
    held: u64,
}

impl Params {
    /// What a fit of this graph will hold, before it begins.
    pub fn needs(&self, graph: &Graph) -> Estimate {
        let k = match self.k {
            Components::Exactly(k) => k,
            Components::Auto => MOST,
        };
        let symmetric = graph.transposed().is_none();
        let entry = if graph.weighted() { 8 } else { 4 };
        let sides = if symmetric { 1 } else { 2 };
        let (rows, columns) = (graph.nodes() as u64, graph.others() as u64);
        // Neighbours, where each node's begin, and its id.
        let held = sides * (entry * graph.adjacency().entries() as u64 + 16 * rows.max(columns));
        let k = k.min(graph.nodes().min(graph.others()).max(1)) as u64;
        estimate(Sizes { rows, columns, k, symmetric, held })
    }
}

fn estimate(sizes: Sizes) -> Estimate {
    let Sizes { rows, columns, k, symmetric, .. } = sizes;
    // The engine's Lanczos, in single precision: a basis that is restarted a block before it has 2k + 12 blocks of columns, beside
    // which then stand the k vectors and a block that go on, and the next block.
    let block = (k + 6).next_multiple_of(8).clamp(8, 56);
    let basis = (2 * k + 11 * block).min(columns.max(k));
    let (leaves, hubs) = (columns, if symmetric { 0 } else { rows });
    let directions = 4 * (leaves * (basis + k + 2 * block) + hubs * block);
    // Directions, their sums over stars, the start, then factors and expected edges before and after a step with the background.
    let nodes = if symmetric { rows } else { rows + columns };
    let polish = 4 * nodes * (3 * k + 3 * (k + 1));
    // Three starts of a packed tensor, and its slices.
    let tensor = 8 * k * k * k;
    Estimate::beside("graph", sizes.held).and_largest(&[
        ("directions", directions),
        ("memberships", polish),
        ("tensor", tensor),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_the_most_until_communities_are_many() {
        let sizes = |k| Sizes { rows: 1_000_000, columns: 1_000_000, k, symmetric: true, held: 140 << 20 };
        let most = |k| estimate(sizes(k)).parts().last().map(|part| part.0);
        assert_eq!(
            (most(10), most(100), most(400)),
            (Some("directions"), Some("directions"), Some("memberships"))
        );
        assert!(estimate(sizes(10)).total() < estimate(sizes(100)).total());
        // Two sides are two sets of memberships.
        let sides = |symmetric| estimate(Sizes { symmetric, ..sizes(400) }).work();
        assert_eq!(sides(false), 2 * sides(true));
    }

    #[test]
    fn small_graphs_have_no_wider_basis_than_nodes() {
        let small = Sizes { rows: 100, columns: 100, k: 5, symmetric: true, held: 4000 };
        assert!(estimate(small).work() < 100_000);
    }
}
