//! The Robinson–Foulds distance.

use super::Forest;
use std::collections::{BTreeMap, HashSet};

/// How many splits two trees share; see [`robinson_foulds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RobinsonFoulds {
    /// Splits that only one of the trees has, and cuts that only one forest has.
    pub different: usize,
    /// Non-trivial splits of the first tree.
    pub first: usize,
    /// Non-trivial splits of the second tree.
    pub second: usize,
    /// Cuts between components that only one of the forests has; 0 between trees.
    pub cuts: usize,
}

impl RobinsonFoulds {
    /// The share of splits, and of cuts, that differ, in [0, 1]; 0 where there is none.
    pub fn normalised(&self) -> f64 {
        match self.first + self.second + self.cuts {
            0 => 0.0,
            all => self.different as f64 / all as f64,
        }
    }
}

/// The Robinson–Foulds distance between trees without roots: the splits {S, rest} of the n observed nodes, with two or more
/// on either side, that an edge of one tree makes and no edge of the other, |A △ B|. [`RobinsonFoulds::normalised`] divides
/// by |A| + |B|.
///
/// A polytomy makes fewer splits; they are missing, not wrong, so that a star is |B| from every tree B. Edges that make the
/// same split count once.
///
/// Of forests, let M be the sets of nodes that are together in both. The splits are those of each set of M, by the edges of
/// either forest restricted to it, and to the distance is added how many cuts tell the components apart,
/// 2 |M| − |components of A| − |components of B|, also to what it is divided by. It is 0 when the forests are equal only, and
/// joining two components by one wrong edge costs 1.
///
/// # Complexity
/// O(n² / 64) for trees.
///
/// # Panics
/// When edges hold a cycle.
///
/// # Example
/// ```
/// use tenfold::evaluate::robinson_foulds;
/// let tree = [(0, 9, 1.0), (1, 9, 1.0), (9, 8, 1.0), (2, 8, 1.0), (3, 8, 1.0)]; // 01|23
/// let star = [(0, 7, 1.0), (1, 7, 1.0), (2, 7, 1.0), (3, 7, 1.0)];
/// let rf = robinson_foulds(4, &tree, &star);
/// assert_eq!((rf.different, rf.first, rf.second, rf.normalised()), (1, 1, 0, 1.0));
/// assert_eq!(robinson_foulds(4, &tree, &tree).normalised(), 0.0);
/// ```
///
/// # References
/// Robinson and Foulds, "Comparison of phylogenetic trees", Mathematical Biosciences 53 (1981) 131–147.
pub fn robinson_foulds(n: usize, a: &[(usize, usize, f64)], b: &[(usize, usize, f64)]) -> RobinsonFoulds {
    let (a, b) = (Forest::new(n, a), Forest::new(n, b));
    let mut together: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for node in 0..n {
        together.entry((a.component[node], b.component[node])).or_default().push(node);
    }
    let components = |forest: &Forest| (0..n).filter(|&node| forest.component[node] == node).count();
    let cuts = 2 * together.len() - components(&a) - components(&b);
    let mut all = RobinsonFoulds { different: cuts, first: 0, second: 0, cuts };
    for leaves in together.values().filter(|leaves| leaves.len() > 3) {
        let (of_a, of_b) = (splits(&a, leaves), splits(&b, leaves));
        all.different += of_a.symmetric_difference(&of_b).count();
        all.first += of_a.len();
        all.second += of_b.len();
    }
    all
}

