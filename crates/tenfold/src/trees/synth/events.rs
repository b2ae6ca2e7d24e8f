//! Draws tables like those of medical claims: many patients, groups of codes, few events for each.

use super::{SHAPE, Shape, Synth, TABLES};
use crate::error::Result;
use crate::trees::data::{Kind, Table, Variable};
use crate::trees::network::{Emission, Network};
use crate::trees::tree::Tree;
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use rayon::prelude::*;
use std::ops::RangeInclusive;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::block_range;
use tenfold_engine::linalg::random::{self, Rng};

/// Random streams of patients begin here; so many patients share one, and so many streams are drawn at once.
const PATIENTS: u64 = 9 << 32;
const STREAM: usize = 1024;
const WAVE: usize = 64;

/// A table of events to draw: a latent tree above groups of codes, which are flags.
///
/// # Example
/// ```
/// use tenfold::trees::Events;
/// let drawn = Events { patients: 500, groups: 10, ..Events::default() }.draw()?;
/// assert_eq!((drawn.table.samples(), drawn.table.variables().len()), (500, 10));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Events {
    /// Patients.
    pub patients: usize,
    /// Groups of codes.
    pub groups: usize,
    /// How many codes a group has, drawn evenly.
    pub codes: RangeInclusive<usize>,
    /// Different codes that a patient has, on average.
    pub mean: f64,
    /// States of a hidden node.
    pub states: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for Events {
    /// As large as the claims of 1.64 million patients with 15.8 million events.
    fn default() -> Self {
        Self { patients: 1_640_000, groups: 168, codes: 2..=31, mean: 9.63, states: 2, seed: 0 }
    }
}

/// Drawn events, the tree and the parameters behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnEvents {
    /// The patients.
    pub table: Table,
    /// The tree; edges have length 1.
    pub tree: Tree,
    /// Its parameters.
    pub network: Network,
}

impl Events {
    /// Draws.
    ///
    /// # Errors
    /// When there are fewer than three groups or two states.
    pub fn draw(&self) -> Result<DrawnEvents> {
        let synth = Synth {
            variables: self.groups,
            samples: self.patients,
            states: self.states,
            shape: Shape::Mixed,
            seed: self.seed,
            ..Synth::default()
        };
        synth.check()?;
        let tree = synth.forest(&mut random::rng(self.seed, SHAPE));
        let mut rng = random::rng(self.seed, TABLES);
        let variable = |g: usize, codes: usize| Variable {
            name: format!("g{g}"),
            kind: Kind::Flags,
            labels: (0..codes).map(|c| format!("g{g}.{c}")).collect(),
        };
        let variables: Vec<Variable> =
            (0..self.groups).map(|g| variable(g, rng.random_range(self.codes.clone()))).collect();
        let mut network = synth.network(&tree, &variables, &mut rng);
        let rates = self.rates(&network, &variables, &mut rng);
        for (emission, rates) in network.emissions.iter_mut().zip(&rates) {
            *emission =
                Emission { node: emission.node, mean: rates.map(|l| -(-l).exp_m1()), variance: Vec::new() };
        }
        let table = self.patients(&network, &rates, variables)?;
        Ok(DrawnEvents { table, tree, network })
    }

    /// How often each code comes in each state: few codes are common, most are rare, and each belongs to one state.
    fn rates(&self, network: &Network, variables: &[Variable], rng: &mut Rng) -> Vec<Mat> {
        let mut rates: Vec<Mat> = Vec::new();
        for variable in variables {
            let group = (1.5 * random::normal(rng)).exp();
            let common: Vec<f64> = (0..variable.width()).map(|_| random::normal(rng).exp()).collect();
            rates.push(Mat::from_fn(variable.width(), self.states, |c, s| {
                group * common[c] * if c % self.states == s { 1.0 } else { 0.05 }
            }));
        }
        let marginals = marginals(network);
        let mean = |scale: f64| -> f64 {
            let of = |(v, rate): (usize, &Mat)| -> f64 {
                let weights = &marginals[network.emissions[v].node];
                let up = |c: usize| rate.row(c).iter().zip(weights).map(|(l, w)| -w * (-scale * l).exp_m1());
                (0..rate.rows()).flat_map(up).sum()
            };
            rates.iter().enumerate().map(of).sum()
        };
        let (mut low, mut high) = (-60.0f64, 20.0f64);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if mean(middle.exp()) < self.mean { low = middle } else { high = middle }
        }
        rates.iter().map(|rate| rate.map(|l| l * low.exp())).collect()
    }

    fn patients(&self, network: &Network, rates: &[Mat], variables: Vec<Variable>) -> Result<Table> {
        let mut table = Table::new(variables)?;
        let starts: Vec<usize> = (0..rates.len()).map(|v| table.features_of(v).start).collect();
        let whole: Vec<Vec<f64>> =
            rates.iter().map(|m| (0..self.states).map(|s| m.col(s).iter().sum()).collect()).collect();
        let streams: Vec<usize> = (0..self.patients.div_ceil(STREAM)).collect();
        for wave in streams.chunks(WAVE) {
            let drawn: Vec<Vec<Vec<(u32, f64)>>> = wave
                .par_iter()
                .map(|&stream| {
                    let mut rng = random::rng(self.seed, PATIENTS + stream as u64);
                    block_range(stream, self.patients, STREAM)
                        .map(|_| patient(network, rates, &whole, &starts, &mut rng))
                        .collect()
                })
                .collect();
            drawn.iter().flatten().for_each(|entries| table.push(entries, &[]));
        }
        Ok(table)
    }
}

/// A patient's codes. Events of a Poisson process are drawn along all groups, gap after gap, so that the time goes by what
/// happens and not by what could; a code is up when it has an event.
fn patient(
    network: &Network,
    rates: &[Mat],
    whole: &[Vec<f64>],
    starts: &[usize],
    rng: &mut Rng,
) -> Vec<(u32, f64)> {
    let mut states: Vec<usize> = Vec::with_capacity(network.nodes.len());
    for node in &network.nodes {
        let above = node.parent.map_or(0, |parent| states[parent]);
        let mut left: f64 = rng.random();
        let mut state = 0;
        while state + 1 < node.states() {
            left -= node.table[(state, above)];
            if left < 0.0 {
                break;
            }
            state += 1;
        }
        states.push(state);
    }
    let mut up: Vec<u32> = Vec::new();
    let mut gap: f64 = Exp1.sample(rng);
    for (v, rate) in rates.iter().enumerate() {
        let state = states[network.emissions[v].node];
        let mut place = 0.0;
        while gap < whole[v][state] - place {
            place += gap;
            gap = Exp1.sample(rng);
            let mut left = place;
            let mut code = 0;
            while code + 1 < rate.rows() && left >= rate[(code, state)] {
                left -= rate[(code, state)];
                code += 1;
            }
            up.push((starts[v] + code) as u32);
        }
        gap -= whole[v][state] - place;
    }
    up.dedup();
    up.into_iter().map(|code| (code, 1.0)).collect()
}

/// The probabilities of the states of every node.
fn marginals(network: &Network) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    for node in &network.nodes {
        let above = node.parent.map_or(vec![1.0], |parent| all[parent].clone());
        all.push(node.table.matvec(&above));
    }
    all
}
