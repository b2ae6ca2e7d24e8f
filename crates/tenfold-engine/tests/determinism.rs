//! Promise 1: the same seed gives the same bytes on 1, 2, 3 and 8 threads, for every solver and sum.

use tenfold_engine::decompose::{
    Als, Minibatches, Objective, Online, Polar, Power, Rate, Simultaneous, Solver, Update,
};
use tenfold_engine::linalg::{Csr, Mat, RangeFinder, SparseSign, orthonormalise, parallel, random};
use tenfold_engine::moments::CovarianceOperator;
use tenfold_engine::progress::Silent;
use tenfold_engine::tensor::{Contract, Dense, Implicit, Sketch, Tensor3, Term};
use tenfold_engine::whiten::Whitener;

fn samples(n: usize, d: usize) -> Mat {
    random::gaussian(n, d, &mut random::rng(1, 0)).map(|x| x * x * x / 4.0)
}

fn same_on_all<T: PartialEq + Send>(what: &str, run: impl Fn() -> T + Send + Sync) {
    let one = parallel::with_threads(1, &run);
    for threads in [2, 3, 8] {
        assert!(parallel::with_threads(threads, &run) == one, "{what} differs on {threads} threads");
    }
}

#[test]
fn every_solver() {
    let y = samples(3000, 7);
    for order in [3, 4] {
        let tensor =
            Implicit::new(order, 7, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 / 3000.0 }]);
        for solver in [
            Solver::Polar(Polar::default()),
            Solver::Power(Power::default()),
            Solver::Als(Als { max_iterations: 50, ..Als::default() }),
            Solver::Simultaneous(Simultaneous::default()),
            Solver::Online(Online { max_steps: 30, ..Online::default() }),
        ] {
            same_on_all(solver.name(), || solver.decompose(&tensor, 5, 3, &Silent).unwrap());
        }
    }
    let wide = samples(2000, 40);
    let dense = Tensor3::from_samples(&wide, None).unwrap();
    same_on_all("dense, 40 wide", || Solver::default().decompose(&dense, 40, 3, &Silent).unwrap());
    for update in [Update::Sphere(Objective::Decorrelation), Update::Stgd { theta: 1.0 }] {
        let online =
            Online { update, rate: Rate::Constant(1e-3), noise: 0.1, max_steps: 10, ..Online::default() };
        let tensor = Implicit::new(4, 40, vec![Term::Powers { samples: &wide, weights: None, scale: 1e-3 }]);
        same_on_all("other updates", || {
            Solver::Online(online.clone()).decompose(&tensor, 9, 3, &Silent).unwrap()
        });
    }
    let sides = Dense::new([10, 20, 10], wide.as_slice()[..2000].to_vec());
    same_on_all("three sides", || {
        Als { max_iterations: 20, ..Als::default() }.decompose_dense(&sides, 4, 1, &Silent).unwrap()
    });
    same_on_all("minibatches", || {
        let mut batches = Minibatches::new(&y, 3, 700, 2, 5);
        Online::default().run(&mut batches, 7, 7, 3, &Silent).unwrap()
    });
}

#[test]
fn every_parallel_sum() {
    let y = samples(5000, 12);
    let u = random::gaussian(12, 4, &mut random::rng(2, 0));
    same_on_all("dense products", || (y.matmul(&u), y.tr_matmul(&y), orthonormalise(&y)));
    same_on_all("explicit tensor", || Tensor3::from_samples(&y, None).unwrap());
    same_on_all("sketch", || Sketch::of_samples(4, &y, None, 128, 3, 1).unwrap().power(&u).unwrap());
    same_on_all("range finder", || RangeFinder::default().svd(&y, 4).unwrap());
    let sparse: Csr = Csr::from_triplets(
        3000,
        12,
        &(0..9000).map(|t| (t % 3000, (t * 7) % 12, (t % 5) as f64)).collect::<Vec<_>>(),
    );
    same_on_all("sparse range finder", || RangeFinder::default().svd(&sparse, 4).unwrap());
    same_on_all("sparse projection", || SparseSign::new(12, 5, 1).project(&sparse));
    let square = y.tr_matmul(&y);
    same_on_all("Nyström", || RangeFinder::default().nystrom(&square, 4).unwrap());
    let wide = samples(1500, 90);
    same_on_all("covariance operator", || {
        let covariance = CovarianceOperator::new(&wide, &Silent).unwrap();
        RangeFinder::default().eigen(&covariance, 6).unwrap()
    });
    let whitener = Whitener::new(RangeFinder::default().eigen(&y.tr_matmul(&y), 6).unwrap(), 6).unwrap();
    same_on_all("whitened samples", || whitener.apply(&y, &[0.0; 12]).unwrap());
}
