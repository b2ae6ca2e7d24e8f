//! What people use instead of hidden variables: a Chow–Liu tree over the observed ones, and independence.

use super::data::{Kind, Table, Variable};
use super::network::{Emission, Network};
use super::polish::{emit, spread, sweep};
use super::tree::Tree;
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::Progress;

/// Samples that mutual informations are estimated from: their error is far below the differences that choose a tree.
const MOST_SAMPLES: usize = 50_000;

/// Sweeps for real variables and counts, whose twins have hidden states; categories are counted in one.
const SWEEPS: usize = 10;

/// Levels beyond which a variable is not taken as a category: its tables would be larger than the sample.
const MOST_LEVELS: usize = 64;

impl Network {
    /// The network in which all variables are independent.
    ///
    /// # Errors
    /// When the caller wants to stop.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::trees::{Network, Synth};
    /// let drawn = Synth { samples: 500, ..Synth::default() }.draw()?;
    /// let alone = Network::independent(&drawn.table, &Silent)?;
    /// assert_eq!(alone.nodes.len(), 20);
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn independent(table: &Table, progress: &dyn Progress) -> Result<Self> {
        progress.check()?;
        let tree = Tree::new(table.variables().len());
        let blank = Self::skeleton(&tree, table.variables(), |_| 1)?;
        count(&blank, table, 1, progress)
    }

    /// The Chow–Liu tree: the tree over the observed variables themselves with the largest sum of mutual informations, and
    /// the likeliest parameters for it. Only categories (up to 64 levels) and single flags are joined, by counted tables;
    /// variables of other kinds stay alone, since a tree over them would need a law of two numbers that a network does not
    /// have.
    ///
    /// # Complexity
    /// O(samples · variables²) on at most 50,000 samples.
    ///
    /// # Errors
    /// When the caller wants to stop.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::trees::{Network, Synth};
    /// let drawn = Synth { samples: 500, ..Synth::default() }.draw()?;
    /// let (tree, network) = Network::chow_liu(&drawn.table, &Silent)?;
    /// assert_eq!((tree.edges().len(), network.emissions.len()), (19, 20));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    ///
    /// # References
    /// Chow and Liu, "Approximating discrete probability distributions with dependence trees", IEEE Trans. Inf. Theory 14
    /// (1968).
    pub fn chow_liu(table: &Table, progress: &dyn Progress) -> Result<(Tree, Self)> {
        let tree = spanning(table, progress)?;
        let blank = Self::skeleton(&tree, table.variables(), |_| 2)?;
        let network = count(&blank, table, SWEEPS, progress)?;
        Ok((tree, network))
    }
}

/// Counts all samples; several times where something is missing, since then the rest must be inferred.
fn count(blank: &Network, table: &Table, sweeps: usize, progress: &dyn Progress) -> Result<Network> {
    let rows: Vec<u32> = (0..table.samples() as u32).collect();
    let mut network = Network { nodes: blank.nodes.clone(), emissions: marginal(blank, table) };
    for _ in 0..if table.has_missing() { sweeps } else { 1 } {
        network = sweep(&network, table, &rows, &[], progress)?.0;
    }
    Ok(network)
}

/// Emissions that are the same in every state: what is seen of each variable alone.
fn marginal(blank: &Network, table: &Table) -> Vec<Emission> {
    let (mut sums, mut squares) = (vec![0.0; table.features()], vec![0.0; table.features()]);
    let mut seen = vec![table.samples() as f64; table.variables().len()];
    for sample in 0..table.samples() {
        let row = table.row(sample);
        for (&f, &x) in row.features.iter().zip(row.values) {
            sums[f as usize] += x;
            squares[f as usize] += x * x;
        }
        row.missing.iter().for_each(|&v| seen[v as usize] -= 1.0);
    }
    let each = |(v, variable): (usize, &Variable)| {
        let old = &blank.emissions[v];
        if blank.shows(v, variable) {
            return old.clone();
        }
        let k = old.mean.cols();
        if k == 2 && is_flag(variable) && blank.nodes[old.node].place == v {
            // The twin of a flag: its two states are down and up.
            return Emission { mean: Mat::from_vec(1, 2, vec![0.0, 1.0]), ..old.clone() };
        }
        let from = table.features_of(v).start;
        let totals = Mat::from_fn(variable.width(), k, |f, _| sums[from + f] / k as f64);
        emit(variable.kind, old.node, &totals, &vec![seen[v] / k as f64; k], &squares[table.features_of(v)])
    };
    table.variables().iter().enumerate().map(each).collect()
}

