//! How a fit went, and what that means.

use super::super::data::{Graph, Kind};
use super::super::estimate::Estimate;
use super::super::fit::Assigned;
use super::super::spectrum::{Counted, FEW_EDGES};
use super::Model;
use crate::verdict::Verdict;
use tenfold_engine::linalg::TallEigen;

/// Numbers about a fit that decide whether to trust it.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostics {
    /// Eigenvalues of the adjacency matrix that were used, then some beyond, less exact; singular values where edges
    /// have a direction.
    pub spectrum: Vec<f64>,
    /// Largest residual of an eigenvector, in shares of the smallest eigenvalue used.
    pub residual: f64,
    /// Whether the eigenvectors converged.
    pub directions_converged: bool,
    /// Eigenvalues of M2 inside the directions.
    pub second: Vec<f64>,
    /// How many communities the graph shows, smallest and largest, where k was to be chosen.
    pub interval: Option<(usize, usize)>,
    /// Negative eigenvalues of the Bethe–Hessian, where they were counted.
    pub bethe_hessian: Option<usize>,
    /// Directions that four fifths of the edges show and the last fifth confirms, where they were counted.
    pub kept: Option<usize>,
    /// How surely edges that were kept aside confirm the leading directions of the others beyond what degrees explain, in standard
    /// errors; chance alone exceeds 2.58 less than once in a hundred times. None for a single community.
    pub confirmed: Option<f64>,
    /// Σ_i of the shares that the moments give the communities: 1 when α0 is right.
    pub share_sum: f64,
    /// ‖T(I, v, v) − λ v‖ / max λ at the end of the decomposition.
    pub decomposition_residual: f64,
    /// Whether the decomposition converged.
    pub converged: bool,
    /// Share of the whitened tensor that the components explain.
    pub fit: Option<f64>,
    /// Share of starts of the decomposition that came to the same answer.
    pub agreement: Option<f64>,
    /// Whether the graph was treated as dense.
    pub dense: bool,
    /// Share of joined pairs.
    pub density: f64,
    /// ln P of the starts of the polish after their trial, the moments' first; and which was kept.
    pub trials: Vec<f64>,
    /// Which start was kept: 0 is that of the moments.
    pub chosen: usize,
    /// ln P at the end, but for constants.
    pub log_likelihood: Option<f64>,
    /// Iterations of the polish.
    pub iterations: usize,
    /// Whether memberships had settled.
    pub settled: bool,
    /// Nodes without an edge.
    pub isolated: usize,
    /// Seconds by stage; not kept in the model file, whose bytes depend on data and parameters only.
    pub seconds: Vec<(String, f64)>,
}

/// Standard errors below which communities cannot be told from chance: what a normal law exceeds once in 200 times, so that less than one
/// in a hundred is left where few edges make the tails heavier. There is one number to compare, whatever k is. Of 4,240 scores of 53
/// kinds of random graphs (with and without hubs, directed, of two sides, weighted, real ones rewired) 31 were larger, and 26 of as many
/// that were drawn after the number was settled, with mean 0.06 and deviation 0.99. A graph as small as Zachary's club, 78 edges, has 2.7 to
/// 4.3 for k = 2.
const CHANCE: f64 = 2.58;

/// Those from which on nothing need be said: chance passes them once in thousands of times.
const SURE: f64 = 4.0;

impl Diagnostics {
    pub(in super::super) fn new(
        graph: &Graph,
        found: &TallEigen,
        estimate: &Estimate,
        out: &Assigned,
        counted: Option<&Counted>,
        dense: bool,
    ) -> Self {
        let best = out.polished.as_ref();
        let isolated = isolated(graph);
        Self {
            spectrum: found.values.iter().chain(&found.beyond).copied().collect(),
            residual: found.residuals.iter().copied().fold(0.0, f64::max),
            directions_converged: found.converged,
            second: estimate.spectrum.clone(),
            interval: counted.map(Counted::interval),
            bethe_hessian: counted.and_then(|c| c.bethe_hessian),
            kept: counted.map(|c| c.kept),
            confirmed: None,
            share_sum: estimate.shares.iter().sum(),
            decomposition_residual: estimate.found.trace.residual(),
            converged: estimate.found.trace.converged,
            fit: estimate.found.fit,
            agreement: estimate.found.trace.agreement(),
            dense,
            density: graph.density(),
            trials: best.map(|b| b.trials.clone()).unwrap_or_default(),
            chosen: best.map_or(0, |b| b.chosen),
            log_likelihood: best.map(|b| b.climbed.log_likelihood),
            iterations: best.map_or(0, |b| b.climbed.iterations),
            settled: best.is_none_or(|b| b.climbed.settled),
            isolated,
            seconds: Vec::new(),
        }
    }

    pub(super) fn report(&self, model: &Model, verdict: &mut Verdict) {
        self.report_k(model, verdict);
        self.report_graph(verdict);
        self.report_communities(model, verdict);
        self.report_decomposition(verdict);
    }

