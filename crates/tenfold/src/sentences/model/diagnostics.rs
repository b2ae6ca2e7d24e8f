//! Figures of a fit.

use super::super::templates::Learning;
use crate::model_file;
use serde_json::{Value, json};

/// Figures of a fit that its verdict rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostics {
    /// Sentences of the text.
    pub sentences: usize,
    /// Those without a word that has a vector.
    pub empty: usize,
    /// Words of the text, as often as they occur.
    pub tokens: u64,
    /// Those with a vector, as often as they occur.
    pub kept: u64,
    /// Different words of the text.
    pub distinct: usize,
    /// Pairs of words that stand together more often than by chance; 0 for given vectors.
    pub pairs: usize,
    /// Singular values of their matrix, largest first; none for given vectors.
    pub spectrum: Vec<f64>,
    /// The share of the weighted sentences' squares along the component that the features `sif` remove.
    pub common: f64,
    /// How templates were learned.
    pub(in super::super) learning: Option<Learning>,
}

impl Diagnostics {
    /// Patches that templates were learned from, of how many; nothing without templates.
    pub fn patches(&self) -> Option<(usize, usize)> {
        self.learning.as_ref().map(|l| (l.learned_from, l.patches))
    }

    /// Excess kurtosis of every template's activations.
    pub fn kurtosis(&self) -> &[f64] {
        self.learning.as_ref().map_or(&[], |l| &l.kurtosis)
    }

    /// Skewness of every template's activations.
    pub fn skewness(&self) -> &[f64] {
        self.learning.as_ref().map_or(&[], |l| &l.skewness)
    }

    /// Whether the templates stood still in the end; true without templates.
    pub fn converged(&self) -> bool {
        self.learning.as_ref().is_none_or(|l| l.converged)
    }

    /// All but the arrays.
    pub(super) fn to_json(&self) -> Value {
        let mut value = json!({
            "sentences": self.sentences,
            "empty": self.empty,
            "tokens": self.tokens,
            "kept": self.kept,
            "distinct": self.distinct,
            "pairs": self.pairs,
            "common": self.common,
        });
        if let Some(l) = &self.learning {
            value["patches"] = json!(l.patches);
            value["learned_from"] = json!(l.learned_from);
            value["iterations"] = json!(l.iterations);
            value["converged"] = json!(l.converged);
            value["explained"] = json!(l.explained);
            value["weak"] = json!(l.weak);
        }
        value
    }

    pub(super) fn from_json(
        value: &Value,
        spectrum: Vec<f64>,
        moments: Option<(Vec<f64>, Vec<f64>)>,
    ) -> Self {
        let count = |name: &str| model_file::count(&value[name]).unwrap_or(0);
        let learning = moments.map(|(skewness, kurtosis)| Learning {
            patches: count("patches") as usize,
            learned_from: count("learned_from") as usize,
            skewness,
            kurtosis,
            converged: value["converged"].as_bool().unwrap_or(false),
            iterations: count("iterations") as usize,
            explained: value["explained"].as_f64().unwrap_or(0.0),
            weak: count("weak") as usize,
        });
        Self {
            sentences: count("sentences") as usize,
            empty: count("empty") as usize,
            tokens: count("tokens"),
            kept: count("kept"),
            distinct: count("distinct") as usize,
            pairs: count("pairs") as usize,
            spectrum,
            common: value["common"].as_f64().unwrap_or(0.0),
            learning,
        }
    }
}
