//! Moments of views, of all nodes in one pass over the samples.

use super::super::data::{Row, Table};
use super::super::network::Network;
use super::views::{Local, View};
use crate::error::Result;
use tenfold_engine::linalg::Mat;
use tenfold_engine::linalg::parallel::{BLOCK, add_assign, sum_blocks};
use tenfold_engine::progress::Progress;
use tenfold_engine::tensor::Dense;

/// Pairs of views whose moments are gathered; the first three are each view with itself.
pub(super) const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];

/// One sample with its features where they can be looked up.
struct Open {
    x: Vec<f64>,
    missing: Vec<bool>,
    /// Coordinates of all views, and whether they are there; for the second pass.
    y: Vec<f64>,
    there: Vec<bool>,
    entries: Vec<(usize, f64)>,
}

impl Open {
    fn new(table: &Table) -> Self {
        Self {
            x: vec![0.0; table.features()],
            missing: vec![false; table.variables().len()],
            y: Vec::new(),
            there: Vec::new(),
            entries: Vec::new(),
        }
    }

    fn set(&mut self, row: Row<'_>, on: bool) {
        for (&f, &x) in row.features.iter().zip(row.values) {
            self.x[f as usize] = if on { x } else { 0.0 };
        }
        row.missing.iter().for_each(|&v| self.missing[v as usize] = on);
    }

    /// The features of a view that are not 0, by their place in it, and the constant; nothing where a variable is missing.
    fn view(&self, view: &View, out: &mut Vec<(usize, f64)>) -> bool {
        out.clear();
        if view.variables.iter().any(|&v| self.missing[v]) {
            return false;
        }
        let present = view.features.iter().enumerate().map(|(i, &f)| (i, self.x[f as usize]));
        out.extend(present.filter(|e| e.1 != 0.0));
        out.push((view.features.len(), 1.0));
        true
    }
}

/// E[x_g x_hᵀ] for pairs of views (features and constant) of one node, over samples where all its views are observed.
pub(super) struct Pairs {
    pub samples: f64,
    pub of: Vec<Option<Mat>>,
}

/// The first pass.
pub(super) fn pairs(
    locals: &[Local],
    table: &Table,
    rows: &[u32],
    progress: &dyn Progress,
) -> Result<Vec<Pairs>> {
    let size = |local: &Local, (g, h): (usize, usize)| {
        let views = &local.views;
        if h < views.len() { views[g].dim() * views[h].dim() } else { 0 }
    };
    let mut at = vec![0];
    for local in locals {
        at.push(at[at.len() - 1] + 1 + PAIRS.iter().map(|&p| size(local, p)).sum::<usize>());
    }
    let sums = over_rows(table, rows, at[locals.len()], progress, |open, sums| {
        let mut views = [Vec::new(), Vec::new(), Vec::new()];
        for (n, local) in locals.iter().enumerate() {
            if !local.views.iter().zip(&mut views).all(|(view, out)| open.view(view, out)) {
                continue;
            }
            let mut next = at[n] + 1;
            sums[at[n]] += 1.0;
            for &(g, h) in PAIRS.iter().filter(|p| p.1 < local.views.len()) {
                let dim = local.views[h].dim();
                for &(i, x) in &views[g] {
                    views[h].iter().for_each(|&(j, y)| sums[next + i * dim + j] += x * y);
                }
                next += local.views[g].dim() * dim;
            }
        }
    })?;
    Ok(locals
        .iter()
        .enumerate()
        .map(|(n, local)| {
            let mut next = at[n] + 1;
            let samples = sums[at[n]];
            let of = PAIRS
                .iter()
                .map(|&(g, h)| {
                    (h < local.views.len()).then(|| {
                        let (a, b) = (local.views[g].dim(), local.views[h].dim());
                        next += a * b;
                        Mat::from_fn(a, b, |i, j| sums[next - a * b + i * b + j] / samples.max(1.0))
                    })
                })
                .collect();
            Pairs { samples, of }
        })
        .collect())
}

/// Which moments the second pass gathers.
pub(super) struct Wanted<'a> {
    pub locals: &'a [Local],
    /// For every node and view the projection y = Pᵀ(x, 1), features and constant × coordinates.
    pub projections: &'a [Vec<Mat>],
    pub network: &'a Network,
    /// For every node with a parent: the view of itself and that of the parent that look away from each other.
    pub edges: Vec<(Option<usize>, Option<usize>)>,
}

