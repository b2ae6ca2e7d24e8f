//! Motifs in wrong places: take some out, look at what is left of the moments, and fit again; or move one in its support.

use super::super::extent::Extent;
use super::super::moments::Target;
use super::joint::{Fitted, Joint};
use super::subspace::Subspaces;
use super::{FINAL, Learner, POWER};
use crate::checkpoint::{Keep, Rounds, within};
use crate::error::Result;
use rayon::prelude::*;
use tenfold_engine::linalg::{CMat, Descent};

/// A trial is followed far enough to tell whether it will win.
const TRIAL: Descent = Descent { max_iterations: 60, tolerance: 1e-6 };

/// A moved motif falls into its place in a few steps, or never.
const NUDGE: Descent = Descent { max_iterations: 20, tolerance: 1e-6 };

/// A trial must lower the objective by this share to be taken.
const GAIN: f64 = 1e-4;

/// Rounds at most; each must have brought a gain.
const ROUNDS: usize = 8;

/// Moves that are taken in one round.
const NUDGES: usize = 10;

impl Learner<'_> {
    /// Tries to move and to replace every motif, then to replace pairs, and keeps what lowers the objective.
    pub(super) fn repair(&self, joint: &Joint, mut fitted: Fitted) -> Result<Fitted> {
        let count = fitted.filters.len();
        let (mut idle, mut done) = (0, 0);
        let mut rounds = Rounds::new(self.progress, "repair");
        if let Some(((rounds, idly), known)) = rounds.taken::<((usize, usize), Fitted)>()
            && known.filters.len() == count
        {
            (done, idle, fitted) = (rounds, idly, known);
        }
        for round in done..ROUNDS {
            self.progress.check()?;
            rounds.keep(|parcel| {
                (round, idle).put(parcel);
                fitted.put(parcel);
            });
            let before = fitted.objective;
            let progress = &within(self.progress, &format!("repair {round}"));
            fitted = Learner { progress, ..*self }.nudge(joint, fitted)?;
            let drops: Vec<Vec<usize>> = match idle {
                0 => (0..count).map(|l| vec![l]).collect(),
                gap => (0..count).map(|l| vec![l, (l + gap) % count]).filter(|d| d[0] != d[1]).collect(),
            };
            let trials = drops
                .par_iter()
                .enumerate()
                .map(|(number, drop)| self.trial(joint, &fitted, drop, (round * 1000 + number) as u64))
                .collect::<Result<Vec<Fitted>>>()?;
            let best = trials.into_iter().min_by(|a, b| a.objective.total_cmp(&b.objective));
            if let Some(best) = best.filter(|best| best.objective < fitted.objective * (1.0 - GAIN)) {
                fitted = joint.refine(&best.filters, FINAL);
            }
            // Pairs are tried only when single motifs bring nothing more.
            idle = if fitted.objective < before * (1.0 - GAIN) { 0 } else { idle + 1 };
            if idle > 1 || count < 3 && idle > 0 {
                break;
            }
        }
        Ok(fitted)
    }

    /// Moves motifs within their support: a descent cannot, since in between they fit nothing.
    fn nudge(&self, joint: &Joint, mut fitted: Fitted) -> Result<Fitted> {
        let moves = moves(self.support, self.target.pairs.lattice.period);
        let mut rounds = Rounds::new(self.progress, "nudges");
        let mut done = 0;
        if let Some((nudges, known)) = rounds.taken::<(usize, Fitted)>()
            && known.filters.len() == fitted.filters.len()
        {
            (done, fitted) = (nudges, known);
        }
        for nudge in done..NUDGES {
            self.progress.check()?;
            rounds.keep(|parcel| {
                nudge.put(parcel);
                fitted.put(parcel);
            });
            let trials = (0..fitted.filters.len() * moves.len())
                .into_par_iter()
                .map(|number| {
                    self.progress.check()?;
                    let mut filters = fitted.filters.clone();
                    let filter = &mut filters[number / moves.len()];
                    *filter = moved(filter, self.support, moves[number % moves.len()]);
                    Ok(joint.refine(&filters, NUDGE))
                })
                .collect::<Result<Vec<Fitted>>>()?;
            let best = trials.into_iter().min_by(|a, b| a.objective.total_cmp(&b.objective));
            match best.filter(|best| best.objective < fitted.objective * (1.0 - GAIN)) {
                Some(best) => fitted = joint.refine(&best.filters, FINAL),
                None => break,
            }
        }
        Ok(fitted)
    }

    /// The fit after `drop` has been sought anew in what the others leave.
    fn trial(&self, joint: &Joint, fitted: &Fitted, drop: &[usize], stream: u64) -> Result<Fitted> {
        self.progress.check()?;
        let kept: Vec<usize> = (0..fitted.filters.len()).filter(|l| !drop.contains(l)).collect();
        let mut filters: Vec<Vec<f64>> = kept.iter().map(|&l| fitted.filters[l].clone()).collect();
        let rest = self.residual(joint, &joint.describe(filters.clone(), true));
        let mut spaces = Subspaces::leading(&self.target.pairs, &rest, drop.len())?;
        for number in 0..drop.len() {
            let starts =
                spaces.starts(self.starts.div_ceil(2), self.seed, 7_000 + 10 * stream + number as u64);
            let best = super::best(spaces.ascend(starts, POWER, self.progress)?);
            if number + 1 < drop.len() {
                spaces = spaces.without(&best.filter)?;
            }
            filters.push(self.unwhitened(&best));
        }
        Ok(joint.refine(&filters, TRIAL))
    }

    /// M_ω − Σ κ_l u_l u_lᴴ.
    fn residual(&self, joint: &Joint, fitted: &Fitted) -> Vec<CMat> {
        let Target { pairs, fourth, .. } = self.target;
        let x: Vec<f64> = fitted.filters.iter().flatten().copied().collect();
        let spectra = joint.spectra(&x, fitted.filters.len());
        pairs
            .sums
            .iter()
            .zip(fourth)
            .map(|(sum, block)| {
                let mut rest = block.clone();
                for (spectrum, kappa) in spectra.iter().zip(&fitted.fourth) {
                    let u: Vec<_> = sum.products(spectrum).collect();
                    for i in 0..sum.len() {
                        for (value, other) in rest.row_mut(i).iter_mut().zip(&u) {
                            *value -= u[i] * other.conj() * kappa;
                        }
                    }
                }
                rest
            })
            .collect()
    }
}

