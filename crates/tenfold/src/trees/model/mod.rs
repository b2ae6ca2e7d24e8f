//! The learned tree.

mod infer;
pub(super) mod stored;
mod words;

pub use infer::Inference;

use super::belief::{Expected, Posterior};
use super::data::{Table, Variable};
use super::network::Network;
use super::picture::{HeldOut, Picture};
use super::tree::Tree;
use crate::error::{Error, Result};
use crate::report::Page;
use crate::verdict::Verdict;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use tenfold_engine::progress::Progress;

/// How a fit went.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostics {
    /// Samples of the fit.
    pub samples: usize,
    /// Samples in which each variable was observed; empty where all were.
    pub seen: Vec<usize>,
    /// k, the states of hidden nodes.
    pub states: usize,
    /// How the structure was found.
    pub method: String,
    /// Short edges that were contracted by the likelihood.
    pub contracted: usize,
    /// Sweeps of expectation maximisation.
    pub sweeps: usize,
    /// Whether the likelihood had come to rest.
    pub converged: bool,
    /// Mean log-likelihood of a sample of the fit, in nats.
    pub log_likelihood: f64,
    /// The same for samples that were held out, beside trees without hidden nodes.
    pub held_out: Option<HeldOut>,
    /// Resampled tables behind the support.
    pub bootstrap: usize,
}

/// A tree of hidden variables above observed ones, with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(super) variables: Vec<Variable>,
    pub(super) tree: Tree,
    pub(super) network: Network,
    pub(super) support: BTreeMap<(usize, usize), f64>,
    pub(super) errors: BTreeMap<(usize, usize), f64>,
    pub(super) clusters: Vec<usize>,
    pub(super) params: Value,
    pub(super) diagnostics: Diagnostics,
    pub(super) verdict: Verdict,
}

impl Model {
    /// The observed variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The tree; lengths are −log of canonical correlations, summed over the states but one.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Its parameters.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The share of resampled tables whose tree has the split of this edge.
    pub fn support(&self, a: usize, b: usize) -> Option<f64> {
        self.support.get(&(a.min(b), a.max(b))).copied()
    }

    /// The group of every variable, cut from the tree.
    pub fn clusters(&self) -> &[usize] {
        &self.clusters
    }

    /// How the fit went.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// What the fit says about itself.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// What pages and exported files are made from; with `min_cell` nothing is told that stands for fewer samples.
    pub fn picture(&self, min_cell: Option<u64>) -> Picture<'_> {
        Picture {
            variables: &self.variables,
            tree: &self.tree,
            network: &self.network,
            support: &self.support,
            errors: &self.errors,
            samples: self.diagnostics.samples,
            seen: &self.diagnostics.seen,
            clusters: &self.clusters,
            held_out: self.diagnostics.held_out,
            min_cell,
        }
    }

    /// A page about the tree.
    pub fn report(&self) -> Page {
        self.picture(None).page()
    }

    /// Checks that a table has the variables of the fit, in their order and with their levels.
    ///
    /// # Errors
    /// [`Error::Unfit`], which names the first that differs.
    pub fn check(&self, table: &Table) -> Result<()> {
        let found = table.variables();
        if found.len() != self.variables.len() {
            return Err(Error::WrongShape {
                what: "variables",
                found: found.len(),
                expected: self.variables.len(),
            });
        }
        match found.iter().zip(&self.variables).find(|(a, b)| a != b) {
            None => Ok(()),
            Some((found, own)) => Err(Error::Unfit {
                problem: format!("the variable {} is not the fit's {}", found.name, own.name),
                remedy: "bring the table to the model's variables (`Table::conform`)".into(),
            }),
        }
    }

    /// Posteriors of the hidden nodes for some samples, with whatever is observed of them.
    ///
    /// # Errors
    /// When the table has other variables.
    pub fn posterior(&self, table: &Table, samples: Range<usize>) -> Result<Posterior> {
        self.check(table)?;
        self.network.posterior(table, samples)
    }

    /// What is expected of a variable, given what is observed: see [`Network::expected`].
    pub fn expected(&self, variable: usize, posterior: &Posterior) -> Expected {
        self.network.expected(variable, posterior)
    }

    /// log P of every sample, in nats.
    ///
    /// # Errors
    /// When the table has other variables, or the caller stops.
    pub fn log_likelihood(&self, table: &Table, progress: &dyn Progress) -> Result<Vec<f64>> {
        self.check(table)?;
        self.network.log_likelihood(table, progress)
    }
}
