//! Exact orthogonal tensors give their components back to 1e-10: orders 3 and 4, unequal and signed weights,
//! fewer components than dimensions, 20 seeds, k up to 100.

use rayon::prelude::*;
use tenfold_engine::decompose::{Als, Objective, Online, Polar, Power, Rate, Simultaneous, Solver, Update};
use tenfold_engine::linalg::random;
use tenfold_engine::progress::Silent;
use tenfold_engine::tensor::{Contract, Cp, Tensor3, Tensor4};

/// Weights spread over a factor of ten, of either sign.
fn truth(order: usize, dim: usize, k: usize, seed: u64) -> Cp {
    let mut rng = random::rng(seed, 7);
    let factors = random::orthogonal(dim, k, &mut rng).unwrap();
    let weights = (0..k)
        .map(|i| {
            let size = 0.5 * 10f64.powf(i as f64 / k as f64);
            if random::normal(&mut rng) < 0.0 { -size } else { size }
        })
        .collect();
    Cp::new(order, weights, factors)
}

fn assert_recovered(solver: &Solver, tensor: &dyn Contract, truth: &Cp, seed: u64) {
    let found = solver.decompose(tensor, truth.k(), seed, &Silent).unwrap();
    let matched = found.cp.match_to(&truth.clone().canonical());
    let name = solver.name();
    assert!(matched.worst() < 1e-10, "{name}, seed {seed}: vectors off by {:.1e}", matched.worst());
    let weights = matched.weight_errors.iter().fold(0.0f64, |m, e| m.max(*e));
    assert!(weights < 1e-10, "{name}, seed {seed}: weights off by {weights:.1e}");
    assert!(found.trace.converged, "{name}, seed {seed}: says that it did not converge");
    if let Some(fit) = found.fit {
        assert!((fit - 1.0).abs() < 1e-9, "{name}, seed {seed}: fit {fit}");
    }
}

#[test]
fn polar_order_3() {
    for (dim, k) in [(1, 1), (10, 10), (50, 50), (20, 7)] {
        (0..20u64).into_par_iter().for_each(|seed| {
            let truth = truth(3, dim, k, seed);
            assert_recovered(&Solver::default(), &truth.reconstruct::<3>(), &truth, seed);
        });
    }
}

#[test]
fn polar_order_3_at_100() {
    (0..20u64).into_par_iter().for_each(|seed| {
        let truth = truth(3, 100, 100, seed);
        let solver = Solver::Polar(Polar { restarts: 1, ..Polar::default() });
        assert_recovered(&solver, &truth.reconstruct::<3>(), &truth, seed);
    });
}

/// Random starts alone, without the slice: the weights may be anything and the run still ends at the truth.
#[test]
fn polar_from_random_starts() {
    (0..20u64).into_par_iter().for_each(|seed| {
        for (order, k) in [(3, 30), (4, 30), (3, 100), (4, 100)] {
            let truth = truth(order, k, k, seed);
            let start = random::orthogonal(k, k, &mut random::rng(seed, 1)).unwrap();
            let found = Polar::default().from_start(&truth, start, &Silent).unwrap();
            let worst = found.cp.match_to(&truth.clone().canonical()).worst();
            assert!(worst < 1e-10, "order {order}, k {k}, seed {seed}: {worst:.1e}");
        }
    });
}

#[test]
fn polar_order_4() {
    for (dim, k) in [(2, 2), (10, 10), (16, 9)] {
        (0..20u64).into_par_iter().for_each(|seed| {
            let truth = truth(4, dim, k, seed);
            assert_recovered(&Solver::default(), &truth.reconstruct::<4>(), &truth, seed);
        });
    }
    // At 100 the dense tensor has 4.4 million entries; the same tensor seen through its contractions is enough.
    (0..20u64).into_par_iter().for_each(|seed| {
        let truth = truth(4, 100, 100, seed);
        assert_recovered(&Solver::default(), &truth, &truth, seed);
    });
}

