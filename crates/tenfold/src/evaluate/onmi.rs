//! Normalised mutual information between overlapping covers.

use super::Cover;
use super::intersections::Intersections;

/// Normalised mutual information between two covers, in either of its published forms, in [0, 1].
///
/// Community i of a cover is seen as a random bit X_i: whether a node drawn at random is in it. With
/// h(p) = −p log p and the shares a (in neither), b (in Y_j only), c (in X_i only), d (in both) of the nodes,
///
/// - H(X_i) = h(c + d) + h(a + b),
/// - H(X_i | Y_j) = h(a) + h(b) + h(c) + h(d) − h(b + d) − h(a + c) where h(a) + h(d) > h(b) + h(c), and H(X_i)
///   elsewhere: a complement must not pass for a copy;
/// - H(X_i | Y) = min_j H(X_i | Y_j).
///
/// LFK takes 1 − ½ [mean_i H(X_i | Y) / H(X_i) + mean_j H(Y_j | X) / H(Y_j)]. The form "max" sums first,
/// H(X | Y) = Σ_i H(X_i | Y) and H(X) = Σ_i H(X_i), and takes
/// ½ [H(X) − H(X | Y) + H(Y) − H(Y | X)] / max(H(X), H(Y)), because LFK gives covers that have little in common
/// figures that are too high. Neither becomes the [`nmi`](super::nmi) of labels when nothing overlaps.
///
/// Identical covers give 1, also where the definition would divide 0 by 0: a community of all nodes counts as known when
/// the other cover has it too, and as unknown when not. Empty communities are passed over; a cover without communities
/// has 1 in common with another such and 0 with any other.
///
/// # Complexity
/// O(n + Σ_x a(x) b(x)) for nodes x in a(x) communities of one cover and b(x) of the other, and a few steps more for
/// communities of more than a quarter of the nodes.
///
/// # Example
/// ```
/// use tenfold::evaluate::{Cover, OverlappingNmi};
/// let halves = Cover::new(4, vec![vec![0, 1], vec![2, 3]]);
/// let first = Cover::new(4, vec![vec![0, 1]]);
/// assert_eq!(OverlappingNmi::Lfk.of(&halves, &halves), 1.0);
/// assert_eq!(OverlappingNmi::Lfk.of(&halves, &first), 0.75); // the second half is not known
/// assert_eq!(OverlappingNmi::Max.of(&halves, &first), 0.5); // one bit of two
/// ```
///
/// # References
/// Lancichinetti, Fortunato and Kertész, "Detecting the overlapping and hierarchical community structure in complex
/// networks", New Journal of Physics 11 (2009), appendix B; McDaid, Greene and Hurley, "Normalized mutual information to
/// evaluate overlapping community finding algorithms", arXiv:1110.2515 (2011).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlappingNmi {
    /// Lancichinetti, Fortunato and Kertész: normalised community by community.
    Lfk,
    /// McDaid, Greene and Hurley: normalised by the larger of the two entropies.
    Max,
}

impl OverlappingNmi {
    /// The measure between two covers; it does not matter which comes first.
    ///
    /// # Panics
    /// When the covers are over different numbers of nodes.
    pub fn of(self, a: &Cover, b: &Cover) -> f64 {
        let there = Intersections::new(a, b);
        if let Some(known) = there.of_nothing() {
            return known;
        }
        let sides = [&there, &there.transposed()].map(Side::new);
        let value = match self {
            Self::Lfk => 1.0 - (sides[0].mean_unknown() + sides[1].mean_unknown()) / 2.0,
            Self::Max => {
                let [(own, rest), (other_own, other_rest)] = sides.map(|side| side.entropies());
                let larger = f64::max(own, other_own);
                // Both covers hold nothing but communities of all nodes.
                if larger == 0.0 { 1.0 } else { ((own - rest) + (other_own - other_rest)) / (2.0 * larger) }
            }
        };
        value.clamp(0.0, 1.0)
    }

    /// The name in the literature.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lfk => "ONMI-LFK",
            Self::Max => "ONMI-max",
        }
    }
}

/// For each community of one cover its entropy, and what remains of it when the other cover is known.
struct Side {
    entropies: Vec<(f64, f64)>,
    /// Whether the other cover has a community of all nodes.
    whole: bool,
}