/// What the second pass gives. Coordinates that stand beside a constant come as (1, y).
pub(super) struct Second {
    /// E[y_0 ⊗ y_1 ⊗ y_2] for nodes with three views.
    pub triples: Vec<Option<Dense>>,
    /// E[x_f (1, y_0, y_1, …)ᵀ] of every variable with the views of its node; 0 for those that look at it.
    pub emissions: Vec<Mat>,
    /// E[x_f²].
    pub squares: Vec<f64>,
    /// E[(1, y)(1, y′)ᵀ] of every node and its parent.
    pub edges: Vec<Option<Mat>>,
}

/// Where everything stands in one array.
struct Places {
    triples: Vec<usize>,
    emissions: Vec<usize>,
    squares: usize,
    edges: Vec<usize>,
    len: usize,
    /// The number of every node's first view, and where the coordinates of every view begin.
    first: Vec<usize>,
    at: Vec<usize>,
}

/// The coordinates of the views of one sample.
struct Coordinates<'a> {
    first: &'a [usize],
    at: &'a [usize],
    open: &'a Open,
}

impl Coordinates<'_> {
    /// Those of one view, where none of its variables is missing.
    fn of(&self, node: usize, view: usize) -> Option<&[f64]> {
        let number = self.first[node] + view;
        self.open.there[number].then(|| &self.open.y[self.at[number]..self.at[number + 1]])
    }
}

