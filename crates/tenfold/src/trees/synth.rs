//! Draws trees with known structure and parameters, and samples from them.

mod events;
mod gaussian;

pub use events::{DrawnEvents, Events};
pub use gaussian::GaussianTree;

use super::data::{Kind, Table, Variable};
use super::network::{Emission, Network, Node};
use super::tree::Tree;
use crate::error::{Error, Result};
use rand::RngExt;
use rand_distr::{Distribution, Gamma};
use std::ops::Range;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::random::{self, Rng};

/// Random streams: of the tree, and of its tables.
const SHAPE: u64 = 700;
const TABLES: u64 = 701;

/// What a drawn tree looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Hidden nodes with three to five neighbours.
    Mixed,
    /// Every hidden node has three neighbours.
    Binary,
    /// One hidden node above all.
    Star,
    /// A hidden Markov chain, one observed variable for each of its states.
    Chain,
    /// As `Mixed`, and every other hidden node is an observed category itself.
    Observed,
}

/// What observed variables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emits {
    /// Categories with `width` levels.
    Category,
    /// Gaussian vectors of `width` numbers around a mean of their state.
    Real,
    /// `width` flags.
    Flags,
    /// Categories and Gaussian vectors, half and half.
    Mixed,
}

/// A tree to draw from.
///
/// # Example
/// ```
/// use tenfold::trees::{Shape, Synth};
/// let drawn = Synth { variables: 12, samples: 100, shape: Shape::Binary, ..Synth::default() }.draw()?;
/// assert_eq!((drawn.table.samples(), drawn.tree.observed(), drawn.tree.hidden().count()), (100, 12, 10));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Synth {
    /// Observed variables of every block.
    pub variables: usize,
    /// Samples.
    pub samples: usize,
    /// k: the states of a hidden node.
    pub states: usize,
    /// Levels of a category, or numbers of a vector.
    pub width: usize,
    /// What the tree looks like.
    pub shape: Shape,
    /// What the variables are.
    pub emits: Emits,
    /// Independent trees beside each other.
    pub blocks: usize,
    /// How strongly the ends of an edge hang together, drawn evenly from this range: the share of a table that is a permutation.
    pub strength: Range<f64>,
    /// The seed.
    pub seed: u64,
}

impl Default for Synth {
    fn default() -> Self {
        Self {
            variables: 20,
            samples: 10_000,
            states: 2,
            width: 2,
            shape: Shape::Mixed,
            emits: Emits::Category,
            blocks: 1,
            strength: 0.55..0.85,
            seed: 0,
        }
    }
}

/// A drawn tree with its parameters and samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The samples.
    pub table: Table,
    /// The tree; edges have length 1.
    pub tree: Tree,
    /// Its parameters.
    pub network: Network,
    /// The states of the hidden nodes, samples × nodes of the network.
    pub states: Vec<u32>,
}

impl Synth {
    /// Draws.
    ///
    /// # Errors
    /// When there are fewer than three variables in a block, fewer than two states, or categories with one level.
    pub fn draw(&self) -> Result<Drawn> {
        self.check()?;
        let mut rng = random::rng(self.seed, SHAPE);
        let tree = self.forest(&mut rng);
        let mut rng = random::rng(self.seed, TABLES);
        let variables: Vec<Variable> =
            (0..tree.observed()).map(|v| self.variable(v, tree.degree(v) > 1, &mut rng)).collect();
        let network = self.network(&tree, &variables, &mut rng);
        let draw = network.draw(&variables, self.samples, self.seed)?;
        Ok(Drawn { table: draw.table, tree, network, states: draw.states })
    }

    fn check(&self) -> Result<()> {
        let wrong = |name: &str, value: usize, expected: &str| {
            Err(Error::BadParameter {
                name: name.into(),
                value: value.to_string(),
                expected: expected.into(),
            })
        };
        if self.variables < 3 {
            return wrong("variables", self.variables, "at least 3, so that a hidden node can be seen");
        }
        if self.states < 2 {
            return wrong("states", self.states, "at least 2");
        }
        if self.width < 2 && matches!(self.emits, Emits::Category | Emits::Mixed) || self.width == 0 {
            return wrong("width", self.width, "at least 2 levels for a category");
        }
        if self.blocks == 0 {
            return wrong("blocks", 0, "at least 1");
        }
        Ok(())
    }

    fn variable(&self, v: usize, internal: bool, rng: &mut Rng) -> Variable {
        let kind = match self.emits {
            _ if internal => Kind::Category,
            Emits::Category => Kind::Category,
            Emits::Real => Kind::Real,
            Emits::Flags => Kind::Flags,
            Emits::Mixed if rng.random::<bool>() => Kind::Category,
            Emits::Mixed => Kind::Real,
        };
        let count = if internal { self.states } else { self.width };
        Variable { name: format!("x{v}"), kind, labels: (0..count).map(|l| format!("{l}")).collect() }
    }

    fn forest(&self, rng: &mut Rng) -> Tree {
        let observed = self.variables * self.blocks;
        let mut tree = Tree::new(observed);
        for block in 0..self.blocks {
            let mut leaves: Vec<usize> = random::permutation(self.variables, rng);
            leaves.iter_mut().for_each(|leaf| *leaf += block * self.variables);
            self.grow(&mut tree, leaves, rng);
        }
        tree
    }

