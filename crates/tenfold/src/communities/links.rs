//! How well a model predicts edges that it did not see.

use super::data::{Graph, Ids, Kind};
use super::model::Model;
use super::spectrum::mixed;
use crate::error::{Error, Result};
use crate::evaluate::auc;
use rand::RngExt;
use tenfold_engine::linalg::{Adjacency, random};

/// Most edges that are scored, and as many pairs without an edge: the area is then known to a part in a thousand.
const MOST: usize = 1_000_000;

/// Draws for every pair without an edge that is wanted, before a graph counts as complete.
const PATIENCE: usize = 100;

/// How well held-out edges are told from pairs without one.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkScore {
    /// The probability that a held-out edge scores higher than a pair without one; ½ is chance.
    pub auc: f64,
    /// Held-out edges that were scored.
    pub edges: usize,
    /// Pairs without an edge that were scored.
    pub pairs: usize,
    /// Held-out edges with an end that the model does not know.
    pub strangers: usize,
    /// Held-out edges that stood in the graph of the fit, where it was given; they are left out.
    pub seen: usize,
}

/// Scores held-out edges against as many pairs of nodes without an edge, drawn with equal chances; the same seed draws the
/// same. Pairs that are edges of `fitted`, the graph of the fit, are not drawn where it is given.
///
/// # Complexity
/// O(m k) for m edges, of which at most a million are taken, evenly spread.
///
/// # Errors
/// Held-out edges of another kind of graph, none between nodes of the model, or no pair without an edge.
///
/// # Example
/// ```
/// use tenfold::communities::{Graph, Kind, Params, Synth, held_out_score};
/// let drawn = Synth { nodes: 300, k: 3, alpha0: 0.0, ..Synth::default() }.draw()?;
/// let model = Params::new(3).fit(&drawn.graph)?;
/// let score = held_out_score(&model, &drawn.graph, None, 7)?;
/// assert!(score.auc > 0.7 && score.strangers == 0);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn held_out_score(
    model: &Model,
    held_out: &Graph,
    fitted: Option<&Graph>,
    seed: u64,
) -> Result<LinkScore> {
    if held_out.kind() != model.kind() {
        return Err(bad(
            held_out.kind().to_string(),
            format!("edges of a graph that is {}, as that of the fit", model.kind()),
        ));
    }
    let fitted = fitted.map(|graph| Fitted::new(model, graph));
    let Positives { mut edges, strangers, seen } = Positives::new(model, held_out, fitted.as_ref());
    if edges.is_empty() {
        let why = if seen > 0 {
            "they were all in the graph of the fit"
        } else {
            "their ids are no nodes of the model"
        };
        return Err(bad(
            "none that can be scored".into(),
            format!("edges that the fit did not see, but {why}"),
        ));
    }
    let pairs = negatives(model, &edges, fitted.as_ref(), seed);
    if pairs.is_empty() {
        return Err(bad("all pairs".into(), "a graph that has pairs without an edge".into()));
    }
    let stride = edges.len().div_ceil(MOST);
    edges = edges.into_iter().step_by(stride).collect();
    let scores = |list: &[(u32, u32)]| {
        let list: Vec<(usize, usize)> = list.iter().map(|&(u, v)| (u as usize, v as usize)).collect();
        model.predict_all(&list)
    };
    let auc = auc(&scores(&edges), &scores(&pairs)).unwrap_or(f64::NAN);
    Ok(LinkScore { auc, edges: edges.len(), pairs: pairs.len(), strangers, seen })
}

