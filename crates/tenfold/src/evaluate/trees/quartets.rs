//! The quartet distance.

use super::Forest;
use super::paths::{PathLength, all_paths};
use rand::RngExt;
use rayon::prelude::*;
use tenfold_engine::linalg::random;

/// Observed nodes up to which every quartet is looked at: 65 million of them, about a second.
const EXACT: usize = 200;

/// Quartets that are drawn above it: the standard error of a share is at most 0.0005.
const DRAWN: usize = 1 << 20;

/// Quartets that share a random stream.
const BLOCK: usize = 1 << 14;

/// The random streams of drawn quartets begin here.
const STREAM: u64 = 710 << 32;

/// How many quartets two trees resolve differently; see [`quartet_distance`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuartetDistance {
    /// The share of quartets that differ, in [0, 1].
    pub distance: f64,
    /// How many quartets were looked at.
    pub quartets: u64,
    /// Whether these were all; otherwise they were drawn by the seed, and the distance has a standard error of
    /// √(distance (1 − distance) / quartets).
    pub exact: bool,
}

/// The quartet distance: the share of sets of four observed nodes on which the trees restrict to different shapes, which are
/// ab|cd, ac|bd, ad|bc or a star.
///
/// All quartets are looked at up to 200 nodes; above, 2²⁰ are drawn by the seed. A quartet that one tree resolves and the other
/// does not counts as different. In a forest a and b together, c and d elsewhere, make ab|cd; three together and one elsewhere
/// make a star.
///
/// # Complexity
/// O(n⁴) up to 200 nodes, O(n²) above.
///
/// # Panics
/// When edges hold a cycle.
///
/// # Example
/// ```
/// use tenfold::evaluate::quartet_distance;
/// let tree = [(0, 9, 1.0), (1, 9, 1.0), (9, 8, 1.0), (2, 8, 1.0), (3, 8, 1.0)]; // 01|23
/// let other = [(0, 9, 1.0), (2, 9, 1.0), (9, 8, 1.0), (1, 8, 1.0), (3, 8, 1.0)]; // 02|13
/// let found = quartet_distance(4, &tree, &other, 7);
/// assert_eq!((found.distance, found.quartets, found.exact), (1.0, 1, true));
/// ```
///
/// # References
/// Estabrook, McMorris and Meacham, "Comparison of undirected phylogenetic trees based on subtrees of four evolutionary units",
/// Systematic Zoology 34 (1985) 193–200.
pub fn quartet_distance(
    n: usize,
    a: &[(usize, usize, f64)],
    b: &[(usize, usize, f64)],
    seed: u64,
) -> QuartetDistance {
    if n < 4 {
        return QuartetDistance { distance: 0.0, quartets: 0, exact: true };
    }
    let (a, b) = (Shapes::new(n, a), Shapes::new(n, b));
    let differ = |four: [usize; 4]| u64::from(a.of(four) != b.of(four));
    let (different, quartets) = if n <= EXACT {
        let from = |i: usize| {
            let mut sum = 0;
            for j in i + 1..n {
                for k in j + 1..n {
                    sum += (k + 1..n).map(|l| differ([i, j, k, l])).sum::<u64>();
                }
            }
            sum
        };
        let n = n as u64;
        ((0..n as usize).into_par_iter().map(from).sum::<u64>(), n * (n - 1) * (n - 2) * (n - 3) / 24)
    } else {
        let block = |block: usize| {
            let mut rng = random::rng(seed, STREAM + block as u64);
            (0..BLOCK).map(|_| differ(four(n, &mut rng))).sum::<u64>()
        };
        ((0..DRAWN / BLOCK).into_par_iter().map(block).sum::<u64>(), DRAWN as u64)
    };
    QuartetDistance { distance: different as f64 / quartets as f64, quartets, exact: n <= EXACT }
}

/// Four different numbers below n.
fn four(n: usize, rng: &mut random::Rng) -> [usize; 4] {
    loop {
        let drawn: [usize; 4] = std::array::from_fn(|_| rng.random_range(0..n));
        if (0..4).all(|i| (0..i).all(|j| drawn[i] != drawn[j])) {
            return drawn;
        }
    }
}

/// The shapes that quartets have in a tree, by the four-point condition on the numbers of edges.
struct Shapes {
    n: usize,
    component: Vec<usize>,
    /// n × n; 0 in different components.
    paths: Vec<u32>,
}

impl Shapes {
    fn new(n: usize, edges: &[(usize, usize, f64)]) -> Self {
        let mut upper = all_paths(n, edges, PathLength::Edges).into_iter();
        let mut paths = vec![0; n * n];
        for i in 0..n {
            for j in i + 1..n {
                let edges = upper.next().filter(|d| d.is_finite()).unwrap_or(0.0) as u32;
                paths[i * n + j] = edges;
                paths[j * n + i] = edges;
            }
        }
        Self { n, component: Forest::new(n, edges).component, paths }
    }

