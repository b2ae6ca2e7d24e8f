//! Belief propagation against enumeration of all hidden states.

use super::super::data::{Kind, Table, Variable};
use super::super::network::{Emission, Network, Node};
use rand::RngExt;
use statrs::function::gamma::ln_gamma;
use tenfold_engine::linalg::random::{self, Rng};
use tenfold_engine::linalg::{Mat, parallel};
use tenfold_engine::progress::Silent;

fn columns(rows: usize, cols: usize, rng: &mut Rng) -> Mat {
    let mut m = Mat::from_fn(rows, cols, |_, _| rng.random_range(0.1..1.0));
    let sums: Vec<f64> = (0..cols).map(|c| 1.0 / m.col(c).iter().sum::<f64>()).collect();
    m.scale_cols(&sums);
    m
}

/// Two trees: a root with 3 states above a node with 2 and the twin of a category; and a node with 1 state.
pub(super) fn tiny(seed: u64) -> (Network, Vec<Variable>) {
    let rng = &mut random::rng(seed, 0);
    let kinds = [
        (Kind::Category, 3, 0),
        (Kind::Real, 2, 0),
        (Kind::Flags, 3, 1),
        (Kind::Counts, 2, 1),
        (Kind::Category, 4, 2), // the twin
        (Kind::Category, 2, 2),
        (Kind::Real, 1, 2),
        (Kind::Category, 3, 3),
    ];
    let places = [8, 9, 4, 7];
    let nodes = vec![
        Node { place: places[0], parent: None, table: columns(3, 1, rng) },
        Node { place: places[1], parent: Some(0), table: columns(2, 3, rng) },
        Node { place: places[2], parent: Some(0), table: columns(4, 3, rng) },
        Node { place: places[3], parent: None, table: columns(1, 1, rng) },
    ];
    let mut variables = Vec::new();
    let mut emissions = Vec::new();
    for (v, (kind, count, node)) in kinds.into_iter().enumerate() {
        let labels = (0..count).map(|l| l.to_string()).collect();
        variables.push(Variable { name: format!("x{v}"), kind, labels });
        let k: usize = nodes[node].table.rows();
        let mean = match kind {
            _ if v == 4 => Mat::from_fn(3, 4, |f, s| f64::from(u8::from(f + 1 == s))),
            Kind::Category => {
                let whole = columns(count, k, rng);
                Mat::from_fn(count - 1, k, |f, s| whole[(f + 1, s)])
            }
            _ => Mat::from_fn(count, k, |_, _| rng.random_range(0.1..0.9)),
        };
        let variance = if kind == Kind::Real { vec![0.5; count] } else { Vec::new() };
        emissions.push(Emission { node, mean, variance });
    }
    (Network { nodes, emissions }, variables)
}

/// Samples of it, some variables hidden afterwards.
pub(super) fn with_missing(network: &Network, variables: &[Variable], samples: usize) -> Table {
    let drawn = network.draw(variables, samples, 3).unwrap().table;
    let mut table = Table::new(variables.to_vec()).unwrap();
    let mut rng = random::rng(9, 0);
    for sample in 0..samples {
        let missing: Vec<u32> = (0..variables.len() as u32).filter(|_| rng.random_bool(0.3)).collect();
        let row = drawn.row(sample);
        let gone = |f: u32| missing.iter().any(|&v| drawn.features_of(v as usize).contains(&(f as usize)));
        let kept: Vec<(u32, f64)> =
            row.features.iter().copied().zip(row.values.iter().copied()).filter(|e| !gone(e.0)).collect();
        table.push(&kept, &missing);
    }
    table
}

/// log P(features of v | state), or 0 where v is missing.
fn leaf(network: &Network, table: &Table, sample: usize, v: usize, state: usize) -> f64 {
    let row = table.row(sample);
    if row.missing.contains(&(v as u32)) {
        return 0.0;
    }
    let value = |f: usize| row.features.iter().position(|&g| g as usize == f).map_or(0.0, |i| row.values[i]);
    let emission = &network.emissions[v];
    let first = table.features_of(v).start;
    let x: Vec<f64> = table.features_of(v).map(value).collect();
    let mean = |f: usize| emission.mean[(f, state)];
    let each = |f: usize| match table.variables()[v].kind {
        Kind::Flags => if x[f] > 0.0 { mean(f) } else { 1.0 - mean(f) }.ln(),
        Kind::Counts => x[f] * mean(f).ln() - mean(f) - ln_gamma(x[f] + 1.0),
        Kind::Real => {
            let variance = emission.variance[f];
            -(x[f] - mean(f)).powi(2) / (2.0 * variance) - 0.5 * (std::f64::consts::TAU * variance).ln()
        }
        Kind::Category => unreachable!(),
    };
    if table.variables()[v].kind == Kind::Category {
        let level = (0..x.len()).find(|&f| x[f] > 0.0);
        return level.map_or(1.0 - (0..x.len()).map(mean).sum::<f64>(), mean).max(0.0).ln();
    }
    let _ = first;
    (0..x.len()).map(each).sum()
}

