//! From cumulants to motifs.

mod als;
mod joint;
mod repair;
mod shifts;
mod subspace;

use super::extent::Extent;
use super::filters::Filters;
use super::moments::{Lattice, Target};
use crate::checkpoint::stage;
use crate::error::Result;
use joint::{Fitted, Joint};
use shifts::into_support;
pub(super) use shifts::likeness;
use subspace::{Ascent, Found, Subspaces};
use tenfold_engine::linalg::Descent;
use tenfold_engine::progress::Progress;

/// What is sought, and with how much effort.
pub(crate) struct Learner<'a> {
    pub target: &'a Target,
    /// Motifs are zero outside.
    pub support: Extent,
    /// Whether the third and the fourth order are fitted.
    pub orders: [bool; 2],
    /// Random starts for every motif.
    pub starts: usize,
    pub seed: u64,
    pub progress: &'a dyn Progress,
}

/// Motifs that were learned.
#[derive(Debug, Clone)]
pub(crate) struct Learned {
    /// Unit norm, within the support, channel after channel.
    pub filters: Vec<Vec<f64>>,
    /// λ_l and κ_l of the activations.
    pub third: Vec<f64>,
    pub fourth: Vec<f64>,
    /// Squared distance of model and moments, in units of the moments' noise, averaged over the orders: 1 when all is told.
    pub misfit: f64,
    /// φ of the starts the motifs came from, before the joint fit.
    pub certificates: Vec<f64>,
    /// Share of the random starts that ended at a motif of the result.
    pub agreement: f64,
    pub converged: bool,
}

crate::checkpoint::keep! { Learned { filters, third, fourth, misfit, certificates, agreement, converged } }

/// Two waveforms that are more alike than this, at any shift, are taken for the same one while candidates are gathered.
const SAME: f64 = 0.7;

/// Steps of the power method, and of the descents before and after the choice of candidates.
const POWER: Ascent = Ascent { iterations: 200, tolerance: 1e-5 };
const FIRST: Descent = Descent { max_iterations: 100, tolerance: 1e-6 };
const FINAL: Descent = Descent { max_iterations: 400, tolerance: 1e-9 };

