//! Pairs of nodes by what they share, from the sets of communities that several nodes are in.

use super::Counts;
use super::kinds::Kind;
use tenfold_engine::linalg::parallel::sum_blocks;

/// The most communities of a node, in both covers together, for which sets are enumerated. It keeps the sums below inside
/// 128 bits: a pair adds at most C(20, 10) < 2¹⁸ to a sum, and there are fewer than 2⁶³ pairs.
pub(super) const MOST: usize = 20;

/// For r communities of one cover and s of the other: pairs of nodes with each choice of so many that they share.
type Moments = Vec<[u128; MOST + 1]>;

/// Counts pairs among these kinds.
///
/// A pair of nodes that shares t communities of one cover and t' of the other lies in C(t, r) C(t', s) sets of r and s
/// communities that both are in. A set whose nodes are w makes w(w − 1)/2 pairs, so that
///
/// G(r, s) = Σ_pairs C(t, r) C(t', s) = Σ_{sets of r and s} w(w − 1)/2
///
/// needs no pairs, and the pairs with t = j and t' = l follow from it,
///
/// N(j, l) = Σ_{r ≥ j, s ≥ l} (−1)^{r − j + s − l} C(r, j) C(s, l) G(r, s).
pub(super) fn count(kinds: &[Kind<'_>], communities: [usize; 2]) -> Counts {
    let sets = Sets::new(kinds, communities);
    let moments = sum_blocks(
        communities[0] + communities[1],
        1,
        || vec![[0; MOST + 1]; MOST + 1],
        |moments: &mut Moments, range| {
            for first in range {
                sets.extend(sets.with(first), [0, 0], first, moments);
            }
            Ok(())
        },
        |total, part| {
            for (mine, theirs) in total.iter_mut().flatten().zip(part.iter().flatten()) {
                *mine += theirs;
            }
        },
    );
    pairs(&moments.expect("counting cannot fail"))
}

/// N(j, l) from G(r, s).
fn pairs(moments: &Moments) -> Counts {
    let choose = binomials();
    let mut counts = Counts::none();
    for j in 0..=MOST {
        for l in 0..=MOST {
            if j + l == 0 {
                continue;
            }
            // Signs cancel to a number of pairs, which is not negative; in between it may be, so sums wrap around.
            let mut sum = 0u128;
            for r in j..=MOST {
                for s in l..=MOST {
                    let term = moments[r][s].wrapping_mul(choose[r][j]).wrapping_mul(choose[s][l]);
                    let even = (r - j + s - l) % 2 == 0;
                    sum = if even { sum.wrapping_add(term) } else { sum.wrapping_sub(term) };
                }
            }
            if sum > 0 {
                counts.add([j, l], sum as u64);
            }
        }
    }
    counts
}

/// Pascal's triangle.
fn binomials() -> Vec<[u128; MOST + 1]> {
    let mut rows = vec![[0; MOST + 1]; MOST + 1];
    for n in 0..=MOST {
        rows[n][0] = 1;
        for k in 1..=n {
            rows[n][k] = rows[n - 1][k - 1] + rows[n - 1][k];
        }
    }
    rows
}

/// The communities of both covers in one row: those of the second are numbered after those of the first.
struct Sets {
    /// For each kind its communities, in order.
    lists: Vec<Vec<usize>>,
    /// For each kind its nodes.
    nodes: Vec<u64>,
    /// For each community its kinds, and where it stands in their lists.
    members: Vec<Vec<Place>>,
    /// Communities of the first cover.
    first: usize,
}

/// A kind, and the place in its list after which communities are still to be chosen.
#[derive(Clone, Copy)]
struct Place {
    kind: usize,
    after: usize,
}

impl Sets {
    fn new(kinds: &[Kind<'_>], communities: [usize; 2]) -> Self {
        let row = |kind: &Kind<'_>| {
            let second = kind.lists[1].iter().map(|&c| c as usize + communities[0]);
            kind.lists[0].iter().map(|&c| c as usize).chain(second).collect::<Vec<usize>>()
        };
        let lists: Vec<Vec<usize>> = kinds.iter().map(row).collect();
        let mut members = vec![Vec::new(); communities[0] + communities[1]];
        for (kind, list) in lists.iter().enumerate() {
            for (at, &c) in list.iter().enumerate() {
                members[c].push(Place { kind, after: at + 1 });
            }
        }
        Self { lists, nodes: kinds.iter().map(|kind| kind.nodes).collect(), members, first: communities[0] }
    }

    fn with(&self, community: usize) -> &[Place] {
        &self.members[community]
    }

    /// Adds the set that `last` completes and all sets that begin with it; `chosen` counts those before `last`. A set with
    /// fewer than two nodes holds no pair, and no larger one does.
    fn extend(&self, places: &[Place], mut chosen: [usize; 2], last: usize, moments: &mut Moments) {
        let nodes: u128 = places.iter().map(|place| u128::from(self.nodes[place.kind])).sum();
        if nodes < 2 {
            return;
        }
        chosen[usize::from(last >= self.first)] += 1;
        moments[chosen[0]][chosen[1]] += nodes * (nodes - 1) / 2;
        let mut next: Vec<(usize, Place)> = Vec::new();
        for &Place { kind, after } in places {
            let rest = self.lists[kind].iter().enumerate().skip(after);
            next.extend(rest.map(|(at, &c)| (c, Place { kind, after: at + 1 })));
        }
        next.sort_unstable_by_key(|&(c, place)| (c, place.kind));
        let mut group: Vec<Place> = Vec::new();
        for equal in next.chunk_by(|a, b| a.0 == b.0) {
            group.clear();
            group.extend(equal.iter().map(|&(_, place)| place));
            self.extend(&group, chosen, equal[0].0, moments);
        }
    }
}
