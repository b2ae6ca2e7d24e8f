//! How probable an edge is by the degrees of its ends, in a graph that joins a pair at most once.

use super::super::data::{Graph, Kind};
use rayon::prelude::*;
use tenfold_engine::linalg::Adjacency;

/// Degrees up to which every degree is a class of its own.
const OWN_CLASS: usize = 64;

/// Classes from a larger degree to twice that: two hundredths between neighbours, less than chance gives such a degree.
const A_DOUBLING: f64 = 32.0;

/// Rounds of shape and propensities; after eight the expected degrees are right to about a thousandth.
const ROUNDS: usize = 8;

/// Steps of the propensities in a round.
const STEPS: usize = 5;

/// Steps of the propensities before the shape is looked at.
const FIRST_STEPS: usize = 40;

/// Entries that a point of the shape is made from: it is then known to a tenth.
const ENTRIES: f64 = 100.0;

/// Below this product of propensities pairs are so rarely joined that the shape cannot bend.
const STRAIGHT: f64 = 1.0 / 64.0;

/// Doublings of the product above [`STRAIGHT`] that are told apart.
const BINS: usize = 60;

/// No pair is surely joined.
const MOST: f64 = 0.999;

/// Nodes of about one degree.
pub(super) struct Classes {
    /// The class of every node.
    pub of: Vec<u32>,
    sizes: Vec<f64>,
    /// Σ of the degrees.
    ends: Vec<f64>,
}

impl Classes {
    fn new(degrees: &[usize]) -> Self {
        let key = |d: usize| match d {
            0..=OWN_CLASS => d,
            _ => OWN_CLASS + (A_DOUBLING * (d as f64 / OWN_CLASS as f64).log2()) as usize,
        };
        let mut keys: Vec<usize> = degrees.iter().map(|d| key(*d)).collect();
        let of_node = keys.clone();
        keys.sort_unstable();
        keys.dedup();
        let of: Vec<u32> = of_node.iter().map(|k| keys.partition_point(|other| other < k) as u32).collect();
        let (mut sizes, mut ends) = (vec![0.0; keys.len()], vec![0.0; keys.len()]);
        for (class, d) in of.iter().zip(degrees) {
            sizes[*class as usize] += 1.0;
            ends[*class as usize] += *d as f64;
        }
        Self { of, sizes, ends }
    }

    pub(super) fn count(&self) -> usize {
        self.sizes.len()
    }
}

/// The probability of an edge by the classes of its ends: F(x_a y_b), where x and y are such that every class has the degree it has.
///
/// F begins as z / (1 + z), the law of a graph that is drawn evenly from all with these degrees. Graphs saturate in other ways too:
/// min(1, z), 1 − exp(−z) when pairs are drawn and copies dropped, and below 1 when only some edges were written down. So F is
/// bent until pairs of each size of z have as many edges as they have.
pub(super) struct Degrees {
    pub rows: Classes,
    pub cols: Classes,
    /// Row-major, a row for each class of rows.
    pub joined: Vec<f64>,
}

/// ln F(z) − ln(z / (1 + z)) at points of ln z, straight between them.
struct Shape(Vec<(f64, f64)>);

impl Shape {
    fn at(&self, log: f64) -> f64 {
        let next = self.0.partition_point(|point| point.0 < log);
        match (next.checked_sub(1).and_then(|i| self.0.get(i)), self.0.get(next)) {
            (Some((x0, y0)), Some((x1, y1))) => y0 + (y1 - y0) * (log - x0) / (x1 - x0),
            (Some(point), None) | (None, Some(point)) => point.1,
            (None, None) => 0.0,
        }
    }

    fn joined(&self, z: f64) -> f64 {
        if z <= 0.0 { 0.0 } else { (z / (1.0 + z) * self.at(z.ln()).exp()).min(MOST) }
    }
}

impl Degrees {
    /// # Complexity
    /// O(edges + D²) for D classes on a side: at most some hundreds, whatever the graph.
    pub(super) fn of(graph: &Graph) -> Self {
        let all = graph.adjacency();
        let degrees = |a: &Adjacency| -> Vec<usize> { (0..a.rows()).map(|u| a.degree(u)).collect() };
        let [rows, cols] = [all, graph.transposed().unwrap_or(all)].map(|side| Classes::new(&degrees(side)));
        let width = cols.count();
        let place = |u: usize, v: usize| rows.of[u] as usize * width + cols.of[v] as usize;
        let mut pairs: Vec<f64> =
            rows.sizes.iter().flat_map(|a| cols.sizes.iter().map(move |b| a * b)).collect();
        if graph.kind() != Kind::Bipartite {
            (0..rows.of.len()).for_each(|u| pairs[place(u, u)] -= 1.0);
        }
        let mut edges = vec![0.0; pairs.len()];
        for u in 0..all.rows() {
            all.row(u).0.iter().for_each(|&v| edges[place(u, v as usize)] += 1.0);
        }
        let joined = fitted(&pairs, &edges, (&rows.ends, &cols.ends), graph.transposed().is_none());
        Self { rows, cols, joined }
    }
}

