//! Which variables have anything to do with each other.

use super::chi::Critical;
use super::moments::Spectra;

/// The chance that independent variables are joined anywhere.
const ALPHA: f64 = 0.01;

impl Spectra {
    /// Whether pairs are dependent: N Σ_l σ_l² against χ²(d_i d_j), at .01 over the number of pairs (Bonferroni), of which half must
    /// stay whichever block of samples is left out. The last keeps out pairs that a single sample makes, such as one that
    /// has two rare flags together; χ² is no guide there.
    fn dependent(&self) -> impl FnMut(usize, usize) -> bool + '_ {
        let p = self.variables();
        let mut critical = Critical::new(ALPHA / (p * p.saturating_sub(1) / 2).max(1) as f64);
        move |i, j| {
            let least = critical.of(self.width(i) * self.width(j));
            self.samples(i, j) * self.square(i, j) > least && self.least(i, j) > least / 2.0
        }
    }

    /// The strongest tree through each set of variables that hang together: its edges (i, j), i < j, in the order in which
    /// they join. Strength is the first canonical correlation; only pairs that are dependent count.
    ///
    /// # Complexity
    /// The square of the number of variables.
    pub fn spanning(&self) -> Vec<(usize, usize)> {
        let p = self.variables();
        let mut dependent = self.dependent();
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
                let strength = self.values(next, v).first().copied().unwrap_or(0.0);
                if strength > best[v].0 && dependent(next, v) {
                    best[v] = (strength, next);
                }
            }
        }
        edges
    }

    /// The variables in sets that are independent of each other: connected by pairs that are dependent. Sets and their
    /// members are in increasing order; a variable that hangs on no other is alone.
    pub fn components(&self) -> Vec<Vec<usize>> {
        let mut set: Vec<usize> = (0..self.variables()).collect();
        fn root(set: &mut [usize], mut v: usize) -> usize {
            while set[v] != v {
                set[v] = set[set[v]];
                v = set[v];
            }
            v
        }
        for (i, j) in self.spanning() {
            let (a, b) = (root(&mut set, i), root(&mut set, j));
            set[a.max(b)] = a.min(b);
        }
        let mut all: Vec<Vec<usize>> = vec![Vec::new(); self.variables()];
        (0..self.variables()).for_each(|v| all[root(&mut set, v)].push(v));
        all.retain(|members| !members.is_empty());
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::trees::{Kind, Spectra, Table, Variable};
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
}
