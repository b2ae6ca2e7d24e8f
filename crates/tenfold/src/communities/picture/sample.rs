//! Some nodes of a graph and links between them: few enough to be drawn.

use super::{AllNodes, Order};
use crate::communities::data::{Graph, Kind};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most nodes and links of the drawing: more would be a cloud.
pub(super) const NODES: usize = 400;
pub(super) const LINKS: usize = 2000;
/// Of the nodes, those between communities.
const BRIDGES: usize = NODES / 10;
/// Links that every node keeps if it has them; the others are thinned out.
const KEPT: usize = 2;

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::communities) struct Sample {
    /// Nodes; those of the right side come after those of the left one.
    pub nodes: Vec<usize>,
    /// Links between places in `nodes`.
    pub links: Vec<(usize, usize)>,
    /// Links between these nodes before thinning.
    pub between: usize,
}

impl Sample {
    /// All nodes of a small graph. Of a large one the nodes with the largest degree-corrected bridgeness, and for every
    /// community, by its size, a part that hangs together: its hub, then again and again the member with the most links
    /// to those already there.
    ///
    /// # Complexity
    /// O(nodes · k) for the bridges, and the edges of the nodes that are taken.
    pub fn draw(graph: &Graph, all: &AllNodes<'_>) -> Self {
        let mut nodes: Vec<usize> = if all.len() <= NODES {
            (0..all.len()).collect()
        } else {
            let mains = all.mains();
            let order = Order::new(&mains, |u| all.degree(u), all.k());
            let mut growing = Growing::new(graph, all, &mains);
            bridges(all).into_iter().for_each(|u| growing.take(u));
            for (c, quota) in quotas(&order, NODES - growing.taken.len()).into_iter().enumerate() {
                growing.grow(order.members(c), quota);
            }
            growing.taken
        };
        nodes.sort_unstable();
        let found = links(graph, &nodes);
        let between = found.len();
        Self { links: thinned(found, nodes.len()), nodes, between }
    }
}

/// The nodes with the largest degree-corrected bridgeness.
fn bridges(all: &AllNodes<'_>) -> Vec<usize> {
    let k = all.k() as f64;
    let corrected = |u: usize| {
        let spread: f64 = all.mix(u).iter().map(|x| (x - 1.0 / k).powi(2)).sum();
        let bridgeness = if k > 1.0 { (1.0 - (k / (k - 1.0) * spread).sqrt()).max(0.0) } else { 0.0 };
        bridgeness * all.degree(u)
    };
    let mut found: Vec<(f64, usize)> =
        (0..all.len()).into_par_iter().map(|u| (corrected(u), u)).filter(|b| b.0 > 0.0).collect();
    found.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.truncate(BRIDGES);
    found.into_iter().map(|b| b.1).collect()
}

/// How many nodes each community gets: by its size, and at least one while there is room.
fn quotas(order: &Order, room: usize) -> Vec<usize> {
    let k = order.borders.len() - 1;
    let total = order.nodes.len().max(1);
    let mut quotas: Vec<usize> = (0..k).map(|c| order.size(c) * room / total).collect();
    let mut left = room - quotas.iter().sum::<usize>();
    // Communities come by size, but for ties of other sides: the largest first.
    let mut by_size: Vec<usize> = (0..k).collect();
    by_size.sort_by_key(|&c| (quotas[c] > 0, Reverse(order.size(c)), c));
    for c in by_size {
        if left > 0 && quotas[c] < order.size(c) {
            quotas[c] += 1;
            left -= 1;
        }
    }
    quotas
}

/// Nodes taken so far, and how many links lead from them to others of the same community.
struct Growing<'a> {
    graph: &'a Graph,
    all: &'a AllNodes<'a>,
    mains: &'a [u32],
    links: Vec<u32>,
    is_taken: Vec<bool>,
    taken: Vec<usize>,
    /// Links, degree (its bits) and node; an entry with fewer links than `links` says is out of date.
    next: Vec<BinaryHeap<(u32, u64, Reverse<usize>)>>,
}

impl<'a> Growing<'a> {
    fn new(graph: &'a Graph, all: &'a AllNodes<'a>, mains: &'a [u32]) -> Self {
        let n = mains.len();
        let next = vec![BinaryHeap::new(); all.k()];
        Self { graph, all, mains, links: vec![0; n], is_taken: vec![false; n], taken: Vec::new(), next }
    }

    fn take(&mut self, node: usize) {
        self.is_taken[node] = true;
        self.taken.push(node);
        let main = self.mains[node];
        neighbours(self.graph, node, |v, _| {
            if self.mains[v] == main && !self.is_taken[v] {
                self.links[v] += 1;
                let entry = (self.links[v], self.all.degree(v).to_bits(), Reverse(v));
                self.next[main as usize].push(entry);
            }
        });
    }

