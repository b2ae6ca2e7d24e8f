//! Communities as lists of nodes.

use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::{LANES, sum_blocks};

/// Communities over a number of nodes: a node may be in one, in several or in none.
///
/// Nodes stand in order, and each once, in every community. A community may be empty; the measures pass over it.
///
/// # Example
/// ```
/// use tenfold::evaluate::Cover;
/// let cover = Cover::new(5, vec![vec![2, 0, 2], vec![2, 3]]);
/// assert_eq!(cover.communities(), [vec![0, 2], vec![2, 3]]);
/// assert_eq!(cover.labels(), None); // node 2 is in two communities, nodes 1 and 4 are in none
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    nodes: usize,
    communities: Vec<Vec<u32>>,
}

impl Cover {
    /// A cover of the nodes 0 … `nodes` − 1.
    ///
    /// # Complexity
    /// O(s log s), s being the sizes of the communities together.
    ///
    /// # Panics
    /// When a community holds a node that there is not.
    pub fn new(nodes: usize, mut communities: Vec<Vec<u32>>) -> Self {
        for community in &mut communities {
            community.sort_unstable();
            community.dedup();
            if let Some(&last) = community.last() {
                assert!((last as usize) < nodes, "node {last} in a cover of {nodes} nodes");
            }
        }
        Self { nodes, communities }
    }

    /// One community for every label, in the order of labels; a node without a label is in none.
    ///
    /// # Complexity
    /// O(n log n).
    ///
    /// # Example
    /// ```
    /// use tenfold::evaluate::Cover;
    /// let cover = Cover::from_labels(&[Some("west"), None, Some("east"), Some("west")]);
    /// assert_eq!(cover.communities(), [vec![2], vec![0, 3]]);
    /// ```
    pub fn from_labels<L: Ord>(labels: &[Option<L>]) -> Self {
        let mut order: Vec<(&L, u32)> =
            labels.iter().enumerate().filter_map(|(x, label)| Some((label.as_ref()?, x as u32))).collect();
        order.sort_unstable();
        let communities = order
            .chunk_by(|a, b| a.0 == b.0)
            .map(|group| group.iter().map(|&(_, node)| node).collect())
            .collect();
        Self { nodes: labels.len(), communities }
    }

    /// For each column of `memberships` the nodes whose membership is at least `threshold`, and not 0.
    ///
    /// # Complexity
    /// O(n k).
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::linalg::Mat;
    /// use tenfold::evaluate::Cover;
    /// let memberships = Mat::from_vec(3, 2, vec![0.7, 0.3, 0.5, 0.5, 0.0, 1.0]);
    /// assert_eq!(Cover::above(&memberships, 0.4).communities(), [vec![0, 1], vec![1, 2]]);
    /// ```
    pub fn above(memberships: &Mat, threshold: f64) -> Self {
        Self::of_rows(memberships, |row, enter| {
            for (i, &weight) in row.iter().enumerate() {
                if weight >= threshold && weight > 0.0 {
                    enter(i);
                }
            }
        })
    }

    /// For each node the one community in which its membership is the largest; of equals the first. A node whose
    /// memberships are all 0 is in none.
    ///
    /// # Complexity
    /// O(n k).
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::linalg::Mat;
    /// use tenfold::evaluate::Cover;
    /// let memberships = Mat::from_vec(3, 2, vec![0.7, 0.3, 0.5, 0.5, 0.0, 1.0]);
    /// assert_eq!(Cover::top(&memberships).communities(), [vec![0, 1], vec![2]]);
    /// ```
    pub fn top(memberships: &Mat) -> Self {
        Self::of_rows(memberships, |row, enter| {
            let first_largest = |best: Option<(usize, f64)>, (i, &weight): (usize, &f64)| match best {
                Some((_, most)) if weight <= most => best,
                _ if weight > 0.0 => Some((i, weight)),
                _ => best,
            };
            if let Some((i, _)) = row.iter().enumerate().fold(None, first_largest) {
                enter(i);
            }
        })
    }

