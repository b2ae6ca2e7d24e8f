//! Sums and correlations against their definition.

use super::layout::block_of;
use super::*;
use crate::trees::{GaussianTree, Kind, Row, Synth, Variable};
use rand::RngExt;
use tenfold_engine::linalg::parallel::with_threads;
use tenfold_engine::linalg::{Mat, eigen_symmetric, random, svd};
use tenfold_engine::progress::Silent;

/// A table of categories, reals with a large mean, flags and counts, some values missing; mostly zeros when `rare`.
fn mixed(samples: usize, missing: f64, rare: bool) -> Table {
    let of = |name: &str, kind: Kind, count: usize| Variable {
        name: name.into(),
        kind,
        labels: (0..count).map(|l| l.to_string()).collect(),
    };
    let mut variables = vec![
        of("a", Kind::Category, 3),
        of("b", Kind::Real, 2),
        of("c", Kind::Flags, 4),
        of("d", Kind::Counts, 1),
        of("e", Kind::Real, 1),
    ];
    if rare {
        variables.push(of("wide", Kind::Flags, 80));
    }
    let mut table = Table::new(variables).unwrap();
    let mut rng = random::rng(5, 0);
    for _ in 0..samples {
        let state = rng.random_range(0..3u32);
        let flip = |rng: &mut random::Rng, p: f64| rng.random::<f64>() < p;
        let mut entries: Vec<(u32, f64)> = Vec::new();
        let level = if flip(&mut rng, 0.6) { state } else { rng.random_range(0..3) };
        entries.extend((level > 0).then(|| (level - 1, 1.0)));
        entries.push((2, 1e6 + f64::from(state) + random::normal(&mut rng)));
        entries.push((3, 0.01 * (f64::from(state == 1) + random::normal(&mut rng))));
        (0..4).for_each(|f| {
            entries.extend(flip(&mut rng, if f == state { 0.7 } else { 0.2 }).then_some((4 + f, 1.0)))
        });
        let count = (0..3 + state).filter(|_| flip(&mut rng, 0.3)).count() as f64;
        entries.extend((count > 0.0).then_some((8, count)));
        entries.push((9, f64::from(state * state) + random::normal(&mut rng)));
        if rare {
            (0..80).for_each(|f| entries.extend(flip(&mut rng, 0.05).then_some((10 + f, 1.0))));
        }
        let gone: Vec<u32> = (0..4).filter(|_| flip(&mut rng, missing)).collect();
        entries.retain(|e| !gone.iter().any(|&v| table.features_of(v as usize).contains(&(e.0 as usize))));
        table.push(&entries, &gone);
    }
    table
}

fn dense(row: &Row<'_>, features: std::ops::Range<usize>) -> Vec<f64> {
    let value =
        |f: usize| row.features.iter().position(|&g| g as usize == f).map_or(0.0, |at| row.values[at]);
    features.map(value).collect()
}

/// Mean-free products over the samples that have both variables, by their definition.
fn covariance(table: &Table, i: usize, j: usize) -> Mat {
    type Pair = (Vec<f64>, Vec<f64>);
    let rows: Vec<Pair> = (0..table.samples())
        .map(|s| table.row(s))
        .filter(|row| !row.missing.contains(&(i as u32)) && !row.missing.contains(&(j as u32)))
        .map(|row| (dense(&row, table.features_of(i)), dense(&row, table.features_of(j))))
        .collect();
    let n = rows.len() as f64;
    let mean = |of: &dyn Fn(&Pair) -> f64| rows.iter().map(of).sum::<f64>() / n;
    Mat::from_fn(rows[0].0.len(), rows[0].1.len(), |f, g| {
        let (a, b) = (mean(&|r| r.0[f]), mean(&|r| r.1[g]));
        rows.iter().map(|r| (r.0[f] - a) * (r.1[g] - b)).sum::<f64>() / n
    })
}

fn root(c: &Mat) -> Mat {
    let scale: Vec<f64> = (0..c.rows()).map(|f| 1.0 / c[(f, f)].sqrt()).collect();
    let mut scaled = c.clone();
    scaled.scale_cols(&scale);
    scaled.scale_rows(&scale);
    let eigen = eigen_symmetric(&scaled).unwrap();
    let mut vectors = eigen.vectors;
    vectors.scale_cols(&eigen.values.iter().map(|l| 1.0 / l.sqrt()).collect::<Vec<_>>());
    vectors.scale_rows(&scale);
    vectors.transpose()
}

