//! What a card reaches: its rates, and what our kernels make of them.

use crate::Gpu;
use crate::kernels::Entry;
use std::time::Instant;
use tenfold_engine::Result;
use tenfold_engine::decompose::{Minibatches, Online};
use tenfold_engine::device::{Accelerator, Device};
use tenfold_engine::linalg::{Adjacency, Tall, random};
use tenfold_engine::progress::Silent;
use tenfold_engine::tensor::{Contract, Implicit, Term};

/// Sizes and rates of one run; rates are by wall clock, the best of three.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Floating-point operations a second of a square matrix product in f32.
    pub products: f64,
    /// Bytes a second that a kernel reads and writes.
    pub memory: f64,
    /// Bytes a second from the host to the card.
    pub up: f64,
    /// Bytes a second from the card to the host.
    pub down: f64,
    /// The kernels in use.
    pub kernels: Vec<Timed>,
}

/// One kind of work on the card and on the processor.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// What was done.
    pub name: String,
    /// Seconds on the card, transfers included.
    pub seconds: f64,
    /// Seconds on the processor's current threads.
    pub processor: f64,
    /// Time that the card's own rates allow, as a share of what it took.
    pub share: f64,
}

/// Side of the square product: 2 · 1024³ operations.
const SIDE: usize = 1024;
/// Numbers of the array that is copied, 16 MB.
const COPIED: usize = 4_000_000;

/// Measures a card with samples of `k` numbers.
///
/// # Errors
/// What the card says.
pub fn measure(gpu: &Gpu, samples: usize, k: usize) -> Result<Measured> {
    let context = &gpu.context;
    let [a, b, c] = [context.array(SIDE * SIDE)?, context.array(SIDE * SIDE)?, context.array(SIDE * SIDE)?];
    let product = [context.product((&a, 0), &b, [SIDE; 3], Entry::Keep, [&b, &c])];
    let products = 2.0 * (SIDE as f64).powi(3) / best(|| context.run(&product, &c, 1).map(drop))?;
    let numbers = vec![1.0f32; COPIED];
    let (from, to) = (context.array(COPIED)?, context.array(COPIED)?);
    let bytes = 4.0 * COPIED as f64;
    let up = best(|| {
        context.write(&from, 0, &numbers);
        context.run(&[], &from, 1).map(drop)
    })?;
    let down = best(|| context.run(&[], &from, COPIED).map(drop))?;
    let copies: Vec<_> = (0..8).map(|_| context.fold(&from, &to, COPIED, 1, true)).collect();
    let memory = 16.0 * bytes / best(|| context.run(&copies, &to, 1).map(drop))?;
    let mut found = Measured { products, memory, up: bytes / up, down: bytes / down, kernels: Vec::new() };
    found.kernels = vec![
        contraction(gpu, &found, samples, k)?,
        sparse(gpu, &found, samples, k)?,
        steps(gpu, &found, samples, k)?,
    ];
    Ok(found)
}

/// The shortest of three.
fn best(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut shortest = f64::INFINITY;
    for _ in 0..3 {
        let begin = Instant::now();
        work()?;
        shortest = shortest.min(begin.elapsed().as_secs_f64());
    }
    Ok(shortest)
}

impl Measured {
    fn timed(&self, name: String, seconds: f64, processor: f64, work: [f64; 2]) -> Timed {
        let allowed = (work[0] / self.products).max(work[1] / self.memory);
        Timed { name, seconds, processor, share: allowed / seconds }
    }
}

/// T(I, V, V) over the samples: 4·n·k² operations; Y and the inner products are read or written four times in all.
fn contraction(gpu: &Gpu, rates: &Measured, n: usize, k: usize) -> Result<Timed> {
    let y = random::gaussian(n, k, &mut random::rng(1, 0));
    let v = random::orthogonal(k, k, &mut random::rng(1, 1))?;
    let powers = Term::Powers { samples: &y, weights: None, scale: 1.0 / n as f64 };
    let tensor = Implicit::new(3, k, vec![powers]);
    let held = gpu.tensor(&tensor)?;
    let seconds = best(|| held.power(&v).map(drop))?;
    let processor = best(|| tensor.power(&v).map(drop))?;
    let (n, k) = (n as f64, k as f64);
    let name = format!("contraction, {n} samples, k = {k}");
    Ok(rates.timed(name, seconds, processor, [4.0 * n * k * k, 16.0 * n * k]))
}

/// A · X for a graph of 16 edges a node: 2·entries·k operations, a row of X read for every entry.
fn sparse(gpu: &Gpu, rates: &Measured, nodes: usize, k: usize) -> Result<Timed> {
    let edge = |i: usize| ((i / 8) as u32, (i.wrapping_mul(2_654_435_761) >> 7) as u32 % nodes as u32);
    let edges: Vec<(u32, u32)> = (0..8 * nodes).map(edge).filter(|(a, b)| a != b).collect();
    let graph = Adjacency::undirected(nodes, vec![edges], None)?;
    let (x, held) = (Tall::gaussian(nodes, k, 1), gpu.matrix(&graph)?);
    let seconds = best(|| held.multiply(&x).map(drop))?;
    let mut out = Tall::zeros(nodes, k);
    let processor = best(|| {
        graph.multiply(x.as_slice(), k, out.as_mut_slice());
        Ok(())
    })?;
    let entries = graph.entries() as f64;
    let name = format!("sparse product, {nodes} nodes, {entries} entries, {k} columns");
    Ok(rates.timed(name, seconds, processor, [2.0 * entries * k as f64, entries * (8.0 + 4.0 * k as f64)]))
}

/// Steps of the online solver over batches of 1024: two products with the batch and 34 of k × k for the retraction.
fn steps(gpu: &Gpu, rates: &Measured, n: usize, k: usize) -> Result<Timed> {
    let n = n.clamp(1024, 32 * 1024);
    let y = random::gaussian(n, k, &mut random::rng(1, 0));
    let batches = || Minibatches::new(&y, 3, 1024, 1, 1);
    let count = batches().steps() as f64;
    let once = |device: &Device| {
        let begin = Instant::now();
        Online::default().run_on(device, batches(), k, 1, &Silent)?;
        Ok(begin.elapsed().as_secs_f64())
    };
    let on = Device::required(std::sync::Arc::new(Gpu { context: gpu.context.clone() }));
    let (seconds, processor) = (once(&on)?, once(&Device::default())?);
    let (n, k) = (n as f64, k as f64);
    let work = 4.0 * n * k * k + count * 68.0 * k.powi(3);
    Ok(rates.timed(
        format!("{count} online steps of 1024 samples, k = {k}"),
        seconds,
        processor,
        [work, 16.0 * n * k],
    ))
}
