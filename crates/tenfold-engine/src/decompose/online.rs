//! Stochastic gradient: components from samples as they come.

use super::power::normalise;
use super::{Decomposition, Objective, Trace, largest_turn};
use crate::device::Steps;
use crate::error::{Error, Result};
use crate::linalg::{Mat, Rows, polar, random};
use crate::progress::{Progress, Silent};
use crate::tensor::{Contract, Cp, Implicit, Term};
use std::ops::Range;

/// Projected noisy stochastic gradient (thesis Algorithms 1 and 2), for tensors known only through samples.
///
/// # Complexity
/// O(d k b) a step for a batch of b samples, and one d × k singular value decomposition with retraction; memory
/// for one batch.
///
/// # References
/// Ge, Huang, Jin and Yuan, "Escaping from saddle points", COLT 2015; thesis chapter 2.
#[derive(Debug, Clone, PartialEq)]
pub struct Online {
    /// What a step does.
    pub update: Update,
    /// The step size.
    pub rate: Rate,
    /// Length of the random direction, uniform on the sphere, that is added to every column's gradient.
    pub noise: f64,
    /// Steps when the tensor itself is given; sample streams end by themselves.
    pub max_steps: usize,
    /// Largest turn of a column, ‖v′ ∓ v‖, since about the middle of the run that counts as converged.
    pub tolerance: f64,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Update {
    /// All columns: V ← polar((1 − ρ) V Λ + ρ T_t(I, V, …, V)), with Λ the running weights. Columns stay
    /// orthonormal, so they cannot collapse onto one component, and weights may have any sign.
    Retraction,
    /// Every column for itself: u ← (u − ρ (∇ + noise)) / ‖·‖, the thesis's projection on the sphere.
    Sphere(Objective),
    /// The thesis's plain STGD (appendix "Stochastic updates"): φ_i ← φ_i − ρ (θ Σ_j ⟨φ_j, φ_i⟩^(p−1) φ_j −
    /// T_t(I, φ_i, …, φ_i)), without a constraint. Kept for comparison: columns may collapse.
    Stgd {
        /// The factor of the repelling term.
        theta: f64,
    },
}

/// Step sizes ρ_t, t = 0, 1, …
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// ρ_t = rate: the error ends at a plateau.
    Constant(f64),
    /// ρ_t = first / (1 + decay·t): the error goes to zero.
    Decreasing {
        /// ρ₀.
        first: f64,
        /// How fast it falls.
        decay: f64,
    },
}

impl Rate {
    /// ρ_t.
    pub fn at(self, t: usize) -> f64 {
        match self {
            Self::Constant(rate) => rate,
            Self::Decreasing { first, decay } => first / (1.0 + decay * t as f64),
        }
    }
}

impl Default for Online {
    fn default() -> Self {
        // ρ = 1/(1 + 0.3 t) equals the batch answer after three epochs (measured on topic and block models).
        Self {
            update: Update::Retraction,
            rate: Rate::Decreasing { first: 1.0, decay: 0.3 },
            noise: 0.0,
            max_steps: 1000,
            tolerance: 0.05,
        }
    }
}

/// Gives stochastic tensors whose mean is the tensor to be decomposed.
pub trait Oracle {
    /// Calls `step` with the next stochastic tensor; false when there is none left.
    ///
    /// # Errors
    /// What `step` or the data source says.
    fn next(&mut self, step: &mut dyn FnMut(&dyn Contract) -> Result<()>) -> Result<bool>;
}

/// The tensor itself, `steps` times: the exact gradient.
pub struct Exact<'a> {
    /// The tensor.
    pub tensor: &'a dyn Contract,
    /// How often it is given.
    pub steps: usize,
}

impl Oracle for Exact<'_> {
    fn next(&mut self, step: &mut dyn FnMut(&dyn Contract) -> Result<()>) -> Result<bool> {
        if self.steps == 0 {
            return Ok(false);
        }
        self.steps -= 1;
        step(self.tensor).map(|()| true)
    }
}

/// Batches of samples: scale/b · Σ_batch y⊗…⊗y plus fixed shift terms. Batches are neighbours in the data (so that
/// a file is read in pieces) and come in a new random order every epoch.
pub struct Minibatches<'a> {
    samples: &'a dyn Rows,
    order: usize,
    scale: f64,
    shifts: Vec<Term<'a>>,
    batch: usize,
    epochs: usize,
    seed: u64,
    /// Batches still to come in this epoch, last first.
    queue: Vec<usize>,
    epoch: usize,
    buffer: Mat,
}