/// Probabilities by classes, from the pairs and the edges between classes and the ends of edges in each.
fn fitted(pairs: &[f64], edges: &[f64], ends: (&[f64], &[f64]), symmetric: bool) -> Vec<f64> {
    let width = ends.1.len();
    let root = ends.0.iter().sum::<f64>().max(1.0).sqrt();
    // Nodes without an edge keep their zero.
    let start = |ends: &[f64], pairs: &dyn Fn(usize) -> f64| -> Vec<f64> {
        ends.iter().enumerate().map(|(i, e)| e / pairs(i).max(1.0) * root).collect()
    };
    let of_row = |a: usize| pairs[a * width..(a + 1) * width].iter().sum::<f64>();
    let of_col = |b: usize| pairs.iter().skip(b).step_by(width).sum::<f64>();
    // d_a / √Σd, where the pairs of a class are its nodes times all others.
    let (mut x, mut y) = (start(ends.0, &of_row), start(ends.1, &of_col));
    let scale = |x: &[f64], y: &[f64]| -> f64 {
        let sum: f64 = pairs.iter().enumerate().map(|(i, n)| n * x[i / width] * y[i % width]).sum();
        (ends.0.iter().sum::<f64>() / sum.max(f64::MIN_POSITIVE)).sqrt()
    };
    let first = scale(&x, &y);
    x.iter_mut().chain(&mut y).for_each(|value| *value *= first);
    let table = |shape: &Shape, x: &[f64], y: &[f64]| -> Vec<f64> {
        let mut out = vec![0.0; pairs.len()];
        out.par_chunks_mut(width.max(1)).zip(x).for_each(|(row, x)| {
            row.iter_mut().zip(y).for_each(|(out, y)| *out = shape.joined(x * y));
        });
        out
    };
    let step = |shape: &Shape, x: &mut [f64], y: &mut [f64]| {
        let expected = table(shape, x, y);
        for (a, x) in x.iter_mut().enumerate() {
            let sum: f64 = (a * width..(a + 1) * width).map(|i| pairs[i] * expected[i]).sum();
            *x *= if sum > 0.0 { ends.0[a] / sum } else { 1.0 };
        }
        let expected = table(shape, x, y);
        for (b, y) in y.iter_mut().enumerate() {
            let sum: f64 = (b..pairs.len()).step_by(width).map(|i| pairs[i] * expected[i]).sum();
            *y *= if sum > 0.0 { ends.1[b] / sum } else { 1.0 };
        }
    };
    let mut shape = Shape(Vec::new());
    (0..FIRST_STEPS).for_each(|_| step(&shape, &mut x, &mut y));
    for _ in 0..ROUNDS {
        shape = bent(pairs, edges, (&x, &y));
        (0..STEPS).for_each(|_| step(&shape, &mut x, &mut y));
    }
    let mut out = table(&shape, &x, &y);
    if symmetric {
        for a in 0..width {
            for b in 0..a {
                let mean = 0.5 * (out[a * width + b] + out[b * width + a]);
                (out[a * width + b], out[b * width + a]) = (mean, mean);
            }
        }
    }
    out
}

/// The shape by which pairs of each size of z have the edges that they have.
fn bent(pairs: &[f64], edges: &[f64], (x, y): (&[f64], &[f64])) -> Shape {
    // Of each bin the expected edges, those that are there, and Σ expected · ln z.
    let mut bins = [[0.0; 3]; BINS + 1];
    for (i, (n, e)) in pairs.iter().zip(edges).enumerate() {
        let z = x[i / y.len()] * y[i % y.len()];
        if z > 0.0 && *n > 0.0 {
            let bin = ((z / STRAIGHT).log2().floor() + 1.0).clamp(0.0, BINS as f64) as usize;
            let expected = n * z / (1.0 + z);
            let sums = [expected, *e, expected * z.ln()];
            bins[bin].iter_mut().zip(sums).for_each(|(bin, s)| *bin += s);
        }
    }
    // From the top, where few pairs hold what matters; bins of too few edges are one with the next.
    let (mut points, mut held) = (Vec::new(), [0.0; 3]);
    for bin in bins.iter().rev() {
        held.iter_mut().zip(bin).for_each(|(held, b)| *held += b);
        let [expected, there, logs] = held;
        if expected >= ENTRIES && there > 0.0 {
            points.push((logs / expected, (there / expected).ln()));
            held = [0.0; 3];
        }
    }
    points.reverse();
    Shape(points)
}