    /// Blocks of rows side by side; nodes come out in order because each block of rows keeps its own lists.
    fn of_rows(memberships: &Mat, rule: impl Fn(&[f64], &mut dyn FnMut(usize)) + Sync) -> Self {
        let (n, k) = (memberships.rows(), memberships.cols());
        let communities = sum_blocks(
            n,
            // One block a lane, so that lanes are runs of rows and can be joined end to end.
            n.div_ceil(LANES).max(1),
            || vec![Vec::new(); k],
            |lists: &mut Vec<Vec<u32>>, range| {
                for x in range {
                    rule(memberships.row(x), &mut |i| lists[i].push(x as u32));
                }
                Ok(())
            },
            |total, lane| {
                for (list, more) in total.iter_mut().zip(lane) {
                    list.extend(more);
                }
            },
        );
        Self { nodes: n, communities: communities.expect("gathering lists cannot fail") }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The communities: nodes in order.
    pub fn communities(&self) -> &[Vec<u32>] {
        &self.communities
    }

    /// Sizes of the communities together.
    pub fn entries(&self) -> usize {
        self.communities.iter().map(Vec::len).sum()
    }

    /// For each node the number of its community, when every node is in exactly one.
    pub fn labels(&self) -> Option<Vec<u32>> {
        let lists = self.by_node();
        (0..self.nodes)
            .map(|x| match lists.of(x) {
                [one] => Some(*one),
                _ => None,
            })
            .collect()
    }

    /// The same as a matrix of nodes × communities, 1 for a member and 0 for others.
    pub fn memberships(&self) -> Mat {
        let mut out = Mat::zeros(self.nodes, self.communities.len());
        for (i, community) in self.communities.iter().enumerate() {
            for &x in community {
                out[(x as usize, i)] = 1.0;
            }
        }
        out
    }

    /// The cover of the kept nodes alone, which are numbered anew in their order. All communities stay, some of them
    /// perhaps empty. This is how a truth that is known for part of the nodes is compared: restrict both covers to it.
    ///
    /// # Panics
    /// When `kept` does not have an entry for every node.
    ///
    /// # Example
    /// ```
    /// use tenfold::evaluate::Cover;
    /// let cover = Cover::new(4, vec![vec![0, 1], vec![1, 3]]);
    /// assert_eq!(cover.restricted(&[false, true, true, true]), Cover::new(3, vec![vec![0], vec![0, 2]]));
    /// ```
    pub fn restricted(&self, kept: &[bool]) -> Self {
        assert_eq!(kept.len(), self.nodes, "one entry for every node");
        let mut numbers = Vec::with_capacity(self.nodes);
        let mut next = 0u32;
        for &keep in kept {
            numbers.push(keep.then_some(next));
            next += u32::from(keep);
        }
        let communities = self
            .communities
            .iter()
            .map(|community| community.iter().filter_map(|&x| numbers[x as usize]).collect())
            .collect();
        Self { nodes: next as usize, communities }
    }

    /// For each node the communities that hold it.
    pub(super) fn by_node(&self) -> NodeLists {
        let mut starts = vec![0usize; self.nodes + 1];
        for &x in self.communities.iter().flatten() {
            starts[x as usize + 1] += 1;
        }
        for x in 0..self.nodes {
            starts[x + 1] += starts[x];
        }
        let mut next = starts.clone();
        let mut communities = vec![0u32; self.entries()];
        for (i, community) in self.communities.iter().enumerate() {
            for &x in community {
                communities[next[x as usize]] = i as u32;
                next[x as usize] += 1;
            }
        }
        NodeLists { starts, communities }
    }
}

/// For each node the communities that hold it, in order.
pub(super) struct NodeLists {
    starts: Vec<usize>,
    communities: Vec<u32>,
}

impl NodeLists {
    /// The communities of one node.
    pub(super) fn of(&self, node: usize) -> &[u32] {
        &self.communities[self.starts[node]..self.starts[node + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::linalg::random;

    #[test]
    fn lists_by_node_and_by_community_say_the_same() {
        let cover = Cover::new(6, vec![vec![5, 1, 1], vec![], vec![1, 0]]);
        let lists = cover.by_node();
        let by_node: Vec<&[u32]> = (0..6).map(|x| lists.of(x)).collect();
        assert_eq!(by_node, [&[2][..], &[0, 2], &[], &[], &[], &[0]]);
        assert_eq!(cover.entries(), 4);
        assert_eq!(Cover::above(&cover.memberships(), 1.0), cover);
    }

    #[test]
    #[should_panic(expected = "node 6 in a cover of 6 nodes")]
    fn a_node_that_there_is_not_is_refused() {
        Cover::new(6, vec![vec![1], vec![6]]);
    }

    #[test]
    fn labels_there_and_back() {
        let labels = [4u32, 4_000_000_000, 4, 7, 7];
        let cover = Cover::from_labels(&labels.map(Some));
        assert_eq!(cover.communities(), [vec![0, 2], vec![3, 4], vec![1]]);
        assert_eq!(cover.labels(), Some(vec![0, 2, 0, 1, 1]));
        assert_eq!(Cover::from_labels(&[None::<u8>; 3]), Cover::new(3, Vec::new()));
        assert_eq!(Cover::from_labels(&[Some(1), None]).labels(), None);
        assert_eq!(Cover::new(0, Vec::new()).labels(), Some(Vec::new()));
    }

    #[test]
    fn memberships_of_every_shape_become_covers() {
        let weights = random::gaussian(1700, 3, &mut random::rng(4, 0)).map(|x| (x - 0.5).max(0.0));
        let above = Cover::above(&weights, 0.3);
        let top = Cover::top(&weights);
        for x in 0..1700u32 {
            let row = weights.row(x as usize);
            let largest = row.iter().fold(0.0f64, |m, w| m.max(*w));
            for i in 0..3 {
                assert_eq!(above.communities()[i].contains(&x), row[i] >= 0.3);
                assert_eq!(top.communities()[i].contains(&x), largest > 0.0 && row[i] == largest);
            }
        }
        let alone = with_threads(1, || (Cover::above(&weights, 0.3), Cover::top(&weights)));
        assert_eq!((above, top), alone);
        for (n, k) in [(0, 0), (0, 2), (3, 0)] {
            let empty = Cover::new(n, vec![Vec::new(); k]);
            assert_eq!(
                (Cover::top(&Mat::zeros(n, k)), Cover::above(&Mat::zeros(n, k), 0.0)),
                (empty.clone(), empty)
            );
        }
    }
}
