//! Messages up and down a forest, for a block of samples at a time.
//!
//! Numbers of a block stand node by node, state by state, sample by sample: every loop runs along the samples. Messages are
//! brought back to a size near 1 by powers of two, whose exponents are added up; no logarithm is taken on the way.

use super::super::data::{Table, Variable};
use super::super::network::Network;
use super::likelihood::Likelihood;
use std::f64::consts::LN_2;

/// Messages that are multiplied before the product is brought back to a size near 1: 16 of 10⁻¹² stay in range.
const PRODUCTS: usize = 16;

/// Likelihoods of nodes from outside the data: P(what lies behind | state) for every sample, states × samples.
#[derive(Clone, Copy)]
pub(in super::super) struct Outside<'a> {
    pub node: usize,
    pub values: &'a [f32],
}

/// A network made ready for sweeps.
pub(in super::super) struct Sweeper<'a> {
    pub network: &'a Network,
    pub likelihood: Likelihood,
    /// Where the states of every node begin, and their number.
    pub offsets: Vec<usize>,
    /// Where the message of every node to its parent begins: it has the parent's states.
    ups: Vec<usize>,
    pub outside: &'a [Outside<'a>],
    /// Samples of the table, for the columns of `outside`.
    samples: usize,
}

/// The numbers of one block.
#[derive(Default)]
pub(in super::super) struct Block {
    /// Samples in it.
    pub r: usize,
    /// P(below | state) of every node, up to a factor of each sample.
    pub below: Vec<f64>,
    /// P(below | state of the parent), up to a factor.
    pub up: Vec<f64>,
    /// P(state | all that was observed).
    pub posterior: Vec<f64>,
    /// log P(observed).
    pub log_likelihood: Vec<f64>,
    quotient: Vec<f64>,
    exponents: Vec<f64>,
}

impl<'a> Sweeper<'a> {
    pub fn new(
        network: &'a Network,
        variables: &[Variable],
        outside: &'a [Outside<'a>],
        samples: usize,
    ) -> Self {
        let mut offsets = vec![0];
        for node in &network.nodes {
            offsets.push(offsets[offsets.len() - 1] + node.states());
        }
        let mut ups = vec![0];
        for node in &network.nodes {
            ups.push(ups[ups.len() - 1] + node.parent.map_or(0, |_| node.table.cols()));
        }
        Self { network, likelihood: Likelihood::new(network, variables), offsets, ups, outside, samples }
    }

    /// Samples in a block: three numbers for every state and sample, 2 MB in all where that leaves enough of them to run along.
    pub fn block(&self) -> usize {
        ((1 << 16) / self.offsets[self.network.nodes.len()].max(1)).clamp(64, 512)
    }

    fn of(&self, node: usize, r: usize) -> std::ops::Range<usize> {
        self.offsets[node] * r..self.offsets[node + 1] * r
    }

    /// What is observed, given every state: the start of both kinds of sweep.
    pub fn observe(&self, table: &Table, rows: &[u32], block: &mut Block) {
        let (r, all) = (rows.len(), self.offsets[self.network.nodes.len()]);
        block.r = r;
        block.below.resize(all * r, 0.0);
        block.up.resize(self.ups[self.network.nodes.len()] * r, 0.0);
        block.log_likelihood.resize(r, 0.0);
        block.exponents.clear();
        block.exponents.resize(r, 0.0);
        self.likelihood.fill(table, rows, &self.offsets, &mut block.below, &mut block.log_likelihood);
        for outside in self.outside {
            let k = self.network.nodes[outside.node].states();
            let below = &mut block.below[self.of(outside.node, r)];
            for s in 0..k {
                let values = &outside.values[s * self.samples..(s + 1) * self.samples];
                below[s * r..(s + 1) * r]
                    .iter_mut()
                    .zip(rows)
                    .for_each(|(b, &row)| *b *= f64::from(values[row as usize]));
            }
        }
    }

    /// Messages from the leaves to the roots: afterwards the log-likelihoods are there.
    pub fn up(&self, block: &mut Block) {
        let r = block.r;
        let mut products = vec![0usize; self.network.nodes.len()];
        for (n, node) in self.network.nodes.iter().enumerate().rev() {
            let range = self.of(n, r);
            rescale(&mut block.below[range.clone()], r, &mut block.exponents);
            let Some(parent) = node.parent else {
                finish(
                    &block.below[range],
                    node.table.as_slice(),
                    &block.exponents,
                    &mut block.log_likelihood,
                );
                block.exponents.fill(0.0);
                continue;
            };
            let (above, below) = block.below.split_at_mut(range.start);
            let below = &below[..range.len()];
            let up = &mut block.up[self.ups[n] * r..self.ups[n + 1] * r];
            send(node.table.as_slice(), below, up, r);
            let above = &mut above[self.of(parent, r)];
            above.iter_mut().zip(up.iter()).for_each(|(a, u)| *a *= u);
            products[parent] += 1;
            if products[parent].is_multiple_of(PRODUCTS) {
                rescale(above, r, &mut block.exponents);
            }
        }
    }

    /// Posteriors from the roots to the leaves, after [`Sweeper::up`]. `joint(node, below, quotient)` is called for every node
    /// with a parent: P(s, t | observed) = table[s][t] · below[s] · quotient[t].
    pub fn down(&self, block: &mut Block, mut joint: impl FnMut(usize, &[f64], &[f64])) {
        let r = block.r;
        block.posterior.resize(block.below.len(), 0.0);
        for (n, node) in self.network.nodes.iter().enumerate() {
            let range = self.of(n, r);
            let below = &block.below[range.clone()];
            let (before, own) = block.posterior.split_at_mut(range.start);
            let own = &mut own[..range.len()];
            let Some(parent) = node.parent else {
                root_posterior(below, node.table.as_slice(), own, r);
                continue;
            };
            let above = &before[self.of(parent, r)];
            let up = &block.up[self.ups[n] * r..self.ups[n + 1] * r];
            block.quotient.clear();
            block.quotient.extend(above.iter().zip(up).map(|(p, u)| p / u.max(f64::MIN_POSITIVE)));
            receive(node.table.as_slice(), below, &block.quotient, own, r);
            joint(n, below, &block.quotient);
        }
    }
}

