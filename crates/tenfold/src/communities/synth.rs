//! Graphs with known communities.

use super::data::{Graph, Kind};
use super::likelihood::column_sums;
use crate::error::{Error, Result};
use rand::RngExt;
use rand_distr::{Distribution, Gamma, Poisson};
use tenfold_engine::linalg::random::{self, Rng};
use tenfold_engine::linalg::{Adjacency, Mat, Tall};

/// How edges are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edges {
    /// Each pair by itself: joined with probability `within` for two nodes of one community, `between` else.
    Bernoulli {
        /// Within a community.
        within: f64,
        /// Between two.
        between: f64,
    },
    /// Numbers of edges by a Poisson law with this mean degree; a share of them joins any two nodes.
    Poisson {
        /// Mean degree.
        degree: f64,
        /// Share of edges that belong to no community.
        background: f64,
    },
}

/// How to draw a graph: memberships from a symmetric Dirichlet law, then edges.
///
/// # Example
/// ```
/// use tenfold::communities::{Edges, Synth};
/// let drawn = Synth { nodes: 200, k: 4, alpha0: 0.0, ..Synth::default() }.draw()?;
/// assert_eq!((drawn.graph.nodes(), drawn.memberships.width()), (200, 4));
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Synth {
    /// Nodes; those of the left side of a bipartite graph.
    pub nodes: usize,
    /// Nodes of the right side; only for a bipartite graph.
    pub others: usize,
    /// Communities.
    pub k: usize,
    /// Σα; 0 gives every node one community.
    pub alpha0: f64,
    /// How edges are drawn.
    pub edges: Edges,
    /// What kind of graph.
    pub kind: Kind,
    /// Whether numbers of edges stay as weights; only for Poisson edges.
    pub weighted: bool,
    /// Same seed, same graph.
    pub seed: u64,
}

impl Default for Synth {
    fn default() -> Self {
        Self {
            nodes: 1000,
            others: 1000,
            k: 10,
            alpha0: 1.0,
            edges: Edges::Bernoulli { within: 0.9, between: 0.1 },
            kind: Kind::Undirected,
            weighted: false,
            seed: 0,
        }
    }
}

/// A graph and the truth behind it.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The graph.
    pub graph: Graph,
    /// Nodes × k.
    pub memberships: Tall,
    /// The other side of a directed or bipartite graph.
    pub others: Option<Tall>,
    /// k × k: probability or rate of an edge between two nodes of these communities.
    pub connectivity: Mat,
}

impl Synth {
    /// Draws a graph.
    ///
    /// # Errors
    /// Parameters out of range.
    pub fn draw(&self) -> Result<Drawn> {
        self.check()?;
        let mut rng = random::rng(self.seed, 60);
        let memberships = self.mixtures(self.nodes, &mut rng);
        let others = match self.kind {
            Kind::Undirected => None,
            Kind::Directed => Some(self.mixtures(self.nodes, &mut rng)),
            Kind::Bipartite => Some(self.mixtures(self.others, &mut rng)),
        };
        let (edges, connectivity) = match self.edges {
            Edges::Bernoulli { within, between } => {
                let p = Mat::from_fn(self.k, self.k, |i, j| if i == j { within } else { between });
                (self.bernoulli(&memberships, others.as_ref(), (within, between), &mut rng), p)
            }
            Edges::Poisson { degree, background } => {
                self.poisson(&memberships, others.as_ref(), (degree, background), &mut rng)
            }
        };
        let columns = if self.kind == Kind::Bipartite { self.others } else { self.nodes };
        let weights = self.weighted.then(|| vec![vec![1.0; edges.len()]]);
        let adjacency = match self.kind {
            Kind::Undirected => Adjacency::undirected(self.nodes, vec![edges], weights)?,
            _ => Adjacency::from_edges(self.nodes, columns, vec![edges], weights)?,
        };
        let graph = Graph::from_adjacency(self.kind, adjacency);
        Ok(Drawn { graph, memberships, others, connectivity })
    }

    fn check(&self) -> Result<()> {
        let bad = |name: &str, value: String, expected: &str| {
            Err(Error::BadParameter { name: name.into(), value, expected: expected.into() })
        };
        if self.k == 0 || self.k > self.nodes {
            return bad("k", self.k.to_string(), "from 1 to the number of nodes");
        }
        if !(self.alpha0 >= 0.0 && self.alpha0.is_finite()) {
            return bad("alpha0", self.alpha0.to_string(), "a number from 0 on");
        }
        if self.kind == Kind::Bipartite && self.others == 0 {
            return bad("others", "0".into(), "at least one node on the right side");
        }
        if self.nodes > u32::MAX as usize || self.others > u32::MAX as usize {
            return bad("nodes", self.nodes.to_string(), "at most four thousand million");
        }
        let share = |x: f64| (0.0..=1.0).contains(&x);
        match self.edges {
            Edges::Bernoulli { within, between } if !share(within) || !share(between) => {
                bad("within, between", format!("{within}, {between}"), "probabilities from 0 to 1")
            }
            Edges::Poisson { degree, background }
                if !(degree > 0.0 && degree * self.nodes as f64 <= 1e12 && share(background)) =>
            {
                bad(
                    "degree, background",
                    format!("{degree}, {background}"),
                    "a positive degree, not more than a million million edges in all, and a share from 0 to 1",
                )
            }
            _ => Ok(()),
        }
    }

