//! How many states hidden variables have, by how many canonical correlations are more than chance.

use super::chi::Critical;
use super::moments::Spectra;

/// What is left must exceed chance by so many standard deviations, pooled over pairs, for another state.
const POOLED: f64 = 4.0;

/// A rank that was tested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankStep {
    /// Pairs that could have a higher rank.
    pub pairs: usize,
    /// By how many standard deviations what they have beyond this rank exceeds chance, pooled.
    pub z: f64,
    /// The share of them that have something beyond this rank, estimated.
    pub share: f64,
}

/// The rank of the dependence between variables, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    /// r: canonical correlations that are more than chance. Hidden variables have k = r + 1 states, because features are
    /// centred.
    pub rank: usize,
    /// The test of each rank from 0 to the one that was taken, and of that one unless no pair could have more.
    pub steps: Vec<RankStep>,
}

impl Rank {
    /// k = r + 1: the states of hidden variables.
    pub fn states(&self) -> usize {
        self.rank + 1
    }
}

impl Spectra {
    /// The rank of the whole: [`Spectra::rank_of`] the pairs of the strongest tree.
    pub fn rank(&self) -> Rank {
        self.rank_of(&self.spanning())
    }

    /// The rank that more than half of some pairs have.
    ///
    /// For pairs of rank r, T_r = N Σ_{l>r} σ_l² is about χ² with (d_i − r)(d_j − r) degrees of freedom (Bartlett). The rank is the
    /// first r at which ΣT_r exceeds its degrees of freedom by no more than four standard deviations, or at which no more
    /// than half of the pairs have anything left. That share is 1 − 2·(share of pairs below the median of χ²): pairs of
    /// rank r fall below it half of the time (Storey), others hardly ever. Pooling alone would give the largest rank of any pair.
    /// Pairs too narrow for more than r are no witnesses; when they are more than half of all, the rank ends there.
    ///
    /// # References
    /// Bartlett 1941, The statistical significance of canonical correlations; Storey 2002, A direct approach to false
    /// discovery rates.
    pub fn rank_of(&self, pairs: &[(usize, usize)]) -> Rank {
        let mut median = Critical::new(0.5);
        let mut found = Rank { rank: 0, steps: Vec::new() };
        loop {
            let r = found.rank;
            let able: Vec<(usize, usize)> = pairs
                .iter()
                .copied()
                .filter(|&(i, j)| self.width(i).min(self.width(j)) > r && self.values(i, j).len() > r)
                .collect();
            if able.is_empty() || 2 * able.len() < pairs.len() {
                return found;
            }
            let (mut sum, mut degrees, mut below) = (0.0, 0, 0);
            for &(i, j) in &able {
                let own = (self.width(i) - r) * (self.width(j) - r);
                let leading: f64 = self.values(i, j)[..r].iter().map(|x| x * x).sum();
                let rest = self.samples(i, j) * (self.square(i, j) - leading).max(0.0);
                sum += rest;
                degrees += own;
                below += usize::from(rest < median.of(own));
            }
            let z = (sum - degrees as f64) / (2.0 * degrees as f64).sqrt();
            let share = 1.0 - 2.0 * below as f64 / able.len() as f64;
            found.steps.push(RankStep { pairs: able.len(), z, share });
            if z <= POOLED || share <= 0.5 {
                return found;
            }
            found.rank += 1;
        }
    }
}
