//! How many nodes the communities of two covers have in common.

use super::Cover;

/// Sizes of the communities of two covers, and of all intersections that are not empty.
///
/// Empty communities are left out: they say nothing about any node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intersections {
    /// Number of nodes.
    pub nodes: usize,
    /// Sizes of the communities of the first cover.
    pub left: Vec<usize>,
    /// Sizes of the communities of the second.
    pub right: Vec<usize>,
    /// For each community of the first cover, those of the second that it meets, and in how many nodes.
    pub common: Vec<Vec<(usize, usize)>>,
}

impl Intersections {
    /// Counts through the lists of the second cover by node: O(n + Σ_x a(x) b(x)) for a node x in a(x) communities of
    /// one cover and b(x) of the other, however many communities there are.
    ///
    /// # Panics
    /// When the covers are over different numbers of nodes.
    pub(super) fn new(left: &Cover, right: &Cover) -> Self {
        assert_eq!(left.nodes(), right.nodes(), "covers of the same nodes");
        let sizes = |cover: &Cover| -> Vec<usize> {
            cover.communities().iter().map(Vec::len).filter(|&size| size > 0).collect()
        };
        let mut held = 0;
        let number = |community: &Vec<u32>| {
            held += usize::from(!community.is_empty());
            held.saturating_sub(1)
        };
        let numbers: Vec<usize> = right.communities().iter().map(number).collect();
        let lists = right.by_node();
        let mut counts = vec![0; right.communities().len()];
        let mut met: Vec<usize> = Vec::new();
        let mut common = Vec::new();
        for community in left.communities().iter().filter(|community| !community.is_empty()) {
            for &x in community {
                for &j in lists.of(x as usize) {
                    if counts[j as usize] == 0 {
                        met.push(j as usize);
                    }
                    counts[j as usize] += 1;
                }
            }
            met.sort_unstable();
            common.push(met.iter().map(|&j| (numbers[j], counts[j])).collect());
            met.drain(..).for_each(|j| counts[j] = 0);
        }
        Self { nodes: left.nodes(), left: sizes(left), right: sizes(right), common }
    }

    /// The same with the covers exchanged.
    pub(super) fn transposed(&self) -> Self {
        let mut common = vec![Vec::new(); self.right.len()];
        for (i, row) in self.common.iter().enumerate() {
            for &(j, nodes) in row {
                common[j].push((i, nodes));
            }
        }
        Self { nodes: self.nodes, left: self.right.clone(), right: self.left.clone(), common }
    }

    /// What a similarity is when a cover has no community: 1 when neither has, 0 when one has. Nothing when both have.
    pub(super) fn of_nothing(&self) -> Option<f64> {
        match (self.left.is_empty(), self.right.is_empty()) {
            (true, true) => Some(1.0),
            (false, false) => None,
            _ => Some(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_intersection_is_counted_and_empty_communities_are_passed_over() {
        let left = Cover::new(6, vec![vec![], vec![0, 1, 2], vec![5]]);
        let right = Cover::new(6, vec![vec![], vec![2, 3], vec![], vec![0, 1, 2, 4], vec![3]]);
        let found = Intersections::new(&left, &right);
        assert_eq!((&found.left[..], &found.right[..]), (&[3, 1][..], &[2, 4, 1][..]));
        assert_eq!(found.common, [vec![(0, 1), (1, 3)], vec![]]);
        assert_eq!(found.transposed(), Intersections::new(&right, &left));
    }
}