#[test]
fn correlations_are_those_of_explicit_sums() {
    for (missing, rare) in [(0.0, false), (0.2, false), (0.0, true), (0.2, true)] {
        let table = mixed(300, missing, rare);
        assert_eq!(Layout::new(&table).unwrap().dense(), !rare);
        let spectra = Spectra::of(&table, &Silent).unwrap();
        for i in 0..5 {
            for j in i + 1..5 {
                let (a, b) = (root(&covariance(&table, i, i)), root(&covariance(&table, j, j)));
                let expected = svd(&a.matmul(&covariance(&table, i, j)).matmul_tr(&b)).unwrap().s;
                let found = spectra.values(i, j);
                assert_eq!(found.len(), table.features_of(i).len().min(table.features_of(j).len()));
                // A mean of 1e6 beside a deviation of 1 costs the definition itself about 1e-10.
                for (x, y) in found.iter().zip(&expected) {
                    assert!((x - y.min(1.0)).abs() < 1e-8, "{i} {j}: {found:?} {expected:?}");
                }
                let both =
                    |s: &usize| table.row(*s).missing.iter().all(|&v| v as usize != i && v as usize != j);
                assert_eq!(spectra.samples(i, j), (0..300).filter(both).count() as f64);
            }
        }
    }
}

#[test]
fn leaving_a_block_out_is_leaving_its_samples_out() {
    for rare in [false, true] {
        let table = mixed(400, 0.1, rare);
        let spectra = Spectra::of(&table, &Silent).unwrap();
        for block in [0, 5] {
            let rest = table.take((0..400).filter(|&s| block_of(s) != block));
            let alone = Spectra::of(&rest, &Silent).unwrap();
            for (i, j) in [(0, 1), (0, 2), (1, 4), (2, 3), (3, 4)] {
                for (x, y) in spectra.without(block, i, j).iter().zip(alone.values(i, j)) {
                    assert!((x - y).abs() < 1e-9, "{i} {j}: {x} {y}");
                }
            }
        }
    }
}

#[test]
fn threads_do_not_matter() {
    for rare in [false, true] {
        let table = mixed(500, 0.1, rare);
        let one = with_threads(1, || Spectra::of(&table, &Silent).unwrap());
        for threads in [2, 3, 8] {
            assert!(with_threads(threads, || Spectra::of(&table, &Silent).unwrap()) == one);
        }
    }
}

#[test]
fn what_is_wrong_with_data_is_found() {
    let names = ["x", "same", "constant", "other"];
    let variables =
        names.map(|name| Variable { name: name.into(), kind: Kind::Real, labels: vec!["0".into()] });
    let mut table = Table::new(variables.to_vec()).unwrap();
    let mut rng = random::rng(1, 0);
    for _ in 0..60 {
        let x = random::normal(&mut rng);
        table.push(&[(0, x), (1, 7.0 - 3.0 * x), (2, 0.1), (3, random::normal(&mut rng))], &[]);
    }
    let spectra = Spectra::of(&table, &Silent).unwrap();
    assert_eq!((spectra.constants(), spectra.duplicates()), (vec![2], vec![(0, 1)]));
    assert_eq!(spectra.too_few(), Some(100));
    assert_eq!(spectra.components(), vec![vec![0, 1], vec![2], vec![3]]);
    let mut apart = Table::new(variables[..2].to_vec()).unwrap();
    for s in 0..40u32 {
        apart.push(&[(s % 2, f64::from(s))], &[1 - s % 2]);
    }
    let error = Spectra::of(&apart, &Silent).unwrap_err().to_string();
    assert!(error.contains("x and same are both known in 0 samples"), "{error}");
    let mut odd = Table::new(variables[..2].to_vec()).unwrap();
    (0..40).for_each(|s| odd.push(&[(0, 1.0), (1, if s == 30 { f64::NAN } else { 2.0 })], &[]));
    let error = Spectra::of(&odd, &Silent).unwrap_err().to_string();
    assert!(error.contains("same is NaN in sample 31"), "{error}");
}

#[test]
fn samples_of_linear_gaussian_trees_have_their_covariances() {
    let synth = Synth { variables: 4, samples: 20_000, states: 2, width: 3, ..Synth::default() };
    let drawn = GaussianTree::draw(&synth).unwrap();
    for (i, j) in [(0, 0), (0, 1), (1, 3), (2, 3)] {
        let mut found = covariance(&drawn.table, i, j);
        found.add_scaled(-1.0, &if i == j { Mat::identity(3) } else { drawn.covariance(i, j) });
        // Each entry has a standard error of at most √2/√20,000 = .01.
        assert!(found.max_abs() < 0.045, "{}", found.max_abs());
    }
}
