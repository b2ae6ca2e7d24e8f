//! Every kernel against the processor, on shapes that are no multiples of its tiles.

mod common;

use common::{distance, gpu};
use tenfold_engine::Error;
use tenfold_engine::device::Accelerator;
use tenfold_engine::linalg::{Adjacency, Csr, Mat, Tall, random};
use tenfold_engine::tensor::{Contract, Implicit, Term};
use tenfold_gpu::Options;

/// Sums of some ten thousand products of f32 in blocks of blocks.
const CLOSE: f64 = 5e-6;

/// All terms of order 3 over `n` samples.
fn third<'a>(y: &'a [Mat; 3], weights: &'a [f64], shifts: bool) -> Implicit<'a> {
    let d = y[0].cols();
    let mut terms = vec![
        Term::Powers { samples: &y[0], weights: Some(weights), scale: 0.3 },
        Term::Powers { samples: &y[1], weights: None, scale: 0.7 },
    ];
    if shifts {
        let matrix = Mat::from_fn(d, d, |i, j| 1.0 / (1.0 + (i + j) as f64));
        let vector: Vec<f64> = (0..d).map(|i| (i as f64).sin()).collect();
        terms.push(Term::Mixed { twice: &y[1], once: &y[2], weights: Some(weights), scale: -0.4 });
        terms.push(Term::MatrixVector { matrix, vector: vector.clone(), scale: -1.5 });
        terms.push(Term::RankOne { vector, scale: 2.0 });
    }
    Implicit::new(3, d, terms)
}

#[test]
fn contractions_equal_the_processors() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let mut rng = random::rng(1, 0);
    for (n, d, k) in [(1, 1, 1), (3, 2, 1), (37, 5, 3), (513, 33, 31), (1000, 67, 40), (33_000, 7, 5)] {
        let y: [Mat; 3] = std::array::from_fn(|_| random::gaussian(n, d, &mut rng));
        let weights: Vec<f64> = (0..n).map(|_| random::normal(&mut rng).abs()).collect();
        let [a, b, c] = std::array::from_fn(|_| random::gaussian(d, k, &mut rng));
        for shifts in [false, true] {
            let tensor = third(&y, &weights, shifts);
            let held = gpu.tensor(&tensor).unwrap();
            let power = distance(&held.power(&a).unwrap(), &tensor.power(&a).unwrap());
            let both = distance(&held.contract(&[&a, &b]).unwrap(), &tensor.contract(&[&a, &b]).unwrap());
            let slice = distance(&held.slice(&b).unwrap(), &tensor.slice(&b).unwrap());
            // A mixed slice of many columns is a long sum of contractions: it may lose a digit more.
            assert!(
                power < CLOSE && both < CLOSE && slice < 4.0 * CLOSE,
                "{n} {d} {k}: {power} {both} {slice}"
            );
        }
        let pairs = Term::MatrixPair { matrix: Mat::identity(d), scale: -1.0 };
        let powers = Term::Powers { samples: &y[0], weights: Some(&weights), scale: 1.0 / n as f64 };
        let fourth = Implicit::new(4, d, vec![powers, pairs]);
        let held = gpu.tensor(&fourth).unwrap();
        let gaps = [
            distance(&held.power(&a).unwrap(), &fourth.power(&a).unwrap()),
            distance(&held.contract(&[&a, &b, &c]).unwrap(), &fourth.contract(&[&a, &b, &c]).unwrap()),
            distance(&held.slice(&a).unwrap(), &fourth.slice(&a).unwrap()),
        ];
        assert!(gaps.iter().all(|g| *g < 4.0 * CLOSE), "{n} {d} {k}: {gaps:?}");
    }
}

#[test]
fn nothing_in_gives_nothing_out() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let none = Mat::zeros(0, 4);
    let tensor = Implicit::new(3, 4, vec![Term::Powers { samples: &none, weights: None, scale: 1.0 }]);
    let held = gpu.tensor(&tensor).unwrap();
    assert_eq!(held.power(&Mat::identity(4)).unwrap(), Mat::zeros(4, 4));
    assert_eq!(held.slice(&Mat::identity(4)).unwrap(), Mat::zeros(4, 4));
    let y = Mat::identity(4);
    let tensor = Implicit::new(3, 4, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 }]);
    assert_eq!(gpu.tensor(&tensor).unwrap().power(&Mat::zeros(4, 0)).unwrap().cols(), 0);
    for (rows, cols) in [(0, 3), (3, 0), (2, 5)] {
        let empty: Csr = Csr::from_triplets(rows, cols, &[]);
        let product = gpu.matrix(&empty).unwrap().multiply(&Tall::zeros(cols, 2)).unwrap();
        assert_eq!((product.rows(), product.width()), (rows, 2));
        assert!(product.as_slice().iter().all(|x| *x == 0.0));
    }
}

/// A graph of hubs and leaves, with weights or without.
fn graph(nodes: u32, weighted: bool) -> Adjacency {
    let edges: Vec<(u32, u32)> =
        (1..nodes).flat_map(|i| [(i, i / 7), (i, (i * i + 3) % nodes)]).filter(|(a, b)| a != b).collect();
    let weights = weighted.then(|| vec![edges.iter().map(|(a, b)| 0.1 + ((a + b) % 5) as f32).collect()]);
    Adjacency::undirected(nodes as usize, vec![edges], weights).unwrap()
}

#[test]
fn sparse_products_equal_the_processors() {
    let Some(gpu) = gpu(Options::default()) else { return };
    for (nodes, width) in [(2, 1), (101, 3), (1003, 33), (5000, 70)] {
        for weighted in [false, true] {
            let a = graph(nodes, weighted);
            let x = Tall::gaussian(nodes as usize, width, 5);
            let mut wanted = Tall::zeros(nodes as usize, width);
            a.multiply(x.as_slice(), width, wanted.as_mut_slice());
            let got = gpu.matrix(&a).unwrap().multiply(&x).unwrap();
            let gap = distance(&got.to_mat(), &wanted.to_mat());
            assert!(gap < CLOSE, "{nodes} {width} {weighted}: {gap}");
        }
    }
}

#[test]
fn a_matrix_larger_than_the_memory_is_streamed() {
    let a = graph(20_000, true);
    let (entries, width) = (a.entries() as u64, 9);
    // A third of the matrix, and what X takes.
    let memory = Some(8 * entries / 3 + 8 * 20_000 * width as u64);
    let Some(gpu) = gpu(Options { memory }) else { return };
    let x = Tall::gaussian(20_000, width, 5);
    let mut wanted = Tall::zeros(20_000, width);
    a.multiply(x.as_slice(), width, wanted.as_mut_slice());
    let held = gpu.matrix(&a).unwrap();
    let before = gpu.transfers();
    let first = held.multiply(&x).unwrap();
    assert!(distance(&first.to_mat(), &wanted.to_mat()) < CLOSE);
    let moved = gpu.transfers().since(before);
    assert!(moved.up >= 8 * entries, "the blocks travel with every product: {moved:?}");
    assert_eq!(first, held.multiply(&x).unwrap());
}

#[test]
fn too_little_memory_is_said() {
    let Some(gpu) = gpu(Options { memory: Some(1000) }) else { return };
    let y = Mat::zeros(500, 4);
    let tensor = Implicit::new(3, 4, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 }]);
    let refused = gpu.tensor(&tensor).err().unwrap();
    assert!(matches!(refused, Error::DeviceMemory { available: 1000, .. }), "{refused}");
}
