//! What is told about a tree: the one view of a model that files for other programs and the page are made from.

mod cells;

use super::data::{Kind, Variable};
use super::network::Network;
use super::tree::Tree;
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A tree with all that is told about it. Maps of edges have keys a < b.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// The observed variables.
    pub variables: &'a [Variable],
    /// The tree over them.
    pub tree: &'a Tree,
    /// Its parameters.
    pub network: &'a Network,
    /// Share of bootstrap trees that have the split of an edge, 0 to 1; may be empty.
    pub support: &'a BTreeMap<(usize, usize), f64>,
    /// Standard errors of lengths; may be empty.
    pub errors: &'a BTreeMap<(usize, usize), f64>,
    /// Samples that the model was learnt from.
    pub samples: usize,
    /// Samples in which each variable was observed; empty where all were.
    pub seen: &'a [usize],
    /// The cluster of every variable, cut from the tree.
    pub clusters: &'a [usize],
    /// How likely samples are that were held out, where that was measured.
    pub held_out: Option<HeldOut>,
    /// No cell that is told stands for fewer samples than this, other than none. See [`Picture::shown`].
    pub min_cell: Option<u64>,
}

/// Mean log-likelihood of a held-out sample, in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// Under the tree.
    pub tree: f64,
    /// Under the Chow–Liu tree, which has no hidden nodes.
    pub chow_liu: f64,
    /// Were all variables independent.
    pub independence: f64,
    /// How many samples were held out.
    pub samples: usize,
}

crate::checkpoint::keep! { HeldOut { tree, chow_liu, independence, samples } }

impl HeldOut {
    /// All likelihoods lower by so many nats.
    pub(super) fn less(self, nats: f64) -> Self {
        let (tree, chow_liu) = (self.tree - nats, self.chow_liu - nats);
        Self { tree, chow_liu, independence: self.independence - nats, ..self }
    }
}

/// An edge as it is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The end with the smaller number.
    pub a: usize,
    /// The other end.
    pub b: usize,
    /// Its length.
    pub length: f64,
    /// The standard error of the length.
    pub error: Option<f64>,
    /// Share of bootstrap trees that have its split.
    pub support: Option<f64>,
}

impl Edge {
    /// How strongly its ends hang together, e^(−length): 1 where one tells the other, 0 where they are independent.
    pub fn strength(&self) -> f64 {
        (-self.length.max(0.0)).exp()
    }
}

/// What may be told of a picture: the same as it holds, or the same in coarse numbers where small cells are kept back.
#[derive(Debug, Clone)]
pub struct Shown<'a> {
    /// What it was made from.
    pub picture: Picture<'a>,
    /// The parameters.
    pub network: Cow<'a, Network>,
    /// P(state) of every node of the network.
    pub marginals: Vec<Vec<f64>>,
    /// The edges, in order.
    pub edges: Vec<Edge>,
    /// The network's node at every place of the tree.
    pub index: Vec<Option<usize>>,
    prefix: String,
}

