//! One sweep: what samples say about hidden states is counted, and the counts are the next parameters.

use super::super::belief::{Block, LEAST, Outside, Sweeper};
use super::super::data::{Kind, Table, Variable};
use super::super::network::{Emission, Network, Node};
use crate::error::Result;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::{add_assign, sum_blocks};
use tenfold_engine::progress::Progress;

/// Pseudo-counts of a column, spread evenly: nothing becomes impossible because a small sample did not show it.
const SMOOTHING: f64 = 0.5;

/// Variances stay above this share of what the variable varies in all.
const LEAST_VARIANCE: f64 = 1e-3;

/// Where the sums of a sweep stand in one array.
struct Layout {
    tables: Vec<usize>,
    features: usize,
    weights: Vec<usize>,
    squares: usize,
    log: usize,
}

impl Layout {
    fn new(network: &Network, sweeper: &Sweeper<'_>, features: usize) -> Self {
        let mut next = 0;
        let mut place = |count: usize| {
            next += count;
            next - count
        };
        let tables = network.nodes.iter().map(|n| place(n.table.rows() * n.table.cols())).collect();
        let last = sweeper
            .likelihood
            .at
            .last()
            .map_or(0, |_| network.emissions.iter().map(|e| e.mean.rows() * e.mean.cols()).sum());
        let features_at = place(last);
        let weights = network.emissions.iter().map(|e| place(e.mean.cols())).collect();
        let squares = place(features);
        let log = place(1);
        Self { tables, features: features_at, weights, squares, log }
    }
}

/// One of the running sums of a sweep.
struct Lane {
    sums: Vec<f64>,
    block: Block,
}

/// One sweep over some samples: the next network, and the mean log P of a sample under this one.
pub(in super::super) fn sweep(
    network: &Network,
    table: &Table,
    rows: &[u32],
    outside: &[Outside<'_>],
    progress: &dyn Progress,
) -> Result<(Network, f64)> {
    let variables = &table.variables()[..network.emissions.len()];
    let sweeper = Sweeper::new(network, variables, outside, table.samples());
    let features = if variables.is_empty() { 0 } else { table.features() };
    let layout = Layout::new(network, &sweeper, features);
    let Lane { sums, .. } = sum_blocks(
        rows.len(),
        sweeper.block(),
        || Lane { sums: vec![0.0; layout.log + 1], block: Block::default() },
        |lane, range| {
            progress.check()?;
            sweeper.observe(table, &rows[range.clone()], &mut lane.block);
            sweeper.up(&mut lane.block);
            gather(&sweeper, &layout, table, &rows[range], lane);
            Ok(())
        },
        |total, lane| add_assign(&mut total.sums, &lane.sums),
    )?;
    let mean = sums[layout.log] / rows.len().max(1) as f64;
    Ok((estimate(network, variables, &sweeper, &layout, &sums), mean))
}

/// Adds what a block says to the sums.
fn gather(sweeper: &Sweeper<'_>, layout: &Layout, table: &Table, rows: &[u32], lane: &mut Lane) {
    let Lane { sums, block } = lane;
    let (network, r) = (sweeper.network, block.r);
    sweeper.down(block, |n, below, quotient| {
        let node = &network.nodes[n];
        let kp = node.table.cols();
        for s in 0..node.states() {
            for t in 0..kp {
                let product = dot(&below[s * r..(s + 1) * r], &quotient[t * r..(t + 1) * r]);
                sums[layout.tables[n] + s * kp + t] += node.table[(s, t)] * product;
            }
        }
    });
    for (n, node) in network.nodes.iter().enumerate().filter(|(_, node)| node.parent.is_none()) {
        for s in 0..node.states() {
            let at = (sweeper.offsets[n] + s) * r;
            sums[layout.tables[n] + s] += block.posterior[at..at + r].iter().sum::<f64>();
        }
    }
    sums[layout.log] += block.log_likelihood.iter().sum::<f64>();
    if network.emissions.is_empty() {
        return;
    }
    let likelihood = &sweeper.likelihood;
    for (i, &sample) in rows.iter().enumerate() {
        let row = table.row(sample as usize);
        for (&f, &x) in row.features.iter().zip(row.values) {
            let f = f as usize;
            let v = likelihood.owner[f] as usize;
            let node = network.emissions[v].node;
            let at = sweeper.offsets[node] * r + i;
            let out = &mut sums[layout.features + likelihood.at[f]..];
            let k = network.nodes[node].states();
            out[..k].iter_mut().enumerate().for_each(|(s, o)| *o += x * block.posterior[at + s * r]);
            sums[layout.squares + f] += x * x;
        }
        for &v in row.missing {
            let node = network.emissions[v as usize].node;
            let at = sweeper.offsets[node] * r + i;
            for s in 0..network.nodes[node].states() {
                sums[layout.weights[v as usize] + s] += block.posterior[at + s * r];
            }
        }
    }
}

/// Σ a b in eight running sums, so that it can be done eight at a time.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (left, right) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        sums.iter_mut().zip(x).zip(y).for_each(|((s, x), y)| *s += x * y);
    }
    sums.iter().sum::<f64>() + rest
}

