//! How good found types are: against single cells, against chance, against averages and against known types.
//!
//! The measure is completion perplexity. Half of a cell's transcripts give its mixture of types, the other half is scored,
//!
//!   perplexity = exp(−Σ x_n ln(Σ_t h_t β_tn) / Σ x_n),
//!
//! and a transcript that the types think impossible is never skipped. Chance is the same cells with every gene's levels permuted
//! across cells, which leaves each gene's distribution and takes away what goes together. The baseline is average expression: types
//! from one number for every gene and voxel ([`voxels`]), without looking at single cells.

mod kmeans;
mod voxels;

pub use kmeans::kmeans;
pub use voxels::voxels;

use super::choices::Params;
use super::counts::GeneCounts;
use super::model::Model;
use crate::admixture::Completion;
use crate::error::{Error, Result};
use crate::evaluate::{Match, adjusted_rand_index};
use rayon::prelude::*;
use tenfold_engine::linalg::{Csr, Mat, random};
use tenfold_engine::progress::{Progress, Silent};

/// How types are judged by single cells.
///
/// # Example
/// ```
/// use tenfold::cells::validate::Validation;
/// use tenfold::cells::{Params, Synth};
/// use tenfold::engine::progress::Silent;
/// let drawn = Synth { types: 3, genes: 40, cells: 8000, ..Synth::default() }.draw()?;
/// let model = Params::new(3).fit(&drawn.tissue)?;
/// let cells = drawn.single_cells(100, 200.0, 1);
/// let judged = Validation { permutations: 19, ..Validation::default() }.judge(&model, &cells.counts, &Silent)?;
/// assert!(judged.perplexity < judged.permuted_mean() && judged.p_value <= 0.05);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validation {
    /// Σα of the prior of a cell's mixture: with half a cell's transcripts some smoothing predicts better.
    pub alpha: f64,
    /// The share of the cells' own gene frequencies in every profile, so that genes the types never saw can be scored.
    pub smoothing: f64,
    /// Permuted sets of cells.
    pub permutations: usize,
    /// Same seed, same permutations.
    pub seed: u64,
}

impl Default for Validation {
    fn default() -> Self {
        Self { alpha: 0.8, smoothing: 0.01, permutations: 199, seed: 0 }
    }
}

/// What single cells say of types.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Completion perplexity of the cells; smaller is better.
    pub perplexity: f64,
    /// The same for every permuted set of cells.
    pub permuted: Vec<f64>,
    /// (1 + permuted sets that are predicted as well) / (1 + permuted sets).
    pub p_value: f64,
    /// Perplexity of the gene frequencies of the fit alone.
    pub unigram: f64,
    /// Genes that the types and the cells have in common.
    pub genes: usize,
    /// Cells.
    pub cells: usize,
}

impl Judged {
    /// The mean perplexity of permuted cells; not a number without any.
    pub fn permuted_mean(&self) -> f64 {
        self.permuted.iter().sum::<f64>() / self.permuted.len() as f64
    }
}

impl Validation {
    /// Judges a model by single cells; genes are matched by name, and only common ones count.
    ///
    /// # Errors
    /// [`Error::Unfit`] when no gene is common or counts are not whole; no cell with two transcripts; what the listener says.
    pub fn judge(&self, model: &Model, cells: &GeneCounts, progress: &dyn Progress) -> Result<Judged> {
        let (cells, profiles, frequencies) = common(model, cells)?;
        if !cells.is_whole() {
            return Err(Error::Unfit {
                problem: "the counts of the single cells are not whole numbers, so they have no halves"
                    .into(),
                remedy: "give raw counts of transcripts".into(),
            });
        }
        let perplexity = self.perplexity(&profiles, &frequencies, &cells, progress)?;
        progress.stage("permuting cells", self.permutations as u64);
        let permuted = (0..self.permutations)
            .into_par_iter()
            .map(|b| {
                progress.check()?;
                let shuffled = permute(&cells, self.seed, b as u64);
                let found = self.perplexity(&profiles, &frequencies, &shuffled, &Silent)?;
                progress.advance(1);
                Ok(found)
            })
            .collect::<Result<Vec<f64>>>()?;
        let as_good = permuted.iter().filter(|x| **x <= perplexity).count();
        let p_value = (1 + as_good) as f64 / (1 + permuted.len()) as f64;
        let one = Mat::from_vec(1, frequencies.len(), frequencies.clone());
        let unigram = self.perplexity(&one, &frequencies, &cells, progress)?;
        Ok(Judged { perplexity, permuted, p_value, unigram, genes: cells.genes().len(), cells: cells.rows() })
    }

