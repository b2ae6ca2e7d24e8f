//! Recursive grouping in the neighbourhoods of the spanning tree.

use super::super::tree::Tree;
use super::binary::lower;
use super::joining;
use super::merge;
use super::pairs::Pairs;
use super::spanning;
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::progress::{Progress, Silent};

/// Neighbourhoods larger than this are joined instead: grouping looks at all triples again for every family.
const LARGE: usize = 48;

/// Spreads below this are rounding.
const ROUNDING: f64 = 1e-9;

/// A local tree: the centre is node 0, its neighbours in the spanning tree follow.
pub(crate) struct Local {
    /// Variables by their place.
    pub(crate) members: Vec<usize>,
    /// The tree over their places, with hidden nodes above.
    pub(crate) tree: Tree,
}

/// A tree by grouping the neighbourhood of every inner node of the spanning tree, and merging the local trees along its edges.
///
/// # Errors
/// When the caller stops the run.
pub(crate) fn of_pairs(pairs: &Pairs, progress: &dyn Progress) -> Result<Tree> {
    let map = spanning::of_pairs(pairs);
    let centres: Vec<usize> = map.nodes().filter(|&v| map.degree(v) > 1).collect();
    let mut errors: Vec<f64> = map.edges().iter().map(|&(a, b, _)| pairs.error(a, b)).collect();
    errors.sort_by(f64::total_cmp);
    let slack = (2.0 * errors.get(errors.len() / 2).copied().unwrap_or(0.0)).max(ROUNDING);
    progress.stage("grouping", centres.len() as u64);
    // Every neighbourhood is its own job, and the results stay in the order of the centres.
    let locals: Vec<Result<Local>> = centres
        .par_iter()
        .map(|&centre| {
            progress.check()?;
            let members: Vec<usize> =
                std::iter::once(centre).chain(map.neighbours(centre).keys().copied()).collect();
            let tree = local(&members, pairs, slack)?;
            progress.advance(1);
            Ok(Local { members, tree })
        })
        .collect();
    Ok(merge::merge(&map, locals.into_iter().collect::<Result<Vec<_>>>()?, pairs))
}

/// The tree of a neighbourhood, in which all but the centre are leaves.
fn local(members: &[usize], pairs: &Pairs, slack: f64) -> Result<Tree> {
    let m = members.len();
    let distance = |i: usize, j: usize| pairs.distance(members[i], members[j]);
    let mut tree = Tree::new(m);
    if m > LARGE {
        joining::join(&mut tree, (0..m).collect(), distance, &Silent)?;
    } else {
        let rows = (0..m).map(|i| (0..m).map(|j| distance(i, j)).collect()).collect();
        Groups { nodes: (0..m).collect(), rows, slack }.run(&mut tree);
    }
    for node in 1..m {
        if tree.degree(node) > 1 {
            lower(&mut tree, node);
        }
    }
    Ok(tree)
}

/// Nodes that still wait for their family.
struct Groups {
    nodes: Vec<usize>,
    rows: Vec<Vec<f64>>,
    /// Spreads and lengths below this count as none.
    slack: f64,
}

impl Groups {
    fn run(mut self, tree: &mut Tree) {
        while self.nodes.len() > 2 {
            let family = self.family();
            let lengths: Vec<f64> = family.iter().map(|&x| self.to_parent(x, &family)).collect();
            let least =
                (0..family.len()).min_by(|&x, &y| lengths[x].total_cmp(&lengths[y])).expect("a family");
            if lengths[least] < self.slack {
                self.adopt(tree, &family, family[least]);
            } else {
                self.found(tree, &family, &lengths);
            }
        }
        if let [a, b] = self.nodes[..] {
            tree.join(a, b, self.rows[0][1].max(0.0));
        }
    }

    /// The spread of d_ik − d_jk over k, 0 for siblings and for a node and its parent, and its mean, the difference of lengths.
    fn spread(&self, i: usize, j: usize) -> (f64, f64) {
        let (mut low, mut high, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for k in (0..self.nodes.len()).filter(|&k| k != i && k != j) {
            let phi = self.rows[i][k] - self.rows[j][k];
            (low, high, sum) = (low.min(phi), high.max(phi), sum + phi);
        }
        (high - low, sum / (self.nodes.len() - 2) as f64)
    }

    /// The two nodes with the smallest spread, and all that are siblings of both.
    fn family(&self) -> Vec<usize> {
        let m = self.nodes.len();
        if m == 3 {
            return vec![0, 1, 2];
        }
        let (mut least, mut pair) = (f64::INFINITY, (0, 1));
        for i in 0..m {
            for j in i + 1..m {
                let spread = self.spread(i, j).0;
                if spread < least {
                    (least, pair) = (spread, (i, j));
                }
            }
        }
        let (i, j) = pair;
        let also =
            |x: &usize| *x != i && *x != j && self.spread(i, *x).0.max(self.spread(j, *x).0) < self.slack;
        let mut family = vec![i, j];
        family.extend((0..m).filter(also));
        family
    }

    /// The distance to the family's parent: the mean of (d_xy + d_xk − d_yk)/2.
    fn to_parent(&self, x: usize, family: &[usize]) -> f64 {
        if self.nodes.len() == 3 {
            let (y, z) = ((x + 1) % 3, (x + 2) % 3);
            return 0.5 * (self.rows[x][y] + self.rows[x][z] - self.rows[y][z]);
        }
        let others = family.iter().filter(|&&y| y != x);
        let sum: f64 = others.map(|&y| 0.5 * (self.rows[x][y] + self.spread(x, y).1)).sum();
        sum / (family.len() - 1) as f64
    }

    /// One of the family is the parent of the others.
    fn adopt(&mut self, tree: &mut Tree, family: &[usize], parent: usize) {
        for &x in family.iter().filter(|&&x| x != parent) {
            tree.join(self.nodes[x], self.nodes[parent], self.rows[x][parent].max(0.0));
        }
        self.keep(|x| x == parent || !family.contains(&x));
    }

    /// The family gets a hidden parent.
    fn found(&mut self, tree: &mut Tree, family: &[usize], lengths: &[f64]) {
        let h = tree.add_hidden();
        for (&x, &length) in family.iter().zip(lengths) {
            tree.join(self.nodes[x], h, length.max(0.0));
        }
        let far = |k: usize| {
            family.iter().zip(lengths).map(|(&x, l)| self.rows[x][k] - l).sum::<f64>() / family.len() as f64
        };
        let new: Vec<f64> = (0..self.nodes.len()).filter(|k| !family.contains(k)).map(far).collect();
        self.keep(|x| !family.contains(&x));
        self.nodes.push(h);
        self.rows.iter_mut().zip(&new).for_each(|(row, &d)| row.push(d));
        self.rows.push(new.into_iter().chain([0.0]).collect());
    }

    fn keep(&mut self, stays: impl Fn(usize) -> bool) {
        let chosen: Vec<usize> = (0..self.nodes.len()).filter(|&x| stays(x)).collect();
        self.rows = chosen.iter().map(|&i| chosen.iter().map(|&j| self.rows[i][j]).collect()).collect();
        self.nodes = chosen.iter().map(|&i| self.nodes[i]).collect();
    }
}
