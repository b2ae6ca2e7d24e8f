//! How a fit went, and what that means.

use super::Model;
use crate::cells::CurvePoint;
use crate::evaluate::total_variation;

/// How one start ended after a few steps.
#[derive(Debug, Clone, PartialEq)]
pub struct StartOutcome {
    /// Where it came from: `tensor`, `projection` or `random 1`.
    pub name: String,
    /// Nats a cell.
    pub log_likelihood: f64,
    /// Mean total variation between its profiles and those of the start that went on.
    pub distance: f64,
}

crate::checkpoint::keep! { StartOutcome { name, log_likelihood, distance } }

/// How a fit went.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostics {
    /// Cells that were counted.
    pub cells: f64,
    /// Cells that lack a feature and were not counted.
    pub missing: usize,
    /// Types.
    pub k: usize,
    /// Bins, or rows of the counts.
    pub rows: usize,
    /// Those of them that hold cells.
    pub filled: usize,
    /// How profiles were estimated.
    pub solver: String,
    /// How density was used.
    pub density: String,
    /// Steps of the solver.
    pub steps: usize,
    /// Whether it had come to rest.
    pub converged: bool,
    /// Nats a cell.
    pub log_likelihood: f64,
    /// How much the genes of rows differ beyond what chance makes of one mixture, in standard errors: of Pearson's χ², or, where counts
    /// are not whole or each gene is uneven by itself, of what genes have in common. None where there is too little to tell.
    pub differ: Option<f64>,
    /// How the starts ended; the one with the largest likelihood went on.
    pub starts: Vec<StartOutcome>,
    /// Where the number of types was given, half of it, and by how many nats a cell the given number predicts cells kept aside better.
    pub half: Option<(usize, f64)>,
    /// How well other numbers of types predict, where k was chosen; empty where it was given.
    pub curve: Vec<CurvePoint>,
}

/// Profiles nearer than this are one type found twice: drawn types that share a third of their genes are .6 apart.
const TWINS: f64 = 0.1;

/// Nats a cell within which two starts fit equally well. Half of those that a type too many costs on drawn tissue.
const SAME_FIT: f64 = 2e-3;

/// Mean total variation beyond which two starts found different types.
const OTHER_TYPES: f64 = 0.1;

/// Genes for every type below which that is told. Three drawn types with 12 genes came out at a total variation of .44, with 40 of them
/// at .04; two that share no gene need only a few, so it is no warning.
const FEW_GENES: usize = 5;

/// Cells for every number that is estimated, below which profiles are mostly noise: with n cells for each of the G genes of a
/// type the expected total variation is about √(1/(2π n)), .2 for 4.
const FEW_CELLS: f64 = 4.0;

/// Cells a bin below which memberships say little.
const THIN_BINS: f64 = 3.0;

/// Standard errors below which rows are all alike; chance passes them less than once in five hundred times.
const ALL_ALIKE: f64 = 3.0;

/// A step of the curve that is no step.
const FLAT: f64 = 5e-4;

impl Model {
    /// Finds words for what the diagnostics show.
    pub(in crate::cells) fn judge(&mut self) {
        self.verdict = Default::default();
        self.judge_cells();
        self.judge_curve();
        self.judge_types();
    }

