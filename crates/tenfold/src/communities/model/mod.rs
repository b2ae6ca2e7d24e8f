//! A fitted community model: what it holds, what it says, what it does with new nodes and pairs of nodes.

mod diagnostics;
mod infer;
mod rates;
mod stored;
mod uses;

pub use diagnostics::Diagnostics;

use super::data::{Graph, Ids, Kind};
use super::fit::{Assigned, Params};
use super::picture::Picture;
use crate::components::Components;
use crate::error::Result;
use crate::verdict::Verdict;
use serde_json::Value;
use tenfold_engine::linalg::{Mat, Tall};

/// Communities learned from a graph. They are numbered from 0 by their share of the memberships, the largest first, and
/// keep these numbers everywhere.
///
/// # Example
/// ```
/// use tenfold::communities::{Params, Synth};
/// let drawn = Synth { nodes: 600, k: 3, ..Synth::default() }.draw()?;
/// let model = Params::new(3).fit(&drawn.graph)?;
/// assert_eq!((model.k(), model.nodes()), (3, 600));
/// let total: f32 = model.memberships().row(17).iter().sum();
/// assert!((total - 1.0).abs() < 1e-5);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    kind: Kind,
    weighted: bool,
    ids: Ids,
    other_ids: Option<Ids>,
    edges: u64,
    memberships: Tall,
    others: Option<Tall>,
    connectivity: Mat,
    alpha: Vec<f64>,
    shares: Vec<f64>,
    /// Edges of every node, and how many of them communities explain.
    strengths: Vec<f64>,
    explained: Vec<f64>,
    other_strengths: Vec<f64>,
    other_explained: Vec<f64>,
    confidence: Vec<f64>,
    background: Option<f64>,
    params: Value,
    diagnostics: Diagnostics,
    verdict: Verdict,
    /// What a report draws of the graph.
    picture: Option<Picture>,
}

/// What the stages of a fit leave for the model.
pub(super) struct Parts {
    pub out: Assigned,
    pub connectivity: Mat,
    pub diagnostics: Diagnostics,
    pub verdict: Verdict,
}

