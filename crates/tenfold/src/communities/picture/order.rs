//! Nodes by main community, then by degree.

use rayon::prelude::*;
use std::cmp::Reverse;
use tenfold_engine::linalg::Tall;

/// Nodes with edges in the order of a picture. Those without belong nowhere, and would be most of some pictures.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::communities) struct Order {
    /// Nodes, those of community 0 first, each community's by falling degree.
    pub nodes: Vec<u32>,
    /// Where each community begins, and the end: k + 1 places.
    pub borders: Vec<usize>,
}

impl Order {
    /// The order of nodes with these main communities.
    pub fn new(mains: &[u32], degrees: impl Fn(usize) -> f64 + Sync, k: usize) -> Self {
        let mut nodes: Vec<u32> = (0..mains.len() as u32).filter(|&u| degrees(u as usize) > 0.0).collect();
        // Degrees are not negative, and such numbers sort like their bits.
        nodes.par_sort_unstable_by_key(|&u| (mains[u as usize], Reverse(degrees(u as usize).to_bits()), u));
        let mut borders = vec![0; k + 1];
        nodes.iter().for_each(|&u| borders[mains[u as usize] as usize + 1] += 1);
        (0..k).for_each(|c| borders[c + 1] += borders[c]);
        Self { nodes, borders }
    }

    /// The order of nodes by these memberships.
    pub fn of(memberships: &Tall, degrees: &[f64]) -> Self {
        let mains: Vec<u32> =
            (0..memberships.rows()).into_par_iter().map(|u| largest(memberships.row(u))).collect();
        Self::new(&mains, |u| degrees[u], memberships.width())
    }

    /// Number of nodes of a community.
    pub fn size(&self, community: usize) -> usize {
        self.borders[community + 1] - self.borders[community]
    }

    /// Nodes of a community.
    pub fn members(&self, community: usize) -> &[u32] {
        &self.nodes[self.borders[community]..self.borders[community + 1]]
    }
}

/// The place of the largest share, the first of equal ones.
pub(in crate::communities) fn largest<T: PartialOrd + Copy>(row: &[T]) -> u32 {
    let mut best = 0;
    for (c, x) in row.iter().enumerate() {
        if *x > row[best] {
            best = c;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_stand_by_community_then_by_degree() {
        let shares = vec![0.2, 0.8, 0.9, 0.1, 0.5, 0.5, 0.0, 1.0, 0.7, 0.3, 0.6, 0.4];
        let memberships = Tall::from_vec(6, 2, shares).unwrap();
        // The last node has no edges.
        let order = Order::of(&memberships, &[3.0, 1.0, 1.0, 7.0, 2.0, 0.0]);
        assert_eq!(order.nodes, [4, 1, 2, 3, 0]);
        assert_eq!(order.borders, [0, 3, 5]);
        assert_eq!((order.size(1), order.members(1)), (2, &[3, 0][..]));
    }
}