    fn judge_cells(&mut self) {
        let d = &self.diagnostics;
        let expressed = self.frequencies.iter().filter(|f| **f > 0.0).count();
        let each = d.cells / (d.k * expressed).max(1) as f64;
        if each < FEW_CELLS {
            self.verdict.warn(format!(
                "{} cells for {} types and {expressed} genes: {each:.1} for every number that is estimated; profiles are mostly \
                 noise below {FEW_CELLS}, so give more images or ask for fewer types",
                d.cells, d.k
            ));
        }
        if expressed < FEW_GENES * d.k {
            self.verdict.note(format!(
                "{expressed} genes are few for {} types: types whose genes overlap cannot be told apart; some {} are needed",
                d.k,
                2 * FEW_GENES * d.k
            ));
        }
        if let Some(errors) = d.differ
            && errors < ALL_ALIKE
        {
            let what = if self.bins.is_some() { "cells of all bins" } else { "all rows" };
            self.verdict.warn(format!(
                "{what} show the same genes up to chance ({errors:.1} standard errors): nothing was found that tells types apart"
            ));
        }
        let silent: Vec<&str> = self
            .genes
            .iter()
            .zip(&self.frequencies)
            .filter(|(_, f)| **f == 0.0)
            .map(|(g, _)| g.as_str())
            .collect();
        if !silent.is_empty() {
            let some = silent.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            let more = if silent.len() > 5 { ", …" } else { "" };
            self.verdict.note(format!("{} genes without cells: {some}{more}", silent.len()));
        }
        let a_bin = d.cells / d.filled.max(1) as f64;
        if self.bins.is_some() && a_bin < THIN_BINS {
            self.verdict
                .note(format!("{a_bin:.1} cells in a bin that has any; fewer bins would tell types better"));
        }
        let lost = d.missing as f64 / (d.cells + d.missing as f64).max(1.0);
        let words = format!("{} cells lack a feature and were left out ({:.1} %)", d.missing, 100.0 * lost);
        if lost > 0.05 {
            self.verdict.warn(words);
        } else if d.missing > 0 {
            self.verdict.note(words);
        }
        if d.density == "raw" && self.bins.is_some() {
            self.verdict.warn(
                "raw density is a property of the gene and not of the type, so types do not mix linearly; use relative density",
            );
        }
    }

    fn judge_curve(&mut self) {
        if let Some((half, gain)) = self.diagnostics.half
            && gain <= 0.0
        {
            self.verdict.warn(format!(
                "{half} types predict cells that were kept aside better than {} ({:.4} nats a cell): ask for fewer, or -k auto",
                self.diagnostics.k, -gain
            ));
        }
        let curve = &self.diagnostics.curve;
        let Some(best) = curve.iter().find(|p| p.k == self.diagnostics.k) else { return };
        if self.totals.iter().any(|x| x.fract() != 0.0) {
            self.verdict.note(
                "the counts are not whole, so the number of types was chosen on rounded ones: take it as a guess, rather too large",
            );
        }
        if best.k == 1 {
            self.verdict.warn("one type predicts as well as more: the bins do not tell types apart");
        } else if curve.last().is_some_and(|last| last.k == best.k) {
            self.verdict.warn(format!(
                "{} types, the most that were looked at, predict best; there may be more",
                best.k
            ));
        } else {
            let near = |p: &&CurvePoint| p.k != best.k && best.log_likelihood - p.log_likelihood < FLAT;
            let alike: Vec<String> = curve.iter().filter(near).map(|p| p.k.to_string()).collect();
            if !alike.is_empty() {
                let words = alike.join(", ");
                self.verdict.note(format!("the curve is flat: {words} types predict as well as {}", best.k));
            }
        }
    }

    fn judge_types(&mut self) {
        let d = &self.diagnostics;
        let most = d.starts.iter().map(|s| s.log_likelihood).fold(f64::NEG_INFINITY, f64::max);
        let rival = d.starts.iter().find(|s| most - s.log_likelihood < SAME_FIT && s.distance > OTHER_TYPES);
        if let Some(rival) = rival {
            self.verdict.warn(format!(
                "starts disagree: from {} other types (mean total variation {:.2}) fit as well",
                rival.name, rival.distance
            ));
        }
        if !d.converged {
            self.verdict.note(format!("the likelihood still rose after {} steps", d.steps));
        }
        for a in 0..self.k() {
            for b in a + 1..self.k() {
                let apart = total_variation(self.profiles.row(a), self.profiles.row(b));
                if apart < TWINS {
                    self.verdict.warn(format!(
                        "types {} and {} express the same genes (total variation {apart:.2}): ask for fewer types",
                        a, b
                    ));
                }
            }
        }
    }
}
