//! Covers for the tests.

use super::Cover;
use rand::RngExt;
use tenfold_engine::linalg::random;

/// Two covers of 48 nodes: runs of eight that share a node with the next, and runs of ten with some nodes beside.
pub(super) fn blend() -> (Cover, Cover) {
    let of = |k: u32, inside: &dyn Fn(u32, u32) -> bool| {
        Cover::new(48, (0..k).map(|i| (0..48).filter(|&x| inside(x, i)).collect()).collect())
    };
    (
        of(6, &|x, i| x / 8 == i || (x % 8 == 0 && x / 8 == i + 1)),
        of(5, &|x, i| (x + 3) / 10 == i || x % 11 == i),
    )
}

/// Node x is in community i when (x² (i + s) + 3 x i + 7 x) mod 31 < q + 2 i.
pub(super) fn formula(n: u32, k: u32, s: u32, q: u32) -> Cover {
    let inside = |x: u32, i: u32| (x * x * (i + s) + 3 * x * i + 7 * x) % 31 < q + 2 * i;
    Cover::new(n as usize, (0..k).map(|i| (0..n).filter(|&x| inside(x, i)).collect()).collect())
}

/// Each node is in each community with the probability `share`, and communities are neither empty nor whole.
pub(super) fn random_cover(nodes: usize, k: usize, share: f64, stream: u64) -> Cover {
    let mut rng = random::rng(11, stream);
    let mut draw = || loop {
        let community: Vec<u32> = (0..nodes as u32).filter(|_| rng.random::<f64>() < share).collect();
        if !community.is_empty() && community.len() < nodes {
            return community;
        }
    };
    Cover::new(nodes, (0..k).map(|_| draw()).collect())
}

/// The same cover with communities and nodes in another order.
pub(super) fn shuffled(cover: &Cover, nodes: &[usize], communities: &[usize]) -> Cover {
    let renamed = |i: &usize| cover.communities()[*i].iter().map(|&x| nodes[x as usize] as u32).collect();
    Cover::new(cover.nodes(), communities.iter().map(renamed).collect())
}