    fn mixtures(&self, nodes: usize, rng: &mut Rng) -> Tall {
        let mut out = Tall::zeros(nodes, self.k);
        let gamma = (self.alpha0 > 0.0)
            .then(|| Gamma::new(self.alpha0 / self.k as f64, 1.0).expect("positive shape"));
        for row in out.as_mut_slice().chunks_exact_mut(self.k) {
            let Some(gamma) = &gamma else {
                row[rng.random_range(0..self.k)] = 1.0;
                continue;
            };
            let draws: Vec<f64> = (0..self.k).map(|_| gamma.sample(rng)).collect();
            let total: f64 = draws.iter().sum();
            if total > 0.0 {
                row.iter_mut().zip(&draws).for_each(|(x, d)| *x = (d / total) as f32);
            } else {
                // All draws of a tiny α may be zero in floating point: then one community has everything.
                row[rng.random_range(0..self.k)] = 1.0;
            }
        }
        out
    }

    /// Every pair by itself: P(edge) = between + (within − between) π_u·π_v.
    fn bernoulli(
        &self,
        rows: &Tall,
        others: Option<&Tall>,
        (within, between): (f64, f64),
        rng: &mut Rng,
    ) -> Vec<(u32, u32)> {
        let columns = others.unwrap_or(rows);
        let mut edges = Vec::new();
        for u in 0..rows.rows() {
            let last = if self.kind == Kind::Undirected { u } else { columns.rows() };
            for v in 0..last {
                if v == u && self.kind == Kind::Directed {
                    continue;
                }
                let same: f32 = rows.row(u).iter().zip(columns.row(v)).map(|(a, b)| a * b).sum();
                if rng.random_range(0.0..1.0) < between + (within - between) * f64::from(same) {
                    edges.push((u as u32, v as u32));
                }
            }
        }
        edges
    }

    /// Numbers of edges for every community and the background, ends drawn by memberships: the time goes with the edges, not with
    /// the pairs.
    fn poisson(
        &self,
        rows: &Tall,
        others: Option<&Tall>,
        (degree, background): (f64, f64),
        rng: &mut Rng,
    ) -> (Vec<(u32, u32)>, Mat) {
        let columns = others.unwrap_or(rows);
        let (n, m) = (rows.rows() as f64, columns.rows() as f64);
        let half = if self.kind == Kind::Undirected { 2.0 } else { 1.0 };
        let expected = degree * n / half;
        let sides = |x: &Tall, c: usize| Cumulative::new((0..x.rows()).map(|u| f64::from(x.row(u)[c])));
        let sizes =
            others.map_or_else(|| vec![column_sums(rows); 2], |o| vec![column_sums(rows), column_sums(o)]);
        let weight = |c: usize| sizes[0][c] * sizes[1][c];
        let all: f64 = (0..self.k).map(weight).sum::<f64>().max(f64::MIN_POSITIVE);
        let mut edges = Vec::new();
        let number = |mean: f64, rng: &mut Rng| {
            if mean > 0.0 { Poisson::new(mean).expect("a positive mean").sample(rng) as usize } else { 0 }
        };
        // One community at a time: sums of all of them would be larger than the graph.
        for c in 0..self.k {
            let from = sides(rows, c);
            let to = others.map(|others| sides(others, c));
            for _ in 0..number(expected * (1.0 - background) * weight(c) / all, rng) {
                edges.push((from.draw(rng), to.as_ref().unwrap_or(&from).draw(rng)));
            }
        }
        for _ in 0..number(expected * background, rng) {
            edges.push((rng.random_range(0..rows.rows()) as u32, rng.random_range(0..columns.rows()) as u32));
        }
        if self.kind != Kind::Bipartite {
            edges.retain(|(u, v)| u != v);
        }
        let base = half * expected * background / (n * m);
        let rate = half * expected * (1.0 - background) / all;
        (edges, Mat::from_fn(self.k, self.k, |i, j| base + if i == j { rate } else { 0.0 }))
    }
}

/// Draws a position with probability proportional to its weight, by bisection.
struct Cumulative {
    sums: Vec<f64>,
    total: f64,
}

impl Cumulative {
    fn new(weights: impl Iterator<Item = f64>) -> Self {
        let mut total = 0.0;
        let sums = weights
            .map(|w| {
                total += w;
                total
            })
            .collect();
        Self { sums, total }
    }

    fn draw(&self, rng: &mut Rng) -> u32 {
        let at = rng.random_range(0.0..1.0) * self.total;
        self.sums.partition_point(|s| *s <= at).min(self.sums.len() - 1) as u32
    }
}
