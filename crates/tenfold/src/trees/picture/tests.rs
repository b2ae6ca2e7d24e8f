use super::super::synth::{Drawn, Emits, Shape, Synth};
use super::*;

/// A drawn tree as a fit would tell it: lengths by the tables, clusters by distance, supports by the strength.
pub(in crate::trees) struct Sketch {
    pub(in crate::trees) drawn: Drawn,
    pub(in crate::trees) tree: Tree,
    pub(in crate::trees) variables: Vec<Variable>,
    pub(in crate::trees) support: BTreeMap<(usize, usize), f64>,
    pub(in crate::trees) errors: BTreeMap<(usize, usize), f64>,
    pub(in crate::trees) clusters: Vec<usize>,
}

impl Sketch {
    pub(in crate::trees) fn new(synth: &Synth) -> Self {
        let drawn = Synth { samples: 1, ..synth.clone() }.draw().unwrap();
        let mut tree = drawn.tree.clone();
        let (mut support, mut errors) = (BTreeMap::new(), BTreeMap::new());
        for (i, (a, b, _)) in drawn.tree.edges().into_iter().enumerate() {
            // Numbers that look like a fit's without being drawn: evenly spread by the golden ratio.
            let even = (i as f64 * 0.618_034).fract();
            tree.join(a, b, 0.15 + 0.9 * even * even);
            support.insert((a, b), 1.0 - 0.6 * even.powi(3));
            errors.insert((a, b), 0.01 + 0.03 * even);
        }
        let clusters = clusters(&tree);
        let variables = drawn.table.variables().to_vec();
        Self { drawn, tree, variables, support, errors, clusters }
    }

    pub(in crate::trees) fn picture(&self, samples: usize, min_cell: Option<u64>) -> Picture<'_> {
        Picture {
            variables: &self.variables,
            tree: &self.tree,
            network: &self.drawn.network,
            support: &self.support,
            errors: &self.errors,
            samples,
            seen: &[],
            clusters: &self.clusters,
            held_out: Some(HeldOut { tree: -41.2, chow_liu: -43.9, independence: -52.4, samples: 1000 }),
            min_cell,
        }
    }
}

/// Components after the longest hidden edges are cut.
fn clusters(tree: &Tree) -> Vec<usize> {
    let mut edges: Vec<_> =
        tree.edges().into_iter().filter(|e| tree.is_hidden(e.0) && tree.is_hidden(e.1)).collect();
    edges.sort_by(|x, y| y.2.total_cmp(&x.2));
    let mut cut = tree.clone();
    edges.iter().take(tree.observed() / 14).for_each(|&(a, b, _)| cut.cut(a, b));
    let mut clusters = vec![0; tree.observed()];
    let parts = cut.components().into_iter().filter(|part| part[0] < tree.observed());
    for (c, part) in parts.enumerate() {
        part.into_iter().filter(|&v| v < tree.observed()).for_each(|v| clusters[v] = c);
    }
    clusters
}

pub(in crate::trees) fn every_kind() -> Vec<Synth> {
    let base = Synth { variables: 14, width: 3, ..Synth::default() };
    let mut all: Vec<Synth> =
        [Emits::Category, Emits::Flags, Emits::Mixed].map(|emits| Synth { emits, ..base.clone() }).into();
    all.push(Synth { shape: Shape::Observed, states: 3, ..base.clone() });
    all.push(Synth { blocks: 2, states: 3, width: 4, ..base });
    all
}

/// Every cell that the tables hold, in samples: of states, of edges, and of levels with states.
fn counts(shown: &Shown<'_>) -> Vec<f64> {
    let n = shown.picture.samples as f64;
    let mut found: Vec<f64> = shown.marginals.iter().flatten().map(|p| n * p).collect();
    for node in &shown.network.nodes {
        if let Some(parent) = node.parent {
            let above = &shown.marginals[parent];
            found.extend(
                (0..node.states())
                    .flat_map(|s| (0..above.len()).map(move |c| (s, c)))
                    .map(|(s, c)| n * node.table.row(s)[c] * above[c]),
            );
        }
    }
    for (v, variable) in shown.picture.variables.iter().enumerate() {
        let states = &shown.marginals[shown.network.emissions[v].node];
        if variable.kind != Kind::Real {
            let rows = shown.emission(v);
            found.extend(shown.levels(v).iter().flat_map(|p| [n * p, n * (1.0 - p)]));
            let joint = |row: &Vec<f64>| {
                row.iter().zip(states).flat_map(|(p, s)| [n * p * s, n * (1.0 - p) * s]).collect::<Vec<_>>()
            };
            found.extend(rows.iter().flat_map(joint));
        }
    }
    found
}

