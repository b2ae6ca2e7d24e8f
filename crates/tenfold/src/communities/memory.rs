//! What a fit of communities holds at its peak, by sizes alone.

use super::chance;
use super::data::Graph;
use super::fit::{Params, spare_starts_of};
use super::spectrum::most;
use crate::components::Components;
use crate::memory::Estimate;
use tenfold_engine::linalg::Lanczos;
use tenfold_engine::linalg::parallel::{BLOCK, lanes_held};

/// The sizes that decide.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    rows: u64,
    columns: u64,
    entries: u64,
    /// Communities that are asked for, or the most that are looked for.
    k: u64,
    /// Whether their number is yet to be chosen.
    auto: bool,
    symmetric: bool,
    weighted: bool,
}

impl Params {
    /// What a fit of this graph will hold, before it begins.
    pub fn needs(&self, graph: &Graph) -> Estimate {
        let (rows, columns) = (graph.nodes(), graph.others());
        let (k, auto) = match self.k {
            Components::Exactly(k) => (k, false),
            Components::Auto => (most(rows, columns), true),
        };
        estimate(Sizes {
            rows: rows as u64,
            columns: columns as u64,
            entries: graph.adjacency().entries() as u64,
            k: k.min(rows.min(columns)).max(1) as u64,
            auto,
            symmetric: graph.transposed().is_none(),
            weighted: graph.weighted(),
        })
    }
}

fn estimate(sizes: Sizes) -> Estimate {
    let Sizes { rows, columns, entries, weighted, .. } = sizes;
    // Neighbours, where each node's begin, and its id.
    let held = sizes.sides() * (if weighted { 8 } else { 4 } * entries + 16 * rows.max(columns));
    // Weights brought to a level of their own, from the directions on.
    let level = if weighted { sizes.edges() } else { 0 };
    let choice = if sizes.auto { sizes.edges() + sizes.search() } else { 0 };
    // Directions are sought for the most that are looked at; half as many are seldom found.
    let sizes = if sizes.auto { Sizes { k: sizes.k.div_ceil(2), ..sizes } } else { sizes };
    Estimate::beside("graph", held).and_largest(&[
        ("choice of k", choice),
        ("directions", level + sizes.search()),
        ("edges kept aside", level + sizes.aside()),
        ("tensor", level + sizes.tensor()),
        ("other starts", level + sizes.starts()),
        ("memberships", level + sizes.memberships()),
    ])
}

impl Sizes {
    fn sides(&self) -> u64 {
        if self.symmetric { 1 } else { 2 }
    }

    /// Nodes that have memberships.
    fn nodes(&self) -> u64 {
        if self.symmetric { self.rows } else { self.rows + self.columns }
    }

    /// All edges once more, with weights, from every side.
    fn edges(&self) -> u64 {
        8 * self.entries * self.sides()
    }

    /// The engine's Lanczos, and the block on its way to the other side.
    fn search(&self) -> u64 {
        let block = if self.symmetric { 0 } else { (self.k + 6).next_multiple_of(8).min(56) };
        Lanczos::default().bytes(self.columns as usize, self.k as usize) + 4 * self.rows * block
    }

    /// Edges of one part and the search for a few directions of the others, beside those of the fit: four blocks of 16 columns are on
    /// their way at a time, and a dozen numbers of every node.
    fn aside(&self) -> u64 {
        let lanczos = Lanczos { widest: Some(chance::WIDEST), ..Lanczos::default() };
        let search = lanczos.bytes(self.columns as usize, chance::DIRECTIONS.min(self.k as usize));
        let edges = if self.symmetric { self.entries / 2 } else { self.entries };
        let aside = self.edges() / chance::folds(edges);
        4 * self.columns * self.k + aside + search + (4 * 4 * 16 + 8 * 12) * self.nodes()
    }

    /// Directions and what of them the sums take, white and not; the packed tensor, and those that it is added up from.
    fn tensor(&self) -> u64 {
        let k = self.k;
        let packed = 8 * (k * (k + 1) * (k + 2) / 6);
        let lanes = self.rows.max(self.columns).div_ceil(BLOCK as u64).min(lanes_held() as u64);
        4 * k * (3 * self.columns + 2 * self.rows) + packed * (lanes + 2)
    }

    /// Directions, their sums over stars, the start, then factors and expected edges before and after a step with the background.
    fn memberships(&self) -> u64 {
        4 * self.nodes() * (3 * self.k + 3 * self.with_background())
    }

    /// In small graphs other starts, and the climb from the best of them beside the one that is tried.
    fn starts(&self) -> u64 {
        let starts = spare_starts_of(self.entries as f64 * self.k as f64) as u64;
        if starts == 0 {
            return 0;
        }
        let held = 4 * self.nodes() * 3 * self.k;
        let search = held + self.edges() + self.search();
        search.max(held + 4 * self.nodes() * (starts * self.k + 6 * self.with_background()))
    }

    /// Columns of factors: one more for edges of no community, padded.
    fn with_background(&self) -> u64 {
        (self.k + 1).next_multiple_of(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(nodes: u64, degree: u64, k: u64) -> Sizes {
        let entries = nodes * degree;
        Sizes { rows: nodes, columns: nodes, entries, k, auto: false, symmetric: true, weighted: false }
    }

    fn most_of(sizes: Sizes) -> Option<&'static str> {
        estimate(sizes).parts().last().map(|part| part.0)
    }

    #[test]
    fn directions_are_the_most_until_communities_are_many() {
        let sizes = |k| sizes(1_000_000, 30, k);
        assert_eq!(
            (most_of(sizes(10)), most_of(sizes(100)), most_of(sizes(400))),
            (Some("directions"), Some("directions"), Some("memberships"))
        );
        assert!(estimate(sizes(10)).total() < estimate(sizes(100)).total());
        // Two sides are two sets of memberships.
        let sides = |symmetric| Sizes { symmetric, ..sizes(400) }.memberships();
        assert_eq!(sides(false), 2 * sides(true));
    }

    /// What was measured of a million nodes, at most a quarter more: 1042 MB for ten communities, 4523 MB for a hundred.
    #[test]
    fn large_graphs_are_told_as_they_were_measured() {
        let total = |k| estimate(sizes(1_050_000, 30, k)).total() as f64 / 1e6;
        assert!((950.0..1310.0).contains(&total(10)), "{}", total(10));
        assert!((4300.0..4900.0).contains(&total(100)), "{}", total(100));
    }

    #[test]
    fn where_k_is_to_be_chosen_edges_are_held_again() {
        let small = sizes(4000, 700, 100);
        let chosen = Sizes { auto: true, ..small };
        assert_eq!(most_of(chosen), Some("choice of k"));
        assert_eq!(estimate(chosen).work() - small.search(), chosen.edges());
    }

    #[test]
    fn small_graphs_have_no_wider_basis_than_nodes() {
        assert!(estimate(sizes(100, 4, 5)).work() < 1_000_000);
    }
}
