//! Which variables have anything to do with each other.

use super::chi::Critical;
use super::moments::Spectra;
use std::collections::BTreeMap;

/// The chance that a variable is joined to others anywhere though it is independent of them.
const ALPHA: f64 = 0.01;

/// The chance that two sets of [`FEW`] variables or more are joined anywhere though they are independent. A wrong join of sets spoils
/// more than one of a single variable: the two trees are then one, with all that is told about their edges. Measured: at .01 five of
/// 385 drawn forests had two of their trees joined, by pairs at .004 and more; at .0001 a drawn tree of 952 variables
/// fell in two, whose best pair is at .0003.
const ALPHA_SETS: f64 = 1e-3;

/// From so many variables on a set needs the surer evidence to be joined to another such set.
const FEW: usize = 3;

impl Spectra {
    /// Whether pairs are dependent: N Σ_l σ_l² against χ²(d_i d_j), at `alpha` over the number of pairs (Bonferroni), of which half must
    /// stay whichever block of samples is left out. The last keeps out pairs that a single sample makes, such as one that
    /// has two rare flags together; χ² is no guide there.
    fn dependent(&self, alpha: f64) -> impl FnMut(usize, usize) -> bool + '_ {
        let p = self.variables();
        let mut critical = Critical::new(alpha / (p * p.saturating_sub(1) / 2).max(1) as f64);
        move |i, j| {
            let least = critical.of(self.width(i) * self.width(j));
            self.samples(i, j) * self.square(i, j) > least && self.least(i, j) > least / 2.0
        }
    }

    /// The first canonical correlation.
    fn strength(&self, i: usize, j: usize) -> f64 {
        self.values(i, j).first().copied().unwrap_or(0.0)
    }

    /// The strongest tree through each set of variables that hang together: its edges (i, j), i < j, the strongest first.
    /// Strength is the first canonical correlation; only pairs that are dependent count: at a chance of .01 that any independent pair is
    /// taken for one, where either side is one or two variables so far, and of .001 where two larger sets are joined.
    ///
    /// # Complexity
    /// The square of the number of variables.
    pub fn spanning(&self) -> Vec<(usize, usize)> {
        let mut edges = self.loose();
        let strength = |e: &(usize, usize)| self.strength(e.0, e.1);
        edges.sort_by(|x, y| strength(y).total_cmp(&strength(x)).then(x.cmp(y)));
        let mut sets = Sets::new(self.variables());
        let mut sure = self.dependent(ALPHA_SETS);
        let mut kept = Vec::new();
        for (i, j) in edges {
            let (left, right) = (sets.of(i), sets.of(j));
            let few = left.len().min(right.len()) < FEW;
            let edge = if few || sure(i, j) {
                Some((i, j))
            } else {
                // The strongest pair is not always the surest: others may have more samples or be narrower.
                let pairs = left.iter().flat_map(|&a| right.iter().map(move |&b| (a.min(b), a.max(b))));
                pairs
                    .filter(|&(a, b)| sure(a, b))
                    .reduce(|x, y| if strength(&y) > strength(&x) { y } else { x })
            };
            if let Some(edge) = edge {
                sets.join(i, j);
                kept.push(edge);
            }
        }
        kept
    }

    /// The edges of the strongest trees through pairs that are dependent as single variables are.
    fn loose(&self) -> Vec<(usize, usize)> {
        let p = self.variables();
        let mut dependent = self.dependent(ALPHA);
        let mut joined = vec![false; p];
        let mut best: Vec<(f64, usize)> = vec![(0.0, usize::MAX); p];
        let mut edges = Vec::new();
        for _ in 0..p {
            // The open variable with the strongest tie to what is joined; the first open one where no tie is left.
            let open = (0..p).filter(|&v| !joined[v]);
            let next = open.reduce(|a, b| if best[b].0 > best[a].0 { b } else { a });
            let next = next.expect("one is open in every turn");
            joined[next] = true;
            if best[next].1 != usize::MAX {
                edges.push((next.min(best[next].1), next.max(best[next].1)));
            }
            for v in (0..p).filter(|&v| !joined[v]) {
                let strength = self.strength(next, v);
                if strength > best[v].0 && dependent(next, v) {
                    best[v] = (strength, next);
                }
            }
        }
        edges
    }

    /// The variables in sets that are independent of each other: connected by the edges of [`Spectra::spanning`]. Sets and their
    /// members are in increasing order; a variable that hangs on no other is alone.
    pub fn components(&self) -> Vec<Vec<usize>> {
        let mut sets = Sets::new(self.variables());
        self.spanning().into_iter().for_each(|(i, j)| sets.join(i, j));
        let mut all: Vec<Vec<usize>> = sets.members.into_values().collect();
        all.iter_mut().for_each(|members| members.sort_unstable());
        all.sort_unstable();
        all
    }
}

