//! Solvers over a tensor on the card: the processor's answer, few numbers on the way, the same bytes twice.

mod common;

use common::gpu;
use std::sync::Arc;
use tenfold_engine::Error;
use tenfold_engine::decompose::{Minibatches, Online, Polar, Solver};
use tenfold_engine::device::{Accelerator, Device};
use tenfold_engine::linalg::{Mat, random};
use tenfold_engine::progress::Silent;
use tenfold_engine::tensor::{Contract, Implicit, Term};
use tenfold_gpu::{Gpu, Options};

const K: usize = 19;

/// White sources with flat and peaked ones among them, turned by an orthogonal matrix.
fn samples(n: usize) -> Mat {
    let mut rng = random::rng(3, 0);
    let mut s = random::gaussian(n, K, &mut rng);
    for t in 0..n {
        for (i, x) in s.row_mut(t).iter_mut().enumerate() {
            // A cube is peaked (its variance is 15), a sign flat.
            *x = if i % 2 == 0 { x.powi(3) / 15f64.sqrt() } else { x.signum() };
        }
    }
    s.matmul(&random::orthogonal(K, K, &mut rng).unwrap())
}

fn cumulant(y: &Mat) -> Implicit<'_> {
    let powers = Term::Powers { samples: y, weights: None, scale: 1.0 / y.rows() as f64 };
    Implicit::new(4, K, vec![powers, Term::MatrixPair { matrix: Mat::identity(K), scale: -1.0 }])
}

/// Largest difference of factors in canonical order and sign.
fn apart(a: &Mat, b: &Mat) -> f64 {
    let mut gap = a.clone();
    gap.add_scaled(-1.0, b);
    gap.max_abs()
}

fn solver() -> Solver {
    Solver::Polar(Polar { restarts: 2, ..Polar::default() })
}

#[test]
fn factors_equal_the_processors_and_bytes_are_the_same_twice() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let y = samples(6000);
    let tensor = cumulant(&y);
    let wanted = solver().decompose(&tensor, K, 7, &Silent).unwrap();
    let device = Device::required(Arc::new(gpu));
    let run = || {
        let held = device.tensor(tensor.clone()).unwrap();
        solver().decompose(held.as_ref(), K, 7, &Silent).unwrap()
    };
    let found = run();
    assert!(found.trace.converged && wanted.trace.converged);
    assert!(apart(&found.cp.factors, &wanted.cp.factors) < 1e-4);
    let weights = found.cp.weights.iter().zip(&wanted.cp.weights);
    assert!(weights.into_iter().all(|(a, b)| (a - b).abs() < 1e-4 * b.abs()));
    assert_eq!(found, run());
}

#[test]
fn an_iteration_moves_k_by_k_numbers() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let y = samples(3000);
    let before = gpu.transfers();
    let held = gpu.tensor(&cumulant(&y)).unwrap();
    let sent = gpu.transfers().since(before);
    assert_eq!((sent.up, sent.down), (4 * 3000 * K as u64, 0), "the samples go up once");
    let mut v = random::orthogonal(K, K, &mut random::rng(1, 0)).unwrap();
    for _ in 0..5 {
        let before = gpu.transfers();
        v = tenfold_engine::linalg::polar(&held.power(&v).unwrap()).unwrap();
        let moved = gpu.transfers().since(before);
        assert_eq!((moved.up, moved.down, moved.calls), (4 * (K * K) as u64, 4 * (K * K) as u64, 1));
    }
}

/// The online solver on the processor and on the card, with all samples there and with batches that are sent.
#[test]
fn online_steps_equal_the_processors() {
    let y = samples(6000);
    let pairs = || vec![Term::MatrixPair { matrix: Mat::identity(K), scale: -1.0 }];
    let batches = || Minibatches::new(&y, 4, 256, 2, 7).shifted(1.0, pairs());
    let online = Online::default();
    let wanted = online.run(&mut batches(), K, K, 7, &Silent).unwrap();
    for memory in [None, Some(600_000)] {
        let Some(gpu) = gpu(Options { memory }) else { return };
        let gpu = Arc::new(gpu);
        let device = Device::required(gpu.clone());
        let found = online.run_on(&device, batches(), K, 7, &Silent).unwrap();
        let gap = apart(&found.cp.factors, &wanted.cp.factors);
        assert!(gap < 1e-4, "{memory:?}: {gap}");
        assert_eq!(found.trace.iterations, wanted.trace.iterations);
        assert!((found.trace.residual() - wanted.trace.residual()).abs() < 1e-4);
        assert_eq!(found.trace.converged, wanted.trace.converged);
        let down = gpu.transfers().down;
        let kept = (2 * K * K + K + found.trace.iterations) as u64;
        assert_eq!(down, 4 * kept, "nothing comes down between the steps");
        assert_eq!(found, online.run_on(&device, batches(), K, 7, &Silent).unwrap());
    }
}

#[test]
fn steps_with_noise_stay_with_the_processor() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let (y, gpu) = (samples(600), Arc::new(gpu));
    let noisy = Online { noise: 0.01, ..Online::default() };
    let batches = || Minibatches::new(&y, 4, 100, 1, 7);
    let asked = noisy.run_on(&Device::required(gpu.clone()), batches(), 3, 7, &Silent);
    assert!(matches!(asked, Err(Error::Unsupported(_))));
    let allowed = Device::preferred(gpu);
    noisy.run_on(&allowed, batches(), 3, 7, &Silent).unwrap();
    assert_eq!(allowed.take_notices().len(), 1);
}

/// A tensor that gives the card back after some contractions.
struct Lost<'a> {
    held: Box<dyn Contract + 'a>,
    gpu: Arc<Gpu>,
    left: std::sync::atomic::AtomicUsize,
}

impl Contract for Lost<'_> {
    fn dim(&self) -> usize {
        self.held.dim()
    }
    fn order(&self) -> usize {
        self.held.order()
    }
    fn contract(&self, arguments: &[&Mat]) -> tenfold_engine::Result<Mat> {
        if self.left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 1 {
            self.gpu.release();
        }
        self.held.contract(arguments)
    }
}

#[test]
fn a_lost_device_is_an_error() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let (y, gpu) = (samples(2000), Arc::new(gpu));
    let held = gpu.tensor(&cumulant(&y)).unwrap();
    let lost = Lost { held, gpu: gpu.clone(), left: 3.into() };
    let told = Polar::default().from_start(&lost, Mat::identity(K), &Silent).unwrap_err();
    assert!(matches!(told, Error::Device(_)), "{told}");
    assert!(told.to_string().contains("--device cpu"), "{told}");
    assert!(gpu.tensor(&cumulant(&y)).is_err(), "and it stays lost");
}
