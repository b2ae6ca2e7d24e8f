//! Is an edge between two hidden nodes needed? Its ends apart against both merged into one, by likelihood and its price.

mod messages;

use super::belief::Outside;
use super::data::Table;
use super::network::{Network, Node};
use super::polish::{spread, sweep};
use super::tree::Tree;
use crate::error::Result;
use messages::Messages;
use rayon::prelude::*;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::{Progress, Silent};

/// Most sweeps of a local model.
const SWEEPS: usize = 12;

/// Most samples, and most numbers of messages (4 bytes each), that edges are weighed with.
const MOST_SAMPLES: usize = 20_000;
const MOST_NUMBERS: usize = 40_000_000;

/// An edge between two hidden nodes with what it is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighed {
    /// The nodes of the tree at its ends.
    pub ends: (usize, usize),
    /// How much log-likelihood is lost, in nats over the samples used, when both ends become one node. An edge that is far
    /// from its price is not computed to the end: then this is a bound on the same side.
    pub gain: f64,
    /// ½ (numbers that the edge adds) log N, which is ½ k(k−1) log N where both ends have k states.
    pub price: f64,
}

impl Weighed {
    /// Whether the edge is worth its price.
    pub fn needed(&self) -> bool {
        self.gain > self.price
    }
}

/// A small network around an edge, with what the rest says about its outer nodes.
struct Around<'a> {
    network: Network,
    outside: Vec<Outside<'a>>,
}

/// A neighbour of an end of the edge: P(its state | state of the end), and what lies behind it.
struct Branch<'a> {
    table: Mat,
    values: std::borrow::Cow<'a, [f32]>,
}

impl Network {
    /// Weighs every edge between two hidden nodes: the expectation–maximisation of a local model with the edge, and of one
    /// with its ends merged, while the messages from around stay as they are.
    ///
    /// # Complexity
    /// O(samples · degree · k²) for each edge and sweep, at most 12 sweeps, on at most 20,000 samples.
    ///
    /// # Errors
    /// When the network is of other variables; when the caller wants to stop.
    pub fn weigh(&self, table: &Table, progress: &dyn Progress) -> Result<Vec<Weighed>> {
        self.check(table.variables())?;
        let slots: usize = self.nodes.iter().map(|n| n.states() + n.table.cols()).sum();
        let most = MOST_SAMPLES.min(MOST_NUMBERS / slots.max(1)).max(1000);
        let all: Vec<u32> = (0..table.samples() as u32).collect();
        let few = table.take(spread(&all, most).into_iter().map(|i| i as usize));
        let messages = Messages::new(self, &few)?;
        let observed = table.variables().len();
        let hidden = |n: usize| self.nodes[n].place >= observed && self.nodes[n].states() > 1;
        let edges: Vec<(usize, usize)> = (0..self.nodes.len())
            .filter_map(|n| self.nodes[n].parent.filter(|&p| hidden(p) && hidden(n)).map(|p| (p, n)))
            .collect();
        progress.stage("weighing edges", edges.len() as u64);
        edges
            .par_iter()
            .with_max_len(1)
            .map(|&(upper, lower)| {
                progress.check()?;
                let weighed = self.weigh_edge(upper, lower, &messages, &few)?;
                progress.advance(1);
                Ok(weighed)
            })
            .collect()
    }

