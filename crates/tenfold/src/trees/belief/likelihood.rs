//! What every state of a node says about the observed variables that hang on it, ready for many samples.

use super::super::data::{Kind, Row, Table, Variable};
use super::super::network::Network;
use statrs::function::gamma::ln_gamma;

/// Probabilities below this count as this, so that one impossible value does not make a whole sample impossible.
pub(in super::super) const LEAST: f64 = 1e-12;

/// A variance below this counts as this: its inverse is still a number.
const LEAST_VARIANCE: f64 = 1e-300;

/// Where the logarithms of all that may be multiplied at one node stay within this, plain products cannot leave the range
/// of f64 (e^±708); other nodes add logarithms.
const PLAIN: f64 = 300.0;

/// A variable as its node sees it: log P(all features 0 | s) = shift + rest_s, with the largest rest 0; real features are counted
/// from their middle here.
struct Seen {
    node: usize,
    kind: Kind,
    /// It shows the state itself; the number of its column of levels.
    shows: Option<usize>,
    shift: f64,
    rest: Vec<f64>,
}

/// For every feature f and state s: the factor by which x_f = 1 changes the likelihood of x_f = 0, or its logarithm; for real
/// ones the slope (μ − middle)/σ².
pub(in super::super) struct Likelihood {
    pub owner: Vec<u32>,
    /// Where the numbers of a feature begin; as many as its node has states.
    pub at: Vec<usize>,
    starts: Vec<usize>,
    step: Vec<f64>,
    /// Real features: the number, the variable, 1/(2σ²), and the middle of the states' means, from which x is measured so that
    /// numbers far from 0 keep their digits.
    reals: Vec<Real>,
    seen: Vec<Seen>,
    plain: Vec<bool>,
    base: Vec<Vec<f64>>,
    shift: f64,
    shown: usize,
}

/// A real feature.
struct Real {
    feature: usize,
    variable: u32,
    half_precision: f64,
    middle: f64,
}

/// A block that is being filled.
struct Target<'a> {
    r: usize,
    offsets: &'a [usize],
    out: &'a mut [f64],
    scale: &'a mut [f64],
    /// Levels of the variables that show their state.
    levels: Vec<u32>,
}

impl Likelihood {
    pub fn new(network: &Network, variables: &[Variable]) -> Self {
        let mut made = Self {
            owner: Vec::new(),
            at: Vec::new(),
            starts: Vec::new(),
            step: Vec::new(),
            reals: Vec::new(),
            seen: Vec::new(),
            plain: vec![true; network.nodes.len()],
            base: network.nodes.iter().map(|n| vec![0.0; n.states()]).collect(),
            shift: 0.0,
            shown: 0,
        };
        let mut reach = vec![0.0f64; network.nodes.len()];
        for (v, variable) in variables.iter().enumerate() {
            let node = network.emissions[v].node;
            reach[node] += made.add(network, v, variable);
            if matches!(variable.kind, Kind::Real | Kind::Counts) {
                reach[node] = f64::INFINITY;
            }
        }
        for (node, reach) in reach.iter().enumerate() {
            made.plain[node] = *reach <= PLAIN;
        }
        for (f, &v) in made.owner.iter().enumerate() {
            let seen = &made.seen[v as usize];
            if made.plain[seen.node] {
                let k = seen.rest.len();
                made.step[made.at[f]..made.at[f] + k].iter_mut().for_each(|x| *x = x.exp());
            }
        }
        made
    }

    /// Adds a variable; returns how far its logarithms can reach.
    fn add(&mut self, network: &Network, v: usize, variable: &Variable) -> f64 {
        let emission = &network.emissions[v];
        let (width, k) = (emission.mean.rows(), emission.mean.cols());
        self.starts.push(self.owner.len());
        let shows = network.shows(v, variable);
        let mut zero = vec![0.0; k];
        let (mut all, mut one) = (0.0, 0.0f64);
        let reference: Vec<f64> =
            (0..k).map(|s| (1.0 - emission.mean.col(s).iter().sum::<f64>()).max(LEAST).ln()).collect();
        for f in 0..width {
            self.owner.push(v as u32);
            self.at.push(self.step.len());
            let mut spread = 0.0f64;
            let middle = emission.mean.row(f).iter().sum::<f64>() / k as f64;
            for s in 0..k {
                let mean = emission.mean[(f, s)];
                let step = match variable.kind {
                    _ if shows => 0.0,
                    Kind::Category => mean.max(LEAST).ln() - reference[s],
                    Kind::Flags => {
                        zero[s] += (1.0 - mean).max(LEAST).ln();
                        mean.max(LEAST).ln() - (1.0 - mean).max(LEAST).ln()
                    }
                    Kind::Counts => {
                        zero[s] -= mean.max(LEAST);
                        mean.max(LEAST).ln()
                    }
                    Kind::Real => {
                        let variance = emission.variance[f].max(LEAST_VARIANCE);
                        let mean = mean - middle;
                        zero[s] -= 0.5 * (mean * mean / variance + (std::f64::consts::TAU * variance).ln());
                        mean / variance
                    }
                };
                spread = spread.max(step.abs());
                self.step.push(step);
            }
            if variable.kind == Kind::Real {
                let half_precision = 0.5 / emission.variance[f].max(LEAST_VARIANCE);
                let (feature, variable) = (self.owner.len() - 1, v as u32);
                self.reals.push(Real { feature, variable, half_precision, middle });
            }
            all += spread;
            one = one.max(spread);
        }
        if variable.kind == Kind::Category && !shows {
            zero = reference;
        }
        let shift = zero.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rest: Vec<f64> = zero.iter().map(|z| z - shift).collect();
        let low = rest.iter().copied().fold(0.0, f64::min);
        self.base[emission.node].iter_mut().zip(&rest).for_each(|(b, r)| *b += r);
        self.shift += shift;
        let number = self.shown;
        self.shown += usize::from(shows);
        let shows = shows.then_some(number);
        self.seen.push(Seen { node: emission.node, kind: variable.kind, shows, shift, rest });
        2.0 * (if variable.kind == Kind::Category { one } else { all } - low)
    }