    fn grow(&self, tree: &mut Tree, mut open: Vec<usize>, rng: &mut Rng) {
        if self.shape == Shape::Chain {
            return chain(tree, &open);
        }
        let inner = if self.shape == Shape::Observed {
            open.split_off(open.len() - open.len() / 6)
        } else {
            Vec::new()
        };
        let mut inner = inner.into_iter();
        let mut turn = 0;
        let last = if self.shape == Shape::Binary { 3 } else { 4 };
        while self.shape != Shape::Star && open.len() > last {
            let count = if self.shape == Shape::Binary { 2 } else { rng.random_range(2..5) };
            let children: Vec<usize> =
                (0..count).map(|_| open.swap_remove(rng.random_range(0..open.len()))).collect();
            let own = if turn % 2 == 0 { inner.next() } else { None };
            let h = own.unwrap_or_else(|| tree.add_hidden());
            children.into_iter().for_each(|child| tree.join(child, h, 1.0));
            open.push(h);
            turn += 1;
        }
        open.extend(inner);
        match open[..] {
            [a, b] => tree.join(a, b, 1.0),
            _ => {
                let h = tree.add_hidden();
                open.into_iter().for_each(|child| tree.join(child, h, 1.0));
            }
        }
    }

    /// Parameters for a tree: a node for every hidden one, and a twin for every observed one with several neighbours.
    fn network(&self, tree: &Tree, variables: &[Variable], rng: &mut Rng) -> Network {
        let mut nodes: Vec<Node> = Vec::new();
        let mut index = vec![usize::MAX; tree.capacity()];
        for component in tree.components() {
            let root = component
                .iter()
                .copied()
                .max_by_key(|&n| (tree.degree(n) > 1, n))
                .expect("a component has nodes");
            for (node, parent) in tree.walk(root) {
                if !tree.is_hidden(node) && tree.degree(node) < 2 {
                    continue;
                }
                index[node] = nodes.len();
                let table = match parent {
                    None => dirichlet_columns(self.states, 1, 5.0, rng),
                    Some(_) => table(self.states, self.states, self.strength(rng), rng),
                };
                nodes.push(Node { place: node, parent: parent.map(|p| index[p]), table });
            }
        }
        let emissions = (0..tree.observed())
            .map(|v| {
                if index[v] != usize::MAX {
                    // The twin of an observed node shows its state itself.
                    let mean =
                        Mat::from_fn(self.states - 1, self.states, |f, s| f64::from(u8::from(f + 1 == s)));
                    return Emission { node: index[v], mean, variance: Vec::new() };
                }
                let (&above, _) = tree.neighbours(v).first_key_value().expect("a leaf has a neighbour");
                self.emission(&variables[v], index[above], rng)
            })
            .collect();
        Network { nodes, emissions }
    }

    fn strength(&self, rng: &mut Rng) -> f64 {
        rng.random_range(self.strength.clone())
    }

    fn emission(&self, variable: &Variable, node: usize, rng: &mut Rng) -> Emission {
        let k = self.states;
        match variable.kind {
            Kind::Category => {
                let whole = table(self.width, k, self.strength(rng), rng);
                Emission {
                    node,
                    mean: Mat::from_fn(self.width - 1, k, |f, s| whole.row(f + 1)[s]),
                    variance: Vec::new(),
                }
            }
            Kind::Real => {
                let mut mean = random::gaussian(self.width, k, rng);
                let scale = 2.0 * rng.random_range(0.8..1.2);
                mean.as_mut_slice().iter_mut().for_each(|x| *x *= scale);
                Emission { node, mean, variance: vec![1.0; self.width] }
            }
            Kind::Flags | Kind::Counts => {
                let strength = self.strength(rng);
                let mean = Mat::from_fn(self.width, k, |f, s| {
                    let up = if f % k == s { 1.0 } else { 0.0 };
                    strength * up + (1.0 - strength) * rng.random::<f64>()
                });
                Emission { node, mean, variance: Vec::new() }
            }
        }
    }
}

/// A chain of hidden nodes with a leaf at each; its ends are the leaves' own.
fn chain(tree: &mut Tree, leaves: &[usize]) {
    let mut before: Option<usize> = None;
    for &leaf in leaves {
        let h = tree.add_hidden();
        tree.join(leaf, h, 1.0);
        if let Some(before) = before {
            tree.join(before, h, 1.0);
        }
        before = Some(h);
    }
    tree.suppress();
}

/// Columns that add up to 1: `strength` of a permutation-like table, the rest by chance.
fn table(rows: usize, cols: usize, strength: f64, rng: &mut Rng) -> Mat {
    let order = random::permutation(rows, rng);
    let mut base = Mat::zeros(rows, cols);
    for (i, &row) in order.iter().enumerate() {
        base.row_mut(row)[i % cols] = rng.random_range(0.5..1.5);
    }
    if rows < cols {
        (rows..cols).for_each(|c| base.row_mut(order[c % rows])[c] = 1.0);
    }
    let noise = dirichlet_columns(rows, cols, 1.0, rng);
    let sums: Vec<f64> = (0..cols).map(|c| base.col(c).iter().sum()).collect();
    Mat::from_fn(rows, cols, |r, c| strength * base.row(r)[c] / sums[c] + (1.0 - strength) * noise.row(r)[c])
}

fn dirichlet_columns(rows: usize, cols: usize, alpha: f64, rng: &mut Rng) -> Mat {
    let law = Gamma::new(alpha, 1.0).expect("a positive shape");
    let mut drawn = Mat::from_fn(rows, cols, |_, _| law.sample(rng).max(1e-12));
    let inverse: Vec<f64> = (0..cols).map(|c| 1.0 / drawn.col(c).iter().sum::<f64>()).collect();
    drawn.scale_cols(&inverse);
    drawn
}
