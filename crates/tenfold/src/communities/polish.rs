//! Memberships by likelihood, from several starts.

use super::likelihood::{Factors, Pass};
use super::moments::Stars;
use crate::checkpoint::{Keep, Rounds};
use crate::error::Result;
use tenfold_engine::linalg::Tall;
use tenfold_engine::progress::Progress;

/// When a climb ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Iterations after which a start is left as it is.
    pub most: usize,
    /// Σ_c |Δπ_c| of a node, on average, at which memberships have settled.
    pub settled: f64,
}

impl Patience {
    /// For a graph where an iteration costs next to nothing.
    pub const SMALL: Self = Self { most: 200, settled: 5e-4 };

    /// For any other, by entries times communities: from 40 iterations down to 8 where each of them takes seconds.
    pub fn large(work: f64) -> Self {
        Self { most: (MUCH_WORK / work.max(1.0)).clamp(8.0, 40.0) as usize, settled: 2e-3 }
    }
}

/// Entries times communities that the iterations of a large graph may take together.
const MUCH_WORK: f64 = 5e9;

/// Iterations that every start gets before the best goes on alone. After 8 the start of the moments led in graphs where one from
/// clusters was far better in the end.
const TRIAL: usize = 25;

/// Nodes whose memberships are watched for change.
const WATCHED: usize = 20_000;

/// Share of edges that is background before anything is known.
const BACKGROUND: f64 = 0.1;

/// Where the likelihood was climbed to.
pub(super) struct Climbed {
    pub factors: Factors,
    /// Expected numbers of edges of every node in every community; the background in column k.
    pub counts: Pass,
    pub log_likelihood: f64,
    pub iterations: usize,
    pub settled: bool,
}

crate::checkpoint::keep! { Climbed { factors, counts, log_likelihood, iterations, settled } }

/// The best of several starts by likelihood, with the likelihoods of all after the trial.
pub(super) struct Best {
    pub climbed: Climbed,
    pub chosen: usize,
    pub trials: Vec<f64>,
}

crate::checkpoint::keep! { Best { climbed, chosen, trials } }

/// Gives every start some iterations, and the most probable as many as it needs.
pub(super) fn climb_best(
    stars: Stars<'_>,
    starts: &[Tall],
    symmetric: bool,
    patience: Patience,
    progress: &dyn Progress,
) -> Result<Best> {
    let most = patience.most;
    progress.stage("polishing", (starts.len() * TRIAL.min(most) + most) as u64);
    let mut best: Option<(usize, Climb)> = None;
    let mut trials = Vec::new();
    for (i, start) in starts.iter().enumerate() {
        let mut climb = Climb::new(stars, start, symmetric);
        // A single start needs no trial.
        if starts.len() > 1 {
            climb.run(stars, patience, TRIAL.min(most), progress)?;
            trials.push(climb.factors.log_likelihood(stars));
        }
        if best.as_ref().is_none_or(|(b, _)| trials[i] > trials[*b]) {
            best = Some((i, climb));
        }
    }
    let (chosen, mut climb) = best.expect("there is at least one start");
    climb.run(stars, patience, most.saturating_sub(climb.iterations), progress)?;
    climb.spare = None;
    let log_likelihood = climb.factors.log_likelihood(stars);
    let counts = climb.counts.unwrap_or_else(|| climb.factors.expected(stars));
    let (factors, iterations, settled) = (climb.factors, climb.iterations, climb.settled);
    Ok(Best { climbed: Climbed { factors, counts, log_likelihood, iterations, settled }, chosen, trials })
}

/// One start on its way.
struct Climb {
    factors: Factors,
    counts: Option<Pass>,
    /// The matrices of the iteration before, to be written over.
    spare: Option<Pass>,
    strengths: (Vec<f64>, Vec<f64>),
    iterations: usize,
    settled: bool,
}

impl Climb {
    fn new(stars: Stars<'_>, start: &Tall, symmetric: bool) -> Self {
        let factors = Factors::start(stars, start, symmetric, BACKGROUND);
        let strengths = (stars.hubs.strengths(), stars.leaves.strengths());
        Self { factors, counts: None, spare: None, strengths, iterations: 0, settled: false }
    }

    fn run(
        &mut self,
        stars: Stars<'_>,
        patience: Patience,
        iterations: usize,
        progress: &dyn Progress,
    ) -> Result<()> {
        let most = self.iterations + iterations;
        let mut rounds = Rounds::new(progress, "climb");
        if let Some((factors, counts, (iterations, settled))) = rounds.taken::<(Factors, Option<Pass>, _)>()
            && factors.like(&self.factors)
        {
            (self.factors, self.counts, self.spare) = (factors, counts, None);
            (self.iterations, self.settled) = (iterations, settled);
        }
        while self.iterations < most && !self.settled {
            progress.check()?;
            let pass = match self.spare.take() {
                Some(mut pass) => {
                    self.factors.expect(stars, &mut pass);
                    pass
                }
                None => self.factors.expected(stars),
            };
            let k = self.factors.k;
            self.settled = self.counts.as_ref().is_some_and(|old| change(old, &pass, k) < patience.settled);
            self.factors.maximise(&pass, (&self.strengths.0, &self.strengths.1));
            self.spare = self.counts.replace(pass);
            self.iterations += 1;
            progress.advance(1);
            rounds.keep(|parcel| {
                self.factors.put(parcel);
                self.counts.put(parcel);
                (self.iterations, self.settled).put(parcel);
            });
        }
        Ok(())
    }
}

/// Mean over watched nodes of Σ_c |Δπ_c|.
fn change(old: &Pass, new: &Pass, k: usize) -> f64 {
    let rows = new.rows.rows();
    let stride = rows.div_ceil(WATCHED).max(1);
    let (mut total, mut seen) = (0.0, 0.0);
    for u in (0..rows).step_by(stride) {
        let (a, b) = (&old.rows.row(u)[..k], &new.rows.row(u)[..k]);
        let (sa, sb): (f32, f32) = (a.iter().sum(), b.iter().sum());
        if sa > 0.0 && sb > 0.0 {
            total += a.iter().zip(b).map(|(x, y)| f64::from((x / sa - y / sb).abs())).sum::<f64>();
            seen += 1.0;
        }
    }
    total / f64::max(seen, 1.0)
}

/// Memberships from expected numbers of edges: the share of a node's edges inside communities that each explains. A node without
/// any gets the mean of all others.
pub(super) fn memberships(counts: &Tall, k: usize) -> Tall {
    let mut out = Tall::zeros(counts.rows(), k);
    let mut mean = vec![0.0f64; k];
    let width = k.max(1);
    for (u, row) in out.as_mut_slice().chunks_exact_mut(width).enumerate() {
        let own = &counts.row(u)[..k];
        let total: f32 = own.iter().sum();
        if total > 0.0 {
            row.iter_mut().zip(own).for_each(|(x, c)| *x = c / total);
            mean.iter_mut().zip(row.iter()).for_each(|(m, x)| *m += f64::from(*x));
        }
    }
    let total: f64 = mean.iter().sum();
    for (u, row) in out.as_mut_slice().chunks_exact_mut(width).enumerate() {
        if counts.row(u)[..k].iter().sum::<f32>() <= 0.0 {
            let share = |c: usize| if total > 0.0 { mean[c] / total } else { 1.0 / k as f64 };
            row.iter_mut().enumerate().for_each(|(c, x)| *x = share(c) as f32);
        }
    }
    out
}