impl Wanted<'_> {
    fn cols(&self, n: usize, g: Option<usize>) -> usize {
        1 + g.map_or(0, |g| self.projections[n][g].cols())
    }

    fn instruments(&self, n: usize) -> usize {
        1 + self.projections[n].iter().map(Mat::cols).sum::<usize>()
    }

    fn three(&self, n: usize) -> bool {
        !self.locals[n].shown && self.projections[n].len() == 3
    }

    fn places(&self, features: usize) -> Places {
        let mut len = 0;
        let mut place = |count: usize| {
            len += count;
            len - count
        };
        let nodes = 0..self.locals.len();
        let volume = |n: usize| self.projections[n].iter().map(Mat::cols).product::<usize>();
        let triples = nodes.clone().map(|n| place(if self.three(n) { 1 + volume(n) } else { 0 })).collect();
        let emissions = self
            .network
            .emissions
            .iter()
            .map(|e| place(1 + e.mean.rows() * self.instruments(e.node)))
            .collect();
        let squares = place(features);
        let edges = nodes
            .map(|n| {
                let Some(parent) = self.network.nodes[n].parent else { return place(0) };
                let (own, above) = self.edges[n];
                place(1 + self.cols(n, own) * self.cols(parent, above))
            })
            .collect();
        let (mut first, mut at) = (Vec::new(), vec![0]);
        for projections in self.projections {
            first.push(at.len() - 1);
            projections.iter().for_each(|p| at.push(at[at.len() - 1] + p.cols()));
        }
        Places { triples, emissions, squares, edges, len, first, at }
    }

    /// The second pass.
    pub fn gather(&self, table: &Table, rows: &[u32], progress: &dyn Progress) -> Result<Second> {
        let places = self.places(table.features());
        let sums = over_rows(table, rows, places.len, progress, |open, sums| {
            self.project(open);
            let ys = Coordinates { first: &places.first, at: &places.at, open };
            self.add_triples(&ys, &places, sums);
            self.add_emissions(&ys, table, &places, sums);
            self.add_edges(&ys, &places, sums);
        })?;
        Ok(self.read(&places, &sums, table))
    }

    /// y = Pᵀ(x, 1) of every view.
    fn project(&self, open: &mut Open) {
        let mut entries = std::mem::take(&mut open.entries);
        open.y.clear();
        open.there.clear();
        for (local, projections) in self.locals.iter().zip(self.projections) {
            for (view, p) in local.views.iter().zip(projections) {
                let there = open.view(view, &mut entries);
                open.there.push(there);
                let from = open.y.len();
                open.y.resize(from + p.cols(), 0.0);
                for &(i, x) in &entries {
                    open.y[from..].iter_mut().zip(p.row(i)).for_each(|(y, p)| *y += x * p);
                }
            }
        }
        open.entries = entries;
    }

    fn add_triples(&self, ys: &Coordinates<'_>, places: &Places, sums: &mut [f64]) {
        for n in (0..self.locals.len()).filter(|&n| self.three(n)) {
            let (Some(a), Some(b), Some(c)) = (ys.of(n, 0), ys.of(n, 1), ys.of(n, 2)) else { continue };
            sums[places.triples[n]] += 1.0;
            let mut next = places.triples[n] + 1;
            for x in a {
                for y in b {
                    let xy = x * y;
                    sums[next..next + c.len()].iter_mut().zip(c).for_each(|(s, z)| *s += xy * z);
                    next += c.len();
                }
            }
        }
    }

    fn add_emissions(&self, ys: &Coordinates<'_>, table: &Table, places: &Places, sums: &mut [f64]) {
        let branches = self.locals.len();
        let open = ys.open;
        for (v, emission) in self.network.emissions.iter().enumerate() {
            let n = emission.node;
            if open.missing[v] || (0..self.locals[n].views.len()).any(|g| ys.of(n, g).is_none()) {
                continue;
            }
            sums[places.emissions[v]] += 1.0;
            let width = self.instruments(n);
            for (i, f) in table.features_of(v).enumerate() {
                let x = open.x[f];
                if x == 0.0 {
                    continue;
                }
                sums[places.squares + f] += x * x;
                let at = places.emissions[v] + 1 + i * width;
                sums[at] += x;
                let mut next = at + 1;
                for (g, view) in self.locals[n].views.iter().enumerate() {
                    let y = ys.of(n, g).expect("every view is there");
                    if self.locals[n].shown || !view.branches.contains(&(branches + v)) {
                        sums[next..next + y.len()].iter_mut().zip(y).for_each(|(s, y)| *s += x * y);
                    }
                    next += y.len();
                }
            }
        }
    }

    fn add_edges(&self, ys: &Coordinates<'_>, places: &Places, sums: &mut [f64]) {
        for (n, node) in self.network.nodes.iter().enumerate() {
            let Some(parent) = node.parent else { continue };
            let (own, above) = self.edges[n];
            let side = |n: usize, g: Option<usize>| match g {
                None => Some(&[][..]),
                Some(g) => ys.of(n, g),
            };
            let (Some(a), Some(b)) = (side(n, own), side(parent, above)) else { continue };
            sums[places.edges[n]] += 1.0;
            let mut next = places.edges[n] + 1;
            for x in std::iter::once(&1.0).chain(a) {
                for y in std::iter::once(&1.0).chain(b) {
                    sums[next] += x * y;
                    next += 1;
                }
            }
        }
    }

    fn read(&self, places: &Places, sums: &[f64], table: &Table) -> Second {
        let part = |at: usize, count: usize| -> Vec<f64> {
            let inverse = 1.0 / sums[at].max(1.0);
            sums[at + 1..at + 1 + count].iter().map(|x| x * inverse).collect()
        };
        let triples = (0..self.locals.len())
            .map(|n| {
                self.three(n).then(|| {
                    let shape = [0, 1, 2].map(|g| self.projections[n][g].cols());
                    Dense::new(shape, part(places.triples[n], shape.iter().product()))
                })
            })
            .collect();
        let mut squares = vec![0.0; table.features()];
        let mut emissions = Vec::new();
        for (v, emission) in self.network.emissions.iter().enumerate() {
            let (rows, cols) = (emission.mean.rows(), self.instruments(emission.node));
            emissions.push(Mat::from_vec(rows, cols, part(places.emissions[v], rows * cols)));
            let samples = sums[places.emissions[v]].max(1.0);
            table.features_of(v).for_each(|f| squares[f] = sums[places.squares + f] / samples);
        }
        let edges = (0..self.locals.len())
            .map(|n| {
                let parent = self.network.nodes[n].parent?;
                let (own, above) = self.edges[n];
                let (rows, cols) = (self.cols(n, own), self.cols(parent, above));
                Some(Mat::from_vec(rows, cols, part(places.edges[n], rows * cols)))
            })
            .collect();
        Second { triples, emissions, squares, edges }
    }
}

fn over_rows(
    table: &Table,
    rows: &[u32],
    len: usize,
    progress: &dyn Progress,
    add: impl Fn(&mut Open, &mut [f64]) + Sync,
) -> Result<Vec<f64>> {
    let (sums, _) = sum_blocks(
        rows.len(),
        BLOCK,
        || (vec![0.0; len], Open::new(table)),
        |(sums, open), range| {
            progress.check()?;
            for &sample in &rows[range] {
                let row = table.row(sample as usize);
                open.set(row, true);
                add(open, sums);
                open.set(row, false);
            }
            Ok(())
        },
        |total, lane| add_assign(&mut total.0, &lane.0),
    )?;
    Ok(sums)
}
