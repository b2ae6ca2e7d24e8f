//! Exact inference by belief propagation, with any of the variables missing.

mod likelihood;
mod most_probable;
mod sweep;
#[cfg(test)]
mod tests;

pub(super) use likelihood::LEAST;
pub use most_probable::MostProbable;
pub(super) use sweep::{Block, Outside, Sweeper};

use super::data::{Kind, Table, Variable};
use super::network::Network;
use crate::error::{Error, Result, check_range};
use std::ops::Range;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::fill_rows;
use tenfold_engine::progress::Progress;

/// What is known about samples once all that was observed is taken into account.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// log P(observed) of every sample, in nats.
    pub log_likelihood: Vec<f64>,
    /// P(state | observed) for every node: samples × states.
    pub nodes: Vec<Mat>,
}

/// A variable as a network expects it: means and variances of its features.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// E[feature | observed], samples × features: probabilities of all levels but the first, of flags, or expected numbers.
    pub mean: Mat,
    /// The variance of the features of a real variable; empty for the other kinds.
    pub variance: Mat,
}

impl Network {
    /// Checks that this network is over these variables and that its parts fit each other.
    ///
    /// # Errors
    /// When they do not.
    pub fn check(&self, variables: &[Variable]) -> Result<()> {
        if self.emissions.len() != variables.len() {
            return Err(Error::WrongShape {
                what: "variables",
                found: variables.len(),
                expected: self.emissions.len(),
            });
        }
        let unfit = |problem: String| {
            Err(Error::Unfit { problem, remedy: "give the network and the variables of one fit".into() })
        };
        for (n, node) in self.nodes.iter().enumerate() {
            let above = match node.parent {
                None => 1,
                Some(parent) if parent < n => self.nodes[parent].states(),
                Some(parent) => return unfit(format!("node {n} stands before its parent {parent}")),
            };
            if node.states() == 0 || node.table.cols() != above {
                return unfit(format!("the table of node {n} is {} × {}", node.states(), node.table.cols()));
            }
        }
        for (emission, variable) in self.emissions.iter().zip(variables) {
            let wide = if variable.kind == Kind::Real { variable.width() } else { 0 };
            let fits = self.nodes.get(emission.node).is_some_and(|n| n.states() == emission.mean.cols());
            if !fits || emission.mean.rows() != variable.width() || emission.variance.len() != wide {
                return unfit(format!("the emission of {} has another shape", variable.name));
            }
        }
        Ok(())
    }

    /// log P(observed) of every sample, in nats; missing variables are summed out.
    ///
    /// # Complexity
    /// O(samples · Σ states · states of the parent), plus the entries that are not 0.
    ///
    /// # Errors
    /// When the table is of other variables; when the caller wants to stop.
    ///
    /// # Example
    /// ```
    /// use tenfold::engine::progress::Silent;
    /// use tenfold::trees::Synth;
    /// let drawn = Synth { samples: 50, ..Synth::default() }.draw()?;
    /// let logs = drawn.network.log_likelihood(&drawn.table, &Silent)?;
    /// assert!(logs.len() == 50 && logs.iter().all(|l| *l < 0.0));
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn log_likelihood(&self, table: &Table, progress: &dyn Progress) -> Result<Vec<f64>> {
        self.check(table.variables())?;
        let rows: Vec<u32> = (0..table.samples() as u32).collect();
        let sweeper = Sweeper::new(self, table.variables(), &[], table.samples());
        let logs = log_likelihoods(&sweeper, table, &rows, progress)?;
        // An impossible sample has −∞.
        check_range("log-likelihoods", logs.iter().copied().filter(|log| *log != f64::NEG_INFINITY))?;
        Ok(logs)
    }

    /// Posteriors of all hidden nodes for some of the samples.
    ///
    /// # Errors
    /// When the table is of other variables.
    ///
    /// # Example
    /// ```
    /// use tenfold::trees::Synth;
    /// let drawn = Synth { samples: 50, ..Synth::default() }.draw()?;
    /// let posterior = drawn.network.posterior(&drawn.table, 10..20)?;
    /// assert!((posterior.nodes[0].row(3).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn posterior(&self, table: &Table, samples: Range<usize>) -> Result<Posterior> {
        self.check(table.variables())?;
        let sweeper = Sweeper::new(self, table.variables(), &[], table.samples());
        let (count, states) = (samples.len(), sweeper.offsets[self.nodes.len()]);
        let mut all = vec![0.0; count * (states + 1)];
        fill_rows(&mut all, states + 1, |range, out| {
            let mut block = Block::default();
            let step = sweeper.block();
            for (chunk, out) in range.clone().step_by(step).zip(out.chunks_mut(step * (states + 1))) {
                let end = (chunk + step).min(range.end);
                let rows: Vec<u32> = (chunk..end).map(|i| (samples.start + i) as u32).collect();
                sweeper.observe(table, &rows, &mut block);
                sweeper.up(&mut block);
                sweeper.down(&mut block, |_, _, _| {});
                for (i, row) in out.chunks_mut(states + 1).enumerate() {
                    row[states] = block.log_likelihood[i];
                    (0..states).for_each(|s| row[s] = block.posterior[s * block.r + i]);
                }
            }
        });
        // Where a sample is impossible its likelihood is 0, and the logarithm of that no number; no posterior is beyond the range.
        all.chunks_exact(states + 1).try_for_each(|row| {
            check_range("probabilities of hidden states", row[..states].iter().copied())
        })?;
        let part = |n: usize| {
            let (from, k) = (sweeper.offsets[n], self.nodes[n].states());
            Mat::from_fn(count, k, |i, s| all[i * (states + 1) + from + s])
        };
        Ok(Posterior {
            log_likelihood: (0..count).map(|i| all[i * (states + 1) + states]).collect(),
            nodes: (0..self.nodes.len()).map(part).collect(),
        })
    }

    /// What the posterior of its node expects of a variable. Where the variable was missing this is its posterior: the
    /// probabilities of levels and flags, expected counts, mean and variance σ² + Var_s(μ_s) of reals.
    pub fn expected(&self, v: usize, posterior: &Posterior) -> Expected {
        let emission = &self.emissions[v];
        let weights = &posterior.nodes[emission.node];
        let mean = weights.matmul_tr(&emission.mean);
        let squares = weights.matmul_tr(&emission.mean.map(|m| m * m));
        let width = emission.variance.len();
        let variance = Mat::from_fn(mean.rows(), width, |i, f| {
            emission.variance[f] + (squares[(i, f)] - mean[(i, f)].powi(2)).max(0.0)
        });
        Expected { mean, variance }
    }
}

/// log P(observed) of the samples `rows`.
pub(super) fn log_likelihoods(
    sweeper: &Sweeper<'_>,
    table: &Table,
    rows: &[u32],
    progress: &dyn Progress,
) -> Result<Vec<f64>> {
    let mut out = vec![0.0; rows.len()];
    fill_rows(&mut out, 1, |range, out| {
        let mut block = Block::default();
        let step = sweeper.block();
        for (rows, out) in rows[range].chunks(step).zip(out.chunks_mut(step)) {
            if !progress.stopped() {
                sweeper.observe(table, rows, &mut block);
                sweeper.up(&mut block);
                out.copy_from_slice(&block.log_likelihood);
            }
        }
    });
    progress.check()?;
    Ok(out)
}
