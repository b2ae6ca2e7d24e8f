//! Smooth functions of many variables, minimised from a start: L-BFGS.

use super::dot;
use std::collections::VecDeque;

/// How far and how long a descent goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descent {
    /// Steps at most.
    pub max_iterations: usize,
    /// Ends when one step lowers the value by less than this share of it.
    pub tolerance: f64,
}

/// Where a descent ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The point with the lowest value that was met.
    pub point: Vec<f64>,
    /// The value there.
    pub value: f64,
    /// Steps taken.
    pub iterations: usize,
    /// Whether it ended because nothing was left to gain.
    pub converged: bool,
}

/// Pairs of steps and gradient changes that stand for the curvature: twenty, more do not help at these sizes.
const MEMORY: usize = 20;

/// Evaluations in one search along a line.
const LINE_STEPS: usize = 30;

/// Share of the predicted decrease that a step must reach; CURVATURE is the share of the slope that may be left (Nocedal and Wright,
/// 2006, section 3.1).
const ARMIJO: f64 = 1e-4;

/// See [`ARMIJO`].
const CURVATURE: f64 = 0.9;

impl Descent {
    /// Minimises f from `start`; `value_and_gradient(x, g)` gives f(x) and writes ∇f(x) to g.
    ///
    /// x ← x − t H ∇f(x), with H the curvature that the last twenty steps showed and t by bisection until the weak Wolfe
    /// conditions hold (Lewis and Overton, 2013). A search that finds no lower value ends the descent at the best
    /// point instead of failing: an estimate is wanted, and how good it is will be measured anyway.
    ///
    /// # Example
    /// ```
    /// use tenfold_engine::linalg::Descent;
    /// let descent = Descent { max_iterations: 200, tolerance: 1e-15 };
    /// let found = descent.minimise(&[-1.2, 1.0], |x, g| {
    ///     let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
    ///     g[0] = -2.0 * a - 400.0 * x[0] * b;
    ///     g[1] = 200.0 * b;
    ///     a * a + 100.0 * b * b
    /// });
    /// assert!((found.point[0] - 1.0).abs() < 1e-6 && found.converged);
    /// ```
    pub fn minimise(
        &self,
        start: &[f64],
        mut value_and_gradient: impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Minimum {
        let mut x = start.to_vec();
        let mut gradient = vec![0.0; x.len()];
        let mut value = value_and_gradient(&x, &mut gradient);
        let mut memory = Memory::default();
        for iteration in 0..self.max_iterations {
            let mut direction = memory.direction(&gradient);
            let mut slope = dot(&direction, &gradient);
            if slope >= 0.0 {
                memory.pairs.clear();
                direction = gradient.iter().map(|g| -g).collect();
                slope = -dot(&gradient, &gradient);
            }
            if slope == 0.0 || !value.is_finite() {
                return Minimum { point: x, value, iterations: iteration, converged: true };
            }
            let first = if memory.pairs.is_empty() { 1.0 / (-slope).sqrt().max(1e-300) } else { 1.0 };
            let line = Line { x: &x, direction: &direction, value, slope };
            let Some(step) = line.search(first, &mut value_and_gradient) else {
                if memory.pairs.is_empty() {
                    return Minimum { point: x, value, iterations: iteration, converged: true };
                }
                memory.pairs.clear();
                continue;
            };
            let gained = value - step.value;
            memory.learn(&x, &step.x, &gradient, &step.gradient);
            (x, gradient, value) = (step.x, step.gradient, step.value);
            if gained <= self.tolerance * value.abs().max(1e-300) {
                return Minimum { point: x, value, iterations: iteration + 1, converged: true };
            }
        }
        Minimum { point: x, value, iterations: self.max_iterations, converged: false }
    }
}

struct Line<'a> {
    x: &'a [f64],
    direction: &'a [f64],
    value: f64,
    slope: f64,
}

struct Step {
    x: Vec<f64>,
    gradient: Vec<f64>,
    value: f64,
}

impl Line<'_> {
    /// A step that goes down enough and far enough; the lowest that was met when none does both.
    fn search(&self, first: f64, f: &mut impl FnMut(&[f64], &mut [f64]) -> f64) -> Option<Step> {
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, first);
        let mut best: Option<Step> = None;
        for _ in 0..LINE_STEPS {
            let x: Vec<f64> = self.x.iter().zip(self.direction).map(|(x, d)| x + t * d).collect();
            let mut gradient = vec![0.0; x.len()];
            let value = f(&x, &mut gradient);
            let enough = value.is_finite() && value <= self.value + ARMIJO * t * self.slope;
            let flat = enough && dot(&gradient, self.direction) >= CURVATURE * self.slope;
            if enough && best.as_ref().is_none_or(|best| value < best.value) {
                best = Some(Step { x, gradient, value });
            }
            if flat {
                break;
            }
            if enough {
                low = t
            } else {
                high = t
            }
            t = if high.is_finite() { (low + high) / 2.0 } else { 2.0 * t };
        }
        best
    }
}

#[derive(Default)]
struct Memory {
    /// Step, change of the gradient, 1 / their product; newest last.
    pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
}

impl Memory {
    fn learn(&mut self, from: &[f64], to: &[f64], before: &[f64], after: &[f64]) {
        let s: Vec<f64> = to.iter().zip(from).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
        let product = dot(&s, &y);
        // Without positive curvature along the step the pair says nothing about a minimum.
        if product > 1e-14 * dot(&y, &y).sqrt() * dot(&s, &s).sqrt() {
            self.pairs.push_back((s, y, 1.0 / product));
            if self.pairs.len() > MEMORY {
                self.pairs.pop_front();
            }
        }
    }

    /// −H∇f by the two loops over the pairs (Nocedal, 1980).
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for (s, y, inverse) in self.pairs.iter().rev() {
            let share = inverse * dot(s, &q);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= share * y);
            shares.push(share);
        }
        if let Some((_, y, inverse)) = self.pairs.back() {
            let scale = 1.0 / (inverse * dot(y, y));
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for ((s, y, inverse), share) in self.pairs.iter().zip(shares.iter().rev()) {
            let rest = share - inverse * dot(y, &q);
            q.iter_mut().zip(s).for_each(|(q, s)| *q += rest * s);
        }
        q
    }
}