/// Brings the largest of the states in every row to [1, 2) by a power of two.
fn rescale(states: &mut [f64], r: usize, exponents: &mut [f64]) {
    let k = states.len() / r.max(1);
    let mut factors = [0.0f64; 512];
    let factors = &mut factors[..r];
    factors.copy_from_slice(&states[..r]);
    for s in 1..k {
        factors
            .iter_mut()
            .zip(&states[s * r..(s + 1) * r])
            .for_each(|(m, x)| *m = if *x > *m { *x } else { *m });
    }
    for (m, e) in factors.iter_mut().zip(exponents) {
        let bits = (m.to_bits() >> 52) as i32;
        *e += f64::from(bits - 1023);
        *m = f64::from_bits(((2046 - bits.min(2045)) as u64) << 52);
    }
    for s in 0..k {
        states[s * r..(s + 1) * r].iter_mut().zip(factors.iter()).for_each(|(x, f)| *x *= f);
    }
}

/// log Σ_s π_s below_s with the exponents put back.
fn finish(below: &[f64], prior: &[f64], exponents: &[f64], out: &mut [f64]) {
    let r = exponents.len();
    for (i, (out, e)) in out.iter_mut().zip(exponents).enumerate() {
        let z: f64 = prior.iter().enumerate().map(|(s, p)| p * below[s * r + i]).sum();
        *out += z.ln() + e * LN_2;
    }
}

/// up[t] = Σ_s table[s][t] below[s].
fn send(table: &[f64], below: &[f64], up: &mut [f64], r: usize) {
    let kp = up.len() / r.max(1);
    for t in 0..kp {
        let out = &mut up[t * r..(t + 1) * r];
        let first = table[t];
        out.iter_mut().zip(&below[..r]).for_each(|(o, b)| *o = first * b);
        for s in 1..below.len() / r.max(1) {
            let p = table[s * kp + t];
            out.iter_mut().zip(&below[s * r..(s + 1) * r]).for_each(|(o, b)| *o += p * b);
        }
    }
}

/// own[s] = below[s] Σ_t table[s][t] quotient[t].
fn receive(table: &[f64], below: &[f64], quotient: &[f64], own: &mut [f64], r: usize) {
    let kp = quotient.len() / r.max(1);
    for s in 0..own.len() / r.max(1) {
        let out = &mut own[s * r..(s + 1) * r];
        let first = table[s * kp];
        out.iter_mut().zip(&quotient[..r]).for_each(|(o, q)| *o = first * q);
        for t in 1..kp {
            let p = table[s * kp + t];
            out.iter_mut().zip(&quotient[t * r..(t + 1) * r]).for_each(|(o, q)| *o += p * q);
        }
        out.iter_mut().zip(&below[s * r..(s + 1) * r]).for_each(|(o, b)| *o *= b);
    }
}

fn root_posterior(below: &[f64], prior: &[f64], own: &mut [f64], r: usize) {
    for i in 0..r {
        let z: f64 = prior.iter().enumerate().map(|(s, p)| p * below[s * r + i]).sum();
        let inverse = 1.0 / z.max(f64::MIN_POSITIVE);
        prior.iter().enumerate().for_each(|(s, p)| own[s * r + i] = p * below[s * r + i] * inverse);
    }
}