/// The moves that are tried: one and two samples and an eighth of the support, each way; none along a side that is a
/// whole circle, where a move changes nothing.
fn moves(support: Extent, period: Extent) -> Vec<(i64, i64)> {
    let along = |support: usize, period: usize| -> Vec<i64> {
        if support == period || support < 2 {
            return Vec::new();
        }
        let mut steps = vec![1, 2, support as i64 / 8];
        steps.retain(|&step| step > 0 && (step as usize) < support);
        steps.sort_unstable();
        steps.dedup();
        steps.into_iter().flat_map(|step| [-step, step]).collect()
    };
    let rows = along(support.rows, period.rows).into_iter().map(|row| (row, 0));
    rows.chain(along(support.columns, period.columns).into_iter().map(|column| (0, column))).collect()
}

/// A motif moved in its support; what leaves is lost.
fn moved(filter: &[f64], support: Extent, (rows, columns): (i64, i64)) -> Vec<f64> {
    let mut out = vec![0.0; filter.len()];
    let inside = |at: i64, size: usize| (0..size as i64).contains(&at);
    for (channel, target) in filter.chunks_exact(support.len()).zip(out.chunks_exact_mut(support.len())) {
        for (at, &value) in channel.iter().enumerate() {
            let row = (at / support.columns) as i64 + rows;
            let column = (at % support.columns) as i64 + columns;
            if inside(row, support.rows) && inside(column, support.columns) {
                target[row as usize * support.columns + column as usize] = value;
            }
        }
    }
    out
}