impl<'a> Minibatches<'a> {
    /// `epochs` passes over `samples` in batches of `batch` rows.
    pub fn new(samples: &'a dyn Rows, order: usize, batch: usize, epochs: usize, seed: u64) -> Self {
        assert!(batch > 0, "a batch holds samples");
        let buffer = Mat::zeros(0, samples.cols());
        Self {
            samples,
            order,
            scale: 1.0,
            shifts: Vec::new(),
            batch,
            epochs,
            seed,
            queue: Vec::new(),
            epoch: 0,
            buffer,
        }
    }

    /// Multiplies the sample term by `scale` and adds `shifts`, such as −sym(I⊗I) for the fourth cumulant.
    pub fn shifted(self, scale: f64, shifts: Vec<Term<'a>>) -> Self {
        Self { scale, shifts, ..self }
    }

    /// Steps in all.
    pub fn steps(&self) -> usize {
        self.epochs * self.samples.rows().div_ceil(self.batch)
    }

    /// Numbers in a sample.
    pub fn dim(&self) -> usize {
        self.samples.cols()
    }

    /// The rows of every batch of every epoch, in the order in which they come.
    pub(super) fn order_of_all(&self) -> Vec<Range<usize>> {
        let backwards = |epoch| self.shuffled(epoch).into_iter().rev();
        (0..self.epochs).flat_map(backwards).map(|at| self.rows_of(at)).collect()
    }

    /// What a device is told of the samples; the rest is the solver's.
    pub(super) fn run(&self) -> Steps<'_> {
        Steps {
            samples: self.samples,
            order: self.order,
            scale: self.scale,
            shifts: &self.shifts,
            batches: Vec::new(),
            start: Mat::zeros(0, 0),
            middle: 0,
            progress: &Silent,
        }
    }

    /// The batches of an epoch, last first.
    fn shuffled(&self, epoch: usize) -> Vec<usize> {
        let batches = self.samples.rows().div_ceil(self.batch);
        random::permutation(batches, &mut random::rng(self.seed, 1000 + epoch as u64))
    }

    fn rows_of(&self, batch: usize) -> Range<usize> {
        batch * self.batch..((batch + 1) * self.batch).min(self.samples.rows())
    }
}

impl Oracle for Minibatches<'_> {
    fn next(&mut self, step: &mut dyn FnMut(&dyn Contract) -> Result<()>) -> Result<bool> {
        if self.queue.is_empty() {
            if self.epoch == self.epochs {
                return Ok(false);
            }
            self.queue = self.shuffled(self.epoch);
            self.epoch += 1;
        }
        let Some(at) = self.queue.pop() else { return Ok(false) };
        let Range { start, end } = self.rows_of(at);
        let cols = self.samples.cols();
        if self.buffer.rows() != end - start {
            self.buffer = Mat::zeros(end - start, cols);
        }
        self.samples.read_rows(start, self.buffer.as_mut_slice())?;
        let scale = self.scale / (end - start) as f64;
        let mut terms = vec![Term::Powers { samples: &self.buffer, weights: None, scale }];
        terms.extend(self.shifts.iter().cloned());
        step(&Implicit::new(self.order, cols, terms)).map(|()| true)
    }
}