impl Side {
    fn new(counts: &Intersections) -> Self {
        let shares = Shares { nodes: counts.nodes };
        let mut others = counts.right.clone();
        others.sort_unstable_by(|a, b| b.cmp(a));
        let entropies = counts
            .left
            .iter()
            .zip(&counts.common)
            .map(|(&size, common)| {
                let own = shares.entropy(size);
                let meeting = common.iter().map(|&(j, both)| (counts.right[j], both));
                let apart = apart(size, common, counts, &others);
                let rest = meeting.chain(apart).map(|(other, both)| shares.conditional(size, other, both));
                (own, rest.fold(own, f64::min))
            })
            .collect();
        Self { entropies, whole: counts.right.contains(&counts.nodes) }
    }

    /// The mean over communities of H(X_i | Y) / H(X_i).
    fn mean_unknown(&self) -> f64 {
        let share = |&(own, rest): &(f64, f64)| match own {
            0.0 if self.whole => 0.0,
            0.0 => 1.0,
            _ => rest / own,
        };
        self.entropies.iter().map(share).sum::<f64>() / self.entropies.len() as f64
    }

    /// H(X) and H(X | Y).
    fn entropies(&self) -> (f64, f64) {
        self.entropies.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

/// The communities of the other cover that tell something about one of `size` nodes though they share none with it, as
/// pairs (nodes, 0), one for each number of nodes. `others` are the sizes in the other cover, the largest first.
///
/// With b + c ≤ ½ there are none: h(b) + h(c) ≥ h(b + c) ≥ h(1 − b − c) = h(a). So only pairs with more than half of the
/// nodes are looked at, and there are few of them.
fn apart(
    size: usize,
    common: &[(usize, usize)],
    counts: &Intersections,
    others: &[usize],
) -> Vec<(usize, usize)> {
    let large = |other: usize| 2 * (size + other) > counts.nodes;
    let mut met: Vec<usize> = common.iter().map(|&(j, _)| counts.right[j]).filter(|&x| large(x)).collect();
    met.sort_unstable();
    let times = |other: usize| met.partition_point(|&x| x <= other) - met.partition_point(|&x| x < other);
    others
        .chunk_by(|a, b| a == b)
        .take_while(|equal| large(equal[0]))
        .filter(|equal| equal.len() > times(equal[0]))
        .map(|equal| (equal[0], 0))
        .collect()
}

/// Entropies of bits that are set on some of the nodes.
struct Shares {
    nodes: usize,
}

impl Shares {
    /// h of a number of nodes.
    fn h(&self, count: usize) -> f64 {
        let p = count as f64 / self.nodes as f64;
        if count == 0 { 0.0 } else { -p * p.ln() }
    }

    /// H(X) of a community.
    fn entropy(&self, size: usize) -> f64 {
        self.h(size) + self.h(self.nodes - size)
    }

    /// H(X | Y) from the sizes of X, of Y and of both.
    fn conditional(&self, x: usize, y: usize, both: usize) -> f64 {
        let [a, b, c, d] = [self.nodes + both - x - y, y - both, x - both, both].map(|count| self.h(count));
        // Equal communities: nothing is left, and their agreement has no rounding to pass.
        if x == both && y == both {
            0.0
        } else if a + d > b + c {
            ((a + b + c + d) - self.entropy(y)).max(0.0)
        } else {
            self.entropy(x)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{blend, formula, random_cover};
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} against {expected}");
    }

    /// Both forms from the definition: every pair of communities, counted node by node.
    fn by_definition(a: &Cover, b: &Cover) -> [f64; 2] {
        let n = a.nodes() as f64;
        let h = |count: usize| if count == 0 { 0.0 } else { -(count as f64 / n) * (count as f64 / n).log2() };
        let one_side = |a: &Cover, b: &Cover| {
            let (mut own, mut rest, mut shares) = (0.0, 0.0, 0.0);
            for x in a.communities() {
                let entropy = h(x.len()) + h(a.nodes() - x.len());
                let mut least = entropy;
                for y in b.communities() {
                    let mut cells = [0; 4];
                    for node in 0..a.nodes() as u32 {
                        cells[usize::from(x.contains(&node)) * 2 + usize::from(y.contains(&node))] += 1;
                    }
                    let [none, in_y, in_x, both] = cells.map(h);
                    if none + both > in_y + in_x {
                        let joint = none + in_y + in_x + both;
                        least = least.min(joint - h(y.len()) - h(a.nodes() - y.len()));
                    }
                }
                own += entropy;
                rest += least;
                shares += least / entropy / a.communities().len() as f64;
            }
            (own, rest, shares)
        };
        let ((hx, hxy, lx), (hy, hyx, ly)) = (one_side(a, b), one_side(b, a));
        [1.0 - (lx + ly) / 2.0, (hx - hxy + hy - hyx) / 2.0 / hx.max(hy)]
    }

    /// cdlib 0.4.1, `cdlib.evaluation.internal.onmi.onmi(a, b, nodes, variant)` with "LFK" and "MGH".
    #[test]
    fn cdlib_finds_the_same() {
        let (a, b) = blend();
        near(OverlappingNmi::Lfk.of(&a, &b), 0.331744972350311);
        near(OverlappingNmi::Max.of(&a, &b), 0.32765253263527044);
        let (a, b) = (formula(60, 4, 1, 8), formula(60, 5, 3, 12));
        near(OverlappingNmi::Lfk.of(&a, &b), 0.037276000749406846);
        near(OverlappingNmi::Max.of(&a, &b), 0.03016928976578699);
    }

    /// A node outside a community of two thirds tells something about it; found by cdlib, which looks at all pairs.
    #[test]
    fn large_communities_without_a_common_node_count() {
        let range = |from: u32, to: u32| (from..to).collect::<Vec<_>>();
        let a = Cover::new(30, vec![range(0, 19), range(20, 30)]);
        let b = Cover::new(30, vec![vec![19], range(15, 30)]);
        near(OverlappingNmi::Lfk.of(&a, &b), 0.23978697925681103);
        near(OverlappingNmi::Max.of(&a, &b), 0.2460106591309736);
    }

    #[test]
    fn the_definition_holds_on_random_covers() {
        for stream in 0..60 {
            // From many small communities to a few large ones, so that pairs apart are met as well.
            let (n, share) = (12 + stream as usize % 30, [0.08, 0.3, 0.6, 0.85][stream as usize % 4]);
            let (a, b) = (random_cover(n, 5, share, 2 * stream), random_cover(n, 4, 0.4, 2 * stream + 1));
            let [lfk, max] = by_definition(&a, &b);
            near(OverlappingNmi::Lfk.of(&a, &b), lfk);
            near(OverlappingNmi::Max.of(&a, &b), max);
        }
    }

    /// By hand: X = {12}, Y = {123} of 4. a = 1/4, b = 1/4, c = 0, d = 1/2, all h equal ½ bit but h(c) = 0.
    /// h(a) + h(d) = 1 > ½, H(X | Y) = 3/2 − H(¼), H(Y | X) = 3/2 − 1 = ½.
    #[test]
    fn two_communities_by_hand() {
        let (x, y) = (Cover::new(4, vec![vec![1, 2]]), Cover::new(4, vec![vec![1, 2, 3]]));
        let quarter = 2.0 - 0.75 * 3f64.log2();
        near(OverlappingNmi::Lfk.of(&x, &y), 1.0 - (1.5 - quarter + 0.5 / quarter) / 2.0);
        near(OverlappingNmi::Max.of(&x, &y), quarter - 0.5);
        // The complement tells as much, and must not count.
        let rest = Cover::new(4, vec![vec![0, 3]]);
        assert_eq!((OverlappingNmi::Lfk.of(&x, &rest), OverlappingNmi::Max.of(&x, &rest)), (0.0, 0.0));
    }

    #[test]
    fn a_community_of_all_nodes_is_known_only_when_the_other_has_it() {
        let whole = Cover::new(4, vec![vec![0, 1, 2, 3]]);
        let half = Cover::new(4, vec![vec![0, 1]]);
        let both = Cover::new(4, vec![vec![0, 1, 2, 3], vec![0, 1]]);
        for form in [OverlappingNmi::Lfk, OverlappingNmi::Max] {
            assert_eq!((form.of(&whole, &whole), form.of(&both, &both)), (1.0, 1.0), "{}", form.name());
            assert_eq!(form.of(&whole, &half), 0.0);
        }
        assert_eq!(OverlappingNmi::Lfk.of(&both, &half), 0.75);
        assert_eq!(OverlappingNmi::Max.of(&both, &half), 1.0, "the whole has no entropy to be known");
    }
}
