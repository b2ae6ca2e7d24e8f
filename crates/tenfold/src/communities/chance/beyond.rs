//! What edges kept aside hold beyond what degrees explain.

use super::degrees::{Classes, Degrees};
use rayon::prelude::*;
use tenfold_engine::linalg::{Adjacency, Tall};

/// Rounds after which the factors of nodes are taken as they are; a dozen are enough.
const ROUNDS: usize = 50;

/// Change of the factors, in shares of the largest, that ends the rounds.
const SETTLED: f64 = 1e-4;

/// Steps of the conjugate gradients; fewer than ten are enough, because expected edges are nearly a product.
const STEPS: usize = 50;

/// Share of the residual, squared, that ends them.
const SOLVED: f64 = 1e-10;

/// The edges of one side of the nodes: all, and those kept aside.
#[derive(Clone, Copy)]
pub(super) struct Half<'a> {
    pub all: &'a Adjacency,
    pub aside: &'a Adjacency,
}

/// The terms t_uv = Σ_i w_i L_ui R_vi by which edges are scored.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub left: &'a Tall,
    pub right: &'a Tall,
    pub weights: &'a [f64],
}

impl Terms<'_> {
    pub(super) fn at(&self, u: usize, v: usize) -> f64 {
        let pairs = self.left.row(u).iter().zip(self.right.row(v)).zip(self.weights);
        pairs.map(|((a, b), w)| w * f64::from(*a) * f64::from(*b)).sum()
    }
}

/// Sums over the pairs that the others leave free, seen from one side.
struct Side<'a> {
    edges: Half<'a>,
    own: &'a Classes,
    others: &'a Classes,
    /// Probabilities by own class, then by that of the other end.
    rates: Vec<f64>,
    /// Whether a node could be its own neighbour, which no graph has.
    itself: bool,
}

impl Side<'_> {
    fn rate(&self, u: usize, v: usize) -> f64 {
        self.rates[self.own.of[u] as usize * self.others.count() + self.others.of[v] as usize]
    }

    /// Σ_v q_uv y_v for every u, v being neither u nor a neighbour among the others.
    fn sums(&self, y: &[f64]) -> Vec<f64> {
        let mut of_class = vec![0.0; self.others.count()];
        self.others.of.iter().zip(y).for_each(|(class, y)| of_class[*class as usize] += y);
        let rates = self.rates.chunks_exact(self.others.count().max(1));
        let whole: Vec<f64> = rates.map(|row| row.iter().zip(&of_class).map(|(q, y)| q * y).sum()).collect();
        let free = |u: usize| {
            let mut aside = self.edges.aside.row(u).0.iter().peekable();
            let mut taken = if self.itself { self.rate(u, u) * y[u] } else { 0.0 };
            for v in self.edges.all.row(u).0 {
                if aside.next_if_eq(&v).is_none() {
                    taken += self.rate(u, *v as usize) * y[*v as usize];
                }
            }
            whole[self.own.of[u] as usize] - taken
        };
        (0..self.own.of.len()).into_par_iter().with_min_len(1 << 10).map(free).collect()
    }
}

/// Expected edges kept aside, m_uv = h_u q_uv g_v on the pairs that the others leave free, with the sums of the rows and columns that
/// the edges kept aside have.
///
/// Of a pair that is joined with probability p, and of whose edges a share s is kept aside, q = s p / (1 − (1 − s) p) when the others
/// do not join it: that is the shape. The factors h and g take over the sums of the edges kept aside, weights too, so that what chance gave to
/// the degrees of the others, and by them to the directions, is not looked for again.
pub(super) struct Expected<'a> {
    forward: Side<'a>,
    back: Side<'a>,
    h: Vec<f64>,
    g: Vec<f64>,
}

