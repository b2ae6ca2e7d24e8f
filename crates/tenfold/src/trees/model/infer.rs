//! What samples say about hidden and missing variables.

use super::Model;
use crate::error::{Error, Result, check_range};
use crate::trees::belief::{Expected, Posterior};
use crate::trees::data::{Kind, Table};
use std::ops::Range;
use tenfold_engine::linalg::Mat;
use tenfold_engine::progress::Progress;

/// Samples whose posteriors are held at a time.
const SAMPLES: usize = 4096;

/// Something inferred about one sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    /// The sample.
    pub sample: usize,
    /// The variable.
    pub variable: usize,
    /// The level, flag or number.
    pub label: String,
    /// How probable it is, for levels and flags.
    pub probability: Option<f64>,
    /// What is expected, for counts and real numbers.
    pub mean: Option<f64>,
}

impl Model {
    /// Posterior probabilities of the states of all hidden nodes: samples × [`Model::hidden_names`].
    ///
    /// # Errors
    /// When the table has other variables, or the caller stops.
    pub fn transform(&self, table: &Table, progress: &dyn Progress) -> Result<Mat> {
        self.check(table)?;
        let width = self.network.nodes.iter().map(|node| node.states()).sum();
        let mut all = Mat::zeros(table.samples(), width);
        progress.stage("inferring", table.samples() as u64);
        for first in (0..table.samples()).step_by(SAMPLES) {
            progress.check()?;
            let range = first..(first + SAMPLES).min(table.samples());
            let posterior = self.network.posterior(table, range.clone())?;
            for (row, sample) in range.clone().enumerate() {
                let mut at = 0;
                for node in &posterior.nodes {
                    let states = node.row(row);
                    all.row_mut(sample)[at..at + states.len()].copy_from_slice(states);
                    at += states.len();
                }
            }
            progress.advance(range.len() as u64);
        }
        Ok(all)
    }

    /// The name of a node of the tree: a variable's own, or `hidden 1`, `hidden 2` and so on.
    pub fn node_name(&self, place: usize) -> String {
        match self.variables.get(place) {
            Some(variable) => variable.name.clone(),
            None => format!("hidden {}", place - self.variables.len() + 1),
        }
    }

    /// The columns of [`Model::transform`]: node and state. The states of a category inside the tree are its levels; those of another
    /// variable there are not its values, and are called `state 0`, `state 1` and so on.
    pub fn hidden_names(&self) -> Vec<String> {
        let of = |node: &crate::trees::Node| {
            let name = self.node_name(node.place);
            let state = |state: usize| match self.variables.get(node.place) {
                None => state.to_string(),
                Some(variable)
                    if variable.kind == Kind::Category && variable.labels.len() == node.states() =>
                {
                    variable.labels[state].clone()
                }
                Some(_) => format!("state {state}"),
            };
            (0..node.states()).map(|s| format!("{name}={}", state(s))).collect::<Vec<_>>()
        };
        self.network.nodes.iter().flat_map(of).collect()
    }

    /// What is expected of every variable that is missing in these samples.
    ///
    /// # Errors
    /// When the table has other variables.
    pub fn filled(&self, table: &Table, samples: Range<usize>) -> Result<Vec<Inference>> {
        let posterior = self.posterior(table, samples.clone())?;
        let wanted: Vec<usize> = {
            let mut any = vec![false; self.variables.len()];
            samples.clone().for_each(|i| table.row(i).missing.iter().for_each(|&v| any[v as usize] = true));
            (0..any.len()).filter(|&v| any[v]).collect()
        };
        let expected = self.all_expected(&wanted, &posterior)?;
        let mut all = Vec::new();
        for (row, sample) in samples.enumerate() {
            for &v in table.row(sample).missing {
                let place =
                    wanted.binary_search(&(v as usize)).expect("a variable that is missing somewhere");
                all.extend(self.told(v as usize, sample, expected[place].mean.row(row)));
            }
        }
        Ok(all)
    }

