//! What every measure between covers keeps, on covers of all kinds.

use super::samples::{random_cover, shuffled};
use super::{Cover, OverlappingNmi, Recovery, average_f1, nmi, omega_index};
use proptest::prelude::*;
use tenfold_engine::linalg::random;

type Measure = fn(&Cover, &Cover) -> f64;

const MEASURES: [(&str, Measure); 4] = [
    ("LFK", |a, b| OverlappingNmi::Lfk.of(a, b)),
    ("max", |a, b| OverlappingNmi::Max.of(a, b)),
    ("omega", omega_index),
    ("F1", average_f1),
];

/// Covers of any kind: empty, of single nodes, whole, with empty and with equal communities.
fn covers() -> impl Strategy<Value = (Cover, Cover)> {
    let lists = |n: u32| prop::collection::vec(prop::collection::vec(0..n, 0..=n as usize), 0..6);
    (1u32..14).prop_flat_map(move |n| {
        (lists(n), lists(n)).prop_map(move |(a, b)| (Cover::new(n as usize, a), Cover::new(n as usize, b)))
    })
}

fn orders(cover: &Cover, stream: u64) -> (Vec<usize>, Vec<usize>) {
    let rng = &mut random::rng(13, stream);
    (random::permutation(cover.nodes(), rng), random::permutation(cover.communities().len(), rng))
}

proptest! {
    #[test]
    fn equal_covers_give_one((a, _) in covers(), stream in 0u64..1000) {
        let order = orders(&a, stream).1;
        let same = shuffled(&a, &(0..a.nodes()).collect::<Vec<_>>(), &order);
        for (name, measure) in MEASURES {
            prop_assert!((measure(&a, &same) - 1.0).abs() < 1e-12, "{}: {}", name, measure(&a, &same));
        }
    }

    #[test]
    fn values_stay_in_range_and_sides_may_change((a, b) in covers()) {
        for (name, measure) in MEASURES {
            let (there, back) = (measure(&a, &b), measure(&b, &a));
            prop_assert!((there - back).abs() < 1e-12, "{}: {} and {}", name, there, back);
            let least = if name == "omega" { -1.0 - 1e-12 } else { 0.0 };
            prop_assert!((least..=1.0).contains(&there), "{}: {}", name, there);
        }
    }

    #[test]
    fn names_do_not_matter((a, b) in covers(), stream in 0u64..1000) {
        let (nodes, of_a) = orders(&a, stream);
        let of_b = orders(&b, stream + 1).1;
        let (c, d) = (shuffled(&a, &nodes, &of_a), shuffled(&b, &nodes, &of_b));
        for (name, measure) in MEASURES {
            let (before, after) = (measure(&a, &b), measure(&c, &d));
            prop_assert!((before - after).abs() < 1e-12, "{}: {} and {}", name, before, after);
        }
        let (before, after) = (Recovery::new(&a, &b.memberships()), Recovery::new(&c, &d.memberships()));
        prop_assert_eq!(before.pairs().len(), after.pairs().len());
        prop_assert!((before.ratio() - after.ratio()).abs() < 1e-12);
        prop_assert!((before.error() - after.error()).abs() < 1e-12);
        // The matching is the best up to the 12 digits that the assignment compares.
        prop_assert!((before.mean_absolute_error() - after.mean_absolute_error()).abs() < 1e-9);
    }

    #[test]
    fn names_of_labels_do_not_matter(labels in prop::collection::vec((0u32..5, 0u32..4), 0..30), add in 0u32..9) {
        let (a, b): (Vec<u32>, Vec<u32>) = labels.iter().copied().unzip();
        let renamed: Vec<u32> = a.iter().map(|label| (label * 2 + add) % 11).collect();
        let backwards = |v: &[u32]| v.iter().rev().copied().collect::<Vec<u32>>();
        let value = nmi(&a, &b);
        prop_assert!((0.0..=1.0).contains(&value));
        prop_assert!((value - nmi(&b, &renamed)).abs() < 1e-12);
        prop_assert!((value - nmi(&backwards(&a), &backwards(&b))).abs() < 1e-12);
        prop_assert!((nmi(&a, &renamed) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn covers_without_communities_have_no_quotient_of_nothing() {
    let empty = Cover::new(5, Vec::new());
    let hollow = Cover::new(5, vec![Vec::new(); 3]);
    let pair = Cover::new(5, vec![vec![0, 1]]);
    for (name, measure) in MEASURES {
        assert_eq!((measure(&empty, &empty), measure(&empty, &hollow)), (1.0, 1.0), "{name}");
        assert_eq!((measure(&empty, &pair), measure(&pair, &hollow)), (0.0, 0.0), "{name}");
        let none = Cover::new(0, Vec::new());
        assert_eq!(measure(&none, &none), 1.0, "{name} of no node");
    }
}

#[test]
fn one_community_and_all_singletons() {
    let one = Cover::new(6, vec![(0..6).collect()]);
    let singles = Cover::new(6, (0..6).map(|x| vec![x]).collect());
    for (name, measure) in MEASURES {
        assert_eq!((measure(&one, &one), measure(&singles, &singles)), (1.0, 1.0), "{name}");
        let between = measure(&one, &singles);
        let expected = if name == "F1" { 2.0 / 7.0 } else { 0.0 };
        assert!((between - expected).abs() < 1e-12, "{name}: {between}");
    }
}

/// The more of a cover is drawn anew, the less it is like the first.
#[test]
fn measures_fall_as_covers_part() {
    let truth = random_cover(300, 8, 0.15, 300);
    for (name, measure) in MEASURES {
        let other = random_cover(300, 8, 0.15, 301);
        let mixed = |keep: usize| {
            let (old, new) = (truth.communities(), other.communities());
            Cover::new(300, (0..8).map(|i| if i < keep { old[i].clone() } else { new[i].clone() }).collect())
        };
        let values = [8, 6, 4, 2].map(|keep| measure(&truth, &mixed(keep)));
        assert!(values.windows(2).all(|pair| pair[0] > pair[1] + 0.05), "{name}: {values:?}");
    }
}
