use super::*;
use rand::RngExt;
use tenfold_engine::linalg::random;
use tenfold_engine::tensor::Contract;

/// A random graph of `rows` hubs and `cols` leaves with numbers of edges from 0 to `most`; symmetric when asked.
fn drawn(rows: usize, cols: usize, most: u32, symmetric: bool, seed: u64) -> (Adjacency, Mat) {
    let mut rng = random::rng(seed, 0);
    let mut dense = Mat::zeros(rows, cols);
    for u in 0..rows {
        for v in 0..cols {
            let count = if rng.random_range(0..3) == 0 { f64::from(rng.random_range(1..=most)) } else { 0.0 };
            if !symmetric {
                dense[(u, v)] = count;
            } else if v < u {
                dense[(u, v)] = count;
                dense[(v, u)] = count;
            }
        }
    }
    (sparse(&dense), dense)
}

fn sparse(dense: &Mat) -> Adjacency {
    let (mut starts, mut indices, mut weights) = (vec![0], Vec::new(), Vec::new());
    for u in 0..dense.rows() {
        for (v, &w) in dense.row(u).iter().enumerate().filter(|(_, w)| **w > 0.0) {
            indices.push(v as u32);
            weights.push(w as f32);
        }
        starts.push(indices.len());
    }
    Adjacency::new(dense.cols(), starts, indices, Some(weights)).unwrap()
}

/// The ends of a hub's edges, one for every edge: leaves of the same edge are different only as edges.
fn ends(dense: &Mat, u: usize) -> Vec<usize> {
    (0..dense.cols()).flat_map(|v| std::iter::repeat_n(v, dense[(u, v)] as usize)).collect()
}

/// Sums over ordered pairs and triples of different edges of a hub, through V.
fn brute(dense: &Mat, v: &Mat) -> (Vec<f64>, Mat, Vec<f64>) {
    let (n, k) = (dense.rows() as f64, v.cols());
    let (mut first, mut pairs, mut triples) = (vec![0.0; k], Mat::zeros(k, k), vec![0.0; k * k * k]);
    for u in 0..dense.rows() {
        let ends = ends(dense, u);
        for (i, &a) in ends.iter().enumerate() {
            (0..k).for_each(|x| first[x] += v[(a, x)] / n);
            for (j, &b) in ends.iter().enumerate().filter(|(j, _)| *j != i) {
                for x in 0..k {
                    (0..k).for_each(|y| pairs[(x, y)] += v[(a, x)] * v[(b, y)] / n);
                }
                for (_, &c) in ends.iter().enumerate().filter(|(l, _)| *l != i && *l != j) {
                    for (at, t) in triples.iter_mut().enumerate() {
                        *t += v[(a, at / k / k)] * v[(b, at / k % k)] * v[(c, at % k)] / n;
                    }
                }
            }
        }
    }
    (first, pairs, triples)
}

/// T(W, W, W) of a full tensor.
fn through(full: &[f64], w: &Mat) -> Vec<f64> {
    let (k, m) = (w.rows(), w.cols());
    (0..m * m * m)
        .map(|at| {
            let (a, b, c) = (at / m / m, at / m % m, at % m);
            let term = |i: usize| w[(i / k / k, a)] * w[(i / k % k, b)] * w[(i % k, c)] * full[i];
            (0..k * k * k).map(term).sum()
        })
        .collect()
}

