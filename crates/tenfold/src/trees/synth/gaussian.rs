//! Draws linear Gaussian trees: every node a vector of unit covariance, every edge a linear map with noise.

use super::{SHAPE, Synth, TABLES};
use crate::error::{Error, Result};
use crate::trees::data::{Kind, Table, Variable};
use crate::trees::tree::Tree;
use rand::RngExt;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::block_range;
use tenfold_engine::linalg::random::{self, Rng};

/// Random streams of samples begin here; so many samples share one.
const SAMPLES: u64 = 8 << 32;
const STREAM: usize = 1024;

/// A linear Gaussian tree with samples of its observed nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianTree {
    /// The samples.
    pub table: Table,
    /// The tree; an edge is as long as −Σ log of its correlations.
    pub tree: Tree,
    /// Nodes with their parents, parents first, and the map A of each node: x = A x_parent + noise, Cov(x) = 1.
    pub nodes: Vec<(usize, Option<usize>, Mat)>,
}

impl GaussianTree {
    /// Draws a tree whose hidden nodes are vectors of `states` numbers, whose leaves have `width` of them, and whose edges
    /// have correlations drawn evenly from `strength`. The hidden rank is then `states`, not one less.
    ///
    /// # Errors
    /// As [`Synth::draw`], and when leaves are narrower than hidden nodes.
    ///
    /// # Example
    /// ```
    /// use tenfold::trees::{GaussianTree, Synth};
    /// let drawn = GaussianTree::draw(&Synth { variables: 5, samples: 50, width: 3, ..Synth::default() })?;
    /// assert_eq!((drawn.table.samples(), drawn.table.features()), (50, 15));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn draw(synth: &Synth) -> Result<Self> {
        synth.check()?;
        if synth.width < synth.states {
            return Err(Error::BadParameter {
                name: "width".into(),
                value: synth.width.to_string(),
                expected: format!("at least the width of hidden nodes, {}", synth.states),
            });
        }
        let mut tree = synth.forest(&mut random::rng(synth.seed, SHAPE));
        let nodes = maps(synth, &mut tree, &mut random::rng(synth.seed, TABLES))?;
        let variable = |v: usize| {
            let width = nodes.iter().find(|n| n.0 == v).map_or(0, |n| n.2.rows());
            let labels = (0..width).map(|l| l.to_string()).collect();
            Variable { name: format!("x{v}"), kind: Kind::Real, labels }
        };
        let table = Table::new((0..tree.observed()).map(variable).collect())?;
        let mut drawn = Self { table, tree, nodes };
        for block in 0..synth.samples.div_ceil(STREAM) {
            let mut rng = random::rng(synth.seed, SAMPLES + block as u64);
            block_range(block, synth.samples, STREAM).for_each(|_| drawn.sample(&mut rng));
        }
        Ok(drawn)
    }

    fn sample(&mut self, rng: &mut Rng) {
        let mut at: Vec<Vec<f64>> = vec![Vec::new(); self.tree.capacity()];
        for (node, parent, map) in &self.nodes {
            let mut x: Vec<f64> = (0..map.rows()).map(|_| random::normal(rng)).collect();
            if let Some(parent) = parent {
                // The map is Q R with orthonormal columns Q, so that noise of covariance 1 − QR²Qᵀ is (1 − Q(1 − √(1 − R²))Qᵀ)ε.
                let lengths = map.col_norms();
                for (c, r) in lengths.into_iter().enumerate() {
                    let q: Vec<f64> = map.col(c).iter().map(|a| a / r).collect();
                    let along: f64 = q.iter().zip(&x).map(|(q, e)| q * e).sum();
                    let change = r * at[*parent][c] - (1.0 - (1.0 - r * r).sqrt()) * along;
                    x.iter_mut().zip(&q).for_each(|(x, q)| *x += change * q);
                }
            }
            at[*node] = x;
        }
        let numbers = (0..self.tree.observed()).flat_map(|v| &at[v]);
        let entries: Vec<(u32, f64)> = numbers.enumerate().map(|(f, &x)| (f as u32, x)).collect();
        self.table.push(&entries, &[]);
    }

    /// The exact covariance of two nodes: the product of the maps along the path between them; 0 in different trees.
    pub fn covariance(&self, a: usize, b: usize) -> Mat {
        let find = |node: usize| self.nodes.iter().find(|n| n.0 == node).expect("a node of the tree");
        let up = |mut node: usize| {
            let mut path = vec![(node, Mat::identity(find(node).2.rows()))];
            while let Some(parent) = find(node).1 {
                let product = path[path.len() - 1].1.matmul(&find(node).2);
                path.push((parent, product));
                node = parent;
            }
            path
        };
        let (left, right) = (up(a), up(b));
        let meeting =
            left.iter().find_map(|l| right.iter().find(|r| r.0 == l.0).map(|r| l.1.matmul_tr(&r.1)));
        meeting.unwrap_or_else(|| Mat::zeros(left[0].1.rows(), right[0].1.rows()))
    }
}

/// A map for every node, and the lengths of the edges.
fn maps(synth: &Synth, tree: &mut Tree, rng: &mut Rng) -> Result<Vec<(usize, Option<usize>, Mat)>> {
    let mut nodes = Vec::new();
    for component in tree.components() {
        let root = component.iter().copied().max_by_key(|&n| (tree.degree(n) > 1, n));
        for (node, parent) in tree.walk(root.expect("a component has nodes")) {
            let leaf = !tree.is_hidden(node) && tree.degree(node) < 2;
            let width = if leaf { synth.width } else { synth.states };
            let Some(above) = parent else {
                nodes.push((node, None, Mat::zeros(width, 0)));
                continue;
            };
            let mut map = random::orthogonal(width, synth.states, rng)?;
            let strengths: Vec<f64> =
                (0..synth.states).map(|_| rng.random_range(synth.strength.clone())).collect();
            map.scale_cols(&strengths);
            tree.join(node, above, -strengths.iter().map(|r| r.ln()).sum::<f64>());
            nodes.push((node, parent, map));
        }
    }
    Ok(nodes)
}
