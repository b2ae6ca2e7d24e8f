//! Parameters of drawn trees come back from samples, on the true tree.

use tenfold::engine::linalg::{Mat, assign};
use tenfold::engine::progress::Silent;
use tenfold::trees::{Drawn, Emission, Emits, Kind, Network, Polish, Shape, Synth, Table, Variable};

/// P of all levels, the reference included; means as they are for the other kinds.
fn whole(emission: &Emission, variable: &Variable) -> Mat {
    if variable.kind != Kind::Category {
        return emission.mean.clone();
    }
    let first = |s: usize| 1.0 - emission.mean.col(s).iter().sum::<f64>();
    let (rows, k) = (emission.mean.rows() + 1, emission.mean.cols());
    Mat::from_fn(rows, k, |f, s| if f == 0 { first(s) } else { emission.mean[(f - 1, s)] })
}

/// ‖A − B‖ / ‖B‖ with the columns in the best order.
fn error(found: &Mat, truth: &Mat) -> f64 {
    let k = truth.cols();
    let square =
        |i: usize, j: usize| (0..truth.rows()).map(|r| (found[(r, i)] - truth[(r, j)]).powi(2)).sum::<f64>();
    let partner = assign(&Mat::from_fn(k, k, |i, j| -square(i, j)));
    (0..k).map(|i| square(i, partner[i])).sum::<f64>().sqrt() / truth.norm()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn score(network: &Network, table: &Table) -> f64 {
    mean(&network.log_likelihood(table, &Silent).unwrap())
}

/// The fit on the first 10,000 samples, and the others.
fn fit(drawn: &Drawn, k: usize) -> (Network, Table) {
    let table = drawn.table.take(0..10_000);
    let blank = Network::skeleton(&drawn.tree, table.variables(), |_| k).unwrap();
    let started = blank.from_moments(&drawn.tree, &table, 0, &Silent).unwrap();
    let polished = Polish::default().run(&started.network, &table, &Silent).unwrap();
    (polished.network, drawn.table.take(10_000..drawn.table.samples()))
}

#[test]
fn emissions_and_held_out_likelihood_come_back() {
    // A mean over n samples is off by about √(p(1−p)/n), with n the third or half of 10,000 that a state has: .005 to .01 for a
    // level, relative to columns of length .6 that is .01 to .02; what the state is not known exactly adds half as much.
    // Every free number costs half a nat over all 10,000 samples: 150 to 700 of them are .01 to .035 nat a sample.
    let cases = [
        (Emits::Category, 2, 2, 0.03, 0.02),
        (Emits::Category, 3, 6, 0.03, 0.05),
        (Emits::Real, 2, 3, 0.02, 0.04),
        (Emits::Mixed, 2, 3, 0.02, 0.04),
        (Emits::Flags, 3, 6, 0.02, 0.05),
    ];
    for (emits, states, width, tolerance, nats) in cases {
        for seed in 0..2 {
            let drawn =
                Synth { variables: 30, samples: 12_000, states, width, emits, seed, ..Synth::default() }
                    .draw()
                    .unwrap();
            let (found, rest) = fit(&drawn, states);
            let variables = drawn.table.variables();
            let off: Vec<f64> = (0..30)
                .map(|v| {
                    error(
                        &whole(&found.emissions[v], &variables[v]),
                        &whole(&drawn.network.emissions[v], &variables[v]),
                    )
                })
                .collect();
            assert!(mean(&off) < tolerance, "{emits:?} k={states} seed {seed}: {:.4}", mean(&off));
            let gap = score(&drawn.network, &rest) - score(&found, &rest);
            assert!(gap < nats, "{emits:?} k={states} seed {seed}: {gap:.4} nat");
        }
    }
}

#[test]
fn chains_stars_forests_and_observed_nodes_inside_are_fitted_too() {
    for (shape, blocks) in [(Shape::Chain, 1), (Shape::Star, 1), (Shape::Observed, 2), (Shape::Binary, 2)] {
        let drawn =
            Synth { variables: 15, samples: 12_000, width: 3, shape, blocks, seed: 3, ..Synth::default() }
                .draw()
                .unwrap();
        let (found, rest) = fit(&drawn, 2);
        let gap = score(&drawn.network, &rest) - score(&found, &rest);
        // Fewer than 200 free numbers: .01 nat a sample, and as much again for chance.
        assert!(gap < 0.02, "{shape:?}: {gap:.4} nat");
        let alone = Network::independent(&drawn.table.take(0..10_000), &Silent).unwrap();
        let (_, chow_liu) = Network::chow_liu(&drawn.table.take(0..10_000), &Silent).unwrap();
        assert!(score(&found, &rest) > score(&chow_liu, &rest), "{shape:?}");
        assert!(score(&chow_liu, &rest) > score(&alone, &rest), "{shape:?}");
    }
}