    fn report_k(&self, model: &Model, verdict: &mut Verdict) {
        let k = model.k();
        self.report_chance(k, verdict);
        if let (Some((low, high)), Some(kept)) = (self.interval, self.kept) {
            let bethe = self.bethe_hessian.map_or(String::new(), |b| {
                format!("the Bethe–Hessian matrix has {b} negative eigenvalues, ")
            });
            verdict.note(format!(
                "k = {k}, from {low} to {high}: {bethe}{kept} directions of four fifths of the edges keep more than half of \
                 their weight in the last fifth{}",
                if self.bethe_hessian.is_some() && model.edges() < FEW_EDGES { "; with so few edges the first count decides" } else { "" }
            ));
        }
        // In a random graph of mean degrees d and e on its two sides singular values reach √d + √e, 2√d where the sides are one;
        // what lies below cannot be told from noise. A finite graph reaches a little farther.
        let (n, m) = (model.nodes().max(1) as f64, model.other_ids().len().max(1) as f64);
        let ends = model.edges() as f64 * if model.kind() == Kind::Undirected { 2.0 } else { 1.0 };
        let noise = 1.05 * ((ends / n).sqrt() + (ends / m).sqrt()) * (1.0 - self.density.min(1.0)).sqrt();
        let weak = self.spectrum.iter().take(k).filter(|v| v.abs() < noise).count();
        if model.weighted() || self.interval.is_some() || weak == 0 {
            return;
        }
        if k > 1 && 2 * weak >= k {
            verdict.warn(format!(
                "{weak} of {k} eigenvalues lie below {noise:.1}, which edges placed at random would reach: most of these communities may \
                 be noise; -k auto counts those that are not"
            ));
        } else {
            verdict.note(format!(
                "{weak} of {k} eigenvalues lie below {noise:.1}, which edges placed at random would reach: the smallest communities may \
                 not be detectable; -k auto counts those that are"
            ));
        }
    }

    /// Whether there is anything at all.
    fn report_chance(&self, k: usize, verdict: &mut Verdict) {
        if k == 1 && self.interval.is_some() {
            verdict.warn(
                "one community: nothing was found in the edges that chance and the nodes' degrees would not explain",
            );
        }
        let Some(errors) = self.confirmed else { return };
        if errors < CHANCE {
            verdict.warn(format!(
                "edges that were kept aside do not confirm these communities ({errors:.1} standard errors, where chance alone stays \
                 below {CHANCE}): edges placed at random by the nodes' degrees would look the same, so that nothing was found"
            ));
        } else if errors < SURE {
            verdict.note(format!(
                "edges that were kept aside hardly confirm these communities: {errors:.1} standard errors, where chance alone stays \
                 below {CHANCE}"
            ));
        }
    }

    fn report_graph(&self, verdict: &mut Verdict) {
        verdict.note(format!(
            "{:.3} % of all pairs are joined: treated as {}",
            100.0 * self.density,
            match (self.dense, self.log_likelihood) {
                (true, _) => "dense (least squares on the simplex)",
                (_, Some(_)) => "sparse (Poisson likelihood)",
                _ => "sparse, without a polish",
            }
        ));
        if self.isolated > 0 {
            verdict.note(format!(
                "{} nodes have no edges: they get the mean of all memberships and confidence 0",
                self.isolated
            ));
        }
        if !self.directions_converged {
            verdict.warn(format!(
                "the eigenvectors did not converge (residual {:.3} of the smallest eigenvalue): the last communities are not \
                 determined; ask for fewer",
                self.residual
            ));
        }
    }

    fn report_communities(&self, model: &Model, verdict: &mut Verdict) {
        let (k, n) = (model.k(), model.nodes() as f64);
        let empty: Vec<usize> = (0..k).filter(|&c| model.shares()[c] * n < 2.0).collect();
        if !empty.is_empty() {
            verdict.warn(format!(
                "{} of {k} communities hold fewer than two nodes' worth of membership: k is too large; try {}",
                empty.len(),
                (k - empty.len()).max(1)
            ));
        }
        let small = (0..k).filter(|&c| model.shares()[c] * n < n.sqrt() && !empty.contains(&c)).count();
        if small > 0 {
            verdict.note(format!(
                "{small} of {k} communities are smaller than √n = {:.0} nodes, the least that eigenvectors show surely",
                n.sqrt()
            ));
        }
        let twins = duplicates(model);
        if let Some((a, b, cosine)) = twins.first() {
            verdict.warn(format!(
                "communities {a} and {b} have nearly the same members (cosine {cosine:.2}){}: k is too large",
                if twins.len() > 1 { format!(", and {} pairs more", twins.len() - 1) } else { String::new() }
            ));
        }
    }

    fn report_decomposition(&self, verdict: &mut Verdict) {
        if !self.converged {
            verdict.note(
                "the decomposition did not settle: some components of the start are not determined by the moments",
            );
        }
        if !(0.4..=2.5).contains(&self.share_sum) {
            verdict.note(format!(
                "the moments' shares of the communities add up to {:.2} where 1 was expected: nodes are mixed otherwise than \
                 alpha0 assumes, or their degrees differ much",
                self.share_sum
            ));
        }
        if self.trials.len() > 1 {
            let kept = if self.chosen == 0 { "the moments" } else { "clustering directions" };
            verdict.note(format!("of {} starts that from {kept} was the most probable", self.trials.len()));
        }
        if !self.settled {
            verdict
                .note(format!("memberships still moved after {} iterations of the polish", self.iterations));
        }
    }
}

/// Nodes without an edge, out or in, on either side.
fn isolated(graph: &Graph) -> usize {
    let alone = |d: &f64| *d == 0.0;
    let from = graph.adjacency().strengths();
    match (graph.kind(), graph.transposed().map(|t| t.strengths())) {
        (Kind::Directed, Some(to)) => from.iter().zip(&to).filter(|(a, b)| alone(a) && alone(b)).count(),
        (_, to) => from.iter().chain(to.iter().flatten()).filter(|d| alone(d)).count(),
    }
}

/// Pairs of communities whose membership columns point the same way.
fn duplicates(model: &Model) -> Vec<(usize, usize, f64)> {
    let gram = model.memberships().gram(model.memberships());
    let k = model.k();
    let cosine =
        |a: usize, b: usize| gram[(a, b)] / (gram[(a, a)] * gram[(b, b)]).sqrt().max(f64::MIN_POSITIVE);
    let pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
    pairs.map(|(a, b)| (a, b, cosine(a, b))).filter(|p| p.2 > 0.95).collect()
}