/// The non-trivial splits of these leaves, which are in one component: for each the side without the first leaf, as bits.
fn splits(forest: &Forest, leaves: &[usize]) -> HashSet<Vec<u64>> {
    let words = leaves.len().div_ceil(64);
    let walk = forest.walk(leaves[0]);
    let mut place = vec![usize::MAX; forest.neighbours.len()];
    walk.iter().enumerate().for_each(|(at, &(node, _))| place[node] = at);
    let mut sides = vec![0u64; walk.len() * words];
    for (bit, &leaf) in leaves.iter().enumerate() {
        sides[place[leaf] * words + bit / 64] |= 1 << (bit % 64);
    }
    let mut found = HashSet::new();
    // Children before parents: what stands below an edge is known when its upper end is met. The walk begins at the first
    // leaf, which therefore is on the upper side of every edge.
    for at in (1..walk.len()).rev() {
        let parent = place[walk[at].1];
        let (above, below) = sides.split_at_mut(at * words);
        let below = &below[..words];
        for (up, down) in above[parent * words..(parent + 1) * words].iter_mut().zip(below) {
            *up |= down;
        }
        let size: u32 = below.iter().map(|word| word.count_ones()).sum();
        if size > 1 && (size as usize) + 1 < leaves.len() {
            found.insert(below.to_vec());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{Shape, random_tree};
    use super::*;
    use crate::trees::parse_tree;

    const NEWICK: [(&str, &str); 7] = [
        ("balanced", "((a,b),(c,d),((e,f),(g,h)));"),
        ("comb", "(a,(b,(c,(d,(e,(f,(g,h)))))));"),
        ("swapped", "((a,c),(b,d),((e,f),(g,h)));"),
        ("polytomy", "((a,b,c),(d,e),f,g,h);"),
        ("star", "(a,b,c,d,e,f,g,h);"),
        ("half", "((a,b),(c,d),e,f,(g,h));"),
        ("far", "((a,h),(b,g),((c,f),(d,e)));"),
    ];

    /// `dendropy.calculate.treecompare.symmetric_difference` of dendropy 5.1.3, both trees read as `[&U]`.
    const DENDROPY: [(&str, &str, usize); 21] = [
        ("balanced", "balanced", 0),
        ("balanced", "comb", 4),
        ("balanced", "swapped", 4),
        ("balanced", "polytomy", 7),
        ("balanced", "star", 5),
        ("balanced", "half", 2),
        ("balanced", "far", 10),
        ("comb", "swapped", 6),
        ("comb", "polytomy", 5),
        ("comb", "star", 5),
        ("comb", "half", 4),
        ("comb", "far", 10),
        ("swapped", "polytomy", 7),
        ("swapped", "half", 6),
        ("polytomy", "polytomy", 0),
        ("polytomy", "star", 2),
        ("polytomy", "half", 5),
        ("polytomy", "far", 5),
        ("star", "star", 0),
        ("star", "half", 3),
        ("half", "far", 8),
    ];

    #[test]
    fn dendropy_finds_the_same() {
        let names: Vec<String> = ('a'..='h').map(String::from).collect();
        let edges = |name: &str| {
            let text = NEWICK.iter().find(|row| row.0 == name).expect("a tree of the table").1;
            parse_tree(text, &names).unwrap().edges()
        };
        for (a, b, expected) in DENDROPY {
            let (there, back) =
                (robinson_foulds(8, &edges(a), &edges(b)), robinson_foulds(8, &edges(b), &edges(a)));
            assert_eq!((there.different, back.different), (expected, expected), "{a} {b}");
            let all = there.first + there.second;
            assert_eq!(there.normalised(), if all == 0 { 0.0 } else { expected as f64 / all as f64 });
        }
    }

    /// Every split by cutting every edge.
    #[test]
    fn splits_are_those_that_edges_make() {
        for (seed, shape) in [(1, Shape::Binary), (2, Shape::Polytomies), (3, Shape::Internal)] {
            let n = 70;
            let edges = random_tree(n, shape, seed);
            let mut expected = HashSet::new();
            for cut in 0..edges.len() {
                let rest: Vec<_> = edges.iter().enumerate().filter(|e| e.0 != cut).map(|e| *e.1).collect();
                let sides = Forest::new(n, &rest).component;
                let below: Vec<usize> = (0..n).filter(|&x| sides[x] != sides[0]).collect();
                if below.len() > 1 && below.len() + 1 < n {
                    expected.insert(below);
                }
            }
            let found = splits(&Forest::new(n, &edges), &(0..n).collect::<Vec<_>>());
            let found: HashSet<Vec<usize>> =
                found.iter().map(|s| (0..n).filter(|&x| s[x / 64] >> (x % 64) & 1 == 1).collect()).collect();
            assert_eq!(found, expected, "{shape:?}");
            assert!(shape != Shape::Binary || found.len() == n - 3);
        }
    }

    #[test]
    fn forests_differ_by_splits_and_by_cuts() {
        let two = [
            (0, 10, 1.),
            (1, 10, 1.),
            (10, 11, 1.),
            (2, 11, 1.),
            (3, 11, 1.),
            (4, 12, 1.),
            (5, 12, 1.),
            (12, 13, 1.),
            (6, 13, 1.),
            (7, 13, 1.),
        ];
        let mut one = two.to_vec();
        assert_eq!(robinson_foulds(8, &two, &one).normalised(), 0.0);
        one.push((11, 13, 1.0));
        let joined = robinson_foulds(8, &two, &one);
        assert_eq!((joined.different, joined.first, joined.second, joined.cuts), (1, 2, 2, 1));
        assert_eq!(joined, {
            let r = robinson_foulds(8, &one, &two);
            RobinsonFoulds { first: r.second, second: r.first, ..r }
        });
        // Nothing together: all cuts.
        let none = robinson_foulds(8, &one, &[]);
        assert_eq!((none.different, none.normalised()), (7, 1.0));
        assert_eq!(robinson_foulds(0, &[], &[]).normalised(), 0.0);
        // An observed node that is internal is where its leaf would be.
        assert_eq!(
            robinson_foulds(
                4,
                &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)],
                &[(0, 9, 1.0), (1, 9, 1.0), (9, 8, 1.0), (2, 8, 1.0), (3, 8, 1.0)]
            )
            .different,
            0
        );
    }
}
