//! Neighbour joining.

use super::super::distances::Distances;
use super::super::tree::Tree;
use super::pairs::Pairs;
use crate::error::Result;
use tenfold_engine::progress::{Progress, Silent};

/// Neighbour joining: the two nodes with the smallest (m − 2) d_ij − Σ_k d_ik − Σ_k d_jk become neighbours of a new hidden node,
/// until three are left. O(p³).
///
/// # Errors
/// When a distance is not a number.
///
/// # Example
/// ```
/// use tenfold::trees::{Distances, structure};
/// let tree = structure::joining(&Distances::new(4, vec![2.0, 4.0, 4.0, 4.0, 4.0, 2.0], vec![]))?;
/// let pair = tree.neighbours(0).keys().next();
/// assert!(pair == tree.neighbours(1).keys().next() && pair != tree.neighbours(2).keys().next());
/// # Ok::<(), tenfold::Error>(())
/// ```
///
/// # References
/// Saitou and Nei, "The neighbor-joining method", 1987.
pub fn joining(distances: &Distances) -> Result<Tree> {
    of_pairs(&Pairs::new(distances)?, &Silent)
}

/// The same from dense rows.
pub(crate) fn of_pairs(pairs: &Pairs, progress: &dyn Progress) -> Result<Tree> {
    let mut tree = Tree::new(pairs.count());
    let all: Vec<usize> = (0..pairs.count()).collect();
    join(&mut tree, all, |i, j| pairs.distance(i, j), progress)?;
    Ok(tree)
}

/// Joins nodes of a tree that have no edges yet; `distance` takes places in `nodes`.
pub(crate) fn join(
    tree: &mut Tree,
    nodes: Vec<usize>,
    distance: impl Fn(usize, usize) -> f64,
    progress: &dyn Progress,
) -> Result<()> {
    let mut open = Open::new(nodes, distance);
    while open.nodes.len() > 3 {
        progress.check()?;
        let (i, j) = open.closest();
        open.merge(tree, i, j);
    }
    match open.nodes[..] {
        [a, b] => tree.join(a, b, open.rows[0][1]),
        [a, b, c] => {
            let d = |i: usize, j: usize| open.rows[i][j];
            let h = tree.add_hidden();
            tree.join(a, h, 0.5 * (d(0, 1) + d(0, 2) - d(1, 2)));
            tree.join(b, h, 0.5 * (d(0, 1) + d(1, 2) - d(0, 2)));
            tree.join(c, h, 0.5 * (d(0, 2) + d(1, 2) - d(0, 1)));
        }
        _ => {}
    }
    Ok(())
}

/// Nodes that still wait for neighbours, with their distances and the sums of these.
struct Open {
    nodes: Vec<usize>,
    rows: Vec<Vec<f64>>,
    sums: Vec<f64>,
}

impl Open {
    fn new(nodes: Vec<usize>, distance: impl Fn(usize, usize) -> f64) -> Self {
        let m = nodes.len();
        let rows: Vec<Vec<f64>> =
            (0..m).map(|i| (0..m).map(|j| if i == j { 0.0 } else { distance(i, j) }).collect()).collect();
        let sums = rows.iter().map(|row| row.iter().sum()).collect();
        Self { nodes, rows, sums }
    }

    /// The pair i < j with the smallest criterion, the earliest of equals.
    fn closest(&self) -> (usize, usize) {
        let m = self.nodes.len();
        let scale = (m - 2) as f64;
        let (mut least, mut pair) = (f64::INFINITY, (0, 1));
        for i in 0..m - 1 {
            let (row, sums) = (&self.rows[i][i + 1..m], &self.sums[i + 1..m]);
            // A loop for the minimum alone runs in wide registers; its place is looked up only when it is the best so far.
            let lowest = row.iter().zip(sums).fold(f64::INFINITY, |low, (d, s)| (scale * d - s).min(low));
            if lowest - self.sums[i] < least {
                least = lowest - self.sums[i];
                let at = row.iter().zip(sums).position(|(d, s)| scale * d - s <= lowest);
                pair = (i, i + 1 + at.unwrap_or(0));
            }
        }
        pair
    }

    /// Joins i < j at a new hidden node, which takes the place of i; the last takes that of j.
    fn merge(&mut self, tree: &mut Tree, i: usize, j: usize) {
        let m = self.nodes.len();
        let apart = self.rows[i][j];
        let left = 0.5 * apart + (self.sums[i] - self.sums[j]) / (2.0 * (m - 2) as f64);
        let h = tree.add_hidden();
        tree.join(self.nodes[i], h, left);
        tree.join(self.nodes[j], h, apart - left);
        self.nodes[i] = h;
        let mut sum = 0.0;
        for k in (0..m).filter(|&k| k != i && k != j) {
            let new = 0.5 * (self.rows[i][k] + self.rows[j][k] - apart);
            self.sums[k] += new - self.rows[k][i] - self.rows[k][j];
            self.rows[i][k] = new;
            self.rows[k][i] = new;
            sum += new;
        }
        self.sums[i] = sum;
        self.nodes.swap_remove(j);
        self.sums.swap_remove(j);
        self.rows.swap_remove(j);
        for row in &mut self.rows {
            row.swap_remove(j);
        }
    }
}
