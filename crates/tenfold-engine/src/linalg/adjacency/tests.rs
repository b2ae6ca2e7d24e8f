//! The matrix against dense ones made by plain loops.

use super::super::{parallel, random};
use super::*;
use rand::RngExt;

type Chunks = (Vec<Vec<(u32, u32)>>, Vec<Vec<f32>>);

/// Edges in chunks of uneven length, some of them repeated, with weights of few digits.
fn edges(rows: u32, cols: u32, count: usize, seed: u64) -> Chunks {
    let mut rng = random::rng(seed, 0);
    let mut chunks: Chunks = (Vec::new(), Vec::new());
    let mut left = count;
    while left > 0 {
        let length = rng.random_range(1..=left.min(count / 3 + 1));
        let draw = |_| (rng.random_range(0..rows), rng.random_range(0..cols));
        chunks.0.push((0..length).map(draw).collect());
        chunks.1.push((0..length).map(|_| rng.random_range(1..9) as f32 / 4.0).collect());
        left -= length;
    }
    chunks.0.push(Vec::new());
    chunks.1.push(Vec::new());
    chunks
}

/// The same by plain loops: with weights they add up, without a place counts once.
fn dense(rows: usize, cols: usize, (edges, weights): &Chunks, weighted: bool) -> Vec<f64> {
    let mut out = vec![0.0; rows * cols];
    for (&(i, j), &w) in edges.iter().flatten().zip(weights.iter().flatten()) {
        let place = &mut out[i as usize * cols + j as usize];
        *place = if weighted { *place + f64::from(w) } else { 1.0 };
    }
    out
}

fn to_dense(a: &Adjacency) -> Vec<f64> {
    let mut out = vec![0.0; a.rows() * a.cols()];
    for i in 0..a.rows() {
        let (columns, weights) = a.row(i);
        assert!(columns.is_sorted_by(|a, b| a < b));
        for (e, &j) in columns.iter().enumerate() {
            out[i * a.cols() + j as usize] = weights.map_or(1.0, |w| f64::from(w[e]));
        }
    }
    out
}

fn made(rows: usize, cols: usize, chunks: &Chunks, weighted: bool) -> Adjacency {
    let weights = weighted.then(|| chunks.1.clone());
    Adjacency::from_edges(rows, cols, chunks.0.clone(), weights).unwrap()
}

fn skinny(rows: usize, width: usize) -> Vec<f32> {
    let mut rng = random::rng(9, width as u64);
    (0..rows * width).map(|_| random::normal(&mut rng) as f32).collect()
}

#[test]
fn edges_in_any_order_become_sorted_rows_once() {
    for weighted in [false, true] {
        for (rows, cols, count) in [(1, 1, 3), (70, 90, 4000), (300, 2, 500), (5, 700, 2000), (130, 64, 1)] {
            let chunks = edges(rows as u32, cols as u32, count, 3);
            let a = made(rows, cols, &chunks, weighted);
            assert_eq!(to_dense(&a), dense(rows, cols, &chunks, weighted));
            assert_eq!((a.weighted(), a.degree(0)), (weighted, a.row(0).0.len()));
            let sums: Vec<f64> = to_dense(&a).chunks(cols).map(|row| row.iter().sum()).collect();
            assert_eq!(a.strengths(), sums);
            let Adjacency { cols, starts, indices, weights } = a.clone();
            assert_eq!(Adjacency::new(cols, starts, indices, weights).unwrap(), a);
        }
    }
}

#[test]
fn transposes_and_sums_with_them() {
    for weighted in [false, true] {
        let (rows, cols) = (70, 90);
        let a = made(rows, cols, &edges(rows as u32, cols as u32, 2500, 5), weighted);
        let (there, back) = (to_dense(&a), to_dense(&a.transpose()));
        for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
            assert_eq!(there[i * cols + j], back[j * rows + i]);
        }
        assert_eq!(a.transpose().transpose(), a);
        let chunks = edges(80, 80, 900, 6);
        let square = made(80, 80, &chunks, weighted);
        let (one, both) = (to_dense(&square), to_dense(&square.symmetrised()));
        for (i, j) in (0..80).flat_map(|i| (0..80).map(move |j| (i, j))) {
            let sum = one[i * 80 + j] + one[j * 80 + i];
            assert_eq!(both[i * 80 + j], if weighted { sum } else { sum.min(1.0) });
        }
        let mirrored = Adjacency::undirected(80, chunks.0.clone(), weighted.then(|| chunks.1.clone()));
        assert_eq!(mirrored.unwrap(), square.symmetrised());
    }
}

#[test]
fn products_equal_dense_ones_for_every_width() {
    let (rows, cols) = (60, 50);
    let mut chunks = edges(rows as u32, cols as u32, 900, 1);
    // A row longer than a run of the kernel, and one that is empty.
    chunks.0.iter_mut().flatten().for_each(|e| e.0 += u32::from(e.0 == 7));
    chunks.0.push((0..cols as u32).map(|j| (3, j)).collect());
    chunks.1.push(vec![0.5; cols]);
    for weighted in [false, true] {
        let a = made(rows, cols, &chunks, weighted);
        let full = to_dense(&a);
        for width in 1..=160 {
            let x = skinny(cols, width);
            let mut out = vec![f32::NAN; rows * width];
            a.multiply(&x, width, &mut out);
            for i in 0..rows {
                for l in 0..width {
                    let exact: f64 =
                        (0..cols).map(|j| full[i * cols + j] * f64::from(x[j * width + l])).sum();
                    let error = (f64::from(out[i * width + l]) - exact).abs();
                    assert!(error < 1e-4, "width {width}, row {i}, column {l}: {error}");
                }
            }
        }
    }
}