impl Learner<'_> {
    /// Learns `count` motifs.
    pub fn learn(&self, count: usize) -> Result<Learned> {
        let joint = self.joint();
        let spaces = Subspaces::leading(&self.target.pairs, &self.target.fourth, count)?;
        let (candidates, free) = stage(self.progress, "candidates", |progress| {
            Learner { progress, ..*self }.candidates(&spaces, count)
        })?;
        let certificates: Vec<f64> = candidates.iter().map(|found| found.certificate).collect();
        let pool: Vec<Vec<f64>> = candidates.iter().map(|found| self.unwhitened(found)).collect();
        self.progress.check()?;
        let mut fitted = stage(self.progress, "joint fit", |progress| {
            let mut fitted = joint.refine(&pool, FIRST);
            while fitted.filters.len() > count {
                progress.check()?;
                fitted = self.pruned(&joint, &fitted);
            }
            Ok(joint.refine(&fitted.filters, FINAL))
        })?;
        fitted = self.repair(&joint, fitted)?;
        let arrived = free
            .iter()
            .filter(|found| {
                let filter = self.unwhitened(found);
                let closed = self.support == self.target.pairs.lattice.period;
                let like = |own: &Vec<f64>| likeness(own, &filter, self.channels(), self.support, closed);
                fitted.filters.iter().any(|own| like(own) > 0.9)
            })
            .count();
        Ok(Learned {
            misfit: fitted.objective / self.shares().iter().sum::<f64>(),
            filters: fitted.filters,
            third: fitted.third,
            fourth: fitted.fourth,
            certificates,
            agreement: arrived as f64 / free.len().max(1) as f64,
            converged: fitted.converged,
        })
    }

    /// How motifs that somebody else found fit the cumulants.
    pub fn described(&self, filters: Vec<Vec<f64>>) -> Learned {
        let fitted = self.joint().describe(filters, true);
        Learned {
            misfit: fitted.objective / self.shares().iter().sum::<f64>(),
            filters: fitted.filters,
            third: fitted.third,
            fourth: fitted.fourth,
            certificates: Vec::new(),
            agreement: 1.0,
            converged: true,
        }
    }

    /// Motifs over whole windows, cut to the support where they have most energy.
    pub fn within_support(&self, filters: &Filters) -> Learned {
        let lattice = Lattice { period: filters.extent, channels: filters.channels };
        let flat = vec![1.0; lattice.variables()];
        let cut = |l: usize| into_support(filters.motif(l), &flat, lattice, self.support);
        self.described((0..filters.count()).map(cut).collect())
    }

    fn channels(&self) -> usize {
        self.target.pairs.lattice.channels
    }

    fn joint(&self) -> Joint<'_> {
        let [third, fourth] = self.shares();
        let [noise3, noise4] = self.target.noise;
        let weights = [third / noise3.max(1e-300), fourth / noise4.max(1e-300)];
        Joint { target: self.target, support: self.support, weights }
    }

    /// How much each order counts. A least-squares fit weighs numbers by their variance: the noise of an order over how
    /// many numbers it has. m taps have about m²/2 different lags of order three and m³/6 of order four.
    fn shares(&self) -> [f64; 2] {
        let third = match self.orders {
            [true, true] => 3.0 / (self.support.len().max(3)) as f64,
            _ => 1.0,
        };
        [if self.orders[0] { third } else { 0.0 }, if self.orders[1] { 1.0 } else { 0.0 }]
    }

    /// Candidates for the motifs: those found one after the other, each without those before it, and those that many
    /// starts end at without that. Also all of these last ones.
    fn candidates(&self, spaces: &Subspaces, count: usize) -> Result<(Vec<Found>, Vec<Found>)> {
        let mut found: Vec<Found> = Vec::new();
        let mut rest = spaces.clone();
        for number in 0..count {
            self.progress.check()?;
            let starts = rest.starts(self.starts, self.seed, 100 + number as u64);
            let best = best(rest.ascend(starts, POWER, self.progress)?);
            if number + 1 < count {
                rest = rest.without(&best.filter)?;
            }
            // Taking others away has moved it; the whole spaces move it back.
            let polished = spaces.ascend(vec![best.filter.clone()], POWER, self.progress)?.remove(0);
            let known = |f: &Found| found.iter().any(|other| self.alike(other, f) > 0.9);
            found.push(if known(&polished) { best } else { polished });
        }
        let starts = spaces.starts((3 * self.starts).max(6 * count), self.seed, 99);
        let mut free = spaces.ascend(starts, POWER, self.progress)?;
        free.sort_by(|a, b| b.certificate.total_cmp(&a.certificate));
        let mut pool: Vec<Found> = Vec::new();
        for candidate in found.iter().chain(&free) {
            if pool.len() < count + count.min(4)
                && pool.iter().all(|other| self.alike(other, candidate) < SAME)
            {
                pool.push(candidate.clone());
            }
        }
        // Motifs may be more alike than the limit: then those that were found one after the other stand in.
        for candidate in &found {
            if pool.len() < count && pool.iter().all(|other| self.alike(other, candidate) < 0.999) {
                pool.push(candidate.clone());
            }
        }
        Ok((pool, free))
    }

    fn alike(&self, a: &Found, b: &Found) -> f64 {
        likeness(&a.filter, &b.filter, self.channels(), self.target.pairs.lattice.period, true)
    }

    /// A candidate over one period, its whitening undone, moved into the support where it has most energy.
    fn unwhitened(&self, found: &Found) -> Vec<f64> {
        into_support(&found.filter, &self.target.scale, self.target.pairs.lattice, self.support)
    }

    /// The fit without the motif that is missed least.
    fn pruned(&self, joint: &Joint, fitted: &Fitted) -> Fitted {
        let without = |l: usize| {
            let mut filters = fitted.filters.clone();
            filters.remove(l);
            joint.describe(filters, true)
        };
        let least = (0..fitted.filters.len())
            .map(without)
            .min_by(|a, b| a.objective.total_cmp(&b.objective))
            .expect("there is a motif to leave out");
        joint.refine(&least.filters, FIRST)
    }
}

fn best(found: Vec<Found>) -> Found {
    found.into_iter().max_by(|a, b| a.certificate.total_cmp(&b.certificate)).expect("there is a start")
}
