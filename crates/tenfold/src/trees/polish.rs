//! Parameters made better by expectation–maximisation: belief propagation, then counting.

use super::belief::{Block, LEAST, Outside, Sweeper, log_likelihoods};
use super::data::{Kind, Table, Variable};
use super::network::{Emission, Network, Node};
use crate::error::Result;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::{add_assign, sum_blocks};
use tenfold_engine::progress::Progress;

/// Samples below which none is held out: a tenth of fewer says too little about a network.
const ENOUGH: usize = 2000;

/// One in this many samples is held out.
const HELD_OUT: usize = 10;

/// Sweeps over all samples at the end.
const LAST: usize = 2;

/// Pseudo-counts of a column, spread evenly: nothing becomes impossible because a small sample did not show it.
const SMOOTHING: f64 = 0.5;

/// Variances stay above this share of what the variable varies in all.
const LEAST_VARIANCE: f64 = 1e-3;

/// How parameters are polished.
#[derive(Debug, Clone, PartialEq)]
pub struct Polish {
    /// Most sweeps before the two last ones; with 0 nothing is changed.
    pub sweeps: usize,
    /// Sweeps before the last ones look at no more than this many samples, spread evenly.
    pub most_samples: usize,
    /// A sweep that gains less than this, in nats a sample, is the last before those over all samples.
    pub tolerance: f64,
}

impl Default for Polish {
    fn default() -> Self {
        Self { sweeps: 10, most_samples: 200_000, tolerance: 1e-5 }
    }
}

/// How polishing went.
#[derive(Debug, Clone, PartialEq)]
pub struct Polished {
    /// The network that was kept.
    pub network: Network,
    /// log P of a sample in the mean, in nats, before each sweep: of held-out ones, or of all where there are too few.
    pub trace: Vec<f64>,
    /// Whether samples were held out.
    pub held_out: bool,
}

impl Polish {
    /// Expectation–maximisation from a network, table[s][t] ← Σ P(s, t | sample) / Σ P(t | sample), and likewise for
    /// emissions. Where there are enough samples, every tenth is held out: when those clearly lose, the sweeps stop and go back
    /// to the network that they liked best. Two more sweeps over all samples give the answer.
    ///
    /// # Complexity
    /// A sweep costs O(samples · Σ states · states of the parent), plus the entries that are not 0.
    ///
    /// # Errors
    /// When the network is of other variables; when the caller wants to stop.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::trees::{Polish, Synth};
    /// let drawn = Synth { samples: 500, ..Synth::default() }.draw()?;
    /// let polished = Polish { sweeps: 3, ..Polish::default() }.run(&drawn.network, &drawn.table, &Silent)?;
    /// assert!(polished.trace[1] > polished.trace[0]); // the samples fit their own estimate better than the truth
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn run(&self, network: &Network, table: &Table, progress: &dyn Progress) -> Result<Polished> {
        network.check(table.variables())?;
        let held_out = table.samples() >= ENOUGH;
        let all: Vec<u32> = (0..table.samples() as u32).collect();
        let kept = |i: &u32| !held_out || *i as usize % HELD_OUT != HELD_OUT - 1;
        let learn = spread(&all.iter().copied().filter(kept).collect::<Vec<_>>(), self.most_samples);
        let watch = spread(
            &all.iter().copied().filter(|i| !kept(i)).collect::<Vec<_>>(),
            self.most_samples / HELD_OUT,
        );
        progress.stage("polishing", (self.sweeps + LAST) as u64);
        let mut current = network.clone();
        let mut watched: Vec<Watched> = Vec::new();
        let (mut trace, mut before) = (Vec::new(), f64::NEG_INFINITY);
        for _ in 0..self.sweeps {
            let (next, own) = sweep(&current, table, &learn, &[], progress)?;
            let logs = log_likelihoods_of(&current, table, &watch, progress)?;
            trace.push(if held_out { mean(&logs) } else { own });
            let worse = watched.first().is_some_and(|best| fell(&best.logs, &logs));
            if !worse && watched.first().is_none_or(|best| mean(&logs) >= mean(&best.logs)) {
                watched = vec![Watched { network: current.clone(), logs }];
            }
            if worse {
                current = watched.remove(0).network;
                break;
            }
            current = next;
            progress.advance(1);
            if own - before < self.tolerance {
                break;
            }
            before = own;
        }
        for _ in 0..LAST.min(self.sweeps) {
            current = sweep(&current, table, &all, &[], progress)?.0;
            progress.advance(1);
        }
        Ok(Polished { network: current, trace, held_out })
    }
}

/// The network that held-out samples liked best so far, and how they liked it.
struct Watched {
    network: Network,
    logs: Vec<f64>,
}

