//! Balanced minimum evolution: the shortest tree, by moving whole branches.

use super::super::tree::Tree;
use super::pairs::Pairs;
use crate::error::Result;
use tenfold_engine::progress::Progress;

/// Sweeps over all branches, at most.
const SWEEPS: usize = 12;

/// Gains below this are rounding.
const SAME: f64 = 1e-9;

/// Moves branches of a binary tree while its balanced length falls. The length of a tree is Σ_{i<j} 2^{1−τ_ij} d_ij with τ_ij the
/// number of edges between two leaves; a branch S on the edge between A and B adds (d_SA + d_SB − d_AB)/2, where distances of
/// branches are balanced means. Every branch is tried on every edge; O(p²) a branch. Returns how many were moved.
///
/// # Errors
/// When the caller stops the run.
///
/// # References
/// Desper and Gascuel, "Fast and accurate phylogeny reconstruction algorithms based on the minimum-evolution principle", 2002.
/// Bordewich, Gascuel, Huber and Moulton, "Consistency of topological moves based on the balanced minimum evolution principle", 2009.
pub(crate) fn shorten(tree: &mut Tree, pairs: &Pairs, progress: &dyn Progress) -> Result<usize> {
    let mut made = 0;
    for _ in 0..SWEEPS {
        let before = made;
        let ends: Vec<(usize, usize)> = tree
            .edges()
            .into_iter()
            .flat_map(|(a, b, _)| [(a, b), (b, a)])
            .filter(|e| tree.is_hidden(e.0))
            .collect();
        for (at, branch) in ends {
            progress.check()?;
            if tree.length(at, branch).is_some() && tree.degree(at) == 3 {
                made += usize::from(relocate(tree, pairs, at, branch) > SAME);
            }
        }
        if made == before {
            break;
        }
    }
    Ok(made)
}

/// Moves the branch at `branch`, which hangs on `at`, to the edge where it costs least. Returns how much shorter the tree is.
fn relocate(tree: &mut Tree, pairs: &Pairs, at: usize, branch: usize) -> f64 {
    let mut weights = vec![0.0; pairs.count()];
    spread(tree, (at, branch), &mut weights);
    let own = tree.length(at, branch).unwrap_or(0.0);
    let sides: Vec<(usize, f64)> =
        tree.neighbours(at).iter().filter(|(n, _)| **n != branch).map(|(&n, &w)| (n, w)).collect();
    let [(a, x), (b, y)] = sides[..] else { return 0.0 };
    tree.cut(at, branch);
    tree.cut(at, a);
    tree.cut(at, b);
    tree.join(a, b, x + y);
    let (edge, gain) = cheapest(tree, pairs, &weights, (a, b));
    let moved = gain > SAME;
    let (a, b) = if moved { edge } else { (a, b) };
    let whole = tree.length(a, b).unwrap_or(0.0);
    tree.cut(a, b);
    tree.join(a, at, if moved { 0.5 * whole } else { x });
    tree.join(b, at, if moved { 0.5 * whole } else { y });
    tree.join(at, branch, own);
    if moved { gain } else { 0.0 }
}

/// Balanced weights of the leaves of a branch: 1 at its node, halved at every fork.
fn spread(tree: &Tree, branch: (usize, usize), weights: &mut [f64]) {
    let mut open = vec![(branch.0, branch.1, 1.0)];
    while let Some((from, node, weight)) = open.pop() {
        if !tree.is_hidden(node) {
            weights[node] += weight;
        }
        let share = weight / (tree.degree(node) - 1).max(1) as f64;
        open.extend(tree.neighbours(node).keys().filter(|&&n| n != from).map(|&n| (node, n, share)));
    }
}

/// The edge of the remaining tree where the branch with these leaf weights costs least, and what is gained against `home`.
fn cheapest(tree: &Tree, pairs: &Pairs, weights: &[f64], home: (usize, usize)) -> ((usize, usize), f64) {
    let mut to_branch = vec![0.0; pairs.count()];
    for (leaf, &w) in weights.iter().enumerate().filter(|w| *w.1 > 0.0) {
        to_branch.iter_mut().zip(pairs.row(leaf)).for_each(|(sum, d)| *sum += w * d);
    }
    // From home.0 as the root, home is the edge above home.1.
    let costs = costs(tree, pairs, &to_branch, home.0);
    let at_home = costs.iter().find(|c| c.0 == home).map_or(0.0, |c| c.1);
    let mut best = (home, 0.0);
    for &(edge, cost) in &costs {
        if at_home - cost > best.1 {
            best = (edge, at_home - cost);
        }
    }
    best
}