#[test]
fn every_other_batch_solver() {
    for solver in [
        Solver::Power(Power::default()),
        Solver::Als(Als::default()),
        Solver::Simultaneous(Simultaneous::default()),
    ] {
        (0..20u64).into_par_iter().for_each(|seed| {
            let (three, four) = (truth(3, 12, 10, seed), truth(4, 10, 8, seed));
            assert_recovered(&solver, &three.reconstruct::<3>(), &three, seed);
            assert_recovered(&solver, &four.reconstruct::<4>(), &four, seed);
        });
    }
    let large = truth(3, 100, 100, 3);
    for solver in [Solver::Power(Power::default()), Solver::Simultaneous(Simultaneous::default())] {
        assert_recovered(&solver, &large, &large, 3);
    }
}

/// Alternating least squares needs no orthogonality: components with overlaps up to 0.5, symmetric and not.
#[test]
fn als_without_orthogonality() {
    (0..20u64).into_par_iter().for_each(|seed| {
        let mut rng = random::rng(seed, 5);
        let mut factors = random::orthogonal(8, 4, &mut rng).unwrap();
        factors.add_scaled(0.4, &random::gaussian(8, 4, &mut rng).map(|x| x / 8f64.sqrt()));
        let truth = Cp::normalised(3, vec![2.0, 1.5, 1.2, 1.0], factors);
        let tensor: Tensor3 = truth.reconstruct();
        let found = Solver::Als(Als::default()).decompose(&tensor, 4, seed, &Silent).unwrap();
        let matched = found.cp.match_to(&truth);
        assert!(matched.worst() < 1e-6, "seed {seed}");
        assert!(
            matched.weight_errors.iter().all(|e| *e < 1e-6),
            "seed {seed}: weights {:?}",
            found.cp.weights
        );
        assert!(found.cp.residual(&tensor).unwrap().unwrap() < 1e-6, "seed {seed}");

        let sides = [5, 6, 7].map(|s| random::gaussian(s, 3, &mut rng));
        let dense = tenfold_engine::tensor::Dense::from_factors([&sides[0], &sides[1], &sides[2]]);
        let found = Als { restarts: 5, ..Als::default() }.decompose_dense(&dense, 3, seed, &Silent).unwrap();
        assert!(found.residual < 1e-6, "seed {seed}: residual {:.1e}", found.residual);
    });
}

/// The exact gradient with retraction is a damped polar iteration and ends at the truth; the objectives of the
/// thesis on the sphere find equal positive weights.
#[test]
fn online_with_exact_gradients() {
    for seed in 0..5 {
        let truth = truth(4, 10, 10, seed);
        let tensor: Tensor4 = truth.reconstruct();
        let solver = Online { rate: Rate::Constant(0.7), max_steps: 300, ..Online::default() };
        assert_recovered(&Solver::Online(solver), &tensor, &truth, seed);

        let equal = Cp::new(4, vec![1.0; 10], truth.factors.clone());
        let tensor: Tensor4 = equal.reconstruct();
        let sphere = Online {
            update: Update::Sphere(Objective::Decorrelation),
            rate: Rate::Constant(0.1),
            max_steps: 3000,
            ..Online::default()
        };
        let found = Solver::Online(sphere).decompose(&tensor, 10, seed, &Silent).unwrap();
        assert!(found.cp.match_to(&equal).worst() < 1e-6, "decorrelation, seed {seed}");
    }
}

/// More columns than components: the true ones are found, the rest carry no weight.
#[test]
fn surplus_components_weigh_nothing() {
    for seed in 0..20 {
        let truth = truth(3, 12, 5, seed);
        let tensor: Tensor3 = truth.reconstruct();
        let found = Solver::default().decompose(&tensor, 9, seed, &Silent).unwrap();
        assert!(found.cp.weights[5..].iter().all(|w| w.abs() < 1e-9), "seed {seed}: {:?}", found.cp.weights);
        let best = found.cp.select(&[0, 1, 2, 3, 4]);
        assert!(best.match_to(&truth.canonical()).worst() < 1e-9, "seed {seed}");
    }
}