    fn weigh_edge(&self, upper: usize, lower: usize, messages: &Messages, table: &Table) -> Result<Weighed> {
        let at_upper = self.branches(upper, lower, messages, table)?;
        let at_lower = self.branches(lower, upper, messages, table)?;
        let down = &self.nodes[lower].table;
        let prior = (&messages.marginals[upper], &messages.marginals[lower]);
        let up = reversed(down, prior.0, prior.1);
        let mut apart = with_edge(prior.0, down, &at_upper, &at_lower);
        let merged =
            [merged(prior.0, &at_upper, &at_lower, down), merged(prior.1, &at_lower, &at_upper, &up)];
        let rows: Vec<u32> = (0..table.samples() as u32).collect();
        let n = rows.len() as f64;
        let step = |around: &Around<'_>| -> Result<(Network, f64)> {
            let (next, own) = sweep(&around.network, table, &rows, &around.outside, &Silent)?;
            Ok((next, own * n))
        };
        let (mut next_apart, mut with) = step(&apart)?;
        let tried = [step(&merged[0])?, step(&merged[1])?];
        let better = usize::from(tried[1].1 > tried[0].1);
        let [first, second] = merged;
        let mut one = if better == 1 { second } else { first };
        let price = 0.5 * (numbers(&apart.network) - numbers(&one.network)) * n.ln();
        let [first, second] = tried;
        let (mut next_one, mut without) = if better == 1 { second } else { first };
        for _ in 1..SWEEPS {
            let before = without;
            one.network = next_one;
            (next_one, without) = step(&one)?;
            let gain = with - without;
            // Far from its price on either side: more sweeps cannot change the answer.
            let left = 10.0 * (without - before).max(0.1);
            if gain - left > 2.0 * price || gain < 0.0 {
                break;
            }
            if gain < 3.0 * price {
                apart.network = next_apart;
                (next_apart, with) = step(&apart)?;
            }
        }
        let ends = (self.nodes[upper].place, self.nodes[lower].place);
        Ok(Weighed { ends, gain: with - without, price })
    }

    /// All neighbours of a node but one.
    fn branches<'a>(
        &self,
        node: usize,
        but: usize,
        messages: &'a Messages,
        table: &Table,
    ) -> Result<Vec<Branch<'a>>> {
        let mut all = Vec::new();
        if let Some(parent) = self.nodes[node].parent.filter(|&p| p != but) {
            let own = &self.nodes[node].table;
            let table = reversed(own, &messages.marginals[parent], &messages.marginals[node]);
            all.push(Branch { table, values: (&messages.above[node][..]).into() });
        }
        for (n, child) in self.nodes.iter().enumerate().filter(|(n, c)| c.parent == Some(node) && *n != but) {
            all.push(Branch { table: child.table.clone(), values: (&messages.below[n][..]).into() });
        }
        for (v, emission) in self.emissions.iter().enumerate().filter(|(_, e)| e.node == node) {
            let (values, table) = messages.leaf(emission, &table.variables()[v], v)?;
            all.push(Branch { table, values: values.into() });
        }
        Ok(all)
    }
}

/// P(parent | child) from P(child | parent).
fn reversed(table: &Mat, parent: &[f64], child: &[f64]) -> Mat {
    Mat::from_fn(parent.len(), child.len(), |t, s| table[(s, t)] * parent[t] / child[s].max(1e-12))
}

fn numbers(network: &Network) -> f64 {
    network.nodes.iter().map(|n| (n.states() - 1) * n.table.cols()).sum::<usize>() as f64
}

fn with_edge<'a>(prior: &[f64], edge: &Mat, upper: &'a [Branch<'a>], lower: &'a [Branch<'a>]) -> Around<'a> {
    let root = Node { place: 0, parent: None, table: Mat::from_vec(prior.len(), 1, prior.to_vec()) };
    let second = Node { place: 1, parent: Some(0), table: edge.clone() };
    let mut around =
        Around { network: Network { nodes: vec![root, second], emissions: Vec::new() }, outside: Vec::new() };
    upper.iter().for_each(|b| around.hang(0, b.table.clone(), &b.values));
    lower.iter().for_each(|b| around.hang(1, b.table.clone(), &b.values));
    around
}

/// Everything at one end; what hung on the other is seen through the table of the edge.
fn merged<'a>(prior: &[f64], own: &'a [Branch<'a>], other: &'a [Branch<'a>], edge: &Mat) -> Around<'a> {
    let root = Node { place: 0, parent: None, table: Mat::from_vec(prior.len(), 1, prior.to_vec()) };
    let mut around =
        Around { network: Network { nodes: vec![root], emissions: Vec::new() }, outside: Vec::new() };
    own.iter().for_each(|b| around.hang(0, b.table.clone(), &b.values));
    other.iter().for_each(|b| around.hang(0, b.table.matmul(edge), &b.values));
    around
}

impl<'a> Around<'a> {
    fn hang(&mut self, parent: usize, table: Mat, values: &'a [f32]) {
        let node = self.network.nodes.len();
        self.network.nodes.push(Node { place: node, parent: Some(parent), table });
        self.outside.push(Outside { node, values });
    }
}

impl Tree {
    /// The tree without the edges that are not worth their price, the least worthy first. An edge with a gain of less than half
    /// its price always goes; one nearer to it goes only where neither end was merged before, because then its gain is that
    /// of another edge: weigh again.
    pub fn without_unneeded(&self, weighed: &[Weighed]) -> Self {
        let mut order: Vec<&Weighed> = weighed.iter().filter(|w| !w.needed()).collect();
        order.sort_by(|a, b| (a.gain - a.price).total_cmp(&(b.gain - b.price)).then(a.ends.cmp(&b.ends)));
        let mut tree = self.clone();
        let mut now: Vec<usize> = (0..self.capacity()).collect();
        let mut touched = vec![false; self.capacity()];
        for edge in order {
            let find = |mut n: usize| {
                while now[n] != n {
                    n = now[n];
                }
                n
            };
            let (a, b) = (find(edge.ends.0), find(edge.ends.1));
            let fresh = !touched[a] && !touched[b];
            if a != b && tree.length(a, b).is_some() && (fresh || edge.gain < 0.5 * edge.price) {
                tree.contract(a, b);
                now[b] = a;
                touched[a] = true;
            }
        }
        tree
    }
}
