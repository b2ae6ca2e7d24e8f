//! Solvers over a tensor on the card: the processor's answer, few numbers on the way, the same bytes twice.

mod common;

use common::gpu;
use std::sync::Arc;
use tenfold_engine::Error;
use tenfold_engine::decompose::{Minibatches, Online, Polar, Solver};
use tenfold_engine::device::{Accelerator, Device};
use tenfold_engine::linalg::{Mat, random};
use tenfold_engine::progress::{Progress, Silent};
use tenfold_engine::tensor::{Implicit, Term};
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
    // All samples there; batches that are sent; batches that are cut, since an array holds 100 samples.
    for (memory, array) in
        [(None, None), (Some(600_000), None), (None, Some(8_000)), (Some(200_000), Some(8_000))]
    {
        let Some(gpu) = gpu(Options { memory, array }) else { return };
        let gpu = Arc::new(gpu);
        let device = Device::required(gpu.clone());
        let found = online.run_on(&device, batches(), K, 7, &Silent).unwrap();
        let gap = apart(&found.cp.factors, &wanted.cp.factors);
        assert!(gap < 1e-4, "{memory:?} {array:?}: {gap}");
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

/// A card that is given back does not answer any more: the driver says so, nobody else.
#[test]
fn a_device_that_was_given_back_is_an_error() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let y = samples(2000);
    let held = gpu.tensor(&cumulant(&y)).unwrap();
    held.power(&Mat::identity(K)).unwrap();
    gpu.release();
    let told = held.power(&Mat::identity(K)).unwrap_err();
    assert!(matches!(told, Error::Device(_)), "{told}");
    assert!(told.to_string().contains("--device cpu"), "{told}");
    assert!(gpu.tensor(&cumulant(&y)).is_err(), "and it stays lost");
}

/// The card goes while solvers wait for it: at moments that nobody chose.
#[test]
fn a_device_that_is_lost_in_flight_is_an_error() {
    let y = samples(40_000);
    for after in [0, 3, 20, 60] {
        let Some(gpu) = gpu(Options::default()) else { return };
        let gpu = Arc::new(gpu);
        let held = gpu.tensor(&cumulant(&y)).unwrap();
        let told = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(after));
                gpu.release();
            });
            // It never settles: every turn asks for another contraction.
            (0..).find_map(|_| held.power(&Mat::identity(K)).err()).unwrap()
        });
        assert!(matches!(told, Error::Device(_)), "{told}");
    }
}

/// Gives the card back at a step.
struct GivesBack(Arc<Gpu>, std::sync::atomic::AtomicUsize);

impl Progress for GivesBack {
    fn stage(&self, _: &str, _: u64) {}
    fn stopped(&self) -> bool {
        false
    }
    fn advance(&self, _: u64) {
        if self.1.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 1 {
            self.0.release();
        }
    }
}

/// Steps are queued ahead: some of them are under way when the card goes.
#[test]
fn a_device_that_is_lost_between_steps_is_an_error() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let (y, gpu) = (samples(6000), Arc::new(gpu));
    let batches = Minibatches::new(&y, 4, 256, 2, 7);
    let device = Device::required(gpu.clone());
    let told = Online::default().run_on(&device, batches, K, 7, &GivesBack(gpu, 5.into())).unwrap_err();
    assert!(matches!(told, Error::Device(_)), "{told}");
}

/// Weights a thousand times apart, the weak ones far below the noise of a batch: their columns wander, and all others a little with
/// them. The card moves the columns that can be found by less than they are off, and no further than the processor itself does when
/// its samples are rounded to single precision.
#[test]
fn columns_beside_weak_ones_differ_by_less_than_their_statistical_error() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let (n, k) = (20_000, 12);
    let mut rng = random::rng(9, 0);
    let turn = random::orthogonal(k, k, &mut rng).unwrap();
    // s = (x + c (x² − 1)) / √(1 + 2c²) has E[s³] = (6c + 8c³) / (1 + 2c²)^1.5: from 2.7 down to 0.003, each half of the
    // one before.
    let bends: [f64; 12] = std::array::from_fn(|i| 0.5f64.powi(i as i32));
    let mut s = random::gaussian(n, k, &mut rng);
    for t in 0..n {
        for (x, c) in s.row_mut(t).iter_mut().zip(bends) {
            *x = (*x + c * (*x * *x - 1.0)) / (1.0 + 2.0 * c * c).sqrt();
        }
    }
    let y = s.matmul(&turn);
    let batches = || Minibatches::new(&y, 3, 512, 2, 7);
    let online = Online::default();
    let here = online.run(&mut batches(), k, k, 7, &Silent).unwrap();
    let there = online.run_on(&Device::required(Arc::new(gpu)), batches(), k, 7, &Silent).unwrap();
    // Sines of the angles between columns and those nearest to them: weights below the noise come in any order.
    let sines = |a: &Mat, b: &Mat| {
        let inner = a.transpose().matmul(b);
        let nearest = |c: usize| inner.row(c).iter().map(|x| x.abs()).fold(0.0, f64::max);
        (0..k).map(|c| (1.0 - nearest(c).min(1.0).powi(2)).sqrt()).collect::<Vec<_>>()
    };
    let errors = sines(&here.cp.factors, &turn.transpose());
    let gaps = sines(&here.cp.factors, &there.cp.factors);
    let rounded = y.map(|x| f64::from(x as f32));
    let mut batches = Minibatches::new(&rounded, 3, 512, 2, 7);
    let moved = online.run(&mut batches, k, k, 7, &Silent).unwrap();
    let moved = sines(&here.cp.factors, &moved.cp.factors);
    println!("apart by {gaps:.4?}, by rounding {moved:.4?}, off by {errors:.3?}");
    let found: Vec<usize> = (0..k).filter(|&c| errors[c] < 0.3).collect();
    assert!(found.len() >= 4, "{errors:?}");
    assert!(found.iter().all(|&c| gaps[c] < errors[c] && gaps[c] < 3.0 * moved[c]), "{gaps:?} {moved:?}");
}