/// Whether log-likelihoods fell by more than their differences vary: two standard errors, and more than rounding.
fn fell(best: &[f64], now: &[f64]) -> bool {
    let differences: Vec<f64> = best.iter().zip(now).map(|(b, n)| b - n).collect();
    let average = mean(&differences);
    let spread = mean(&differences.iter().map(|d| (d - average).powi(2)).collect::<Vec<_>>());
    average > (2.0 * (spread / differences.len().max(1) as f64).sqrt()).max(1e-9)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

/// At most `most` of these, spread evenly.
pub(super) fn spread(rows: &[u32], most: usize) -> Vec<u32> {
    let count = rows.len().min(most.max(1));
    (0..count).map(|i| rows[(i as u64 * rows.len() as u64 / count as u64) as usize]).collect()
}

fn log_likelihoods_of(
    network: &Network,
    table: &Table,
    rows: &[u32],
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    let sweeper = Sweeper::new(network, table.variables(), &[], table.samples());
    log_likelihoods(&sweeper, table, rows, progress)
}

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

/// One sweep over some samples: the next network, and the mean log P of a sample under this one.
pub(super) fn sweep(
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
    let (sums, _) = sum_blocks(
        rows.len(),
        sweeper.block(),
        || (vec![0.0; layout.log + 1], Block::default()),
        |(sums, block), range| {
            progress.check()?;
            sweeper.observe(table, &rows[range.clone()], block);
            sweeper.up(block);
            gather(&sweeper, &layout, table, &rows[range], block, sums);
            Ok(())
        },
        |total, lane| add_assign(&mut total.0, &lane.0),
    )?;
    let mean = sums[layout.log] / rows.len().max(1) as f64;
    Ok((estimate(network, variables, &sweeper, &layout, &sums), mean))
}

/// Adds what a block says to the sums.
fn gather(
    sweeper: &Sweeper<'_>,
    layout: &Layout,
    table: &Table,
    rows: &[u32],
    block: &mut Block,
    sums: &mut [f64],
) {
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
pub(super) fn emit(kind: Kind, node: usize, totals: &Mat, weights: &[f64], squares: &[f64]) -> Emission {
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

#[cfg(test)]
mod tests {
    use super::super::synth::{Emits, Synth};
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;
    use tenfold_engine::progress::Silent;

    fn mean_log(network: &Network, table: &Table) -> f64 {
        let rows: Vec<u32> = (0..table.samples() as u32).collect();
        mean(&log_likelihoods_of(network, table, &rows, &Silent).unwrap())
    }

    #[test]
    fn every_sweep_gains_and_threads_do_not_matter() {
        for emits in [Emits::Category, Emits::Real, Emits::Flags, Emits::Mixed] {
            let drawn = Synth { samples: 700, width: 3, emits, seed: 4, ..Synth::default() }.draw().unwrap();
            let other =
                Synth { samples: 1, width: 3, emits, seed: 4, strength: 0.2..0.3, ..Synth::default() };
            // Same tree, other parameters: a start from which there is something to gain.
            let mut network = other.draw().unwrap().network;
            let rows: Vec<u32> = (0..700).collect();
            let mut before = mean_log(&network, &drawn.table);
            for _ in 0..4 {
                let (next, own) = sweep(&network, &drawn.table, &rows, &[], &Silent).unwrap();
                assert!((own - before).abs() < 1e-9 * before.abs(), "{emits:?}: the sweep's own sum");
                let after = mean_log(&next, &drawn.table);
                // Smoothing may take a little back.
                assert!(after > before - 1e-3, "{emits:?}: {before} to {after}");
                (network, before) = (next, after);
            }
            let run = |threads| {
                with_threads(threads, || Polish::default().run(&network, &drawn.table, &Silent).unwrap())
            };
            assert_eq!(run(1), run(3));
        }
    }

    #[test]
    fn complete_data_are_counted() {
        // Both nodes are shown, so one sweep gives relative frequencies (with half a pseudo-count).
        let category = |name: &str| Variable {
            name: name.into(),
            kind: Kind::Category,
            labels: vec!["a".into(), "b".into()],
        };
        let tree = super::super::tree::Tree::from_edges(2, &[(0, 1, 1.0)]);
        let network = Network::skeleton(&tree, &[category("x"), category("y")], |_| 2).unwrap();
        let mut table = Table::new(vec![category("x"), category("y")]).unwrap();
        let rows: [&[(u32, f64)]; 4] = [&[], &[(0, 1.0)], &[(0, 1.0), (1, 1.0)], &[(0, 1.0), (1, 1.0)]];
        rows.iter().for_each(|row| table.push(row, &[]));
        let (next, _) = sweep(&network, &table, &[0, 1, 2, 3], &[], &Silent).unwrap();
        assert!((next.nodes[0].table[(1, 0)] - 3.25 / 4.5).abs() < 1e-12);
        assert!((next.emissions[1].mean[(0, 1)] - 2.25 / 3.5).abs() < 1e-12);
    }
}
