//! Which nodes the page holds: those that it shows somewhere, and those worth searching.

use super::AllNodes;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Nodes that can be searched, those with the most edges first, and letters that they may cost.
const SEARCHED: usize = 20_000;
const LETTERS: usize = 900_000;
/// Nodes that one task looks through.
const NODES_A_TASK: usize = 4096;

/// The nodes of the page.
pub(super) struct Held {
    /// Those of the left side before those of the right, each by falling degree.
    pub nodes: Vec<usize>,
    places: BTreeMap<usize, usize>,
}

impl Held {
    /// The nodes in `shown`, and others with many edges while there is room; `letters` says how long a node's name is.
    pub fn new(
        all: &AllNodes<'_>,
        shown: impl Iterator<Item = usize>,
        letters: impl Fn(usize) -> usize,
    ) -> Self {
        let mut nodes: Vec<usize> = shown.collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        let more = |a: &usize, b: &usize| all.degree(*b).total_cmp(&all.degree(*a)).then(a.cmp(b));
        if order.len() > SEARCHED {
            order.select_nth_unstable_by(SEARCHED, more);
            order.truncate(SEARCHED);
        }
        order.sort_unstable_by(more);
        let mut room = LETTERS;
        let fits = |u: &usize| {
            // Name, degree and confidence, then a community and a share for each that is told.
            let told = all.mix(*u).iter().filter(|x| **x >= 0.0095).count();
            let taken = room.checked_sub(letters(*u) + 12 + 7 * told);
            room = taken.unwrap_or(0);
            taken.is_some()
        };
        nodes.extend(order.into_iter().take_while(fits));
        nodes.sort_unstable();
        nodes.dedup();
        let left = all.strengths.len();
        nodes.sort_by(|a, b| (*a >= left).cmp(&(*b >= left)).then(more(a, b)));
        let places = nodes.iter().enumerate().map(|(place, &node)| (node, place)).collect();
        Self { nodes, places }
    }

    /// The number that a node has on the page.
    ///
    /// # Panics
    /// When the page does not hold it.
    pub fn place(&self, node: usize) -> usize {
        self.places[&node]
    }
}

/// Share times degree, the node, and its share.
type Ranked = (f64, usize, f64);

/// For every community the nodes with the largest share times degree, and their share.
pub(super) fn leading(all: &AllNodes<'_>, count: usize) -> Vec<Vec<(usize, f64)>> {
    let k = all.k();
    let better = |a: &Ranked, b: &Ranked| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let keep = |best: &mut Vec<Ranked>| {
        best.sort_unstable_by(better);
        best.truncate(count);
    };
    let parts: Vec<Vec<Vec<Ranked>>> = (0..all.len().div_ceil(NODES_A_TASK))
        .into_par_iter()
        .map(|task| {
            let mut best: Vec<Vec<Ranked>> = vec![Vec::new(); k];
            for u in task * NODES_A_TASK..((task + 1) * NODES_A_TASK).min(all.len()) {
                let degree = all.degree(u);
                for (c, share) in all.mix(u).into_iter().enumerate() {
                    let weight = share * degree;
                    let worst = if best[c].len() < count { 0.0 } else { best[c][count - 1].0 };
                    if weight > worst {
                        best[c].push((weight, u, share));
                        keep(&mut best[c]);
                    }
                }
            }
            best
        })
        .collect();
    let mut best = vec![Vec::new(); k];
    for part in parts {
        part.into_iter().enumerate().for_each(|(c, found)| best[c].extend(found));
    }
    best.iter_mut().for_each(keep);
    best.into_iter().map(|found| found.into_iter().map(|(_, node, share)| (node, share)).collect()).collect()
}
