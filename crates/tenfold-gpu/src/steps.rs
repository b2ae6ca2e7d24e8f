//! The online solver's steps, with the columns on the card from the first to the last.
//!
//! A step contracts the tensor of its batch, V ↦ G = T_t(I, V, …, V), mixes it with what was known, and makes the columns
//! orthonormal again. The polar factor is found by products alone: X ← X (a I + b XᵀX + c (XᵀX)²), which drives all singular values
//! to one. Eight steep rounds bring singular values from 5e-5 of the largest up to about one, five gentle ones square what is
//! left of the error. Nothing comes down before the last step.
//!
//! # References
//! Björck and Bowie, "An iterative algorithm for computing the best estimate of an orthogonal matrix", SIAM J. Numer. Anal. 8 (1971).

use crate::context::{Array, Context};
use crate::kernels::{Entry, Gather, Kernel, Params, Work, word};
use crate::tensor::{send_rows, single};
use std::collections::VecDeque;
use tenfold_engine::device::{Step, Stepped, Steps};
use tenfold_engine::linalg::Mat;
use tenfold_engine::tensor::Term;
use tenfold_engine::{Error, Result};

/// a, b, c of every round. The steep rounds triple small singular values and keep all of them below 1.3; the gentle ones are Newton
/// and Schulz's 1.5 σ − 0.5 σ³.
const STEEP: [f32; 3] = [3.4445, -4.7750, 2.0315];
const GENTLE: [f32; 3] = [1.5, -0.5, 0.0];
const STEEP_ROUNDS: usize = 8;
const GENTLE_ROUNDS: usize = 5;
/// Rows of a batch whose sum one workgroup makes.
const SLAB: usize = 128;
/// Steps that are queued ahead of the one that is waited for.
const AHEAD: usize = 2;

/// The arrays of a run.
struct Run<'a> {
    context: &'a Context,
    order: usize,
    dim: usize,
    k: usize,
    v: Array,
    g: Array,
    inner: Array,
    parts: Array,
    weights: Array,
    residuals: Array,
    /// Two places for the columns on their way, and Gram matrix, its square and the polynomial.
    columns: [Array; 2],
    square: [Array; 3],
    middle: Array,
    image: Array,
    shifts: Vec<Shift>,
}

/// A shift term on the card: its kernel's mode, factor, matrix and vector.
struct Shift {
    mode: u32,
    scale: f64,
    matrix: Option<Array>,
    vector: Array,
}

/// Where the samples of a step are.
enum Source {
    /// All of them: the first row and the rows of each block.
    Held(Vec<(usize, usize, Array)>),
    /// Two batches that take turns.
    Streamed([Array; 2]),
}

pub(crate) fn run(context: &Context, job: &Steps<'_>) -> Result<Stepped> {
    let run = Run::new(context, job)?;
    let largest = job.batches.iter().map(|s| s.samples).max().unwrap_or(1);
    let source = Source::new(context, job, largest)?;
    let retraction = run.orthonormal();
    let mut queued = VecDeque::new();
    for (t, step) in job.batches.iter().enumerate() {
        job.progress.check()?;
        if queued.len() == AHEAD
            && let Some(oldest) = queued.pop_front()
        {
            context.wait_for(oldest)?;
        }
        let (samples, first) = source.batch(context, job, t, step)?;
        context.submit(&run.step(samples, first, job.scale, t, step));
        let mut last = context.submit(&retraction);
        if t + 1 == job.middle {
            last = context.submit(&[context.fold(&run.v, &run.middle, run.dim * run.k, 1, true)]);
        }
        queued.push_back(last);
        context.count_call();
        job.progress.advance(1);
    }
    let down = |array: &Array, len: usize| -> Result<Vec<f64>> {
        Ok(context.run(&[], array, len)?.into_iter().map(f64::from).collect())
    };
    let len = run.dim * run.k;
    Ok(Stepped {
        columns: Mat::from_vec(run.dim, run.k, down(&run.v, len)?),
        middle: Mat::from_vec(run.dim, run.k, down(&run.middle, len)?),
        weights: down(&run.weights, run.k)?,
        residuals: down(&run.residuals, job.batches.len())?,
    })
}

impl Source {
    /// All samples where they take at most half of the memory that is left.
    fn new(context: &Context, job: &Steps<'_>, batch: usize) -> Result<Self> {
        let (n, dim) = (job.samples.rows(), job.samples.cols());
        let bytes = n as u64 * dim as u64 * 4;
        let two = || Ok(Self::Streamed([context.array(batch * dim)?, context.array(batch * dim)?]));
        if bytes > context.free() / 2 {
            return two();
        }
        // Whole batches, so that none lies in two arrays.
        let most = (context.block as usize / (4 * dim.max(1)) / batch).max(1) * batch;
        let block = |first: usize| {
            let rows = most.min(n - first);
            Ok((first, rows, send_rows(context, job.samples, first, rows)?))
        };
        match (0..n).step_by(most).map(block).collect::<Result<_>>() {
            // The driver refuses so much: two batches will do.
            Err(Error::DeviceMemory { .. }) => two(),
            blocks => Ok(Self::Held(blocks?)),
        }
    }

    /// The array that holds a batch, and its first row there.
    fn batch(&self, context: &Context, job: &Steps<'_>, t: usize, step: &Step) -> Result<(&Array, usize)> {
        match self {
            Self::Held(blocks) => {
                let (first, _, array) = (blocks.iter())
                    .find(|(first, rows, _)| (*first..first + rows).contains(&step.first))
                    .expect("every batch lies in a block");
                Ok((array, step.first - first))
            }
            Self::Streamed(places) => {
                let mut numbers = vec![0.0; step.samples * job.samples.cols()];
                job.samples.read_rows(step.first, &mut numbers)?;
                context.write(&places[t % 2], 0, &single(&numbers));
                Ok((&places[t % 2], 0))
            }
        }
    }
}

