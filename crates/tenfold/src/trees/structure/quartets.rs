//! Quartets around an edge, and the interchange of its four branches.

use super::super::tree::Tree;
use super::branches::{Branches, Near};
use super::pairs::Pairs;
use crate::error::Result;
use tenfold_engine::progress::Progress;

/// Observed variables that speak for a branch: more cost the fourth power and are farther, so that they weigh little.
pub(crate) const NEAR: usize = 3;

/// Sweeps until no interchange is left, at most.
const SWEEPS: usize = 40;

/// Sums differ by rounding only below this.
const SAME: f64 = 1e-9;

/// The mean sums of the three ways to pair four branches: ab|cd, ac|bd, ad|bc. A quartet of variables weighs by the variances of
/// its six distances, v⁻¹.
pub(crate) fn sums(pairs: &Pairs, branches: [&[Near]; 4]) -> [f64; 3] {
    let (mut total, mut sums) = (0.0, [0.0; 3]);
    let [one, two, three, four] = branches;
    for &(a, _) in one {
        for &(b, _) in two {
            let (d_ab, v_ab) = (pairs.distance(a, b), pairs.variance(a, b));
            for &(c, _) in three {
                let (d_ac, d_bc) = (pairs.distance(a, c), pairs.distance(b, c));
                let v_abc = v_ab + pairs.variance(a, c) + pairs.variance(b, c);
                for &(d, _) in four {
                    let v = v_abc + pairs.variance(a, d) + pairs.variance(b, d) + pairs.variance(c, d);
                    let w = 1.0 / v.max(f64::MIN_POSITIVE);
                    total += w;
                    sums[0] += w * (d_ab + pairs.distance(c, d));
                    sums[1] += w * (d_ac + pairs.distance(b, d));
                    sums[2] += w * (pairs.distance(a, d) + d_bc);
                }
            }
        }
    }
    sums.map(|s| s / total)
}

/// A better pairing of the branches of an edge between hidden nodes.
struct Swap {
    gain: f64,
    /// The edge's ends.
    ends: [usize; 2],
    /// Its branches: a and b at the first end, c and d at the second.
    around: [usize; 4],
    /// Which branch changes places with b: 2 (c) or 3 (d).
    with: usize,
}

/// Nearest-neighbour interchange on a binary tree: an edge ab|cd whose quartets are shorter as ac|bd or ad|bc is turned, the
/// clearest first, in sweeps of interchanges that do not touch each other. Returns how many were made.
///
/// # Errors
/// When the caller stops the run.
pub(crate) fn interchange(tree: &mut Tree, pairs: &Pairs, progress: &dyn Progress) -> Result<usize> {
    let mut made = 0;
    for _ in 0..SWEEPS {
        progress.check()?;
        let branches = Branches::new(tree, NEAR);
        let mut swaps: Vec<Swap> = tree
            .edges()
            .into_iter()
            .filter(|&(u, v, _)| tree.is_hidden(u) && tree.is_hidden(v))
            .filter_map(|(u, v, _)| better(tree, pairs, &branches, [u, v]))
            .collect();
        if swaps.is_empty() {
            break;
        }
        swaps.sort_by(|x, y| y.gain.total_cmp(&x.gain).then(x.ends.cmp(&y.ends)));
        let mut touched = vec![false; tree.capacity()];
        for swap in &swaps {
            let nodes: Vec<usize> = swap.ends.iter().chain(&swap.around).copied().collect();
            if nodes.iter().any(|&node| touched[node]) {
                continue;
            }
            nodes.iter().for_each(|&node| touched[node] = true);
            turn(tree, swap);
            made += 1;
        }
    }
    Ok(made)
}

fn better(tree: &Tree, pairs: &Pairs, branches: &Branches, ends: [usize; 2]) -> Option<Swap> {
    let [u, v] = ends;
    let others = |at: usize, not: usize| {
        let mut of = tree.neighbours(at).keys().copied().filter(move |&n| n != not);
        Some([of.next()?, of.next()?])
    };
    let ([a, b], [c, d]) = (others(u, v)?, others(v, u)?);
    let sums = sums(
        pairs,
        [branches.behind(u, a), branches.behind(u, b), branches.behind(v, c), branches.behind(v, d)],
    );
    let with = if sums[1] <= sums[2] { 1 } else { 2 };
    let gain = sums[0] - sums[with];
    (gain > SAME).then_some(Swap { gain, ends, around: [a, b, c, d], with: with + 1 })
}

fn turn(tree: &mut Tree, swap: &Swap) {
    let [u, v] = swap.ends;
    let (b, x) = (swap.around[1], swap.around[swap.with]);
    let (left, right) = (tree.length(u, b).unwrap_or(0.0), tree.length(v, x).unwrap_or(0.0));
    tree.cut(u, b);
    tree.cut(v, x);
    tree.join(u, x, right);
    tree.join(v, b, left);
}