impl Online {
    /// Follows the oracle to its end, or to convergence.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for the decorrelation objective at order 3; [`Error::NoConvergence`] when the
    /// steps blow up; [`Error::Interrupted`]; what the data source says.
    pub fn run(
        &self,
        oracle: &mut dyn Oracle,
        dim: usize,
        k: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Decomposition> {
        super::check_k(k, dim)?;
        let mut rng = random::rng(seed, 400);
        let mut state = State {
            v: random::orthogonal(dim, k, &mut rng)?,
            weights: vec![0.0; k],
            residual: 1.0,
            order: 0,
            rng,
        };
        let mut trace = Trace::default();
        let mut snapshots: [Option<Mat>; 2] = [None, None];
        loop {
            progress.check()?;
            let more = oracle.next(&mut |tensor| self.step(tensor, trace.iterations, &mut state))?;
            if !more {
                break;
            }
            if state.v.as_slice().iter().any(|x| !x.is_finite()) {
                return Err(Error::NoConvergence("the stochastic gradient (take a smaller rate)"));
            }
            trace.iterations += 1;
            trace.residuals.push(state.residual);
            if trace.iterations.is_power_of_two() {
                snapshots = [Some(state.v.clone()), snapshots[0].take()];
            }
            progress.advance(1);
        }
        // The older of the last two snapshots was taken between a quarter and half of the way.
        trace.converged = snapshots[1].as_ref().is_some_and(|middle| turn(middle, &state.v) < self.tolerance);
        let cp = match self.update {
            Update::Stgd { theta } => Cp::normalised(state.order, vec![theta; k], state.v),
            _ => Cp::new(state.order, state.weights, state.v),
        };
        Ok(Decomposition { cp: cp.canonical(), trace, fit: None })
    }

    fn step(&self, tensor: &dyn Contract, t: usize, state: &mut State) -> Result<()> {
        let rate = self.rate.at(t);
        state.order = tensor.order();
        match self.update {
            Update::Retraction => self.retract(tensor, rate, t, state),
            Update::Sphere(objective) => {
                if objective == Objective::Decorrelation && tensor.order() != 4 {
                    let advice =
                        "the decorrelation objective is for order 4; turn the tensor with ptrace first";
                    return Err(Error::Unsupported(advice.into()));
                }
                let mut gradient = objective.gradient(tensor, &state.v)?;
                self.add_noise(&mut gradient, &mut state.rng);
                state.v.add_scaled(-rate, &gradient);
                normalise(&mut state.v);
                let own = tensor.power(&state.v)?;
                state.observe(&own, t);
                Ok(())
            }
            Update::Stgd { theta } => {
                let power = tensor.order() as i32 - 1;
                let own = tensor.power(&state.v)?;
                let mut gradient =
                    state.v.matmul(&state.v.tr_matmul(&state.v).map(|x| theta * x.powi(power)));
                gradient.add_scaled(-1.0, &own);
                self.add_noise(&mut gradient, &mut state.rng);
                state.residual +=
                    smoothing(t) * (gradient.norm() / own.norm().max(f64::MIN_POSITIVE) - state.residual);
                state.v.add_scaled(-rate, &gradient);
                Ok(())
            }
        }
    }

    fn retract(&self, tensor: &dyn Contract, rate: f64, t: usize, state: &mut State) -> Result<()> {
        let mut own = tensor.power(&state.v)?;
        state.observe(&own, t);
        if self.noise > 0.0 {
            own = own.map(|x| -x);
            self.add_noise(&mut own, &mut state.rng);
            own = own.map(|x| -x);
        }
        let mut next = state.v.clone();
        next.scale_cols(&state.weights.iter().map(|w| (1.0 - rate) * w).collect::<Vec<_>>());
        next.add_scaled(rate, &own);
        // Keep every column on its side when its weight is negative.
        next.scale_cols(&state.weights.iter().map(|w| if *w < 0.0 { -1.0 } else { 1.0 }).collect::<Vec<_>>());
        state.v = polar(&next)?;
        Ok(())
    }

    fn add_noise(&self, gradient: &mut Mat, rng: &mut random::Rng) {
        if self.noise > 0.0 {
            for c in 0..gradient.cols() {
                for (i, n) in random::sphere(gradient.rows(), rng).into_iter().enumerate() {
                    gradient[(i, c)] += self.noise * n;
                }
            }
        }
    }
}

struct State {
    v: Mat,
    /// Running mean of T_t(v, …, v).
    weights: Vec<f64>,
    /// Running eigen-residual.
    residual: f64,
    order: usize,
    rng: random::Rng,
}

impl State {
    /// Takes T_t(I, v, …, v) of this step into the running weights and residual.
    fn observe(&mut self, own: &Mat, t: usize) {
        let share = smoothing(t);
        let now = own.col_dots(&self.v);
        self.weights.iter_mut().zip(&now).for_each(|(w, n)| *w += share * (n - *w));
        self.residual += share * (super::eigen_residual(&self.v, own, &now) - self.residual);
    }
}

/// [`largest_turn`] of columns of any length.
pub(super) fn turn(a: &Mat, b: &Mat) -> f64 {
    let [mut a, mut b] = [a.clone(), b.clone()];
    normalise(&mut a);
    normalise(&mut b);
    largest_turn(&a, &b)
}

/// Weight of step t in the running means: the mean of all steps at first, of about the last 200 later.
pub(super) fn smoothing(t: usize) -> f64 {
    1.0 / (1.0 + (t as f64).min(200.0))
}
