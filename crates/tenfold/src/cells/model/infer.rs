//! What a model says of new cells.

use super::Model;
use crate::cells::counts::GeneCounts;
use crate::cells::data::Tissue;
use crate::cells::estimate;
use crate::cells::features::mean_neighbours;
use crate::error::{Error, Result, check_range};
use rayon::prelude::*;
use std::collections::HashMap;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::{Progress, Silent};

/// The types of cells, as probabilities.
#[derive(Debug, Clone, PartialEq)]
pub struct Posteriors {
    /// Cells × types for every section, in its order; rows sum to 1.
    pub sections: Vec<Mat>,
    /// Genes that the model does not know: their cells are judged by their features alone.
    pub unknown: Vec<String>,
    /// Cells that lack a feature: they are judged by their gene alone.
    pub missing: usize,
}

impl Model {
    /// The types of all cells of a tissue: for a cell in bin m of an image of gene g,
    ///
    ///   P(t | m, g) ∝ h_mt β_tg.
    ///
    /// # Errors
    /// [`Error::Unfit`] for a model of plain counts, which has no bins; what the listener says.
    pub fn infer(&self, tissue: &Tissue) -> Result<Posteriors> {
        self.infer_with(tissue, &Silent)
    }

    /// [`Model::infer`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Model::infer`].
    pub fn infer_with(&self, tissue: &Tissue, progress: &dyn Progress) -> Result<Posteriors> {
        let Some(bins) = &self.bins else {
            return Err(Error::Unfit {
                problem: "the model was learned from plain counts and knows no features of cells".into(),
                remedy: "fit a model to cells with their features, or ask for the mixtures of counts".into(),
            });
        };
        let places: HashMap<&str, usize> =
            self.genes.iter().enumerate().map(|(i, g)| (g.as_str(), i)).collect();
        progress.stage("telling cells apart", tissue.sections.len() as u64);
        let found: Vec<(Mat, usize)> = tissue
            .sections
            .par_iter()
            .map(|section| {
                progress.check()?;
                let gene = places.get(section.gene.as_str()).copied();
                let (mean, mut missing) = (mean_neighbours(&section.cells), 0);
                let mut all = Mat::zeros(section.cells.len(), self.k());
                for (i, cell) in section.cells.iter().enumerate() {
                    let bin = bins.place(cell, mean);
                    missing += usize::from(bin.is_none());
                    self.posterior(bin, gene, all.row_mut(i));
                }
                progress.advance(1);
                Ok((all, missing))
            })
            .collect::<Result<_>>()?;
        let unknown = tissue.genes().into_iter().filter(|g| !places.contains_key(g.as_str())).collect();
        let missing = found.iter().map(|(_, n)| n).sum();
        Ok(Posteriors { sections: found.into_iter().map(|(m, _)| m).collect(), unknown, missing })
    }

    /// P(t | m, g) with whatever is known of bin and gene.
    pub(in crate::cells) fn posterior(&self, bin: Option<usize>, gene: Option<usize>, out: &mut [f64]) {
        let prior = bin.map_or(self.weights.as_slice(), |bin| self.memberships.row(bin));
        for (t, x) in out.iter_mut().enumerate() {
            *x = prior[t] * gene.map_or(1.0, |g| self.profiles[(t, g)]);
        }
        let sum: f64 = out.iter().sum();
        if sum > 0.0 {
            out.iter_mut().for_each(|x| *x /= sum);
        } else {
            // The bin and the gene contradict each other: the bin was seen, the gene's share may be a rounded zero.
            out.copy_from_slice(prior);
        }
    }

    /// The mixtures of types in rows of counts, such as the transcripts of single cells; rows × types. Genes are matched by name.
    ///
    /// # Errors
    /// [`Error::Unfit`] when no gene is known to the model; what the listener says.
    pub fn mixtures(&self, counts: &GeneCounts, progress: &dyn Progress) -> Result<Mat> {
        let own = self.conform(counts)?;
        let alpha = self.params["alpha"].as_f64().filter(|a| *a >= 0.0).unwrap_or(0.01);
        let found = estimate::memberships(&own, &self.profiles, alpha, &self.weights, progress)?;
        check_range("mixtures", found.as_slice().iter().copied())?;
        Ok(found)
    }

    /// The counts over the model's genes.
    pub(in crate::cells) fn conform(&self, counts: &GeneCounts) -> Result<GeneCounts> {
        let (own, shared) = counts.over(&self.genes);
        if shared == 0 {
            return Err(Error::Unfit {
                problem: format!("none of {} genes is known to the model", counts.genes().len()),
                remedy: "call the genes as the model does".into(),
            });
        }
        Ok(own)
    }
}