fn is_flag(variable: &Variable) -> bool {
    variable.kind == Kind::Flags && variable.labels.len() == 1
}

/// How many values a variable can take, 0 where that is not a small number.
fn outcomes(variable: &Variable) -> usize {
    match variable.kind {
        Kind::Category => variable.labels.len(),
        _ if is_flag(variable) => 2,
        _ => 0,
    }
}

/// Where a variable has each of its levels: a bit for every sample.
struct Bits(Vec<Vec<u64>>);

/// The levels of every joined variable; a sample without a level in any is one where it is missing.
fn levels(table: &Table, joined: &[usize], rows: &[u32]) -> Vec<Bits> {
    let mut place = vec![None; table.variables().len()];
    joined.iter().enumerate().for_each(|(i, &v)| place[v] = Some(i));
    let owner: Vec<u32> =
        (0..place.len()).flat_map(|v| table.features_of(v).map(move |_| v as u32)).collect();
    let words = rows.len().div_ceil(64);
    let blank = |&v: &usize| {
        // All samples are at the reference until something else is known of them.
        let mut first = vec![u64::MAX; words];
        if let (Some(last), left @ 1..) = (first.last_mut(), rows.len() % 64) {
            *last = (1 << left) - 1;
        }
        let others = outcomes(&table.variables()[v]) - 1;
        Bits(std::iter::once(first).chain((0..others).map(|_| vec![0; words])).collect())
    };
    let mut all: Vec<Bits> = joined.iter().map(blank).collect();
    for (i, &sample) in rows.iter().enumerate() {
        let row = table.row(sample as usize);
        let (word, bit) = (i / 64, 1u64 << (i % 64));
        for &f in row.features {
            let v = owner[f as usize] as usize;
            if let Some(at) = place[v] {
                all[at].0[0][word] &= !bit;
                all[at].0[f as usize - table.features_of(v).start + 1][word] |= bit;
            }
        }
        row.missing.iter().filter_map(|&v| place[v as usize]).for_each(|at| all[at].0[0][word] &= !bit);
    }
    all
}

/// I(x; y) = Σ p(a, b) log p(a, b) / (p(a) p(b)) over samples where both are there, in nats.
fn information(x: &Bits, y: &Bits) -> f64 {
    let b = y.0.len();
    let both = |x: &[u64], y: &[u64]| x.iter().zip(y).map(|(x, y)| (x & y).count_ones()).sum::<u32>();
    let counts: Vec<f64> = x.0.iter().flat_map(|x| y.0.iter().map(|y| f64::from(both(x, y)))).collect();
    let n: f64 = counts.iter().sum();
    let rows: Vec<f64> = counts.chunks(b).map(|r| r.iter().sum()).collect();
    let cols: Vec<f64> = (0..b).map(|j| counts[j..].iter().step_by(b).sum()).collect();
    let term = |(at, &c): (usize, &f64)| {
        if c > 0.0 { c / n * (c * n / (rows[at / b] * cols[at % b])).ln() } else { 0.0 }
    };
    counts.iter().enumerate().map(term).sum()
}

