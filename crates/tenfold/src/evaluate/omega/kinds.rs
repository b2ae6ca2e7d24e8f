//! Nodes that are in the same communities of both covers, and the pairs among them.

use super::super::Cover;
use super::super::cover::NodeLists;
use super::{Counts, subsets};
use std::collections::HashMap;
use tenfold_engine::linalg::parallel::sum_blocks;

/// Nodes that are in the same communities of both covers.
#[derive(Clone, Copy)]
pub(super) struct Kind<'a> {
    /// Their communities in the two covers, in order.
    pub lists: [&'a [u32]; 2],
    /// How many there are.
    pub nodes: u64,
}

impl Kind<'_> {
    /// Communities in both covers together.
    fn size(&self) -> usize {
        self.lists[0].len() + self.lists[1].len()
    }
}

/// All kinds of nodes, those in the most communities first; nodes in no community are left out.
pub(super) struct Kinds<'a> {
    kinds: Vec<Kind<'a>>,
    /// For each cover and community its kinds, in order.
    by_community: [Vec<Vec<u32>>; 2],
}

/// For each cover and kind the communities shared with the kind at hand; zeros between two kinds.
type Shared = [Vec<u32>; 2];

impl<'a> Kinds<'a> {
    pub(super) fn new(a: &Cover, b: &Cover, lists: &'a [NodeLists; 2]) -> Self {
        let mut numbers: HashMap<[&[u32]; 2], usize> = HashMap::new();
        let mut kinds: Vec<Kind<'a>> = Vec::new();
        for x in 0..a.nodes() {
            let lists = lists.each_ref().map(|lists| lists.of(x));
            if lists.iter().all(|list| list.is_empty()) {
                continue;
            }
            // Numbered as they are met, so that the order of the map does not matter.
            let number = *numbers.entry(lists).or_insert(kinds.len());
            if number == kinds.len() {
                kinds.push(Kind { lists, nodes: 0 });
            }
            kinds[number].nodes += 1;
        }
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.size()));
        let mut by_community = [a, b].map(|cover| vec![Vec::new(); cover.communities().len()]);
        for (number, kind) in kinds.iter().enumerate() {
            for (out, list) in by_community.iter_mut().zip(kind.lists) {
                list.iter().for_each(|&c| out[c as usize].push(number as u32));
            }
        }
        Self { kinds, by_community }
    }

    /// All pairs of nodes that share a community.
    pub(super) fn count(&self) -> Counts {
        self.count_divided(self.division())
    }

    /// The first `heavy` kinds one by one against all that come after them, the others by subsets of communities. Sums of
    /// whole numbers, so that neither threads nor the division matter.
    fn count_divided(&self, heavy: usize) -> Counts {
        let counts = sum_blocks(
            heavy,
            64,
            || (Counts::none(), [vec![0; self.kinds.len()], vec![0; self.kinds.len()]]),
            |(counts, shared), range| {
                range.for_each(|number| self.count_kind(number, counts, shared));
                Ok(())
            },
            |total, part| total.0.merge(&part.0),
        );
        let (mut counts, _) = counts.expect("counting cannot fail");
        let communities = self.by_community.each_ref().map(Vec::len);
        counts.merge(&subsets::count(&self.kinds[heavy..], communities));
        counts
    }

    /// How many kinds are compared one by one, so that the work is least.
    fn division(&self) -> usize {
        // A step of the comparison is an addition; a set of communities is sorted out for about the price of 16.
        let price = |kind: &Kind<'_>| 16.0 * 2f64.powi(kind.size() as i32);
        // The price of the kinds from each one on, added up from the small ones, so that large ones do not swallow them.
        let mut by_sets: Vec<f64> = vec![0.0; self.kinds.len() + 1];
        for (number, kind) in self.kinds.iter().enumerate().rev() {
            by_sets[number] = by_sets[number + 1] + price(kind);
        }
        let mut ahead =
            self.by_community.each_ref().map(|lists| lists.iter().map(Vec::len).collect::<Vec<_>>());
        let (mut one_by_one, mut least, mut division) = (0.0, by_sets[0], 0);
        for (number, kind) in self.kinds.iter().enumerate() {
            for (ahead, list) in ahead.iter_mut().zip(kind.lists) {
                for &c in list {
                    ahead[c as usize] -= 1;
                    one_by_one += ahead[c as usize] as f64;
                }
            }
            let work = one_by_one + by_sets[number + 1];
            if work < least || kind.size() > subsets::MOST {
                (least, division) = (work, number + 1);
            }
        }
        division
    }

    fn count_kind(&self, number: usize, counts: &mut Counts, shared: &mut Shared) {
        let Kind { lists, nodes } = self.kinds[number];
        // Two nodes of this kind share all of its communities.
        counts.add(lists.map(<[u32]>::len), nodes * (nodes - 1) / 2);
        let mut met: Vec<usize> = Vec::new();
        for side in 0..2 {
            for &community in lists[side] {
                let others = &self.by_community[side][community as usize];
                let after = others.partition_point(|&other| other as usize <= number);
                for &other in &others[after..] {
                    let other = other as usize;
                    if shared[0][other] == 0 && shared[1][other] == 0 {
                        met.push(other);
                    }
                    shared[side][other] += 1;
                }
            }
        }
        for other in met {
            let both = [0, 1].map(|side| std::mem::take(&mut shared[side][other]) as usize);
            counts.add(both, nodes * self.kinds[other].nodes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::random_cover;
    use super::*;

    #[test]
    fn any_division_of_the_work_counts_the_same() {
        for (stream, share) in [(0, 0.1), (1, 0.3), (2, 0.6)] {
            let (a, b) = (random_cover(120, 5, share, 400 + stream), random_cover(120, 4, 0.3, 500 + stream));
            let lists = [a.by_node(), b.by_node()];
            let kinds = Kinds::new(&a, &b, &lists);
            let total = kinds.kinds.len();
            let one_by_one = kinds.count_divided(total);
            for heavy in [0, 1, total / 3, total - 1, kinds.division()] {
                let counts = kinds.count_divided(heavy);
                assert_eq!((counts.equal, counts.together), (one_by_one.equal, one_by_one.together));
                for side in 0..2 {
                    // Either may end with levels that no pair has.
                    let levels = counts.pairs[side].len().max(one_by_one.pairs[side].len());
                    for j in 0..levels {
                        let at = |counts: &Counts| counts.pairs[side].get(j).copied().unwrap_or(0);
                        assert_eq!(at(&counts), at(&one_by_one), "{heavy} of {total}, level {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn nodes_in_many_communities_are_compared_one_by_one() {
        // One node in 40 communities of each cover, and 20,000 in one or two.
        let lists = |step: u32| {
            let of = |c: u32| (0..20_000).filter(|x| *x == 7 || x % 40 == c || x % step == c).collect();
            (0..40).map(of).collect()
        };
        let (a, b) = (Cover::new(20_000, lists(77)), Cover::new(20_000, lists(91)));
        let lists = [a.by_node(), b.by_node()];
        let kinds = Kinds::new(&a, &b, &lists);
        assert_eq!(kinds.kinds[0].size(), 80);
        assert!((1..kinds.kinds.len()).contains(&kinds.division()), "{}", kinds.division());
        let (divided, whole) = (kinds.count(), kinds.count_divided(kinds.kinds.len()));
        assert_eq!((divided.equal, divided.together), (whole.equal, whole.together));
    }
}
