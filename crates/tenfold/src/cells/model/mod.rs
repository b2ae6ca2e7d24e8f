//! The learned cell types.

mod diagnostics;
mod infer;
mod stored;
#[cfg(test)]
mod tests;
mod traits;
mod words;

pub use diagnostics::{Diagnostics, StartOutcome};
pub use infer::Posteriors;
pub(super) use stored::params_json;
pub(super) use traits::traits;
pub use traits::{Feature, Trait};

use super::features::Bins;
use super::picture::Picture;
use crate::verdict::Verdict;
use serde_json::Value;
use tenfold_engine::linalg::Mat;

/// Cell types: what genes they express, what their cells look like, and how many there are.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(super) profiles: Mat,
    pub(super) memberships: Mat,
    pub(super) weights: Vec<f64>,
    pub(super) totals: Vec<f64>,
    pub(super) genes: Vec<String>,
    pub(super) frequencies: Vec<f64>,
    pub(super) bins: Option<Bins>,
    pub(super) traits: Vec<Vec<Trait>>,
    pub(super) picture: Picture,
    pub(super) params: Value,
    pub(super) diagnostics: Diagnostics,
    pub(super) verdict: Verdict,
}

/// A gene that a type expresses more than the others do.
#[derive(Debug, Clone, PartialEq)]
pub struct Marker {
    /// Its place among the genes.
    pub gene: usize,
    /// Its share of the type's profile.
    pub share: f64,
    /// That share over the gene's share in the mean profile of all types.
    pub lift: f64,
}

impl Model {
    /// How many types there are.
    pub fn k(&self) -> usize {
        self.profiles.rows()
    }

    /// β: types × genes, rows sum to 1, the heaviest type first.
    pub fn profiles(&self) -> &Mat {
        &self.profiles
    }

    /// h: bins (or rows of the counts) × types, rows sum to 1.
    pub fn memberships(&self) -> &Mat {
        &self.memberships
    }

    /// The share of every type among all cells.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Cells of every bin (or row of the counts) of the fit.
    pub fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// The names of the genes.
    pub fn genes(&self) -> &[String] {
        &self.genes
    }

    /// The share of every gene among the cells of the fit.
    pub fn frequencies(&self) -> &[f64] {
        &self.frequencies
    }

    /// The bins; none for a model of plain counts.
    pub fn bins(&self) -> Option<&Bins> {
        self.bins.as_ref()
    }

    /// What the cells of every type look like, one list a type; empty for a model of plain counts.
    pub fn traits(&self) -> &[Vec<Trait>] {
        &self.traits
    }

    /// Cells of a few images, to look at; empty for a model of plain counts.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// P(bin | type), types × bins: what the thesis calls a type's point process histogram.
    pub fn histograms(&self) -> Mat {
        let mut all = self.memberships.transpose();
        for t in 0..all.rows() {
            let row = all.row_mut(t);
            row.iter_mut().zip(&self.totals).for_each(|(h, l)| *h *= l);
            let sum = row.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            row.iter_mut().for_each(|h| *h /= sum);
        }
        all
    }

    /// The genes of a type with the largest lift over the mean profile, among those that have at least the share that all genes
    /// would have if they were alike; the largest lift first.
    ///
    /// # Panics
    /// When there is no such type.
    pub fn markers(&self, t: usize, most: usize) -> Vec<Marker> {
        let k = self.k() as f64;
        let mean = |g: usize| (0..self.k()).map(|s| self.profiles[(s, g)]).sum::<f64>() / k;
        let even = 1.0 / self.genes.len() as f64;
        let row = self.profiles.row(t).iter().enumerate();
        let mut all: Vec<Marker> = row
            .filter(|(_, share)| **share >= even)
            .map(|(gene, &share)| Marker { gene, share, lift: share / mean(gene).max(f64::MIN_POSITIVE) })
            .collect();
        all.sort_by(|a, b| {
            b.lift.total_cmp(&a.lift).then(b.share.total_cmp(&a.share)).then(a.gene.cmp(&b.gene))
        });
        all.truncate(most);
        all
    }

    /// How the fit went.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// What the fit says about itself.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The choices of the fit.
    pub fn params(&self) -> &Value {
        &self.params
    }
}
