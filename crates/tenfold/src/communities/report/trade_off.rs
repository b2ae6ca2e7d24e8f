//! What a threshold for memberships gives and takes: against known communities recovery and error, and always the nodes
//! that still belong somewhere.

use super::Facts;
use crate::communities::picture::AllNodes;
use crate::evaluate::Recovery;
use crate::report::{Block, Cell, Plot, Section, Series, Table};
use rayon::prelude::*;

/// Thresholds from 0 to 1: twenty steps.
const STEPS: usize = 20;

pub(super) fn section(facts: &Facts, curve: &[(f64, Recovery)]) -> Section {
    let mut section = Section::new("Trade-off");
    if !curve.is_empty() {
        section.blocks.extend(against_truth(curve));
    }
    section.with(covered(&facts.all))
}

/// Recovery against error, and both against the threshold.
fn against_truth(curve: &[(f64, Recovery)]) -> Vec<Block> {
    let line = |name: &str, value: &dyn Fn(&Recovery) -> f64| Series {
        name: name.into(),
        points: curve.iter().map(|(t, r)| (*t, value(r))).collect(),
    };
    let points: Vec<(f64, f64)> = curve.iter().map(|(_, r)| (r.error(), r.ratio())).collect();
    let caption = "Share of the known communities that are recovered, against the error of the pairs. Every point is a threshold \
                   below which memberships count as none: a high one recovers the clearest communities, a low one more of \
                   them and with more error.";
    let both = Plot::lines(caption, vec![Series { name: String::new(), points }])
        .axes("error over significant pairs", "recovery");
    let caption = "Mean absolute error after the best one-to-one matching, by threshold. An answer without any membership has the \
                   error of the second line: above it nothing was gained.";
    let series = vec![
        line("mean absolute error", &Recovery::mean_absolute_error),
        line("error of no answer", &Recovery::empty_error),
    ];
    let by_threshold = Plot::lines(caption, series).axes("threshold", "error");
    let mut table = Table::new(&["threshold", "recovery", "error", "pairs", "mean absolute error"]);
    table.tall = true;
    for (threshold, r) in curve {
        table.push(
            None,
            vec![
                Cell::number(*threshold, 2),
                Cell::number(r.ratio(), 3),
                Cell::number(r.error(), 4),
                Cell::count(r.pairs().len()),
                Cell::number(r.mean_absolute_error(), 4),
            ],
        );
    }
    let note = "Recovery and error are those of the thesis: pairs of communities whose memberships are correlated more than chance \
                allows, at a false discovery rate of 1 %. They say little without the number of pairs.";
    vec![Block::Row(vec![both.into(), by_threshold.into()]), table.into(), Block::note(note)]
}

/// How many memberships, nodes with at least one and nodes with several reach each step.
#[derive(Clone, Copy, Default)]
struct Reached {
    memberships: usize,
    once: usize,
    often: usize,
}

/// Counts for every step. Nodes without edges have no membership of their own and count nowhere.
fn reached(all: &AllNodes<'_>) -> [Reached; STEPS + 1] {
    // Shares are sums of few numbers: what is a step but for rounding counts as one.
    let step = |x: f64| ((STEPS as f64 * x + 1e-4) as usize).min(STEPS);
    let count = |mut sums: [Reached; STEPS + 1], node: usize| {
        if all.degree(node) > 0.0 {
            let mix = all.mix(node);
            let (mut first, mut second) = (0.0, 0.0);
            for &x in &mix {
                sums[step(x)].memberships += 1;
                (first, second) = if x > first { (x, first) } else { (first, f64::max(second, x)) };
            }
            sums[step(first)].once += 1;
            if mix.len() > 1 {
                sums[step(second)].often += 1;
            }
        }
        sums
    };
    let add = |mut a: [Reached; STEPS + 1], b: [Reached; STEPS + 1]| {
        for (x, y) in a.iter_mut().zip(b) {
            x.memberships += y.memberships;
            x.once += y.once;
            x.often += y.often;
        }
        a
    };
    let none = || [Reached::default(); STEPS + 1];
    let mut sums = (0..all.len()).into_par_iter().fold(none, count).reduce(none, add);
    // From "exactly this step" to "this step or more".
    for i in (0..STEPS).rev() {
        let above = sums[i + 1];
        sums[i].memberships += above.memberships;
        sums[i].once += above.once;
        sums[i].often += above.often;
    }
    sums
}

/// What is left of the memberships from a threshold on, which needs no truth.
fn covered(all: &AllNodes<'_>) -> Block {
    let found = reached(all);
    let share = |n: usize| n as f64 / all.len().max(1) as f64;
    let at = |i: usize| i as f64 / STEPS as f64;
    let line = |name: &str, value: &dyn Fn(&Reached) -> usize| Series {
        name: name.into(),
        points: (1..=STEPS).map(|i| (at(i), share(value(&found[i])))).collect(),
    };
    let series = vec![line("in a community", &|r| r.once), line("in several", &|r| r.often)];
    let caption = "Share of the nodes with a membership of at least the threshold, and with several. A low threshold lets nodes be in \
                   more communities than their edges surely tell; a high one leaves nodes in none, which covers then put where they \
                   belong most.";
    let plot = Plot::lines(caption, series).axes("threshold", "share of nodes").percent();
    let mut table = Table::new(&["threshold", "memberships", "nodes", "in several"]);
    table.tall = true;
    for (i, r) in found.iter().enumerate().skip(1) {
        let counts = [r.memberships, r.once, r.often].map(Cell::count);
        table.push(None, std::iter::once(Cell::number(at(i), 2)).chain(counts).collect());
    }
    Block::Row(vec![plot.into(), table.into()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communities::data::Kind;
    use tenfold_engine::linalg::Tall;

    #[test]
    fn thresholds_count_memberships_and_nodes() {
        let shares = vec![1.0, 0.0, 0.5, 0.5, 0.3, 0.7, 0.5, 0.5];
        let memberships = Tall::from_vec(4, 2, shares).unwrap();
        // The last node has no edges.
        let strengths = [3.0, 1.0, 2.0, 0.0];
        let all = AllNodes {
            kind: Kind::Undirected,
            memberships: &memberships,
            others: None,
            strengths: &strengths,
            other_strengths: &[],
        };
        let found = reached(&all);
        let told = |i: usize| (found[i].memberships, found[i].once, found[i].often);
        assert_eq!(told(1), (5, 3, 2));
        assert_eq!(told(6), (5, 3, 2), "0.3 reaches 0.3");
        assert_eq!(told(10), (4, 3, 1));
        assert_eq!(told(11), (2, 2, 0));
        assert_eq!(told(STEPS), (1, 1, 0));
    }
}
