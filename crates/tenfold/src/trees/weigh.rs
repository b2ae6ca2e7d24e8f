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
    /// Whether the edge is worth this share of its price; 1 is the Bayesian information criterion.
    pub fn needed(&self, share: f64) -> bool {
        self.gain > share * self.price
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

/// An edge against its ends merged, in either of two ways.
struct Contest<'a> {
    apart: Around<'a>,
    merged: [Around<'a>; 2],
    table: &'a Table,
    rows: Vec<u32>,
}

impl Contest<'_> {
    /// The next network, and log P of all samples under this one.
    fn step(&self, network: &Network, outside: &[Outside<'_>]) -> Result<(Network, f64)> {
        let (next, own) = sweep(network, self.table, &self.rows, outside, &Silent)?;
        Ok((next, own * self.rows.len() as f64))
    }

    /// The gain of the edge and its price.
    fn run(&self) -> Result<(f64, f64)> {
        let apart = &self.apart;
        let (mut next_apart, mut with) = self.step(&apart.network, &apart.outside)?;
        let [first, second] = &self.merged;
        let tried =
            [self.step(&first.network, &first.outside)?, self.step(&second.network, &second.outside)?];
        let (one, (mut next, mut without)) = {
            let [a, b] = tried;
            if b.1 > a.1 { (second, b) } else { (first, a) }
        };
        let price = 0.5 * (numbers(&apart.network) - numbers(&one.network)) * (self.rows.len() as f64).ln();
        for sweeps in 1..SWEEPS {
            let before = without;
            (next, without) = self.step(&next, &one.outside)?;
            let gain = with - without;
            // Far from its price on either side: more sweeps cannot change the answer.
            let left = 5.0 * (without - before).max(0.1);
            if gain - left > 1.5 * price || gain < 0.0 || (sweeps > 3 && gain < 0.2 * price) {
                break;
            }
            if gain < 2.0 * price {
                (next_apart, with) = self.step(&next_apart, &apart.outside)?;
            }
        }
        Ok((with - without, price))
    }
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
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::trees::Synth;
    /// let drawn = Synth::default().draw()?;
    /// let weighed = drawn.network.weigh(&drawn.table, &Silent)?;
    /// let fewer = drawn.tree.without_unneeded(&weighed, 1.0);
    /// assert!(fewer.edges().len() <= drawn.tree.edges().len());
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn weigh(&self, table: &Table, progress: &dyn Progress) -> Result<Vec<Weighed>> {
        self.weigh_some(table, &|_, _| true, progress)
    }

    /// [`Network::weigh`] for those edges only, by their ends in the tree, that are in doubt.
    pub(super) fn weigh_some(
        &self,
        table: &Table,
        doubtful: &dyn Fn(usize, usize) -> bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Weighed>> {
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
            .filter(|&(p, n)| doubtful(self.nodes[p].place, self.nodes[n].place))
            .collect();
        if edges.is_empty() {
            return Ok(Vec::new());
        }
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
        let apart = with_edge(prior.0, down, &at_upper, &at_lower);
        let merged =
            [merged(prior.0, &at_upper, &at_lower, down), merged(prior.1, &at_lower, &at_upper, &up)];
        let rows: Vec<u32> = (0..table.samples() as u32).collect();
        let (gain, price) = Contest { apart, merged, table, rows }.run()?;
        Ok(Weighed { ends: (self.nodes[upper].place, self.nodes[lower].place), gain, price })
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
    /// The tree without the edges that are not worth this share of their price, the least worthy first. An edge with a gain of less than half
    /// its price always goes; one nearer to it goes only where neither end was merged before, because then its gain is that
    /// of another edge: weigh again.
    pub fn without_unneeded(&self, weighed: &[Weighed], share: f64) -> Self {
        let mut order: Vec<&Weighed> = weighed.iter().filter(|w| !w.needed(share)).collect();
        let worth = |w: &Weighed| w.gain - share * w.price;
        order.sort_by(|a, b| worth(a).total_cmp(&worth(b)).then(a.ends.cmp(&b.ends)));
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
            if a != b && tree.length(a, b).is_some() && (fresh || edge.gain < 0.5 * share * edge.price) {
                tree.contract(a, b);
                now[b] = a;
                touched[a] = true;
            }
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::super::polish::Polish;
    use super::super::synth::{Emits, Synth};
    use super::*;
    use tenfold_engine::linalg::parallel::with_threads;

    fn fitted(tree: &Tree, table: &Table, k: usize) -> (Network, f64) {
        let blank = Network::skeleton(tree, table.variables(), |_| k).unwrap();
        let start = blank.from_moments(tree, table, 0, &Silent).unwrap().network;
        let network = Polish { sweeps: 300, tolerance: 1e-7, ..Polish::default() }
            .run(&start, table, &Silent)
            .unwrap()
            .network;
        let total = network.log_likelihood(table, &Silent).unwrap().iter().sum();
        (network, total)
    }

    /// Six leaves; with `edge`, three at each of two hidden nodes, otherwise all at one.
    fn six(edge: bool) -> Tree {
        let ends = |v: usize| if edge && v > 2 { 7 } else { 6 };
        let mut edges: Vec<(usize, usize, f64)> = (0..6).map(|v| (v, ends(v), 1.0)).collect();
        edges.extend(edge.then_some((6, 7, 0.5)));
        Tree::from_edges(6, &edges)
    }

    #[test]
    fn the_gain_is_that_of_fitting_both_trees() {
        // With nothing around the edge the local models are the trees themselves. Strong leaves, so that few sweeps suffice;
        // fewer than 2000 samples, so that all are learned from.
        for (seed, edge) in [(1, true), (2, true), (3, false), (4, false)] {
            let draw =
                Synth { variables: 6, samples: 1900, width: 3, strength: 0.8..0.9, seed, ..Synth::default() };
            let mut network =
                Network::skeleton(&six(edge), draw.draw().unwrap().table.variables(), |_| 2).unwrap();
            for node in network.nodes.iter_mut().filter(|node| node.parent.is_some()) {
                node.table = Mat::from_vec(2, 2, vec![0.8, 0.25, 0.2, 0.75]);
            }
            for (v, emission) in network.emissions.iter_mut().enumerate() {
                let more = 0.02 * v as f64;
                emission.mean = Mat::from_vec(2, 2, vec![0.1 + more, 0.6, 0.15, 0.3 - more]);
            }
            let variables = draw.draw().unwrap().table.variables().to_vec();
            let table = network.draw(&variables, 1900, seed).unwrap().table;
            let (apart, with) = fitted(&six(true), &table, 2);
            let without = fitted(&six(false), &table, 2).1;
            let weighed = apart.weigh(&table, &Silent).unwrap();
            assert_eq!((weighed.len(), weighed[0].needed(1.0)), (1, edge), "seed {seed}: {weighed:?}");
            assert!((weighed[0].price - 1900f64.ln()).abs() < 1e-9);
            // A needed edge is not followed to the end, so its gain may be larger than the true one, never much smaller.
            let wanted = with - without;
            assert!(weighed[0].gain > wanted - 1.5, "seed {seed}: {} for {wanted}", weighed[0].gain);
            assert!(edge || weighed[0].gain < wanted + 3.0, "seed {seed}: {} for {wanted}", weighed[0].gain);
        }
    }

    #[test]
    fn added_edges_go_and_true_ones_stay() {
        for (emits, seed) in [(Emits::Category, 0), (Emits::Mixed, 1)] {
            let drawn = Synth { variables: 15, samples: 4000, width: 3, emits, seed, ..Synth::default() }
                .draw()
                .unwrap();
            let mut tree = drawn.tree.clone();
            let wide = tree.hidden().find(|&h| tree.degree(h) > 3).unwrap();
            let two: Vec<usize> = tree.neighbours(wide).keys().copied().take(2).collect();
            let added = tree.add_hidden();
            two.iter().for_each(|&n| {
                tree.cut(wide, n);
                tree.join(added, n, 1.0);
            });
            tree.join(wide, added, 0.05);
            let blank = Network::skeleton(&tree, drawn.table.variables(), |_| 2).unwrap();
            let start = blank.from_moments(&tree, &drawn.table, 0, &Silent).unwrap().network;
            let network = Polish::default().run(&start, &drawn.table, &Silent).unwrap().network;
            let run = |threads| with_threads(threads, || network.weigh(&drawn.table, &Silent).unwrap());
            let weighed = run(1);
            assert_eq!(weighed, run(3));
            assert_eq!(
                tree.without_unneeded(&weighed, 1.0).canonical().edges().len(),
                drawn.tree.edges().len()
            );
            let gone: Vec<_> = weighed.iter().filter(|w| !w.needed(1.0)).collect();
            assert_eq!(gone.len(), 1, "{gone:?}");
            assert_eq!(
                (gone[0].ends.0.min(gone[0].ends.1), gone[0].ends.0.max(gone[0].ends.1)),
                (wide, added)
            );
        }
    }
}
