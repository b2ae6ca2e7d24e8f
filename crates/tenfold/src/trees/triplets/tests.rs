//! Moments against sums written out, and parameters that come back from their own moments.

use super::super::network::Network;
use super::super::synth::{Emits, Shape, Synth};
use super::super::{Kind, Table, Variable};
use super::*;
use tenfold_engine::linalg::assign;
use tenfold_engine::linalg::parallel::with_threads;
use tenfold_engine::progress::Silent;

/// ‖A − B‖ / ‖B‖ with the columns in the best order.
fn error(a: &Mat, b: &Mat) -> f64 {
    let k = b.cols();
    let near =
        Mat::from_fn(k, k, |i, j| -(0..b.rows()).map(|r| (a[(r, i)] - b[(r, j)]).powi(2)).sum::<f64>());
    let partner = assign(&near);
    (0..k).map(|i| -near[(i, partner[i])]).sum::<f64>().sqrt() / b.norm()
}

#[test]
fn moments_equal_sums_written_out() {
    let drawn = Synth { variables: 7, samples: 40, width: 3, ..Synth::default() }.draw().unwrap();
    let table = &drawn.table;
    let rows: Vec<u32> = (0..40).collect();
    let locals = views::choose(&drawn.network, &drawn.tree, table.variables(), &vec![1; table.features()]);
    let pairs = moments::pairs(&locals, table, &rows, &Silent).unwrap();
    let x = |sample: usize, f: u32| {
        let row = table.row(sample);
        row.features.iter().position(|&g| g == f).map_or(0.0, |i| row.values[i])
    };
    let view = |sample: usize, view: &views::View| -> Vec<f64> {
        view.features.iter().map(|&f| x(sample, f)).chain([1.0]).collect()
    };
    let projections: Vec<Vec<Mat>> = locals
        .iter()
        .map(|l| l.views.iter().map(|v| Mat::from_fn(v.dim(), 2, |i, j| (i * 2 + j) as f64 - 1.5)).collect())
        .collect();
    let wanted = Wanted {
        locals: &locals,
        projections: &projections,
        network: &drawn.network,
        edges: vec![(Some(0), Some(0)); locals.len()],
    };
    let second = wanted.gather(table, &rows, &Silent).unwrap();
    for (n, local) in locals.iter().enumerate() {
        assert_eq!(local.views.len(), 3);
        let (a, b) = (&local.views[0], &local.views[2]);
        let want: f64 = (0..40).map(|s| view(s, a)[1] * view(s, b)[0]).sum::<f64>() / 40.0;
        assert!((pairs[n].of[4].as_ref().unwrap()[(1, 0)] - want).abs() < 1e-12);
        let y = |s: usize, g: usize| projections[n][g].transpose().matvec(&view(s, &local.views[g]));
        let want: f64 = (0..40).map(|s| y(s, 0)[1] * y(s, 1)[0] * y(s, 2)[1]).sum::<f64>() / 40.0;
        assert!((second.triples[n].as_ref().unwrap().at([1, 0, 1]) - want).abs() < 1e-12);
    }
}

#[test]
fn views_of_a_node_lie_in_different_branches() {
    let drawn =
        Synth { variables: 40, samples: 1, shape: Shape::Observed, ..Synth::default() }.draw().unwrap();
    let locals =
        views::choose(&drawn.network, &drawn.tree, drawn.table.variables(), &vec![1; drawn.table.features()]);
    for (n, local) in locals.iter().enumerate().filter(|(_, local)| !local.shown) {
        assert_eq!(local.views.len(), 3);
        let place = drawn.network.nodes[n].place;
        let mut rest = drawn.tree.clone();
        drawn.tree.neighbours(place).keys().for_each(|&other| rest.cut(place, other));
        let mut component = vec![0; rest.capacity()];
        rest.components()
            .iter()
            .enumerate()
            .for_each(|(c, nodes)| nodes.iter().for_each(|&v| component[v] = c));
        for (g, view) in local.views.iter().enumerate() {
            for other in &local.views[g + 1..] {
                assert!(
                    view.variables
                        .iter()
                        .all(|&a| other.variables.iter().all(|&b| component[a] != component[b]))
                );
            }
        }
    }
}

#[test]
fn samples_with_gaps_and_any_number_of_threads_give_the_same_parameters() {
    let drawn =
        Synth { variables: 12, samples: 20_000, width: 3, emits: Emits::Mixed, seed: 2, ..Synth::default() }
            .draw()
            .unwrap();
    let mut gaps = Table::new(drawn.table.variables().to_vec()).unwrap();
    for sample in 0..drawn.table.samples() {
        let row = drawn.table.row(sample);
        let missing: Vec<u32> = (0..12).filter(|v| (sample as u32 * 7 + v * 5).is_multiple_of(16)).collect();
        let gone =
            |f: u32| missing.iter().any(|&v| drawn.table.features_of(v as usize).contains(&(f as usize)));
        let kept: Vec<(u32, f64)> =
            row.features.iter().copied().zip(row.values.iter().copied()).filter(|e| !gone(e.0)).collect();
        gaps.push(&kept, &missing);
    }
    let blank = Network::skeleton(&drawn.tree, gaps.variables(), |_| 2).unwrap();
    let run = |threads| with_threads(threads, || blank.from_moments(&drawn.tree, &gaps, 0, &Silent).unwrap());
    let started = run(1);
    assert_eq!(started, run(3));
    assert!(started.pairwise.is_empty());
    for (found, truth) in started.network.emissions.iter().zip(&drawn.network.emissions) {
        // 9000 samples or more without a gap in the views; the start mixes 2 % of the mean into every state.
        assert!(error(&found.mean, &truth.mean) < 0.12, "{}", error(&found.mean, &truth.mean));
    }
}

#[test]
fn what_cannot_be_decomposed_starts_from_pairs() {
    // Three flags and three states: no direction is left for the third state.
    let variables: Vec<Variable> = (0..4)
        .map(|v| Variable { name: format!("x{v}"), kind: Kind::Flags, labels: vec!["up".into()] })
        .collect();
    let tree = Tree::from_edges(4, &[(0, 4, 1.0), (1, 4, 1.0), (2, 4, 1.0)]);
    let mut table = Table::new(variables.clone()).unwrap();
    for sample in 0..200u32 {
        let up: Vec<(u32, f64)> = (0..4).filter(|f| (sample * 3 + f) % 5 < 2).map(|f| (f, 1.0)).collect();
        table.push(&up, &[]);
    }
    let blank = Network::skeleton(&tree, &variables, |_| 3).unwrap();
    let started = blank.from_moments(&tree, &table, 0, &Silent).unwrap();
    assert_eq!(started.pairwise, [0]);
    let logs = started.network.log_likelihood(&table, &Silent).unwrap();
    assert!(logs.iter().all(|l| l.is_finite()));
    // Nothing at all: still a network.
    let empty = Table::new(variables).unwrap();
    assert!(blank.from_moments(&tree, &empty, 0, &Silent).is_ok());
}