    /// Completion perplexity of cells under profiles (types × genes) over the same genes; `frequencies` is what profiles are
    /// smoothed by.
    ///
    /// # Errors
    /// Other genes; no cell with two transcripts; what the listener says.
    pub fn perplexity(
        &self,
        profiles: &Mat,
        frequencies: &[f64],
        cells: &GeneCounts,
        progress: &dyn Progress,
    ) -> Result<f64> {
        let alpha = self.alpha / profiles.rows().max(1) as f64;
        let completion = Completion { alpha, smoothing: self.smoothing, ..Completion::default() };
        completion.perplexity(&cells.documents(), profiles, frequencies, progress)
    }

    /// Perplexity of single cells against the number of types: a fit for each.
    ///
    /// # Errors
    /// As [`Params::fit_counts`] and [`Validation::judge`].
    pub fn curve(
        &self,
        counts: &GeneCounts,
        cells: &GeneCounts,
        (params, ks): (&Params, &[usize]),
        progress: &dyn Progress,
    ) -> Result<Vec<(usize, f64)>> {
        let alone = Self { permutations: 0, ..*self };
        ks.iter()
            .map(|&k| {
                let model = Params { k: k.into(), ..params.clone() }.fit_counts_with(counts, progress)?;
                Ok((k, alone.judge(&model, cells, progress)?.perplexity))
            })
            .collect()
    }
}

/// Cells, profiles and frequencies over the genes that model and cells share, in the model's order.
fn common(model: &Model, cells: &GeneCounts) -> Result<(GeneCounts, Mat, Vec<f64>)> {
    model.conform(cells)?;
    let known: std::collections::HashSet<&str> = cells.genes().iter().map(String::as_str).collect();
    let places: Vec<usize> =
        (0..model.genes().len()).filter(|&g| known.contains(model.genes()[g].as_str())).collect();
    let genes: Vec<String> = places.iter().map(|&g| model.genes()[g].clone()).collect();
    let mut profiles = model.profiles().select_cols(&places);
    for t in 0..profiles.rows() {
        let sum = profiles.row(t).iter().sum::<f64>().max(f64::MIN_POSITIVE);
        profiles.row_mut(t).iter_mut().for_each(|x| *x /= sum);
    }
    let own: Vec<f64> = places.iter().map(|&g| model.frequencies()[g]).collect();
    // Genes without a cell in the fit still have a frequency: that of half a cell.
    let floor = 0.5 / model.diagnostics().cells.max(1.0);
    let all: f64 = own.iter().map(|x| x.max(floor)).sum();
    let frequencies = own.iter().map(|x| x.max(floor) / all).collect();
    Ok((cells.over(&genes).0, profiles, frequencies))
}

/// The levels of each gene in another random order of the cells.
///
/// # Example
/// ```
/// use tenfold::cells::{GeneCounts, validate::permute};
/// use tenfold::engine::linalg::Csr;
/// let counts = GeneCounts::new(vec!["a".into()], Csr::from_triplets(3, 1, &[(0, 0, 5.0)]))?;
/// assert_eq!(permute(&counts, 1, 0).gene_totals(), [5.0]);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn permute(cells: &GeneCounts, seed: u64, which: u64) -> GeneCounts {
    let mut rng = random::rng(seed, 1 + which);
    let by_gene = cells.matrix().transpose();
    let mut entries = Vec::with_capacity(by_gene.entries());
    for g in 0..by_gene.rows() {
        let order = random::permutation(cells.rows(), &mut rng);
        let (rows, values) = by_gene.row(g);
        entries.extend(rows.iter().zip(values).map(|(row, x)| (order[*row as usize], g, *x)));
    }
    let matrix = Csr::from_triplets(cells.rows(), cells.genes().len(), &entries);
    GeneCounts::new(cells.genes().to_vec(), matrix).expect("permuted counts are counts")
}

/// Found types beside reference types over the same genes (by name), paired one to one by total variation.
///
/// # Errors
/// [`Error::Unfit`] when no gene is common.
pub fn match_types(model: &Model, reference: &GeneCounts) -> Result<Match> {
    let (own, profiles, _) = common(model, reference)?;
    let totals = own.row_totals();
    let dense = own.matrix().to_dense();
    let shares =
        Mat::from_fn(dense.rows(), dense.cols(), |i, j| dense[(i, j)] / totals[i].max(f64::MIN_POSITIVE));
    Ok(Match::new(&shares, &profiles))
}

/// How well mixtures of cells (cells × types) tell known labels: k-means on √h, as many groups as labels, by the adjusted Rand
/// index. The root makes the distance that of Hellinger, so that small shares count; the largest share alone is unstable where
/// a label has several types.
pub fn label_agreement(mixtures: &Mat, labels: &[u32], seed: u64) -> f64 {
    let groups = labels.iter().collect::<std::collections::BTreeSet<_>>().len();
    adjusted_rand_index(&kmeans(&mixtures.map(|x| x.max(0.0).sqrt()), groups, seed), labels)
}

#[cfg(test)]
mod tests;