#[test]
fn long_rows_keep_their_digits() {
    let n = 300_000;
    let a = Adjacency::from_edges(1, n, vec![(0..n as u32).map(|j| (0, j)).collect()], None).unwrap();
    let x = vec![0.1f32; n * 3];
    let mut out = [0.0; 3];
    a.multiply(&x, 3, &mut out);
    for sum in out {
        let relative = f64::from(sum) / (n as f64 * f64::from(0.1f32)) - 1.0;
        // One running sum in single precision is off by several parts in a thousand.
        assert!(relative.abs() < 5e-5, "{relative}");
    }
}

#[test]
fn nothing_depends_on_threads_or_chunks() {
    let (rows, cols) = (3000, 2000);
    let chunks = edges(rows as u32, cols as u32, 400_000, 2);
    let whole = (vec![chunks.0.concat()], vec![chunks.1.concat()]);
    for weighted in [false, true] {
        let run = |threads, chunks: &Chunks| {
            parallel::with_threads(threads, || {
                let a = made(rows, cols, chunks, weighted);
                let mut out = vec![0.0; rows * 20];
                a.multiply(&skinny(cols, 20), 20, &mut out);
                let bits: Vec<u32> = out.iter().map(|x| x.to_bits()).collect();
                (a.transpose(), a.strengths(), a, bits)
            })
        };
        let one = run(1, &chunks);
        for threads in [2, 3, 8] {
            assert!(run(threads, &chunks) == one, "{threads} threads");
        }
        assert!(run(2, &whole) == one, "one chunk");
    }
}

#[test]
fn empty_shapes_work_and_lying_arrays_do_not() {
    let none = Adjacency::from_edges(0, 3, vec![], None).unwrap();
    assert_eq!((none.rows(), none.transpose().rows(), none.transpose().entries()), (0, 3, 0));
    let empty = Adjacency::from_edges(4, 4, vec![vec![]], Some(vec![vec![]])).unwrap();
    let mut out = [1.0; 8];
    empty.multiply(&[1.0; 8], 2, &mut out);
    assert_eq!((out, empty.symmetrised().entries()), ([0.0; 8], 0));
    empty.multiply(&[], 0, &mut []);
    let new = |starts: &[usize], indices: &[u32], weights: Option<&[f32]>| {
        Adjacency::new(3, starts.to_vec(), indices.to_vec(), weights.map(<[f32]>::to_vec))
    };
    assert!(new(&[0, 2, 2], &[0, 2], None).is_ok());
    assert!(new(&[], &[], None).is_err());
    assert!(new(&[0, 1], &[3], None).is_err());
    assert!(new(&[0, 2], &[1, 1], None).is_err());
    assert!(new(&[0, 2], &[1, 0], None).is_err());
    assert!(new(&[0, 2, 1], &[1], None).is_err());
    assert!(new(&[0, 1], &[1], Some(&[])).is_err());
    assert!(new(&[0, 1], &[1], Some(&[f32::NAN])).is_err());
    let made = |edges, weights| Adjacency::from_edges(2, 2, edges, weights);
    assert!(made(vec![vec![(0, 2)]], None).is_err());
    assert!(made(vec![vec![(2, 0)]], None).is_err());
    assert!(made(vec![vec![(0, 1)]], Some(vec![vec![]])).is_err());
    assert!(made(vec![vec![(0, 1)]], Some(vec![])).is_err());
    let error = made(vec![vec![(0, 1)]], Some(vec![vec![f32::INFINITY]])).unwrap_err().to_string();
    assert!(error.contains("weight inf"), "{error}");
}

/// The definition, in double precision, for every width that has a loop of its own and some that have none.
#[test]
fn edges_are_explained_as_the_definition_says() {
    let mut rng = random::rng(5, 0);
    let edges: Vec<(u32, u32)> =
        (0..400).map(|_| (rng.random_range(0..40), rng.random_range(0..30))).collect();
    let weights: Vec<f32> = (0..400).map(|_| rng.random_range(0.1..2.0)).collect();
    for weights in [None, Some(vec![weights])] {
        let a = Adjacency::from_edges(40, 30, vec![edges.clone()], weights).unwrap();
        for width in [8, 16, 24, 32, 40, 48, 56, 64, 72, 104, 200] {
            let x: Vec<f32> = (0..40 * width).map(|_| rng.random_range(0.0..1.0)).collect();
            let y: Vec<f32> = (0..30 * width).map(|_| rng.random_range(0.0..1.0)).collect();
            let mut out = vec![0.0; 40 * width];
            a.explain(&x, &y, width, &mut out);
            for u in 0..40 {
                let own = &x[u * width..][..width];
                let mut expected = vec![0.0f64; width];
                let (at, weights) = a.row(u);
                for (e, &v) in at.iter().enumerate() {
                    let other = &y[v as usize * width..][..width];
                    let rate: f64 = own.iter().zip(other).map(|(a, b)| f64::from(a * b)).sum();
                    let share = f64::from(weights.map_or(1.0, |w| w[e])) / rate;
                    (0..width).for_each(|c| expected[c] += share * f64::from(own[c] * other[c]));
                }
                for c in 0..width {
                    let found = f64::from(out[u * width + c]);
                    assert!((found - expected[c]).abs() < 1e-5 * (1.0 + expected[c]), "{width} {u} {c}");
                }
            }
        }
    }
}
