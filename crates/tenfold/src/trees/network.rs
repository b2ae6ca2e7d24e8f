//! A tree with its parameters: hidden states, tables along the edges, and what every state makes of the observed variables.

use super::data::{Kind, Table, Variable};
use crate::error::Result;
use rand::RngExt;
use rand_distr::{Distribution, Poisson};
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::block_range;
use tenfold_engine::linalg::random::{self, Rng};

/// Samples that share a random stream.
const SAMPLES: usize = 1024;

/// Random streams of drawn samples begin here.
const DRAWN: u64 = 7 << 32;

/// A hidden variable with finitely many states.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The node of the tree where it stands: a hidden one, or an observed one that is internal or alone, whose twin it is.
    pub place: usize,
    /// The parent's index among the nodes, which is smaller than this one's; none at a root.
    pub parent: Option<usize>,
    /// P(state | parent's state): a column for every state of the parent; one column at a root.
    pub table: Mat,
}

crate::checkpoint::keep! { Node { place, parent, table } }

impl Node {
    /// How many states it has.
    pub fn states(&self) -> usize {
        self.table.rows()
    }
}

/// How a hidden state shows in an observed variable. Columns are states.
#[derive(Debug, Clone, PartialEq)]
pub struct Emission {
    /// The index of the hidden node it hangs on.
    pub node: usize,
    /// E[feature | state], features × states. For a category these are the probabilities of all levels but the first; for
    /// flags the probability that each is up, independent given the state; for counts their Poisson rates.
    pub mean: Mat,
    /// The variance of every feature of a real variable, the same in every state; empty for the other kinds.
    pub variance: Vec<f64>,
}

crate::checkpoint::keep! { Emission { node, mean, variance } }

/// A forest of hidden variables with tables, and an emission for every observed variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Parents before children.
    pub nodes: Vec<Node>,
    /// One for every observed variable.
    pub emissions: Vec<Emission>,
}

crate::checkpoint::keep! { Network { nodes, emissions } }

/// Samples drawn from a network, with the hidden states behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// What is observed.
    pub table: Table,
    /// The state of every hidden node in every sample, samples × nodes.
    pub states: Vec<u32>,
}

impl Network {
    /// Draws samples: hidden states from the roots down, then the observed variables. Same seed, same samples, also when more
    /// are drawn.
    ///
    /// # Errors
    /// When there is no variable.
    pub fn draw(&self, variables: &[Variable], samples: usize, seed: u64) -> Result<Draw> {
        let mut table = Table::new(variables.to_vec())?;
        let mut all = Vec::with_capacity(samples * self.nodes.len());
        let mut entries = Vec::new();
        for block in 0..samples.div_ceil(SAMPLES) {
            let mut rng = random::rng(seed, DRAWN + block as u64);
            for _ in block_range(block, samples, SAMPLES) {
                let start = all.len();
                for node in &self.nodes {
                    let above = node.parent.map_or(0, |parent| all[start + parent] as usize);
                    all.push(pick(
                        &mut rng,
                        (0..node.states()).map(|s| node.table.as_slice()[s * node.table.cols() + above]),
                    ) as u32);
                }
                entries.clear();
                for (v, emission) in self.emissions.iter().enumerate() {
                    let state = all[start + emission.node] as usize;
                    emit(
                        emission,
                        variables[v].kind,
                        state,
                        table.features_of(v).start,
                        &mut rng,
                        &mut entries,
                    );
                }
                table.push(&entries, &[]);
            }
        }
        Ok(Draw { table, states: all })
    }
}

/// An index by its probability; the last where they add up to less than 1.
fn pick(rng: &mut Rng, probabilities: impl Iterator<Item = f64>) -> usize {
    let mut left: f64 = rng.random();
    let mut last = 0;
    for (i, p) in probabilities.enumerate() {
        last = i;
        left -= p;
        if left < 0.0 {
            break;
        }
    }
    last
}

fn emit(
    emission: &Emission,
    kind: Kind,
    state: usize,
    first: usize,
    rng: &mut Rng,
    out: &mut Vec<(u32, f64)>,
) {
    let mean = |f: usize| emission.mean.row(f)[state];
    let width = emission.mean.rows();
    match kind {
        Kind::Category => {
            let reference = 1.0 - (0..width).map(mean).sum::<f64>();
            let level = pick(rng, std::iter::once(reference).chain((0..width).map(mean)));
            if level > 0 {
                out.push(((first + level - 1) as u32, 1.0));
            }
        }
        Kind::Flags => {
            out.extend(
                (0..width).filter(|&f| rng.random::<f64>() < mean(f)).map(|f| ((first + f) as u32, 1.0)),
            );
        }
        Kind::Counts => {
            for f in 0..width {
                let count = Poisson::new(mean(f).max(1e-12)).map_or(0.0, |law| law.sample(rng));
                if count > 0.0 {
                    out.push(((first + f) as u32, count));
                }
            }
        }
        Kind::Real => {
            out.extend(
                (0..width).map(|f| {
                    ((first + f) as u32, mean(f) + emission.variance[f].sqrt() * random::normal(rng))
                }),
            );
        }
    }
}