    /// 1 for ab|cd, 2 for ac|bd, 3 for ad|bc, 0 for a star.
    fn of(&self, [a, b, c, d]: [usize; 4]) -> u8 {
        let same = |x: usize, y: usize| self.component[x] == self.component[y];
        if !(same(a, b) && same(a, c) && same(a, d)) {
            return self.apart([a, b, c, d]);
        }
        let path = |x: usize, y: usize| self.paths[x * self.n + y];
        let (ab, ac, ad) = (path(a, b) + path(c, d), path(a, c) + path(b, d), path(a, d) + path(b, c));
        // The two larger sums are equal: the smallest one alone decides.
        match (ab.cmp(&ac), ab.cmp(&ad)) {
            (std::cmp::Ordering::Equal, std::cmp::Ordering::Equal) => 0,
            (std::cmp::Ordering::Less, _) if ab < ad => 1,
            _ if ac < ad => 2,
            _ => 3,
        }
    }

    fn apart(&self, [a, b, c, d]: [usize; 4]) -> u8 {
        let same = |x: usize, y: usize| self.component[x] == self.component[y];
        let triple = [[a, b, c], [a, b, d], [a, c, d], [b, c, d]];
        if triple.iter().any(|t| same(t[0], t[1]) && same(t[0], t[2])) {
            return 0;
        }
        match (same(a, b) || same(c, d), same(a, c) || same(b, d), same(a, d) || same(b, c)) {
            (true, ..) => 1,
            (_, true, _) => 2,
            (.., true) => 3,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{Shape, random_tree};
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;

    /// The shape by definition: which split of the four some edge makes.
    fn by_cutting(n: usize, edges: &[(usize, usize, f64)], four: [usize; 4]) -> u8 {
        for cut in 0..edges.len() {
            let rest: Vec<_> = edges.iter().enumerate().filter(|(e, _)| *e != cut).map(|(_, e)| *e).collect();
            let sides = Forest::new(n, &rest).component;
            let with: Vec<bool> = four.iter().map(|&x| sides[x] == sides[four[0]]).collect();
            match (with[1], with[2], with[3]) {
                (true, false, false) if sides[four[2]] == sides[four[3]] => return 1,
                (false, true, false) if sides[four[1]] == sides[four[3]] => return 2,
                (false, false, true) if sides[four[1]] == sides[four[2]] => return 3,
                _ => {}
            }
        }
        0
    }

    #[test]
    fn shapes_are_those_that_edges_make() {
        for (seed, shape) in [(1, Shape::Binary), (2, Shape::Polytomies), (3, Shape::Internal)] {
            let edges = random_tree(9, shape, seed);
            let shapes = Shapes::new(9, &edges);
            for a in 0..9 {
                for (b, c, d) in [(a + 1, a + 2, a + 4), (a + 3, a + 5, a + 7), (a + 2, a + 3, a + 8)] {
                    let four = [a, b % 9, c % 9, d % 9];
                    assert_eq!(shapes.of(four), by_cutting(9, &edges, four), "{shape:?} {four:?} {edges:?}");
                }
            }
        }
    }

    #[test]
    fn drawn_quartets_give_about_the_same() {
        // Two trees on 201 nodes that agree on the first 200 and hang the last one elsewhere: quartets without it are equal.
        let tree = random_tree(201, Shape::Binary, 5);
        let mut other = tree.clone();
        let at = other.iter().position(|e| e.0 == 200 || e.1 == 200).expect("a leaf's edge");
        let far = other.iter().find(|e| e.0.min(e.1) == 17).map(|e| e.0.max(e.1)).expect("another leaf");
        other[at] = (200, far, 1.0);
        let found = with_threads(1, || quartet_distance(201, &tree, &other, 3));
        assert_eq!(found, with_threads(2, || quartet_distance(201, &tree, &other, 3)));
        // The last node is in 4 of 201 quartets.
        assert!(!found.exact && found.distance < 4.0 / 201.0 + 0.001, "{found:?}");
        assert_eq!(quartet_distance(201, &tree, &tree, 3).distance, 0.0);
    }

    #[test]
    fn forests_have_shapes_too() {
        let pairs = [(0, 1, 1.0), (2, 3, 1.0)];
        let tree = [(0, 9, 1.0), (1, 9, 1.0), (9, 8, 1.0), (2, 8, 1.0), (3, 8, 1.0)];
        assert_eq!(quartet_distance(4, &pairs, &tree, 0).distance, 0.0);
        assert_eq!(quartet_distance(4, &[(0, 9, 1.0), (1, 9, 1.0), (2, 9, 1.0)], &tree, 0).distance, 1.0);
        assert_eq!(quartet_distance(4, &[(1, 3, 1.0)], &tree, 0).distance, 1.0);
        assert_eq!(quartet_distance(3, &[], &[], 0).quartets, 0);
    }
}
