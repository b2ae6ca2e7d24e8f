//! Parameters without a search: one triplet decomposition for every hidden node, everything else from pairwise moments.
//!
//! Three groups of observed variables in different branches around a hidden node h are independent given h, so that their
//! uncentred moments are E[x_a ⊗ x_b ⊗ x_c] = Σ_s P(s) E[x_a|s] ⊗ E[x_b|s] ⊗ E[x_c|s]. With the constant among the features
//! every kind of variable has its scale fixed. The order of the states is that of the node alone and need not agree with
//! that of others: the joint table of two neighbours follows from moments of their own views,
//! J(h, h′) = A⁺ E[y y′ᵀ] (A′⁺)ᵀ.

mod local;
mod moments;
#[cfg(test)]
mod tests;
mod views;

use super::data::{Kind, Table, Variable};
use super::network::{Emission, Network, Node};
use super::polish::{emit, spread};
use super::tree::Tree;
use crate::error::Result;
use local::{States, Whitened};
use moments::{Second, Wanted};
use tenfold_engine::linalg::{Mat, pinv, project_to_simplex};
use tenfold_engine::progress::Progress;
use views::Local;

/// Samples that moments are gathered from: more make the start no better than one sweep of polishing makes it.
const MOST_SAMPLES: usize = 50_000;

/// Nodes times samples that moments are gathered from: with many nodes fewer samples do, down to `FEWEST_SAMPLES`.
const MOST_WORK: usize = 5_000_000;
const FEWEST_SAMPLES: usize = 5_000;

/// How much of the mean is mixed into every state, so that no start is impossible.
const MIXED: f64 = 0.02;

/// Singular values below this share of the largest do not count when moments are divided by.
const THIN: f64 = 1e-3;

/// A network from moments, and where they were too weak.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    /// The network.
    pub network: Network,
    /// Nodes whose states were not decomposed, because the directions that their branches share are too few or no larger
    /// than noise: they start from pairwise moments with equally likely states.
    pub pairwise: Vec<usize>,
    /// For every node, the weakest direction that its branches share, in standard errors.
    pub strength: Vec<f64>,
}

impl Network {
    /// Parameters for a network ([`Network::skeleton`] of `tree`) from moments of at most 50,000 samples.
    ///
    /// # Complexity
    /// Two passes over the samples; O(nodes · k³) numbers.
    ///
    /// # Errors
    /// When the network is of other variables; when the caller wants to stop.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::trees::{Network, Synth};
    /// let drawn = Synth::default().draw()?;
    /// let blank = Network::skeleton(&drawn.tree, drawn.table.variables(), |_| 2)?;
    /// let started = blank.from_moments(&drawn.tree, &drawn.table, 0, &Silent)?;
    /// assert!(started.pairwise.is_empty());
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    ///
    /// # References
    /// Anandkumar, Ge, Hsu, Kakade and Telgarsky, "Tensor decompositions for learning latent variable models", JMLR 15
    /// (2014), theorem 3.6 (views made symmetric).
    pub fn from_moments(
        &self,
        tree: &Tree,
        table: &Table,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Started> {
        self.check(table.variables())?;
        progress.stage("moments", 2);
        let all: Vec<u32> = (0..table.samples() as u32).collect();
        let most = (MOST_WORK / self.nodes.len().max(1)).clamp(FEWEST_SAMPLES, MOST_SAMPLES);
        let rows = spread(&all, most);
        let mut frequency = vec![0u64; table.features()];
        for &row in &rows {
            table.row(row as usize).features.iter().for_each(|&f| frequency[f as usize] += 1);
        }
        let locals = views::choose(self, tree, table.variables(), &frequency);
        let pairs = moments::pairs(&locals, table, &rows, progress)?;
        progress.advance(1);
        let whitened: Vec<Whitened> =
            locals.iter().zip(&pairs).map(|(l, p)| Whitened::new(l, p)).collect::<Result<_>>()?;
        let projections: Vec<Vec<Mat>> = whitened.iter().map(|w| w.projections.clone()).collect();
        let away = |from: usize, to: usize| locals[from].away_from(to).next();
        let edges = self
            .nodes
            .iter()
            .enumerate()
            .map(|(n, node)| node.parent.map_or((None, None), |p| (away(n, p), away(p, n))))
            .collect();
        let wanted = Wanted { locals: &locals, projections: &projections, network: self, edges };
        let second = wanted.gather(table, &rows, progress)?;
        progress.advance(1);
        let states: Vec<States> = (0..locals.len())
            .map(|n| whitened[n].states(&locals[n], second.triples[n].as_ref(), seed))
            .collect::<Result<_>>()?;
        let network = self.assemble(&wanted, &second, &states, table.variables())?;
        Ok(Started {
            network,
            pairwise: (0..states.len()).filter(|&n| !states[n].decomposed).collect(),
            strength: whitened.iter().map(|w| w.strength).collect(),
        })
    }

    fn assemble(
        &self,
        wanted: &Wanted<'_>,
        second: &Second,
        states: &[States],
        variables: &[Variable],
    ) -> Result<Self> {
        let mut nodes = Vec::new();
        for (n, node) in self.nodes.iter().enumerate() {
            let table = match (node.parent, &second.edges[n]) {
                (Some(parent), Some(moment)) => {
                    let (own, above) = wanted.edges[n];
                    let left = pinv(&with_constant(&states[n], own), THIN)?;
                    let right = pinv(&with_constant(&states[parent], above), THIN)?;
                    columns(&left.matmul(moment).matmul_tr(&right), &states[n].weights)
                }
                _ => Mat::from_vec(node.states(), 1, states[n].weights.clone()),
            };
            nodes.push(Node { place: node.place, parent: node.parent, table });
        }
        let mut first = 0;
        let mut emissions = Vec::new();
        for (v, variable) in variables.iter().enumerate() {
            let node = self.emissions[v].node;
            let squares = &second.squares[first..first + variable.width()];
            first += variable.width();
            if self.shows(v, variable) {
                emissions.push(self.emissions[v].clone());
                continue;
            }
            let local = &wanted.locals[node];
            let instruments = instruments(local, &states[node], wanted.locals.len() + v);
            let mean = second.emissions[v].matmul(&pinv(&instruments, THIN)?);
            let overall = second.emissions[v].col(0);
            emissions.push(clean(variable.kind, node, mean, &states[node].weights, (&overall, squares)));
        }
        Ok(Self { nodes, emissions })
    }
}

/// E[(1, y) | state] of a view, or of the constant alone.
fn with_constant(states: &States, view: Option<usize>) -> Mat {
    let k = states.weights.len();
    let rows = view.map_or(0, |g| states.views[g].rows());
    Mat::from_fn(rows + 1, k, |i, s| match view {
        Some(g) if i > 0 => states.views[g][(i - 1, s)],
        _ => 1.0,
    })
}

/// P(s) E[(1, y_0, y_1, …) | s]ᵀ, states × instruments; 0 for a view that looks into `branch`.
fn instruments(local: &Local, states: &States, branch: usize) -> Mat {
    let k = states.weights.len();
    let mut used = vec![false; local.views.len()];
    local.away_from(branch).for_each(|g| used[g] = true);
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0; k]];
    for (g, view) in states.views.iter().enumerate() {
        for i in 0..view.rows() {
            rows.push(if used[g] { view.row(i).to_vec() } else { vec![0.0; k] });
        }
    }
    Mat::from_fn(k, rows.len(), |s, i| states.weights[s] * rows[i][s])
}