/// All hidden states with log P(states, observed).
fn enumerate(network: &Network, table: &Table, sample: usize) -> Vec<(Vec<usize>, f64)> {
    let mut all = vec![(Vec::new(), 0.0)];
    for node in &network.nodes {
        let mut next = Vec::new();
        for (states, log) in &all {
            for s in 0..node.states() {
                let above = node.parent.map_or(0, |p: usize| states[p]);
                let mut states: Vec<usize> = states.clone();
                states.push(s);
                next.push((states, log + node.table[(s, above)].ln()));
            }
        }
        all = next;
    }
    for (states, log) in &mut all {
        for v in 0..network.emissions.len() {
            *log += leaf(network, table, sample, v, states[network.emissions[v].node]);
        }
    }
    all
}

#[test]
fn sums_and_maxima_equal_those_over_all_hidden_states() {
    for seed in 0..3 {
        let (network, variables) = tiny(seed);
        let table = with_missing(&network, &variables, 70);
        let logs = network.log_likelihood(&table, &Silent).unwrap();
        let posterior = network.posterior(&table, 5..70).unwrap();
        let best = network.most_probable(&table, 5..70).unwrap();
        for i in 0..65 {
            let all = enumerate(&network, &table, i + 5);
            let total: f64 = all.iter().map(|(_, log)| log.exp()).sum();
            assert!((logs[i + 5] - total.ln()).abs() < 1e-9, "{} {}", logs[i + 5], total.ln());
            assert!((posterior.log_likelihood[i] - total.ln()).abs() < 1e-9);
            for (n, node) in network.nodes.iter().enumerate() {
                for s in 0..node.states() {
                    let want: f64 = all
                        .iter()
                        .filter(|(states, _)| states[n] == s)
                        .map(|(_, log)| log.exp())
                        .sum::<f64>()
                        / total;
                    assert!((posterior.nodes[n][(i, s)] - want).abs() < 1e-9);
                }
            }
            let top = all.iter().map(|(_, log)| *log).fold(f64::NEG_INFINITY, f64::max);
            assert!((best.log_probability[i] - top).abs() < 1e-9);
            let found: Vec<usize> = best.states[i * 4..i * 4 + 4].iter().map(|&s| s as usize).collect();
            let reached = all.iter().find(|(states, _)| *states == found).unwrap().1;
            assert!((reached - top).abs() < 1e-9);
        }
    }
}

#[test]
fn a_missing_variable_is_expected_as_the_ratio_of_likelihoods_says() {
    let (network, variables) = tiny(4);
    let mut table = Table::new(variables.clone()).unwrap();
    table.push(&[(2, 0.3), (4, 1.0), (7, 2.0)], &[0]);
    for level in 0..3u32 {
        let own: Vec<(u32, f64)> = (level > 0).then(|| (level - 1, 1.0)).into_iter().collect();
        table.push(&[&own[..], &[(2, 0.3), (4, 1.0), (7, 2.0)]].concat(), &[]);
    }
    let posterior = network.posterior(&table, 0..4).unwrap();
    let expected = network.expected(0, &posterior);
    for level in 1..3 {
        let ratio = (posterior.log_likelihood[level + 1] - posterior.log_likelihood[0]).exp();
        assert!((expected.mean[(0, level - 1)] - ratio).abs() < 1e-12);
    }
    let real = network.expected(1, &posterior);
    let weights = posterior.nodes[0].row(0);
    let mean: f64 = (0..3).map(|s| weights[s] * network.emissions[1].mean[(0, s)]).sum();
    let second: f64 = (0..3).map(|s| weights[s] * (network.emissions[1].mean[(0, s)].powi(2) + 0.5)).sum();
    assert!((real.variance[(0, 0)] - (second - mean * mean)).abs() < 1e-12);
}

#[test]
fn many_variables_at_one_node_neither_overflow_nor_vanish() {
    // 3000 flags that are far from each other in the two states: products alone would leave the range of numbers.
    let count = 3000;
    let labels: Vec<String> = (0..count).map(|l| l.to_string()).collect();
    let variables = vec![Variable { name: "x".into(), kind: Kind::Flags, labels }];
    let mean = Mat::from_fn(count, 2, |_, s| if s == 0 { 0.01 } else { 0.9 });
    let network = Network {
        nodes: vec![Node { place: 1, parent: None, table: Mat::from_vec(2, 1, vec![0.5, 0.5]) }],
        emissions: vec![Emission { node: 0, mean, variance: Vec::new() }],
    };
    let mut table = Table::new(variables).unwrap();
    table.push(&(0..2700).map(|f| (f, 1.0)).collect::<Vec<_>>(), &[]);
    let want = 0.5f64.ln() + 2700.0 * 0.9f64.ln() + 300.0 * 0.1f64.ln();
    assert!((network.log_likelihood(&table, &Silent).unwrap()[0] - want).abs() < 1e-8);
    assert!(network.posterior(&table, 0..1).unwrap().nodes[0][(0, 1)] > 1.0 - 1e-12);
}

#[test]
fn threads_and_wrong_tables_change_nothing_silently() {
    let (network, variables) = tiny(5);
    let table = with_missing(&network, &variables, 1500);
    let run = |threads| parallel::with_threads(threads, || network.log_likelihood(&table, &Silent).unwrap());
    assert_eq!(run(1), run(3));
    assert!(network.log_likelihood(&table.select(&[0, 1]).unwrap(), &Silent).is_err());
}
