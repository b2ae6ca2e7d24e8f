//! From cells to types.

use super::choices::Params;
use super::choose::{against_half, choose};
use super::counts::GeneCounts;
use super::covary::differ;
use super::data::Tissue;
use super::estimate::{Estimated, estimate, memberships, shares};
use super::features::Bins;
use super::model::{Diagnostics, Model, params_json, traits};
use super::picture::Picture;
use crate::checkpoint::{identify, stage};
use crate::components::Components;
use crate::error::{Error, Result, check_fitted};
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::{Progress, Silent};

impl Params {
    /// Finds cell types in the cells of many images.
    ///
    /// Cells are counted in bins ([`Features`](super::Features)), and the counts unmixed as [`Params::fit_counts`] does.
    ///
    /// # Errors
    /// No cells, no gene, fewer bins or genes with cells than types; what the listener says.
    ///
    /// # Example
    /// ```
    /// use tenfold::cells::{Params, Synth};
    /// use tenfold::evaluate::Match;
    /// let drawn = Synth { types: 3, genes: 40, cells: 8000, seed: 2, ..Synth::default() }.draw()?;
    /// let model = Params::new(3).fit(&drawn.tissue)?;
    /// assert!(Match::new(&drawn.profiles, model.profiles()).mean() < 0.1);
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn fit(&self, tissue: &Tissue) -> Result<Model> {
        self.fit_with(tissue, &Silent)
    }

    /// [`Params::fit`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Params::fit`].
    pub fn fit_with(&self, tissue: &Tissue, progress: &dyn Progress) -> Result<Model> {
        self.check()?;
        if tissue.is_empty() {
            return Err(Error::Unfit {
                problem: format!("there is no cell in {} images", tissue.sections.len()),
                remedy: "detect cells first, with another radius if none were found".into(),
            });
        }
        identify(progress, "cells", self, |digest| tissue.identify(digest))?;
        let bins = self.features.bins(tissue)?;
        let histogram = bins.histogram(tissue);
        let mut model = self.unmix(&histogram.counts, Some((bins, histogram.missing)), progress)?;
        let posteriors = model.infer_with(tissue, progress)?;
        model.traits = traits(&model, tissue, &posteriors);
        model.picture = Picture::new(&model, tissue, &posteriors);
        Ok(model)
    }

    /// Unmixes counts of genes in rows: bins of a histogram that somebody else made, single cells, or voxels.
    ///
    /// Rows are documents, genes words and types topics: x_mn ~ Σ_t h_mt β_tn. Starts by the tensor of third moments, by successive
    /// projection and by chance are compared after a few steps, and the best goes on ([`Joint`](crate::admixture::Joint)).
    ///
    /// # Complexity
    /// 8·entries·k operations a step, a few hundred steps.
    ///
    /// # Errors
    /// As [`Params::fit`].
    ///
    /// # Example
    /// ```
    /// use tenfold::cells::{GeneCounts, Params};
    /// use tenfold::engine::linalg::Csr;
    /// let rows: Vec<_> = (0..8).flat_map(|m| [(m, m % 2 * 2, 30.0), (m, m % 2 * 2 + 1, 10.0)]).collect();
    /// let genes = ["a", "b", "c", "d"].map(String::from).to_vec();
    /// let counts = GeneCounts::new(genes, Csr::from_triplets(8, 4, &rows))?;
    /// let model = Params::new(2).fit_counts(&counts)?;
    /// let highest = model.profiles().row(0).iter().copied().fold(0.0, f64::max);
    /// assert!((highest - 0.75).abs() < 0.01);
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    pub fn fit_counts(&self, counts: &GeneCounts) -> Result<Model> {
        self.fit_counts_with(counts, &Silent)
    }

    /// [`Params::fit_counts`] with a listener that may stop it.
    ///
    /// # Errors
    /// As [`Params::fit`].
    pub fn fit_counts_with(&self, counts: &GeneCounts, progress: &dyn Progress) -> Result<Model> {
        self.check()?;
        identify(progress, "counts of genes", self, |digest| counts.identify(digest))?;
        self.unmix(counts, None, progress)
    }

    fn unmix(
        &self,
        counts: &GeneCounts,
        binned: Option<(Bins, usize)>,
        progress: &dyn Progress,
    ) -> Result<Model> {
        let totals = counts.row_totals();
        let full: Vec<usize> = (0..counts.rows()).filter(|&row| totals[row] > 0.0).collect();
        let expressed = counts.gene_totals().iter().filter(|x| **x > 0.0).count();
        let used = counts.take_rows(&full);
        let (k, curve) = match self.k {
            Components::Exactly(k) => (k, Vec::new()),
            Components::Auto if full.is_empty() => (1, Vec::new()),
            Components::Auto => {
                let most = self.most.min(full.len()).min(expressed);
                stage(progress, "k", |progress| choose(self, &used, most, progress))?
            }
        };
        if full.len() < k || expressed < k {
            return Err(Error::Unfit {
                problem: format!(
                    "{k} cell types were asked for, but cells lie in {} bins and show {expressed} genes",
                    full.len()
                ),
                remedy: "ask for fewer types, give more genes, or make more bins".into(),
            });
        }
        let half = match self.k {
            Components::Exactly(k) => against_half(self, &used, k, progress)?,
            Components::Auto => None,
        };
        progress.stage("unmixing cell types", 0);
        let found = stage(progress, "types", |progress| estimate(self, &used, k, progress))?;
        let mut diagnostics =
            self.diagnostics(counts, (k, full.len(), binned.as_ref().map_or(0, |b| b.1)), &found, curve);
        diagnostics.half = half;
        let own: Vec<f64> = full.iter().map(|&row| totals[row]).collect();
        let first = shares(&found.fitted.mixtures, &own);
        // The heaviest type first; its weight is that of the refined memberships.
        let refined = stage(progress, "memberships", |progress| {
            memberships(counts, &found.fitted.topics, self.alpha, &first, progress)
        })?;
        let weights = shares(&refined, &totals);
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        let topics = &found.fitted.topics;
        let mut model = Model {
            profiles: Mat::from_fn(k, topics.cols(), |t, g| topics[(order[t], g)]),
            memberships: refined.select_cols(&order),
            weights: order.iter().map(|&t| weights[t]).collect(),
            totals,
            genes: counts.genes().to_vec(),
            frequencies: counts.unigram(),
            bins: binned.map(|b| b.0),
            traits: Vec::new(),
            picture: Picture::default(),
            params: params_json(self),
            diagnostics,
            verdict: Default::default(),
        };
        let factors = [model.profiles.as_slice(), model.memberships.as_slice(), &model.weights];
        check_fitted("cell types", factors.into_iter().flatten().copied())?;
        model.judge();
        Ok(model)
    }

    fn diagnostics(
        &self,
        counts: &GeneCounts,
        (k, filled, missing): (usize, usize, usize),
        found: &Estimated,
        curve: Vec<super::CurvePoint>,
    ) -> Diagnostics {
        Diagnostics {
            cells: counts.total(),
            missing,
            k,
            rows: counts.rows(),
            filled,
            solver: self.solver.name().into(),
            density: self.features.density.name().into(),
            steps: found.fitted.steps,
            converged: found.fitted.converged,
            log_likelihood: found.fitted.log_likelihood,
            differ: differ(counts, self.seed),
            half: None,
            starts: found.starts.clone(),
            curve,
        }
    }
}