/// A joint table, child × parent, to conditional probabilities of the child.
fn columns(joint: &Mat, weights: &[f64]) -> Mat {
    let k = joint.rows();
    let mut table = Mat::zeros(k, joint.cols());
    for t in 0..joint.cols() {
        let mut column = joint.col(t);
        let sum: f64 = column.iter().sum();
        if sum > 1e-6 {
            column.iter_mut().for_each(|x| *x /= sum);
            project_to_simplex(&mut column, 1.0);
        } else {
            column.copy_from_slice(weights);
        }
        for (s, x) in column.into_iter().enumerate() {
            table[(s, t)] = (1.0 - MIXED) * x + MIXED / k as f64;
        }
    }
    table
}

/// Means moved to where they are possible, and variances.
fn clean(
    kind: Kind,
    node: usize,
    mut mean: Mat,
    weights: &[f64],
    (overall, squares): (&[f64], &[f64]),
) -> Emission {
    let (width, k) = (mean.rows(), mean.cols());
    for s in 0..k {
        let mut column = mean.col(s);
        match kind {
            Kind::Category => {
                let mut whole = vec![1.0 - column.iter().sum::<f64>()];
                whole.extend(&column);
                project_to_simplex(&mut whole, 1.0);
                column.copy_from_slice(&whole[1..]);
            }
            Kind::Flags => column.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0)),
            Kind::Counts => column.iter_mut().for_each(|x| *x = x.max(0.0)),
            Kind::Real => {
                for (f, x) in column.iter_mut().enumerate() {
                    // A mean further out than this is an error of division, not a state.
                    let reach =
                        3.0 * (squares[f] - overall[f].powi(2)).max(0.0).sqrt() / weights[s].sqrt().max(0.3);
                    *x = x.clamp(overall[f] - reach, overall[f] + reach);
                }
            }
        }
        (0..width).for_each(|f| mean[(f, s)] = (1.0 - MIXED) * column[f] + MIXED * overall[f]);
    }
    // As if one sample had been counted: only the variances are taken from it.
    let totals = Mat::from_fn(width, k, |f, s| mean[(f, s)] * weights[s]);
    let counted = emit(
        kind,
        node,
        &totals.map(|x| x * 1e6),
        &weights.iter().map(|w| w * 1e6).collect::<Vec<_>>(),
        &squares.iter().map(|x| x * 1e6).collect::<Vec<_>>(),
    );
    let variance = counted
        .variance
        .iter()
        .zip(overall.iter().zip(squares))
        .map(|(v, (m, x))| v.max(0.05 * (x - m * m)))
        .collect();
    Emission { node, mean, variance }
}