/// Deals the edges of a graph in two: a graph for the fit, and one of about this share of the edges to score it by. Both have
/// all nodes. An edge is dealt by a hash of its ends and the seed.
///
/// # Complexity
/// O(nodes + edges), and memory for a second copy of the edges.
///
/// # Errors
/// [`Error::BadParameter`] for a share outside of (0, 1), or one that leaves nothing to score or to fit.
///
/// # Example
/// ```
/// use tenfold::communities::{Params, Synth, hold_out, held_out_score};
/// let drawn = Synth { nodes: 300, k: 3, alpha0: 0.0, ..Synth::default() }.draw()?;
/// let (fit, held_out) = hold_out(&drawn.graph, 0.2, 7)?;
/// assert_eq!(fit.edges() + held_out.edges(), drawn.graph.edges());
/// let score = held_out_score(&Params::new(3).fit(&fit)?, &held_out, Some(&fit), 7)?;
/// assert!(score.auc > 0.7);
/// # Ok::<(), tenfold::Error>(())
/// ```
pub fn hold_out(graph: &Graph, share: f64, seed: u64) -> Result<(Graph, Graph)> {
    let wrong = |expected: String| {
        Err(Error::BadParameter {
            name: "share of held-out edges".into(),
            value: share.to_string(),
            expected,
        })
    };
    if !(share > 0.0 && share < 1.0) {
        return wrong("a share between 0 and 1".into());
    }
    let both_ways = graph.kind() == Kind::Undirected;
    let out = |u: u32, v: u32| {
        let (u, v) = if both_ways { (u.min(v), u.max(v)) } else { (u, v) };
        let mixed =
            mixed(mixed(seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(u) << 32 | u64::from(v)));
        // The upper 53 bits as a number in [0, 1).
        ((mixed >> 11) as f64) < share * (1u64 << 53) as f64
    };
    let fit = graph.with_adjacency(part(graph.adjacency(), |u, v| !out(u, v))?);
    let held_out = graph.with_adjacency(part(graph.adjacency(), out)?);
    match (fit.edges(), held_out.edges()) {
        (0, all) | (all, 0) => wrong(format!("one that deals the {all} edges of the graph to both parts")),
        _ => Ok((fit, held_out)),
    }
}

/// Some of the entries of a matrix.
fn part(a: &Adjacency, keep: impl Fn(u32, u32) -> bool) -> Result<Adjacency> {
    let (mut starts, mut indices, mut weights) = (vec![0], Vec::new(), a.weighted().then(Vec::new));
    for u in 0..a.rows() {
        let (at, own) = a.row(u);
        for (e, &v) in at.iter().enumerate().filter(|(_, v)| keep(u as u32, **v)) {
            indices.push(v);
            weights.iter_mut().zip(own).for_each(|(weights, own)| weights.push(own[e]));
        }
        starts.push(indices.len());
    }
    Ok(Adjacency::new(a.cols(), starts, indices, weights)?)
}

fn bad(value: String, expected: String) -> Error {
    Error::BadParameter { name: "held-out edges".into(), value, expected }
}

/// The places that ids have among others.
fn places(from: &Ids, to: &Ids) -> Vec<Option<u32>> {
    from.iter().map(|id| to.find(&id).map(|place| place as u32)).collect()
}

/// Edges between nodes of the model, in order.
struct Positives {
    edges: Vec<(u32, u32)>,
    strangers: usize,
    seen: usize,
}

impl Positives {
    fn new(model: &Model, held_out: &Graph, fitted: Option<&Fitted<'_>>) -> Self {
        let rows = places(held_out.ids(), model.ids());
        let columns = places(held_out.other_ids(), model.other_ids());
        let (mut edges, mut strangers, mut seen) = (Vec::new(), 0, 0);
        for u in 0..held_out.nodes() {
            for &v in held_out.adjacency().row(u).0 {
                if held_out.kind() == Kind::Undirected && (v as usize) < u {
                    continue;
                }
                match rows[u].zip(columns[v as usize]) {
                    None => strangers += 1,
                    Some((u, v)) if fitted.is_some_and(|f| f.joined(u, v)) => seen += 1,
                    Some((u, v)) if held_out.kind() == Kind::Undirected => edges.push((u.min(v), u.max(v))),
                    Some(edge) => edges.push(edge),
                }
            }
        }
        edges.sort_unstable();
        Self { edges, strangers, seen }
    }
}

/// The graph of the fit, asked by the model's nodes.
struct Fitted<'a> {
    graph: &'a Graph,
    rows: Vec<Option<u32>>,
    columns: Vec<Option<u32>>,
}

impl<'a> Fitted<'a> {
    fn new(model: &Model, graph: &'a Graph) -> Self {
        let rows = places(model.ids(), graph.ids());
        let columns = places(model.other_ids(), graph.other_ids());
        Self { graph, rows, columns }
    }

    fn joined(&self, u: u32, v: u32) -> bool {
        let ends = self.rows[u as usize].zip(self.columns[v as usize]);
        ends.is_some_and(|(u, v)| self.graph.adjacency().row(u as usize).0.binary_search(&v).is_ok())
    }
}

