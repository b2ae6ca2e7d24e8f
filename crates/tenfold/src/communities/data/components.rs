//! Connected components.

use tenfold_engine::linalg::Adjacency;

/// Neighbours of every node that are linked before the largest component is looked for.
const FIRST: usize = 2;

/// The number of components and the size of the largest, directions left aside. In a bipartite graph the columns are nodes
/// beside the rows.
///
/// A few edges of every node are linked first. They join nearly all of the largest component, whose other edges then need
/// no look: an edge that leaves it is seen from its other end (the idea of Sutton, Ben-Nun and Barak's Afforest, 2018).
pub(super) fn components(
    adjacency: &Adjacency,
    transposed: Option<&Adjacency>,
    bipartite: bool,
) -> (usize, usize) {
    let rows = adjacency.rows();
    let nodes = rows + if bipartite { adjacency.cols() } else { 0 };
    let neighbours = |i: usize, visit: &mut dyn FnMut(usize), most: usize| {
        if i < rows {
            let shift = if bipartite { rows } else { 0 };
            adjacency.row(i).0.iter().take(most).for_each(|&j| visit(j as usize + shift));
        }
        if let Some(transposed) = transposed
            && (!bipartite || i >= rows)
        {
            let row = if bipartite { i - rows } else { i };
            transposed.row(row).0.iter().take(most).for_each(|&j| visit(j as usize));
        }
    };
    let mut sets = Sets((0..nodes as u32).collect());
    for i in 0..nodes {
        neighbours(i, &mut |j| sets.join(i, j), FIRST);
    }
    if nodes == 0 {
        return (0, 0);
    }
    let largest = sets.most_frequent();
    for i in 0..nodes {
        // Its root may have changed by what was joined with it.
        if sets.root(i) != sets.root(largest) {
            neighbours(i, &mut |j| sets.join(i, j), usize::MAX);
        }
    }
    let mut sizes = vec![0usize; nodes];
    (0..nodes).for_each(|i| sizes[sets.root(i)] += 1);
    (sizes.iter().filter(|size| **size > 0).count(), sizes.into_iter().max().unwrap_or(0))
}

/// Disjoint sets, each a tree of nodes that point upward.
struct Sets(Vec<u32>);

impl Sets {
    fn root(&mut self, mut i: usize) -> usize {
        while self.0[i] as usize != i {
            // Halving the path keeps trees flat.
            self.0[i] = self.0[self.0[i] as usize];
            i = self.0[i] as usize;
        }
        i
    }

    /// The smaller root stays, so that the trees depend on nothing but the graph.
    fn join(&mut self, i: usize, j: usize) {
        let (a, b) = (self.root(i), self.root(j));
        self.0[a.max(b)] = a.min(b) as u32;
    }

    /// The root that most of some nodes, evenly spread, have.
    fn most_frequent(&mut self) -> usize {
        let step = self.0.len() / 1024 + 1;
        let mut roots: Vec<usize> = (0..self.0.len()).step_by(step).map(|i| self.root(i)).collect();
        roots.sort_unstable();
        roots.chunk_by(|a, b| a == b).max_by_key(|same| same.len()).map_or(0, |same| same[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_of_every_kind() {
        let undirected = |n, edges: &[(u32, u32)]| {
            let a = Adjacency::undirected(n, vec![edges.to_vec()], None).unwrap();
            components(&a, None, false)
        };
        assert_eq!(undirected(5, &[(0, 1), (3, 4)]), (3, 2));
        assert_eq!(undirected(6, &[(5, 4), (4, 3), (3, 2), (2, 1), (1, 0)]), (1, 6));
        // A star whose hub has all edges, beside a ring: most edges of both come late.
        let star: Vec<(u32, u32)> = (1..3000).map(|i| (i, 0)).collect();
        let ring: Vec<(u32, u32)> = (0..2000).map(|i| (3000 + i, 3000 + (i + 1) % 2000)).collect();
        assert_eq!(undirected(5001, &[star, ring].concat()), (3, 3000));
        let directed = Adjacency::from_edges(4, 4, vec![vec![(1, 0), (2, 0)]], None).unwrap();
        assert_eq!(components(&directed, Some(&directed.transpose()), false), (2, 3));
        let sides = Adjacency::from_edges(3, 2, vec![vec![(0, 0), (1, 0)]], None).unwrap();
        assert_eq!(components(&sides, Some(&sides.transpose()), true), (3, 3));
        let square = Adjacency::from_edges(2, 2, vec![vec![(0, 0), (1, 1)]], None).unwrap();
        assert_eq!(components(&square, Some(&square.transpose()), true), (2, 2));
    }
}