impl Model {
    pub(super) fn assemble(
        params: &Params,
        graph: &Graph,
        parts: Parts,
        seconds: Vec<(String, f64)>,
    ) -> Result<Self> {
        let Parts { out, connectivity, mut diagnostics, mut verdict } = parts;
        let k = out.rows.width();
        if let Components::Exactly(asked) = params.k
            && asked > k
        {
            verdict.warn(format!(
                "{asked} communities were asked for and {k} found: the graph has no more directions that tell communities apart"
            ));
        }
        let sizes = super::likelihood::column_sums(&out.rows);
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(a.cmp(&b)));
        let total: f64 = sizes.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        // E[π_c] = α_c/α0.
        let alpha = |c: usize| params.alpha0 * sizes[c] / total;
        diagnostics.seconds = seconds;
        let strengths = graph.adjacency().strengths();
        let other_strengths = graph.transposed().map(|t| t.strengths()).unwrap_or_default();
        let best = out.polished.as_ref();
        let explained = |counts: Option<&Tall>, d: &[f64]| match counts {
            Some(counts) => {
                (0..d.len()).map(|u| counts.row(u)[..k].iter().map(|x| f64::from(*x)).sum()).collect()
            }
            None => d.to_vec(),
        };
        let rows = explained(best.map(|b| &b.climbed.counts.rows), &strengths);
        let columns = explained(best.and_then(|b| b.climbed.counts.columns.as_ref()), &other_strengths);
        let memberships = reordered(&out.rows, &order);
        let mut model = Self {
            kind: graph.kind(),
            weighted: graph.weighted(),
            ids: graph.ids().clone(),
            other_ids: (graph.kind() == Kind::Bipartite).then(|| graph.other_ids().clone()),
            edges: graph.edges(),
            confidence: confidence(&memberships, &rows),
            others: out.columns.as_ref().map(|c| reordered(c, &order)),
            connectivity: Mat::from_fn(k, k, |i, j| connectivity[(order[i], order[j])]),
            alpha: order.iter().map(|&c| alpha(c)).collect(),
            shares: order.iter().map(|&c| sizes[c] / total).collect(),
            explained: rows,
            other_explained: columns,
            strengths,
            other_strengths,
            background: best.map(|b| b.climbed.factors.background),
            params: stored::params_json(params),
            memberships,
            diagnostics,
            verdict: Verdict::default(),
            picture: None,
        };
        model.diagnostics.report(&model, &mut verdict);
        model.verdict = verdict;
        model.picture = Some(Picture::new(graph, &model.all_nodes()));
        Ok(model)
    }

    /// Number of communities.
    pub fn k(&self) -> usize {
        self.memberships.width()
    }

    /// Number of nodes; those of the left side when the graph is bipartite.
    pub fn nodes(&self) -> usize {
        self.memberships.rows()
    }

    /// What kind of graph it was learned from.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether edges had weights.
    pub fn weighted(&self) -> bool {
        self.weighted
    }

    /// Number of edges it was learned from.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// The nodes' own names.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The names of the other side: those of the right side when bipartite, else the nodes' own.
    pub fn other_ids(&self) -> &Ids {
        self.other_ids.as_ref().unwrap_or(&self.ids)
    }

    /// Nodes × k; rows sum to 1. Where edges have a direction, memberships as their source.
    pub fn memberships(&self) -> &Tall {
        &self.memberships
    }

    /// Memberships as the target of edges, or of the right side; none where edges have no direction.
    pub fn other_memberships(&self) -> Option<&Tall> {
        self.others.as_ref()
    }

    /// k × k: how often nodes of two communities are joined, or the mean weight between them.
    pub fn connectivity(&self) -> &Mat {
        &self.connectivity
    }

    /// Dirichlet parameters; they sum to α0.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// Every community's share of all memberships.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Share of the edges that the likelihood gives to no community; none where it was not climbed. A lower bound, and a low one: small
    /// memberships explain stray edges as well, so that a fifth of them drawn at random ends near the least that is kept, 0.001.
    pub fn background(&self) -> Option<f64> {
        self.background
    }

    /// How well each node's edges tell its memberships, 0 to 1: 1 − √(Σ_c π_c(1 − π_c) / edges that communities explain).
    /// A node without edges has 0, and memberships that are the mean of all others.
    pub fn confidence(&self) -> &[f64] {
        &self.confidence
    }

    /// Sum of the weights of every node's edges.
    pub fn strengths(&self) -> &[f64] {
        &self.strengths
    }

    /// How much of every node's edges communities explain.
    pub fn explained(&self) -> &[f64] {
        &self.explained
    }

    /// The same of the other side; empty where edges have no direction.
    pub fn other_explained(&self) -> &[f64] {
        &self.other_explained
    }

    /// [`Model::strengths`] of the right side, or of edges that come in; empty where edges have no direction.
    pub fn other_strengths(&self) -> &[f64] {
        &self.other_strengths
    }

    /// The parameters of the fit.
    pub fn parameters(&self) -> &Value {
        &self.params
    }

    pub(super) fn picture(&self) -> Option<&Picture> {
        self.picture.as_ref()
    }

    /// How the fit went.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// What speaks for or against the result.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }
}

fn reordered(x: &Tall, order: &[usize]) -> Tall {
    let mut out = Tall::zeros(x.rows(), order.len());
    let width = order.len().max(1);
    for (u, row) in out.as_mut_slice().chunks_exact_mut(width).enumerate() {
        let from = x.row(u);
        row.iter_mut().zip(order).for_each(|(v, &c)| *v = from[c]);
    }
    out
}

fn confidence(memberships: &Tall, explained: &[f64]) -> Vec<f64> {
    (0..memberships.rows()).map(|u| super::members::confidence(memberships.row(u), explained[u])).collect()
}
