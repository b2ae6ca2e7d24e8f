//! Promise 1: the same seed gives the same bytes on 1, 2, 3 and 8 threads, for every solver and sum.

use tenfold_engine::decompose::{Als, Minibatches, Online, Polar, Power, Simultaneous, Solver};
use tenfold_engine::linalg::{Csr, Mat, RangeFinder, orthonormalise, parallel, random};
use tenfold_engine::progress::Silent;
use tenfold_engine::tensor::{Contract, Implicit, Sketch, Tensor3, Term};
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
    let whitener = Whitener::new(RangeFinder::default().eigen(&y.tr_matmul(&y), 6).unwrap(), 6).unwrap();
    same_on_all("whitened samples", || whitener.apply(&y, &[0.0; 12]).unwrap());
}