    /// Takes so many of the members, which come by falling degree.
    fn grow(&mut self, members: &[u32], quota: usize) {
        let Some(main) = members.first().map(|&u| self.mains[u as usize] as usize) else { return };
        let mut hubs = members.iter().map(|&u| u as usize);
        for _ in 0..quota {
            let linked = loop {
                match self.next[main].pop() {
                    Some((links, _, Reverse(v))) if self.is_taken[v] || links < self.links[v] => {}
                    found => break found.map(|entry| entry.2.0),
                }
            };
            let Some(node) = linked.or_else(|| hubs.find(|&u| !self.is_taken[u])) else { return };
            self.take(node);
        }
    }
}

/// Every node at the other end of an edge, with the edge's weight; one that is linked both ways comes twice.
fn neighbours(graph: &Graph, node: usize, mut tell: impl FnMut(usize, f32)) {
    let left = graph.nodes();
    let mut row = |(at, weights): (&[u32], Option<&[f32]>), first: usize| {
        at.iter().enumerate().for_each(|(e, &v)| tell(first + v as usize, weights.map_or(1.0, |w| w[e])));
    };
    match (graph.kind(), graph.transposed()) {
        (Kind::Bipartite, Some(transposed)) if node >= left => row(transposed.row(node - left), 0),
        (Kind::Bipartite, _) => row(graph.adjacency().row(node), left),
        (_, transposed) => {
            row(graph.adjacency().row(node), 0);
            transposed.into_iter().for_each(|t| row(t.row(node), 0));
        }
    }
}

/// A link between two places, the smaller first, and its weight.
type Link = ((usize, usize), f32);

/// The links between nodes, which ascend.
fn links(graph: &Graph, nodes: &[usize]) -> Vec<Link> {
    let mut found = Vec::new();
    for (a, &u) in nodes.iter().enumerate() {
        neighbours(graph, u, |v, weight| {
            if let Ok(b) = nodes.binary_search(&v)
                && a < b
            {
                found.push(((a, b), weight));
            }
        });
    }
    // Of links in both directions the heavier stays.
    found.sort_unstable_by(|x, y| x.0.cmp(&y.0).then(y.1.total_cmp(&x.1)));
    found.dedup_by_key(|link| link.0);
    found
}

/// At most [`LINKS`] of the links: the heaviest, and of equal ones a random choice that is always the same; but a few
/// of every node before all.
fn thinned(mut all: Vec<Link>, nodes: usize) -> Vec<(usize, usize)> {
    if all.len() > LINKS {
        all.sort_unstable_by(|x, y| y.1.total_cmp(&x.1).then(mixed(x.0).cmp(&mixed(y.0))));
        let mut has = vec![0; nodes];
        let needed = |link: &Link| {
            let ((a, b), _) = *link;
            let needed = has[a] < KEPT || has[b] < KEPT;
            if needed {
                has[a] += 1;
                has[b] += 1;
            }
            needed
        };
        let (mut kept, rest): (Vec<Link>, Vec<Link>) = all.into_iter().partition(needed);
        kept.extend(rest.into_iter().take(LINKS.saturating_sub(kept.len())));
        kept.truncate(LINKS);
        all = kept;
    }
    let mut out: Vec<(usize, usize)> = all.into_iter().map(|link| link.0).collect();
    out.sort_unstable();
    out
}

/// A number that looks random (the last step of splitmix64), and depends on the places only.
fn mixed((a, b): (usize, usize)) -> u64 {
    let mut z = ((a as u64) << 32 | b as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communities_get_nodes_by_size_and_small_ones_get_one() {
        let mut mains = vec![0; 600];
        mains.extend(vec![1; 300]);
        mains.extend([2, 3]);
        let order = Order::new(&mains, |_| 1.0, 5);
        let quotas = quotas(&order, 90);
        assert_eq!(quotas, [59, 29, 1, 1, 0]);
        assert_eq!(quotas.iter().sum::<usize>(), 90);
    }

    #[test]
    fn thinning_keeps_a_few_links_of_every_node() {
        // Everybody is linked with everybody, heavily but for the last node.
        let n = 120;
        let weight = |b: usize| if b == n - 1 { 0.1 } else { 1.0 };
        let all: Vec<Link> = (0..n).flat_map(|a| (a + 1..n).map(move |b| ((a, b), weight(b)))).collect();
        let kept = thinned(all.clone(), n);
        assert_eq!(kept.len(), LINKS);
        for node in 0..n {
            assert!(kept.iter().filter(|l| l.0 == node || l.1 == node).count() >= KEPT, "node {node}");
        }
        assert_eq!(kept, thinned(all, n), "always the same");
        assert_eq!(thinned(vec![((0, 1), 1.0)], 2), [(0, 1)]);
    }
}
