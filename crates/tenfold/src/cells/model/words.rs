//! The model in words.

use super::{Feature, Model};
use crate::output::shown;
use std::fmt::Write;

impl Model {
    /// What was counted: cells in bins, or whatever the counts of a table stand for.
    pub fn counted(&self) -> &'static str {
        if self.bins.is_some() { "cells" } else { "counts" }
    }

    /// The model in words, for the terminal.
    pub fn summary(&self) -> String {
        let d = &self.diagnostics;
        let (rows, what) = (d.filled, if self.bins.is_some() { "bins" } else { "rows" });
        let counted = self.counted();
        let mut text = format!(
            "{} cell types over {} genes, from {} {counted} in {rows} {what} of {}\n",
            self.k(),
            self.genes.len(),
            d.cells,
            d.rows
        );
        let best = d.starts.iter().max_by(|a, b| a.log_likelihood.total_cmp(&b.log_likelihood));
        let _ = writeln!(
            text,
            "{} from {} of {} starts, {} steps, {:.4} nats for each of the {counted}",
            d.solver,
            best.map_or("one", |s| s.name.as_str()),
            d.starts.len(),
            d.steps,
            d.log_likelihood
        );
        for t in 0..self.k() {
            let markers = self.markers(t, 6);
            let markers: Vec<_> = markers.iter().map(|m| shown(&self.genes[m.gene])).collect();
            let _ = write!(
                text,
                "type {}: {:.1} % of the {counted}; {}",
                t,
                100.0 * self.weights[t],
                markers.join(" ")
            );
            for own in self.traits.get(t).into_iter().flatten() {
                let (scale, unit) = match own.feature {
                    Feature::Orientation => (180.0 / std::f64::consts::PI, "°"),
                    _ => (1.0, ""),
                };
                let [low, high] = [own.low, own.high].map(|x| x * scale);
                let _ = write!(text, "; {} {low:.3}{unit} to {high:.3}{unit}", own.feature.name());
            }
            text.push('\n');
        }
        let _ = writeln!(text, "verdict: {}", self.verdict.headline());
        for (_, finding) in self.verdict.findings() {
            let _ = writeln!(text, "  {finding}");
        }
        text
    }
}