/// The spanning tree with the largest sum of informations (Prim), edges as long as −log of them.
fn spanning(table: &Table, progress: &dyn Progress) -> Result<Tree> {
    let variables = table.variables();
    let fits = |v: &usize| (2..=MOST_LEVELS).contains(&outcomes(&variables[*v]));
    let joined: Vec<usize> = (0..variables.len()).filter(fits).collect();
    let rows = spread(&(0..table.samples() as u32).collect::<Vec<_>>(), MOST_SAMPLES);
    let levels = levels(table, &joined, &rows);
    let mut tree = Tree::new(variables.len());
    let mut best: Vec<(f64, usize)> = vec![(-1.0, 0); joined.len()];
    let mut open: Vec<usize> = (1..joined.len()).collect();
    let mut last = 0;
    progress.stage("Chow–Liu tree", joined.len() as u64);
    while !open.is_empty() {
        progress.check()?;
        let to_last: Vec<f64> = open.par_iter().map(|&i| information(&levels[last], &levels[i])).collect();
        for (&i, information) in open.iter().zip(to_last) {
            if information > best[i].0 {
                best[i] = (information, last);
            }
        }
        let at = (0..open.len())
            .max_by(|&a, &b| best[open[a]].0.total_cmp(&best[open[b]].0).then(open[b].cmp(&open[a])))
            .expect("something is open");
        last = open.swap_remove(at);
        let (information, from) = best[last];
        tree.join(joined[from], joined[last], -information.max(1e-12).ln());
        progress.advance(1);
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::super::synth::{Emits, Shape, Synth};
    use super::*;
    use tenfold_engine::progress::Silent;

    fn mean(network: &Network, table: &Table) -> f64 {
        let logs = network.log_likelihood(table, &Silent).unwrap();
        logs.iter().sum::<f64>() / logs.len() as f64
    }

    #[test]
    fn a_markov_chain_of_categories_is_found() {
        // Every variable is observed: the strongest pairs are the edges of the chain.
        let variables: Vec<Variable> = (0..6)
            .map(|v| Variable {
                name: format!("x{v}"),
                kind: Kind::Category,
                labels: (0..3).map(|l| l.to_string()).collect(),
            })
            .collect();
        let edges: Vec<(usize, usize, f64)> = (0..5).map(|v| (v, v + 1, 1.0)).collect();
        let tree = Tree::from_edges(6, &edges);
        let mut truth = Network::skeleton(&tree, &variables, |_| 3).unwrap();
        for node in &mut truth.nodes[1..] {
            node.table.as_mut_slice().copy_from_slice(&[0.8, 0.1, 0.2, 0.1, 0.7, 0.2, 0.1, 0.2, 0.6]);
        }
        // The ends of the chain hang on their neighbours.
        for v in [0, 5] {
            truth.emissions[v].mean.as_mut_slice().copy_from_slice(&[0.1, 0.7, 0.2, 0.1, 0.1, 0.7]);
        }
        let table = truth.draw(&variables, 5000, 1).unwrap().table;
        let (found, network) = Network::chow_liu(&table, &Silent).unwrap();
        let pairs = |t: &Tree| t.edges().into_iter().map(|(a, b, _)| (a, b)).collect::<Vec<_>>();
        assert_eq!(pairs(&found), pairs(&tree));
        // About 30 free numbers cost half a nat each over 5000 samples.
        assert!((mean(&network, &table) - mean(&truth, &table)).abs() < 0.01);
        assert!(mean(&Network::independent(&table, &Silent).unwrap(), &table) < mean(&network, &table) - 1.0);
    }

    #[test]
    fn single_flags_are_joined_as_categories_are() {
        let drawn = Synth { samples: 2000, ..Synth::default() }.draw().unwrap();
        let flags: Vec<Variable> = (0..20)
            .map(|v| Variable { name: format!("x{v}"), kind: Kind::Flags, labels: vec!["up".into()] })
            .collect();
        let mut table = Table::new(flags).unwrap();
        for sample in 0..drawn.table.samples() {
            let up: Vec<(u32, f64)> = drawn.table.row(sample).features.iter().map(|&f| (f, 1.0)).collect();
            table.push(&up, &[]);
        }
        let ((tree, network), (other, same)) =
            (Network::chow_liu(&drawn.table, &Silent).unwrap(), Network::chow_liu(&table, &Silent).unwrap());
        assert_eq!(tree, other);
        assert!((mean(&network, &drawn.table) - mean(&same, &table)).abs() < 0.01);
    }

    #[test]
    fn independence_is_the_sum_of_marginals_and_other_kinds_stay_alone() {
        let drawn = Synth { samples: 400, emits: Emits::Mixed, shape: Shape::Star, ..Synth::default() }
            .draw()
            .unwrap();
        let (tree, network) = Network::chow_liu(&drawn.table, &Silent).unwrap();
        for (v, variable) in drawn.table.variables().iter().enumerate() {
            assert_eq!(tree.degree(v) == 0, variable.kind == Kind::Real);
        }
        let alone = Network::independent(&drawn.table, &Silent).unwrap();
        assert!(mean(&network, &drawn.table) > mean(&alone, &drawn.table));
        let parts: f64 = (0..20)
            .map(|v| {
                let one = drawn.table.select(&[v]).unwrap();
                mean(&Network::independent(&one, &Silent).unwrap(), &one)
            })
            .sum();
        assert!((parts - mean(&alone, &drawn.table)).abs() < 1e-9);
    }
}
