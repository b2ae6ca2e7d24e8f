//! The nodes that stand for a community, and those that stand between communities.

use super::Members;
use crate::evaluate::bridgeness_of;
use rayon::prelude::*;

/// Nodes that one task looks through.
const NODES_A_TASK: usize = 4096;

/// A node between communities.
#[derive(Debug, Clone, PartialEq)]
pub struct Bridge {
    /// The node's number.
    pub node: usize,
    /// 1 − √(k/(k−1) Σ_c (π_c − 1/k)²): 0 for a node of one community, 1 for one of all alike.
    pub bridgeness: f64,
    /// The same times the node's degree: it tells bridges from strays.
    pub corrected: f64,
}

/// What nodes are ranked by, the node, and what goes with it.
type Ranked<T> = (f64, usize, T);

impl Members<'_> {
    /// For every community its leading members, at most `count`: those with the most edges in it, which is their membership
    /// times their degree, with their membership. Where degrees are not known every node counts the same.
    ///
    /// # Complexity
    /// O(n k), in parallel.
    pub fn leading(&self, count: usize) -> Vec<Vec<(usize, f64)>> {
        let empty = || vec![Vec::new(); self.k()];
        let best = self.gathered(empty, count, |node, row, best| {
            let degree = self.degree(node).unwrap_or(1.0);
            for (own, &share) in best.iter_mut().zip(row).filter(|(_, share)| **share > 0.0) {
                let share = f64::from(share);
                offer(own, (share * degree, node, share), count);
            }
        });
        best.into_iter().map(|own| own.into_iter().map(|(_, node, share)| (node, share)).collect()).collect()
    }

    /// The nodes between communities, at most `count`: those with the largest bridgeness times degree or, when not
    /// `corrected`, with the largest bridgeness among those that have edges. Where degrees are not known every node counts
    /// the same.
    ///
    /// # Complexity
    /// O(n k), in parallel.
    ///
    /// # References
    /// As [`bridgeness`](crate::evaluate::bridgeness).
    pub fn bridges(&self, count: usize, corrected: bool) -> Vec<Bridge> {
        let best = self.gathered(
            || vec![Vec::new()],
            count,
            |node, row, best| {
                let degree = self.degree(node).unwrap_or(1.0);
                if degree > 0.0 {
                    let plain = bridgeness_of(row);
                    let rank = if corrected { plain * degree } else { plain };
                    offer(&mut best[0], (rank, node, (plain, plain * degree)), count);
                }
            },
        );
        let bridge = |(_, node, (bridgeness, corrected))| Bridge { node, bridgeness, corrected };
        best.into_iter().flatten().map(bridge).collect()
    }

    /// Lists of the best nodes: those of every task, joined in the order of the tasks.
    fn gathered<T: Copy + Send>(
        &self,
        empty: impl Fn() -> Vec<Vec<Ranked<T>>> + Sync,
        count: usize,
        look: impl Fn(usize, &[f32], &mut [Vec<Ranked<T>>]) + Sync,
    ) -> Vec<Vec<Ranked<T>>> {
        let parts: Vec<Vec<Vec<Ranked<T>>>> = (0..self.len().div_ceil(NODES_A_TASK))
            .into_par_iter()
            .map(|task| {
                let (mut best, mut row) = (empty(), Vec::new());
                for node in task * NODES_A_TASK..((task + 1) * NODES_A_TASK).min(self.len()) {
                    self.read(node, &mut row);
                    look(node, &row, &mut best);
                }
                best
            })
            .collect();
        let mut best = empty();
        for part in parts {
            best.iter_mut().zip(part).for_each(|(best, found)| best.extend(found));
        }
        best.iter_mut().for_each(|best| keep(best, count));
        best
    }
}

/// Takes a node in; the list is cut back when it has become twice as long as it need be.
fn offer<T: Copy>(best: &mut Vec<Ranked<T>>, candidate: Ranked<T>, count: usize) {
    best.push(candidate);
    if best.len() >= count.saturating_mul(2).saturating_add(16) {
        keep(best, count);
    }
}

/// The first `count` by rank; of equals those with the smaller number.
fn keep<T: Copy>(best: &mut Vec<Ranked<T>>, count: usize) {
    best.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::super::super::data::Ids;
    use super::super::{Edges, Part};
    use super::*;
    use tenfold_engine::linalg::Tall;

    #[test]
    fn degrees_tell_bridges_from_strays() {
        let ids = Ids::counted(0, 4);
        let rows = Tall::from_vec(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.75, 0.25, 0.5, 0.5]).unwrap();
        let (all, explained) = ([9.0, 1.0, 8.0, 0.0], [9.0, 1.0, 8.0, 0.0]);
        let edges = Some(Edges { all: &all, explained: &explained });
        let members = Members { ids: &ids, own: Part { rows: &rows, edges }, other: None };
        let nodes = |corrected| members.bridges(3, corrected).iter().map(|b| b.node).collect::<Vec<_>>();
        assert_eq!((nodes(true), nodes(false)), (vec![2, 1, 0], vec![1, 2, 0]));
        assert_eq!(members.bridges(1, true), [Bridge { node: 2, bridgeness: 0.5, corrected: 4.0 }]);
        assert_eq!(members.leading(2), [vec![(0, 1.0), (2, 0.75)], vec![(2, 0.25), (1, 0.5)]]);
        // Without degrees all count the same.
        assert_eq!(
            Members::new(&ids, &rows).bridges(2, true).iter().map(|b| b.node).collect::<Vec<_>>(),
            [1, 3]
        );
    }

    #[test]
    fn more_nodes_than_a_task_are_ranked_as_one_list() {
        let n = 3 * NODES_A_TASK + 5;
        let ids = Ids::counted(0, n);
        let data = (0..n).flat_map(|u| [((u * 7919) % n) as f32 / n as f32, 0.0]).collect();
        let rows = Tall::from_vec(n, 2, data).unwrap();
        let found = Members::new(&ids, &rows).leading(50);
        let mut all: Vec<(usize, f64)> = (0..n).map(|u| (u, f64::from(rows.row(u)[0]))).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        assert_eq!((&found[0][..], found[1].is_empty()), (&all[..50], true));
    }
}
