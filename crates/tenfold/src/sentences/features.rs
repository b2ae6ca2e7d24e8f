//! What a sentence becomes: means of word vectors, plain or weighted, and what templates find in it.

use super::data::Numbered;
use super::templates::Templates;
use crate::error::Result;
use tenfold_engine::linalg::parallel::{BLOCK, add_assign, fill_rows, sum_blocks};
use tenfold_engine::linalg::{Mat, dot, eigen_symmetric};
use tenfold_engine::progress::Progress;

/// What a sentence becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Features {
    /// The mean of its word vectors.
    Mean,
    /// The mean with weights a/(a + p(w)), less its part along the first component of all sentences (Arora, Liang and Ma,
    /// 2017).
    Sif,
    /// The largest activations of every template.
    Templates,
    /// The mean and the activations side by side, each brought to the same average size.
    TemplatesMean,
}

impl Features {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Mean, Self::Sif, Self::Templates, Self::TemplatesMean];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Sif => "sif",
            Self::Templates => "templates",
            Self::TemplatesMean => "templates+mean",
        }
    }

    /// From [`Features::name`].
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|features| features.name() == name)
    }

    /// Whether templates are needed.
    pub fn has_templates(self) -> bool {
        matches!(self, Self::Templates | Self::TemplatesMean)
    }
}

/// Smooth inverse frequency weights and the direction that all sentences share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sif {
    /// a/(a + p(w)) for every word.
    pub(super) weights: Vec<f64>,
    /// The first right singular vector of the sentences, of length one.
    pub(super) common: Vec<f64>,
    /// Its share of the sentences' squares.
    pub(super) share: f64,
}

crate::checkpoint::keep! { Sif { weights, common, share } }

impl Sif {
    pub(super) fn new(
        a: f64,
        frequencies: &[f64],
        sentences: &Numbered,
        vectors: &Mat,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let weights: Vec<f64> = frequencies.iter().map(|p| a / (a + p)).collect();
        let width = vectors.cols();
        let gram = sum_blocks(
            sentences.len(),
            BLOCK,
            || vec![0.0; width * width],
            |sum, range| {
                progress.check()?;
                let mut block = Mat::zeros(range.len(), width);
                for (row, i) in range.enumerate() {
                    mean(sentences.sentence(i), vectors, Some(&weights), block.row_mut(row));
                }
                add_assign(sum, block.tr_matmul(&block).as_slice());
                Ok(())
            },
            |total, lane| add_assign(total, &lane),
        )?;
        let gram = Mat::from_vec(width, width, gram);
        let trace: f64 = (0..width).map(|i| gram[(i, i)]).sum();
        let eigen = eigen_symmetric(&gram)?;
        let mut common = eigen.vectors.col(0);
        if common.iter().sum::<f64>() < 0.0 {
            common.iter_mut().for_each(|x| *x = -*x);
        }
        let share = if trace > 0.0 { eigen.values[0] / trace } else { 0.0 };
        Ok(Self { weights, common, share })
    }

    /// The weighted mean of a sentence without what all share.
    pub(super) fn of(&self, sentence: &[u32], vectors: &Mat, out: &mut [f64]) {
        mean(sentence, vectors, Some(&self.weights), out);
        let along = dot(out, &self.common);
        out.iter_mut().zip(&self.common).for_each(|(x, c)| *x -= along * c);
    }
}

/// The mean of the words' vectors, with weights if there are any; zeros for no words.
pub(super) fn mean(sentence: &[u32], vectors: &Mat, weights: Option<&[f64]>, out: &mut [f64]) {
    out.fill(0.0);
    for &word in sentence {
        let weight = weights.map_or(1.0, |w| w[word as usize]);
        out.iter_mut().zip(vectors.row(word as usize)).for_each(|(x, v)| *x += weight * v);
    }
    let scale = 1.0 / sentence.len().max(1) as f64;
    out.iter_mut().for_each(|x| *x *= scale);
}

/// How pooled activations and means are brought to one size: less the centre, times the scale.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sizes {
    /// Mean of the pooled activations.
    pub(super) centre: Vec<f64>,
    /// One over the root mean square of what is left of them.
    pub(super) templates: f64,
    /// One over the root mean square of the plain mean.
    pub(super) mean: f64,
}

crate::checkpoint::keep! { Sizes { centre, templates, mean } }

/// Everything that turns numbered sentences into features.
pub(super) struct Encoder<'a> {
    pub(super) vectors: &'a Mat,
    pub(super) sif: &'a Sif,
    pub(super) templates: Option<&'a Templates>,
    pub(super) sizes: &'a Sizes,
}

impl Encoder<'_> {
    /// Numbers of a sentence.
    pub(super) fn width(&self, features: Features) -> usize {
        let templates = self.templates.map_or(0, Templates::width);
        match features {
            Features::Mean | Features::Sif => self.vectors.cols(),
            Features::Templates => templates,
            Features::TemplatesMean => self.vectors.cols() + templates,
        }
    }

    /// A row for every sentence.
    pub(super) fn encode(
        &self,
        sentences: &Numbered,
        features: Features,
        progress: &dyn Progress,
    ) -> Result<Mat> {
        let width = self.width(features);
        let mut out = Mat::zeros(sentences.len(), width);
        fill_rows(out.as_mut_slice(), width, |range, rows| {
            for (i, row) in range.zip(rows.chunks_exact_mut(width)) {
                if i % 64 == 0 && progress.stopped() {
                    return;
                }
                self.row(sentences.sentence(i), features, row);
            }
        });
        progress.check()?;
        Ok(out)
    }

    fn row(&self, sentence: &[u32], features: Features, out: &mut [f64]) {
        if sentence.is_empty() {
            return out.fill(0.0);
        }
        match features {
            Features::Mean => mean(sentence, self.vectors, None, out),
            Features::Sif => self.sif.of(sentence, self.vectors, out),
            Features::Templates => self.pooled(sentence, out),
            Features::TemplatesMean => {
                let (first, second) = out.split_at_mut(self.vectors.cols());
                mean(sentence, self.vectors, None, first);
                first.iter_mut().for_each(|x| *x *= self.sizes.mean);
                self.pooled(sentence, second);
            }
        }
    }

    fn pooled(&self, sentence: &[u32], out: &mut [f64]) {
        let Some(templates) = self.templates else { return };
        templates.pooled(sentence, self.vectors, out);
        out.iter_mut().zip(&self.sizes.centre).for_each(|(x, c)| *x = (*x - c) * self.sizes.templates);
    }
}