#[test]
fn stars_equal_explicit_sums_over_different_edges() {
    for (rows, cols, most, symmetric) in [(14, 14, 1, true), (12, 12, 3, true), (11, 17, 2, false)] {
        let (graph, dense) = drawn(rows, cols, most, symmetric, 5);
        let transpose = graph.transpose();
        let stars = Stars { hubs: &graph, leaves: &transpose };
        let k = 3;
        let directions = Tall::gaussian(cols, k, 9);
        let v = directions.to_mat();
        let (first, pairs, triples) = brute(&dense, &v);
        let seen = stars.seen(&directions);
        let close = |a: f64, b: f64, scale: f64| (a - b).abs() < 1e-5 * scale.max(1.0);
        assert!((0..k).all(|x| close(seen.mean[x], first[x], 10.0)), "means");
        let size = pairs.max_abs();
        assert!((0..k * k).all(|i| close(seen.pairs[(i / k, i % k)], pairs[(i / k, i % k)], size)), "pairs");
        for alpha0 in [0.0, 1.5] {
            let white = seen.whiten(alpha0, k).unwrap();
            let summed = stars.triples(&directions, &seen, &white);
            let found = summed.formed().unwrap().to_full();
            let never = summed.terms().to_tensor3().unwrap().to_full();
            let formed = found.iter().fold(1.0f64, |s, x| s.max(x.abs()));
            assert!(never.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-12 * formed), "as terms");
            let (w, m) = (&white.matrix, white.matrix.cols());
            let mean = w.tr_matvec(&first);
            let second = w.tr_matmul(&pairs.matmul(w));
            let expected: Vec<f64> = through(&triples, w)
                .iter()
                .enumerate()
                .map(|(at, t)| {
                    let (a, b, c) = (at / m / m, at / m % m, at % m);
                    let mixed =
                        second[(a, b)] * mean[c] + second[(a, c)] * mean[b] + second[(b, c)] * mean[a];
                    (alpha0 + 1.0) * (alpha0 + 2.0) / 2.0 * t - alpha0 * (alpha0 + 1.0) / 2.0 * mixed
                        + alpha0 * alpha0 * mean[a] * mean[b] * mean[c]
                })
                .collect();
            let size = expected.iter().fold(1.0f64, |s, x| s.max(x.abs()));
            let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Single precision carries six digits, and whitening may take one.
            assert!(worst < 1e-4 * size, "alpha0 {alpha0}: {worst} of {size}");
        }
    }
}

/// With exact expectations in the place of numbers of edges the tensor is Σ α̂_i f_i⊗³ and the corners come back.
#[test]
fn white_moments_are_orthogonal_for_the_model() {
    let (n, k) = (3000, 3);
    let mut rng = random::rng(3, 0);
    let mut mixtures = Mat::zeros(n, k);
    for u in 0..n {
        // Dirichlet(1, 1, 1): gaps between ordered uniforms.
        let mut cuts = [rng.random_range(0.0..1.0), rng.random_range(0.0..1.0)];
        cuts.sort_by(f64::total_cmp);
        mixtures.row_mut(u).copy_from_slice(&[cuts[0], cuts[1] - cuts[0], 1.0 - cuts[1]]);
    }
    let corners = Mat::from_vec(3, 3, vec![2.0, 0.1, 0.3, 0.2, 1.5, 0.0, 0.4, 0.2, 1.8]);
    let sums = mixtures.matmul(&corners);
    let mean = sums.tr_matvec(&vec![1.0 / n as f64; n]);
    let pairs = sums.tr_matmul(&sums).map(|x| x / n as f64);
    let seen = Seen { sums: Tall::from_mat(&sums), mean, pairs, strengths: vec![0.0; n] };
    let white = seen.whiten(3.0, k).unwrap();
    // E[π_i³] − … leaves α̂_i f_i⊗³: components f_i through W are orthonormal up to the sampling error of n mixtures.
    let mut components = corners.matmul(&white.matrix);
    components.scale_rows(&[(1.0f64 / 3.0).sqrt(); 3]);
    let gram = components.matmul_tr(&components);
    for i in 0..k {
        for j in 0..k {
            let expected = f64::from(i == j);
            assert!((gram[(i, j)] - expected).abs() < 6.0 / (n as f64).sqrt(), "{i}, {j}: {}", gram[(i, j)]);
        }
    }
    assert_eq!(white.matrix.cols(), Contract::dim(&Tensor3::zeros(k)));
}