/// Variables in sets that grow together.
struct Sets {
    /// The number of every variable's set.
    number: Vec<usize>,
    members: BTreeMap<usize, Vec<usize>>,
}

impl Sets {
    fn new(count: usize) -> Self {
        Self { number: (0..count).collect(), members: (0..count).map(|v| (v, vec![v])).collect() }
    }

    fn of(&self, variable: usize) -> &[usize] {
        self.members.get(&self.number[variable]).map_or(&[], Vec::as_slice)
    }

    /// The smaller set goes into the larger, so that all joins together cost n log n.
    fn join(&mut self, i: usize, j: usize) {
        let (mut into, mut from) = (self.number[i], self.number[j]);
        if into == from {
            return;
        }
        if self.of(i).len() < self.of(j).len() {
            (into, from) = (from, into);
        }
        let moved = self.members.remove(&from).unwrap_or_default();
        moved.iter().for_each(|&v| self.number[v] = into);
        self.members.entry(into).or_default().extend(moved);
    }
}

#[cfg(test)]
mod tests {
    use crate::trees::{Kind, Spectra, Synth, Table, Variable};
    use rand::RngExt;
    use tenfold_engine::linalg::random;
    use tenfold_engine::progress::Silent;

    #[test]
    fn one_sample_joins_nothing() {
        let flag = |v: usize| Variable { name: v.to_string(), kind: Kind::Flags, labels: vec!["up".into()] };
        let mut table = Table::new((0..4).map(flag).collect()).unwrap();
        let mut rng = random::rng(3, 0);
        for s in 0..4000 {
            let common = rng.random::<f64>() < 0.4;
            let up = [s % 400 == 0, s % 500 == 3 || s == 0, common, common != (rng.random::<f64>() < 0.2)];
            let entries: Vec<(u32, f64)> = (0..4).filter(|&f| up[f as usize]).map(|f| (f, 1.0)).collect();
            table.push(&entries, &[]);
        }
        let spectra = Spectra::of(&table, &Silent).unwrap();
        // Flags 0 and 1 have ten and nine samples, one of them common: far beyond χ², and gone with its block.
        assert!(spectra.samples(0, 1) * spectra.square(0, 1) > 30.0);
        assert_eq!(spectra.spanning(), vec![(2, 3)]);
        assert_eq!(spectra.components(), vec![vec![0], vec![1], vec![2, 3]]);
    }

    /// Of seeds 0 to 59, 100 to 124 and 1000 to 1299 these are the ones in which the best of 1,350 pairs of independent variables in
    /// different trees is beyond .01 over all pairs.
    #[test]
    fn trees_stay_apart_that_a_lucky_pair_would_join() {
        for seed in [18, 102, 1044, 1154, 1192] {
            let drawn = Synth { variables: 15, blocks: 4, seed, ..Synth::default() }.draw().unwrap();
            let spectra = Spectra::of(&drawn.table, &Silent).unwrap();
            assert!(spectra.loose().len() > 56, "seed {seed} has such a pair");
            let blocks: Vec<Vec<usize>> = (0..4).map(|b| (15 * b..15 * (b + 1)).collect()).collect();
            assert_eq!(spectra.components(), blocks, "seed {seed}");
        }
    }

    /// Two trees of four with one weak edge between them: joined where a pair is sure, though not where the strongest pair
    /// alone is asked, and not joined where none is.
    #[test]
    fn sets_are_joined_by_sure_pairs() {
        for (tie, sets) in [(0.3, 1), (0.06, 2)] {
            let category = |v: usize| Variable {
                name: v.to_string(),
                kind: Kind::Category,
                labels: vec!["a".into(), "b".into()],
            };
            let mut table = Table::new((0..8).map(category).collect()).unwrap();
            let mut rng = random::rng(5, 0);
            for _ in 0..4000 {
                let left = rng.random::<bool>();
                let right = if rng.random::<f64>() < tie { left } else { rng.random() };
                let shown = |v: u32, rng: &mut random::Rng| {
                    (if v < 4 { left } else { right }) != (rng.random::<f64>() < 0.1)
                };
                let entries: Vec<(u32, f64)> =
                    (0..8).filter(|&v| shown(v, &mut rng)).map(|v| (v, 1.0)).collect();
                table.push(&entries, &[]);
            }
            let spectra = Spectra::of(&table, &Silent).unwrap();
            assert_eq!(spectra.components().len(), sets, "tie {tie}");
            assert_eq!(spectra.spanning().len(), 8 - sets);
        }
    }
}