impl<'a> Picture<'a> {
    /// What may be told.
    ///
    /// With `min_cell` m every table is told in whole units of m samples, from the roots down: the units of a parent's state
    /// are shared out among the child's states (levels of a variable, a flag up or down). A cell of less than one unit
    /// becomes 0 and its share goes to the cells that stay, those that lost most by rounding first. So every cell of a variable, of a hidden node, and
    /// of an edge stands for 0 samples or for at least m, and also the others are known to about m samples only: nothing is
    /// found by taking one table from another. A state without a unit is told the average over the other states. Lengths
    /// are rounded so that no cell of an edge's table can be worked out more closely from them, and have no errors.
    ///
    /// Combinations of variables that are not joined by an edge have no table. What the model says about them follows from
    /// independence given the hidden states and these coarse numbers; it is no count of samples.
    pub fn shown(&self) -> Shown<'a> {
        let network = match self.min_cell {
            Some(cell) if cell > 1 => Cow::Owned(cells::coarse(self, cell)),
            _ => Cow::Borrowed(self.network),
        };
        let marginals = marginals(&network);
        let mut index = vec![None; self.tree.capacity()];
        for (i, node) in network.nodes.iter().enumerate() {
            index[node.place] = Some(i);
        }
        let mut shown =
            Shown { picture: *self, network, marginals, edges: Vec::new(), index, prefix: self.prefix() };
        shown.edges = self.tree.edges().into_iter().map(|(a, b, length)| shown.edge(a, b, length)).collect();
        shown
    }

    /// Whether anything may be told.
    ///
    /// # Errors
    /// When the model was learnt from fewer samples than the smallest cell: then every number in it stands for fewer, and a table in
    /// its place would be made up.
    pub fn check(&self) -> Result<()> {
        match self.min_cell {
            Some(cell) if (self.samples as u64) < cell => Err(Error::Unfit {
                problem: format!(
                    "the model was learnt from {} samples, fewer than the smallest cell of {cell} that may be told",
                    self.samples
                ),
                remedy: format!(
                    "fit at least {cell} samples, or give a smaller --min-cell if these may be told"
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Variables that were observed in fewer samples than the smallest cell, though others were in more: nothing is told about
    /// their values, and tables in their place are even.
    pub fn held_back(&self) -> Vec<usize> {
        let cell = self.min_cell.unwrap_or(0);
        (0..self.variables.len()).filter(|&v| (self.seen(v) as u64) < cell).collect()
    }

    /// Samples in which a variable was observed.
    pub fn seen(&self, variable: usize) -> usize {
        self.seen.get(variable).copied().unwrap_or(self.samples)
    }

    /// What goes before the number of a hidden node, so that no variable has the same name.
    fn prefix(&self) -> String {
        let mut prefix = "h".to_owned();
        let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
        while self.variables.iter().any(|v| v.name.strip_prefix(&prefix).is_some_and(number)) {
            prefix.push('_');
        }
        prefix
    }
}

impl Shown<'_> {
    fn edge(&self, a: usize, b: usize, length: f64) -> Edge {
        let picture = &self.picture;
        let support = picture.support.get(&(a, b)).copied();
        match picture.min_cell {
            Some(cell) if cell > 1 => {
                // Correlations are (P(x,y) − P(x) P(y)) / (s_x s_y) with N s_x s_y ≥ half of the rarer side's samples:
                // steps of 2m over these move the count of the cell by m at least.
                let rarest = self.rarest(a).min(self.rarest(b)) * picture.samples as f64;
                let step = (2.0 * cell as f64 / rarest).min(1.0);
                let strength = ((-length.max(0.0)).exp() / step).round().max(1.0) * step;
                Edge { a, b, length: -strength.min(1.0).ln() + 0.0, error: None, support }
            }
            _ => Edge { a, b, length, error: picture.errors.get(&(a, b)).copied(), support },
        }
    }

    /// The smallest probability of a node's states that is not 0.
    fn rarest(&self, place: usize) -> f64 {
        let least =
            |values: &mut dyn Iterator<Item = f64>| values.filter(|&p| p > 1e-12).fold(1.0f64, f64::min);
        match self.index[place] {
            Some(node) => least(&mut self.marginals[node].iter().copied()),
            None if self.picture.variables[place].kind == Kind::Real => 1.0,
            None => least(&mut self.levels(place).into_iter().flat_map(|p| [p, 1.0 - p])),
        }
    }

    /// P(level) of a category, P(up) of flags, P(not 0) of counts, means of real numbers.
    pub fn levels(&self, variable: usize) -> Vec<f64> {
        let states = &self.marginals[self.network.emissions[variable].node];
        let mean = |row: &[f64]| row.iter().zip(states).map(|(x, p)| x * p).sum::<f64>();
        self.emission(variable).iter().map(|row| mean(row)).collect()
    }

    /// What every state makes of a variable, a row for every label: P(level | state) of a category, the reference
    /// first; P(up | state) of flags; P(not 0 | state) of counts; means of real numbers.
    pub fn emission(&self, variable: usize) -> Vec<Vec<f64>> {
        let emission = &self.network.emissions[variable];
        let mean = &emission.mean;
        let mut rows: Vec<Vec<f64>> = (0..mean.rows()).map(|f| mean.row(f).to_vec()).collect();
        match self.picture.variables[variable].kind {
            Kind::Category => {
                let rest = |s: usize| (1.0 - rows.iter().map(|row| row[s]).sum::<f64>()).max(0.0);
                let reference = (0..mean.cols()).map(rest).collect();
                rows.insert(0, reference);
            }
            Kind::Counts => rows.iter_mut().flatten().for_each(|rate| *rate = 1.0 - (-*rate).exp()),
            Kind::Flags | Kind::Real => {}
        }
        rows
    }

    /// The labels of a variable. A level or flag that no cell is told of is not named either: that somebody has it would be told so.
    pub fn labels(&self, variable: usize) -> Vec<String> {
        let given = &self.picture.variables[variable];
        let cell = self.picture.min_cell.unwrap_or(0);
        if cell <= 1 || given.kind == Kind::Real {
            return given.labels.clone();
        }
        let seen = self.picture.seen(variable) as u64 >= cell;
        let (shares, mut held) = (self.levels(variable), 0);
        let mut label = |(at, label): (usize, &String)| {
            if seen && shares.get(at).is_some_and(|&share| share > 0.0) {
                return label.clone();
            }
            held += 1;
            format!("held back {held}")
        };
        given.labels.iter().enumerate().map(&mut label).collect()
    }

    /// The name of a node of the tree: the variable's, or a letter and a number.
    pub fn name(&self, place: usize) -> Cow<'_, str> {
        match self.picture.variables.get(place) {
            Some(variable) => variable.name.as_str().into(),
            None => format!("{}{}", self.prefix, place - self.picture.variables.len() + 1).into(),
        }
    }

    /// Whether a variable's twin shows its levels as they are.
    pub fn is_own_twin(&self, variable: usize) -> bool {
        let emission = &self.network.emissions[variable];
        let plain = |f: usize, s: usize| emission.mean.row(f)[s] == f64::from(u8::from(f + 1 == s));
        let mean = &emission.mean;
        self.picture.variables[variable].kind == Kind::Category
            && self.network.nodes[emission.node].place == variable
            && mean.cols() == mean.rows() + 1
            && (0..mean.rows()).all(|f| (0..mean.cols()).all(|s| plain(f, s)))
    }
}

/// P(state) of every node.
pub(super) fn marginals(network: &Network) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(network.nodes.len());
    for node in &network.nodes {
        let states = match node.parent {
            None => node.table.col(0),
            Some(parent) => node.table.matvec(&all[parent]),
        };
        all.push(states);
    }
    all
}

#[cfg(test)]
pub(super) mod tests;
