//! The model in words.

use super::Model;
use crate::trees::data::Kind;
use std::fmt::Write;

impl Model {
    /// The model in words, for the terminal.
    pub fn summary(&self) -> String {
        let d = &self.diagnostics;
        let hidden = self.tree.hidden().count();
        let trees = self.tree.components().iter().filter(|nodes| nodes.len() > 1).count();
        let mut text = format!(
            "{hidden} hidden nodes of {} states above {} variables, from {} samples\n",
            d.states,
            self.variables.len(),
            d.samples
        );
        let inner = (0..self.variables.len()).filter(|&v| self.tree.degree(v) > 1).count();
        let alone = (0..self.variables.len()).filter(|&v| self.tree.degree(v) == 0).count();
        if trees != 1 || alone > 0 {
            let _ = writeln!(text, "a forest: {trees} trees, {alone} variables that hang on nothing");
        }
        if inner > 0 {
            let stand = if inner == 1 { "variable stands" } else { "variables stand" };
            let _ = writeln!(text, "{inner} {stand} inside the tree");
        }
        let _ = writeln!(
            text,
            "structure by {}, {} short edges contracted; {} sweeps over the samples",
            d.method, d.contracted, d.sweeps
        );
        if let Some(held) = d.held_out {
            let _ = writeln!(
                text,
                "log-likelihood of {} samples held out: {:.3} nats each (without hidden nodes {:.3}, independent {:.3})",
                held.samples, held.tree, held.chow_liu, held.independence
            );
            let others = self.variables.iter().filter(|v| v.kind != Kind::Category).count();
            if others > 0 {
                let _ = writeln!(
                    text,
                    "  (without hidden nodes {others} variables stand alone, which are no categories)"
                );
            }
        }
        if !self.support.is_empty() {
            let sure = self.support.values().filter(|s| **s >= 0.9).count();
            let _ = writeln!(
                text,
                "{sure} of {} inner edges stand in at least 90 % of {} resampled tables",
                self.support.len(),
                d.bootstrap
            );
        }
        let _ = writeln!(text, "verdict: {}", self.verdict.headline());
        for (_, finding) in self.verdict.findings() {
            let _ = writeln!(text, "  {finding}");
        }
        text
    }
}
