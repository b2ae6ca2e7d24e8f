//! Every kernel against the processor, on shapes that are no multiples of its tiles.

mod common;

use common::{distance, gpu};
use std::sync::atomic::{AtomicUsize, Ordering};
use tenfold_engine::Error;
use tenfold_engine::device::{Accelerator, Group, RowGroups};
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
    let Some(gpu) = gpu(Options { memory, ..Options::default() }) else { return };
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
    let Some(gpu) = gpu(Options { memory: Some(1000), ..Options::default() }) else { return };
    let y = Mat::zeros(500, 4);
    let tensor = Implicit::new(3, 4, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 }]);
    let refused = gpu.tensor(&tensor).err().unwrap();
    assert!(matches!(refused, Error::DeviceMemory { available: 1000, .. }), "{refused}");
}

/// Arrays may hold so few bytes that everything is cut: samples, slabs of sums, rows and columns of matrices.
#[test]
fn what_is_too_large_for_an_array_is_cut() {
    let (n, d) = (2000, 40);
    // One slab of 40 × 40 sums takes 6400 bytes, of 512 × 40 inner products 81,920.
    let Some(gpu) = gpu(Options { array: Some(90_000), ..Options::default() }) else { return };
    let mut rng = random::rng(5, 0);
    let y: [Mat; 3] = std::array::from_fn(|_| random::gaussian(n, d, &mut rng));
    let weights: Vec<f64> = (0..n).map(|_| random::normal(&mut rng).abs()).collect();
    let tensor = third(&y, &weights, true);
    let a = random::gaussian(d, d, &mut rng);
    let found = gpu.tensor(&tensor).unwrap().power(&a).unwrap();
    assert!(distance(&found, &tensor.power(&a).unwrap()) < CLOSE);
    // 5000 nodes and 8 columns are 160,000 bytes: X lies in two arrays.
    let (graph, x) = (graph(5000, true), Tall::gaussian(5000, 19, 5));
    let mut wanted = Tall::zeros(5000, 19);
    graph.multiply(x.as_slice(), 19, wanted.as_mut_slice());
    for memory in [None, Some(300_000)] {
        let Some(gpu) = common::gpu(Options { array: Some(90_000), memory }) else { return };
        let held = gpu.matrix(&graph).unwrap();
        assert!(distance(&held.multiply(&x).unwrap().to_mat(), &wanted.to_mat()) < CLOSE, "{memory:?}");
    }
}

/// More components than the sums of 64 slabs have room for in an array that every driver binds, 128 MiB.
#[test]
fn many_components_are_contracted() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let (n, d) = (600, 760);
    let mut rng = random::rng(6, 0);
    let y = random::gaussian(n, d, &mut rng);
    let tensor = Implicit::new(3, d, vec![Term::Powers { samples: &y, weights: None, scale: 1.0 }]);
    let a = random::gaussian(d, 3, &mut rng);
    let held = gpu.tensor(&tensor).unwrap();
    assert!(distance(&held.power(&a).unwrap(), &tensor.power(&a).unwrap()) < CLOSE);
    let square = random::gaussian(d, d, &mut rng);
    assert!(distance(&held.power(&square).unwrap(), &tensor.power(&square).unwrap()) < CLOSE);
}

/// Rows with weights in groups of different sizes, one of them empty; counts how often one is gathered.
struct Drawn {
    rows: Csr,
    weights: Vec<f32>,
    ends: Vec<usize>,
    gathered: AtomicUsize,
}

impl Drawn {
    fn new(rows: usize, cols: usize) -> Self {
        let entry = |i: usize| ((i * 7 + i / 5) % rows, (i * i + 3 * i) % cols, 1.0 + (i % 4) as f64);
        let triplets: Vec<_> = (0..9 * rows).map(entry).collect();
        Self {
            rows: Csr::from_triplets(rows, cols, &triplets),
            weights: (0..rows).map(|t| 0.5 + (t % 3) as f32).collect(),
            ends: vec![0, rows / 3, rows / 3, rows / 2, rows],
            gathered: AtomicUsize::new(0),
        }
    }

    /// Σ w a (aᵀ X) in double precision.
    fn brute(&self, x: &Tall) -> Vec<f64> {
        let mut out = vec![0.0; x.rows() * x.width()];
        for (t, w) in self.weights.iter().enumerate() {
            let (columns, values) = self.rows.row(t);
            for j in 0..x.width() {
                let inner: f64 =
                    columns.iter().zip(values).map(|(c, v)| v * f64::from(x.row(*c as usize)[j])).sum();
                for (c, v) in columns.iter().zip(values) {
                    out[*c as usize * x.width() + j] += f64::from(*w) * v * inner;
                }
            }
        }
        out
    }
}

impl RowGroups for &Drawn {
    fn cols(&self) -> usize {
        self.rows.cols()
    }
    fn groups(&self) -> usize {
        self.ends.len() - 1
    }
    fn group(&self, at: usize) -> tenfold_engine::Result<Group> {
        self.gathered.fetch_add(1, Ordering::Relaxed);
        let rows = self.ends[at]..self.ends[at + 1];
        let mut group = Group { starts: vec![0], columns: vec![], values: vec![], weights: vec![] };
        for t in rows {
            let (columns, values) = self.rows.row(t);
            group.columns.extend(columns);
            group.values.extend(values.iter().map(|v| *v as f32));
            group.starts.push(group.columns.len() as u32);
            group.weights.push(self.weights[t]);
        }
        Ok(group)
    }
    fn passed(&self, _: usize) -> tenfold_engine::Result<()> {
        Ok(())
    }
}

#[test]
fn pairs_over_documents_equal_the_brute_sum() {
    for (rows, cols, width, array, is_small) in [
        (900, 70, 5, None, false),
        // Groups are cut, and X goes through some columns at a time.
        (900, 700, 40, Some(20_000), false),
        // Some groups stay, the others travel again.
        (900, 700, 5, None, true),
        (1, 3, 1, None, false),
    ] {
        let drawn = Drawn::new(rows, cols);
        // Half of it holds X, the sum and two thirds of the groups, whose entries and starts lie there both ways.
        let groups = 16 * drawn.rows.entries() + 4 * (rows + 3 * cols);
        let enough = 8 * cols * width + 2 * groups / 3;
        let memory = is_small.then_some(2 * enough as u64);
        let Some(gpu) = gpu(Options { array, memory }) else { return };
        let x = Tall::gaussian(cols, width, 3);
        let wanted = Mat::from_vec(cols, width, drawn.brute(&x));
        let held = gpu.gram(Box::new(&drawn)).unwrap();
        let first = held.multiply(&x).unwrap();
        let gathered = drawn.gathered.swap(0, Ordering::Relaxed);
        assert!(distance(&Mat::from_vec(cols, width, first.clone()), &wanted) < CLOSE, "{rows} {cols}");
        assert_eq!(held.multiply(&x).unwrap(), first, "kept or sent again, the bytes are the same");
        let later = drawn.gathered.load(Ordering::Relaxed);
        assert!(if is_small { 0 < later && later < gathered } else { later == 0 }, "{gathered} {later}");
    }
}