/// As many pairs without an edge as there are edges, or as many as can be found.
fn negatives(model: &Model, edges: &[(u32, u32)], fitted: Option<&Fitted<'_>>, seed: u64) -> Vec<(u32, u32)> {
    let mut rng = random::rng(seed, 970);
    let wanted = edges.len().min(MOST);
    let (n, m) = (model.nodes() as u32, model.other_ids().len() as u32);
    let mut pairs = Vec::with_capacity(wanted);
    for _ in 0..PATIENCE.saturating_mul(wanted) {
        if pairs.len() == wanted {
            break;
        }
        let (u, v) = (rng.random_range(0..n), rng.random_range(0..m));
        let (u, v) = if model.kind() == Kind::Undirected { (u.min(v), u.max(v)) } else { (u, v) };
        let itself = u == v && model.kind() != Kind::Bipartite;
        if !itself && edges.binary_search(&(u, v)).is_err() && !fitted.is_some_and(|f| f.joined(u, v)) {
            pairs.push((u, v));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::fit::Params;
    use super::super::synth::{Edges, Synth};
    use super::*;

    /// Edges of a drawn graph, dealt to the fit and to the test.
    fn halves(kind: Kind) -> (Graph, Graph) {
        let edges = Edges::Poisson { degree: 40.0, background: 0.1 };
        let synth = Synth { nodes: 400, others: 400, k: 4, alpha0: 0.1, edges, kind, ..Synth::default() };
        let drawn = synth.draw().unwrap().graph;
        let mut dealt = [Vec::new(), Vec::new()];
        for u in 0..drawn.nodes() {
            for &v in drawn.adjacency().row(u).0 {
                let (a, b) = (u as u64, u64::from(v));
                if kind != Kind::Undirected || a < b {
                    dealt[usize::from((a * 31 + b) % 5 == 0)].push((a, b));
                }
            }
        }
        let [fit, test] = dealt.map(|edges| Graph::from_edges(kind, &edges, None).unwrap());
        (fit, test)
    }

    #[test]
    fn edges_are_dealt_in_two() {
        for kind in [Kind::Undirected, Kind::Directed, Kind::Bipartite] {
            let edges = Edges::Poisson { degree: 40.0, background: 0.1 };
            let weighted = kind == Kind::Directed;
            let synth = Synth { nodes: 300, others: 200, k: 3, edges, kind, weighted, ..Synth::default() };
            let graph = synth.draw().unwrap().graph;
            let (fit, out) = hold_out(&graph, 0.2, 5).unwrap();
            assert_eq!(
                (fit.nodes(), fit.others(), fit.edges() + out.edges()),
                (300, graph.others(), graph.edges())
            );
            // Of about 12,000 edges a fifth, with a standard error of 0.4 %.
            let share = out.edges() as f64 / graph.edges() as f64;
            assert!((share - 0.2).abs() < 0.02, "{kind}: {share}");
            assert_eq!(fit.weighted(), weighted);
            for u in 0..fit.nodes() {
                let mut both = [fit.adjacency().row(u).0, out.adjacency().row(u).0].concat();
                both.sort_unstable();
                assert_eq!(both, graph.adjacency().row(u).0);
            }
            assert_ne!(hold_out(&graph, 0.2, 6).unwrap().1.adjacency(), out.adjacency());
            assert_eq!(hold_out(&graph, 0.2, 5).unwrap().1.adjacency(), out.adjacency());
        }
        let two = Graph::from_edges(Kind::Undirected, &[(0, 1)], None).unwrap();
        assert!(hold_out(&two, 0.5, 0).unwrap_err().to_string().contains("both parts"));
        assert!(hold_out(&two, 1.0, 0).is_err() && hold_out(&two, f64::NAN, 0).is_err());
    }

    #[test]
    fn edges_of_the_same_communities_are_told_from_others() {
        for kind in [Kind::Undirected, Kind::Directed, Kind::Bipartite] {
            let (fit, test) = halves(kind);
            let model = Params::new(4).fit(&fit).unwrap();
            let score = held_out_score(&model, &test, Some(&fit), 3).unwrap();
            // Four communities: a pair within one is four times as probable as a pair at large.
            assert!(score.auc > 0.75, "{kind}: {score:?}");
            assert_eq!((score.seen, score.pairs), (0, score.edges));
            assert_eq!(held_out_score(&model, &test, Some(&fit), 3).unwrap(), score);
            let own = held_out_score(&model, &fit, Some(&fit), 3).unwrap_err().to_string();
            assert!(own.contains("all in the graph of the fit"), "{own}");
        }
        let (fit, test) = halves(Kind::Undirected);
        let model = Params::new(4).fit(&fit).unwrap();
        assert!(held_out_score(&model, &halves(Kind::Directed).1, None, 0).is_err());
        let strange = Graph::from_edges(Kind::Undirected, &[(1_000, 2_000), (1, 2_000)], None).unwrap();
        assert!(held_out_score(&model, &strange, None, 0).unwrap_err().to_string().contains("no nodes"));
        assert_eq!(held_out_score(&model, &test, None, 0).unwrap().strangers, 0);
    }
}