    /// The `top` most probable levels and flags, or most expected counts, of every sample that it does not show. For flags this is the
    /// probability that another sample of the same hidden states shows them.
    ///
    /// # Errors
    /// When the table has other variables.
    pub fn likely(&self, table: &Table, samples: Range<usize>, top: usize) -> Result<Vec<Inference>> {
        let posterior = self.posterior(table, samples.clone())?;
        let chosen: Vec<usize> =
            (0..self.variables.len()).filter(|&v| self.variables[v].kind != Kind::Real).collect();
        let expected = self.all_expected(&chosen, &posterior)?;
        let mut all = Vec::new();
        for (row, sample) in samples.enumerate() {
            let mut best: Vec<Inference> = Vec::new();
            for (&v, expected) in chosen.iter().zip(&expected) {
                let told = self.told(v, sample, expected.mean.row(row));
                // The reference level of a category is what is usual: it is nothing to look for.
                let skip = usize::from(self.variables[v].kind == Kind::Category);
                let first = table.features_of(v).start;
                best.extend(
                    told.into_iter()
                        .skip(skip)
                        .enumerate()
                        .filter(|(f, _)| table.row(sample).value(first + f) == 0.0)
                        .map(|(_, one)| one),
                );
            }
            let much = |one: &Inference| one.probability.or(one.mean).unwrap_or(0.0);
            best.sort_by(|a, b| much(b).total_cmp(&much(a)));
            best.truncate(top);
            all.extend(best);
        }
        Ok(all)
    }

    fn all_expected(&self, variables: &[usize], posterior: &Posterior) -> Result<Vec<Expected>> {
        let expected: Vec<Expected> = variables.iter().map(|&v| self.expected(v, posterior)).collect();
        let means = expected.iter().flat_map(|one| one.mean.as_slice().iter().copied());
        check_range("expected numbers", means)?;
        Ok(expected)
    }

    /// The numbers of a variable in words.
    fn told(&self, v: usize, sample: usize, mean: &[f64]) -> Vec<Inference> {
        let variable = &self.variables[v];
        let one = |label: &String, probability, mean| Inference {
            sample,
            variable: v,
            label: label.clone(),
            probability,
            mean,
        };
        match variable.kind {
            Kind::Category => {
                let reference = (1.0 - mean.iter().sum::<f64>()).max(0.0);
                let all = std::iter::once(reference).chain(mean.iter().copied());
                variable.labels.iter().zip(all).map(|(label, p)| one(label, Some(p), None)).collect()
            }
            Kind::Flags => variable.labels.iter().zip(mean).map(|(l, p)| one(l, Some(*p), None)).collect(),
            Kind::Counts | Kind::Real => {
                variable.labels.iter().zip(mean).map(|(l, x)| one(l, None, Some(*x))).collect()
            }
        }
    }

    /// The variables nearest to one in the tree, with the lengths of the paths.
    ///
    /// # Errors
    /// When there is no variable of this name.
    pub fn nearest(&self, name: &str, top: usize) -> Result<Vec<(usize, f64)>> {
        let start = self.variables.iter().position(|v| v.name == name).ok_or_else(|| Error::Unfit {
            problem: format!("the model has no variable {name}"),
            remedy: "`tenfold trees show MODEL --json` lists the names".into(),
        })?;
        let mut far = vec![f64::INFINITY; self.tree.capacity()];
        far[start] = 0.0;
        for (node, parent) in self.tree.walk(start) {
            if let Some(parent) = parent {
                far[node] = far[parent] + self.tree.length(parent, node).unwrap_or(0.0);
            }
        }
        let mut near: Vec<(usize, f64)> = (0..self.variables.len())
            .filter(|&v| v != start && far[v].is_finite())
            .map(|v| (v, far[v]))
            .collect();
        near.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        near.truncate(top);
        Ok(near)
    }
}
