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
use crate::kernels::{Entry, Gather, Kernel, Params, Work, line, word};
use crate::tensor::{send_rows, single};
use std::collections::VecDeque;
use std::ops::Range;
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
    /// Rows of a batch that are summed at a time.
    piece: usize,
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
    /// Two pieces of batches that take turns.
    Streamed([Array; 2]),
}

pub(crate) fn run(context: &Context, job: &Steps<'_>) -> Result<Stepped> {
    let run = Run::new(context, job)?;
    let source = Source::new(context, job, run.piece)?;
    let retraction = run.orthonormal();
    let mut queued = VecDeque::new();
    for (t, step) in job.batches.iter().enumerate() {
        job.progress.check()?;
        if queued.len() == AHEAD
            && let Some(oldest) = queued.pop_front()
        {
            context.wait_for(oldest)?;
        }
        for first in (0..step.samples).step_by(run.piece) {
            let piece = first..step.samples.min(first + run.piece);
            let samples = source.piece(context, job, (step, first, t), piece.len())?;
            context.submit(&run.sum(samples, piece, job.scale / step.samples.max(1) as f64));
        }
        context.submit(&run.step(t, step));
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
    fn new(context: &Context, job: &Steps<'_>, piece: usize) -> Result<Self> {
        let (n, dim) = (job.samples.rows(), job.samples.cols());
        let bytes = n as u64 * dim as u64 * 4;
        let two = || Ok(Self::Streamed([context.array(piece * dim)?, context.array(piece * dim)?]));
        if bytes > context.free() / 2 {
            return two();
        }
        let block = |(first, rows)| Ok((first, rows, send_rows(context, job.samples, first, rows)?));
        match blocks(context, job, piece).into_iter().map(block).collect::<Result<_>>() {
            // The driver refuses so much: two pieces will do.
            Err(Error::DeviceMemory { .. }) => two(),
            blocks => Ok(Self::Held(blocks?)),
        }
    }

    /// The array that holds `rows` samples of a step from its number `first` on, and their first row there.
    fn piece(
        &self,
        context: &Context,
        job: &Steps<'_>,
        (step, first, t): (&Step, usize, usize),
        rows: usize,
    ) -> Result<(&Array, usize)> {
        let from = step.first + first;
        match self {
            Self::Held(blocks) => {
                let (begin, _, array) = (blocks.iter())
                    .find(|(begin, rows, _)| (*begin..begin + rows).contains(&from))
                    .expect("every piece lies in a block");
                Ok((array, from - begin))
            }
            Self::Streamed(places) => {
                let mut numbers = vec![0.0; rows * job.samples.cols()];
                job.samples.read_rows(from, &mut numbers)?;
                // Queued work runs in order: what an earlier piece left here has been read by then.
                let place = &places[(t + first / rows.max(1)) % 2];
                context.write(place, 0, &single(&numbers));
                Ok((place, 0))
            }
        }
    }
}

/// Rows that go through the products together: a batch, or as much of it as arrays of samples, inner products and sums can hold.
fn piece_of(context: &Context, batch: usize, dim: usize, k: usize) -> usize {
    let most = |bytes: usize| (context.block as usize / (4 * bytes.max(1))).max(1);
    batch.min(most(dim.max(k))).min(SLAB * most(dim * k)).max(1)
}

/// First row and rows of the arrays that hold all samples: whole batches, so that none lies in two arrays, or pieces of batches.
fn blocks(context: &Context, job: &Steps<'_>, piece: usize) -> Vec<(usize, usize)> {
    let (n, dim) = (job.samples.rows(), job.samples.cols());
    let batch = largest(job);
    if piece == batch {
        let most = (context.block as usize / (4 * dim.max(1)) / batch).max(1) * batch;
        return (0..n).step_by(most).map(|first| (first, most.min(n - first))).collect();
    }
    let pieces = |begin: usize| {
        let end = n.min(begin + batch);
        (begin..end).step_by(piece).map(move |first| (first, piece.min(end - first)))
    };
    (0..n).step_by(batch).flat_map(pieces).collect()
}

fn largest(job: &Steps<'_>) -> usize {
    job.batches.iter().map(|s| s.samples).max().unwrap_or(1).max(1)
}

impl<'a> Run<'a> {
    fn new(context: &'a Context, job: &Steps<'_>) -> Result<Self> {
        let (dim, k) = (job.start.rows(), job.start.cols());
        let piece = piece_of(context, largest(job), dim, k);
        let array = |len: usize| context.array(len);
        let square = || array(k * k);
        Ok(Self {
            context,
            order: job.order,
            dim,
            k,
            piece,
            v: context.upload(&single(job.start.as_slice()))?,
            g: array(dim * k)?,
            inner: array(piece * k)?,
            parts: array(piece.div_ceil(SLAB) * dim * k)?,
            weights: context.upload(&vec![0.0f32; k])?,
            residuals: array(job.batches.len())?,
            columns: [array(dim * k)?, array(dim * k)?],
            square: [square()?, square()?, square()?],
            middle: context.upload(&single(job.start.as_slice()))?,
            image: array(dim * k)?,
            shifts: job.shifts.iter().map(|term| Shift::send(context, term)).collect::<Result<_>>()?,
        })
    }

    /// G = (what is there after the first piece +) the sum over a piece of a batch.
    fn sum(&self, left: (&Array, usize), piece: Range<usize>, scale: f64) -> Vec<Work> {
        let (context, dim, k, rows) = (self.context, self.dim, self.k, piece.len());
        let entry = if self.order == 3 { Entry::Square } else { Entry::Cube };
        let inner = context.product(left, &self.v, [rows, dim, k], entry, [&self.image, &self.inner]);
        let (right, shape) = ((&self.inner, 0), [rows, dim, k]);
        let gather = Gather { left, right, weights: None, shape, slab: SLAB, scale };
        let sum = context.gather(&gather, &self.parts);
        let fresh = piece.start == 0;
        vec![inner, sum, context.fold(&self.parts, &self.g, dim * k, rows.div_ceil(SLAB), fresh)]
    }

    /// The shifts of G, then the columns before they are orthonormal.
    fn step(&self, t: usize, step: &Step) -> Vec<Work> {
        let (context, dim, k) = (self.context, self.dim, self.k);
        let mut work = Vec::new();
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
            work.push(context.work(Kernel::Polynomial, &params, &[gram, squared, polynomial], line(k * k)));
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