    /// P(what hangs on a node | its state), up to the factors in `scale` (logarithms): `out` holds for every node its states,
    /// and for every state `rows` numbers. `offsets` says where the states of a node begin.
    pub fn fill(&self, table: &Table, rows: &[u32], offsets: &[usize], out: &mut [f64], scale: &mut [f64]) {
        let r = rows.len();
        for (node, base) in self.base.iter().enumerate() {
            for (s, b) in base.iter().enumerate() {
                let value = if self.plain[node] { b.exp() } else { *b };
                out[(offsets[node] + s) * r..(offsets[node] + s + 1) * r].fill(value);
            }
        }
        scale.fill(self.shift);
        if self.seen.is_empty() {
            return; // nothing is observed here: all that is known comes from outside
        }
        let levels = vec![0u32; self.shown * r];
        let mut target = Target { r, offsets, out, scale, levels };
        for (i, &sample) in rows.iter().enumerate() {
            let row = table.row(sample as usize);
            self.observe(row, i, &mut target);
            self.measure(row, i, &mut target);
            self.forget(row, i, &mut target);
        }
        let Target { out, scale, levels, .. } = target;
        for node in 0..self.base.len() {
            if !self.plain[node] {
                let k = self.base[node].len();
                exponentiate(&mut out[offsets[node] * r..(offsets[node] + k) * r], scale);
            }
        }
        for seen in &self.seen {
            if let Some(number) = seen.shows {
                mask(
                    &mut out[offsets[seen.node] * r..],
                    seen.rest.len(),
                    &levels[number * r..(number + 1) * r],
                );
            }
        }
    }

    /// Row i of a block: its real features, also those that are 0.
    fn measure(&self, row: Row<'_>, i: usize, target: &mut Target<'_>) {
        for real in &self.reals {
            if row.missing.binary_search(&real.variable).is_ok() {
                continue;
            }
            let x = row.value(real.feature) - real.middle;
            let seen = &self.seen[real.variable as usize];
            let at = target.offsets[seen.node] * target.r + i;
            target.scale[i] -= real.half_precision * x * x;
            let step = &self.step[self.at[real.feature]..self.at[real.feature] + seen.rest.len()];
            step.iter().enumerate().for_each(|(s, m)| target.out[at + s * target.r] += x * m);
        }
    }

    /// Row i of a block: its features that are not 0, but for real ones.
    fn observe(&self, row: Row<'_>, i: usize, target: &mut Target<'_>) {
        let r = target.r;
        for (&f, &x) in row.features.iter().zip(row.values) {
            let f = f as usize;
            let v = self.owner[f] as usize;
            let seen = &self.seen[v];
            if let Some(number) = seen.shows {
                target.levels[number * r + i] = (f - self.starts[v] + 1) as u32;
                continue;
            }
            let k = seen.rest.len();
            let step = &self.step[self.at[f]..self.at[f] + k];
            let at = target.offsets[seen.node] * r + i;
            if self.plain[seen.node] {
                step.iter().enumerate().for_each(|(s, m)| target.out[at + s * r] *= m);
                continue;
            }
            let times = match seen.kind {
                Kind::Category | Kind::Flags => 1.0,
                Kind::Counts => {
                    target.scale[i] -= if x == 1.0 { 0.0 } else { ln_gamma(x + 1.0) };
                    x
                }
                Kind::Real => continue,
            };
            step.iter().enumerate().for_each(|(s, m)| target.out[at + s * r] += times * m);
        }
    }

    /// Row i of a block: its variables that are missing, which `fill` took as all 0.
    fn forget(&self, row: Row<'_>, i: usize, target: &mut Target<'_>) {
        let r = target.r;
        for &v in row.missing {
            let seen = &self.seen[v as usize];
            target.scale[i] -= seen.shift;
            if let Some(number) = seen.shows {
                target.levels[number * r + i] = u32::MAX;
                continue;
            }
            let at = target.offsets[seen.node] * r + i;
            for (s, rest) in seen.rest.iter().enumerate() {
                if self.plain[seen.node] {
                    target.out[at + s * r] *= (-rest).exp();
                } else {
                    target.out[at + s * r] -= rest;
                }
            }
        }
    }
}

/// From logarithms to numbers whose largest is 1 in every row; what was taken off is added to `scale`.
fn exponentiate(states: &mut [f64], scale: &mut [f64]) {
    let r = scale.len();
    for (i, scale) in scale.iter_mut().enumerate() {
        let most = states[i..].iter().step_by(r).copied().fold(f64::NEG_INFINITY, f64::max);
        states[i..].iter_mut().step_by(r).for_each(|x| *x = (*x - most).exp());
        *scale += most;
    }
}

/// Leaves the state that was seen; `u32::MAX` saw none.
fn mask(states: &mut [f64], k: usize, levels: &[u32]) {
    let r = levels.len();
    for s in 0..k {
        for (x, &level) in states[s * r..(s + 1) * r].iter_mut().zip(levels) {
            if level != u32::MAX && level as usize != s {
                *x = 0.0;
            }
        }
    }
}