#[test]
fn no_table_tells_a_small_cell() {
    let mut small = 0;
    for synth in every_kind() {
        for (seed, samples) in [(0, 60), (1, 400), (2, 5_000), (3, 11)] {
            let sketch = Sketch::new(&Synth { seed, ..synth.clone() });
            let open = counts(&sketch.picture(samples, None).shown());
            small += open.iter().filter(|&&x| x > 0.5 && x < 10.5).count();
            let shown = sketch.picture(samples, Some(11)).shown();
            // Probabilities are of all samples, units of whole multiples of 11: 60 samples are told as if they were 55.
            let told =
                counts(&shown).into_iter().map(|x| x * (samples - samples % 11) as f64 / samples as f64);
            for x in told {
                assert!(!(1e-6..=11.0 - 1e-6).contains(&x), "{x} of {samples} samples");
                assert!((x / 11.0 - (x / 11.0).round()).abs() < 1e-6, "{x} is no whole number of cells");
            }
        }
    }
    assert!(small > 100, "the open tables have small cells to hide: {small}");
}

#[test]
fn coarse_tables_stay_near_and_add_up() {
    for synth in every_kind() {
        let sketch = Sketch::new(&synth);
        let (open, coarse) =
            (sketch.picture(100_000, None).shown(), sketch.picture(100_000, Some(11)).shown());
        for (x, y) in open.network.nodes.iter().zip(&coarse.network.nodes) {
            for c in 0..x.table.cols() {
                assert!((y.table.col(c).iter().sum::<f64>() - 1.0).abs() < 1e-12);
                // A cell moves by less than a cell's worth of samples for every state; states here have 1 % at least.
                let far =
                    x.table.col(c).iter().zip(y.table.col(c)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(far < 3.0 * 11.0 / 1000.0, "{far}");
            }
        }
        for v in 0..open.picture.variables.len() {
            for (x, y) in open.levels(v).iter().zip(coarse.levels(v)) {
                assert!((x - y).abs() < 0.01 || open.picture.variables[v].kind == Kind::Real, "{x} {y}");
            }
        }
    }
}

#[test]
fn a_variable_that_is_mostly_missing_is_told_by_those_who_have_it() {
    let sketch = Sketch::new(&Synth { variables: 8, width: 3, ..Synth::default() });
    let seen = vec![60; 8];
    let shown = Picture { seen: &seen, ..sketch.picture(6000, Some(11)) }.shown();
    for v in 0..8 {
        let states = &shown.marginals[shown.network.emissions[v].node];
        for row in shown.emission(v) {
            for (p, s) in row.iter().zip(states) {
                let (units, cell) = ((60.0 * s / 11.0 + 1e-9).floor(), p * (60.0 * s / 11.0 + 1e-9).floor());
                assert!(units == 0.0 || (cell - cell.round()).abs() < 1e-9, "{p} of {units} units");
            }
        }
    }
}

#[test]
fn lengths_do_not_tell_what_tables_keep_back() {
    let sketch = Sketch::new(&Synth { variables: 20, ..Synth::default() });
    let (open, coarse) = (sketch.picture(500, None).shown(), sketch.picture(500, Some(11)).shown());
    assert!(open.edges.iter().all(|e| e.error.is_some() && e.support.is_some()));
    for (x, y) in open.edges.iter().zip(&coarse.edges) {
        let least = coarse.rarest(y.a).min(coarse.rarest(y.b)) * 500.0;
        let steps = y.strength() * least / 22.0;
        assert!(y.error.is_none() && y.length >= 0.0 && y.length.is_finite());
        assert!((steps - steps.round()).abs() < 1e-9 || y.strength() > 1.0 - 1e-9, "{steps}");
        assert!((x.strength() - y.strength()).abs() <= 22.0 / least + 1e-12);
    }
}

#[test]
fn hidden_nodes_have_names_of_their_own() {
    let mut sketch = Sketch::new(&Synth { variables: 8, ..Synth::default() });
    assert_eq!(sketch.picture(100, None).shown().name(8), "h1");
    sketch.variables[3].name = "h17".into();
    assert_eq!(sketch.picture(100, None).shown().name(8), "h_1");
    assert_eq!(sketch.picture(100, None).shown().name(3), "h17");
}