/// Parameters from sums.
fn estimate(
    network: &Network,
    variables: &[Variable],
    sweeper: &Sweeper<'_>,
    layout: &Layout,
    sums: &[f64],
) -> Network {
    let nodes: Vec<Node> = network
        .nodes
        .iter()
        .enumerate()
        .map(|(n, node)| {
            let (k, kp) = (node.states(), node.table.cols());
            let counts = Mat::from_vec(k, kp, sums[layout.tables[n]..layout.tables[n] + k * kp].to_vec());
            Node { place: node.place, parent: node.parent, table: normalised(&counts) }
        })
        .collect();
    // How much of all samples each state of a node has.
    let mass = |n: usize| -> Vec<f64> {
        let (k, kp) = (network.nodes[n].states(), network.nodes[n].table.cols());
        (0..k)
            .map(|s| sums[layout.tables[n] + s * kp..layout.tables[n] + (s + 1) * kp].iter().sum())
            .collect()
    };
    let mut first = 0;
    let emissions = network
        .emissions
        .iter()
        .enumerate()
        .map(|(v, emission)| {
            let from = first;
            first += emission.mean.rows();
            if network.shows(v, &variables[v]) {
                return emission.clone();
            }
            let missing = &sums[layout.weights[v]..layout.weights[v] + emission.mean.cols()];
            let weights: Vec<f64> =
                mass(emission.node).iter().zip(missing).map(|(w, m)| (w - m).max(0.0)).collect();
            let k = weights.len();
            let at = |f: usize| layout.features + sweeper.likelihood.at[from + f];
            let totals = Mat::from_fn(emission.mean.rows(), k, |f, s| sums[at(f) + s]);
            let squares = &sums[layout.squares + from..layout.squares + first];
            emit(variables[v].kind, emission.node, &totals, &weights, squares)
        })
        .collect();
    Network { nodes, emissions }
}

/// Columns that add up to 1, with a little of everything.
fn normalised(counts: &Mat) -> Mat {
    let k = counts.rows();
    let sums: Vec<f64> = (0..counts.cols()).map(|t| counts.col(t).iter().sum::<f64>() + SMOOTHING).collect();
    Mat::from_fn(k, counts.cols(), |s, t| (counts[(s, t)].max(0.0) + SMOOTHING / k as f64) / sums[t])
}

/// An emission from Σ P(s) x_f, Σ P(s) and Σ x_f².
pub(in super::super) fn emit(
    kind: Kind,
    node: usize,
    totals: &Mat,
    weights: &[f64],
    squares: &[f64],
) -> Emission {
    let (width, k) = (totals.rows(), totals.cols());
    let all: f64 = weights.iter().sum::<f64>().max(LEAST);
    let overall: Vec<f64> = (0..width).map(|f| totals.row(f).iter().sum::<f64>() / all).collect();
    let mean = Mat::from_fn(width, k, |f, s| {
        let (x, w) = (totals[(f, s)], weights[s]);
        match kind {
            Kind::Category => (x + SMOOTHING / (width + 1) as f64) / (w + SMOOTHING),
            Kind::Flags => ((x + SMOOTHING * 0.5) / (w + SMOOTHING)).clamp(LEAST, 1.0 - LEAST),
            Kind::Counts => (x + SMOOTHING * overall[f].max(LEAST)) / (w + SMOOTHING),
            Kind::Real => (x + SMOOTHING * overall[f]) / (w + SMOOTHING),
        }
    });
    let variance = |f: usize| {
        let total = squares[f] / all - overall[f].powi(2);
        let left: f64 =
            squares[f] / all - (0..k).map(|s| weights[s] / all * mean[(f, s)].powi(2)).sum::<f64>();
        left.max(LEAST_VARIANCE * total).max(LEAST)
    };
    let variance = if kind == Kind::Real { (0..width).map(variance).collect() } else { Vec::new() };
    Emission { node, mean, variance }
}

/// A step that goes `times` as far as expectation–maximisation would, from `from` to `to` and beyond. Nothing falls below a
/// fifth of what the step itself gives it, so that all stays possible.
pub(in super::super) fn beyond(from: &Network, to: &Network, times: f64, variables: &[Variable]) -> Network {
    let mut far = to.clone();
    for (node, (a, b)) in far.nodes.iter_mut().zip(from.nodes.iter().zip(&to.nodes)) {
        for t in 0..b.table.cols() {
            let column = stretched(&a.table.col(t), &b.table.col(t), times);
            column.into_iter().enumerate().for_each(|(s, p)| node.table[(s, t)] = p);
        }
    }
    for (v, emission) in far.emissions.iter_mut().enumerate() {
        let (a, b) = (&from.emissions[v], &to.emissions[v]);
        if to.shows(v, &variables[v]) {
            continue;
        }
        for s in 0..b.mean.cols() {
            let (x, y) = (a.mean.col(s), b.mean.col(s));
            let column = match variables[v].kind {
                Kind::Category => {
                    let whole = |m: &[f64]| {
                        let mut all = vec![(1.0 - m.iter().sum::<f64>()).max(LEAST)];
                        all.extend(m);
                        all
                    };
                    stretched(&whole(&x), &whole(&y), times)[1..].to_vec()
                }
                Kind::Flags => {
                    let up = |x: f64, y: f64| stretched(&[1.0 - x, x], &[1.0 - y, y], times)[1];
                    x.iter().zip(&y).map(|(&x, &y)| up(x, y)).collect()
                }
                Kind::Counts => x.iter().zip(&y).map(|(x, y)| (x + times * (y - x)).max(0.2 * y)).collect(),
                Kind::Real => x.iter().zip(&y).map(|(x, y)| x + times * (y - x)).collect(),
            };
            column.into_iter().enumerate().for_each(|(f, m)| emission.mean[(f, s)] = m);
        }
    }
    far
}

fn stretched(from: &[f64], to: &[f64], times: f64) -> Vec<f64> {
    let mut far: Vec<f64> = from.iter().zip(to).map(|(a, b)| (a + times * (b - a)).max(0.2 * b)).collect();
    let sum: f64 = far.iter().sum();
    far.iter_mut().for_each(|x| *x /= sum);
    far
}
