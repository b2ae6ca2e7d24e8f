//! Structure from exact distances, and trees of few variables.

use super::*;
use crate::trees::{Shape, Synth};
use rand::RngExt;
use std::collections::BTreeSet;
use tenfold_engine::linalg::random;
use tenfold_engine::progress::Silent;

const METHODS: [Method; 5] =
    [Method::Auto, Method::Insertion, Method::Joining, Method::Grouping, Method::Evolution];

/// Non-trivial splits of the observed nodes, as the side without node 0.
fn splits(tree: &Tree) -> BTreeSet<Vec<usize>> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); tree.capacity()];
    let mut found = BTreeSet::new();
    for (node, parent) in tree.walk(0).into_iter().rev() {
        if !tree.is_hidden(node) {
            below[node].push(node);
        }
        let mut side = below[node].clone();
        side.sort_unstable();
        if let Some(parent) = parent {
            below[parent].extend(&side);
        }
        if side.len() > 1 && side.len() + 1 < tree.observed() {
            found.insert(side);
        }
    }
    found
}

fn path(tree: &Tree, from: usize) -> Vec<f64> {
    let mut far = vec![0.0; tree.capacity()];
    for (node, parent) in tree.walk(from).into_iter().skip(1) {
        let parent = parent.unwrap();
        far[node] = far[parent] + tree.length(parent, node).unwrap();
    }
    far
}

fn distances(tree: &Tree) -> Distances {
    let p = tree.observed();
    let all = (0..p).flat_map(|i| path(tree, i)[i + 1..p].to_vec()).collect();
    Distances::new(p, all, vec![])
}

fn drawn(shape: Shape, variables: usize, seed: u64) -> Tree {
    let mut tree =
        Synth { variables, shape, samples: 1, seed, ..Synth::default() }.draw().unwrap().tree.canonical();
    let mut rng = random::rng(seed, 1);
    for (a, b, _) in tree.edges() {
        tree.join(a, b, rng.random_range(0.05..1.0));
    }
    tree
}

#[test]
fn exact_distances_give_the_true_tree_by_every_route() {
    for shape in [Shape::Mixed, Shape::Binary, Shape::Star, Shape::Chain, Shape::Observed] {
        for (seed, p) in [(0, 5), (1, 12), (2, 40)] {
            let truth = drawn(shape, p, seed);
            for method in METHODS {
                let choices = Choices { method, ..Choices::default() };
                let tree = learn(&distances(&truth), &choices, &Silent).unwrap();
                let (found, expected) = (tree.edges(), truth.edges());
                assert_eq!(splits(&tree), splits(&truth), "{shape:?} {p} {method:?}");
                assert_eq!(found.len(), expected.len(), "{shape:?} {p} {method:?}");
                for (f, e) in found.iter().zip(&expected) {
                    // Canonical numbers are equal when trees are; 1e-9 is rounding.
                    assert!(
                        (f.0, f.1) == (e.0, e.1) && (f.2 - e.2).abs() < 1e-9,
                        "{shape:?} {p} {method:?}: {f:?} {e:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn few_variables_need_no_hidden_node() {
    for method in METHODS {
        let choices = Choices { method, ..Choices::default() };
        let of = |count: usize, all: Vec<f64>| {
            learn(&Distances::new(count, all, vec![]), &choices, &Silent).unwrap().edges()
        };
        assert_eq!(of(1, vec![]), vec![], "{method:?}");
        assert_eq!(of(2, vec![0.5]), vec![(0, 1, 0.5)], "{method:?}");
        assert_eq!(of(3, vec![0.5, 1.0, 0.5]), vec![(0, 1, 0.5), (1, 2, 0.5)], "{method:?}");
        assert_eq!(of(3, vec![1.0; 3]), vec![(0, 3, 0.5), (1, 3, 0.5), (2, 3, 0.5)], "{method:?}");
        // Two copies of one variable: one stands on the way to the other.
        assert_eq!(of(3, vec![0.0, 1.0, 1.0]).len(), 2, "{method:?}");
        assert_eq!(of(4, vec![0.0; 6]).len(), 3, "{method:?}");
    }
}

#[test]
fn a_distance_that_is_not_a_number_is_refused() {
    let wrong = Distances::new(3, vec![1.0, f64::NAN, 1.0], vec![]);
    assert!(
        learn(&wrong, &Choices::default(), &Silent).unwrap_err().to_string().contains("variables 0 and 2")
    );
}

#[test]
fn the_binary_tree_keeps_all_splits_and_every_edge_has_an_error() {
    let truth = drawn(Shape::Mixed, 30, 3);
    let exact = distances(&truth);
    let mut rng = random::rng(4, 0);
    let pairs: Vec<(usize, usize)> = (0..30).flat_map(|i| (i + 1..30).map(move |j| (i, j))).collect();
    let all: Vec<f64> = pairs.iter().map(|&(i, j)| exact.between(i, j)).collect();
    let without = (0..6).map(|_| all.iter().map(|d| d + rng.random_range(-1e-3..1e-3)).collect()).collect();
    let noisy = Distances::new(30, all, without);
    let tree = binary(&noisy, Method::Auto, &Silent).unwrap();
    assert!(splits(&tree).is_superset(&splits(&truth)));
    assert!(tree.hidden().all(|h| tree.degree(h) == 3));
    for edge in measure(&noisy, &tree).unwrap() {
        assert!(edge.error > 0.0 && edge.error < 0.02);
    }
}

#[test]
fn threads_do_not_change_the_tree() {
    let truth = drawn(Shape::Mixed, 120, 5);
    let exact = distances(&truth);
    let run = |threads| {
        tenfold_engine::linalg::parallel::with_threads(threads, || {
            learn(&exact, &Choices::default(), &Silent).unwrap().edges()
        })
    };
    assert_eq!(run(1), run(3));
}

/// Every tree of a forest is measured, also one that does not hold the first variable.
#[test]
fn all_trees_of_a_forest_have_lengths() {
    let edges = [(0, 8, 0.5), (1, 8, 0.25), (2, 8, 0.75)];
    let other = [(3, 9, 0.5), (4, 9, 0.25), (9, 10, 0.5), (5, 10, 0.75), (6, 10, 0.5)];
    let tree = Tree::from_edges(8, &[&edges[..], &other[..]].concat());
    let far = |i: usize, j: usize| {
        let together = tree.components().iter().any(|c| c.contains(&i) && c.contains(&j));
        if together { path(&tree, i)[j] } else { 20.0 }
    };
    let all = (0..8).flat_map(|i| (i + 1..8).map(move |j| (i, j))).map(|(i, j)| far(i, j)).collect();
    let measured = measure(&Distances::new(8, all, vec![]), &tree).unwrap();
    for (found, (a, b, length)) in measured.iter().zip(tree.edges()) {
        assert_eq!((found.a, found.b), (a, b));
        assert!((found.length - length).abs() < 1e-12, "{a} {b}: {} {length}", found.length);
    }
    assert_eq!(measured.len(), tree.edges().len());
}
