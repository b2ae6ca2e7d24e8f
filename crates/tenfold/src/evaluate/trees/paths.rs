//! The path-difference distance.

use super::Forest;

/// How long a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathLength {
    /// The number of its edges.
    Edges,
    /// The sum of their lengths.
    Lengths,
}

/// The path-difference distance, √ Σ_{i<j} (d_A(i, j) − d_B(i, j))², between the lengths of the paths between all pairs of
/// observed nodes.
///
/// An observed node that is internal has an edge of its own, of length 0, so that it is as many edges from the others as a
/// leaf at its place. A pair in different components of a forest is n edges apart, which no path of a tree is; by
/// lengths it is as far apart as the ends of the longest path in either forest.
///
/// # Complexity
/// O(n²), and as much memory.
///
/// # Panics
/// When edges hold a cycle.
///
/// # Example
/// ```
/// use tenfold::evaluate::{PathLength, path_difference};
/// let tree = [(0, 9, 1.0), (1, 9, 1.0), (9, 8, 1.0), (2, 8, 1.0), (3, 8, 1.0)]; // 01|23
/// let star = [(0, 7, 1.0), (1, 7, 1.0), (2, 7, 1.0), (3, 7, 1.0)];
/// // Four pairs are three edges apart in the one tree and two in the other.
/// assert_eq!(path_difference(4, &tree, &star, PathLength::Edges), 2.0);
/// ```
///
/// # References
/// Steel and Penny, "Distributions of tree comparison metrics", Systematic Biology 42 (1993) 126–141.
pub fn path_difference(
    n: usize,
    a: &[(usize, usize, f64)],
    b: &[(usize, usize, f64)],
    length: PathLength,
) -> f64 {
    let (mut a, mut b) = (all_paths(n, a, length), all_paths(n, b, length));
    let longest = a.iter().chain(&b).copied().filter(|d| d.is_finite()).fold(0.0, f64::max);
    let apart = if length == PathLength::Edges { n as f64 } else { longest };
    a.iter_mut().chain(&mut b).filter(|d| d.is_infinite()).for_each(|d| *d = apart);
    a.iter().zip(&b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

/// The lengths of the paths between i < j, row by row; infinite where there is none.
pub(super) fn all_paths(n: usize, edges: &[(usize, usize, f64)], length: PathLength) -> Vec<f64> {
    let forest = Forest::suppressed(n, edges);
    let of = |x: f64| if length == PathLength::Edges { 1.0 } else { x };
    // The edge of an internal node's own leaf.
    let own =
        |node: usize| f64::from(u8::from(length == PathLength::Edges && forest.neighbours[node].len() > 1));
    let mut paths = Vec::with_capacity(n * n.saturating_sub(1) / 2);
    let mut from = vec![f64::INFINITY; forest.neighbours.len()];
    for root in 0..n {
        from.fill(f64::INFINITY);
        from[root] = own(root);
        let mut stack = vec![(root, usize::MAX)];
        while let Some((node, parent)) = stack.pop() {
            for &(other, x) in forest.neighbours[node].iter().filter(|e| e.0 != parent) {
                from[other] = from[node] + of(x);
                stack.push((other, node));
            }
        }
        paths.extend((root + 1..n).map(|node| from[node] + own(node)));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_node_is_a_leaf_at_its_place() {
        let inner = [(0, 1, 2.0), (1, 2, 3.0), (1, 3, 4.0)];
        let leaf = [(0, 9, 2.0), (1, 9, 0.0), (9, 2, 3.0), (9, 3, 4.0)];
        for length in [PathLength::Edges, PathLength::Lengths] {
            assert_eq!(path_difference(4, &inner, &leaf, length), 0.0);
        }
        assert_eq!(all_paths(4, &inner, PathLength::Lengths), [2.0, 5.0, 6.0, 3.0, 4.0, 7.0]);
    }

    #[test]
    fn a_root_between_two_edges_is_not_seen() {
        let rooted = [(0, 9, 1.0), (1, 9, 1.0), (9, 5, 0.5), (5, 8, 0.5), (2, 8, 1.0), (3, 8, 1.0)];
        let tree = [(0, 9, 1.0), (1, 9, 1.0), (9, 8, 1.0), (2, 8, 1.0), (3, 8, 1.0)];
        assert_eq!(path_difference(4, &rooted, &tree, PathLength::Edges), 0.0);
        assert_eq!(path_difference(4, &rooted, &tree, PathLength::Lengths), 0.0);
    }

    #[test]
    fn parts_of_a_forest_are_far_apart() {
        let (pairs, path) = ([(0, 1, 1.0), (2, 3, 1.0)], [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]);
        // Paths of 3, 4, 3, 3, 4, 3 − own edges at the ends: 0-1 2, 0-2 3, 0-3 3, 1-2 3, 1-3 3, 2-3 2.
        assert_eq!(all_paths(4, &path, PathLength::Edges), [2.0, 3.0, 3.0, 3.0, 3.0, 2.0]);
        let expected: f64 = (2.0 * (2.0f64 - 1.0).powi(2) + 4.0 * (4.0f64 - 3.0).powi(2)).sqrt();
        assert_eq!(path_difference(4, &pairs, &path, PathLength::Edges), expected);
        assert_eq!(path_difference(4, &pairs, &pairs, PathLength::Lengths), 0.0);
        assert_eq!(path_difference(0, &[], &[], PathLength::Edges), 0.0);
    }
}