impl<'a> Expected<'a> {
    pub(super) fn new(degrees: &'a Degrees, [rows, cols]: [Half<'a>; 2], itself: bool) -> Self {
        let share = rows.aside.entries() as f64 / rows.all.entries().max(1) as f64;
        let rates: Vec<f64> = degrees.joined.iter().map(|p| share * p / (1.0 - (1.0 - share) * p)).collect();
        let width = degrees.cols.count();
        let turned = (0..width).flat_map(|b| rates.iter().skip(b).step_by(width).copied()).collect();
        let (own, others) = (&degrees.rows, &degrees.cols);
        let forward = Side { edges: rows, own, others, rates, itself };
        let back = Side { edges: cols, own: others, others: own, rates: turned, itself };
        let sums = [rows.aside.strengths(), cols.aside.strengths()];
        let (mut h, mut g) = (vec![1.0; sums[0].len()], vec![1.0; sums[1].len()]);
        for _ in 0..ROUNDS {
            let next = over(&sums[0], &forward.sums(&g));
            let change = next.iter().zip(&h).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let largest = next.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            h = next;
            g = over(&sums[1], &back.sums(&h));
            if change < SETTLED * largest {
                break;
            }
        }
        Self { forward, back, h, g }
    }

    pub(super) fn at(&self, u: usize, v: usize) -> f64 {
        self.h[u] * self.forward.rate(u, v) * self.g[v]
    }

    /// Σ_v m_uv y_v for every u.
    fn over_cols(&self, y: &[f64]) -> Vec<f64> {
        times(&self.forward.sums(&times(y, &self.g)), &self.h)
    }

    /// Σ_u m_uv y_u for every v.
    fn over_rows(&self, y: &[f64]) -> Vec<f64> {
        times(&self.back.sums(&times(y, &self.h)), &self.g)
    }

    /// Σ_v m_uv t_uv for every u, and Σ_u m_uv t_uv for every v.
    pub(super) fn of_terms(&self, terms: Terms<'_>) -> (Vec<f64>, Vec<f64>) {
        let (mut rows, mut cols) = (vec![0.0; self.h.len()], vec![0.0; self.g.len()]);
        for (i, weight) in terms.weights.iter().enumerate() {
            let column = |x: &Tall| -> Vec<f64> { (0..x.rows()).map(|u| f64::from(x.row(u)[i])).collect() };
            let (left, right) = (column(terms.left), column(terms.right));
            let add = |out: &mut [f64], x: &[f64], y: &[f64]| {
                out.iter_mut().zip(x).zip(y).for_each(|((o, x), y)| *o += weight * x * y);
            };
            add(&mut rows, &left, &self.over_cols(&right));
            add(&mut cols, &right, &self.over_rows(&left));
        }
        (rows, cols)
    }

    /// Σ (B − m) (t − a_u − b_v) over the pairs that the others leave free, and its variance.
    ///
    /// a and b are what of t is a property of single nodes, by least squares with weights m: without them neither
    /// an error in the degrees moves the sum nor do fluctuations of degrees count as its noise. B (B − m) summed over edges is the variance of B.
    pub(super) fn score(&self, terms: Terms<'_>) -> (f64, f64) {
        let (rows, cols) = self.of_terms(terms);
        let sums = [self.over_cols(&vec![1.0; self.g.len()]), self.over_rows(&vec![1.0; self.h.len()])];
        let (a, b) = self.single([&rows, &cols], &sums);
        let mean = rows.iter().sum::<f64>() - dot(&sums[0], &a) - dot(&sums[1], &b);
        let (mut sum, mut squares) = (0.0, 0.0);
        each_edge(self.forward.edges.aside, |u, v, w| {
            let term = terms.at(u, v) - a[u] - b[v];
            sum += w * term;
            squares += w * (w - self.at(u, v)).max(0.0) * term * term;
        });
        (sum - mean, squares)
    }

    /// Solves Σ_v m_uv (a_u + b_v) = rows_u, Σ_u m_uv (a_u + b_v) = cols_v by conjugate gradients.
    fn single(&self, wanted: [&[f64]; 2], sums: &[Vec<f64>; 2]) -> (Vec<f64>, Vec<f64>) {
        let n = self.h.len();
        let diagonal = sums.concat();
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        let eased = |x: &[f64]| -> Vec<f64> {
            let pairs = x.iter().zip(&diagonal);
            pairs.map(|(x, d)| if *d > 1e-12 * largest { x / d } else { 0.0 }).collect()
        };
        let mut rest = wanted.concat();
        let mut found = vec![0.0; rest.len()];
        let mut way = eased(&rest);
        let mut size = dot(&rest, &way);
        let enough = SOLVED * size;
        for _ in 0..STEPS {
            if size <= enough {
                break;
            }
            let (a, b) = way.split_at(n);
            let mut image = times(&way, &diagonal);
            let crossed = self.over_cols(b).into_iter().chain(self.over_rows(a));
            image.iter_mut().zip(crossed).for_each(|(i, c)| *i += c);
            let length = size / dot(&way, &image).max(f64::MIN_POSITIVE);
            found.iter_mut().zip(&way).for_each(|(f, w)| *f += length * w);
            rest.iter_mut().zip(&image).for_each(|(r, i)| *r -= length * i);
            let next = eased(&rest);
            let now = dot(&rest, &next);
            way.iter_mut().zip(&next).for_each(|(w, n)| *w = n + now / size * *w);
            size = now;
        }
        let b = found.split_off(n);
        (found, b)
    }
}

/// a / b, nothing where there is nothing.
fn over(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| if *a > 0.0 && *b > 1e-9 { a / b } else { 0.0 }).collect()
}

fn times(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn each_edge(a: &Adjacency, mut visit: impl FnMut(usize, usize, f64)) {
    for u in 0..a.rows() {
        let (at, values) = a.row(u);
        for (e, &v) in at.iter().enumerate() {
            visit(u, v as usize, f64::from(values.map_or(1.0, |w| w[e])));
        }
    }
}