impl<'a> Run<'a> {
    fn new(context: &'a Context, job: &Steps<'_>) -> Result<Self> {
        let (dim, k) = (job.start.rows(), job.start.cols());
        let batch = job.batches.iter().map(|s| s.samples).max().unwrap_or(1);
        let array = |len: usize| context.array(len);
        let square = || array(k * k);
        Ok(Self {
            context,
            order: job.order,
            dim,
            k,
            v: context.upload(&single(job.start.as_slice()))?,
            g: array(dim * k)?,
            inner: array(batch * k)?,
            parts: array(batch.div_ceil(SLAB) * dim * k)?,
            weights: context.upload(&vec![0.0f32; k])?,
            residuals: array(job.batches.len())?,
            columns: [array(dim * k)?, array(dim * k)?],
            square: [square()?, square()?, square()?],
            middle: context.upload(&single(job.start.as_slice()))?,
            image: array(dim * k)?,
            shifts: job.shifts.iter().map(|term| Shift::send(context, term)).collect::<Result<_>>()?,
        })
    }

    /// G of a batch, then the columns before they are orthonormal.
    fn step(&self, samples: &Array, first: usize, scale: f64, t: usize, step: &Step) -> Vec<Work> {
        let (context, dim, k, rows) = (self.context, self.dim, self.k, step.samples);
        let entry = if self.order == 3 { Entry::Square } else { Entry::Cube };
        let mut work = vec![context.product(
            (samples, first),
            &self.v,
            [rows, dim, k],
            entry,
            [&self.image, &self.inner],
        )];
        let scale = scale / rows.max(1) as f64;
        let gather = Gather {
            left: (samples, first),
            right: (&self.inner, 0),
            weights: None,
            shape: [rows, dim, k],
            slab: SLAB,
            scale,
        };
        work.push(context.gather(&gather, &self.parts));
        work.push(context.fold(&self.parts, &self.g, dim * k, rows.div_ceil(SLAB), true));
        self.shifts.iter().for_each(|shift| self.add_shift(shift, &mut work));
        let params = Params {
            rows: word(dim),
            width: word(k),
            place: word(t),
            a: step.rate as f32,
            b: step.share as f32,
            ..Params::default()
        };
        let arrays = [&self.v, &self.g, &self.weights, &self.columns[0], &self.residuals];
        work.push(context.work(Kernel::Retract, &params, &arrays, [1, 1, 1]));
        work
    }

    fn add_shift(&self, shift: &Shift, work: &mut Vec<Work>) {
        let (context, dim, k) = (self.context, self.dim, self.k);
        if let Some(matrix) = &shift.matrix {
            let out = [&shift.vector, &self.image];
            work.push(context.product((matrix, 0), &self.v, [dim, dim, k], Entry::Keep, out));
        }
        let params = Params {
            rows: word(dim),
            width: word(k),
            slab: word(self.order - 1),
            mode: shift.mode,
            scale: shift.scale as f32,
            ..Params::default()
        };
        let arrays = [&self.image, &self.v, &shift.vector, &self.g];
        work.push(context.work(Kernel::Shift, &params, &arrays, [word(k), 1, 1]));
    }

    /// V = polar(columns[0]) by products alone.
    fn orthonormal(&self) -> Vec<Work> {
        let (context, dim, k) = (self.context, self.dim, self.k);
        let rounds = [STEEP; STEEP_ROUNDS].into_iter().chain([GENTLE; GENTLE_ROUNDS]);
        let [gram, squared, polynomial] = &self.square;
        let mut work = Vec::new();
        for (at, [a, b, c]) in rounds.enumerate() {
            let x = &self.columns[at % 2];
            let last = at + 1 == STEEP_ROUNDS + GENTLE_ROUNDS;
            let next = if last { &self.v } else { &self.columns[(at + 1) % 2] };
            let shape = [dim, k, k];
            let (left, weights, slab) = ((x, 0), None, dim.max(1));
            let sum = Gather { left, right: left, weights, shape, slab, scale: 1.0 };
            work.push(context.gather(&sum, gram));
            if c != 0.0 {
                work.push(context.product((gram, 0), gram, [k, k, k], Entry::Keep, [gram, squared]));
            }
            let params = Params { rows: word(k), a, b, c, ..Params::default() };
            let grid = [word((k * k).div_ceil(64)), 1, 1];
            work.push(context.work(Kernel::Polynomial, &params, &[gram, squared, polynomial], grid));
            work.push(context.product((x, 0), polynomial, shape, Entry::Keep, [gram, next]));
        }
        work
    }
}

impl Shift {
    fn send(context: &Context, term: &Term<'_>) -> Result<Self> {
        let (mode, scale, matrix, vector) = match term {
            Term::MatrixPair { matrix, scale } => (0, *scale, Some(matrix), None),
            Term::MatrixVector { matrix, vector, scale } => (1, *scale, Some(matrix), Some(vector)),
            Term::RankOne { vector, scale } => (2, *scale, None, Some(vector)),
            Term::Powers { .. } | Term::Mixed { .. } => unreachable!("shifts have no samples"),
        };
        let matrix = matrix.map(|m| context.upload(&single(m.as_slice()))).transpose()?;
        let vector = context.upload(&single(vector.map_or(&[0.0][..], |v| v)))?;
        Ok(Self { mode, scale, matrix, vector })
    }
}