/// Edges (parent, node) seen from a root, with the cost (d_SA + d_SB − d_AB)/2 of a branch S there.
fn costs(tree: &Tree, pairs: &Pairs, to_branch: &[f64], root: usize) -> Vec<((usize, usize), f64)> {
    let order = tree.walk(root);
    let mut parents = vec![usize::MAX; tree.capacity()];
    order.iter().for_each(|&(node, parent)| parents[node] = parent.unwrap_or(usize::MAX));
    let mut below = vec![Mean::default(); tree.capacity()];
    for &(node, parent) in order.iter().skip(1).rev() {
        below[node] = if tree.is_hidden(node) {
            let children = tree.neighbours(node).keys().filter(|&&n| Some(n) != parent);
            Mean::of(&children.map(|&n| &below[n]).collect::<Vec<_>>())
        } else {
            Mean::leaf(pairs, to_branch, node)
        };
    }
    let mut above = vec![Mean::default(); tree.capacity()];
    let mut priced = Vec::with_capacity(order.len());
    for &(node, parent) in order.iter().skip(1) {
        let parent = parent.expect("only the root has none");
        above[node] = if tree.is_hidden(parent) {
            let others = tree.neighbours(parent).keys().filter(|&&n| n != node);
            let of = |&n: &usize| if n == parents[parent] { &above[parent] } else { &below[n] };
            Mean::of(&others.map(of).collect::<Vec<_>>())
        } else {
            Mean::leaf(pairs, to_branch, parent)
        };
        let across: f64 = below[node].leaves.iter().map(|&(leaf, w)| w * above[node].row[leaf]).sum();
        priced.push(((parent, node), 0.5 * (below[node].to_branch + above[node].to_branch - across)));
    }
    priced
}

/// Balanced means of what lies on one side of an edge.
#[derive(Clone, Default)]
struct Mean {
    /// Its leaves with their weights.
    leaves: Vec<(usize, f64)>,
    /// Its distance from every variable.
    row: Vec<f64>,
    /// Its distance from the branch that is placed.
    to_branch: f64,
}

impl Mean {
    fn leaf(pairs: &Pairs, to_branch: &[f64], leaf: usize) -> Self {
        Self { leaves: vec![(leaf, 1.0)], row: pairs.row(leaf).to_vec(), to_branch: to_branch[leaf] }
    }

    fn of(parts: &[&Self]) -> Self {
        let share = 1.0 / parts.len().max(1) as f64;
        let mut mean =
            Self { row: vec![0.0; parts.first().map_or(0, |part| part.row.len())], ..Self::default() };
        for part in parts {
            mean.leaves.extend(part.leaves.iter().map(|&(x, w)| (x, w * share)));
            mean.row.iter_mut().zip(&part.row).for_each(|(sum, d)| *sum += share * d);
            mean.to_branch += share * part.to_branch;
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::distances::Distances;
    use super::*;
    use rand::RngExt;
    use tenfold_engine::linalg::random;
    use tenfold_engine::progress::Silent;

    /// Σ_{i<j} 2^{1−τ_ij} d_ij, from its definition.
    fn length(tree: &Tree, pairs: &Pairs) -> f64 {
        let p = pairs.count();
        let mut sum = 0.0;
        for i in 0..p {
            let mut steps = vec![0; tree.capacity()];
            for (node, parent) in tree.walk(i).into_iter().skip(1) {
                steps[node] = steps[parent.unwrap()] + 1;
                if node > i && node < p {
                    sum += 2f64.powi(1 - steps[node]) * pairs.distance(i, node);
                }
            }
        }
        sum
    }

    #[test]
    fn every_move_shortens_the_tree_by_what_it_says() {
        let p = 9;
        let mut rng = random::rng(1, 0);
        let all = (0..p * (p - 1) / 2).map(|_| rng.random_range(0.5..2.0)).collect();
        let pairs = Pairs::new(&Distances::new(p, all, vec![])).unwrap();
        // A caterpillar.
        let mut tree = Tree::new(p);
        let mut last = 0;
        for leaf in 1..p - 1 {
            let h = tree.add_hidden();
            tree.join(last, h, 1.0);
            tree.join(leaf, h, 1.0);
            last = h;
        }
        tree.join(last, p - 1, 1.0);
        let mut moved = 0;
        for (a, b, _) in tree.edges() {
            for (at, branch) in [(a, b), (b, a)] {
                if tree.is_hidden(at) && tree.length(at, branch).is_some() {
                    let before = length(&tree, &pairs);
                    let gain = relocate(&mut tree, &pairs, at, branch);
                    assert!((before - length(&tree, &pairs) - gain).abs() < 1e-12);
                    moved += usize::from(gain > 0.0);
                }
            }
        }
        assert!(moved > 3);
        shorten(&mut tree, &pairs, &Silent).unwrap();
        assert_eq!(shorten(&mut tree, &pairs, &Silent).unwrap(), 0);
    }
}
